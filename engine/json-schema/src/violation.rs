//! In what a value is not as its schema asks.

use agent_text::Span;

/// One thing in which a value is not as its schema asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which part of the value, as a JSON pointer.
    pub instance: String,
    /// Where that stands in the text of the value. Of an unknown or misnamed property it is the
    /// key.
    pub span: Span,
    /// The URI of the document that the keyword stands in; none for the schema itself.
    pub document: Option<String>,
    /// Where the keyword stands in the document, as a JSON pointer. It is not the path on which
    /// the keyword was reached: no reference stands in it.
    pub schema: String,
    /// Where the value of the keyword stands in the text of the document.
    pub schema_span: Span,
    /// The keyword.
    pub keyword: &'static str,
    /// What the part has to be, and what it is: a predicate such as `must be a string, and is a
    /// number`, without a final stop.
    pub message: String,
    /// Of several possibilities of which none holds: what is wrong by the one that comes nearest.
    /// Of a name or a condition: what it comes from.
    pub causes: Vec<Violation>,
}
