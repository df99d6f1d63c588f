//! The answer of the worker that imports a document into the index of the page.
//!
//! The question is about the texts: the document, its overlay, the index and the manifest.

use agent_answer::Diagnostic;
use serde::{Deserialize, Serialize};

/// The question what an import would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request;

/// An answer. No part of it contains a secret of the document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The form of the document, and its servers or the number of errors.
    pub text: String,
    /// The index with the servers of the document; `None` if a text has errors.
    pub imported: Option<Imported>,
    /// The problems of the document and its overlay.
    pub problems: Vec<Diagnostic>,
    /// What only the user knows, if that prevents the import.
    pub questions: Vec<Question>,
    /// The overlay in which the questions are; empty if it is the given one.
    pub overlay: String,
}

/// A question about a server: what to write into the overlay in place of a placeholder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The field and its server, as prose.
    pub about: String,
    /// The form of an answer.
    pub hint: String,
    /// The first byte of the placeholder in the overlay, inside of its quotes.
    pub start: u32,
    /// The byte behind it.
    pub end: u32,
}

/// The texts after an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// The text of the index.
    pub index: String,
    /// A first manifest for the index, if the page has none.
    pub draft: Option<String>,
    /// The import in words, after it.
    pub done: String,
}
