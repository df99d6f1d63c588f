//! The content of the page: its answers and texts.

use crate::decision::DecisionView;
use crate::grounding::GroundingView;
use crate::marks;
use crate::state::{Answered, Expanded, Page, Plans};
use agent_answer::{Diagnostic, DocumentKind};
use agent_protocol::plans::{Answer, Request};
use agent_ui::areas::Area;
use agent_ui::browser;
use agent_ui::content::{Content, Documents as _};
use agent_ui::editor::Mark;
use agent_ui::page::use_page;
use std::rc::Rc;
use yew::prelude::*;

/// Returns the key under which the browser keeps a text.
fn key(kind: DocumentKind) -> String {
    format!("agent-playground/plans/{}", kind.usual_name())
}

impl Content for Plans {
    const KEYS: &'static [(&'static str, &'static str)] =
        &[("Enter on a check", "its values, places and fixes")];

    fn wanted(&self) -> Request {
        self.kind
    }

    fn problems(&self) -> Rc<[Diagnostic]> {
        self.answer()
            .map_or_else(Rc::default, |answer| Rc::clone(&answer.problems))
    }

    fn marks(&self) -> Vec<Mark> {
        marks::places(self)
    }

    fn answered(&mut self, answer: Answer) -> bool {
        let kind = match &answer {
            Answer::Plan(_) => Request::Plan,
            Answer::Call(_) => Request::Call,
            Answer::Grounding(_) => Request::Grounding,
        };
        self.answers[kind as usize] = Some(Answered {
            problems: marks::problems(&answer).into(),
            answer: Rc::new(answer),
        });
        true
    }

    fn show_area(&mut self, area: Area) {
        self.kind = match area {
            Area::Call => Request::Call,
            Area::Grounding => Request::Grounding,
            Area::Servers | Area::Plans => Request::Plan,
        };
        self.expanded = Expanded::Automatic;
    }

    fn replaced(&mut self) {
        self.expanded = Expanded::Automatic;
        self.point_out = true;
    }

    fn open(page: &Page) {
        let kept = Self::kinds().map(|kind| (kind, browser::load(&key(kind))));
        let kept: Vec<_> = kept.collect();
        page.load(Self::kinds(), |kind| {
            let kept = kept.iter().find(|(each, _)| *each == kind);
            let kept = kept.and_then(|(_, text)| text.as_deref());
            kept.unwrap_or_else(|| Self::first_text(kind))
        });
    }

    /// A text of the first example is not stored: a later version may have another one.
    fn keep(page: &Page) -> bool {
        Self::kinds().all(|kind| {
            let text = String::from(page.editors.text(kind));
            if text == Self::first_text(kind) {
                browser::forget(&key(kind));
                return true;
            }
            browser::store(&key(kind), &text)
        })
    }

    fn forget() {
        for kind in Self::kinds() {
            browser::forget(&key(kind));
        }
    }

    fn answer() -> Html {
        html! { <AnswerPane /> }
    }

    fn help() -> Html {
        html! {
            <>
                <p>
                    { "A planner, usually a language model, answers with a plan. Before anything is called, \
                       the engine decides whether the plan may run. It reports every problem of the plan." }
                </p>
                <p>
                    <strong>{ "Plans" }</strong>
                    { " have steps. The engine checks each step against the tool pool, the instruction \
                       profile and the lock. Checks that depend on an earlier step's output are deferred. " }
                    <strong>{ "One call" }</strong>
                    { " is a plan that calls one tool of an MCP server, once." }
                </p>
                <p>
                    { "Click a check to see the values that were compared, their places, and the suggested \
                       fixes. A marked fix gives the agent more access." }
                </p>
                <p>
                    <strong>{ "Grounding" }</strong>
                    { " searches a payload for the evidence of each claim, character for character. The \
                       payload shows where the evidence is, or else the nearest text." }
                </p>
            </>
        }
    }
}

/// The answer of the visible area.
#[component]
fn AnswerPane() -> Html {
    let page = use_page::<Plans>();
    {
        let page = page.clone();
        let due = page.content().point_out && !page.state.stale();
        use_effect_with(due, move |due| {
            if *due {
                let marks = marks::places(page.content()).into_iter();
                let against = marks.filter(|(_, class)| matches!(*class, "no" | "near"));
                page.point_out(against.map(|(place, _)| place));
                page.update(|state| state.content.point_out = false);
            }
        });
    }
    let stale = page.state.stale();
    html! {
        <section class="answer" aria-label="Answer">
            <h2 class="visually-hidden">{ "Answer" }</h2>
            <div
                class={classes!("panel", stale.then_some("stale"))}
                id="decided"
                tabindex="0"
                role="region"
                aria-label="Decision"
                aria-busy={stale.to_string()}
            >
                { match page.content().kind {
                    Request::Grounding => html! { <GroundingView /> },
                    Request::Plan | Request::Call => html! { <DecisionView /> },
                } }
            </div>
        </section>
    }
}
