//! The content of the page: its answers and texts.

use crate::decision::{self, DecisionView};
use crate::grounding::{self, GroundingView};
use crate::marks;
use crate::state::{Answered, Expanded, Page, Plans, State};
use crate::stepping::Stepping;
use agent_answer::{Claim, Diagnostic, Evidence, PlanVerdict};
use agent_ui::answer::{AnswerPanel, Sign};
use agent_ui::areas::Area;
use agent_ui::content::Content;
use agent_ui::editor::Mark;
use agent_ui::markdown::{InWords, copy_answer};
use agent_ui::page::use_page;
use agent_ui::saved::SavedInputs;
use agent_ui::words::count;
use agent_worker_protocol::plans::{Answer, Request, RequestKind};
use std::rc::Rc;
use yew::prelude::*;

/// The fields of links for the check or the claim that is shown in full.
const STEP: &str = "step";
const CHECK: &str = "check";
const CLAIM: &str = "claim";

/// The field of links for the run.
const RUN: &str = "run";

impl Content for Plans {
    const NAME: &'static str = "plans";
    const FIELDS: &'static [&'static str] = &[RUN];
    const KEYS: &'static [(&'static str, &'static str)] = &[
        ("Enter on a check", "its values, places and fixes"),
        ("Enter in a field of a run", "the next action"),
    ];

    fn wanted(&self) -> Request {
        let run = self.run.as_ref().filter(|_| self.kind == RequestKind::Plan);
        Request {
            kind: self.kind,
            run: run.map(|run| run.request.clone()),
        }
    }

    fn problems(&self) -> Rc<[Diagnostic]> {
        self.answer()
            .map_or_else(Rc::default, |answer| Rc::clone(&answer.problems))
    }

    fn brief(&self) -> Option<(Sign, String)> {
        Some(match &*self.answer()?.answer {
            Answer::Plan(decision) | Answer::Run(decision, _) | Answer::Call(decision) => {
                match decision.verdict {
                    PlanVerdict::Allowed => (Sign::yes("yes"), String::new()),
                    PlanVerdict::NeedsMoreInfo(_) => (Sign::no("question"), String::new()),
                    PlanVerdict::Denied | PlanVerdict::Undecided => {
                        let problems = decision.problems.len() + decision.diagnostics.len();
                        (Sign::no("no"), count(problems as u32, "problem"))
                    }
                }
            }
            Answer::Grounding(grounding) => {
                let is_found = |it: &&Claim| matches!(it.verdict, Evidence::Found { .. });
                let found = grounding.claims.iter().filter(is_found).count();
                let text = format!("{found} of {}", grounding.claims.len());
                (
                    Sign::of(grounding.grounded == Some(true), "yes", "no"),
                    text,
                )
            }
        })
    }

    fn in_words(&self) -> Option<InWords> {
        let (sign, sentence) = match &*self.answer()?.answer {
            Answer::Plan(decision) | Answer::Run(decision, _) | Answer::Call(decision) => {
                let sign = decision::verdict(self.kind, decision);
                (sign, sign.words.to_owned())
            }
            Answer::Grounding(grounding) => grounding::verdict(grounding),
        };
        Some(InWords {
            sign,
            sentence,
            lines: Vec::new(),
        })
    }

    fn marks(&self) -> Vec<Mark> {
        marks::places(self)
    }

    fn answered(&mut self, answer: Answer) -> bool {
        let (kind, answer) = match answer {
            Answer::Run(decision, view) => {
                if let Some(run) = &mut self.run {
                    run.returned(*view);
                }
                (RequestKind::Plan, Answer::Plan(decision))
            }
            Answer::Plan(_) => (RequestKind::Plan, answer),
            Answer::Call(_) => (RequestKind::Call, answer),
            Answer::Grounding(_) => (RequestKind::Grounding, answer),
        };
        self.answers[kind as usize] = Some(Answered {
            problems: marks::problems(&answer).into(),
            answer: Rc::new(answer),
        });
        true
    }

    fn show_area(&mut self, area: Area) {
        self.kind = match area {
            Area::Call => RequestKind::Call,
            Area::Grounding => RequestKind::Grounding,
            _ => RequestKind::Plan,
        };
        self.expanded = Expanded::Automatic;
    }

    fn replaced(&mut self) {
        self.expanded = Expanded::Automatic;
        self.point_out = true;
        self.run = None;
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        let run = self.run.as_ref();
        run.map(|run| (RUN, run.link())).into_iter().collect()
    }

    fn restore(state: &mut State, saved: &SavedInputs) {
        state.content.run = Stepping::of_link(saved.field(RUN));
    }

    fn show(state: &mut State, field: &dyn Fn(&str) -> String) {
        let number = |name| field(name).parse().ok();
        let expanded = match (number(STEP), number(CHECK), number(CLAIM)) {
            (Some(step), Some(check), _) => Some(Expanded::Check { step, check }),
            (.., Some(claim)) => Some(Expanded::Claim(claim)),
            _ => None,
        };
        state.content.expanded = expanded.unwrap_or(state.content.expanded);
    }

    fn views(&self) -> Vec<(&'static str, String)> {
        match self.expanded {
            Expanded::Check { step, check } => {
                vec![(STEP, step.to_string()), (CHECK, check.to_string())]
            }
            Expanded::Claim(claim) => vec![(CLAIM, claim.to_string())],
            Expanded::Automatic | Expanded::Nothing => vec![],
        }
    }

    fn answer() -> Html {
        html! { <AnswerPane /> }
    }

    fn toolbar(page: &Page) -> Html {
        copy_answer(page)
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
                    <strong>{ "Run" }</strong>
                    { " below the steps of a plan asks for one effect after the other. You answer for the \
                      host, and the browser performs nothing." }
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
    html! {
        <AnswerPanel<Plans> id="decided" label="Decision">
            { match page.content().kind {
                RequestKind::Grounding => html! { <GroundingView /> },
                RequestKind::Plan | RequestKind::Call => html! { <DecisionView /> },
            } }
        </AnswerPanel<Plans>>
    }
}
