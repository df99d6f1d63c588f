//! The answer to a summary.

use crate::{Code, Diagnostic, Fix, Place};
use serde::{Deserialize, Serialize};

/// The answer to a summary.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grounding {
    /// Whether every claim has its evidence; none if a text has errors, so that nothing was decided.
    pub grounded: Option<bool>,
    /// The same as a sentence; empty if nothing was decided.
    pub text: String,
    /// The problems of the texts. Missing evidence is reported with its claim.
    pub diagnostics: Vec<Diagnostic>,
    /// The claims, in the order of the summary.
    pub claims: Vec<Claim>,
}

/// A claim and its evidence. Long texts are cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The claim.
    pub claim: String,
    /// The quoted evidence.
    pub evidence: String,
    /// The place of the evidence in the summary.
    pub place: Place,
    /// Whether the payload contains the evidence.
    pub verdict: Evidence,
}

/// Whether a payload contains evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Evidence {
    /// The payload contains it.
    Found {
        /// The first occurrence.
        first: Quote,
        /// Number of occurrences.
        count: u32,
    },
    /// The payload does not contain it.
    Missed {
        /// The code.
        code: Code,
        /// The predicate of a sentence about the evidence.
        text: String,
        /// Facts that help to understand why.
        notes: Vec<String>,
        /// The leaves that the evidence spans, or the name that it equals.
        parts: Vec<Place>,
        /// The most similar text of the payload.
        near: Option<NearQuote>,
    },
}

/// A part of the payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The JSON pointer of the leaf that contains the text.
    pub pointer: String,
    /// The text.
    pub text: String,
    /// The place of the text.
    pub place: Place,
}

/// The text of a payload that is most similar to missing evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearQuote {
    /// The text.
    pub quote: Quote,
    /// The differences from the evidence, piece by piece. Empty if one of the texts is too long.
    pub pieces: Vec<Piece>,
    /// The fix that quotes the payload.
    pub fix: Fix,
}

/// A piece of two texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Piece {
    /// A piece of both.
    Both(String),
    /// A piece of the evidence only.
    Evidence(String),
    /// A piece of the payload only.
    Payload(String),
}
