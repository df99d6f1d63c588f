//! Unsatisfied requirements as diagnostics.

use super::decision::{Decision, RejectedCandidate, Required};
use super::wording::{fix, policy_failure, quoted, reason};
use agent_decide::{Matching, Rejection, Resolution};
use agent_diagnostic::{Code, Diagnostic, Label};
use agent_model::Name;
use agent_text::Place;

/// Returns an error for each requirement without a server or a tool: its place, the constraints
/// that the nearest candidate fails, and the fixes that make it eligible.
pub fn unsatisfied(resolution: &Resolution) -> Vec<Diagnostic> {
    Decision::all(resolution).filter_map(diagnostic).collect()
}

/// Returns an error for each capability without a tool, as [`unsatisfied`] does.
pub fn unmatched(matching: &Matching) -> Vec<Diagnostic> {
    Decision::of_capabilities(matching)
        .filter_map(diagnostic)
        .collect()
}

fn diagnostic(decision: Decision<'_>) -> Option<Diagnostic> {
    if decision.selected().is_some() {
        return None;
    }
    let noun = decision.noun();
    let label = format!("no {noun} is eligible");
    let required = decision.required();
    let message = format!("{label} for {}", in_words(decision, &required));
    let mut diagnostic = Diagnostic::new(Code::Unsatisfied, message).label(required.place, label);
    if let Some(error) = decision.policy_error() {
        diagnostic.notes.push(policy_failure(error));
        let label = error
            .place
            .map(|it| Label::new(it, "the policy fails here"));
        diagnostic.labels.extend(label);
        return Some(diagnostic);
    }
    let Some(near) = decision.nearest(1).pop() else {
        diagnostic.notes.push(format!("the index has no {noun}s"));
        return Some(diagnostic);
    };
    let (places, label) = failed(decision, &near);
    let labels = places.into_iter().map(|place| Label::new(place, label));
    diagnostic.labels.extend(labels);
    let server = near.candidate.server();
    let mut name = format!("`{} {}`", server.id(), server.version());
    if let Some(tool) = near.candidate.tool() {
        name.push_str(&format!(" `{}`", tool.name()));
    }
    if near.fixes.is_empty() {
        let reasons: Vec<_> = near.reasons.as_slice().iter().map(reason).collect();
        let reasons = reasons.join(" and ");
        let note = format!("nearest is {name}, which {reasons}");
        diagnostic.notes.push(note);
    }
    for (counterfactual, lead) in near.fixes.iter().zip(["nearest is", "or, with"]) {
        diagnostic = diagnostic.help(format!("{lead} {name}: {}", fix(counterfactual)));
    }
    Some(diagnostic)
}

fn in_words(decision: Decision<'_>, required: &Required<'_>) -> String {
    match decision {
        Decision::Category(..) if required.details.is_empty() => format!("`{}`", required.name),
        Decision::Category(..) => format!("`{}` with {}", required.name, quoted(&required.details)),
        Decision::Capability(matching, number) => {
            format!("`{}`", matching.requirement(number).capability)
        }
    }
}

/// Returns the places of the constraints that the nearest candidate fails, and their label.
fn failed(decision: Decision<'_>, near: &RejectedCandidate<'_>) -> (Vec<Place>, &'static str) {
    let reasons = near.reasons.as_slice().iter();
    match decision {
        Decision::Category(..) => {
            let places = reasons.filter_map(|it| decision.constraint_place(it.code()));
            (places.collect(), "the nearest server fails this")
        }
        Decision::Capability(matching, number) => {
            let missing = reasons.filter_map(|reason| match reason {
                Rejection::ConstraintUnmet { missing } => Some(missing),
                _ => None,
            });
            let required = matching.requirement(number).constraints.iter();
            let places = missing.flat_map(|missing| {
                let unmet = required.clone();
                let unmet = unmet.filter(|tag| missing.contains(&tag.value.as_str()));
                unmet.map(|tag| matching.place(number, tag.span))
            });
            let label = "the nearest tool does not promise this";
            (places.collect(), label)
        }
    }
}
