//! Answers under other constraints.

use super::convert::{near_miss, server_name, tool_name};
use agent_answer::{Constraints, Fix, ServerName, Supposed, SupposedRequirement};
use agent_decide::Resolution;
use agent_explain::Decision;
use agent_model::{Keyword as _, Residency, Sensitivity};
use agent_text::{Span, Spanned};

/// Answers under other constraints. An unknown value counts as absent.
pub fn supposed(resolution: &Resolution, asked: &Constraints) -> Supposed {
    let residency = asked.residency.as_deref().and_then(Residency::parse);
    let sensitivity = asked.sensitivity.as_deref().and_then(Sensitivity::parse);
    let supposed = suppose(resolution, residency, sensitivity, asked.require_signed);
    let requirement = |(before, after): (Decision<'_>, Decision<'_>)| {
        let (now, now_tool, now_eligible) = winner(before);
        let (then, then_tool, then_eligible) = winner(after);
        let nearest = match then {
            Some(_) => None,
            None => after.nearest(1).pop(),
        };
        SupposedRequirement {
            name: before.required().name,
            tools: matches!(before, Decision::Capability(..)),
            now,
            now_tool,
            now_eligible,
            then,
            then_tool,
            then_eligible,
            nearest: nearest.map(|near| near_miss(after, &near, false)),
        }
    };
    let decisions = Decision::all(resolution).zip(Decision::all(&supposed));
    Supposed {
        requirements: decisions.map(requirement).collect(),
        adopt: adopt(resolution, &supposed),
    }
}

/// Returns the fix that gives the manifest the supposed constraints. A page loads the larger module for it.
#[cfg(feature = "repair")]
fn adopt(present: &Resolution, supposed: &Resolution) -> Option<Fix> {
    agent_explain::adopt(present, supposed)
}

#[cfg(not(feature = "repair"))]
fn adopt(_: &Resolution, _: &Resolution) -> Option<Fix> {
    None
}

/// Returns the number of requirements with a server or a tool, for each sensitivity under each residency;
/// of both, no constraint is first.
pub fn satisfied_counts(resolution: &Resolution, require_signed: bool) -> Vec<u32> {
    let mut counts = Vec::new();
    for residency in with_none(Residency::ALL) {
        for sensitivity in with_none(Sensitivity::ALL) {
            let supposed = suppose(resolution, residency, sensitivity, require_signed);
            let satisfied = Decision::all(&supposed).filter(|it| it.selected().is_some());
            counts.push(satisfied.count() as u32);
        }
    }
    counts
}

fn with_none<T: Copy>(all: &[T]) -> impl Iterator<Item = Option<T>> {
    [None].into_iter().chain(all.iter().copied().map(Some))
}

fn suppose(
    resolution: &Resolution,
    residency: Option<Residency>,
    sensitivity: Option<Sensitivity>,
    require_signed: bool,
) -> Resolution {
    resolution.suppose(agent_model::Constraints {
        forbid: resolution.constraints().forbid.clone(),
        require_signed: require_signed.then(|| unwritten(true)),
        residency: residency.map(unwritten),
        sensitivity: sensitivity.map(unwritten),
    })
}

/// Wraps a value that no document contains.
fn unwritten<T>(value: T) -> Spanned<T> {
    Spanned {
        value,
        span: Span::default(),
    }
}

/// Returns the selected server, the selected tool, and the number of eligible candidates.
fn winner(decision: Decision<'_>) -> (Option<ServerName>, Option<String>, u32) {
    let selected = decision.selected();
    let eligible = decision.chosen().len() + decision.eligible().count();
    let server = selected.map(|it| server_name(it.server()));
    (server, selected.and_then(tool_name), eligible as u32)
}
