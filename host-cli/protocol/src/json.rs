//! JSON values as they were received.

use agent_diagnostic::Problems;
use agent_syntax::json::{self, parse_strict};
use agent_syntax::{Node, Value};
use agent_text::{DocumentKind, Span, Text};
use agent_way_out::quote;
use bytes::Bytes;
use std::fmt;

/// Maximum number of characters of a description of malformed bytes.
const DESCRIPTION_CHARS: usize = 200;

/// One value of strict JSON, as the bytes that were received. Cloning it copies no bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Json(Bytes);

impl fmt::Debug for Json {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// What makes bytes something else than was agreed, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// What is wrong.
    pub what: String,
    /// The offset of the wrong byte.
    pub offset: usize,
}

impl Malformed {
    /// Returns a description of what is wrong at a place.
    pub(crate) fn new(what: impl Into<String>, offset: usize) -> Self {
        Self {
            what: what.into(),
            offset,
        }
    }
}

impl Json {
    /// Reads bytes as strict JSON: UTF-8 without a byte order mark, one value, no duplicate keys.
    ///
    /// # Errors
    ///
    /// When the bytes are anything else.
    pub fn new(bytes: impl Into<Bytes>) -> Result<Self, Malformed> {
        let bytes = bytes.into();
        let text = std::str::from_utf8(&bytes)
            .map_err(|error| Malformed::new("not UTF-8", error.valid_up_to()))?;
        if text.starts_with('\u{feff}') {
            return Err(Malformed::new("a byte order mark before the value", 0));
        }
        if parse_strict(text).is_none() {
            return Err(describe(text));
        }
        Ok(Self(bytes))
    }

    /// Returns `null`.
    pub(crate) fn null() -> Self {
        Self(Bytes::from_static(b"null"))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Checked when the value was read; values inside of it end between characters.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.0
    }

    /// Returns the value in bytes of its own.
    pub(crate) fn copied(&self) -> Self {
        Self(Bytes::copy_from_slice(&self.0))
    }

    /// Returns the value as a tree.
    pub(crate) fn tree(&self) -> Node<'_> {
        let null = Node {
            value: Value::Null,
            span: Span::default(),
        };
        // Read before, so reading it again succeeds.
        parse_strict(self.as_str()).unwrap_or(null)
    }

    /// Returns a value inside of this one.
    pub(crate) fn inner(&self, span: Span) -> Self {
        Self(self.0.slice(span.start as usize..span.end as usize))
    }
}

/// Returns the first problem of a text that is not strict JSON.
#[cold]
fn describe(text: &str) -> Malformed {
    let text = Text::new(DocumentKind::Document, text.to_owned());
    let mut problems = Problems::new(&text);
    json::parse(&mut problems);
    let first = problems.finish().into_iter().next();
    let (what, offset) = first.map_or_else(
        || ("this is not JSON".to_owned(), 0),
        |problem| {
            let offset = problem.place().map_or(0, |place| place.span.start as usize);
            let label = problem.labels.first().map(|label| label.text.as_str());
            match label {
                Some(label) => (format!("{}: {label}", problem.message), offset),
                None => (problem.message.clone(), offset),
            }
        },
    );
    Malformed::new(quote(&what, DESCRIPTION_CHARS), offset)
}

/// Returns a member of an object.
pub(crate) fn member<'n, 'a>(node: &'n Node<'a>, key: &str) -> Option<&'n Node<'a>> {
    match &node.value {
        Value::Mapping(entries) => {
            let entry = entries.iter().find(|entry| entry.key == key);
            entry.map(|entry| &entry.value)
        }
        _ => None,
    }
}

/// Returns the text of a string.
pub(crate) fn string<'n>(node: &'n Node<'_>) -> Option<&'n str> {
    match &node.value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Returns the strings of an array that holds nothing else.
pub(crate) fn strings(node: &Node<'_>) -> Option<Vec<String>> {
    match &node.value {
        Value::Sequence(items) => items
            .iter()
            .map(|item| string(item).map(str::to_owned))
            .collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn bytes_other_than_strict_json_are_refused_with_their_place() {
        let refused: [(&[u8], &str, usize); 9] = [
            (b"", "expected a value", 0),
            (b"Listening on stdio", "expected a value", 0),
            (b"{\"a\": 1, \"a\": 2}", "appears twice", 9),
            (b"{\"a\": 1} {}", "text after the value", 9),
            (b"\"\xff\"", "not UTF-8", 1),
            (b"\xef\xbb\xbf{}", "byte order mark", 0),
            (b"\"a\0b\"", "control character", 2),
            (b"[1,]", "expected a value", 3),
            (b"\"\\ud800\"", "surrogate", 1),
        ];
        for (bytes, what, offset) in refused {
            let malformed = Json::new(bytes).unwrap_err();
            assert!(malformed.what.contains(what), "{malformed:?}");
            assert_eq!(malformed.offset, offset, "{malformed:?}");
        }
        let deep = "[".repeat(200);
        assert_eq!(Json::new(deep).unwrap_err().offset, 128);
        let long = format!("{{\"{0}\": 1, \"{0}\": 2}}", "\u{200b}".repeat(1000));
        assert!(Json::new(long).unwrap_err().what.len() < 2000);
    }
}
