//! Unsatisfied requirements as diagnostics.

use super::decision::{Decision, RejectedCandidate, Required};
use super::edit::{relaxing, without_item};
use super::meant::{categories_with_scopes, meant};
use super::wording::{fix, policy_failure, quoted, reason, supposition};
use agent_decide::{Change, Matching, Rejection, Resolution};
use agent_diagnostic::{Applicability, Code, Diagnostic, Fix, Label};
use agent_model::{Name, Requirement};
use agent_text::{Likeness, Place, Span, Spanned, visible};

/// Number of unsatisfied requirements that get edits and the search for slips: both read texts again.
const DETAILED: usize = 8;

/// Maximum number of unsatisfied requirements that are reported in full.
const REPORTED: usize = 100;

/// Number of nearest candidates whose fixes are suggested.
const NEAREST: usize = 2;

/// Returns an error for each requirement without a server or a tool: its place, the constraints
/// that the nearest candidate fails, and the fixes that make it eligible.
pub fn unsatisfied(resolution: &Resolution) -> Vec<Diagnostic> {
    diagnostics(Decision::all(resolution))
}

/// Returns an error for each capability without a tool, as [`unsatisfied`] does.
pub fn unmatched(matching: &Matching) -> Vec<Diagnostic> {
    diagnostics(Decision::of_capabilities(matching))
}

fn diagnostics<'r>(decisions: impl Iterator<Item = Decision<'r>>) -> Vec<Diagnostic> {
    let mut search = Likeness::new();
    let unsatisfied = decisions.filter(|decision| decision.selected().is_none());
    let mut numbered = unsatisfied.enumerate();
    let reported = numbered.by_ref().take(REPORTED).map(|(number, decision)| {
        let detailed = number < DETAILED;
        diagnostic(decision, detailed.then_some(&mut search))
    });
    let mut found: Vec<_> = reported.collect();
    if let Some((_, next)) = numbered.next() {
        let more = 1 + numbered.count();
        let message = match more {
            1 => "one more requirement is not satisfied".to_owned(),
            _ => format!("{more} more requirements are not satisfied"),
        };
        let place = next.required().place;
        let rest = Diagnostic::new(Code::Unsatisfied, message).label(place, "the first of them");
        found.push(rest.help("satisfy the requirements above first, or see `--format json`"));
    }
    found
}

fn diagnostic(decision: Decision<'_>, search: Option<&mut Likeness>) -> Diagnostic {
    let noun = decision.noun();
    let label = format!("no {noun} is eligible");
    let required = decision.required();
    let message = format!("{label} for {}", in_words(decision, &required));
    let mut diagnostic = Diagnostic::new(Code::Unsatisfied, message);
    let required = Label::new(required.place, label);
    if let Some(error) = decision.policy_error() {
        diagnostic.labels.push(required);
        diagnostic.notes.push(policy_failure(error));
        let label = error
            .place
            .map(|it| Label::new(it, "the policy fails here"));
        diagnostic.labels.extend(label);
        return diagnostic;
    }
    let detailed = search.is_some();
    let slips = search.map_or(Vec::new(), |search| meant(decision, search));
    slips.iter().for_each(|slip| slip.add(&mut diagnostic));
    let nearest = decision.nearest(NEAREST);
    let Some(near) = nearest.first() else {
        diagnostic.labels.push(required);
        diagnostic.notes.push(format!("the index has no {noun}s"));
        return diagnostic;
    };
    let (places, label) = failed(decision, near);
    let labels = places.into_iter().map(|place| Label::new(place, label));
    // The place to edit comes first: a slip, or a value that the nearest candidate fails.
    let health = match decision {
        Decision::Category(..) => None,
        Decision::Capability(matching, _) => near.health_label(matching),
    };
    let facts = decision.policy_facts(near).into_iter();
    let facts = facts.map(|fact| Label::new(fact.place, fact.text));
    for label in labels.chain(health).chain([required]).chain(facts) {
        if diagnostic.labels.iter().all(|it| it.place != label.place) {
            diagnostic.labels.push(label);
        }
    }
    // As long as a name is a slip, other changes would change more than the author wants.
    if slips.is_empty() {
        let others = categories_with_scopes(decision);
        if detailed && !others.is_empty() {
            let title = format!(
                "write a category of servers with these scopes: {}",
                quoted(&others)
            );
            diagnostic.fixes.push(Fix::display(title));
        }
        for near in &nearest {
            add_fixes(decision, near, detailed, &mut diagnostic);
        }
        diagnostic.notes.push(note(near));
    } else {
        let named = |reason: &&Rejection<'_>| {
            !matches!(
                reason,
                Rejection::MissingCategory { .. }
                    | Rejection::ToolMissing { .. }
                    | Rejection::MissingScope { .. }
                    | Rejection::MissingCapability { .. }
                    | Rejection::ConstraintUnmet { .. }
            )
        };
        let others = near.reasons.as_slice().iter().filter(named);
        let others: Vec<_> = others.map(reason).collect();
        if !others.is_empty() {
            let note = format!("besides, {} {}", near.name(), others.join(" and "));
            diagnostic.notes.push(note);
        }
    }
    diagnostic
}

/// Adds the changes of the manifest or the task that make a candidate eligible: first those that relax a
/// constraint, then the removal of what is required.
fn add_fixes(
    decision: Decision<'_>,
    near: &RejectedCandidate<'_>,
    detailed: bool,
    diagnostic: &mut Diagnostic,
) {
    let name = near.name();
    for change in &near.fixes {
        let edits = detailed.then(|| relaxing(decision, change)).flatten();
        diagnostic.fixes.push(Fix {
            title: format!("for {name}: {}", fix(change)),
            applicability: match edits {
                Some(_) => Applicability::Unsafe,
                None => Applicability::Display,
            },
            edits: edits.unwrap_or_default(),
        });
    }
    if let (Decision::Category(resolution, number), [reason]) = (decision, near.reasons.as_slice())
        && let Some((noun, missing, span)) =
            given_up(&resolution.manifest().requirements[number], reason)
    {
        let edit = without_item(&resolution.manifest().text, span);
        let title = format!("for {name}: give up the {noun} `{}`", visible(missing));
        diagnostic.fixes.push(match edit.filter(|_| detailed) {
            Some(edit) => Fix {
                title,
                applicability: Applicability::Unsafe,
                edits: vec![edit],
            },
            None => Fix::display(title),
        });
    }
}

/// Returns the one permission or tool without which a reason would not exist, and its place. The last
/// tool of a requirement is not given up: without `only` it would lock every tool.
fn given_up<'r>(
    requirement: &Requirement,
    reason: &Rejection<'r>,
) -> Option<(&'static str, &'r str, Span)> {
    match reason {
        Rejection::MissingScope { missing } => {
            let [missing] = missing[..] else { return None };
            let mut permissions = requirement.permissions.iter();
            let found = permissions.find(|it| it.value.as_str() == missing)?;
            Some(("permission", missing, found.span))
        }
        Rejection::ToolMissing { missing } if requirement.only.len() > 1 => {
            let [missing] = missing[..] else { return None };
            let mut tools = requirement.only.iter();
            let found = tools.find(|it| it.value.as_str() == missing)?;
            Some(("tool", missing, found.span))
        }
        _ => None,
    }
}

/// Returns the reasons against the nearest candidate, and what would have to be true of it.
fn note(near: &RejectedCandidate<'_>) -> String {
    let reasons = near.reasons.as_slice();
    match near.suppositions.first() {
        Some(first) => {
            let mut note = format!("{} {}", near.name(), supposition(first, reasons));
            if first.changes.contains(&Change::Recover) {
                let id = near.candidate.server().id();
                note.push_str(&format!("; list `{id}` as `HEALTHY` there once it is"));
            }
            note
        }
        None => {
            let reasons: Vec<_> = reasons.iter().map(reason).collect();
            format!(
                "nearest is {}, which {}",
                near.name(),
                reasons.join(" and ")
            )
        }
    }
}

fn in_words(decision: Decision<'_>, required: &Required<'_>) -> String {
    let name = visible(&required.name);
    match decision {
        Decision::Category(..) => {
            let mut words = format!("`{name}`");
            if !required.details.is_empty() {
                let details = required.details.iter().map(|it| visible(it));
                words += &format!(" with {}", quoted(details));
            }
            if !decision.only().is_empty() {
                let tools = decision.only().into_iter().map(visible);
                words += &format!(", only {}", quoted(tools));
            }
            words
        }
        Decision::Capability(matching, number) => {
            format!("`{}`", matching.requirement(number).capability)
        }
    }
}

/// Returns the places of the values that the nearest candidate fails, and their label.
fn failed(decision: Decision<'_>, near: &RejectedCandidate<'_>) -> (Vec<Place>, &'static str) {
    let reasons = near.reasons.as_slice().iter();
    let constraints = reasons
        .clone()
        .filter_map(|it| decision.constraint_place(it.code()));
    match decision {
        Decision::Category(resolution, number) => {
            let manifest = resolution.manifest();
            let requirement = &manifest.requirements[number];
            let missing = reasons.flat_map(|reason| match reason {
                Rejection::MissingScope { missing } => spans_of(&requirement.permissions, missing),
                Rejection::ToolMissing { missing } => spans_of(&requirement.only, missing),
                _ => Vec::new(),
            });
            let missing = missing.map(|span| manifest.text.place(span));
            let places = missing.take(LABELLED).chain(constraints);
            (places.collect(), "the nearest server fails this")
        }
        Decision::Capability(matching, number) => {
            let missing = reasons.filter_map(|reason| match reason {
                Rejection::ConstraintUnmet { missing } => Some(missing),
                _ => None,
            });
            let required = matching.requirement(number).constraints.iter();
            let unmet = missing.flat_map(|missing| {
                let unmet = required.clone();
                let unmet = unmet.filter(|tag| missing.contains(&tag.value.as_str()));
                unmet.map(|tag| matching.place(number, tag.span))
            });
            let places = unmet.take(LABELLED).chain(constraints);
            (places.collect(), "the nearest tool fails this")
        }
    }
}

/// Returns the places of the missing names.
fn spans_of<N: Name>(names: &[Spanned<N>], missing: &[&str]) -> Vec<Span> {
    let names = names.iter();
    let missing = names.filter(|it| missing.contains(&it.value.as_str()));
    missing.map(|it| it.span).collect()
}

/// Maximum number of permissions, tools or constraints with a label.
const LABELLED: usize = 8;
