//! The encoding of messages between page and worker.
//!
//! Bytes instead of JavaScript objects: the code that reads fields by their names is several times as
//! large as the code that reads them in order, and page and worker always have the same version.

use serde::{Deserialize, Serialize};

/// Encodes a value.
pub fn to_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    // Every value of a message can be encoded. A receiver reports empty bytes.
    postcard::to_allocvec(value).unwrap_or_default()
}

/// Decodes a value, or returns `None` if the bytes are those of another type.
pub fn from_bytes<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Option<T> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{from_bytes, to_bytes};
    use crate::Answer;
    use agent_answer::{
        Code, DocumentKind, Eligible, Listed, Matrix, MatrixRow, NearMiss, Outcome, Place,
        Position, Reason, Requirement, Selected, ServerName, Span, Verdict,
    };

    fn server() -> ServerName {
        ServerName {
            id: "𝄞".to_owned(),
            version: "1.0.0".to_owned(),
        }
    }

    fn requirement(outcome: Outcome) -> Requirement {
        let point = Position {
            line: u32::MAX,
            column: 1,
            utf16_column: 2,
        };
        Requirement {
            category: Some("crm".to_owned()),
            capability: None,
            permissions: vec![],
            only: vec![],
            serve: vec![],
            place: Place {
                source: DocumentKind::Task,
                number: 0,
                span: Span::new(0, 1),
                start: point,
                end: point,
            },
            all: 7,
            funnel: vec![],
            policy_decision: None,
            outcome,
        }
    }

    #[test]
    fn a_value_comes_back_from_its_bytes() {
        let eligible = Eligible {
            server: server(),
            tool: Some(String::new()),
            lost_on: "id".to_owned(),
            text: "its id is first".to_owned(),
        };
        let selected = Outcome::Selected(Selected {
            server: server(),
            tool: None,
            endpoint: "https://acme.example".to_owned(),
            unknown: vec![],
            hash: "0".repeat(64),
            over: Some(eligible.clone()),
            fallback: None,
        });
        let unsatisfied = Outcome::Unsatisfied {
            nearest: vec![NearMiss {
                server: server(),
                tool: None,
                reasons: vec![Reason {
                    code: Code::MissingScope,
                    text: "\u{0}".to_owned(),
                }],
                fixes: vec![],
                suppositions: vec![],
            }],
        };
        let answer = Answer {
            verdict: Some(Verdict {
                satisfied: Some(false),
                requirements: vec![requirement(selected), requirement(unsatisfied)],
                ..Verdict::default()
            }),
            matrix: Some(Matrix {
                total: 1,
                offset: 0,
                rows: vec![MatrixRow {
                    server: server(),
                    tool: None,
                    cells: vec![0, MatrixRow::SELECTED, u16::MAX],
                }],
            }),
            eligible: Some(Listed {
                requirement: 0,
                total: 1,
                items: vec![eligible],
            }),
            resolution: Some(Err("too large".to_owned())),
            ..Answer::default()
        };
        let bytes = to_bytes(&answer);
        assert_eq!(from_bytes(&bytes), Some(answer));
        // Neither what is cut off nor what goes on is read.
        for length in 0..bytes.len() {
            assert_eq!(from_bytes::<Answer>(&bytes[..length]), None);
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(from_bytes::<Answer>(&longer), None);
    }
}
