//! The YAML subset of frontmatters.
//!
//! It contains mappings, sequences, plain, quoted and block scalars, and comments, in block and flow
//! style. It refuses, at its place, everything that a reader and a parser may understand
//! differently: anchors, aliases, tags, merge keys, further documents.

use super::node::{Entry, Node, Value};
use agent_diagnostic::{Code, Problems};
use agent_text::{DocumentKind, Span};
use rustc_hash::FxHashMap;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};
use std::borrow::Cow;
use std::ops::Range;

/// Maximum depth of nested mappings and sequences.
pub const DEPTH_LIMIT: usize = 64;

/// Returns the noun for the text.
fn noun(problems: &Problems<'_>) -> &'static str {
    match problems.text().source() {
        DocumentKind::Manifest => "the frontmatter",
        _ => "the file",
    }
}

/// Parses the part `within` of a text as one YAML document. Reports everything that the subset
/// forbids, and returns `None` if the text can't be read.
pub fn parse<'t>(within: Span, problems: &mut Problems<'t>) -> Option<Node<'t>> {
    let text = within.of(problems.text().as_str());
    let what = noun(problems);
    let control = text
        .char_indices()
        .find(|(_, c)| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}'));
    if let Some((at, c)) = control {
        let start = within.start as usize + at;
        let span = Span::new(start, start + c.len_utf8());
        let code_point = format!("U+{:04X}", u32::from(c));
        let message = format!("{what} contains the control character {code_point}");
        problems
            .report(Code::YamlSyntax, span, code_point, message)
            .help("remove the character");
        return None;
    }
    let mut builder = Builder {
        offsets: Offsets::new(text, within.start as usize),
        within,
        open: Vec::new(),
        root: None,
        problems,
    };
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => {
                let span = builder.offsets.span(span.start, span.end);
                builder.event(event, span)?;
            }
            Err(error) => {
                let at = builder.offsets.offset(error.marker());
                let width = text[at - within.start as usize..]
                    .chars()
                    .next()
                    .map_or(0, char::len_utf8);
                let span = Span::new(at, at + width);
                // The parser reads ahead, and has its own limit.
                if error.info() == "recursion limit exceeded" {
                    builder.too_deep(span, "nested too deeply here");
                    return None;
                }
                let is_about_space = ["tab", "whitespace"].map(|it| error.info().contains(it));
                if is_about_space.contains(&true)
                    && let Some(tabs) = tabs_before(text, at - within.start as usize)
                {
                    builder.refuse_tabs(what, text, tabs);
                    return None;
                }
                let message = format!("{what} is not YAML");
                builder
                    .problems
                    .report(Code::YamlSyntax, span, error.info(), message)
                    .help("indent with spaces, and put strings with `: `, ` #` or a leading `@`, `%`, `*`, `&`, `!` in quotes");
                return None;
            }
        }
    }
    Some(builder.root.unwrap_or(Node {
        value: Value::Null,
        span: Span {
            start: within.start,
            end: within.start,
        },
    }))
}

/// Returns the tabs among the white space before a place, or at it.
fn tabs_before(text: &str, at: usize) -> Option<Range<usize>> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let bytes = text.as_bytes();
    let after = bytes[at..].iter().take_while(|byte| is_blank(byte)).count();
    let before = bytes[..at].iter().rev();
    let start = at - before.take_while(|byte| is_blank(byte)).count();
    let first = bytes[start..at + after]
        .iter()
        .position(|byte| *byte == b'\t')?;
    let last = bytes[start..at + after]
        .iter()
        .rposition(|byte| *byte == b'\t')?;
    Some(start + first..start + last + 1)
}

/// An open mapping or sequence.
enum Open<'t> {
    Sequence {
        start: u32,
        items: Vec<Node<'t>>,
    },
    Mapping {
        start: u32,
        entries: Vec<Entry<'t>>,
        /// The key of the next value.
        key: Option<(Cow<'t, str>, Span)>,
        /// The place of each key. Looked up, never iterated.
        seen: FxHashMap<Cow<'t, str>, Span>,
        /// The last key or value, also of a dropped entry.
        last: Option<Span>,
    },
}

struct Builder<'t, 'p> {
    offsets: Offsets<'t>,
    within: Span,
    open: Vec<Open<'t>>,
    root: Option<Node<'t>>,
    problems: &'p mut Problems<'t>,
}

impl<'t> Builder<'t, '_> {
    /// Reports tabs that the parser refuses.
    fn refuse_tabs(&mut self, what: &str, text: &str, tabs: Range<usize>) {
        let line = text[..tabs.start].rsplit('\n').next().unwrap_or_default();
        let is_indentation = line.bytes().all(|byte| byte == b' ');
        let (place, spaces) = match is_indentation {
            true => ("its indentation", "  ".repeat(tabs.len())),
            false => ("the place of a space", " ".to_owned()),
        };
        let start = self.within.start as usize;
        let span = Span::new(start + tabs.start, start + tabs.end);
        let message = format!("{what} has a tab in {place}");
        self.problems
            .report(Code::YamlSyntax, span, "a tab", message)
            .replace("write spaces".to_owned(), span, spaces);
    }

    /// Handles the next event. Returns `None` if the rest can't be used.
    fn event(&mut self, event: Event<'t>, span: Span) -> Option<()> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            Event::DocumentStart(explicit) => {
                // A document with directives begins with a mark.
                let what = match self.root {
                    Some(_) => "a second document",
                    None if explicit => "a document mark",
                    None => return Some(()),
                };
                let help = "write one document, without marks and directives";
                self.unsupported(span, what, help);
                return None;
            }
            Event::Alias(_) => {
                self.unsupported(span, "an alias", "write the value out");
                self.put(Value::Refused, span);
            }
            Event::Scalar(value, style, anchor, tag) => {
                let span = self.trim(span, style);
                self.check_properties(anchor, tag.is_some(), span);
                self.scalar(value, style, span);
            }
            Event::SequenceStart(anchor, tag) => {
                self.check_properties(anchor, tag.is_some(), span);
                self.enter(span, |start| Open::Sequence {
                    start,
                    items: Vec::new(),
                })?;
            }
            Event::MappingStart(anchor, tag) => {
                self.check_properties(anchor, tag.is_some(), span);
                self.enter(span, |start| Open::Mapping {
                    start,
                    entries: Vec::new(),
                    key: None,
                    seen: FxHashMap::default(),
                    last: None,
                })?;
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::Sequence { start, items }) => {
                    let end = self.end(items.last().map(|item| item.span), span, start);
                    self.put(Value::Sequence(items), Span { start, end });
                }
                Some(Open::Mapping {
                    start,
                    entries,
                    last,
                    ..
                }) => {
                    let end = self.end(last, span, start);
                    self.put(Value::Mapping(entries), Span { start, end });
                }
                None => {}
            },
        }
        Some(())
    }

    /// Returns the end of a collection: after its bracket in flow style, after its last item in block
    /// style. The parser sends the closing event only with the next token.
    fn end(&self, last: Option<Span>, event: Span, start: u32) -> u32 {
        let text = self.problems.text().as_str();
        let last_end = last.map_or(start, |last| last.end);
        if !text[start as usize..].starts_with(['[', '{']) {
            return last_end;
        }
        // Only indicators and comments lie between the last item and the bracket.
        let behind = last_end.max(start + 1) as usize;
        let rest = text.get(behind..self.within.end as usize);
        let bracket = rest.and_then(|rest| find_outside_comments(rest, &[']', '}']));
        bracket.map_or(event.end, |at| (behind + at + 1) as u32)
    }

    /// Trims a scalar's span, which the parser extends to the next token: white space, line ends and,
    /// after quotes, comments.
    fn trim(&self, span: Span, style: ScalarStyle) -> Span {
        let text = span.of(self.problems.text().as_str());
        let len = match style {
            ScalarStyle::SingleQuoted => quoted_len(text, '\'', '\''),
            ScalarStyle::DoubleQuoted => quoted_len(text, '"', '\\'),
            _ => None,
        };
        let len = len.unwrap_or_else(|| text.trim_end().len());
        Span::new(span.start as usize, span.start as usize + len)
    }

    fn unsupported(&mut self, span: Span, what: &str, help: &str) {
        let label = format!("{what} is not allowed here");
        let message = format!("{} uses {what}", noun(self.problems));
        self.problems
            .report(Code::YamlUnsupported, span, label, message)
            .help(help);
    }

    fn too_deep(&mut self, span: Span, label: impl Into<String>) {
        let message = "mappings and sequences are nested too deeply";
        self.problems
            .report(Code::NestingTooDeep, span, label, message)
            .help(format!("nest at most {DEPTH_LIMIT} mappings and sequences"));
    }

    fn check_properties(&mut self, anchor: usize, tagged: bool, span: Span) {
        if anchor != 0 {
            self.unsupported(span, "an anchor", "remove the `&` and its name");
        }
        if tagged {
            self.unsupported(span, "a tag", "remove the `!` and its name");
        }
    }

    fn enter(&mut self, span: Span, open: impl FnOnce(u32) -> Open<'t>) -> Option<()> {
        if self.open.len() == DEPTH_LIMIT {
            self.too_deep(span, format!("level {}", DEPTH_LIMIT + 1));
            return None;
        }
        if let Some(Open::Mapping { key: None, .. }) = self.open.last() {
            let what = "a mapping or sequence as a key";
            self.unsupported(span, what, "use a string as the key");
            return None;
        }
        self.open.push(open(span.start));
        Some(())
    }

    fn scalar(&mut self, value: Cow<'t, str>, style: ScalarStyle, span: Span) {
        let plain = style == ScalarStyle::Plain;
        if let Some(Open::Mapping {
            key: key @ None, ..
        }) = self.open.last_mut()
        {
            *key = Some((value.clone(), span));
            if plain && value == "<<" {
                self.unsupported(span, "a merge key", "write the fields out");
            }
            return;
        }
        let value = match value {
            value if plain && value.is_empty() => Value::Null,
            value if plain => Value::Plain(value),
            value => Value::String(value),
        };
        self.put(value, span);
    }

    /// Puts a finished value into its collection.
    fn put(&mut self, value: Value<'t>, span: Span) {
        let node = Node { value, span };
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::Sequence { items, .. }) => items.push(node),
            Some(Open::Mapping {
                key,
                entries,
                seen,
                last,
                ..
            }) => {
                let Some((key, key_span)) = key.take() else {
                    // An alias as a key has been reported already.
                    *key = Some((Cow::Borrowed(""), span));
                    return;
                };
                // The parser may place an absent value after the bracket.
                *last = Some(match node.value {
                    Value::Null => key_span,
                    _ => span,
                });
                if let Some(first) = seen.get(&key) {
                    let message = format!("the key `{key}` appears twice in one mapping");
                    self.problems
                        .report(Code::DuplicateKey, key_span, "repeated here", message)
                        .also(*first, "first here")
                        .help("remove or rename one of the two");
                    return;
                }
                seen.insert(key.clone(), key_span);
                entries.push(Entry {
                    key,
                    key_span,
                    value: node,
                });
            }
        }
        debug_assert!(span.end <= self.within.end);
    }
}

/// Returns the offset of the first of some indicators in the text between two nodes, which consists
/// of white space, indicators and comments.
pub fn find_outside_comments(between: &str, indicators: &[char]) -> Option<usize> {
    let mut comment = false;
    between.find(|c: char| {
        comment = match c {
            '#' => true,
            '\r' | '\n' => false,
            _ => comment,
        };
        !comment && indicators.contains(&c)
    })
}

/// Returns the length of the quoted string at the beginning of a text, in bytes. A character after
/// `escape` does not end it.
fn quoted_len(text: &str, quote: char, escape: char) -> Option<usize> {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        // In single quotes a quote escapes another one; alone it ends the string.
        let escaped = c == escape
            && chars
                .peek()
                .is_some_and(|(_, next)| escape != quote || *next == quote);
        if escaped {
            chars.next();
        } else if c == quote {
            return Some(at + c.len_utf8());
        }
    }
    None
}

/// Converter of the parser's character offsets to byte offsets of the whole text.
struct Offsets<'t> {
    text: &'t str,
    base: usize,
    /// The byte offset of each 64th character; empty if all characters have one byte.
    marks: Vec<usize>,
}

impl<'t> Offsets<'t> {
    const STRIDE: usize = 64;

    fn new(text: &'t str, base: usize) -> Self {
        let mut marks = Vec::new();
        if !text.is_ascii() {
            let marked = text.char_indices().step_by(Self::STRIDE);
            marks.extend(marked.map(|(at, _)| at));
        }
        Self { text, base, marks }
    }

    fn offset(&self, marker: &Marker) -> usize {
        let index = marker.index();
        if self.marks.is_empty() {
            return self.base + index.min(self.text.len());
        }
        let Some(&mark) = self.marks.get(index / Self::STRIDE) else {
            return self.base + self.text.len();
        };
        self.text[mark..]
            .char_indices()
            .nth(index % Self::STRIDE)
            .map_or(self.base + self.text.len(), |(at, _)| self.base + mark + at)
    }

    fn span(&self, start: Marker, end: Marker) -> Span {
        let start = self.offset(&start);
        Span::new(start, self.offset(&end).max(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_text::{DocumentKind, Text};

    /// Returns the source text of every key and value in their order.
    fn sources(text: &str) -> Vec<String> {
        fn collect(node: &Node<'_>, text: &str, out: &mut Vec<String>) {
            out.push(node.span.of(text).to_owned());
            match &node.value {
                Value::Sequence(items) => items.iter().for_each(|item| collect(item, text, out)),
                Value::Mapping(entries) => {
                    for entry in entries {
                        out.push(entry.key_span.of(text).to_owned());
                        collect(&entry.value, text, out);
                    }
                }
                _ => {}
            }
        }
        let text = Text::new(DocumentKind::Manifest, text.to_owned());
        let mut problems = Problems::new(&text);
        let within = Span::new(0, text.as_str().len());
        let root = parse(within, &mut problems).expect("the tests are given YAML that can be read");
        let mut out = Vec::new();
        collect(&root, text.as_str(), &mut out);
        out
    }

    #[test]
    fn what_is_not_kept_is_passed_over_as_well() {
        for (text, mapping) in [
            ("a: {b: 1, b: \"# x\"}\nc: d\n", "{b: 1, b: \"# x\"}"),
            ("a: {b: 1, b: [{c: d}]} # }\n", "{b: 1, b: [{c: d}]}"),
            ("a: {b, b} # }\n", "{b, b}"),
        ] {
            assert_eq!(sources(text)[2], mapping);
        }
    }

    #[test]
    fn spans_hold_quotes_and_brackets_and_nothing_behind_them() {
        let text = "a: \"\\\"'# \\\\\" # b\n'c''\" #' : 'd''' # e\nf: [ g , {h: i} # ]\n  ,\n  ] # j\nk: {l: {}  , m: n # }\n  } # o\np: q # r\n";
        assert_eq!(
            sources(text)[1..],
            [
                "a",
                "\"\\\"'# \\\\\"",
                "'c''\" #'",
                "'d'''",
                "f",
                "[ g , {h: i} # ]\n  ,\n  ]",
                "g",
                "{h: i}",
                "h",
                "i",
                "k",
                "{l: {}  , m: n # }\n  }",
                "l",
                "{}",
                "m",
                "n",
                "p",
                "q",
            ]
        );
    }
}
