//! Which server and which tool does each requirement get \[0, 4\]?

use agent_decide::{EvaluationContext, Matching, Resolution};
use agent_diagnostic::Diagnostic;
use agent_lower::contradictions;
use agent_model::{Index, Manifest};
use std::sync::Arc;

/// Resolves a manifest, together with the task that `evaluation-context` may hold.
///
/// # Errors
/// The requirements of the task that the manifest forbids.
pub fn resolve(
    manifest: Arc<Manifest>,
    index: Arc<Index>,
    evaluation_context: EvaluationContext,
) -> Result<Resolution, Vec<Diagnostic>> {
    consistent(Some(&manifest), &evaluation_context)?;
    Ok(Resolution::under(manifest, index, evaluation_context))
}

/// Matches the requirements of capabilities alone, under the constraints of a manifest if there is
/// one.
///
/// # Errors
/// The requirements of the task that the manifest forbids.
pub fn match_tools(
    manifest: Option<Arc<Manifest>>,
    index: Arc<Index>,
    evaluation_context: EvaluationContext,
) -> Result<Matching, Vec<Diagnostic>> {
    consistent(manifest.as_deref(), &evaluation_context)?;
    Ok(Matching::new(manifest, index, evaluation_context))
}

fn consistent(
    manifest: Option<&Manifest>,
    evaluation_context: &EvaluationContext,
) -> Result<(), Vec<Diagnostic>> {
    let asked = manifest.zip(evaluation_context.task.as_deref());
    let found = asked.map(|(manifest, task)| contradictions(manifest, task));
    match found {
        Some(found) if !found.is_empty() => Err(found),
        _ => Ok(()),
    }
}
