//! The examples, each of which shows something else.

mod gallery;

use crate::actor::use_page;
use crate::inputs;
use crate::state::Action;
use agent_protocol::plans::RequestKind;
use agent_ui::areas::Area;
use agent_ui::notice::Notice;
pub(crate) use gallery::BASIS;
use gallery::EXAMPLES;
use yew::prelude::*;

/// The areas that have examples, and what they are called here.
const AREAS: [(Area, &str, RequestKind); 3] = [
    (Area::Plans, "Plans of several steps", RequestKind::Plan),
    (Area::Call, "Plans of one call", RequestKind::Call),
    (Area::Grounding, "Groundings", RequestKind::Grounding),
];

/// The gallery: the examples of the area that is seen first.
#[component]
pub(crate) fn Examples() -> Html {
    let page = use_page();
    let seen = page.state.area;
    let mut areas = AREAS;
    areas.sort_by_key(|(area, ..)| *area != seen);
    let group = |(area, title, matter): (Area, &'static str, RequestKind)| {
        let examples = EXAMPLES.iter().filter(move |it| it.matter == matter);
        let items = examples.map(|example| {
            let page = page.clone();
            let open = Callback::from(move |_: MouseEvent| {
                let sources = inputs::of_area(area).collect();
                inputs::put(&page, sources, |source| example.text(source));
                page.dispatch(Action::CloseDialog);
                area.open();
                page.dispatch(Notice::done(format!(
                    "Opened the example “{}”",
                    example.title
                )));
            });
            html! {
                <li>
                    <button class="example" onclick={open}>
                        <strong>{ example.title }</strong>
                        <span class="code">
                            { if example.code.is_empty() { "✓" } else { example.code } }
                        </span>
                    </button>
                </li>
            }
        });
        html! { <><h3>{ title }</h3><ul class="gallery">{ for items }</ul></> }
    };
    html! { <>{ for areas.map(group) }</> }
}
