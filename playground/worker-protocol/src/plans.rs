//! The messages between the page of plans and its worker.
//!
//! They have the names of those about servers: each page has a separate worker module.

use crate::run::{RunRequest, RunView};
use agent_answer::{Grounding, PlanDecision};
use serde::{Deserialize, Serialize};

/// A question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Its kind.
    pub kind: RequestKind,
    /// The run of a plan of several steps, if the page shows it.
    pub run: Option<RunRequest>,
}

impl From<RequestKind> for Request {
    fn from(kind: RequestKind) -> Self {
        Self { kind, run: None }
    }
}

/// A kind of question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequestKind {
    /// May a plan of several steps run?
    #[default]
    Plan,
    /// May the call of a one-call plan be made?
    Call,
    /// Does a payload contain the evidence of a summary?
    Grounding,
}

/// An answer, by the kind of the question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// To a plan of several steps.
    Plan(PlanDecision),
    /// To such a plan, and its run.
    Run(PlanDecision, Box<RunView>),
    /// To a one-call plan.
    Call(PlanDecision),
    /// To a summary.
    Grounding(Grounding),
}

/// The properties of an engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The version.
    pub version: String,
}

#[cfg(test)]
mod tests {
    use super::Answer;
    use crate::{from_bytes, to_bytes};
    use agent_answer::{
        Applicability, Claim, Code, Diagnostic, DocumentKind, Edit, Evidence, Fact, Fix, Grounding,
        InputFrom, NearQuote, Piece, Place, PlanDecision, PlanProblem, PlanVerdict, Position,
        Quote, Span, Step, StepCheck, StepOutcome,
    };

    #[test]
    fn answers_come_back_from_their_bytes() {
        let point = Position {
            line: 1,
            column: 2,
            utf16_column: u32::MAX,
        };
        let place = Place {
            source: DocumentKind::ToolPool,
            number: 0,
            span: Span::new(3, 4),
            start: point,
            end: point,
        };
        let quote = || Quote {
            pointer: "/a~1b/0".to_owned(),
            text: "\u{202e}𝄞".to_owned(),
            place,
        };
        let fix = Fix {
            title: "lower it".to_owned(),
            applicability: Applicability::Unsafe,
            edits: vec![Edit {
                place,
                replacement: String::new(),
            }],
        };
        let mut diagnostic = Diagnostic::new(Code::MovaLimitExceeded, "above the cap")
            .label(place, "here")
            .label(place, "the cap")
            .help("lower it");
        diagnostic.rule = Some("max_timeout_ms".to_owned());
        diagnostic.step = Some(1);
        diagnostic.labels[0].pointer = Some("/bindings/0/limits/timeout_ms".to_owned());
        diagnostic.fixes.push(fix.clone());
        let problem = PlanProblem {
            diagnostic,
            check: None,
        };
        let step = Step {
            id: Some("keep".to_owned()),
            title: None,
            connector: "connector_core:noop".to_owned(),
            tool: "keep".to_owned(),
            driver: Some("noop".to_owned()),
            place,
            input: None,
            input_from: Some(InputFrom {
                step: Some(0),
                id: "list".to_owned(),
                pointer: String::new(),
                place,
            }),
            checks: vec![StepCheck {
                name: "limits".to_owned(),
                outcome: StepOutcome::Deferred,
                facts: vec![Fact {
                    text: "5000 of 10000".to_owned(),
                    place: Some(place),
                }],
            }],
            obligations: vec!["approval".to_owned()],
        };
        let plan = Answer::Plan(PlanDecision {
            verdict: PlanVerdict::Denied,
            problems: vec![problem],
            steps: vec![step],
            ..PlanDecision::default()
        });
        let evidence = |verdict| Claim {
            claim: "c".to_owned(),
            evidence: "e".to_owned(),
            place,
            verdict,
        };
        let grounding = Answer::Grounding(Grounding {
            grounded: Some(false),
            text: "each".to_owned(),
            diagnostics: vec![],
            claims: vec![
                evidence(Evidence::Found {
                    first: quote(),
                    count: u32::MAX,
                }),
                evidence(Evidence::Missed {
                    code: Code::Ungrounded,
                    text: "is not there".to_owned(),
                    notes: vec![],
                    parts: vec![place],
                    near: Some(NearQuote {
                        quote: quote(),
                        pieces: vec![
                            Piece::Both("a".to_owned()),
                            Piece::Evidence("b".to_owned()),
                            Piece::Payload("c".to_owned()),
                        ],
                        fix: fix.clone(),
                    }),
                }),
            ],
        });
        let call = Answer::Call(PlanDecision {
            verdict: PlanVerdict::NeedsMoreInfo("which one?".to_owned()),
            ..PlanDecision::default()
        });
        for answer in [plan, call, grounding] {
            let bytes = to_bytes(&answer);
            assert_eq!(from_bytes(&bytes), Some(answer));
            for length in 0..bytes.len() {
                assert_eq!(from_bytes::<Answer>(&bytes[..length]), None);
            }
        }
    }
}
