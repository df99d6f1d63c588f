//! `agent:engine/fixes`

use crate::Component;
use crate::bindings::exports::agent::engine::fixes::{Diagnostic, Document, Guest, MendedDocument};
use crate::convert::all;
use agent_api::{mend, together};

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
        let mended = mend(&texts, &all(diagnostics), unsafe_too).into_iter();
        mended
            .map(|it| MendedDocument {
                kind: it.kind.into(),
                text: it.text,
                fixes: it.fixes as u32,
            })
            .collect()
    }

    fn together(documents: Vec<Document>, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let texts: Vec<_> = documents
            .iter()
            .filter_map(|it| Some((it.kind.into(), str::from_utf8(&it.text).ok()?)))
            .collect();
        all(together(&texts, all(diagnostics)))
    }
}
