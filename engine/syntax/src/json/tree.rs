//! JSON texts as trees.

use super::problem::Syntax;
use super::reader::{FEW_KEYS, Kind, Reader};
use super::report;
use crate::{Entry, Node, Value};
use agent_diagnostic::Problems;
use agent_text::Span;
use std::borrow::Cow;

/// Parses a JSON text. Reports everything that strict JSON forbids, and returns `None` if the text
/// can't be read.
pub fn parse<'t>(problems: &mut Problems<'t>) -> Option<Node<'t>> {
    let mut reader = Reader::new(problems.text().as_str());
    let read = value(&mut reader);
    let read = match read {
        Ok(node) => reader.finish(problems).map(|()| node),
        Err(syntax) => {
            reader.report_flaws(problems);
            Err(syntax)
        }
    };
    match read {
        Ok(node) => Some(node),
        Err(syntax) => {
            report(*syntax, problems);
            None
        }
    }
}

/// Parses a text as strict JSON. Returns `None` instead of its problems.
pub fn strict(text: &str) -> Option<Node<'_>> {
    let mut reader = Reader::new(text);
    let root = value(&mut reader).ok()?;
    reader.ends_strictly().then_some(root)
}

/// Reads the next value of a reader as a tree. The depth limit bounds the recursion.
pub fn value<'a>(reader: &mut Reader<'a>) -> Result<Node<'a>, Box<Syntax>> {
    let mut growing = Growing {
        reader,
        items: Vec::new(),
        entries: Vec::with_capacity(PENDING),
    };
    growing.node()
}

/// Initial capacity for pending entries: about a kilobyte.
const PENDING: usize = 14;

/// A tree under construction.
struct Growing<'r, 'a> {
    reader: &'r mut Reader<'a>,
    /// The items of all open arrays, and the entries of all open objects. They move into a list of
    /// exact size once its length is known.
    items: Vec<Node<'a>>,
    entries: Vec<Entry<'a>>,
}

impl<'a> Growing<'_, 'a> {
    /// Reads a value. Inlined, so that the value is built in its final place.
    #[inline(always)]
    fn node(&mut self) -> Result<Node<'a>, Box<Syntax>> {
        let kind = self.reader.kind()?;
        let start = self.reader.offset();
        let value = match kind {
            Kind::Null => {
                self.reader.null()?;
                Value::Null
            }
            Kind::Bool => Value::Bool(self.reader.bool()?),
            Kind::Number => {
                let span = self.reader.number()?.span;
                Value::Number(self.reader.source(span))
            }
            Kind::String => Value::String(self.reader.string()?.value),
            Kind::Array => Value::Sequence(self.items()?),
            Kind::Object => Value::Mapping(self.entries()?),
        };
        Ok(Node {
            value,
            span: Span::new(start, self.reader.offset()),
        })
    }

    fn items(&mut self) -> Result<Vec<Node<'a>>, Box<Syntax>> {
        self.reader.enter_array()?;
        let (begun, mut first) = (self.items.len(), true);
        while self.reader.element(&mut first)? {
            let item = self.node()?;
            self.items.push(item);
        }
        Ok(split_off(&mut self.items, begun))
    }

    fn entries(&mut self) -> Result<Vec<Entry<'a>>, Box<Syntax>> {
        self.reader.enter_object()?;
        let (begun, mut first) = (self.entries.len(), true);
        while let Some(key) = self.reader.key(&mut first)? {
            let value = self.node()?;
            self.entries.push(Entry {
                key: key.value,
                key_span: key.span,
                value,
            });
        }
        let entries = split_off(&mut self.entries, begun);
        if may_repeat(&entries) {
            let keys = entries
                .iter()
                .map(|it| (Cow::Borrowed(&*it.key), it.key_span));
            self.reader.note_repeated(keys.collect());
        }
        Ok(entries)
    }
}

/// Splits a list off the end of another. Moves the whole list if it starts at 0.
fn split_off<T>(list: &mut Vec<T>, begun: usize) -> Vec<T> {
    if begun == 0 {
        std::mem::take(list)
    } else {
        list.split_off(begun)
    }
}

/// Returns whether a key may appear twice. The answer is exact for the few entries of most objects.
fn may_repeat(entries: &[Entry<'_>]) -> bool {
    let repeated =
        |(at, entry): (usize, &Entry<'_>)| entries[..at].iter().any(|other| other.key == entry.key);
    entries.len() > FEW_KEYS || entries.iter().enumerate().any(repeated)
}

#[cfg(test)]
mod tests {
    use super::{parse, strict};
    use agent_diagnostic::Problems;
    use agent_text::{DocumentKind, Text};

    #[test]
    fn strict_texts_are_those_without_problems() {
        let texts = [
            ("{\"a\": [1, null]} ", true),
            ("\u{feff}1", true),
            ("1 2", false),
            ("{\"a\": 1, \"a\": 2}", false),
            ("\"\\ud800\"", false),
            ("1e999", false),
            ("[1,]", false),
            ("", false),
        ];
        for (text, expected) in texts {
            assert_eq!(strict(text).is_some(), expected, "{text}");
            let whole = Text::new(DocumentKind::Document, text.to_owned());
            let mut problems = Problems::new(&whole);
            parse(&mut problems);
            assert_eq!(!problems.has_errors(), expected, "{text}");
        }
    }
}
