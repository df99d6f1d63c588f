//! A reader of TOML, for manifests and lock files of Rust: makes a tree with lines of what `toml_parser` reads.
//!
//! The build refuses invalid numbers and times, which are not read here.

use std::collections::VecDeque;
use toml_parser::decoder::ScalarKind;
use toml_parser::parser::{Event, EventKind, RecursionGuard, ValidateWhitespace, parse_document};
use toml_parser::{ParseError, Source, Span};

/// Maximum depth of arrays and inline tables.
const DEPTH_MAX: u32 = 32;

/// A value with the number of its line, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Bool(bool),
    /// A number or a time, as it is written.
    Other(String),
    List(Vec<Item>),
    Table(Table),
}

/// The members of a table, in the order of the document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Table(pub(crate) Vec<(String, Item)>);

/// What can't be read, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl Table {
    pub(crate) fn get(&self, name: &str) -> Option<&Item> {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map(|(_, item)| item)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match &self.get(name)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the member of a key, which is made if it is missing.
    fn entry(&mut self, key: String, new: Item) -> &mut Item {
        let at = self.0.iter().position(|(name, _)| *name == key);
        let at = at.unwrap_or_else(|| {
            self.0.push((key, new));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}

/// Reads a document.
pub(crate) fn parse(text: &str) -> Result<Table, Fault> {
    let source = Source::new(text);
    let tokens = source.lex().into_vec();
    let (mut events, mut error) = (Vec::<Event>::new(), None::<ParseError>);
    let mut checked = ValidateWhitespace::new(&mut events, source);
    let mut bounded = RecursionGuard::new(&mut checked, DEPTH_MAX);
    parse_document(&tokens, &mut bounded, &mut error);
    let line_ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    let mut reader = Reader {
        source,
        line_ends: line_ends.map(|(place, _)| place).collect(),
        events: events.into(),
        error,
    };
    let read = match reader.error {
        Some(_) => Ok(Table::default()),
        None => reader.document(),
    };
    match reader.error.take() {
        Some(error) => {
            let place = error.unexpected().or(error.context());
            Err(reader.fault(place.unwrap_or_default(), error.description()))
        }
        None => read,
    }
}

/// Returns the table of a path. Of a list of tables it is the last one.
fn opened<'t>(root: &'t mut Table, path: &[String], line: usize) -> Option<&'t mut Table> {
    let mut table = root;
    for key in path {
        let new = Item {
            line,
            value: Value::Table(Table::default()),
        };
        table = match &mut table.entry(key.clone(), new).value {
            Value::Table(table) => table,
            Value::List(list) => match &mut list.last_mut()?.value {
                Value::Table(table) => table,
                _ => return None,
            },
            _ => return None,
        };
    }
    Some(table)
}

/// Adds a table to the list of a path.
fn appended<'t>(root: &'t mut Table, path: &[String], line: usize) -> Option<&'t mut Table> {
    let (last, before) = path.split_last()?;
    let new = |value| Item { line, value };
    let table = opened(root, before, line)?;
    let list = table.entry(last.clone(), new(Value::List(Vec::new())));
    let Value::List(list) = &mut list.value else {
        return None;
    };
    list.push(new(Value::Table(Table::default())));
    match &mut list.last_mut()?.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

/// Makes a tree of events.
struct Reader<'t> {
    source: Source<'t>,
    line_ends: Vec<usize>,
    events: VecDeque<Event>,
    error: Option<ParseError>,
}

impl Reader<'_> {
    /// Returns the next event that is not white space or a comment.
    fn next(&mut self) -> Option<Event> {
        loop {
            let event = self.events.pop_front()?;
            match event.kind() {
                EventKind::Whitespace | EventKind::Comment | EventKind::Newline => {}
                EventKind::KeySep | EventKind::ValueSep => {}
                _ => return Some(event),
            }
        }
    }

    fn line(&self, span: Span) -> usize {
        1 + self.line_ends.partition_point(|end| *end < span.start())
    }

    fn fault(&self, span: Span, message: &str) -> Fault {
        Fault {
            line: self.line(span),
            message: message.to_owned(),
        }
    }

    fn document(&mut self) -> Result<Table, Fault> {
        let mut root = Table::default();
        let mut path = Vec::new();
        while let Some(event) = self.next() {
            let (span, kind) = (event.span(), event.kind());
            match kind {
                EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                    path = self.key(None);
                    let line = self.line(span);
                    let table = match kind {
                        EventKind::ArrayTableOpen => appended(&mut root, &path, line),
                        _ => opened(&mut root, &path, line),
                    };
                    table.ok_or_else(|| self.fault(span, "a header names a value"))?;
                }
                _ => {
                    let table = opened(&mut root, &path, 0);
                    let table = table.ok_or_else(|| self.fault(span, "a header names a value"))?;
                    self.member(event, table)?;
                }
            }
        }
        Ok(root)
    }

    /// Reads the parts of a key, to the event behind it.
    fn key(&mut self, first: Option<Event>) -> Vec<String> {
        let mut parts = Vec::new();
        let mut next = first.or_else(|| self.next());
        while let Some(event) = next.filter(|it| it.kind() == EventKind::SimpleKey) {
            let mut part = String::new();
            if let Some(raw) = self.source.get(event) {
                raw.decode_key(&mut part, &mut self.error);
            }
            parts.push(part);
            next = self.next();
        }
        parts
    }

    /// Reads a key with its value into a table.
    fn member(&mut self, first: Event, table: &mut Table) -> Result<(), Fault> {
        let span = first.span();
        let mut path = self.key(Some(first));
        let Some(item) = self.next() else {
            return Ok(());
        };
        let item = self.item(item)?;
        let item = Item {
            line: self.line(span),
            ..item
        };
        let last = path.pop().unwrap_or_default();
        let table = opened(table, &path, item.line);
        let table = table.ok_or_else(|| self.fault(span, "a key is the name of a value"))?;
        if table.get(&last).is_some() {
            return Err(self.fault(span, "a key appears twice"));
        }
        table.0.push((last, item));
        Ok(())
    }

    fn item(&mut self, event: Event) -> Result<Item, Fault> {
        let line = self.line(event.span());
        let value = match event.kind() {
            EventKind::ArrayOpen => {
                let mut items = Vec::new();
                while let Some(event) = self.next() {
                    if event.kind() == EventKind::ArrayClose {
                        break;
                    }
                    items.push(self.item(event)?);
                }
                Value::List(items)
            }
            EventKind::InlineTableOpen => {
                let mut table = Table::default();
                while let Some(event) = self.next() {
                    if event.kind() == EventKind::InlineTableClose {
                        break;
                    }
                    self.member(event, &mut table)?;
                }
                Value::Table(table)
            }
            _ => self.scalar(event),
        };
        Ok(Item { line, value })
    }

    fn scalar(&mut self, event: Event) -> Value {
        let mut text = String::new();
        let Some(raw) = self.source.get(event) else {
            return Value::Text(text);
        };
        match raw.decode_scalar(&mut text, &mut self.error) {
            ScalarKind::String => Value::Text(text),
            ScalarKind::Boolean(value) => Value::Bool(value),
            _ => Value::Other(raw.as_str().to_owned()),
        }
    }
}
#[cfg(test)]
mod tests {
    use super::{DEPTH_MAX, Item, Table, Value, parse};
    use proptest::prelude::*;

    /// A table in one line, with the lines of its members.
    fn shown(table: &Table) -> String {
        let members = table.0.iter().map(|(key, item)| {
            let Item { line, value } = item;
            format!("{key}@{line}={}", shown_value(value))
        });
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }

    fn shown_value(value: &Value) -> String {
        match value {
            Value::Text(text) => format!("{text:?}"),
            Value::Bool(value) => value.to_string(),
            Value::Other(text) => text.clone(),
            Value::List(items) => {
                let items: Vec<_> = items.iter().map(|it| shown_value(&it.value)).collect();
                format!("[{}]", items.join(","))
            }
            Value::Table(table) => shown(table),
        }
    }

    #[test]
    fn documents_are_those_of_the_specification() {
        for (text, expected) in [
            ("", "{}"),
            ("# a\r\n\r\na = 1 # b\r\n", "{a@3=1}"),
            ("a.\"b.c\" . 'd' = true", "{a@1={b.c@1={d@1=true}}}"),
            (
                "a = [1, [2,],\n # x\n 'b',\n]\nc = {}",
                "{a@1=[1,[2],\"b\"],c@5={}}",
            ),
            (
                "a = { b = 1, c.d = \"x\" }",
                "{a@1={b@1=1,c@1={d@1=\"x\"}}}",
            ),
            (
                "a = \"\\\"\\\\\\t\\u00e4\\U0001F600\"",
                "{a@1=\"\\\"\\\\\\tä😀\"}",
            ),
            ("a = '\\n#'", "{a@1=\"\\\\n#\"}"),
            (
                "a = \"\"\"\nx\n\\\n  y \"\"z\"\"\"\"\nb = 1",
                "{a@1=\"x\\ny \\\"\\\"z\\\"\",b@5=1}",
            ),
            ("a = '''x\n[b]\n'''", "{a@1=\"x\\n[b]\\n\"}"),
            ("a = \"\"\nb = ''", "{a@1=\"\",b@2=\"\"}"),
            (
                "[a]\nb = 1\n[c.d]\ne = 2\n[a.f]\ng = 3",
                "{a@1={b@2=1,f@5={g@6=3}},c@3={d@3={e@4=2}}}",
            ),
            (
                "[[a]]\nb = 1\n[a.c]\nd = 2\n[[a]]\nb = 3",
                "{a@1=[{b@2=1,c@3={d@4=2}},{b@6=3}]}",
            ),
            (
                "[ a . 'b' ] # c\nd = 1979-05-27 07:32:00Z",
                "{a@1={b@1={d@2=1979-05-27 07:32:00Z}}}",
            ),
            ("a = [\n  \"b 1.0\",\n]", "{a@1=[\"b 1.0\"]}"),
            ("\u{feff}a = +1.5e3", "{a@1=+1.5e3}"),
        ] {
            let table = parse(text).unwrap_or_else(|it| panic!("{text}: {it:?}"));
            assert_eq!(shown(&table), expected, "{text}");
        }
    }

    #[test]
    fn what_can_not_be_read_is_refused_with_its_line() {
        for (text, line, message) in [
            ("\na", 2, "key with no value"),
            ("a = ", 1, "string values must be quoted"),
            ("= 1", 1, "unquoted keys cannot be empty"),
            ("a = 1\na = 2", 2, "a key appears twice"),
            ("a = 1\n[a]", 2, "a header names a value"),
            ("a = 1\na.b = 2", 2, "a key is the name of a value"),
            ("[a\nb = 1", 1, "unclosed table"),
            ("a = \"x\n", 1, "invalid basic string"),
            ("a = '''x\n", 2, "invalid multi-line literal string"),
            ("a = [1", 1, "unclosed array"),
            ("a = { b = 1", 1, "unclosed inline table"),
            ("a = \"\\x\"", 1, "too few unicode value digits"),
            ("a = \"\\ud800\"", 1, "invalid value"),
            ("a = \"b\" \"c\"", 1, "unexpected key or value"),
        ] {
            let fault = parse(text).expect_err(text);
            assert_eq!((fault.line, &*fault.message), (line, message), "{text}");
        }
        let deep = |depth: u32| {
            let depth = depth as usize;
            format!("a = {}{}", "[".repeat(depth), "]".repeat(depth))
        };
        assert!(parse(&deep(DEPTH_MAX)).is_ok());
        assert!(parse(&deep(DEPTH_MAX + 1)).is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r#"([a-b=."'\[\]{},#\\\n u0-9]|\PC){0,60}"#) {
            let _ = parse(&text);
        }

        #[test]
        fn texts_come_back(text in "\\PC{0,20}") {
            let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
            let table = parse(&format!("a = \"{quoted}\"")).expect("a text");
            prop_assert_eq!(table.text("a"), Some(&*text));
        }
    }
}
