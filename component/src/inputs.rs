//! `agent:engine/inputs`

use crate::Component;
use crate::bindings::exports::agent::engine::inputs::{
    self, Diagnostic, Guest, GuestIndex, GuestManifest,
};
use crate::convert::all;
use agent_api::diagnostic;
use agent_api::lower::{self, Checked};
use agent_api::model;
use agent_api::unusable_tools;
use std::sync::Arc;

/// A validated document and its warnings.
pub(crate) struct Document<T> {
    pub(crate) value: Arc<T>,
    pub(crate) warnings: Vec<diagnostic::Diagnostic>,
}

impl<T> From<Checked<T>> for Document<T> {
    fn from(checked: Checked<T>) -> Self {
        Self {
            value: Arc::new(checked.value),
            warnings: checked.warnings,
        }
    }
}

pub(crate) type Manifest = Document<model::Manifest>;
pub(crate) type Index = Document<model::Index>;

impl Guest for Component {
    type Manifest = Manifest;
    type Index = Index;
}

impl GuestManifest for Manifest {
    fn parse(text: Vec<u8>) -> Result<inputs::Manifest, Vec<Diagnostic>> {
        let checked = lower::manifest(text).map_err(all)?;
        Ok(inputs::Manifest::new(Self::from(checked)))
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        all(self.warnings.iter().cloned())
    }
}

impl GuestIndex for Index {
    fn load(json: Vec<u8>) -> Result<inputs::Index, Vec<Diagnostic>> {
        let checked = lower::index(json).map_err(all)?;
        Ok(inputs::Index::new(Self::from(checked)))
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        all(self.warnings.iter().cloned())
    }

    fn unusable(&self) -> Vec<Diagnostic> {
        all(unusable_tools(&self.value))
    }
}
