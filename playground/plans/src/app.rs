//! The whole page.

use crate::actor::{Actor, Page};
use crate::decision::DecisionView;
use crate::dialog::Dialogs;
use crate::engine;
use crate::grounding::GroundingView;
use crate::head::Head;
use crate::inputs::{self, INPUTS, Inputs, Panes};
use crate::marks;
use crate::state::{Action, Dialog, Pane, State};
use agent_protocol::plans::RequestKind;
use agent_ui::areas::{Area, use_area};
use agent_ui::editor::Editors;
use agent_ui::files::on_drop;
use agent_ui::footer::Footer;
use agent_ui::problems::Guide;
use std::rc::Rc;
use wasm_bindgen::prelude::{Closure, JsCast as _};
use web_sys::{DragEvent, KeyboardEvent};
use yew::prelude::*;

/// The root of the page.
#[component]
pub(crate) fn App() -> Html {
    let area = use_area();
    let state = use_reducer(move || State::new(area));
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
    {
        let dispatcher = state.dispatcher();
        use_effect_with(area, move |area| {
            dispatcher.dispatch(Action::ShowArea(*area))
        });
    }
    // The editors are there before the first effect of what is around them.
    {
        let page = page.clone();
        use_effect_with((), move |()| inputs::open(&page));
    }
    {
        let edits = use_mut_ref(|| state.edits);
        let state = state.clone();
        use_effect_with(state.revision, move |_| {
            let edited: Vec<_> = INPUTS
                .into_iter()
                .filter(|source| edits.borrow()[*source as usize] != state.edits[*source as usize])
                .collect();
            *edits.borrow_mut() = state.edits;
            engine.ask(state.revision, state.matter(), &edited);
        });
    }
    {
        let (editors, state) = (Rc::clone(&editors), state.clone());
        use_effect_with((state.answers.clone(), state.area), move |_| {
            editors.show_problems(&marks::diagnostics(&state));
        });
    }
    {
        let (editors, state) = (Rc::clone(&editors), state.clone());
        let shown = (state.answers.clone(), state.area, state.told);
        use_effect_with(shown, move |_| {
            editors.mark(marks::places(&state).into_iter());
        });
    }
    {
        let page = page.clone();
        let answered = state.unseen && !state.stale();
        use_effect_with(answered, move |answered| {
            if *answered {
                let places = marks::places(&page.state).into_iter();
                let against = places.filter(|(_, tone)| *tone == "no" || *tone == "near");
                page.point_out(&against.map(|(place, _)| place).collect::<Vec<_>>());
                page.dispatch(Action::PointedOut);
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
        Pane::Input(source) if source == inputs::upper(state.area) => "manifest",
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
        <ContextProvider<Page> context={page}>
            <div class="page" data-pane={pane} {ondragover} {ondrop}>
                <Head />
                <main>
                    <Inputs />
                    <section class="answer" aria-label="Answer">
                        <div
                            class={classes!("panel", state.stale().then_some("stale"))}
                            id="decided"
                            tabindex="0"
                            role="region"
                            aria-label="What is decided"
                            aria-busy={state.stale().to_string()}
                        >
                            { match state.matter() {
                                RequestKind::Grounding => html! { <GroundingView /> },
                                RequestKind::Plan | RequestKind::Call => html! { <DecisionView /> },
                            } }
                        </div>
                    </section>
                </main>
                <Panes />
                <Footer {version} {milliseconds} />
                <Dialogs />
            </div>
        </ContextProvider<Page>>
        </ContextProvider<Guide>>
    }
}

/// The keys that work everywhere.
#[hook]
fn use_keys(page: &Page) {
    let dispatcher = page.state.dispatcher();
    use_effect_with((), move |()| {
        let pressed = Closure::<dyn FnMut(KeyboardEvent)>::new(move |event: KeyboardEvent| {
            let writing = event
                .target()
                .and_then(|target| target.dyn_into::<web_sys::Element>().ok())
                .is_some_and(|element| {
                    element
                        .closest("input, textarea, select, .cm-editor, dialog")
                        .is_ok_and(|found| found.is_some())
                });
            // The keys of another area are its own.
            let elsewhere = Area::current() == Area::Servers;
            let with = event.ctrl_key() || event.meta_key() || event.alt_key();
            if event.key() == "?" && !writing && !with && !elsewhere {
                event.prevent_default();
                dispatcher.dispatch(Action::OpenDialog(Dialog::Help));
            }
        });
        if let Some(window) = web_sys::window() {
            // Listened to for as long as there is a page.
            let _ = window
                .add_event_listener_with_callback("keydown", pressed.as_ref().unchecked_ref());
        }
        pressed.forget();
    });
}
