//! TOML 1.1, read with `toml_parser`, as trees with spans.
//!
//! Numbers and times keep their source text. A key or a table that appears twice is refused.

use super::node::{Entry, Node, Value};
use agent_text::Span;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use toml_parser::decoder::ScalarKind;
use toml_parser::parser::{Event, EventKind, RecursionGuard, ValidateWhitespace, parse_document};
use toml_parser::{ParseError, Source};

/// Maximum depth of tables and arrays.
pub const DEPTH_LIMIT: usize = 32;

/// The reason why a text can't be read, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TomlError {
    /// The place.
    pub span: Span,
    /// The reason.
    pub message: String,
}

/// Parses a document. The root and every table are mappings.
///
/// # Errors
/// The first problem of the text.
pub fn parse(text: &str) -> Result<Node<'_>, TomlError> {
    let source = Source::new(text);
    let tokens = source.lex().into_vec();
    let (mut events, mut error) = (Vec::<Event>::new(), None::<ParseError>);
    let mut checked = ValidateWhitespace::new(&mut events, source);
    let mut bounded = RecursionGuard::new(&mut checked, DEPTH_LIMIT as u32);
    parse_document(&tokens, &mut bounded, &mut error);
    let mut reader = Reader {
        source,
        events: events.into_iter(),
        error,
        tables: vec![Table::default()],
        known: FxHashMap::default(),
    };
    let read = match reader.error {
        Some(_) => Ok(()),
        None => reader.document(),
    };
    if let Some(error) = reader.error.take() {
        let place = error.unexpected().or(error.context());
        return Err(refusal(place.map(span_of), error.description()));
    }
    read?;
    Ok(reader.node(ROOT))
}

fn refusal(span: Option<Span>, message: &str) -> TomlError {
    TomlError {
        span: span.unwrap_or_default(),
        message: message.to_owned(),
    }
}

fn span_of(span: toml_parser::Span) -> Span {
    Span::new(span.start(), span.end())
}

/// The number of the root table.
const ROOT: usize = 0;

/// A part of a key.
type Part<'t> = (Cow<'t, str>, Span);

/// A table under construction.
#[derive(Default)]
struct Table<'t> {
    members: Vec<(Part<'t>, Item<'t>)>,
    span: Option<Span>,
    /// Whether a header or an inline table defines it, so that no other header may.
    is_defined: bool,
}

/// A value under construction. Tables are named by their numbers.
enum Item<'t> {
    Scalar(Node<'t>),
    List(Vec<Item<'t>>, Span),
    Table(usize),
    Tables(Vec<usize>),
}

struct Reader<'t> {
    source: Source<'t>,
    events: std::vec::IntoIter<Event>,
    error: Option<ParseError>,
    tables: Vec<Table<'t>>,
    /// The number of a member, by the number of its table and its key. Looked up, never iterated.
    known: FxHashMap<(usize, Cow<'t, str>), usize>,
}

impl<'t> Reader<'t> {
    /// Returns the next event that is not white space or a comment.
    fn next(&mut self) -> Option<Event> {
        self.events.find(|event| {
            !matches!(
                event.kind(),
                EventKind::Whitespace
                    | EventKind::Comment
                    | EventKind::Newline
                    | EventKind::KeySep
                    | EventKind::ValueSep
            )
        })
    }

    fn document(&mut self) -> Result<(), TomlError> {
        let (mut table, mut depth) = (ROOT, 0);
        while let Some(event) = self.next() {
            let span = span_of(event.span());
            match event.kind() {
                kind @ (EventKind::StdTableOpen | EventKind::ArrayTableOpen) => {
                    let path = self.key(None);
                    depth = path.len();
                    table = match kind {
                        EventKind::StdTableOpen => self.header(&path, span)?,
                        _ => self.list_header(&path, span)?,
                    };
                    self.tables[table].span = Some(span);
                }
                _ => self.member(event, table, depth)?,
            }
        }
        Ok(())
    }

    /// Reads the parts of a key, to the event behind it.
    fn key(&mut self, first: Option<Event>) -> Vec<Part<'t>> {
        let mut parts = Vec::new();
        let mut next = first.or_else(|| self.next());
        while let Some(event) = next.filter(|it| it.kind() == EventKind::SimpleKey) {
            let mut part = Cow::Borrowed("");
            if let Some(raw) = self.source.get(event) {
                raw.decode_key(&mut part, &mut self.error);
            }
            parts.push((part, span_of(event.span())));
            next = self.next();
        }
        parts
    }

    /// Returns the member of a table.
    fn find(&mut self, table: usize, key: &str) -> Option<&mut Item<'t>> {
        let number = *self.known.get(&(table, Cow::Borrowed(key)))?;
        Some(&mut self.tables[table].members[number].1)
    }

    fn add(&mut self, table: usize, part: Part<'t>, item: Item<'t>) {
        let members = &mut self.tables[table].members;
        self.known.insert((table, part.0.clone()), members.len());
        members.push((part, item));
    }

    /// Adds an empty table, and returns its number.
    fn new_table(&mut self, is_defined: bool) -> usize {
        self.tables.push(Table {
            is_defined,
            ..Table::default()
        });
        self.tables.len() - 1
    }

    /// Returns the table of a path, which is made if it is missing. Of a list of tables it is the last one.
    fn open(&mut self, mut table: usize, path: &[Part<'t>]) -> Result<usize, TomlError> {
        for part in path {
            table = match self.find(table, &part.0) {
                Some(Item::Table(inner)) => *inner,
                Some(Item::Tables(list)) => list.last().copied().unwrap_or(ROOT),
                Some(_) => return Err(refusal(Some(part.1), "the key names a value")),
                None => {
                    let inner = self.new_table(false);
                    self.add(table, part.clone(), Item::Table(inner));
                    inner
                }
            };
        }
        Ok(table)
    }

    /// Splits the last part off the path of a header.
    fn split<'p>(path: &'p [Part<'t>], span: Span) -> Result<SplitPath<'p, 't>, TomlError> {
        match path.split_last() {
            _ if path.len() > DEPTH_LIMIT => Err(refusal(Some(span), TOO_DEEP)),
            Some((last, before)) => Ok((before, last)),
            None => Err(refusal(Some(span), "the header has no key")),
        }
    }

    /// Defines the table of a header, and returns it.
    fn header(&mut self, path: &[Part<'t>], span: Span) -> Result<usize, TomlError> {
        let (before, last) = Self::split(path, span)?;
        let parent = self.open(ROOT, before)?;
        match self.find(parent, &last.0) {
            Some(Item::Table(table)) => {
                let table = *table;
                if std::mem::replace(&mut self.tables[table].is_defined, true) {
                    return Err(refusal(Some(last.1), "a table appears twice"));
                }
                Ok(table)
            }
            Some(_) => Err(refusal(Some(last.1), "the header names a value")),
            None => {
                let table = self.new_table(true);
                self.add(parent, last.clone(), Item::Table(table));
                Ok(table)
            }
        }
    }

    /// Adds a table to the list of a header, and returns it.
    fn list_header(&mut self, path: &[Part<'t>], span: Span) -> Result<usize, TomlError> {
        let (before, last) = Self::split(path, span)?;
        let parent = self.open(ROOT, before)?;
        let table = self.new_table(true);
        match self.find(parent, &last.0) {
            Some(Item::Tables(list)) => list.push(table),
            Some(_) => return Err(refusal(Some(last.1), "the header names a value")),
            None => self.add(parent, last.clone(), Item::Tables(vec![table])),
        }
        Ok(table)
    }

    /// Reads a key with its value into a table.
    fn member(&mut self, first: Event, table: usize, depth: usize) -> Result<(), TomlError> {
        let path = self.key(Some(first));
        let Some(event) = self.next() else {
            return Ok(());
        };
        let span = span_of(first.span());
        let (before, last) = Self::split(&path, span)?;
        let depth = depth + path.len();
        if depth > DEPTH_LIMIT {
            return Err(refusal(Some(span), TOO_DEEP));
        }
        let parent = self.open(table, before)?;
        if self.find(parent, &last.0).is_some() {
            return Err(refusal(Some(last.1), "a key appears twice"));
        }
        let item = self.item(event, depth)?;
        let end = self.end(&item);
        self.add(parent, last.clone(), item);
        if let Some(whole) = &mut self.tables[table].span {
            whole.end = whole.end.max(end);
        }
        Ok(())
    }

    fn item(&mut self, event: Event, depth: usize) -> Result<Item<'t>, TomlError> {
        let mut span = span_of(event.span());
        Ok(match event.kind() {
            EventKind::ArrayOpen => {
                let mut items = Vec::new();
                while let Some(event) = self.next() {
                    if event.kind() == EventKind::ArrayClose {
                        span.end = span_of(event.span()).end;
                        break;
                    }
                    items.push(self.item(event, depth + 1)?);
                }
                Item::List(items, span)
            }
            EventKind::InlineTableOpen => {
                let table = self.new_table(true);
                while let Some(event) = self.next() {
                    if event.kind() == EventKind::InlineTableClose {
                        span.end = span_of(event.span()).end;
                        break;
                    }
                    self.member(event, table, depth)?;
                }
                self.tables[table].span = Some(span);
                Item::Table(table)
            }
            _ => Item::Scalar(Node {
                value: self.scalar(event),
                span,
            }),
        })
    }

    fn scalar(&mut self, event: Event) -> Value<'t> {
        let Some(raw) = self.source.get(event) else {
            return Value::Refused;
        };
        let mut text = Cow::Borrowed("");
        match raw.decode_scalar(&mut text, &mut self.error) {
            ScalarKind::String => Value::String(text),
            ScalarKind::Boolean(value) => Value::Bool(value),
            _ => Value::Number(raw.as_str()),
        }
    }

    /// Returns the end of an item.
    fn end(&self, item: &Item<'_>) -> u32 {
        match item {
            Item::Scalar(node) => node.span.end,
            Item::List(_, span) => span.end,
            Item::Table(table) => self.tables[*table].span.unwrap_or_default().end,
            Item::Tables(_) => 0,
        }
    }

    /// Takes a table as a tree.
    fn node(&mut self, table: usize) -> Node<'t> {
        let Table { members, span, .. } = std::mem::take(&mut self.tables[table]);
        let members = members.into_iter().map(|((key, key_span), item)| Entry {
            key,
            key_span,
            value: self.value(item, key_span),
        });
        Node {
            value: Value::Mapping(members.collect()),
            span: span.unwrap_or_default(),
        }
    }

    /// Takes an item as a tree. A table without a header has the place of its key.
    fn value(&mut self, item: Item<'t>, key: Span) -> Node<'t> {
        let placed = |mut node: Node<'t>| {
            if node.span == Span::default() {
                node.span = key;
            }
            node
        };
        match item {
            Item::Scalar(node) => node,
            Item::Table(table) => placed(self.node(table)),
            Item::List(items, span) => {
                let items = items.into_iter().map(|item| self.value(item, key));
                let value = Value::Sequence(items.collect());
                Node { value, span }
            }
            Item::Tables(tables) => {
                let items: Vec<_> = tables.into_iter().map(|table| self.node(table)).collect();
                let span = key;
                let value = Value::Sequence(items);
                Node { value, span }
            }
        }
    }
}

/// The path of a header: all parts but the last, and the last.
type SplitPath<'p, 't> = (&'p [Part<'t>], &'p Part<'t>);

const TOO_DEEP: &str = "tables and arrays are nested too deeply";

#[cfg(test)]
mod tests {
    use super::{DEPTH_LIMIT, Node, Span, Value, parse};

    fn line(text: &str, span: Span) -> usize {
        1 + text[..span.start as usize].matches('\n').count()
    }

    /// A value in one line, with the lines of the members of tables.
    fn shown(text: &str, node: &Node<'_>) -> String {
        match &node.value {
            Value::String(value) => format!("{value:?}"),
            Value::Bool(value) => value.to_string(),
            Value::Number(value) => (*value).to_owned(),
            Value::Sequence(items) => {
                let items: Vec<_> = items.iter().map(|it| shown(text, it)).collect();
                format!("[{}]", items.join(","))
            }
            Value::Mapping(entries) => {
                let members = entries.iter().map(|it| {
                    let line = line(text, it.key_span);
                    format!("{}@{line}={}", it.key, shown(text, &it.value))
                });
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
            other => panic!("{other:?}"),
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
            let root = parse(text).unwrap_or_else(|it| panic!("{text}: {it:?}"));
            assert_eq!(shown(text, &root), expected, "{text}");
        }
    }

    #[test]
    fn what_can_not_be_read_is_refused_with_its_line() {
        for (text, line, message) in [
            ("\na", 2, "key with no value"),
            ("a = ", 1, "string values must be quoted"),
            ("= 1", 1, "unquoted keys cannot be empty"),
            ("a = 1\na = 2", 2, "a key appears twice"),
            ("a = 1\n[a]", 2, "the header names a value"),
            ("a = 1\na.b = 2", 2, "the key names a value"),
            ("[a]\nb = 1\n[a]", 3, "a table appears twice"),
            ("a = { b = 1 }\n[a]", 2, "a table appears twice"),
            ("[a]\n[[a]]", 2, "the header names a value"),
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
            let found = (super::tests::line(text, fault.span), &*fault.message);
            assert_eq!(found, (line, message), "{text}");
        }
        let arrays = |depth: usize| format!("a = {}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&arrays(DEPTH_LIMIT - 1)).is_ok());
        assert!(parse(&arrays(DEPTH_LIMIT + 1)).is_err());
        let keys = |depth: usize| format!("{}a", "a.".repeat(depth - 1));
        for [before, behind] in [["", " = 1"], ["[", "]"], ["[[", "]]"], ["b = { ", " = 1 }"]] {
            let is_read = |depth| parse(&[before, &keys(depth), behind].concat()).is_ok();
            assert!(is_read(DEPTH_LIMIT - 1), "{before}");
            assert!(!is_read(DEPTH_LIMIT + 1), "{before}");
            assert!(!is_read(100_000), "{before}");
        }
    }

    #[test]
    fn places_cover_values_and_tables() {
        let text = "a = 'b'\n[c]\nd = [1, 2]\ne = { f = 1 }\n\n[[g]]\nh = \"i\"\n";
        let root = parse(text).expect("a document");
        let mut places = Vec::new();
        let mut open = vec![&root];
        while let Some(node) = open.pop() {
            if let Value::Mapping(entries) = &node.value {
                for entry in entries {
                    places.push((entry.key_span.of(text), entry.value.span.of(text)));
                    open.push(&entry.value);
                }
            }
        }
        let table = "[c]\nd = [1, 2]\ne = { f = 1 }";
        let expected = [
            ("a", "'b'"),
            ("c", table),
            ("g", "g"),
            ("d", "[1, 2]"),
            ("e", "{ f = 1 }"),
            ("f", "1"),
        ];
        assert_eq!(places, expected);
    }
}
