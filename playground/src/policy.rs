//! The places of policies that decided.

use agent_answer::{Check, Code, DocumentKind, Explanation, Place, Position, Requirement, Span};

/// Returns whether a check is that of the policy.
pub(crate) fn is_policy(check: &Check) -> bool {
    matches!(check.code, Code::PolicyDenied | Code::PolicyError)
}

/// Returns the lines of the policy that took part in the rejection of a tool, if it is rejected.
pub(crate) fn policy_lines(requirement: &Requirement, explanation: &Explanation) -> Vec<Place> {
    let mut checks = explanation.checks.iter();
    let denied = checks.any(|check| is_policy(check) && !check.passed);
    let Some(decision) = requirement.policy_decision.as_ref().filter(|_| denied) else {
        return Vec::new();
    };
    let mut places = policy_places(&decision.lines);
    places.extend(decision.error_at);
    places
}

/// Returns the places of whole lines of the policy. Adjacent lines are one place.
pub(crate) fn policy_places(lines: &[u32]) -> Vec<Place> {
    let runs = lines.chunk_by(|line, next| line + 1 == *next);
    runs.filter_map(|lines| {
        Some(Place {
            source: DocumentKind::Policy,
            number: 0,
            span: Span::default(),
            start: Position::line_start(*lines.first()?),
            end: Position::line_start(*lines.last()? + 1),
        })
    })
    .collect()
}
