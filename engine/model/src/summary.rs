//! Summaries of a tool's result \[1\].

use super::non_empty::NonEmpty;
use agent_text::{Span, Spanned, Text};

/// A claim with its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// `claim`: not blank.
    pub claim: Spanned<String>,
    /// `evidence`: not blank; white space is kept.
    pub evidence: Spanned<String>,
    /// The whole item.
    pub span: Span,
}

/// A valid summary.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The text of the summary.
    pub text: Text,
    /// The items, in file order.
    pub items: NonEmpty<Claim>,
}
