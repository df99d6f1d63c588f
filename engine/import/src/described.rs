//! What a document tells of a server, whatever its form.

use agent_syntax::{Entry, Node};
use agent_text::Span;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A server of a document.
#[derive(Debug)]
pub(super) struct Described<'a> {
    /// What the document calls it, with where. Never empty; the first is the usual id.
    pub(super) names: Vec<(&'a str, Span)>,
    /// Its version.
    pub(super) version: Told<'a>,
    /// Where it is reached.
    pub(super) endpoint: Told<'a>,
    /// Its tools, if the document tells of them. They are all that it has.
    pub(super) tools: Option<Tools<'a>>,
}

impl<'a> Described<'a> {
    /// What the document calls it in the first place, and where.
    pub(super) fn name(&self) -> (&'a str, Span) {
        self.names.first().copied().unwrap_or_default()
    }
}

/// What a document tells of a field.
#[derive(Debug)]
pub(super) enum Told<'a> {
    /// Nothing.
    Nothing,
    /// What can't be read, which is among the problems already.
    Refused,
    /// A value, and where it stands or what it is made of.
    Value(Cow<'a, str>, Span),
    /// Something that can't be taken. It is a problem only if nobody else gives a value.
    Unusable(Unusable),
}

/// Something that can't be taken.
#[derive(Debug)]
pub(super) struct Unusable {
    /// Where it stands.
    pub(super) span: Span,
    /// What it is, in a few words.
    pub(super) label: String,
    /// Why it can't be taken, in one sentence.
    pub(super) message: String,
    /// Values that can be meant, in JSON: to be chosen from.
    pub(super) choices: Vec<String>,
}

/// The tools of a server.
#[derive(Debug, Default)]
pub(super) struct Tools<'a> {
    /// `listChanged` of MCP's handshake.
    pub(super) list_changed: Option<&'a Entry<'a>>,
    /// By name.
    pub(super) tools: BTreeMap<&'a str, Tool<'a>>,
}

/// A tool.
#[derive(Debug)]
pub(super) struct Tool<'a> {
    /// Where its name stands.
    pub(super) name: Span,
    /// The whole.
    pub(super) node: &'a Node<'a>,
    /// What the index holds of it.
    pub(super) fields: Vec<&'a Entry<'a>>,
}
