//! What is marked in the editors: problems are underlined, places have a background.

use crate::state::{State, Told};
use agent_protocol::plans::{Claim, Decision, Evidence, Grounding, Problem, RequestKind};
use agent_protocol::{Diagnostic, DocumentKind, Label, Place, Severity};

/// Everything that is to be underlined.
pub(crate) fn diagnostics(state: &State) -> Vec<Diagnostic> {
    match state.matter() {
        RequestKind::Grounding => state.answers.grounding.as_deref().map(of_grounding),
        _ => state.decision().map(|decision| of_decision(decision)),
    }
    .unwrap_or_default()
}

/// How many of these are errors of an input.
pub(crate) fn errors(found: &[Diagnostic], source: DocumentKind) -> u32 {
    let is_here = |found: &&Diagnostic| {
        let label = found.labels.first();
        found.severity == Severity::Error && label.is_some_and(|it| it.place.source == source)
    };
    found.iter().filter(is_here).count() as u32
}

fn of_decision(decision: &Decision) -> Vec<Diagnostic> {
    let problems = decision.problems.iter().map(|problem| {
        error(
            problem.place,
            problem_code(problem),
            problem.message.clone(),
            problem.help.clone(),
        )
    });
    decision
        .diagnostics
        .iter()
        .cloned()
        .chain(problems)
        .collect()
}

/// The code by which a problem is known best.
pub(crate) fn problem_code(problem: &Problem) -> String {
    let code = problem.reason.as_ref().or(problem.code.as_ref());
    code.cloned().unwrap_or_default()
}

fn of_grounding(grounding: &Grounding) -> Vec<Diagnostic> {
    let missed = grounding
        .claims
        .iter()
        .filter_map(|claim| match &claim.verdict {
            Evidence::Found { .. } => None,
            Evidence::Missed {
                code, text, help, ..
            } => Some(error(
                claim.place,
                code.clone(),
                format!("the evidence {text}"),
                help.clone(),
            )),
        });
    grounding
        .diagnostics
        .iter()
        .cloned()
        .chain(missed)
        .collect()
}

fn error(place: Place, code: String, message: String, help: Vec<String>) -> Diagnostic {
    Diagnostic {
        code,
        severity: Severity::Error,
        message,
        labels: vec![Label {
            place,
            text: String::new(),
        }],
        help,
    }
}

/// The places that have a background, and what each stands for.
pub(crate) fn places(state: &State) -> Vec<(Place, &'static str)> {
    match state.matter() {
        RequestKind::Grounding => {
            let claims = state.answers.grounding.iter().flat_map(|it| &it.claims);
            let chosen = |number: u32| state.told == Told::Claim(number);
            let places = (0..).zip(claims);
            places
                .flat_map(|(number, claim)| of_claim(claim, chosen(number)))
                .collect()
        }
        _ => {
            let told = state.decision().zip(state.told_check());
            told.map(|(decision, told)| of_check(decision, told))
                .unwrap_or_default()
        }
    }
}

fn of_claim(claim: &Claim, chosen: bool) -> Vec<(Place, &'static str)> {
    let tone = |tones: [&'static str; 2]| tones[usize::from(chosen)];
    match &claim.verdict {
        Evidence::Found { first, .. } => vec![(first.place, tone(["yes", "yes chosen"]))],
        Evidence::Missed { parts, near, .. } => {
            let near = near.iter().map(|near| near.quote.place);
            let near = near.map(|place| (place, tone(["near", "near chosen"])));
            let parts = parts.iter();
            let parts = parts.map(|place| (*place, tone(["no", "no chosen"])));
            near.chain(parts).collect()
        }
    }
}

/// Where what is told of a check stands.
pub(crate) fn of_check(
    decision: &Decision,
    (step, check): (u32, u32),
) -> Vec<(Place, &'static str)> {
    let steps = decision.steps.get(step as usize);
    let checks = steps.and_then(|it| it.checks.get(check as usize));
    let facts = checks.into_iter().flat_map(|check| &check.facts);
    let facts = facts.filter_map(|fact| Some((fact.place?, "")));
    let problems = decision.problems.iter();
    let of_it = problems.filter(|it| it.step == Some(step) && it.check == Some(check));
    let problems = of_it.map(|problem| (problem.place, "no"));
    facts.chain(problems).collect()
}
