//! The answer, one view in each tab, with the explanation over it.

use crate::evaluation::EvaluationView;
use crate::explanation::ExplanationPanel;
use crate::exports::use_exports;
use crate::files::{LockFile, ResolutionFile};
use crate::import::use_importer;
use crate::matrix::MatrixView;
use crate::state::{Page, Servers, Tab};
use crate::verdict::verdict_view;
use crate::what_if::what_if;
use agent_answer::{DocumentKind, Severity};
use agent_ui::answer::{status, use_answer_classes};
use agent_ui::browser::focus;
use agent_ui::content::Content as _;
use agent_ui::examples::shown_example;
use agent_ui::page::use_page;
use web_sys::KeyboardEvent;
use yew::prelude::*;

/// The tabs, with their keys and names.
pub(crate) const TABS: [(Tab, &str, &str); 6] = [
    (Tab::Verdict, "verdict", "Verdict"),
    (Tab::Matrix, "matrix", "Matrix"),
    (Tab::WhatIf, "what-if", "What if"),
    (Tab::Policy, "policy", "Policy"),
    (Tab::Lock, "lock", "agents.lock"),
    (Tab::Resolution, "resolution", "Explanation"),
];

/// The views in their tabs.
#[component]
pub(crate) fn AnswerPane() -> Html {
    let page = use_page::<Servers>();
    {
        let editors = page.editors.clone();
        let explanation = page.content().views.explanation.as_ref();
        let entry = explanation.map(|it| it.server.place);
        use_effect_with((page.content().marks(), entry), move |(marks, entry)| {
            let Some(entry) = entry else {
                return;
            };
            editors.reveal(entry, false);
            // The first place of each document is visible in the end.
            for (place, _) in marks.iter().rev() {
                editors.reveal(place, false);
            }
        });
    }
    use_importer(&page);
    use_exports(&page);
    let open = page.content().tab;
    let problems = &page.content().problems;
    let errors = problems.iter().filter(|it| it.severity == Severity::Error);
    let errors = errors.count();
    let against = page.content().badge(DocumentKind::Lock);
    let tabs = TABS.map(|(tab, key, name)| {
        let selected = tab == open;
        html! {
            <button
                {key}
                role="tab"
                id={format!("tab-{key}")}
                aria-selected={selected.to_string()}
                aria-controls="answer-panel"
                tabindex={if selected { "0" } else { "-1" }}
                onclick={page.on(move |state| state.content.open_tab(tab))}
            >
                { name }
                if tab == Tab::Verdict && errors > 0 {
                    <span class="badge" aria-label={format!("{errors} errors")}>{ errors }</span>
                }
                if let Some(text) = against.as_ref().filter(|_| tab == Tab::Lock) {
                    <span class="badge warning">{ text }</span>
                }
            </button>
        }
    });
    let labelled = TABS.iter().find(|(tab, ..)| *tab == open);
    let stale = page.state.stale();
    let classes = use_answer_classes(stale);
    html! {
        <section class={classes} aria-label="Answer">
            <h2 class="visually-hidden">{ "Answer" }</h2>
            <div class="tabs" role="tablist" aria-label="Views" onkeydown={page.callback(press)}>
                { for tabs }
            </div>
            { shown_example(&page) }
            <div
                class="panel"
                id="answer-panel"
                role="tabpanel"
                tabindex="-1"
                aria-labelledby={labelled.map(|(_, key, _)| format!("tab-{key}"))}
                aria-busy={stale.to_string()}
            >
                { status(&page, page.content().verdict.is_some()) }
                { match open {
                    Tab::Verdict => verdict_view(&page),
                    Tab::Matrix => html! { <MatrixView /> },
                    Tab::WhatIf => what_if(&page),
                    Tab::Policy => html! { <EvaluationView /> },
                    Tab::Lock => html! { <LockFile /> },
                    Tab::Resolution => html! { <ResolutionFile /> },
                } }
            </div>
            // In the matrix it is beside the rows.
            if open != Tab::Matrix { <ExplanationPanel /> }
        </section>
    }
}

/// Opens the tab that a key leads to.
fn press(page: &Page, event: KeyboardEvent) {
    let open = page.content().tab;
    let at = TABS.iter().position(|(tab, ..)| *tab == open).unwrap_or(0);
    let next = match event.key().as_str() {
        "ArrowRight" => (at + 1) % TABS.len(),
        "ArrowLeft" => (at + TABS.len() - 1) % TABS.len(),
        "Home" => 0,
        "End" => TABS.len() - 1,
        _ => return,
    };
    event.prevent_default();
    page.update(move |state| state.content.open_tab(TABS[next].0));
    focus(&format!("tab-{}", TABS[next].1));
}
