//! Values together with where they come from, and writing them.

use super::field::Scalars;
use agent_lower::INDEX_LIMIT;
use agent_model::ServerView;
use agent_syntax::json::{Reader, Writer, parse_value};
use agent_syntax::{Entry, Node, Value};
use agent_text::sort::sort_by;
use agent_text::{Source, Span};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Where something comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    /// The input.
    pub(super) source: Source,
    /// The bytes.
    pub(super) span: Span,
}

impl Origin {
    /// A place in the document.
    pub(super) fn import(span: Span) -> Self {
        let source = Source::Import;
        Self { source, span }
    }

    /// A place in the overlay.
    pub(super) fn overlay(span: Span) -> Self {
        let source = Source::Overlay;
        Self { source, span }
    }
}

/// What the spans of a tree are spans of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base {
    /// The input.
    pub(super) source: Source,
    /// The offset in the input from which the spans count.
    pub(super) offset: u32,
}

impl Base {
    /// The document.
    pub(super) const IMPORT: Self = Self {
        source: Source::Import,
        offset: 0,
    };

    /// The overlay.
    pub(super) const OVERLAY: Self = Self {
        source: Source::Overlay,
        offset: 0,
    };

    /// Where a span is.
    pub(super) fn origin(self, span: Span) -> Origin {
        Origin {
            source: self.source,
            span: Span {
                start: span.start + self.offset,
                end: span.end + self.offset,
            },
        }
    }
}

/// A value in the making.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// A value as it stands in an input.
    Tree {
        /// The value.
        node: &'a Node<'a>,
        /// What its spans are spans of.
        base: Base,
        /// What plain scalars in it are.
        scalars: Scalars,
    },
    /// A string that is made of what stands at a place.
    Text(Cow<'a, str>, Origin),
    /// A value that stands in for one that is missing, so that the loader does not miss it too.
    StandIn(&'static str),
    /// A mapping with members of several origins.
    Object(Object<'a>),
}

/// A mapping in the making.
#[derive(Debug, Default)]
pub(super) struct Object<'a> {
    /// Where it comes from as a whole.
    pub(super) origin: Option<Origin>,
    /// Its members, with where their keys stand.
    pub(super) members: BTreeMap<Cow<'a, str>, (Option<Origin>, Part<'a>)>,
}

impl<'a> Object<'a> {
    /// The members of a mapping. Of another value, none.
    pub(super) fn of(node: &'a Node<'a>, base: Base) -> Self {
        let mut object = Self {
            origin: Some(base.origin(node.span)),
            ..Self::default()
        };
        if let Value::Mapping(entries) = &node.value {
            for entry in entries {
                let part = Part::Tree {
                    node: &entry.value,
                    base,
                    scalars: Scalars::Strings,
                };
                let key = Some(base.origin(entry.key_span));
                object
                    .members
                    .insert(Cow::Borrowed(&*entry.key), (key, part));
            }
        }
        object
    }

    /// Set a member. A key that is there already keeps its place only if none is given.
    pub(super) fn set(&mut self, key: impl Into<Cow<'a, str>>, at: Option<Origin>, part: Part<'a>) {
        self.members.insert(key.into(), (at, part));
    }

    /// A member that is to be changed: what it was, if it was a mapping, else an empty one.
    pub(super) fn open(&mut self, key: impl Into<Cow<'a, str>>) -> &mut Object<'a> {
        let member = self
            .members
            .entry(key.into())
            .or_insert_with(|| (None, Part::Object(Object::default())));
        if let Part::Tree { node, base, .. } = member.1 {
            member.1 = Part::Object(Object::of(node, base));
        }
        if !matches!(member.1, Part::Object(_)) {
            member.1 = Part::Object(Object::default());
        }
        match &mut member.1 {
            Part::Object(object) => object,
            // It was made one above.
            _ => unreachable!("a member that was opened is a mapping"),
        }
    }
}

/// Where a part of the written text comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    /// The written bytes.
    pub(super) written: Span,
    /// The number of the mark around it; its own if there is none.
    pub(super) parent: u32,
    /// Where it comes from.
    pub(super) origin: Origin,
}

/// Writes an index, and remembers where its parts come from.
pub(super) struct Printer {
    w: Writer,
    /// In the order in which they start, a mark before those in it.
    marks: Vec<Mark>,
    parent: Option<u32>,
}

impl Printer {
    pub(super) fn new() -> Self {
        Self {
            w: Writer::pretty(),
            marks: Vec::new(),
            parent: None,
        }
    }

    /// The text and where its parts come from. None if it is larger than an index may be.
    pub(super) fn finish(self) -> Option<(String, Vec<Mark>)> {
        let text = self.w.finish();
        (text.len() <= INDEX_LIMIT).then_some((text, self.marks))
    }

    /// Whether nothing more is to be written, because it is too much already. What is open is
    /// closed all the same.
    fn full(&self) -> bool {
        self.w.len() > INDEX_LIMIT
    }

    /// Write what comes from a place.
    fn from(&mut self, origin: Origin, write: impl FnOnce(&mut Self)) {
        let number = self.marks.len() as u32;
        // White space in front of the value is counted to it, which contains it all the same.
        let start = self.w.len();
        let outer = self.parent.replace(number);
        self.marks.push(Mark {
            written: Span::new(start, start),
            parent: outer.unwrap_or(number),
            origin,
        });
        write(self);
        self.parent = outer;
        self.marks[number as usize].written.end = self.w.len() as u32;
    }

    pub(super) fn object<K: AsRef<str>, M>(
        &mut self,
        members: impl IntoIterator<Item = (K, M)>,
        mut write: impl FnMut(&mut Self, &str, M),
    ) {
        self.w.open('{');
        for (key, member) in members {
            if self.full() {
                break;
            }
            write(self, key.as_ref(), member);
        }
        self.w.close('}');
    }

    pub(super) fn array<I>(
        &mut self,
        items: impl IntoIterator<Item = I>,
        mut write: impl FnMut(&mut Self, I),
    ) {
        self.w.open('[');
        for item in items {
            if self.full() {
                break;
            }
            write(self, item);
        }
        self.w.close(']');
    }

    /// Write a list of which the items are written elsewhere.
    pub(super) fn list(&mut self, items: impl FnOnce(&mut Self)) {
        self.w.open('[');
        items(self);
        self.w.close(']');
    }

    /// Write the key of the value that comes next.
    pub(super) fn key(&mut self, key: &str, origin: Option<Origin>) {
        match origin {
            Some(origin) => self.from(origin, |printer| {
                printer.w.key(key);
            }),
            None => {
                self.w.key(key);
            }
        }
    }

    /// Write a server that stays as it is.
    pub(super) fn kept(&mut self, server: ServerView<'_>) {
        if self.full() {
            return;
        }
        let origin = Origin {
            source: Source::Index,
            span: server.id_span(),
        };
        self.from(origin, |printer| {
            // It was read before, so that it can be read again.
            if let Ok(node) = parse_value(&mut Reader::new(server.entry())) {
                printer.tree(&node, None, Scalars::Strings);
            }
        });
    }

    pub(super) fn part(&mut self, part: &Part<'_>) {
        match part {
            Part::Tree {
                node,
                base,
                scalars,
            } => self.tree(node, Some(*base), *scalars),
            Part::Text(text, origin) => self.from(*origin, |printer| printer.w.string(text)),
            Part::StandIn(json) => self.w.json(json),
            Part::Object(object) => match object.origin {
                Some(origin) => self.from(origin, |printer| printer.members(object)),
                None => self.members(object),
            },
        }
    }

    fn members(&mut self, object: &Object<'_>) {
        self.object(&object.members, |printer, key, (at, part)| {
            printer.key(key, *at);
            printer.part(part);
        });
    }

    /// Write a value as it stands, with its keys sorted. Without a base it is not remembered
    /// where its parts come from.
    pub(super) fn tree(&mut self, node: &Node<'_>, base: Option<Base>, scalars: Scalars) {
        match base {
            Some(base) => self.from(base.origin(node.span), |printer| {
                printer.value(node, Some(base), scalars);
            }),
            None => self.value(node, None, scalars),
        }
    }

    fn value(&mut self, node: &Node<'_>, base: Option<Base>, scalars: Scalars) {
        match &node.value {
            Value::Null | Value::Refused => self.w.null(),
            Value::Bool(value) => self.w.bool(*value),
            Value::Number(number) => self.w.json(number),
            Value::Plain(text) => match scalars {
                Scalars::Booleans if text == "true" => self.w.bool(true),
                Scalars::Booleans if text == "false" => self.w.bool(false),
                Scalars::Numbers if is_number(text) => self.w.json(text),
                _ => self.w.string(text),
            },
            Value::String(text) => self.w.string(text),
            Value::Sequence(items) => {
                self.array(items, |printer, item| printer.tree(item, base, scalars));
            }
            Value::Mapping(entries) => {
                let mut sorted: Vec<_> = entries.iter().collect();
                sort_by(&mut sorted, |a, b| a.key.cmp(&b.key));
                // Two of one key are refused, and are looked through all the same.
                sorted.dedup_by(|later, earlier| later.key == earlier.key);
                let members = sorted.iter().map(|entry| (&entry.key, *entry));
                self.object(members, |printer, key, entry: &Entry<'_>| {
                    printer.key(key, base.map(|base| base.origin(entry.key_span)));
                    printer.tree(&entry.value, base, scalars);
                });
            }
        }
    }
}

/// Whether a text is a number in JSON.
fn is_number(text: &str) -> bool {
    let mut reader = Reader::new(text);
    text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && reader.number().is_ok()
        && reader.offset() == text.len()
}
