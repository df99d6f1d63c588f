//! The whole story of one tool and one requirement of a capability.

use super::story::{Check, constraint_checks};
use super::verdict::ToolVerdict;
use agent_decide::{Matching, Rejection};
use agent_diagnostic::Code;
use agent_model::{Name, ToolView};
use agent_text::Span;

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
    let capability = &requirement.capability;
    let failed = matching.failures(number, tool);
    let reasons = matching.reasons(number, tool);
    let check = |code: Code, required: Option<String>, offered: String, span: Option<Span>| Check {
        code,
        required,
        offered,
        passed: !failed.contains(code),
        asked_at: span.map(|span| matching.place(number, span)),
    };
    let pair = capability.pair();
    let required: Vec<_> = capability.constraints.iter().map(Name::as_str).collect();
    let promised: Vec<_> = tool
        .advertised()
        .filter(|block| block.pair() == pair)
        .map(|block| block.tags().collect::<Vec<_>>().join(", "))
        .collect();
    let mut checks = vec![check(
        Code::MissingCapability,
        Some(pair),
        tool.pairs().join(", "),
        Some(requirement.verb_span),
    )];
    if !failed.contains(Code::MissingCapability) {
        checks.push(check(
            Code::ConstraintUnmet,
            (!required.is_empty()).then(|| required.join(", ")),
            promised.join("; or "),
            requirement.constraints.first().map(|tag| tag.span),
        ));
    }
    checks.extend(constraint_checks(
        matching.constraints(),
        matching.manifest(),
        failed,
        tool.server().gate(),
    ));
    let label = reasons.iter().find_map(|reason| match reason {
        Rejection::ForbiddenAction { label } => Some(*label),
        _ => None,
    });
    let forbid = &matching.constraints().forbid;
    let span = label.and_then(|label| {
        let found = forbid.iter().find(|known| known.value.as_str() == label)?;
        Some(found.span)
    });
    checks.push(Check {
        asked_at: span.and_then(|span| Some(matching.manifest()?.text.place(span))),
        ..check(
            Code::ForbiddenAction,
            (!forbid.is_empty()).then(|| "not forbidden".to_owned()),
            tool.name().to_owned(),
            None,
        )
    });
    let passed_up_to = |code| {
        let later = [Code::PolicyDenied, Code::PolicyError, Code::HealthVeto];
        failed
            .codes()
            .all(|failed| later.contains(&failed) || failed == code)
    };
    if !passed_up_to(Code::PolicyDenied) {
        return checks;
    }
    if matching.ruling(number).is_some() {
        let error = failed.contains(Code::PolicyError);
        let code = if error {
            Code::PolicyError
        } else {
            Code::PolicyDenied
        };
        let offered = match reasons.first() {
            Some(Rejection::PolicyError { reason }) => reason.name().to_owned(),
            Some(Rejection::PolicyDenied { reason }) => {
                reason.map_or_else(|| "denied".to_owned(), |reason| format!("denied: {reason}"))
            }
            _ => "allowed".to_owned(),
        };
        checks.push(check(code, Some("allowed".to_owned()), offered, None));
        if failed.contains(code) {
            return checks;
        }
    }
    if let Some(health) = &matching.circumstances().health {
        let id = tool.server().id();
        let status = health
            .status(id)
            .map_or("unknown", |status| status.as_str());
        checks.push(Check {
            asked_at: health
                .servers
                .get(id)
                .map(|(_, span)| health.text.place(*span)),
            ..check(
                Code::HealthVeto,
                Some("HEALTHY or PROBATION".to_owned()),
                status.to_owned(),
                None,
            )
        });
    }
    checks
}
