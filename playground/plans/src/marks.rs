//! The marks in the editors: problems are underlined, places have a background.

use crate::state::{Expanded, Plans};
use agent_protocol::plans::{Claim, Decision, Evidence, Problem, Response};
use agent_protocol::{Diagnostic, Label, Place, Severity};
use agent_ui::content::Mark;

/// Returns everything to underline.
pub(crate) fn problems(response: &Response) -> Vec<Diagnostic> {
    match response {
        Response::Plan(decision) | Response::Call(decision) => {
            let problems = decision.problems.iter().map(of_problem);
            decision
                .diagnostics
                .iter()
                .cloned()
                .chain(problems)
                .collect()
        }
        Response::Grounding(grounding) => {
            let missed = grounding.claims.iter().filter_map(missing_evidence);
            grounding
                .diagnostics
                .iter()
                .cloned()
                .chain(missed)
                .collect()
        }
    }
}

fn of_problem(problem: &Problem) -> Diagnostic {
    let code = problem.reason.as_ref().or(problem.code.as_ref());
    let code = code.cloned().unwrap_or_default();
    error(problem.place, code, problem.message.clone(), &problem.help)
}

fn missing_evidence(claim: &Claim) -> Option<Diagnostic> {
    let Evidence::Missed {
        code, text, help, ..
    } = &claim.verdict
    else {
        return None;
    };
    let message = format!("the evidence {text}");
    Some(error(claim.place, code.clone(), message, help))
}

fn error(place: Place, code: String, message: String, help: &[String]) -> Diagnostic {
    let text = String::new();
    Diagnostic {
        code,
        severity: Severity::Error,
        message,
        labels: vec![Label { place, text }],
        help: help.to_vec(),
    }
}

/// Returns the places that have a background.
pub(crate) fn places(plans: &Plans) -> Vec<Mark> {
    if let Some(grounding) = plans.grounding() {
        let claims = (0..).zip(&grounding.claims);
        let of_claim = |(number, claim)| of_claim(claim, plans.expanded == Expanded::Claim(number));
        return claims.flat_map(of_claim).collect();
    }
    let expanded = plans.decision().zip(plans.expanded_check());
    expanded.map_or_else(Vec::new, |(decision, at)| of_check(decision, at))
}

fn of_claim(claim: &Claim, chosen: bool) -> Vec<Mark> {
    let class = |classes: [&'static str; 2]| classes[usize::from(chosen)];
    match &claim.verdict {
        Evidence::Found { first, .. } => vec![(first.place, class(["yes", "yes chosen"]))],
        Evidence::Missed { parts, near, .. } => {
            let near = near.iter().map(|near| near.quote.place);
            let near = near.map(|place| (place, class(["near", "near chosen"])));
            let parts = parts.iter();
            near.chain(parts.map(|place| (*place, class(["no", "no chosen"]))))
                .collect()
        }
    }
}

/// Returns the places of a check: those of its values, and of its problems.
pub(crate) fn of_check(decision: &Decision, (step, check): (u32, u32)) -> Vec<Mark> {
    let checks = decision.steps.get(step as usize).map(|it| &it.checks);
    let facts = checks.and_then(|it| it.get(check as usize));
    let facts = facts.into_iter().flat_map(|check| &check.facts);
    let facts = facts.filter_map(|fact| Some((fact.place?, "")));
    let problems = decision.problems.iter();
    let problems = problems.filter(|it| (it.step, it.check) == (Some(step), Some(check)));
    facts.chain(problems.map(|it| (it.place, "no"))).collect()
}
