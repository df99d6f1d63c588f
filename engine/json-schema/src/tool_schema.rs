//! The schema of a tool: a text for one check, or a schema for many.

use super::arena::Schema;
use super::budget::Budget;
use super::json::{compiled, looked};
use super::kept::KeptSchema;
use super::schema_error::Refused;

/// The schema of a tool.
#[derive(Debug, Clone, Copy)]
pub enum ToolSchema<'s> {
    /// A JSON text, which is compiled for one check.
    Text(&'s str),
    /// A schema for many checks.
    Kept(&'s KeptSchema),
}

impl ToolSchema<'_> {
    /// Calls a function with the schema, as [`with_schema`](super::with_schema) does.
    pub fn with<R>(
        self,
        budget: &mut Budget,
        look: impl FnOnce(Result<&Schema<'_>, Refused>, &mut Budget) -> R,
    ) -> Option<R> {
        looked(look, |look| match self {
            Self::Text(text) => compiled(text, budget, look),
            Self::Kept(kept) => kept.with(budget, look),
        })
    }
}
