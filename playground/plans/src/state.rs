//! The state of the page, and its actions.

use crate::decision::DecisionView;
use crate::grounding::GroundingView;
use crate::marks;
use agent_protocol::plans::{Answer, Decision, Grounding, Outcome, RequestKind, Response};
use agent_protocol::{Diagnostic, DocumentKind};
use agent_ui::areas::Area;
use agent_ui::browser;
use agent_ui::content::{Content, Documents as _, Mark};
use agent_ui::editor::file_name;
use agent_ui::page::use_page;
use std::rc::Rc;
use yew::prelude::*;

pub(crate) type Page = agent_ui::page::Page<Plans>;

/// The part of an answer that is shown in full.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Expanded {
    /// The first failed check, if there is one. The user has not chosen yet.
    #[default]
    Automatic,
    /// None.
    Nothing,
    /// A check of a step.
    Check { step: u32, check: u32 },
    /// A claim of a summary.
    Claim(u32),
}

/// A response, and the problems of the documents in it.
#[derive(Debug, Clone, PartialEq)]
struct Answered {
    response: Rc<Response>,
    problems: Rc<[Diagnostic]>,
}

/// The page of plans and groundings.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Plans {
    /// The question of the visible area.
    pub(crate) kind: RequestKind,
    /// The last answer to each question.
    answers: [Option<Answered>; 3],
    pub(crate) expanded: Expanded,
    /// Whether texts were replaced and the page has yet to scroll to what is wrong with them.
    point_out: bool,
}

impl Plans {
    fn answer(&self) -> Option<&Answered> {
        self.answers[self.kind as usize].as_ref()
    }

    /// Returns the answer to the plan of the visible area.
    pub(crate) fn decision(&self) -> Option<&Decision> {
        match &*self.answer()?.response {
            Response::Plan(decision) | Response::Call(decision) => Some(decision),
            Response::Grounding(_) => None,
        }
    }

    /// Returns the answer to the summary, if its area is visible.
    pub(crate) fn grounding(&self) -> Option<&Grounding> {
        match &*self.answer()?.response {
            Response::Grounding(grounding) => Some(grounding),
            Response::Plan(_) | Response::Call(_) => None,
        }
    }

    /// Returns the check that is shown in full, as the numbers of its step and of itself.
    pub(crate) fn expanded_check(&self) -> Option<(u32, u32)> {
        match self.expanded {
            Expanded::Check { step, check } => Some((step, check)),
            Expanded::Automatic => self.decision().and_then(first_failure),
            Expanded::Nothing | Expanded::Claim(_) => None,
        }
    }
}

/// Returns the first failed check, as the numbers of its step and of itself.
fn first_failure(decision: &Decision) -> Option<(u32, u32)> {
    (0..).zip(&decision.steps).find_map(|(step, it)| {
        let mut checks = (0..).zip(&it.checks);
        let failed = checks.find(|(_, check)| check.outcome == Outcome::Failed);
        failed.map(|(check, _)| (step, check))
    })
}

/// Returns the key under which the browser keeps a text.
fn key(kind: DocumentKind) -> String {
    format!("agent-playground/plans/{}", file_name(kind))
}

impl Content for Plans {
    const KEYS: &'static [(&'static str, &'static str)] =
        &[("Enter on a check", "its values, places and fixes")];

    fn wanted(&self) -> RequestKind {
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
        let kind = match &answer.response {
            Response::Plan(_) => RequestKind::Plan,
            Response::Call(_) => RequestKind::Call,
            Response::Grounding(_) => RequestKind::Grounding,
        };
        self.answers[kind as usize] = Some(Answered {
            problems: marks::problems(&answer.response).into(),
            response: Rc::new(answer.response),
        });
        true
    }

    fn show_area(&mut self, area: Area) {
        self.kind = match area {
            Area::Call => RequestKind::Call,
            Area::Grounding => RequestKind::Grounding,
            Area::Servers | Area::Plans => RequestKind::Plan,
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
            <div
                class={classes!("panel", stale.then_some("stale"))}
                id="decided"
                tabindex="0"
                role="region"
                aria-label="Decision"
                aria-busy={stale.to_string()}
            >
                { match page.content().kind {
                    RequestKind::Grounding => html! { <GroundingView /> },
                    RequestKind::Plan | RequestKind::Call => html! { <DecisionView /> },
                } }
            </div>
        </section>
    }
}
