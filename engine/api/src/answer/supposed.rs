//! Answers under other constraints.

use super::convert::server_name;
use super::requirement::{Asked, requirements};
use agent_answer::{Constraints, ServerName, Supposed, SupposedRequirement};
use agent_decide::Resolution;
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
    });
    let requirement = |asked| {
        let (now, now_tool, now_eligible) = winner(resolution, asked);
        let (then, then_tool, then_eligible) = winner(&supposed, asked);
        let (name, tools) = match asked {
            Asked::Category(number) => {
                let category = &resolution.manifest().requirements[number].category;
                (category.value.to_string(), false)
            }
            Asked::Capability(number) => {
                let requirement = resolution.matching().requirement(number);
                (requirement.capability.pair(), true)
            }
        };
        SupposedRequirement {
            name,
            tools,
            now,
            now_tool,
            now_eligible,
            then,
            then_tool,
            then_eligible,
        }
    };
    Supposed {
        requirements: requirements(resolution, false).map(requirement).collect(),
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
fn winner(resolution: &Resolution, asked: Asked) -> (Option<ServerName>, Option<String>, u32) {
    match asked {
        Asked::Category(number) => (
            resolution.selected(number).map(server_name),
            None,
            resolution.funnel(number).signature,
        ),
        Asked::Capability(number) => {
            let matching = resolution.matching();
            let tool = matching.selected(number);
            (
                tool.map(|tool| server_name(tool.server())),
                tool.map(|tool| tool.name().to_owned()),
                matching.eligible(number).count() as u32,
            )
        }
    }
}
