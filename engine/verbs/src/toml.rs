//! A reader of TOML 1.0, for manifests and lock files of Rust.
//!
//! It reads every valid document as the specification says. Of invalid ones it refuses those that it can't read;
//! the build refuses the others.

/// Maximum depth of arrays and inline tables.
const DEPTH_MAX: usize = 32;

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
    pub(crate) message: &'static str,
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
    let mut reader = Reader {
        rest: text.strip_prefix('\u{feff}').unwrap_or(text),
        line: 1,
        depth: 0,
    };
    let mut root = Table::default();
    let mut path: Vec<String> = Vec::new();
    loop {
        reader.blank();
        match reader.peek() {
            None => return Ok(root),
            Some('[') => {
                let is_list = reader.skip("[[");
                if !is_list {
                    reader.skip("[");
                }
                reader.space();
                path = reader.key()?;
                reader.space();
                if !reader.skip(if is_list { "]]" } else { "]" }) {
                    return Err(reader.fault("a header has no end"));
                }
                let line = reader.line;
                let table = match is_list {
                    true => appended(&mut root, &path, line),
                    false => opened(&mut root, &path, line),
                };
                table.ok_or_else(|| reader.fault("a header names a value"))?;
            }
            Some(_) => {
                let table = opened(&mut root, &path, reader.line);
                let table = table.ok_or_else(|| reader.fault("a header names a value"))?;
                reader.member(table)?;
            }
        }
        reader.end_of_line()?;
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

struct Reader<'t> {
    rest: &'t str,
    line: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn fault(&self, message: &'static str) -> Fault {
        Fault {
            line: self.line,
            message,
        }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        self.line += usize::from(c == '\n');
        Some(c)
    }

    /// Skips a text without line ends, if it is next.
    fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn comment(&mut self) {
        if self.peek() == Some('#') {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.rest = &self.rest[end..];
        }
    }

    /// Skips white space, line ends and comments.
    fn blank(&mut self) {
        loop {
            self.space();
            self.comment();
            if !matches!(self.peek(), Some('\n' | '\r')) {
                return;
            }
            self.next();
        }
    }

    fn end_of_line(&mut self) -> Result<(), Fault> {
        self.space();
        self.comment();
        self.skip("\r");
        match self.next() {
            None | Some('\n') => Ok(()),
            Some(_) => Err(self.fault("something follows a value on its line")),
        }
    }

    /// Reads a key with its dots.
    fn key(&mut self) -> Result<Vec<String>, Fault> {
        let mut parts = Vec::new();
        loop {
            self.space();
            parts.push(match self.peek() {
                Some(quote @ ('"' | '\'')) => {
                    self.next();
                    self.quoted(quote)?
                }
                _ => {
                    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
                    let end = self.rest.find(|c| !is_bare(c)).unwrap_or(self.rest.len());
                    if end == 0 {
                        return Err(self.fault("a key is missing"));
                    }
                    let (key, rest) = self.rest.split_at(end);
                    self.rest = rest;
                    key.to_owned()
                }
            });
            self.space();
            if !self.skip(".") {
                return Ok(parts);
            }
        }
    }

    /// Reads a key with its value into a table.
    fn member(&mut self, table: &mut Table) -> Result<(), Fault> {
        let line = self.line;
        let mut path = self.key()?;
        if !self.skip("=") {
            return Err(self.fault("a key has no value"));
        }
        self.space();
        let value = self.value()?;
        let last = path.pop().unwrap_or_default();
        let table = opened(table, &path, line);
        let table = table.ok_or_else(|| self.fault("a key is the name of a value"))?;
        if table.get(&last).is_some() {
            return Err(self.fault("a key appears twice"));
        }
        table.0.push((last, Item { line, value }));
        Ok(())
    }

    fn value(&mut self) -> Result<Value, Fault> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.fault("values are nested too deeply"));
        }
        let value = match self.peek() {
            Some(quote @ ('"' | '\'')) => {
                self.next();
                let is_long = match quote {
                    '"' => self.skip("\"\""),
                    _ => self.skip("''"),
                };
                Value::Text(match is_long {
                    true => self.long(quote)?,
                    false => self.quoted(quote)?,
                })
            }
            Some('[') => self.list()?,
            Some('{') => self.inline_table()?,
            _ => {
                let end = self.rest.find([',', ']', '}', '#', '\n', '\r']);
                let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                self.rest = rest;
                match word.trim_end_matches([' ', '\t']) {
                    "" => return Err(self.fault("a value is missing")),
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    other => Value::Other(other.to_owned()),
                }
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    fn list(&mut self) -> Result<Value, Fault> {
        self.next();
        let mut items = Vec::new();
        loop {
            self.blank();
            if self.skip("]") {
                return Ok(Value::List(items));
            }
            let line = self.line;
            let value = self.value()?;
            items.push(Item { line, value });
            self.blank();
            if !self.skip(",") && self.peek() != Some(']') {
                return Err(self.fault("a list has no end"));
            }
        }
    }

    fn inline_table(&mut self) -> Result<Value, Fault> {
        self.next();
        let mut table = Table::default();
        loop {
            self.blank();
            if self.skip("}") {
                return Ok(Value::Table(table));
            }
            self.member(&mut table)?;
            self.blank();
            if !self.skip(",") && self.peek() != Some('}') {
                return Err(self.fault("an inline table has no end"));
            }
        }
    }

    /// Reads the rest of a text on one line.
    fn quoted(&mut self, quote: char) -> Result<String, Fault> {
        let mut text = String::new();
        loop {
            match self.next() {
                Some(c) if c == quote => return Ok(text),
                Some('\\') if quote == '"' => text.push(self.escape()?),
                None | Some('\n') => return Err(self.fault("a text has no end")),
                Some(c) => text.push(c),
            }
        }
    }

    /// Reads the rest of a text of several lines. A line end at its beginning is no part of it.
    fn long(&mut self, quote: char) -> Result<String, Fault> {
        let end = if quote == '"' { "\"\"\"" } else { "'''" };
        let mut text = String::new();
        if self.rest.starts_with("\r\n") {
            self.skip("\r");
        }
        if self.peek() == Some('\n') {
            self.next();
        }
        loop {
            if self.skip(end) {
                // Up to two more quotes belong to the text.
                while self.peek() == Some(quote) {
                    self.next();
                    text.push(quote);
                }
                return Ok(text);
            }
            match self.next() {
                None => return Err(self.fault("a text has no end")),
                Some('\\') if quote == '"' => {
                    let after = self.rest.trim_start_matches([' ', '\t']);
                    match after.starts_with(['\n', '\r']) {
                        true => {
                            while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
                                self.next();
                            }
                        }
                        false => text.push(self.escape()?),
                    }
                }
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let digits = match self.next() {
            Some('b') => return Ok('\u{8}'),
            Some('t') => return Ok('\t'),
            Some('n') => return Ok('\n'),
            Some('f') => return Ok('\u{c}'),
            Some('r') => return Ok('\r'),
            Some(c @ ('"' | '\\')) => return Ok(c),
            Some('u') => 4,
            Some('U') => 8,
            _ => return Err(self.fault("an escape is unknown")),
        };
        let code = self.rest.get(..digits);
        let code = code.filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()));
        let c = code.and_then(|it| char::from_u32(u32::from_str_radix(it, 16).ok()?));
        let c = c.ok_or_else(|| self.fault("an escape is no character"))?;
        self.rest = &self.rest[digits..];
        Ok(c)
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
            ("\na", 2, "a key has no value"),
            ("a = ", 1, "a value is missing"),
            ("= 1", 1, "a key is missing"),
            ("a = 1\na = 2", 2, "a key appears twice"),
            ("a = 1\n[a]", 2, "a header names a value"),
            ("a = 1\na.b = 2", 2, "a key is the name of a value"),
            ("[a\nb = 1", 1, "a header has no end"),
            ("a = \"x\n", 2, "a text has no end"),
            ("a = '''x\n", 2, "a text has no end"),
            ("a = [1", 1, "a list has no end"),
            ("a = { b = 1", 1, "an inline table has no end"),
            ("a = \"\\x\"", 1, "an escape is unknown"),
            ("a = \"\\ud800\"", 1, "an escape is no character"),
            (
                "a = \"b\" \"c\"",
                1,
                "something follows a value on its line",
            ),
        ] {
            let fault = parse(text).expect_err(text);
            assert_eq!((fault.line, fault.message), (line, message), "{text}");
        }
        let deep = |depth: usize| format!("a = {}{}", "[".repeat(depth), "]".repeat(depth));
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
