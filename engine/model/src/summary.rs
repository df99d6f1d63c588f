//! A summary of what a tool returned \[1\].

use super::NonEmpty;
use agent_text::{Span, Spanned, Text};

/// Something that is claimed, and what is to prove it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// `claim`: not blank.
    pub claim: Spanned<String>,
    /// `evidence`: not blank, and otherwise as it was given, white space included.
    pub evidence: Spanned<String>,
    /// The whole item.
    pub span: Span,
}

/// A summary without errors.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The text it was read from.
    pub text: Text,
    /// The items, in file order.
    pub items: NonEmpty<Claim>,
}
