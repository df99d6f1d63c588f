//! What the definitions of tools cost of a context window.

use agent_api::decide::Resolution;
use agent_api::diagnostic::Diagnostic;
use agent_api::expose;
use agent_api::model::Lock;
use agent_protocol as shown;

/// What is shown from the start under a lock, or the problems for which nothing is. None: no
/// capability is required.
pub(crate) fn tokens(
    resolution: &Resolution,
    lock: &Lock,
) -> Option<Result<shown::Tokens, Vec<Diagnostic>>> {
    let matching = resolution.matching();
    if matching.is_empty() {
        return None;
    }
    let tenant = matching.evaluation_context().tenant.as_ref();
    let budget = tenant.and_then(|tenant| tenant.token_budget);
    let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let exposed = expose(lock, resolution.index());
    Some(exposed.map(|exposed| shown::Tokens {
        tools: number(exposed.tool_tokens()),
        stubs: number(exposed.stub_tokens()),
        budget: budget.map(number),
    }))
}
