//! Rendering of trees as JSON and YAML in any equivalent spelling.

use std::fmt::Write as _;

/// A tree to render.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    /// `true` or `false`
    Bool(bool),
    /// A number as written, and in the form of RFC 8785.
    Number(&'static str, &'static str),
    /// A whole number that a double holds exactly.
    Integer(i64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Tree>),
    /// A mapping.
    Map(Vec<(String, Tree)>),
}

impl Tree {
    /// A string.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A list of strings.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    /// Returns the value for `serde_json`.
    #[must_use]
    pub fn value(&self) -> serde_json::Value {
        match self {
            Self::Bool(value) => (*value).into(),
            Self::Number(written, _) => serde_json::from_str(written).expect("a number"),
            Self::Integer(number) => (*number).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(items) => items.iter().map(Self::value).collect(),
            Self::Map(members) => members
                .iter()
                .map(|(key, value)| (key.clone(), value.value()))
                .collect(),
        }
    }

    /// A mapping.
    pub fn map<K: Into<String>>(members: impl IntoIterator<Item = (K, Self)>) -> Self {
        let members = members.into_iter();
        Self::Map(members.map(|(key, value)| (key.into(), value)).collect())
    }
}

/// The style of a text, which must not affect an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// The seed for the order of unordered items and for the spelling of strings. 0 keeps the order
    /// and selects the simplest spelling.
    pub seed: u64,
    /// Whether YAML is in flow style.
    pub flow: bool,
    /// The white space in JSON.
    pub space: Space,
    /// Whether the servers are in an object with `servers`.
    pub wrapped: bool,
    /// Whether a byte order mark precedes the text.
    pub mark: bool,
    /// Whether lines end with CRLF.
    pub crlf: bool,
}

/// The white space in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Space {
    /// Indented by two.
    #[default]
    Indented,
    /// None.
    None,
    /// Tabs, spaces and line ends wherever they are allowed.
    Everywhere,
}

/// The successive choices of a style.
pub struct Choices(u64);

impl Style {
    /// Creates the choices of a style.
    #[must_use]
    pub fn choices(&self) -> Choices {
        Choices(self.seed)
    }

    /// Renders a JSON text.
    #[must_use]
    pub fn json(&self, tree: &Tree) -> String {
        let mut out = String::new();
        json(tree, self.space, 0, &mut self.choices(), &mut out);
        self.finish(out)
    }

    /// Renders a frontmatter with a body.
    #[must_use]
    pub fn frontmatter(&self, tree: &Tree) -> String {
        let mut out = "---\n".to_owned();
        let mut choices = self.choices();
        if self.flow {
            flow(tree, &mut choices, &mut out);
            out.push('\n');
        } else if let Tree::Map(members) = tree {
            for (key, value) in shuffled(members, &mut choices) {
                let _ = write!(out, "{key}:");
                block(value, 1, &mut choices, &mut out);
            }
        }
        out.push_str("---\n\n# A body\n\nnot: [looked, at\n");
        self.finish(out)
    }

    /// Renders a YAML text.
    #[must_use]
    pub fn yaml(&self, tree: &Tree) -> String {
        let mut choices = self.choices();
        let mut out = ["", "---\n", "# a comment: [\n"][choices.below(3)].to_owned();
        // A text that begins with a brace is not read as YAML.
        if let (false, Tree::Map(members)) = (self.flow && !out.is_empty(), tree)
            && !members.is_empty()
        {
            for (key, value) in shuffled(members, &mut choices) {
                yaml_key(key, &mut choices, &mut out);
                block(value, 1, &mut choices, &mut out);
            }
        } else {
            if out.is_empty() {
                out.push('\n');
            }
            flow(tree, &mut choices, &mut out);
            out.push('\n');
        }
        self.finish(out)
    }

    fn finish(&self, mut text: String) -> String {
        if self.crlf {
            text = text.replace('\n', "\r\n");
        }
        if self.mark {
            text.insert(0, '\u{feff}');
        }
        text
    }
}

impl Choices {
    /// Returns a number from 0 to `n - 1`, always 0 for the seed 0. The generator is `SplitMix64`.
    pub fn below(&mut self, n: usize) -> usize {
        if self.0 == 0 {
            return 0;
        }
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    /// Shuffles items.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            // The seed 0 keeps the order.
            let other = last - self.below(last + 1);
            things.swap(last, other);
        }
    }
}

fn shuffled<'t, T>(things: &'t [T], choices: &mut Choices) -> Vec<&'t T> {
    let mut things: Vec<_> = things.iter().collect();
    choices.shuffle(&mut things);
    things
}

fn json(tree: &Tree, space: Space, depth: usize, choices: &mut Choices, out: &mut String) {
    let gap = |depth: usize, choices: &mut Choices, out: &mut String| match space {
        Space::None => {}
        Space::Indented => {
            out.push('\n');
            out.push_str(&"  ".repeat(depth));
        }
        Space::Everywhere => out.push_str(["", " ", "\n", "\t\t", " \r\n "][choices.below(5)]),
    };
    let list = |open: char,
                close: char,
                len: usize,
                choices: &mut Choices,
                out: &mut String,
                item: &mut dyn FnMut(usize, &mut Choices, &mut String)| {
        out.push(open);
        for i in 0..len {
            gap(depth + 1, choices, out);
            item(i, choices, out);
            if i + 1 < len {
                if space == Space::Everywhere {
                    gap(0, choices, out);
                }
                out.push(',');
            }
        }
        if len > 0 || space == Space::Everywhere {
            gap(depth, choices, out);
        }
        out.push(close);
    };
    match tree {
        Tree::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Tree::Number(written, _) => out.push_str(written),
        Tree::Integer(number) => out.push_str(&number.to_string()),
        Tree::Text(text) => json_string(text, choices, out),
        Tree::List(items) => list(
            '[',
            ']',
            items.len(),
            choices,
            out,
            &mut |i, choices, out| {
                json(&items[i], space, depth + 1, choices, out);
            },
        ),
        Tree::Map(members) => {
            let members = shuffled(members, choices);
            list(
                '{',
                '}',
                members.len(),
                choices,
                out,
                &mut |i, choices, out| {
                    let (key, value) = members[i];
                    json_string(key, choices, out);
                    if space == Space::Everywhere {
                        gap(0, choices, out);
                    }
                    out.push_str(if space == Space::None { ":" } else { ": " });
                    json(value, space, depth + 1, choices, out);
                },
            );
        }
    }
    if depth == 0 && space == Space::Everywhere {
        gap(0, choices, out);
    }
}

/// Renders a JSON string, sometimes with unnecessary escapes.
fn json_string(text: &str, choices: &mut Choices, out: &mut String) {
    let needless = choices.below(3) == 2;
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\0'..='\x1f' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            '/' if needless => out.push_str("\\/"),
            c if needless && choices.below(3) == 0 => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Either case of the digits is valid.
                    let _ = match choices.below(2) {
                        0 => write!(out, "\\u{unit:04x}"),
                        _ => write!(out, "\\u{unit:04X}"),
                    };
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Renders a YAML value after `key:` or `-`, with its line end, in block style.
fn block(tree: &Tree, depth: usize, choices: &mut Choices, out: &mut String) {
    let indent = "  ".repeat(depth);
    match tree {
        Tree::List(items) if !items.is_empty() && choices.below(3) < 2 => {
            out.push('\n');
            for item in items {
                let _ = write!(out, "{indent}-");
                block(item, depth + 1, choices, out);
            }
        }
        Tree::Map(members) if !members.is_empty() && choices.below(4) < 3 => {
            out.push_str(["\n", "   # a comment: [\n"][choices.below(2)]);
            for (key, value) in shuffled(members, choices) {
                out.push_str(&indent);
                yaml_key(key, choices, out);
                block(value, depth + 1, choices, out);
            }
        }
        other => {
            out.push(' ');
            flow(other, choices, out);
            out.push_str(["\n", "\n", " # a comment\n", "\n\n"][choices.below(4)]);
        }
    }
}

/// Renders a YAML value in flow style.
fn flow(tree: &Tree, choices: &mut Choices, out: &mut String) {
    match tree {
        Tree::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Tree::Number(written, _) => out.push_str(written),
        Tree::Integer(number) => out.push_str(&number.to_string()),
        Tree::Text(text) => yaml_string(text, choices, out),
        Tree::List(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                flow(item, choices, out);
            }
            out.push_str(
                ["", " ", ","][if items.is_empty() {
                    0
                } else {
                    choices.below(3)
                }],
            );
            out.push(']');
        }
        Tree::Map(members) => {
            out.push('{');
            for (i, (key, value)) in shuffled(members, choices).into_iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                yaml_key(key, choices, out);
                out.push(' ');
                flow(value, choices, out);
            }
            out.push('}');
        }
    }
}

/// Renders a key and its colon: plain if that is unambiguous.
fn yaml_key(key: &str, choices: &mut Choices, out: &mut String) {
    if key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        out.push_str(key);
    } else {
        yaml_string(key, choices, out);
    }
    out.push(':');
}

/// Renders a YAML string: plain where that is valid, or in single or double quotes.
fn yaml_string(text: &str, choices: &mut Choices, out: &mut String) {
    let plain = text
        .chars()
        .all(|c| c.is_alphanumeric() || "-.:_".contains(c))
        && text.starts_with(char::is_alphanumeric)
        && !text.ends_with(':');
    match choices.below(3) {
        0 if plain => out.push_str(text),
        1 if !text.contains(|c: char| c.is_control()) => {
            let _ = write!(out, "'{}'", text.replace('\'', "''"));
        }
        _ => json_string(text, &mut Choices(0), out),
    }
}

#[cfg(test)]
mod tests {
    use super::{Space, Style, Tree};

    fn tree() -> Tree {
        Tree::map([
            ("a", Tree::texts(["x", "\"ü\\\n"])),
            (
                "b",
                Tree::map([("c", Tree::Bool(true)), ("d", Tree::Number("1.0", "1"))]),
            ),
            ("e", Tree::List(Vec::new())),
        ])
    }

    #[test]
    fn every_spelling_of_json_is_read_as_the_same_by_serde_json() {
        let expected: serde_json::Value = serde_json::json!({
            "a": ["x", "\"ü\\\n"], "b": { "c": true, "d": 1.0 }, "e": [],
        });
        let mut texts = std::collections::BTreeSet::new();
        for seed in 0..50 {
            for space in [Space::Indented, Space::None, Space::Everywhere] {
                let text = Style {
                    seed,
                    space,
                    ..Style::default()
                }
                .json(&tree());
                let read: serde_json::Value = serde_json::from_str(&text).expect(&text);
                assert_eq!(read, expected, "{text}");
                texts.insert(text);
            }
        }
        assert!(texts.len() > 100, "{}", texts.len());
    }

    #[test]
    fn the_simplest_frontmatter_is_plain() {
        assert_eq!(
            Style::default().frontmatter(&Tree::map([
                ("name", Tree::text("a")),
                ("requires", Tree::map([("mcp", Tree::texts(["x: y"]))])),
            ])),
            "---\nname: a\nrequires:\n  mcp:\n    - \"x: y\"\n---\n\n# A body\n\nnot: [looked, at\n"
        );
    }
}
