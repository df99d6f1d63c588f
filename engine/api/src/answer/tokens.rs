//! Estimated tokens of the selected tools.

use crate::expose;
use agent_answer::Tokens;
use agent_decide::Resolution;
use agent_diagnostic::Diagnostic;
use agent_model::Lock;

/// Estimates the tokens of the tools that are loaded at the start under a lock. Returns `None` if no
/// capability is required.
pub(super) fn tokens(
    resolution: &Resolution,
    lock: &Lock,
) -> Option<Result<Tokens, Vec<Diagnostic>>> {
    let matching = resolution.matching();
    if matching.is_empty() {
        return None;
    }
    let tenant = matching.evaluation_context().tenant.as_ref();
    let budget = tenant.and_then(|tenant| tenant.token_budget);
    let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let exposed = expose(lock, resolution.index());
    Some(exposed.map(|exposed| Tokens {
        tools: number(exposed.tool_tokens()),
        stubs: number(exposed.stub_tokens()),
        budget: budget.map(number),
    }))
}
