//! Members and values of parsed JSON documents.

use super::{Entry, Node, Value};

/// Returns the entries of an object; none of another value.
pub fn entries<'n, 't>(node: &'n Node<'t>) -> &'n [Entry<'t>] {
    match &node.value {
        Value::Mapping(entries) => entries,
        _ => &[],
    }
}

/// Returns a member of an object with its key.
pub fn entry<'n, 't>(node: &'n Node<'t>, name: &str) -> Option<&'n Entry<'t>> {
    entries(node).iter().find(|it| it.key == name)
}

/// Returns a member of an object.
pub fn member<'n, 't>(node: &'n Node<'t>, name: &str) -> Option<&'n Node<'t>> {
    Some(&entry(node, name)?.value)
}

/// Returns the text of a string.
pub fn string<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    match &node.value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Returns the items of an array.
pub fn items<'n, 't>(node: &'n Node<'t>) -> Option<&'n [Node<'t>]> {
    match &node.value {
        Value::Sequence(items) => Some(items),
        _ => None,
    }
}

/// Returns a whole number without a sign, a fraction or an exponent.
pub fn number(node: &Node<'_>) -> Option<u64> {
    match &node.value {
        Value::Number(digits) => digits.parse().ok(),
        _ => None,
    }
}

/// Returns a boolean.
pub fn boolean(node: &Node<'_>) -> Option<bool> {
    match node.value {
        Value::Bool(value) => Some(value),
        _ => None,
    }
}
