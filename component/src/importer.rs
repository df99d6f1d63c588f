//! `agent:engine/importer`

use crate::Component;
use crate::bindings::exports::agent::engine::importer::{Diagnostic, Guest, Imported, Overlay};
use crate::convert::all;
use agent_api::documents::{self, import};

impl Guest for Component {
    fn merge(
        documents: Vec<Vec<u8>>,
        overlay: Option<Overlay>,
        existing: Option<Vec<u8>>,
    ) -> Result<Imported, Vec<Diagnostic>> {
        let overlay = overlay.map(|overlay| documents::Overlay {
            bytes: overlay.text,
            notation: overlay.notation.into(),
        });
        let checked = import(documents, overlay, existing).map_err(all)?;
        let documents::Imported {
            index,
            added,
            changed,
            unchanged,
            claims,
        } = checked.value;
        Ok(Imported {
            index,
            added,
            changed,
            unchanged,
            claims,
            warnings: all(checked.warnings),
        })
    }
}
