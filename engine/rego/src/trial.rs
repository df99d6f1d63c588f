//! An input with another value, for people who write a policy.

use agent_syntax::json::{json_string, parse_strict};
use agent_syntax::members::string;
use agent_syntax::{Node, Value};

/// A string, number, boolean or null of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputValue {
    /// Its place, as a JSON pointer.
    pub pointer: String,
    /// Its text, if it is a string, and otherwise its JSON.
    pub text: String,
}

/// Returns the first values of an input, those that are nested least first.
pub fn input_values(input: &str, limit: usize) -> Vec<InputValue> {
    let mut values = Vec::new();
    let Some(root) = parse_strict(input) else {
        return values;
    };
    let mut level = vec![(String::new(), &root)];
    while !level.is_empty() && values.len() < limit {
        let mut next = Vec::new();
        for (pointer, node) in level {
            match parts(node) {
                Some(parts) => next.extend(
                    parts
                        .into_iter()
                        .map(|(key, part)| (format!("{pointer}/{key}"), part)),
                ),
                None => values.push(InputValue {
                    text: string(node).unwrap_or(node.span.of(input)).to_owned(),
                    pointer,
                }),
            }
        }
        level = next;
    }
    values.truncate(limit);
    values
}

/// Returns an input with another value at a pointer. The text is a string where there is one, and otherwise JSON, or a
/// string if it is none. `None` if nothing is there.
pub fn with_value(input: &str, pointer: &str, text: &str) -> Option<String> {
    let root = parse_strict(input)?;
    let mut node = &root;
    for key in pointer.split('/').skip(1) {
        let (_, part) = parts(node)?.into_iter().find(|(each, _)| each == key)?;
        node = part;
    }
    let is_json = string(node).is_none() && parse_strict(text).is_some();
    let value = match is_json {
        true => text.to_owned(),
        false => json_string(text),
    };
    let (start, end) = (node.span.start as usize, node.span.end as usize);
    Some(format!("{}{value}{}", &input[..start], &input[end..]))
}

/// Returns the members or items of a value with their parts of a pointer; `None` if it can have none.
fn parts<'n, 't>(node: &'n Node<'t>) -> Option<Vec<(String, &'n Node<'t>)>> {
    match &node.value {
        Value::Mapping(entries) => {
            let key = |key: &str| key.replace('~', "~0").replace('/', "~1");
            Some(entries.iter().map(|it| (key(&it.key), &it.value)).collect())
        }
        Value::Sequence(items) => {
            let numbered = items.iter().enumerate();
            Some(numbered.map(|(at, it)| (at.to_string(), it)).collect())
        }
        _ => None,
    }
}
