//! The marks in the editors: problems are underlined, places have a background.

use crate::state::{Expanded, Plans};
use agent_answer::{Claim, Diagnostic, Evidence, PlanDecision};
use agent_ui::editor::Mark;
use agent_worker_protocol::plans::Answer;

/// Returns everything to underline.
pub(crate) fn problems(answer: &Answer) -> Vec<Diagnostic> {
    match answer {
        Answer::Plan(decision) | Answer::Run(decision, _) | Answer::Call(decision) => {
            let problems = decision.problems.iter().map(|it| exact(&it.diagnostic));
            let diagnostics = decision.diagnostics.iter().cloned();
            diagnostics.chain(problems).collect()
        }
        Answer::Grounding(grounding) => {
            let missed = grounding.claims.iter().filter_map(missing_evidence);
            let diagnostics = grounding.diagnostics.iter().cloned();
            diagnostics.chain(missed).collect()
        }
    }
}

/// Returns a problem under its exact reason, at its own place, with the advice that is not a button.
fn exact(found: &Diagnostic) -> Diagnostic {
    let mut found = found.clone();
    found.code = found.reason.unwrap_or(found.code);
    found.labels.truncate(1);
    found.fixes.retain(|fix| fix.edits.is_empty());
    found
}

fn missing_evidence(claim: &Claim) -> Option<Diagnostic> {
    let Evidence::Missed {
        code, text, notes, ..
    } = &claim.verdict
    else {
        return None;
    };
    let mut found = Diagnostic::new(*code, format!("the evidence {text}")).label(claim.place, "");
    found.notes.clone_from(notes);
    Some(found)
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
pub(crate) fn of_check(decision: &PlanDecision, (step, check): (u32, u32)) -> Vec<Mark> {
    let checks = decision.steps.get(step as usize).map(|it| &it.checks);
    let facts = checks.and_then(|it| it.get(check as usize));
    let facts = facts.into_iter().flat_map(|check| &check.facts);
    let facts = facts.filter_map(|fact| Some((fact.place?, "")));
    let problems = decision.problems.iter();
    let problems =
        problems.filter(|it| it.check == Some(check) && it.diagnostic.step == Some(step as usize));
    facts
        .chain(problems.filter_map(|it| Some((*it.diagnostic.place()?, "no"))))
        .collect()
}
