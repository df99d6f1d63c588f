//! Members of records.

use agent_json_schema::at_pointer;
use agent_syntax::{Node, Value};

/// Returns the value at a pointer.
pub(crate) fn at<'n, 't>(node: &'n Node<'t>, pointer: &str) -> Option<&'n Node<'t>> {
    at_pointer(node, pointer)
}

/// Returns the string at a pointer.
pub(crate) fn string<'n>(node: &'n Node<'_>, pointer: &str) -> Option<&'n str> {
    match &at(node, pointer)?.value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Returns the whole number at a pointer.
pub(crate) fn number(node: &Node<'_>, pointer: &str) -> Option<u64> {
    match &at(node, pointer)?.value {
        Value::Number(text) => text.parse().ok(),
        _ => None,
    }
}

/// Returns the boolean at a pointer.
pub(crate) fn boolean(node: &Node<'_>, pointer: &str) -> Option<bool> {
    match at(node, pointer)?.value {
        Value::Bool(it) => Some(it),
        _ => None,
    }
}

/// Returns the items of the array at a pointer; none if there is no array.
pub(crate) fn items<'n, 't>(node: &'n Node<'t>, pointer: &str) -> &'n [Node<'t>] {
    match at(node, pointer).map(|it| &it.value) {
        Some(Value::Sequence(items)) => items,
        _ => &[],
    }
}
