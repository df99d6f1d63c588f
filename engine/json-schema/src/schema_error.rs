//! Errors in schemas.

use super::budget::OverBudget;
use super::ecma::PatternError;
use super::wording::quoted;
use agent_text::Span;

/// Maximum errors to keep of one schema.
pub const SCHEMA_ERROR_LIMIT: usize = 1_000;

/// The reason why a schema was not compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The errors, in the order in which they were found; at most [`SCHEMA_ERROR_LIMIT`].
    Invalid(Vec<SchemaError>),
    /// Compiling the schema exceeds the budget.
    OverBudget(OverBudget),
}

impl From<OverBudget> for Refused {
    fn from(over: OverBudget) -> Self {
        Self::OverBudget(over)
    }
}

/// An error in a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// The URI of the document with the error; `None` for the compiled schema itself.
    pub document: Option<String>,
    /// The place in the document, as a JSON pointer.
    pub pointer: String,
    /// The place in the text of the document.
    pub span: Span,
    /// The kind of the error.
    pub kind: SchemaErrorKind,
}

/// The kinds of errors in schemas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaErrorKind {
    /// A value that its keyword does not accept, or that is not a schema.
    NotASchema {
        /// The keyword; `None` for a value that must be a schema.
        keyword: Option<&'static str>,
        /// The required value, with an article.
        expected: &'static str,
    },
    /// A reference that no known document resolves.
    UnknownReference(String),
    /// A reference to another host. Nothing is ever fetched.
    RemoteReference(String),
    /// An unusable pattern.
    Pattern {
        /// The reason.
        error: PatternError,
        /// The place in the pattern, in bytes of its text without escapes of JSON.
        at: usize,
    },
    /// A `$schema` that is neither a supported draft nor a known metaschema with supported
    /// vocabularies.
    UnknownDraft(String),
    /// An `$id` that another schema has already.
    TakenIdentifier(String),
    /// A `multipleOf` with too many digits.
    TooPrecise,
}

impl SchemaError {
    /// Returns a sentence without a final stop.
    pub fn message(&self) -> String {
        match &self.kind {
            SchemaErrorKind::NotASchema { keyword, expected } => match keyword {
                Some(keyword) => format!("`{keyword}` must be {expected}"),
                None => format!("a schema must be {expected}"),
            },
            SchemaErrorKind::UnknownReference(reference) => {
                format!("no known schema has the reference {}", quoted(reference))
            }
            SchemaErrorKind::RemoteReference(reference) => {
                let reference = quoted(reference);
                format!("{reference} refers to another host, and schemas are never fetched")
            }
            SchemaErrorKind::Pattern { error, at } => {
                let reason = error.reason();
                format!("the pattern can't be used: {reason}, at byte {at}")
            }
            SchemaErrorKind::UnknownDraft(schema) => {
                let schema = quoted(schema);
                format!(
                    "{schema} is not a supported draft; supported are 2020-12, draft-07 and draft-04"
                )
            }
            SchemaErrorKind::TakenIdentifier(id) => {
                format!("another schema has the identifier {}", quoted(id))
            }
            SchemaErrorKind::TooPrecise => "`multipleOf` must have at most 37 digits".to_owned(),
        }
    }
}
