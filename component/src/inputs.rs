//! `agent:engine/inputs`

use crate::Component;
use crate::bindings::exports::agent::engine::inputs::{
    self, Diagnostic, Guest, GuestIndex, GuestManifest,
};
use crate::convert::all;
use agent_api::diagnostic;
use agent_api::lower::{self, Checked};
use agent_api::model;
use std::sync::Arc;

/// A manifest and its warnings.
pub(crate) struct Manifest {
    pub(crate) value: Arc<model::Manifest>,
    warnings: Vec<diagnostic::Diagnostic>,
}

/// An index and its warnings.
pub(crate) struct Index {
    pub(crate) value: Arc<model::Index>,
    warnings: Vec<diagnostic::Diagnostic>,
}

impl Guest for Component {
    type Manifest = Manifest;
    type Index = Index;
}

impl GuestManifest for Manifest {
    fn parse(text: Vec<u8>) -> Result<inputs::Manifest, Vec<Diagnostic>> {
        let Checked { value, warnings } = lower::manifest(text).map_err(all)?;
        Ok(inputs::Manifest::new(Self {
            value: Arc::new(value),
            warnings,
        }))
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        all(self.warnings.iter().cloned())
    }
}

impl GuestIndex for Index {
    fn load(json: Vec<u8>) -> Result<inputs::Index, Vec<Diagnostic>> {
        let Checked { value, warnings } = lower::index(json).map_err(all)?;
        Ok(inputs::Index::new(Self {
            value: Arc::new(value),
            warnings,
        }))
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        all(self.warnings.iter().cloned())
    }
}
