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
    /// The form of the document in words, such as `the configuration of a client`; `None` if it has none or
    /// several.
    pub form: Option<String>,
    /// The index with the servers of the document; `None` if a text has errors.
    pub imported: Option<Imported>,
    /// The problems of the texts.
    pub problems: Vec<Diagnostic>,
}

/// An index after an import. Servers are named as `id@version`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// The text of the index.
    pub index: String,
    /// The servers that the index did not contain.
    pub added: Vec<String>,
    /// The servers whose entry changes.
    pub changed: Vec<String>,
    /// The servers whose entry stays as it is.
    pub unchanged: Vec<String>,
    /// A first manifest for the index, if the page has none.
    pub draft: Option<Draft>,
}

/// A first manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// The text.
    pub text: String,
    /// The assumptions that the author of the agent should check, a sentence each.
    pub assumptions: Vec<String>,
}
