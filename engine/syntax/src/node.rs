//! The common tree of YAML and JSON.

use agent_text::Span;
use std::borrow::Cow;

/// A value with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node<'a> {
    /// The value.
    pub value: Value<'a>,
    /// Its bytes, including quotes and brackets.
    pub span: Span,
}

/// A value of YAML or JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(usize)]
pub enum Value<'a> {
    /// `null` in JSON, an absent value in YAML.
    Null,
    /// A boolean in JSON.
    Bool(bool),
    /// A number in JSON, by its source text.
    Number(&'a str),
    /// A string in JSON, a quoted or block scalar in YAML.
    String(Cow<'a, str>),
    /// A plain scalar in YAML, whose type depends on its field.
    Plain(Cow<'a, str>),
    /// A refused value, such as an alias, which has been reported.
    Refused,
    /// An array in JSON.
    Sequence(Vec<Node<'a>>),
    /// An object in JSON. Keys are unique: the first of equal keys is kept, and the others are
    /// reported.
    Mapping(Vec<Entry<'a>>),
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The key.
    pub key: Cow<'a, str>,
    /// The place of the key, including quotes.
    pub key_span: Span,
    /// The value.
    pub value: Node<'a>,
}
