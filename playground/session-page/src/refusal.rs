//! The reasons against a call, and what would change them.

use crate::call::DRAFT;
use crate::state::Page;
use agent_answer::{DocumentKind, visible};
use agent_ui::browser::focus;
use agent_ui::editor::Viewer;
use agent_ui::names::name;
use agent_ui::problems::{code, prose};
use agent_ui::words::thousands;
use agent_worker_protocol::session::{CallReason, Refusal, SessionView};
use std::rc::Rc;
use yew::prelude::*;

/// Shows a refusal. With a page, its names can be called instead.
pub(crate) fn refusal(page: Option<(&Page, &SessionView)>, refusal: &Refusal) -> Html {
    let retry = refusal.retry_after_ms.map(|ms| {
        format!(
            "Time alone changes this: try again in {} s.",
            thousands(ms.div_ceil(1_000) as u32)
        )
    });
    html! {
        <>
            { reasons(&refusal.reasons) }
            { instead(page, &refusal.instead) }
            { for retry.map(|text| html! { <p class="change">{ text }</p> }) }
            if refusal.reasons.is_empty() {
                { for refusal.texts.iter().map(|text| html! { <p>{ prose(text) }</p> }) }
            }
            { raw("The result as the client gets it", &refusal.result) }
        </>
    }
}

/// Shows reasons, each with what would change it.
pub(crate) fn reasons(reasons: &[CallReason]) -> Html {
    let items = reasons.iter().map(|it| {
        html! {
            <li>
                <p>
                    { for it.code.map(|it| html! { <>{ code(it) }{ " " }</> }) }
                    { prose(&it.text) }
                    { for it.pointer.as_ref().map(|pointer| html! {
                        <span class="quiet">{ " · at " }<code>{ name(pointer, "") }</code></span>
                    }) }
                </p>
                if !it.help.is_empty() {
                    <p class="change"><span class="quiet">{ "What would change it: " }</span>{ prose(&it.help) }</p>
                }
            </li>
        }
    });
    html! { if !reasons.is_empty() { <ul class="reasons-list">{ for items }</ul> } }
}

/// Returns a reason as a line of Markdown.
pub(crate) fn line(reason: &CallReason) -> String {
    let text = visible(&reason.text);
    match reason.code {
        Some(code) => format!("`{}` {text}", code.name()),
        None => text.into_owned(),
    }
}

/// Shows names that may be called instead.
pub(crate) fn instead(page: Option<(&Page, &SessionView)>, names: &[String]) -> Html {
    let items = names.iter().map(|each| {
        let known = page.and_then(|(page, session)| {
            let tool = session.tools.iter().find(|it| it.name == *each)?;
            Some((page, tool.call.clone()))
        });
        match known {
            Some((page, params)) => html! {
                <li><button onclick={fill(page, params)}>{ "Call " }<code>{ name(each, "") }</code></button></li>
            },
            None => html! { <li><code>{ name(each, "") }</code></li> },
        }
    });
    html! {
        if !names.is_empty() {
            <div class="instead">
                <p class="quiet">{ "May be called instead:" }</p>
                <ul>{ for items }</ul>
            </div>
        }
    }
}

/// Returns a callback that replaces the call in the editor and goes to its decision.
pub(crate) fn fill<E>(page: &Page, params: String) -> Callback<E> {
    page.callback(move |page, _| {
        page.editors.replace(DocumentKind::StepInput, &params);
        focus(DRAFT);
    })
}

/// Shows a text as a program gets it, closed at first.
pub(crate) fn raw(summary: &'static str, text: &str) -> Html {
    html! {
        if !text.is_empty() {
            <details class="raw">
                <summary>{ summary }</summary>
                <Viewer label={summary} text={Rc::<str>::from(text)} wrapped=true />
            </details>
        }
    }
}
