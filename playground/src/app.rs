//! The whole page.

use crate::dialog::Dialogs;
use crate::engine;
use crate::files::{LockFile, ResolutionFile};
use crate::header::Header;
use crate::inputs::{self, INPUTS, Inputs, LOWER};
use crate::matrix::MatrixView;
use crate::page::{Actor, Page};
use crate::share;
use crate::state::{Action, Dialog, Pane, State, Tab};
use crate::story::{StoryPanel, policy_lines};
use crate::verdict::VerdictView;
use crate::what_if::WhatIf;
use agent_protocol::DocumentKind;
use agent_ui::areas::Area;
use agent_ui::editor::{Editors, file_name};
use agent_ui::files::on_drop;
use agent_ui::footer::Footer;
use agent_ui::problems::Guide;
use std::rc::Rc;
use wasm_bindgen::prelude::{Closure, JsCast as _};
use web_sys::{DragEvent, KeyboardEvent};
use yew::prelude::*;

/// The tabs, with their keys and names.
const TABS: [(Tab, &str, &str); 5] = [
    (Tab::Verdict, "verdict", "Verdict"),
    (Tab::Matrix, "matrix", "Matrix"),
    (Tab::WhatIf, "what-if", "What if"),
    (Tab::Lock, "lock", "agents.lock"),
    (Tab::Resolution, "resolution", "Explanation"),
];

/// The root of the page.
#[component]
pub(crate) fn App() -> Html {
    let state = use_reducer(State::default);
    let editors = use_memo((), |()| Editors::default());
    let page = Page {
        state: state.clone(),
        actor: Actor {
            dispatcher: state.dispatcher(),
            editors: Rc::clone(&editors),
        },
    };

    let engine = {
        let (editors, dispatcher) = (Rc::clone(&editors), state.dispatcher());
        use_memo((), |()| {
            let report = Callback::from(move |action| dispatcher.dispatch(action));
            engine::start(editors, report)
        })
    };
    // The editors are there before the first effect of what is around them.
    {
        let page = page.clone();
        use_effect_with((), move |()| share::open(page));
    }
    {
        let edits = use_mut_ref(|| [0; INPUTS.len()]);
        let state = state.clone();
        use_effect_with(state.revision, move |_| {
            let edited: Vec<_> = INPUTS
                .into_iter()
                .filter(|source| edits.borrow()[*source as usize] != state.edits[*source as usize])
                .collect();
            *edits.borrow_mut() = state.edits;
            let wanted = (state.wanted.clone(), Rc::clone(&state.tenant_id));
            engine.ask(state.revision, wanted, &edited);
        });
    }
    {
        let editors = Rc::clone(&editors);
        use_effect_with(state.verdict.clone(), move |verdict| {
            if let Some(verdict) = verdict {
                editors.show_problems(&verdict.diagnostics);
            }
        });
    }
    {
        let editors = Rc::clone(&editors);
        let verdict = state.verdict.clone();
        use_effect_with(state.views.explanation.clone(), move |story| {
            let checks = story.iter().flat_map(|story| &story.checks);
            let mut places: Vec<_> = checks
                .filter(|check| !check.passed)
                .flat_map(|check| [check.asked_at, check.offered_at])
                .flatten()
                .collect();
            let ruling = story.as_ref().zip(verdict.as_ref());
            places.extend(ruling.iter().flat_map(|(story, verdict)| {
                let requirement = verdict.requirements.get(story.requirement as usize);
                requirement
                    .map(|it| policy_lines(it, story))
                    .unwrap_or_default()
            }));
            editors.highlight(&places);
            for place in places.iter().rev() {
                editors.reveal(place, false);
            }
        });
    }
    inputs::use_autosave(&page);
    use_keys(&page);

    let ondragover = Callback::from(|event: DragEvent| event.prevent_default());
    let ondrop = {
        let page = page.clone();
        on_drop(Callback::from(move |files| {
            inputs::take_files(page.clone(), files)
        }))
    };
    let pane = match state.pane {
        Pane::Answer => "answer",
        Pane::Input(DocumentKind::Manifest) => "manifest",
        Pane::Input(_) => "lower",
    };
    let version = state.about.version.clone();
    let milliseconds = state.milliseconds;
    let guide = use_memo((), |()| {
        let actor = page.actor.clone();
        Guide(Callback::from(move |place| actor.go_to(place)))
    });
    html! {
        <ContextProvider<Guide> context={(*guide).clone()}>
        <ContextProvider<Actor> context={page.actor.clone()}><ContextProvider<Page> context={page}>
            <div class="page" data-pane={pane} {ondragover} {ondrop}>
                <Header />
                <main>
                    <Inputs />
                    <AnswerPane />
                </main>
                <Panes />
                <Footer {version} {milliseconds} />
                <Dialogs />
            </div>
        </ContextProvider<Page>></ContextProvider<Actor>>
        </ContextProvider<Guide>>
    }
}

/// What the engine says, by tabs.
#[component]
fn AnswerPane() -> Html {
    let page = crate::page::use_page();
    let errors = page.state.verdict.as_ref().map_or(0, |verdict| {
        let errors = verdict.diagnostics.iter();
        errors
            .filter(|found| found.severity == agent_protocol::Severity::Error)
            .count()
    });
    let onkeydown = {
        let page = page.clone();
        Callback::from(move |event: KeyboardEvent| {
            let Some(at) = TABS.iter().position(|(tab, ..)| *tab == page.state.tab) else {
                return;
            };
            let next = match event.key().as_str() {
                "ArrowRight" => (at + 1) % TABS.len(),
                "ArrowLeft" => (at + TABS.len() - 1) % TABS.len(),
                "Home" => 0,
                "End" => TABS.len() - 1,
                _ => return,
            };
            event.prevent_default();
            page.dispatch(Action::OpenTab(TABS[next].0));
            focus(&format!("tab-{}", TABS[next].1));
        })
    };
    let tabs = TABS.iter().map(|(tab, key, name)| {
        let (tab, selected) = (*tab, *tab == page.state.tab);
        html! {
            <button
                key={*key}
                role="tab"
                id={format!("tab-{key}")}
                aria-selected={selected.to_string()}
                aria-controls="answer-panel"
                tabindex={if selected { "0" } else { "-1" }}
                onclick={page.on(move || Action::OpenTab(tab))}
            >
                { *name }
                if tab == Tab::Verdict && errors > 0 {
                    <span class="badge" aria-label={format!("{errors} errors")}>{ errors }</span>
                }
            </button>
        }
    });
    let labelled = TABS
        .iter()
        .find(|(tab, ..)| *tab == page.state.tab)
        .map(|(_, key, _)| format!("tab-{key}"));
    let view = match page.state.tab {
        Tab::Verdict => html! { <VerdictView /> },
        Tab::Matrix => html! { <MatrixView /> },
        Tab::WhatIf => html! { <WhatIf /> },
        Tab::Lock => html! { <LockFile /> },
        Tab::Resolution => html! { <ResolutionFile /> },
    };
    html! {
        <section class="answer" aria-label="Answer">
            <div class="tabs" role="tablist" aria-label="Views" {onkeydown}>{ for tabs }</div>
            <div
                class={classes!("panel", page.state.stale().then_some("stale"))}
                id="answer-panel"
                role="tabpanel"
                aria-labelledby={labelled}
                aria-busy={page.state.stale().to_string()}
            >
                { view }
            </div>
            <StoryPanel />
        </section>
    }
}

/// Where there is room for one thing only: what to see.
#[component]
fn Panes() -> Html {
    let page = crate::page::use_page();
    let item = |pane: Pane, name: &'static str| {
        let current = page.state.pane == pane;
        html! {
            <button
                aria-pressed={current.to_string()}
                onclick={page.on(move || Action::OpenPane(pane))}
            >
                { name }
            </button>
        }
    };
    html! {
        <nav class="panes" aria-label="Parts of the page">
            { item(Pane::Input(DocumentKind::Manifest), file_name(DocumentKind::Manifest)) }
            { for LOWER.map(|source| item(Pane::Input(source), file_name(source))) }
            { item(Pane::Answer, "Answer") }
        </nav>
    }
}

/// The keys that work everywhere.
#[hook]
fn use_keys(page: &Page) {
    let dispatcher = page.state.dispatcher();
    use_effect_with((), move |()| {
        let pressed = Closure::<dyn FnMut(KeyboardEvent)>::new(move |event: KeyboardEvent| {
            let key = event.key();
            let writing = event
                .target()
                .and_then(|target| target.dyn_into::<web_sys::Element>().ok())
                .is_some_and(|element| {
                    element
                        .closest("input, textarea, select, .cm-editor, dialog")
                        .is_ok_and(|found| found.is_some())
                });
            // The keys of another area are its own.
            if event.ctrl_key() || event.meta_key() || Area::current() != Area::Servers {
                return;
            }
            // Not by what the key writes: with Alt that is another character on some systems.
            let tab = event
                .code()
                .strip_prefix("Digit")
                .and_then(|digit| digit.parse::<usize>().ok())
                .and_then(|number| TABS.get(number.checked_sub(1)?));
            match (key.as_str(), event.alt_key()) {
                ("?", false) if !writing => {
                    dispatcher.dispatch(Action::OpenDialog(Dialog::Help));
                }
                ("Escape", false) if !writing => dispatcher.dispatch(Action::CloseStory),
                (_, true) => {
                    let Some((tab, name, _)) = tab else { return };
                    dispatcher.dispatch(Action::OpenPane(Pane::Answer));
                    dispatcher.dispatch(Action::OpenTab(*tab));
                    focus(&format!("tab-{name}"));
                }
                _ => return,
            }
            event.prevent_default();
        });
        if let Some(window) = web_sys::window() {
            // Listened to for as long as there is a page.
            let _ = window
                .add_event_listener_with_callback("keydown", pressed.as_ref().unchecked_ref());
        }
        pressed.forget();
    });
}

/// Moves the keyboard to an element.
fn focus(id: &str) {
    let element = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.get_element_by_id(id))
        .and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok());
    if let Some(element) = element {
        // An element that can't have it leaves it where it is.
        let _ = element.focus();
    }
}
