//! Numbers that a double can't hold. RFC 8785 writes numbers as IEEE doubles, and two plans must not
//! share one digest \[1\]; a policy would compare another number.

use agent_json_schema::{same_number, token};
use agent_syntax::{Node, Value, canonical};
use agent_text::Span;

/// Maximum digits of a number that a double always holds.
const DIGITS: usize = 15;

/// Calls `report` with the pointer, the place and the changed text of each number that its RFC 8785
/// form changes, below the value at a pointer.
pub(super) fn inexact_numbers(
    node: &Node<'_>,
    pointer: &mut String,
    report: &mut impl FnMut(&str, Span, &str),
) {
    let length = pointer.len();
    match &node.value {
        Value::Number(number) => {
            if let Some(written) = rounded(number) {
                report(pointer, node.span, &written);
            }
        }
        Value::Sequence(items) => {
            for (number, item) in items.iter().enumerate() {
                pointer.push_str(&format!("/{number}"));
                inexact_numbers(item, pointer, report);
                pointer.truncate(length);
            }
        }
        Value::Mapping(entries) => {
            for entry in entries {
                pointer.push_str(&format!("/{}", token(&entry.key)));
                inexact_numbers(&entry.value, pointer, report);
                pointer.truncate(length);
            }
        }
        _ => {}
    }
}

/// Returns the RFC 8785 form of a JSON number, if it has another value. A number outside the range of a
/// double has none.
pub fn rounded(number: &str) -> Option<String> {
    let is_short = number.len() <= DIGITS && !number.contains(['e', 'E']);
    let is_finite = || number.parse::<f64>().is_ok_and(f64::is_finite);
    if is_short || !is_finite() {
        return None;
    }
    canonical(number).filter(|written| !same_number(number, written))
}

/// Returns the message about such a number.
pub(super) fn inexact(source: &str, written: &str) -> String {
    format!("the number {source} would be {written} in a digest")
}
