//! Whether what a tool advertises will do.

use crate::Rejection;
use agent_lower::Candidate;
use agent_model::{Capability, Name};

/// Why what a tool advertises won't do for a capability. None if it will.
///
/// One block must promise all constraints; of what the blocks lack, the shortest list is told,
/// and of equally short ones the smallest.
pub(crate) fn capability_failure<'i>(
    capability: &'i Capability,
    candidate: &Candidate<'i>,
) -> Option<Rejection<'i>> {
    let pair = capability.pair();
    let lacking = candidate
        .advertised
        .iter()
        .filter(|(advertised, _)| *advertised == pair)
        .map(|(_, tags)| {
            let required = capability.constraints.iter().map(Name::as_str);
            required
                .filter(|tag| tags.binary_search(tag).is_err())
                .collect::<Vec<_>>()
        })
        .min_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    match lacking {
        None => {
            let mut offered: Vec<_> = candidate.advertised.iter().map(|(pair, _)| *pair).collect();
            offered.dedup();
            Some(Rejection::MissingCapability { offered })
        }
        Some(missing) if missing.is_empty() => None,
        Some(missing) => Some(Rejection::ConstraintUnmet { missing }),
    }
}
