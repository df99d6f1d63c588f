//! JSON values as they were received.

use agent_diagnostic::Problems;
use agent_syntax::Node;
use agent_syntax::json::{Kind, Reader, parse_strict};
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

/// The reason why bytes are malformed, with its place.
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
        let mut reader = Reader::new(text);
        if reader.skip().is_err() || !reader.ends_strictly() {
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

    /// Returns the value as a tree, which takes many times the memory of its text.
    pub(crate) fn tree(&self) -> Option<Node<'_>> {
        parse_strict(self.as_str())
    }

    /// Returns the type of the value.
    pub(crate) fn kind(&self) -> Option<Kind> {
        Reader::new(self.as_str()).kind().ok()
    }

    /// Returns the text of a string.
    #[must_use]
    pub fn string(&self) -> Option<String> {
        let mut reader = Reader::new(self.as_str());
        match reader.kind() {
            Ok(Kind::String) => Some(reader.string().ok()?.value.into_owned()),
            _ => None,
        }
    }

    /// Returns the value of a member of an object.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Self> {
        let [member] = self.members([name])?;
        member
    }

    /// Returns the values of an object's members that have these names, or `None` for another type.
    #[must_use]
    pub fn members<const N: usize>(&self, names: [&str; N]) -> Option<[Option<Self>; N]> {
        let picked = self.pick(names)?;
        Some(picked.map(|member| member.map(|member| member.value)))
    }

    /// Returns the members of an object that have these names, or `None` for another type.
    pub(crate) fn pick<const N: usize>(&self, names: [&str; N]) -> Option<[Option<Member>; N]> {
        let mut reader = Reader::new(self.as_str());
        if reader.kind() != Ok(Kind::Object) {
            return None;
        }
        reader.enter_object().ok()?;
        let mut picked = [const { None }; N];
        let mut first = true;
        while let Some(key) = reader.key(&mut first).ok()? {
            reader.kind().ok()?;
            let offset = reader.offset();
            reader.skip().ok()?;
            if let Some(place) = names.iter().position(|name| key.value == *name) {
                let value = self.inner(Span::new(offset, reader.offset()));
                picked[place] = Some(Member { value, offset });
            }
        }
        Some(picked)
    }

    /// Returns the elements of an array, or `None` for another type.
    #[must_use]
    pub fn elements(&self) -> Option<Elements<'_>> {
        let mut reader = Reader::new(self.as_str());
        if reader.kind() != Ok(Kind::Array) {
            return None;
        }
        reader.enter_array().ok()?;
        Some(Elements {
            array: self,
            reader,
            first: true,
        })
    }

    /// Returns the strings of an array that holds nothing else.
    #[must_use]
    pub fn strings(&self) -> Option<Vec<String>> {
        self.elements()?.map(|element| element.string()).collect()
    }

    /// Returns a value inside of this one.
    fn inner(&self, span: Span) -> Self {
        Self(self.0.slice(span.start as usize..span.end as usize))
    }
}

/// A member of an object.
#[derive(Debug)]
pub(crate) struct Member {
    /// The value.
    pub(crate) value: Json,
    /// The offset of the value in the object.
    pub(crate) offset: usize,
}

/// The elements of an array, in order.
#[derive(Debug)]
pub struct Elements<'a> {
    array: &'a Json,
    reader: Reader<'a>,
    first: bool,
}

impl Iterator for Elements<'_> {
    type Item = Json;

    fn next(&mut self) -> Option<Json> {
        // Read before, so reading it again succeeds.
        if !self.reader.element(&mut self.first).ok()? {
            return None;
        }
        self.reader.kind().ok()?;
        let start = self.reader.offset();
        self.reader.skip().ok()?;
        Some(self.array.inner(Span::new(start, self.reader.offset())))
    }
}

/// Returns the first problem of a text that is not strict JSON.
#[cold]
fn describe(text: &str) -> Malformed {
    let text = Text::new(DocumentKind::Document, text.to_owned());
    let mut problems = Problems::new(&text);
    let mut reader = Reader::new(text.as_str());
    let read = reader.skip();
    reader.finish(read, &mut problems);
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
        // The values of the members and elements are those of the text.
        let json = Json::new("{ \"a\": [1, \"\\u0062\", {} ], \"\\u0063\" :null }").unwrap();
        let [a, c, d] = json.pick(["a", "c", "d"]).unwrap();
        let a = a.unwrap();
        assert_eq!((a.value.as_str(), a.offset), ("[1, \"\\u0062\", {} ]", 7));
        let elements: Vec<_> = a.value.elements().unwrap().collect();
        assert_eq!(elements.len(), 3);
        assert_eq!(elements[1].string().as_deref(), Some("b"));
        assert_eq!(c.unwrap().value.as_str(), "null");
        assert!(d.is_none());
        assert!(a.value.pick(["a"]).is_none());
        assert!(json.elements().is_none());
        let long = format!("{{\"{0}\": 1, \"{0}\": 2}}", "\u{200b}".repeat(1000));
        assert!(Json::new(long).unwrap_err().what.len() < 2000);
    }
}
