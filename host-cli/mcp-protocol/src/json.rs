//! JSON values as they were received.

use agent_diagnostic::Problems;
use agent_syntax::Node;
use agent_syntax::json::{Kind, Reader, SyntaxError, parse_strict};
use agent_text::{DocumentKind, Span, Text};
use agent_way_out::quote;
use bytes::Bytes;
use std::fmt;
use std::sync::Arc;

/// Maximum number of characters of a description of malformed bytes.
const DESCRIPTION_CHARS: usize = 200;

/// Levels of objects whose members are noted when a text is read: a message, its parameters and their members, such
/// as the arguments of a call. Members of these objects are found without another pass.
const NOTED_LEVELS: u32 = 3;
/// Maximum number of members of such an object. A larger object is read again for each member.
const NOTED_MEMBERS: usize = 64;

/// One value of strict JSON, as the bytes that were received. Cloning it copies no bytes.
#[derive(Clone)]
pub struct Json {
    bytes: Bytes,
    members: Option<Members>,
}

/// The noted members of an object.
type Members = Arc<[Noted]>;

/// A member of an object, noted when the text was read.
#[derive(Debug)]
struct Noted {
    name: Box<str>,
    /// The place of the value in the object.
    span: Span,
    /// The members of the value.
    members: Option<Members>,
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Json {}

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
        let members = note(&mut reader, 0, NOTED_LEVELS);
        match (members, reader.ends_strictly()) {
            (Ok(members), true) => Ok(Self { bytes, members }),
            _ => Err(describe(text)),
        }
    }

    /// Takes a value that the engine has read as strict JSON, without reading it again.
    #[must_use]
    pub fn of_engine(bytes: impl Into<Bytes>) -> Self {
        Self {
            bytes: bytes.into(),
            members: None,
        }
    }

    /// Returns the value with its members noted, for which one of the engine is read.
    pub(crate) fn noted(&self) -> Self {
        match &self.members {
            Some(_) => self.clone(),
            None => Self::new(self.bytes.clone()).unwrap_or_else(|_| self.clone()),
        }
    }

    /// Returns `{}`.
    #[must_use]
    pub fn empty_object() -> Self {
        Self {
            bytes: Bytes::from_static(b"{}"),
            members: Some(Arc::new([])),
        }
    }

    /// Returns `null`.
    pub(crate) fn null() -> Self {
        Self::of_engine(Bytes::from_static(b"null"))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Checked when the value was read; values inside of it end between characters.
        std::str::from_utf8(&self.bytes).unwrap_or_default()
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns the value in bytes of its own.
    pub(crate) fn copied(&self) -> Self {
        Self {
            bytes: Bytes::copy_from_slice(&self.bytes),
            members: self.members.clone(),
        }
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
        if let Some(noted) = &self.members {
            return Some(names.map(|name| {
                let noted = noted.iter().find(|it| *it.name == *name)?;
                Some(Member {
                    value: self.inner(noted.span, noted.members.clone()),
                    offset: noted.span.start as usize,
                })
            }));
        }
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
                let value = self.inner(Span::new(offset, reader.offset()), None);
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
    fn inner(&self, span: Span, members: Option<Members>) -> Self {
        Self {
            bytes: self.bytes.slice(span.start as usize..span.end as usize),
            members,
        }
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
        let span = Span::new(start, self.reader.offset());
        Some(self.array.inner(span, None))
    }
}

/// Reads the next value of a reader, and returns the members of an object. Places count from `start`.
fn note(
    reader: &mut Reader<'_>,
    start: usize,
    levels: u32,
) -> Result<Option<Members>, Box<SyntaxError>> {
    if levels == 0 || reader.kind()? != Kind::Object {
        return reader.skip().map(|()| None);
    }
    reader.enter_object()?;
    let (keys, mut first) = (reader.begin_keys(), true);
    let mut noted = Vec::new();
    let mut fits = true;
    while let Some(key) = reader.key(&mut first)? {
        reader.note_key(&key);
        reader.kind()?;
        let value = reader.offset();
        let members = note(reader, value, levels - 1)?;
        fits &= noted.len() < NOTED_MEMBERS;
        if fits {
            noted.push(Noted {
                name: key.value.into(),
                span: Span::new(value - start, reader.offset() - start),
                members,
            });
        }
    }
    reader.end_keys(keys);
    Ok(fits.then(|| noted.into()))
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
        // The same without noted members, and of objects with too many.
        let unread = Json::of_engine(json.bytes().clone());
        assert_eq!(unread, json);
        let [c] = unread.pick(["c"]).unwrap();
        assert_eq!(c.unwrap().offset, 37);
        let many: Vec<_> = (0..100).map(|it| format!("\"{it}\":[{it}]")).collect();
        let many = Json::new(format!("{{{}}}", many.join(","))).unwrap();
        assert!(many.members.is_none());
        let [last] = many.members(["99"]).unwrap();
        assert_eq!(last.unwrap().as_str(), "[99]");
        // Places of members within members are their own.
        let deep = Json::new(r#" {"a": {"b":{"c":{"d":1}}}}"#).unwrap();
        let [b] = deep.pick(["a"]).unwrap()[0]
            .as_ref()
            .unwrap()
            .value
            .pick(["b"])
            .unwrap();
        let b = b.unwrap();
        assert_eq!((b.value.as_str(), b.offset), (r#"{"c":{"d":1}}"#, 5));
        let [c] = b.value.members(["c"]).unwrap();
        let c = c.unwrap();
        assert!(b.value.members.is_some() && c.members.is_none());
        assert_eq!(c.members(["d"]).unwrap()[0].as_ref().unwrap().as_str(), "1");
        assert!(a.value.pick(["a"]).is_none());
        assert!(json.elements().is_none());
        let long = format!("{{\"{0}\": 1, \"{0}\": 2}}", "\u{200b}".repeat(1000));
        assert!(Json::new(long).unwrap_err().what.len() < 2000);
    }
}
