//! Violations of a schema.

use super::correction::Correction;
use super::pointer::token;
use super::wording::quoted;
use agent_text::Span;

/// A violation of a schema by a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The violating part of the value, as a JSON pointer.
    pub instance: String,
    /// Its place in the text of the value. For an unknown or misnamed property, the key.
    pub span: Span,
    /// The URI of the document with the keyword; `None` for the schema itself.
    pub document: Option<String>,
    /// The place of the keyword in its document, as a JSON pointer. It contains no references on the
    /// path of evaluation.
    pub schema: String,
    /// The place of the keyword's value in the text of the document.
    pub schema_span: Span,
    /// The keyword.
    pub keyword: &'static str,
    /// A predicate about the part, such as `must be a string, and is a number`, without a final
    /// stop.
    pub message: String,
    /// If all of several subschemas fail, the violations of the nearest one. For a property name or
    /// a condition, the violations that cause this one.
    pub causes: Vec<Violation>,
    /// The properties that are missing or declared, or the texts that are allowed, as far as they are
    /// few.
    pub expected: Vec<String>,
    /// The obvious corrections of the value; for missing properties one for each that is misspelt.
    pub corrections: Vec<Correction>,
}

/// Returns violations without follow-ups: a missing property with a misspelt key is one problem, at the
/// key.
pub fn without_follow_ups(mut violations: Vec<Violation>) -> Vec<Violation> {
    let is_required = |it: &Violation| it.keyword == "required" && !it.corrections.is_empty();
    let (misspelt, mut rest): (Vec<_>, Vec<_>) = violations.drain(..).partition(is_required);
    for violation in misspelt {
        for correction in &violation.corrections {
            let (Some(span), Correction::Key { from, to, .. }) =
                (correction.key_span(), correction)
            else {
                continue;
            };
            if rest.iter().all(|it| it.span != span) {
                rest.push(Violation {
                    instance: format!("{}/{}", violation.instance, token(from)),
                    span,
                    message: format!("is not a known property; did you mean {}?", quoted(to)),
                    corrections: vec![correction.clone()],
                    ..violation.clone()
                });
            }
        }
    }
    rest
}
