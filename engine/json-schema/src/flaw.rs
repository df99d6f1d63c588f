//! What can be wrong with a schema.

use super::budget::OverBudget;
use super::ecma::PatternError;
use super::wording::quoted;
use agent_text::Span;

/// At most this many flaws of one schema are kept; nobody reads more.
pub const FLAW_LIMIT: usize = 1_000;

/// Why a schema was not compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// What is wrong with it, in the order in which it was found; at most [`FLAW_LIMIT`].
    Flaws(Vec<Flaw>),
    /// It takes more work than there may be.
    OverBudget(OverBudget),
}

impl From<OverBudget> for Refused {
    fn from(over: OverBudget) -> Self {
        Self::OverBudget(over)
    }
}

/// One thing that is wrong with a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The URI of the document that it is in; none for the schema that was to be compiled.
    pub document: Option<String>,
    /// Where in the document, as a JSON pointer.
    pub pointer: String,
    /// Where in the text of the document.
    pub span: Span,
    /// What it is.
    pub kind: FlawKind,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlawKind {
    /// A value has another type than its keyword takes, or none that it may have.
    NotASchema {
        /// The keyword; none for what should be a schema.
        keyword: Option<&'static str>,
        /// What it has to be, with an article.
        expected: &'static str,
    },
    /// A reference to something that is not in the documents that are known.
    UnknownReference(String),
    /// A reference to another host. Nothing is ever fetched.
    RemoteReference(String),
    /// A pattern can't be used.
    Pattern {
        /// Why.
        error: PatternError,
        /// Where in the pattern, in bytes of its text without escapes of JSON.
        at: usize,
    },
    /// `$schema` names something else than draft 2020-12, draft-07, or a metaschema among the
    /// documents whose vocabularies are known.
    UnknownDraft(String),
    /// An `$id` that another schema has already.
    TakenIdentifier(String),
    /// The number of `multipleOf` has too many digits.
    TooPrecise,
}

impl Flaw {
    /// What is wrong in a sentence, without a final stop.
    pub fn message(&self) -> String {
        match &self.kind {
            FlawKind::NotASchema {
                keyword: Some(keyword),
                expected,
            } => {
                format!("`{keyword}` must be {expected}")
            }
            FlawKind::NotASchema {
                keyword: None,
                expected,
            } => {
                format!("a schema must be {expected}")
            }
            FlawKind::UnknownReference(reference) => {
                format!("nothing is known by the reference {}", quoted(reference))
            }
            FlawKind::RemoteReference(reference) => {
                format!(
                    "{} is at another host, and nothing is fetched",
                    quoted(reference)
                )
            }
            FlawKind::Pattern { error, at } => {
                format!(
                    "the pattern can't be used: {}, at byte {at} of it",
                    error.reason()
                )
            }
            FlawKind::UnknownDraft(schema) => {
                format!(
                    "{} is no draft that is known; known are draft 2020-12 and draft-07",
                    quoted(schema)
                )
            }
            FlawKind::TakenIdentifier(id) => {
                format!("another schema has the identifier {}", quoted(id))
            }
            FlawKind::TooPrecise => "`multipleOf` must have at most 37 digits".to_owned(),
        }
    }
}
