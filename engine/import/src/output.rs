//! Values with their origins, and the writer of an index.

use super::field::Scalars;
use agent_lower::INDEX_LIMIT;
use agent_model::ServerView;
use agent_syntax::json::{Reader, Writer, parse_value};
use agent_syntax::{Entry, Node, Value};
use agent_text::sort::sort_by;
use agent_text::{DocumentKind, Span};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The origin of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    /// The input.
    pub(super) source: DocumentKind,
    /// The number of the input among those of its kind.
    pub(super) number: u32,
    /// The bytes of the input.
    pub(super) span: Span,
}

impl Origin {
    /// Returns an origin in the overlay.
    pub(super) fn overlay(span: Span) -> Self {
        Base::OVERLAY.origin(span)
    }
}

/// The base of a tree's spans.
#[derive(Debug, Clone, Copy)]
pub(super) struct Base {
    /// The input.
    pub(super) source: DocumentKind,
    /// The number of the input among those of its kind.
    pub(super) number: u32,
    /// The offset of the tree in the input.
    pub(super) offset: u32,
}

impl Base {
    /// The base of the overlay.
    pub(super) const OVERLAY: Self = Self {
        source: DocumentKind::Overlay,
        number: 0,
        offset: 0,
    };

    /// Returns the base of an imported document.
    pub(super) fn of_document(number: u32) -> Self {
        Self {
            source: DocumentKind::Import,
            number,
            offset: 0,
        }
    }

    /// Returns the origin of a span.
    pub(super) fn origin(self, span: Span) -> Origin {
        Origin {
            source: self.source,
            number: self.number,
            span: Span {
                start: span.start + self.offset,
                end: span.end + self.offset,
            },
        }
    }
}

/// A value to write.
#[derive(Debug)]
pub(super) enum NewValue<'a> {
    /// An unchanged value of an input.
    Tree {
        /// The value.
        node: &'a Node<'a>,
        /// The base of its spans.
        base: Base,
        /// The meaning of its plain scalars.
        scalars: Scalars,
    },
    /// A string derived from an origin.
    Text(Cow<'a, str>, Origin),
    /// A fixed value: that of a captured server, or a stand-in for a missing one, so that the loader
    /// does not report it again.
    Fixed(&'static str),
    /// A list of values of several origins.
    List(Vec<NewValue<'a>>),
    /// A mapping with members of several origins.
    Object(NewObject<'a>),
}

/// A mapping to write.
#[derive(Debug, Default)]
pub(super) struct NewObject<'a> {
    /// Its origin as a whole.
    pub(super) origin: Option<Origin>,
    /// Its members, with the origins of their keys.
    pub(super) members: BTreeMap<Cow<'a, str>, (Option<Origin>, NewValue<'a>)>,
}

impl<'a> NewObject<'a> {
    /// Returns the members of a mapping; any other value becomes an empty one.
    pub(super) fn of(node: &'a Node<'a>, base: Base) -> Self {
        let mut object = Self {
            origin: Some(base.origin(node.span)),
            ..Self::default()
        };
        if let Value::Mapping(entries) = &node.value {
            for entry in entries {
                let value = NewValue::Tree {
                    node: &entry.value,
                    base,
                    scalars: Scalars::Strings,
                };
                let key = Some(base.origin(entry.key_span));
                object
                    .members
                    .insert(Cow::Borrowed(&*entry.key), (key, value));
            }
        }
        object
    }

    /// Sets a member and the origin of its key.
    pub(super) fn set(
        &mut self,
        key: impl Into<Cow<'a, str>>,
        at: Option<Origin>,
        value: NewValue<'a>,
    ) {
        self.members.insert(key.into(), (at, value));
    }

    /// Returns a member to change: the existing mapping, or an empty one.
    pub(super) fn open(&mut self, key: impl Into<Cow<'a, str>>) -> &mut NewObject<'a> {
        let member = self
            .members
            .entry(key.into())
            .or_insert_with(|| (None, NewValue::Object(NewObject::default())));
        if let NewValue::Tree { node, base, .. } = member.1 {
            member.1 = NewValue::Object(NewObject::of(node, base));
        }
        if !matches!(member.1, NewValue::Object(_)) {
            member.1 = NewValue::Object(NewObject::default());
        }
        match &mut member.1 {
            NewValue::Object(object) => object,
            // The lines above made it a mapping.
            _ => unreachable!("a member that was opened is a mapping"),
        }
    }
}

/// The origin of a part of the written text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    /// The written bytes.
    pub(super) written: Span,
    /// The number of the enclosing mark, or its own number.
    pub(super) parent: u32,
    /// The origin.
    pub(super) origin: Origin,
}

/// The writer of an index, which records the origins of its parts.
pub(super) struct Printer {
    w: Writer,
    /// Ordered by start; an enclosing mark precedes those inside it.
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

    /// Returns the text and the marks, or `None` if the text exceeds the limit of an index.
    pub(super) fn finish(self) -> Option<(String, Vec<Mark>)> {
        let text = self.w.finish();
        (text.len() <= INDEX_LIMIT).then_some((text, self.marks))
    }

    /// Returns whether the text has exceeded its limit. Open brackets are closed all the same.
    fn full(&self) -> bool {
        self.w.len() > INDEX_LIMIT
    }

    /// Writes a value with an origin.
    fn from(&mut self, origin: Origin, write: impl FnOnce(&mut Self)) {
        let number = self.marks.len() as u32;
        // White space before the value counts as part of it.
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

    /// Writes a list, whose items `items` writes.
    pub(super) fn list(&mut self, items: impl FnOnce(&mut Self)) {
        self.w.open('[');
        items(self);
        self.w.close(']');
    }

    /// Writes the key of the next value.
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

    /// Writes an unchanged server.
    pub(super) fn kept(&mut self, server: ServerView<'_>) {
        if self.full() {
            return;
        }
        let origin = Origin {
            source: DocumentKind::Index,
            number: 0,
            span: server.id_span(),
        };
        self.from(origin, |printer| {
            // The entry was parsed before, so parsing it again succeeds.
            if let Ok(node) = parse_value(&mut Reader::new(server.entry())) {
                printer.tree(&node, None, Scalars::Strings);
            }
        });
    }

    pub(super) fn new_value(&mut self, value: &NewValue<'_>) {
        match value {
            NewValue::Tree {
                node,
                base,
                scalars,
            } => self.tree(node, Some(*base), *scalars),
            NewValue::Text(text, origin) => self.from(*origin, |printer| printer.w.string(text)),
            NewValue::Fixed(json) => self.w.json(json),
            NewValue::List(items) => self.array(items, |printer, item| printer.new_value(item)),
            NewValue::Object(object) => self.new_object(object),
        }
    }

    pub(super) fn new_object(&mut self, object: &NewObject<'_>) {
        match object.origin {
            Some(origin) => self.from(origin, |printer| printer.members(object)),
            None => self.members(object),
        }
    }

    fn members(&mut self, object: &NewObject<'_>) {
        self.object(&object.members, |printer, key, (at, value)| {
            printer.key(key, *at);
            printer.new_value(value);
        });
    }

    /// Writes an unchanged value with sorted keys. Without a base, it records no origins.
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
                // Duplicate keys are an error, but the value is still written.
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

/// Returns whether a text is a number in JSON.
fn is_number(text: &str) -> bool {
    let mut reader = Reader::new(text);
    text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && reader.number().is_ok()
        && reader.offset() == text.len()
}
