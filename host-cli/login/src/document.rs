//! Members of JSON documents and of queries.

use agent_syntax::json::parse_strict;
use agent_syntax::{Node, Value};

/// A JSON object of an authorization server, by its strings, lists of strings, numbers and booleans.
pub(super) struct Document(String);

impl Document {
    /// Reads an object of strict JSON.
    pub(super) fn new(bytes: &[u8], what: &str) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| format!("{what} is not UTF-8"))?;
        match parse_strict(text).map(|root| matches!(root.value, Value::Mapping(_))) {
            Some(true) => Ok(Self(text.to_owned())),
            _ => Err(format!("{what} is not a JSON object")),
        }
    }

    fn with<T>(&self, key: &str, read: impl FnOnce(&Value<'_>) -> Option<T>) -> Option<T> {
        let root = parse_strict(&self.0)?;
        let Value::Mapping(entries) = &root.value else {
            return None;
        };
        read(&entries.iter().find(|entry| entry.key == key)?.value.value)
    }

    /// Returns a string.
    pub(super) fn string(&self, key: &str) -> Option<String> {
        self.with(key, string)
    }

    /// Returns the strings of a list.
    pub(super) fn strings(&self, key: &str) -> Option<Vec<String>> {
        self.with(key, |value| match value {
            Value::Sequence(items) => {
                let items = items.iter();
                items.map(|item: &Node<'_>| string(&item.value)).collect()
            }
            _ => None,
        })
    }

    /// Returns whether a member is `true`.
    pub(super) fn is_true(&self, key: &str) -> bool {
        self.with(key, |value| Some(matches!(value, Value::Bool(true)))) == Some(true)
    }

    /// Returns a whole number.
    pub(super) fn number(&self, key: &str) -> Option<u64> {
        let root = parse_strict(&self.0)?;
        let Value::Mapping(entries) = &root.value else {
            return None;
        };
        let entry = entries.iter().find(|entry| entry.key == key)?;
        entry.value.span.of(&self.0).parse().ok()
    }
}

fn string(value: &Value<'_>) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone().into_owned()),
        _ => None,
    }
}

/// Returns the value of a member of a query. A member that is there twice has none.
pub(super) fn member(query: &str, name: &str) -> Option<String> {
    let members = query.split('&').filter_map(|it| it.split_once('='));
    let mut values = members.filter(|(key, _)| decoded(key).as_deref() == Some(name));
    let (_, value) = values.next()?;
    if values.next().is_some() {
        return None;
    }
    decoded(value)
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        rest = tail;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = &rest[2..];
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::{Document, member};
    use agent_way_out::form;

    #[test]
    fn a_member_of_a_query_is_there_once() {
        let query = form(&[("state", "a b&c=%"), ("iss", "https://as.example")]);
        assert_eq!(member(&query, "state").as_deref(), Some("a b&c=%"));
        assert_eq!(member("state=a&state=b", "state"), None);
        assert_eq!(member("state=%zz", "state"), None);
        assert_eq!(member("state=%", "state"), None);
    }

    #[test]
    fn documents_are_strict_objects() {
        let document = Document::new(br#"{"a":["x","y"],"b":true,"c":3600}"#, "it").unwrap();
        assert_eq!(document.strings("a").unwrap(), ["x", "y"]);
        assert!(document.is_true("b") && !document.is_true("a"));
        assert_eq!(document.number("c"), Some(3600));
        assert!(Document::new(br#"{"a":1,"a":2}"#, "it").is_err());
        assert!(Document::new(b"[]", "it").is_err());
    }
}
