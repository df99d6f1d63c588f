//! A document's data about a server, independent of its form.

use super::endpoint::Refusal;
use super::left_out::LeftOut;
use super::output::{Base, Origin};
use agent_syntax::{Entry, Node};
use agent_text::Span;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A server of a document.
#[derive(Debug)]
pub(super) struct DescribedServer<'a> {
    /// The number of the document.
    pub(super) document: u32,
    /// The document's names for it, with their places. The first is the default id.
    pub(super) names: Vec<(&'a str, Span)>,
    /// The place of its name, or of its beginning.
    pub(super) at: Span,
    /// Its version.
    pub(super) version: FieldValue<'a>,
    /// Its endpoint.
    pub(super) endpoint: FieldValue<'a>,
    /// Its tools, if the document lists them.
    pub(super) tools: Option<Tools<'a>>,
}

impl<'a> DescribedServer<'a> {
    /// Returns the document's first name for the server, or an empty one.
    pub(super) fn name(&self) -> &'a str {
        self.names.first().map_or("", |(name, _)| name)
    }

    /// Returns an origin in its document.
    pub(super) fn origin(&self, span: Span) -> Origin {
        self.base().origin(span)
    }

    /// Returns the base of the spans of its document.
    pub(super) fn base(&self) -> Base {
        Base::of_document(self.document)
    }
}

/// A document's value of a field.
#[derive(Debug)]
pub(super) enum FieldValue<'a> {
    /// The document has no value.
    Absent,
    /// The document has a value of the wrong type, which has been reported.
    Invalid,
    /// A value, with the place that it comes from.
    Value(Cow<'a, str>, Span),
    /// The URL of a package without its version: what precedes and what follows it.
    OfVersion {
        before: String,
        after: String,
        span: Span,
    },
    /// A server that is started and is no package.
    NoPackage(Span),
    /// A value that can't be used. It is a problem only if nothing else sets the field.
    Unusable(Unusable),
}

impl<'a> FieldValue<'a> {
    /// Returns whether two values are equal, wherever they are written.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Absent, Self::Absent) | (Self::NoPackage(_), Self::NoPackage(_)) => true,
            (Self::Value(one, _), Self::Value(other, _)) => one == other,
            (
                Self::OfVersion { before, after, .. },
                Self::OfVersion {
                    before: other,
                    after: end,
                    ..
                },
            ) => before == other && after == end,
            _ => false,
        }
    }

    /// Returns a value that was checked. `what` names it in the message of a refusal.
    pub(super) fn of(value: Result<Cow<'a, str>, Refusal>, what: &str, span: Span) -> Self {
        match value {
            Ok(value) => Self::Value(value, span),
            Err(refusal) => Self::Unusable(Unusable {
                span,
                label: refusal.label().to_owned(),
                message: refusal.message(what),
                choices: Vec::new(),
            }),
        }
    }
}

/// A value that can't be used.
#[derive(Debug)]
pub(super) struct Unusable {
    /// The place of the value.
    pub(super) span: Span,
    /// The label at the value.
    pub(super) label: String,
    /// The message.
    pub(super) message: String,
    /// Possible values to choose from, in JSON.
    pub(super) choices: Vec<String>,
}

/// The tools of a server.
#[derive(Debug, Default)]
pub(super) struct Tools<'a> {
    /// Whether these are all of its tools, with whole definitions.
    pub(super) complete: bool,
    /// `listChanged` of MCP's handshake.
    pub(super) list_changed: Option<&'a Entry<'a>>,
    /// The tools by name.
    pub(super) tools: BTreeMap<&'a str, Tool<'a>>,
    /// The tools that can't be used.
    pub(super) left_out: LeftOut,
}

/// A tool.
#[derive(Debug)]
pub(super) struct Tool<'a> {
    /// The place of its name.
    pub(super) name: Span,
    /// The whole definition.
    pub(super) node: &'a Node<'a>,
    /// The fields that the index keeps.
    pub(super) fields: Vec<&'a Entry<'a>>,
    /// What the server says that the tool can do, each source by itself.
    pub(super) claims: Vec<&'a Entry<'a>>,
}

/// Returns the member of a key.
pub(super) fn member<'n, 't>(entries: &'n [Entry<'t>], key: &str) -> Option<&'n Entry<'t>> {
    entries.iter().find(|entry| entry.key == key)
}
