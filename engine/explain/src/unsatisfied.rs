//! Requirements without a server, as diagnostics.

use super::wording::{fix, policy_error, quoted, reason};
use agent_decide::{Matching, Outcome, Rejection, Resolution};
use agent_diagnostic::{Code, Diagnostic, Label};
use agent_model::Name;

/// One error for each requirement without a server: where it stands, which constraints the
/// nearest server fails, and what would make it eligible.
pub fn unsatisfied(resolution: &Resolution) -> Vec<Diagnostic> {
    resolution
        .outcomes()
        .iter()
        .enumerate()
        .filter(|(_, outcome)| **outcome == Outcome::Unsatisfied)
        .map(|(requirement, _)| diagnostic(resolution, requirement))
        .chain(unmatched(resolution.matching()))
        .collect()
}

/// One error for each requirement of a capability without a tool, as [`unsatisfied`].
pub fn unmatched(matching: &Matching) -> Vec<Diagnostic> {
    (0..matching.len())
        .filter(|number| matching.selected(*number).is_none())
        .map(|number| unmatched_one(matching, number))
        .collect()
}

fn unmatched_one(matching: &Matching, number: usize) -> Diagnostic {
    let requirement = matching.requirement(number);
    let capability = &requirement.capability;
    let place = matching.place(number, requirement.verb_span);
    let message = format!("no tool is eligible for `{capability}`");
    let mut diagnostic =
        Diagnostic::new(Code::Unsatisfied, message).label(place, "no tool is eligible");
    if let Some(error) = matching
        .policy_decision(number)
        .and_then(|policy_decision| policy_decision.answer.as_ref().err())
    {
        diagnostic.notes.push(format!(
            "the policy gave no answer: {}: {}",
            policy_error(error.kind),
            error.detail
        ));
        let place = error.place;
        let label = place.map(|place| Label::new(place, "the policy fails here"));
        diagnostic.labels.extend(label);
    } else if let Some(near) = matching.nearest(number, 1).first() {
        for reason in near.reasons.as_slice() {
            let Rejection::ConstraintUnmet { missing } = reason else {
                continue;
            };
            let unmet = requirement.constraints.iter();
            let unmet = unmet.filter(|tag| missing.contains(&tag.value.as_str()));
            diagnostic.labels.extend(unmet.map(|tag| {
                let place = matching.place(number, tag.span);
                Label::new(place, "the nearest tool does not promise this")
            }));
        }
        let server = near.tool.server();
        let (id, version, tool) = (server.id(), server.version(), near.tool.name());
        if near.fixes.is_empty() {
            let reasons: Vec<_> = near.reasons.as_slice().iter().map(reason).collect();
            let reasons = reasons.join(" and ");
            let note = format!("nearest is `{id} {version}` `{tool}`, which {reasons}");
            diagnostic.notes.push(note);
        }
        for (counterfactual, lead) in near.fixes.iter().zip(["nearest is", "or, with"]) {
            let fix = fix(counterfactual);
            diagnostic = diagnostic.help(format!("{lead} `{id} {version}` `{tool}`: {fix}"));
        }
    } else {
        diagnostic.notes.push("the index has no tools".to_owned());
    }
    diagnostic
}

fn diagnostic(resolution: &Resolution, number: usize) -> Diagnostic {
    let manifest = resolution.manifest();
    let requirement = &manifest.requirements[number];
    let category = requirement.category.value.as_str();
    let with = if requirement.permissions.is_empty() {
        String::new()
    } else {
        let scopes = requirement.permissions.iter().map(|p| p.value.as_str());
        format!(" with {}", quoted(scopes))
    };
    let message = format!("no server is eligible for `{category}`{with}");
    let place = manifest.text.place(requirement.category.span);
    let mut diagnostic =
        Diagnostic::new(Code::Unsatisfied, message).label(place, "no server is eligible");
    if let Some(near) = resolution.nearest(number, 1).first() {
        let constraints = resolution.constraints();
        for reason in near.reasons.as_slice() {
            let span = match reason {
                Rejection::ResidencyMismatch { .. } => constraints.residency.map(|c| c.span),
                Rejection::SensitivityExceeded { .. } => constraints.sensitivity.map(|c| c.span),
                Rejection::UnsignedNotAllowed { .. } => constraints.require_signed.map(|c| c.span),
                _ => None,
            };
            diagnostic.labels.extend(span.map(|span| {
                Label::new(manifest.text.place(span), "the nearest server fails this")
            }));
        }
        let (id, version) = (near.server.id(), near.server.version());
        for (counterfactual, lead) in near.fixes.iter().zip(["nearest is", "or, with"]) {
            let fix = fix(counterfactual);
            diagnostic = diagnostic.help(format!("{lead} `{id} {version}`: {fix}"));
        }
    } else {
        diagnostic.notes.push("the index has no servers".to_owned());
    }
    diagnostic
}
