//! `agent:engine/resolver`

use crate::Component;
use crate::bindings::exports::agent::engine::resolver::{
    Diagnostic, Guest, GuestResolution, IndexBorrow, ManifestBorrow, Outcome,
};
use crate::convert::{all, strings};
use crate::inputs::{Index, Manifest};
use agent_api::model::Name;
use agent_api::{decide, explain, render};
use std::sync::Arc;

/// A resolution.
pub(crate) struct Resolution(pub(crate) decide::Resolution);

impl Guest for Component {
    type Resolution = Resolution;
}

impl GuestResolution for Resolution {
    fn new(manifest: ManifestBorrow<'_>, index: IndexBorrow<'_>) -> Self {
        Self(decide::Resolution::new(
            Arc::clone(&manifest.get::<Manifest>().value),
            Arc::clone(&index.get::<Index>().value),
        ))
    }

    fn satisfied(&self) -> bool {
        self.0.satisfied()
    }

    fn outcomes(&self) -> Vec<Outcome> {
        let manifest = self.0.manifest();
        manifest
            .requirements
            .iter()
            .enumerate()
            .map(|(number, requirement)| Outcome {
                category: requirement.category.value.to_string(),
                permissions: strings(requirement.permissions.iter().map(|p| p.value.as_str())),
                place: manifest.text.place(requirement.span).into(),
                selected: self.0.selection(number).as_ref().map(Into::into),
            })
            .collect()
    }

    fn diagnostics(&self) -> Vec<Diagnostic> {
        all(explain::resolution_diagnostics(&self.0))
    }

    fn lock(&self) -> Option<String> {
        self.0.lock().as_ref().map(render::lock)
    }

    fn explanation(&self) -> Result<String, Diagnostic> {
        render::resolution(&self.0).map_err(|problem| (*problem).into())
    }
}
