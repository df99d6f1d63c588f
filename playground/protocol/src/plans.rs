//! What the page of plans and its worker say to each other.
//!
//! A conversation of its own, with questions and answers of the same names as those about servers:
//! each page has a module of its own, and so has each worker.

use crate::{Diagnostic, DocumentKind, Edit, Fix, Label, Place};
use serde::{Deserialize, Serialize};

/// A question. What it leaves out stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The answer has the same, so that a stale one is known.
    pub revision: u32,
    /// The texts that were changed. They stand beside the bytes of a question, as JavaScript's
    /// strings.
    #[serde(skip)]
    pub texts: Texts,
    /// What is to be decided.
    pub kind: RequestKind,
}

/// What can be decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequestKind {
    /// Whether a plan of several steps may run.
    #[default]
    Plan,
    /// Whether the one call of a plan may be made.
    Call,
    /// Whether a summary says what a payload says.
    Grounding,
}

/// Texts that were changed since the last question, in the order in which they were told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts(pub Vec<(DocumentKind, String)>);

impl Texts {
    /// Puts in the text of a number, which is that of its [`DocumentKind`]. Of another number, nothing.
    pub fn set(&mut self, number: u32, text: String) {
        if let Some(source) = DocumentKind::ALL.get(number as usize) {
            self.0.push((*source, text));
        }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// That of the question.
    pub revision: u32,
    /// How long the engine took. The worker's script says it beside the answer: it has a clock.
    #[serde(skip)]
    pub milliseconds: f64,
    /// What was decided.
    pub response: Response,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Response {
    /// Whether a plan of several steps may run.
    Plan(Decision),
    /// Whether the one call of a plan may be made.
    Call(Decision),
    /// Whether a summary says what a payload says.
    Grounding(Grounding),
}

/// What the engine says of itself before it is asked anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The version of the engine.
    pub version: String,
}

/// The answer to a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The answer.
    pub verdict: Verdict,
    /// What the plan is called; none of one call.
    pub plan: Option<String>,
    /// What is to be said about texts that could not be read, and warnings. Where a text could not be
    /// read, nothing that needs it was decided.
    pub diagnostics: Vec<Diagnostic>,
    /// Everything that speaks against the plan.
    pub problems: Vec<Problem>,
    /// The steps, in the order of the plan. Empty where it could not be read.
    pub steps: Vec<Step>,
    /// What may be carried out. None: nothing.
    pub authorized: Option<Authorized>,
    /// The documents that were looked at.
    pub against: Vec<Against>,
    /// The validation report, as JSON on several lines; there is none of one call.
    pub report: Option<String>,
}

/// Whether a plan may be carried out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// A text could not be read.
    #[default]
    Undecided,
    /// It may.
    Allowed,
    /// It may not.
    Denied,
    /// It calls nothing: this is to be asked of the user.
    Asks(String),
}

/// Something that speaks against a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Its stable code, such as `policy_denied`; one-call plans have none.
    pub code: Option<String>,
    /// The code of the catalogue that says it more exactly.
    pub reason: Option<String>,
    /// What is wrong, with the values that were compared.
    pub message: String,
    /// Where it stands.
    pub place: Place,
    /// The same as a JSON pointer.
    pub pointer: Option<String>,
    /// What decided: a rule of the profile, a keyword of a schema, or a rule of the project.
    pub rule: Option<String>,
    /// What it is in conflict with, and what is to be said about it there.
    pub also: Vec<Label>,
    /// What to do, most useful first.
    pub help: Vec<String>,
    /// The number of the step that it is about, if it is about one.
    pub step: Option<u32>,
    /// The number of the step's check that it is a failure of.
    pub check: Option<u32>,
    /// Changes, by each of which it is gone.
    pub fixes: Vec<Fix>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its id in the plan; none of one call.
    pub id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The connector that it goes by, or the server that it calls.
    pub connector: String,
    /// The tool.
    pub tool: String,
    /// What carries it out, such as `http`.
    pub driver: Option<String>,
    /// Where it stands in the plan.
    pub place: Place,
    /// The beginning of the input that the plan has for it, as it is written there.
    pub input: Option<String>,
    /// The step whose output it takes.
    pub input_from: Option<InputFrom>,
    /// What was checked, in order, and behind it what is checked while it runs.
    pub checks: Vec<Check>,
    /// What has to happen before it runs, such as `approval`.
    pub obligations: Vec<String>,
}

/// An input that another step gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFrom {
    /// Its number, if the plan has it before this one.
    pub step: Option<u32>,
    /// Its id, as the plan names it.
    pub id: String,
    /// Which part of its output, as a JSON pointer.
    pub pointer: String,
    /// Where the plan says so.
    pub place: Place,
}

/// A check of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What it is about, in a word.
    pub name: String,
    /// What came of it.
    pub outcome: Outcome,
    /// What was compared, or what holds.
    pub facts: Vec<Fact>,
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Nothing speaks against it.
    Passed,
    /// Something does.
    Failed,
    /// It can be made only while the plan runs.
    Deferred,
    /// It could not be made, because of another problem.
    Skipped,
}

/// Something that is so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// A sentence, or words that stand by themselves.
    pub text: String,
    /// Where it stands.
    pub place: Option<Place>,
}

/// What may be carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authorized {
    /// Its digest, in the form of an integrity.
    pub digest: String,
    /// The whole, as JSON.
    pub json: String,
}

/// A document that a plan was decided against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Against {
    /// What kind of document.
    pub document: String,
    /// Its id, if there may be several of its kind.
    pub name: Option<String>,
    /// Its digest, in the form of an integrity.
    pub digest: String,
}

/// The answer to a summary.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grounding {
    /// Whether every claim has its evidence. None: a text has errors, and nothing was decided.
    pub grounded: Option<bool>,
    /// What is to be said about the texts. Evidence that is not there is said of its claim.
    pub diagnostics: Vec<Diagnostic>,
    /// The claims, in the order of the summary.
    pub claims: Vec<Claim>,
}

/// A claim, and whether its evidence is there. Long texts are shown by their beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// What is claimed.
    pub claim: String,
    /// What is to prove it.
    pub evidence: String,
    /// Where that stands in the summary.
    pub place: Place,
    /// Whether it is in the payload.
    pub verdict: Evidence,
}

/// Whether evidence is in a payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Evidence {
    /// It is.
    Found {
        /// Where it is first.
        first: Quote,
        /// How often it is there.
        count: u32,
    },
    /// It is not.
    Missed {
        /// The code of the catalogue.
        code: String,
        /// Why not, as the predicate of a sentence about it.
        text: String,
        /// What helps to see why.
        help: Vec<String>,
        /// The parts that it is put together from, or the name that it is.
        parts: Vec<Place>,
        /// What would be evidence and is most like it.
        near: Option<NearMiss>,
    },
}

/// A part of the payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The JSON pointer to the text that it is a part of.
    pub pointer: String,
    /// The part.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// What is most like evidence that is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearMiss {
    /// What stands in the payload.
    pub quote: Quote,
    /// It and the evidence, piece by piece. Empty where that is too long to be shown.
    pub pieces: Vec<Piece>,
    /// The edits by which it is the evidence.
    pub edits: Vec<Edit>,
}

/// A piece of two texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Piece {
    /// Both have it.
    Both(String),
    /// Only the evidence has it.
    Evidence(String),
    /// Only the payload has it.
    Payload(String),
}

#[cfg(all(test, not(feature = "javascript")))]
mod tests {
    use super::{
        Answer, Check, Claim, Decision, Evidence, Fact, Grounding, InputFrom, NearMiss, Outcome,
        Piece, Problem, Quote, Response, Step, Texts, Verdict,
    };
    use crate::{DocumentKind, Fix, Label, Place, Point, from_bytes, to_bytes};

    #[test]
    fn texts_are_put_in_by_the_numbers_of_their_sources() {
        let mut texts = Texts::default();
        texts.set(DocumentKind::Payload as u32, "p".to_owned());
        texts.set(DocumentKind::Plan as u32, "q".to_owned());
        texts.set(DocumentKind::ALL.len() as u32, "nothing".to_owned());
        let expected = [
            (DocumentKind::Payload, "p".to_owned()),
            (DocumentKind::Plan, "q".to_owned()),
        ];
        assert_eq!(texts, Texts(expected.to_vec()));
    }

    #[test]
    fn answers_come_back_from_their_bytes() {
        let point = Point { line: 1, column: 2 };
        let place = Place {
            source: DocumentKind::ToolPool,
            start: point,
            end: point,
        };
        let quote = || Quote {
            pointer: "/a~1b/0".to_owned(),
            text: "\u{202e}𝄞".to_owned(),
            place,
        };
        let problem = Problem {
            code: Some("limit_exceeded".to_owned()),
            reason: None,
            message: "above the cap".to_owned(),
            place,
            pointer: Some("/bindings/0/limits/timeout_ms".to_owned()),
            rule: Some("max_timeout_ms".to_owned()),
            also: vec![Label {
                place,
                text: "the cap".to_owned(),
            }],
            help: vec!["lower it".to_owned()],
            step: Some(1),
            check: None,
            fixes: vec![Fix {
                text: "lower it".to_owned(),
                widening: false,
                edits: None,
            }],
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
            checks: vec![Check {
                name: "limits".to_owned(),
                outcome: Outcome::Deferred,
                facts: vec![Fact {
                    text: "5000 of 10000".to_owned(),
                    place: Some(place),
                }],
            }],
            obligations: vec!["approval".to_owned()],
        };
        let plan = Response::Plan(Decision {
            verdict: Verdict::Denied,
            problems: vec![problem],
            steps: vec![step],
            ..Decision::default()
        });
        let evidence = |verdict| Claim {
            claim: "c".to_owned(),
            evidence: "e".to_owned(),
            place,
            verdict,
        };
        let grounding = Response::Grounding(Grounding {
            grounded: Some(false),
            diagnostics: vec![],
            claims: vec![
                evidence(Evidence::Found {
                    first: quote(),
                    count: u32::MAX,
                }),
                evidence(Evidence::Missed {
                    code: "UNGROUNDED".to_owned(),
                    text: "is not there".to_owned(),
                    help: vec![],
                    parts: vec![place],
                    near: Some(NearMiss {
                        quote: quote(),
                        pieces: vec![
                            Piece::Both("a".to_owned()),
                            Piece::Evidence("b".to_owned()),
                            Piece::Payload("c".to_owned()),
                        ],
                        edits: vec![],
                    }),
                }),
            ],
        });
        let call = Response::Call(Decision {
            verdict: Verdict::Asks("which one?".to_owned()),
            ..Decision::default()
        });
        for response in [plan, call, grounding] {
            let answer = Answer {
                revision: 7,
                milliseconds: 0.0,
                response,
            };
            let bytes = to_bytes(&answer);
            assert_eq!(from_bytes(&bytes), Some(answer));
            for length in 0..bytes.len() {
                assert_eq!(from_bytes::<Answer>(&bytes[..length]), None);
            }
        }
    }
}
