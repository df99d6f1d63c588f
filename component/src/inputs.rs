//! `agent:engine/inputs`

use crate::Component;
use crate::bindings::exports::agent::engine::inputs::{
    self, Constraints, Diagnostic, Guest, GuestIndex, GuestManifest, Requirement, Server,
};
use crate::convert::{all, page, strings};
use agent_api::diagnostic;
use agent_api::lower::{self, Checked};
use agent_api::model::{self, Name};
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

    fn name(&self) -> String {
        self.value.agent.name.to_string()
    }

    fn version(&self) -> String {
        self.value.agent.version.to_string()
    }

    fn constraints(&self) -> Constraints {
        (&self.value.constraints).into()
    }

    fn requirements(&self) -> Vec<Requirement> {
        self.value
            .requirements
            .iter()
            .map(|requirement| Requirement {
                category: requirement.category.value.to_string(),
                permissions: strings(requirement.permissions.iter().map(|p| p.value.as_str())),
                place: self.value.text.place(requirement.span).into(),
            })
            .collect()
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

    fn len(&self) -> u32 {
        self.value.len() as u32
    }

    fn servers(&self, offset: u32, limit: u32) -> Vec<Server> {
        let ranks = page(self.value.by_name().iter(), offset, limit);
        all(ranks.map(|rank| self.value.server(*rank)))
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        all(self.warnings.iter().cloned())
    }
}
