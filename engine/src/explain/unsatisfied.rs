//! Requirements without a server, as diagnostics.

use super::wording::{fix, quoted};
use crate::decide::{Outcome, Rejection, Resolution};
use crate::diagnostic::{Code, Diagnostic, Label};
use crate::model::Name;
use crate::text::Span;

/// One error for each requirement without a server: where it stands, which constraints the
/// nearest server fails, and what would make it eligible.
pub fn unsatisfied(resolution: &Resolution) -> Vec<Diagnostic> {
    resolution
        .outcomes()
        .iter()
        .enumerate()
        .filter(|(_, outcome)| **outcome == Outcome::Unsatisfied)
        .map(|(requirement, _)| diagnostic(resolution, requirement))
        .collect()
}

fn diagnostic(resolution: &Resolution, number: usize) -> Diagnostic {
    let manifest = resolution.manifest();
    let requirement = &manifest.requirements[number];
    let category = requirement.category.value.as_str();
    let label = |span: Span, text: &str| Label {
        place: manifest.text.place(span),
        text: text.to_owned(),
    };
    let mut labels = vec![label(requirement.category.span, "no server is eligible")];
    let mut help = Vec::new();
    if let Some(near) = resolution.nearest(number, 1).first() {
        let constraints = resolution.constraints();
        for reason in near.reasons.as_slice() {
            let span = match reason {
                Rejection::MissingCategory { .. } | Rejection::MissingScope { .. } => None,
                Rejection::ResidencyMismatch { .. } => constraints.residency.map(|c| c.span),
                Rejection::SensitivityExceeded { .. } => constraints.sensitivity.map(|c| c.span),
                Rejection::UnsignedNotAllowed { .. } => constraints.require_signed.map(|c| c.span),
            };
            labels.extend(span.map(|span| label(span, "the nearest server fails this")));
        }
        let (id, version) = (near.server.id(), near.server.version());
        for (counterfactual, lead) in near.fixes.iter().zip(["nearest is", "or, with"]) {
            let fix = fix(counterfactual);
            help.push(format!("{lead} `{id} {version}`: {fix}"));
        }
    } else {
        help.push("the index has no servers".to_owned());
    }
    let with = if requirement.permissions.is_empty() {
        String::new()
    } else {
        let scopes = requirement.permissions.iter().map(|p| p.value.as_str());
        format!(" with {}", quoted(scopes))
    };
    Diagnostic {
        code: Code::Unsatisfied,
        message: format!("no server is eligible for `{category}`{with}"),
        labels,
        help,
    }
}
