//! The frame of a page: everything around its answers.

use crate::answer::footer;
use crate::areas::{Area, use_area};
use crate::browser::{show_title, use_window_event};
use crate::code_page::page_of;
use crate::content::Content;
use crate::dialog::{dialogs, help, notice};
use crate::difference::EXCERPT;
use crate::editor::{Editors, load_features};
use crate::files::{on_drop, open_files};
use crate::header::header;
use crate::inputs::{inputs, panes};
use crate::keeping::{Keeping, use_keeping};
use crate::link;
use crate::names::call_documents;
use crate::notice::Notice;
use crate::page::{Actor, Page, use_page_event};
use crate::problems::Guide;
use crate::splitter::{Axis, Splitter};
use crate::state::{Engine, Pane, State};
use crate::worker::WorkerClient;
use agent_answer::Place;
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen::prelude::JsCast as _;
use web_sys::{DragEvent, Element, KeyboardEvent};
use yew::prelude::*;

/// The title of the page without an answer.
const TITLE: &str = "agent playground";

/// Renders a page in the element of this id, which `index.html` has for its module.
pub fn render<C: Content>(id: &str) {
    call_documents(C::NAMES);
    let document = web_sys::window().and_then(|window| window.document());
    if let Some(element) = document.and_then(|document| document.get_element_by_id(id)) {
        yew::Renderer::<App<C>>::with_root(element).render();
    }
}

/// A page.
#[component]
pub fn App<C: Content>() -> Html {
    let area = use_area();
    let state = use_reducer(move || State::<C>::new(area));
    let editors = use_memo((), |()| Editors::default());
    let actor = Actor {
        dispatcher: state.dispatcher(),
        editors: Rc::clone(&editors),
        keeping: use_memo((), |()| Keeping::default()),
    };
    let page = Page {
        state: state.clone(),
        actor: actor.clone(),
    };
    let client = {
        let report = actor.callback(|actor, event| actor.update(|state| state.handle(event)));
        let editors = Rc::clone(&editors);
        use_memo((), |()| WorkerClient::<C>::start(editors, report))
    };
    let stale = use_memo((), |()| Cell::new(false));
    stale.set(state.stale());
    let fresh = use_mut_ref(|| 0);
    if !state.stale() {
        fresh.replace(state.revision);
    }
    let guide = {
        let actor = actor.clone();
        let (stale, editors) = (Rc::clone(&stale), Rc::clone(&editors));
        let revision = *fresh.borrow();
        use_memo(revision, move |revision| Guide {
            revision: *revision,
            excerpt: {
                let stale = Rc::clone(&stale);
                Callback::from(move |place: Place| match stale.get() {
                    true => None,
                    false => editors.excerpt(&place, EXCERPT),
                })
            },
            go_to: actor.callback(Actor::go_to),
            explain: actor.callback(|actor, code| {
                actor.update(move |state| state.dialog = Some(page_of(code)));
            }),
            divert: {
                let actor = actor.clone();
                Callback::from(move |(kind, text): (_, String)| {
                    actor.divert(Some(kind), &text).is_some()
                })
            },
            documents: C::kinds().collect(),
            exchange: actor.callback(Actor::exchange),
            // Edits fit the texts of their answer alone.
            apply: actor.callback(move |actor, fix| match stale.get() {
                true => actor.notify(Notice::alarm(
                    "The inputs changed: the next answer has new fixes",
                )),
                false => actor.apply(fix),
            }),
        })
    };
    editors.act_as(&guide);
    let on_change = {
        let actor = actor.clone();
        use_callback((), move |kind, ()| {
            actor.update(move |state| state.edit(&[kind]));
            actor.divert_all(kind);
        })
    };
    {
        let actor = actor.clone();
        use_effect_with(area, move |area| {
            let area = *area;
            actor.update(move |state| state.show_area(area));
        });
    }
    // The editors inside exist before this first effect.
    {
        let page = page.clone();
        use_effect_with((), move |()| link::open(&page));
    }
    {
        let client = Rc::clone(&client);
        use_effect_with(state.stops, move |stops| {
            if *stops > 0 {
                client.stop();
            }
        });
    }
    // Read together: in the effect, the handle may show a later state.
    let request = (state.revision, state.content.wanted(), state.edits);
    use_effect_with(request, move |(revision, wanted, edits)| {
        // Before the first revision nothing is loaded.
        if *revision > 0 {
            client.request(*revision, wanted.clone(), *edits);
        }
    });
    // The first answer needs none of them.
    let is_settled =
        state.revision > 0 && !state.stale() || matches!(state.engine, Engine::Failed(_));
    use_effect_with(is_settled, |is_settled| {
        if *is_settled {
            load_features();
        }
    });
    {
        let editors = Rc::clone(&editors);
        let problems = (state.content.problems(), state.marked);
        use_effect_with(problems, move |(problems, _)| {
            editors.show_problems(problems);
        });
    }
    let marks = (state.content.marks(), state.marked);
    use_effect_with(marks, move |(marks, _)| editors.mark(marks));
    use_keeping(&page);
    use_title(&page);
    use_page_event("hashchange", &page, link::follow);
    use_keys(&page);

    let pane = match state.pane {
        Pane::Answer => "answer",
        Pane::Input(kind) if kind == state.layout().0 => "manifest",
        Pane::Input(_) => "lower",
    };
    html! {
        <ContextProvider<Guide> context={(*guide).clone()}>
        <ContextProvider<Page<C>> context={page.clone()}>
            <div
                class="page"
                data-pane={pane}
                ondragover={|event: DragEvent| event.prevent_default()}
                ondrop={on_drop(page.callback(open_files))}
            >
                { header(&page) }
                <main>
                    { inputs(&page, &on_change) }
                    <Splitter axis={Axis::Columns} label="Width of the inputs" />
                    { C::answer() }
                </main>
                { notice(&page) }
                { panes(&page) }
                { footer(state.milliseconds) }
                { dialogs(&page) }
            </div>
        </ContextProvider<Page<C>>>
        </ContextProvider<Guide>>
    }
}

/// Shows the answer in short in the title and the icon of the tab, while an area of this page is visible.
#[hook]
fn use_title<C: Content>(page: &Page<C>) {
    let is_visible = C::layout(use_area()).is_some();
    let brief = page.content().brief().filter(|_| !page.state.stale());
    let (mark, title) = match brief {
        Some((sign, text)) => {
            let text = if text.is_empty() { sign.words } else { &*text };
            (sign.mark, format!("{} {text} · {TITLE}", sign.mark))
        }
        None => ("", TITLE.to_owned()),
    };
    use_effect_with((is_visible, mark, title), |(is_visible, mark, title)| {
        if *is_visible {
            show_title(mark, title);
        }
    });
}

/// The keys that work everywhere on the page.
#[hook]
fn use_keys<C: Content>(page: &Page<C>) {
    let actor = page.actor.clone();
    use_window_event("keydown", move |event: Event| {
        let event: KeyboardEvent = event.unchecked_into();
        // The keys of another page are its own.
        if event.ctrl_key() || event.meta_key() || C::layout(Area::current()).is_none() {
            return;
        }
        let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
        let field = "input, textarea, select, .cm-editor, dialog";
        let writing = target.is_some_and(|it| it.closest(field).is_ok_and(|it| it.is_some()));
        if event.key() == "?" && !event.alt_key() && !writing {
            actor.update(|state| state.dialog = Some(help::<C>()));
        } else if !C::press(&actor, &event, writing) {
            return;
        }
        event.prevent_default();
    });
}
