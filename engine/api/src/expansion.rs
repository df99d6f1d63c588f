//! Which tools does the agent see, and which does it get when it asks for more \[4, 6\]?

use agent_decide::{EvaluationContext, Expand, Expanded, Exposed, NotExpanded, Services};
use agent_diagnostic::Diagnostic;
use agent_model::{Index, Lock};

/// Exposes the tools of a lock.
///
/// # Errors
/// The drifts of the index, or the names that collide.
pub fn expose<'a>(lock: &Lock, index: &'a Index) -> Result<Exposed<'a>, Vec<Diagnostic>> {
    agent_decide::exposed(lock, index).map_err(|refused| agent_explain::not_exposed(&refused))
}

/// A refused expansion: its form for the agent, and its diagnostics.
#[derive(Debug)]
pub struct Refusal {
    /// The refusal as JSON that ends with a newline.
    pub json: String,
    /// An error for each reason.
    pub diagnostics: Vec<Diagnostic>,
}

/// Lists the services of a server's stub.
///
/// # Errors
/// Every reason why it has no stub.
pub fn services<'a>(lock: &Lock, index: &'a Index, server: &str) -> Result<Services<'a>, Refusal> {
    agent_decide::services(lock, index, server).map_err(|it| refusal(&it))
}

/// Expands tools that are locked on demand.
///
/// # Errors
/// Every reason why not.
pub fn expand<'a>(
    lock: &Lock,
    index: &'a Index,
    evaluation_context: &EvaluationContext,
    asked: Expand<'_>,
) -> Result<Expanded<'a>, Refusal> {
    agent_decide::expand(lock, index, evaluation_context, asked).map_err(|it| refusal(&it))
}

/// As [`expand`], under a lock that is known not to differ from the index.
///
/// # Errors
/// Every reason why not.
pub fn expand_verified<'a>(
    lock: &Lock,
    index: &'a Index,
    evaluation_context: &EvaluationContext,
    asked: Expand<'_>,
) -> Result<Expanded<'a>, Refusal> {
    agent_decide::expand_verified(lock, index, evaluation_context, asked).map_err(|it| refusal(&it))
}

fn refusal(refused: &NotExpanded) -> Refusal {
    Refusal {
        json: agent_render::not_expanded_json(refused),
        diagnostics: agent_explain::not_expanded(refused),
    }
}
