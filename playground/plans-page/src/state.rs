//! The state of the page, and its actions.

use crate::stepping::Stepping;
use agent_answer::{Diagnostic, Grounding, PlanDecision, StepOutcome};
use agent_worker_protocol::plans::{Answer, RequestKind};
use std::rc::Rc;

pub(crate) type State = agent_ui::state::State<Plans>;
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

/// An answer, and the problems of the documents in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answered {
    pub(crate) answer: Rc<Answer>,
    pub(crate) problems: Rc<[Diagnostic]>,
}

/// The page of plans and groundings.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Plans {
    /// The question of the visible area.
    pub(crate) kind: RequestKind,
    /// The last answer to each question.
    pub(crate) answers: [Option<Answered>; 3],
    pub(crate) expanded: Expanded,
    /// Whether texts were replaced, and the page has not scrolled to their problems yet.
    pub(crate) point_out: bool,
    /// The run of the plan, once the user began one.
    pub(crate) run: Option<Stepping>,
}

impl Plans {
    pub(crate) fn answer(&self) -> Option<&Answered> {
        self.answers[self.kind as usize].as_ref()
    }

    /// Returns the answer to the plan of the visible area.
    pub(crate) fn decision(&self) -> Option<&PlanDecision> {
        match &*self.answer()?.answer {
            Answer::Plan(decision) | Answer::Run(decision, _) | Answer::Call(decision) => {
                Some(decision)
            }
            Answer::Grounding(_) => None,
        }
    }

    /// Returns the answer to the summary, if its area is visible.
    pub(crate) fn grounding(&self) -> Option<&Grounding> {
        match &*self.answer()?.answer {
            Answer::Grounding(grounding) => Some(grounding),
            Answer::Plan(_) | Answer::Run(..) | Answer::Call(_) => None,
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
fn first_failure(decision: &PlanDecision) -> Option<(u32, u32)> {
    (0..).zip(&decision.steps).find_map(|(step, it)| {
        let mut checks = (0..).zip(&it.checks);
        let failed = checks.find(|(_, check)| check.outcome == StepOutcome::Failed);
        failed.map(|(check, _)| (step, check))
    })
}

#[cfg(test)]
mod tests {
    use super::{Expanded, Plans, State};
    use agent_answer::{Code, Diagnostic, DocumentKind, Grounding, PlanDecision};
    use agent_ui::areas::Area;
    use agent_ui::content::{Content as _, Documents as _};
    use agent_ui::state::Pane;
    use agent_ui::worker::WorkerEvent;
    use agent_worker_protocol::plans::{Answer, RequestKind};

    fn answer(state: &mut State, revision: u32, answer: Answer) {
        state.change(|state| {
            state.handle(WorkerEvent::Answered {
                revision,
                answer,
                milliseconds: 1.5,
            });
        });
    }

    fn problem(code: Code) -> Vec<Diagnostic> {
        vec![Diagnostic::new(code, "")]
    }

    #[test]
    fn each_area_has_its_question_and_its_last_answer() {
        let mut state = State::new(Area::Call);
        assert_eq!(state.content.kind, RequestKind::Call);
        assert_eq!(state.lower, DocumentKind::Index);
        let call = PlanDecision {
            diagnostics: problem(Code::ToolUnknown),
            ..PlanDecision::default()
        };
        answer(&mut state, 0, Answer::Call(call.clone()));
        assert_eq!(state.content.decision(), Some(&call));

        state.content.expanded = Expanded::Nothing;
        state.show_input(DocumentKind::Lock);
        state.change(|state| state.edit(&[DocumentKind::Payload]));
        let before = state.revision;
        state.change(|state| state.show_area(Area::Grounding));
        assert_eq!(state.revision, before + 1);
        assert_eq!(state.content.kind, RequestKind::Grounding);
        assert_eq!(state.content.expanded, Expanded::Automatic);
        assert_eq!(
            (state.lower, state.pane),
            (DocumentKind::Summary, Pane::Answer)
        );
        assert_eq!(state.content.grounding(), None);
        assert_eq!(*state.content.problems(), []);

        let grounding = Grounding {
            diagnostics: problem(Code::JsonSyntax),
            ..Grounding::default()
        };
        let revision = state.revision;
        answer(&mut state, revision, Answer::Grounding(grounding.clone()));
        assert_eq!(state.content.grounding(), Some(&grounding));
        assert_eq!(*state.content.problems(), *grounding.diagnostics);
        state.change(|state| state.show_area(Area::Call));
        assert_eq!(state.content.decision(), Some(&call));
        assert_eq!(*state.content.problems(), *call.diagnostics);
    }

    #[test]
    fn the_areas_of_another_page_leave_this_one_as_it_is() {
        let mut state = State::new(Area::Grounding);
        let before = state.clone();
        state.change(|state| state.show_area(Area::Servers));
        state.change(|state| state.show_area(Area::Grounding));
        assert_eq!(state, before);
        // A link to another page may load this one first.
        assert_eq!(State::new(Area::Servers).area, Area::Plans);
    }

    #[test]
    fn replaced_texts_are_pointed_out_and_documents_of_other_areas_do_not_come_to_the_front() {
        let mut state = State::new(Area::Plans);
        state.content.expanded = Expanded::Check { step: 1, check: 0 };
        state.change(|state| state.replace(&Plans::kinds().collect::<Vec<_>>()));
        assert!(state.content.point_out && state.stale());
        assert_eq!(state.content.expanded, Expanded::Automatic);
        assert_eq!(state.lower, DocumentKind::ToolPool);
        state.show_input(DocumentKind::Summary);
        assert_eq!(state.lower, DocumentKind::ToolPool);
        state.show_input(DocumentKind::Profile);
        assert_eq!(state.lower, DocumentKind::Profile);
    }
}
