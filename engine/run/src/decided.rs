//! The decision on a plan, made again from the documents of a run.

use super::documents::{Documents, read};
use super::lifecycle::decide;
use super::redact::Redactor;
use agent_api::decide::AuthorizedPlan;
use agent_api::diagnostic::Code;
use agent_api::plan::RunProblem;

/// A decision on a plan.
#[derive(Debug)]
pub struct Decided {
    /// Each reason against the plan: the stable code with its message, and the exact reason.
    pub problems: Vec<(RunProblem, Option<Code>)>,
    /// The documents that were decided against: kind, name and digest.
    pub against: Vec<(&'static str, Option<String>, String)>,
    /// The authorized plan, if it may run.
    pub authorized: Option<AuthorizedPlan>,
}

/// Decides on the plan of a run as its first states do, in the policy's context of that time: JSON.
///
/// # Errors
/// MOVA's core can't be used.
pub fn decide_again(
    documents: Documents,
    policy_context: Option<String>,
) -> Result<Decided, String> {
    let documents = read(documents, &Redactor::default())?;
    let evaluation_context = documents.recorded_context(policy_context);
    let answer = decide(&documents, None, &evaluation_context);
    Ok(Decided {
        problems: answer.problems().collect(),
        against: answer.decided_against(),
        authorized: answer.into_authorized(),
    })
}
