//! Kept schemas of a build without the feature `kept-schemas`: texts, which are compiled for each check.

use super::budget::Budget;
use super::json::{Look, compiled};
use std::sync::Arc;

/// The room for compiled schemas, of which this build has none.
#[derive(Debug, Clone, Default)]
pub struct SchemaRoom;

/// The text of a schema.
#[derive(Debug, Clone)]
pub struct KeptSchema(Arc<str>);

impl KeptSchema {
    /// Returns a schema that is compiled for each check.
    pub fn new(text: &str, _room: &SchemaRoom) -> Self {
        Self(Arc::from(text))
    }

    /// Returns the JSON text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Calls a function with the schema.
    pub(super) fn with(&self, budget: &mut Budget, look: &mut Look<'_>) {
        compiled(&self.0, budget, look);
    }
}
