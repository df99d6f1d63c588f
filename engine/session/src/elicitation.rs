//! Approvals that a client asks its human for, by elicitation \[4; MCP, Elicitation\].
//!
//! A client can answer without a human, so a host has to choose this way. Records name it.

use agent_api::text::visible_text;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{member, string};
use agent_syntax::{Node, Value};

/// The key of the request in `inputRequests`, and of its answer in `inputResponses`.
pub(crate) const REQUEST: &str = "approval";

/// Who answered, in a record.
pub(crate) const BY: &str = "elicitation";

/// The field of the form.
const FIELD: &str = "approve";

/// Returns whether a client with these capabilities shows forms of servers to its human.
pub(crate) fn is_offered(capabilities: &Node<'_>) -> bool {
    match member(capabilities, "elicitation").map(|it| &it.value) {
        // Without a mode, forms are meant.
        Some(Value::Mapping(modes)) => {
            modes.is_empty() || modes.iter().any(|mode| mode.key == "form")
        }
        _ => false,
    }
}

/// Returns the parameters of `elicitation/create`, which ask a human to approve a call. The human sees the code
/// points of hidden characters.
pub(crate) fn params(text: &str) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("message").string(&visible_text(text));
        w.key("mode").string("form");
        w.key("requestedSchema").object(|w| {
            w.key("properties").object(|w| {
                w.key(FIELD).object(|w| {
                    let description = "Whether the call may be made, once.";
                    w.key("description").string(description);
                    w.key("title").string("Approve this call");
                    w.key("type").string("boolean");
                });
            });
            w.key("required").strings([FIELD]);
            w.key("type").string("object");
        });
    });
    let mut text = w.finish();
    text.pop();
    text
}

/// Returns the decision in an `ElicitResult`; `None` if the human made none.
pub(crate) fn decision(result: &Node<'_>) -> Option<bool> {
    match member(result, "action").and_then(string)? {
        "accept" => match member(member(result, "content")?, FIELD)?.value {
            Value::Bool(answer) => Some(answer),
            _ => None,
        },
        "decline" => Some(false),
        _ => None,
    }
}

/// Reads an `ElicitResult`, as [`decision`].
pub(crate) fn read(result: &[u8]) -> Option<bool> {
    decision(&parse_strict(core::str::from_utf8(result).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::{is_offered, params, read};
    use agent_syntax::json::parse_strict;

    #[test]
    fn only_an_explicit_answer_decides() {
        for (result, decision) in [
            (
                r#"{"action":"accept","content":{"approve":true}}"#,
                Some(true),
            ),
            (
                r#"{"action":"accept","content":{"approve":false}}"#,
                Some(false),
            ),
            (r#"{"action":"decline"}"#, Some(false)),
            (
                r#"{"action":"decline","content":{"approve":true}}"#,
                Some(false),
            ),
            (r#"{"action":"cancel"}"#, None),
            (r#"{"action":"accept"}"#, None),
            (r#"{"action":"accept","content":{}}"#, None),
            (r#"{"action":"accept","content":{"approve":"true"}}"#, None),
            (
                r#"{"action":"accept","content":{"approve":true,"approve":false}}"#,
                None,
            ),
            (r#"{"content":{"approve":true}}"#, None),
            ("true", None),
            ("", None),
        ] {
            assert_eq!(read(result.as_bytes()), decision, "{result}");
        }
    }

    #[test]
    fn a_question_hides_nothing() {
        let asked = params("send \u{202e}\u{fe01}\u{1f9d1}\u{200d}\u{1f680}");
        assert!(
            asked.contains("send <U+202E><U+FE01>\u{1f9d1}\u{200d}\u{1f680}\""),
            "{asked}"
        );
    }

    #[test]
    fn forms_are_offered_alone_or_without_a_mode() {
        for (capabilities, offered) in [
            (r#"{"elicitation":{}}"#, true),
            (r#"{"elicitation":{"form":{},"url":{}}}"#, true),
            (r#"{"elicitation":{"url":{}}}"#, false),
            (r#"{"elicitation":true}"#, false),
            ("{}", false),
        ] {
            let node = parse_strict(capabilities).expect("JSON");
            assert_eq!(is_offered(&node), offered, "{capabilities}");
        }
    }
}
