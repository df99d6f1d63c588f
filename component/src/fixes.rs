//! `agent:engine/fixes`

use crate::Component;
use crate::bindings::exports::agent::engine::fixes::{
    Diagnostic, Document, Guest, MendedDocument, Redaction,
};
use crate::convert::all;
use agent_api::text::DocumentKind;
use agent_api::{Mended, mend, redact, together};

impl Guest for Component {
    fn mend(
        documents: Vec<Document>,
        diagnostics: Vec<Diagnostic>,
        unsafe_too: bool,
    ) -> Vec<MendedDocument> {
        // What is not UTF-8 was read as an empty text.
        let texts: Vec<_> = documents
            .iter()
            .map(|it| (it.kind.into(), str::from_utf8(&it.text).unwrap_or_default()))
            .collect();
        all(mend(&texts, &all(diagnostics), unsafe_too))
    }

    fn together(documents: Vec<Document>, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        all(together(&readable(&documents), all(diagnostics)))
    }

    fn redact(documents: Vec<Document>) -> Redaction {
        let redaction = redact(&readable(&documents));
        Redaction {
            secrets: all(redaction.secrets),
            documents: all(redaction.documents),
        }
    }
}

/// Returns the documents that are UTF-8.
fn readable(documents: &[Document]) -> Vec<(DocumentKind, &str)> {
    let readable = documents
        .iter()
        .filter_map(|it| Some((it.kind.into(), str::from_utf8(&it.text).ok()?)));
    readable.collect()
}

impl From<Mended> for MendedDocument {
    fn from(mended: Mended) -> Self {
        Self {
            kind: mended.kind.into(),
            text: mended.text,
            fixes: mended.fixes as u32,
        }
    }
}
