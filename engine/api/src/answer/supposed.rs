//! Answers under other constraints.

use super::convert::{server_name, tool_name};
use agent_answer::{Constraints, ServerName, Supposed, SupposedRequirement};
use agent_decide::Resolution;
use agent_explain::Decision;
use agent_model::{Keyword as _, Residency, Sensitivity};
use agent_text::{Span, Spanned};

/// Answers under other constraints. An unknown value counts as absent.
pub fn supposed(resolution: &Resolution, asked: &Constraints) -> Supposed {
    let supposed = resolution.suppose(agent_model::Constraints {
        forbid: resolution.constraints().forbid.clone(),
        require_signed: asked.require_signed.then(|| unwritten(true)),
        residency: asked
            .residency
            .as_deref()
            .and_then(Residency::parse)
            .map(unwritten),
        sensitivity: asked
            .sensitivity
            .as_deref()
            .and_then(Sensitivity::parse)
            .map(unwritten),
        ignored: 0,
    });
    let requirement = |(before, after): (Decision<'_>, Decision<'_>)| {
        let (now, now_tool, now_eligible) = winner(before);
        let (then, then_tool, then_eligible) = winner(after);
        SupposedRequirement {
            name: before.required().name,
            tools: matches!(before, Decision::Capability(..)),
            now,
            now_tool,
            now_eligible,
            then,
            then_tool,
            then_eligible,
        }
    };
    let decisions = Decision::all(resolution).zip(Decision::all(&supposed));
    Supposed {
        requirements: decisions.map(requirement).collect(),
    }
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
