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
