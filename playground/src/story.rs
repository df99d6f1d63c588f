//! The whole story of one server and one requirement.

use crate::page::{Page, use_page};
use crate::state::Action;
use crate::verdict::server_name;
use agent_protocol::{
    CandidateVerdict, Check, DocumentKind, Explanation, ExplanationRequest, HealthSwitch, Point,
    Requirement, ServerName, ToolEntry,
};
use agent_ui::fixes::fixes;
use agent_ui::problems::{Code, Place, prose};
use agent_ui::words::count;
use wasm_bindgen::prelude::JsCast as _;
use web_sys::{HtmlElement, KeyboardEvent};
use yew::prelude::*;

/// The story that is told, over the right-hand side. It has the keyboard, and gives it back.
#[component]
pub(crate) fn StoryPanel() -> Html {
    let page = use_page();
    let panel = use_node_ref();
    let opener = use_mut_ref(|| None::<HtmlElement>);
    {
        let panel = panel.clone();
        use_effect_with(page.state.wanted.explanation.clone(), move |asked| {
            let focus = if asked.is_none() {
                opener.take().filter(|_| focused().is_none())
            } else {
                let mut opener = opener.borrow_mut();
                if opener.is_none() {
                    *opener = focused();
                }
                panel.cast()
            };
            if let Some(element) = focus {
                // What can't be focused is read all the same.
                let _ = element.focus();
            }
        });
    }
    if page.state.wanted.explanation.is_none() {
        return html! {};
    }
    let onkeydown = {
        let page = page.clone();
        Callback::from(move |event: KeyboardEvent| {
            if event.key() == "Escape" {
                event.stop_propagation();
                page.dispatch(Action::CloseStory);
            }
        })
    };
    let body = match &page.state.views.explanation {
        Some(story) => tell(&page, story),
        None if page.state.stale() => html! { <p class="quiet">{ "…" }</p> },
        None => html! {
            <p class="quiet">{ "There is no such server or tool, or nothing is decided." }</p>
        },
    };
    html! {
        <aside class="story" aria-label="Explanation" tabindex="-1" ref={panel} {onkeydown}>
            <button class="close" onclick={page.on(|| Action::CloseStory)} aria-label="Close the story">
                { "×" }
            </button>
            { body }
        </aside>
    }
}

/// What has the keyboard, if anything has.
fn focused() -> Option<HtmlElement> {
    let document = web_sys::window()?.document()?;
    let element = document.active_element()?;
    (element.tag_name() != "BODY")
        .then(|| element.dyn_into().ok())
        .flatten()
}

fn tell(page: &Page, story: &Explanation) -> Html {
    let (class, mark, verdict) = match &story.verdict {
        CandidateVerdict::Selected => ("yes", "✓", "selected".to_owned()),
        CandidateVerdict::Eligible(lost) => ("yes", "○", format!("eligible, and {lost}")),
        CandidateVerdict::Rejected => ("no", "✗", "rejected".to_owned()),
    };
    let requirement = page
        .state
        .verdict
        .as_ref()
        .and_then(|verdict| verdict.requirements.get(story.requirement as usize));
    let server = &story.server;
    let name = ServerName {
        id: server.id.clone(),
        version: server.version.clone(),
    };
    let tool = story.tool.as_ref();
    let place = tool.map_or(server.place, |tool| tool.place);
    let reasons = story.reasons.iter().map(|reason| {
        html! {
            <li><Code code={reason.code.clone()} />{ " " }{ prose(&reason.text) }</li>
        }
    });
    let others = story.others.iter().map(|other| {
        let ask = ExplanationRequest {
            requirement: story.requirement,
            server: name.clone(),
            tool: Some(other.clone()),
        };
        html! {
            <button class="server" onclick={page.on(move || Action::TellStory(ask.clone()))}>
                <bdi>{ other }</bdi>
            </button>
        }
    });
    let lines = requirement
        .map(|requirement| policy_lines(requirement, story))
        .unwrap_or_default();
    html! {
        <>
            <h3>{ server_name(&name, tool.map(|tool| &*tool.name)) }</h3>
            <p>
                <Place {place} />{ " " }
                <span class="endpoint">{ &server.endpoint }</span>{ " " }
                <span class="quiet">{ "by " }<bdi>{ &server.publisher }</bdi></span>
            </p>
            { tool.map(describe) }
            { story.health.as_ref().map(|health| switch(page, &server.id, health)) }
            <p class={classes!("answer-line", class)}>
                <span class="mark" aria-hidden="true">{ mark }</span>
                if let Some(requirement) = requirement {
                    { format!("{}: ", requirement.name()) }
                }
                { verdict }
            </p>
            <table class="checks">
                <thead>
                    <tr>
                        <th scope="col">{ "Check" }</th>
                        <th scope="col">{ "Required" }</th>
                        <th scope="col">{ "Offered" }</th>
                    </tr>
                </thead>
                <tbody>{ for story.checks.iter().map(|check| row(check, &lines)) }</tbody>
            </table>
            if !story.reasons.is_empty() {
                <ul class="reasons">{ for reasons }</ul>
                if !story.fixes.is_empty() {
                    <h4>{ "What would make it a yes" }</h4>
                    { fixes(&story.fixes, &page.on_apply()) }
                }
            }
            if !story.others.is_empty() {
                <h4>{ "Other tools of this server" }</h4>
                <p class="tools">{ for others }</p>
            }
        </>
    }
}

/// Whether a check is that of the policy.
fn is_policy(check: &Check) -> bool {
    matches!(&*check.code, "POLICY_DENIED" | "POLICY_ERROR")
}

/// The lines of the policy that took part, where it holds a tool back.
pub(crate) fn policy_lines(
    requirement: &Requirement,
    story: &Explanation,
) -> Vec<agent_protocol::Place> {
    let denied = story
        .checks
        .iter()
        .any(|check| is_policy(check) && !check.passed);
    match &requirement.ruling {
        Some(ruling) if denied => {
            let mut places = policy_places(&ruling.lines);
            places.extend(ruling.error_at);
            places
        }
        _ => Vec::new(),
    }
}

/// Whole lines of the policy, those that follow each other in one place.
pub(crate) fn policy_places(lines: &[u32]) -> Vec<agent_protocol::Place> {
    let start = |line| Point { line, column: 1 };
    lines
        .chunk_by(|line, next| line + 1 == *next)
        .filter_map(|lines| {
            Some(agent_protocol::Place {
                source: DocumentKind::Policy,
                start: start(*lines.first()?),
                end: start(*lines.last()? + 1),
            })
        })
        .collect()
}

/// What a tool says of itself.
fn describe(tool: &ToolEntry) -> Html {
    let advertised = tool
        .advertised
        .iter()
        .map(|it| html! { <><code class="scope">{ it }</code>{ " " }</> });
    html! {
        <>
            { tool.description.as_ref().map(|text| html! { <p><bdi>{ text }</bdi></p> }) }
            <p>
                { for advertised }
                <span class="quiet">{ format!("about {}", count(tool.tokens, "token")) }</span>
            </p>
        </>
    }
}

/// How a server does, and a button that has it do otherwise.
fn switch(page: &Page, id: &str, health: &HealthSwitch) -> Html {
    let said = match (&health.status, health.considered) {
        (Some(status), _) => html! { <strong>{ status }</strong> },
        (None, true) => html! { <strong>{ "not in the snapshot" }</strong> },
        (None, false) => {
            html! { <span class="quiet">{ "not considered: there is no snapshot" }</span> }
        }
    };
    let change = {
        let (page, health, id) = (page.clone(), health.clone(), id.to_owned());
        Callback::from(move |_: MouseEvent| {
            page.carry_out(&format!("`{id}` is {}", health.to), &health.edits);
        })
    };
    html! {
        <p class="health">
            { "Health: " }{ said }
            if !health.edits.is_empty() {
                <button onclick={change}>{ format!("Suppose {}", health.to) }</button>
            }
        </p>
    }
}

/// A check as a row; `lines` are those of the policy.
fn row(check: &Check, lines: &[agent_protocol::Place]) -> Html {
    let places = is_policy(check).then(|| {
        let places = lines
            .iter()
            .map(|place| html! { <><br /><Place place={*place} /></> });
        html! { <>{ for places }</> }
    });
    let (class, mark, word) = if check.passed {
        ("yes", "✓", "passed")
    } else {
        ("no", "✗", "failed")
    };
    let nothing = || html! { <span class="quiet">{ "nothing" }</span> };
    html! {
        <tr class={class}>
            <th scope="row">
                <span class="mark" aria-hidden="true">{ mark }</span>
                { &check.name }
                <span class="visually-hidden">{ format!(", {word}") }</span>
            </th>
            <td>
                { check.required.as_ref().map_or_else(nothing, |required| html! { <bdi>{ required }</bdi> }) }
                { places }
                { check.asked_at.map(|place| html! { <><br /><Place {place} /></> }) }
            </td>
            <td>
                if check.offered.is_empty() { { nothing() } } else { <bdi>{ &check.offered }</bdi> }
                { check.offered_at.map(|place| html! { <><br /><Place {place} /></> }) }
            </td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::policy_places;

    #[test]
    fn lines_that_follow_each_other_are_one_place() {
        let places = policy_places(&[4, 5, 6, 9, 14, 15]);
        let lines: Vec<_> = places
            .iter()
            .map(|place| (place.start.line, place.end.line))
            .collect();
        assert_eq!(lines, [(4, 7), (9, 10), (14, 16)]);
        assert_eq!(policy_places(&[]), []);
    }
}
