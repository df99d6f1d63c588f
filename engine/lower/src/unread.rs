//! Replaces the history of a tenant in modules that must be small and decide no calls: nothing of it is read or checked.

use agent_diagnostic::Problems;
use agent_model::{HistoryTerms, Tenant};
use agent_syntax::Node;

/// Returns whether a tenant has a history that this build does not check.
pub fn misses_history(tenant: &Tenant) -> bool {
    tenant.history.is_some()
}

/// Reads nothing.
pub(super) fn terms(_: &Node<'_>, _: &str, _: &mut Problems<'_>) -> Option<HistoryTerms> {
    Some(HistoryTerms::default())
}
