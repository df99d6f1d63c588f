//! Which server and which tool does each requirement get \[0, 4\]?

use crate::decide::{Circumstances, Matching, Resolution};
use agent_diagnostic::Diagnostic;
use agent_lower::contradictions;
use agent_model::{Index, Manifest};
use std::sync::Arc;

/// Resolves a manifest, together with the task that `circumstances` may hold.
///
/// # Errors
/// The requirements of the task that the manifest forbids.
pub fn resolve(
    manifest: Arc<Manifest>,
    index: Arc<Index>,
    circumstances: Circumstances,
) -> Result<Resolution, Vec<Diagnostic>> {
    consistent(Some(&manifest), &circumstances)?;
    Ok(Resolution::under(manifest, index, circumstances))
}

/// Matches the requirements of capabilities alone, under the constraints of a manifest if there is
/// one.
///
/// # Errors
/// The requirements of the task that the manifest forbids.
pub fn match_tools(
    manifest: Option<Arc<Manifest>>,
    index: Arc<Index>,
    circumstances: Circumstances,
) -> Result<Matching, Vec<Diagnostic>> {
    consistent(manifest.as_deref(), &circumstances)?;
    Ok(Matching::new(manifest, index, circumstances))
}

fn consistent(
    manifest: Option<&Manifest>,
    circumstances: &Circumstances,
) -> Result<(), Vec<Diagnostic>> {
    let asked = manifest.zip(circumstances.task.as_deref());
    let found = asked.map(|(manifest, task)| contradictions(manifest, task));
    match found {
        Some(found) if !found.is_empty() => Err(found),
        _ => Ok(()),
    }
}
