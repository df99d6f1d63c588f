//! The whole story of one tool and one requirement of a capability.

use super::story::{Check, constraint_span, in_words};
use super::verdict::ToolVerdict;
use agent_decide::{Comparison, Matching};
use agent_diagnostic::Code;
use agent_model::ToolView;

/// What became of a tool for a requirement, check by check.
#[derive(Debug, Clone)]
pub struct ToolStory<'r> {
    /// The number of the requirement.
    pub requirement: usize,
    /// The tool.
    pub tool: ToolView<'r>,
    /// The answer.
    pub verdict: ToolVerdict<'r>,
    /// Every check that was made, in their order: policy and health are asked only of what passes
    /// all others, and only where there are a policy and a snapshot.
    pub checks: Vec<Check>,
}

/// Tell what became of a tool for a requirement.
pub fn tool_story<'r>(
    matching: &'r Matching,
    requirement: usize,
    tool: ToolView<'r>,
) -> ToolStory<'r> {
    let verdict = match (
        matching.near(requirement, tool),
        matching.selected(requirement),
    ) {
        (Some(near), _) => ToolVerdict::Rejected(near),
        (None, Some(selected)) if selected.number() != tool.number() => {
            ToolVerdict::Eligible(matching.preference(selected, tool))
        }
        (None, _) => ToolVerdict::Selected,
    };
    ToolStory {
        requirement,
        tool,
        checks: checks(matching, requirement, tool),
        verdict,
    }
}

fn checks(matching: &Matching, number: usize, tool: ToolView<'_>) -> Vec<Check> {
    let requirement = matching.requirement(number);
    let in_manifest = |span| Some(matching.manifest()?.text.place(span));
    in_words(matching.checks(number, tool), |check| match check.code {
        Code::MissingCapability => Some(matching.place(number, requirement.verb_span)),
        Code::ConstraintUnmet => {
            let first = requirement.constraints.first()?;
            Some(matching.place(number, first.span))
        }
        Code::ForbiddenAction => {
            let Comparison::Action(_, _, label) = check.compared else {
                return None;
            };
            in_manifest(matching.place_of_label(label?)?)
        }
        Code::HealthVeto => {
            let health = matching.evaluation_context().health.as_ref()?;
            let (_, span) = health.servers.get(tool.server().id())?;
            Some(health.text.place(*span))
        }
        code => in_manifest(constraint_span(matching.constraints(), code)?),
    })
}
