//! The check of the capabilities that a tool advertises.

use crate::rejection::Rejection;
use agent_lower::Candidate;
use agent_model::{Capability, Name};

/// Returns the reason why a tool does not offer a capability, or `None` if it does.
///
/// One advertised block must have all constraints. The reason lists what the nearest block lacks:
/// the shortest list, and of equally short ones the smallest.
pub(crate) fn capability_failure<'i>(
    capability: &'i Capability,
    candidate: &Candidate<'i>,
) -> Option<Rejection<'i>> {
    let pair = capability.pair();
    let blocks = candidate.advertised();
    let lacking = blocks
        .iter()
        .filter(|(advertised, _)| *advertised == pair)
        .map(|(_, tags)| missing(capability, tags))
        .min_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    match lacking {
        None => {
            let mut offered: Vec<_> = blocks.iter().map(|(pair, _)| *pair).collect();
            offered.dedup();
            Some(Rejection::MissingCapability { offered })
        }
        Some(missing) if missing.is_empty() => None,
        Some(missing) => Some(Rejection::ConstraintUnmet { missing }),
    }
}

/// Returns the constraints of a capability that are not among the tags of a block.
pub(super) fn missing<'c>(capability: &'c Capability, tags: &[&str]) -> Vec<&'c str> {
    let required = capability.constraints.iter().map(Name::as_str);
    required
        .filter(|tag| tags.binary_search(tag).is_err())
        .collect()
}
