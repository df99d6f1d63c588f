//! The tree that YAML and JSON have in common.

use agent_text::Span;
use std::borrow::Cow;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node<'a> {
    /// The value.
    pub value: Value<'a>,
    /// Its bytes; quotes and brackets included.
    pub span: Span,
}

/// What a file can hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(usize)]
pub enum Value<'a> {
    /// `null` in JSON, nothing at all in YAML.
    Null,
    /// A boolean in JSON.
    Bool(bool),
    /// A number in JSON, by its source text.
    Number(&'a str),
    /// A string in JSON, a quoted or block scalar in YAML.
    String(Cow<'a, str>),
    /// A plain scalar in YAML: what it is depends on what its field takes.
    Plain(Cow<'a, str>),
    /// What was refused already, such as an alias: nothing more is to be said about it.
    Refused,
    /// An array in JSON.
    Sequence(Vec<Node<'a>>),
    /// An object in JSON. Keys are unique: of equal keys the first is kept, and the others are
    /// problems of the text.
    Mapping(Vec<Entry<'a>>),
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The key.
    pub key: Cow<'a, str>,
    /// Where the key stands, quotes included.
    pub key_span: Span,
    /// The value.
    pub value: Node<'a>,
}
