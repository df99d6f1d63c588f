//! The answer to a manifest and an index.

use super::convert;
use super::list::rejected_by;
use super::requirement::checks;
use super::step::obligations;
use super::tokens::tokens;
use crate::lock::{LockText, compare, verify};
use agent_answer::{
    Agent, Capability, Drift, LockVerdict, Outcome, PolicyDecision, Requirement, Selected,
    SelectedTool, Stage, Verdict,
};
use agent_decide::{self as decide, Matching, PolicyError, Resolution};
use agent_diagnostic::{Code, Diagnostic};
use agent_explain::{Candidate, Decision};
#[cfg(feature = "repair")]
use agent_model::Grant;
use agent_model::{Index, Lock, Manifest, ServerView, ToolView};
use agent_text::{DocumentKind, Span, Text};
use std::collections::BTreeMap;

/// Number of near misses of a requirement without a server or tool.
const NEAREST: usize = 3;

/// Number of requirements without a server whose fixes have edits. The explanations of servers contain
/// the other edits: a page shows a verdict after each keystroke.
const EDITED: usize = 8;

/// The readable inputs of a question.
#[derive(Debug, Default)]
pub struct Inputs<'a> {
    /// The manifest, if it has no errors.
    pub manifest: Option<&'a Manifest>,
    /// The index, if it has no errors.
    pub index: Option<&'a Index>,
    /// An existing lock, if there is a readable one.
    pub lock: Option<&'a LockText>,
    /// The problems of all texts.
    pub problems: Vec<Diagnostic>,
    /// The definitions of tools that earlier indexes had, by their digests. Those of both locks are added.
    pub definitions: Option<&'a mut BTreeMap<String, String>>,
}

/// Returns the problems of the inputs and of the decision about them, if there is one.
pub fn problems(
    mut of_inputs: Vec<Diagnostic>,
    resolution: Option<&Resolution>,
) -> Vec<Diagnostic> {
    if let Some(resolution) = resolution {
        of_inputs.append(&mut agent_explain::resolution_diagnostics(resolution));
        policy_errors(resolution.matching(), &mut of_inputs);
    }
    of_inputs
}

/// Describes the inputs and the decision about them, if there is one.
pub fn verdict(inputs: Inputs<'_>, resolution: Option<&Resolution>) -> Verdict {
    let Inputs {
        manifest,
        index,
        lock: existing,
        problems: of_inputs,
        definitions,
    } = inputs;
    let mut none = BTreeMap::new();
    let definitions = definitions.unwrap_or(&mut none);
    let diagnostics = problems(of_inputs, resolution);
    let mut requirements = Vec::new();
    if let Some(resolution) = resolution {
        let mut unsatisfied = 0;
        for decision in Decision::all(resolution) {
            unsatisfied += usize::from(decision.selected().is_none());
            requirements.push(requirement(decision, unsatisfied <= EDITED));
        }
    }
    let lock = resolution.and_then(Resolution::lock);
    let policy = resolution.and_then(|it| it.matching().policy());
    let tokens = resolution
        .zip(lock.as_ref())
        .and_then(|(resolution, lock)| tokens(resolution, lock));
    let (tokens, collisions) = match tokens {
        None => (None, Vec::new()),
        Some(Ok(tokens)) => (Some(tokens), Vec::new()),
        Some(Err(problems)) => (None, problems),
    };
    if let (Some(existing), Some(index)) = (existing, index) {
        keep_definitions(definitions, &existing.lock, lock.as_ref(), index);
    }
    Verdict {
        satisfied: resolution.map(Resolution::satisfied),
        diagnostics,
        agent: manifest.map(|manifest| Agent {
            name: manifest.agent.name.to_string(),
            version: manifest.agent.version.to_string(),
        }),
        servers: index.map(|index| index.len() as u32),
        tools: index.map(|index| index.tool_count() as u32),
        constraints: manifest
            .map(|manifest| convert::constraints(&manifest.constraints))
            .unwrap_or_default(),
        requirements,
        tokens,
        collisions,
        existing: existing.map(|existing| LockVerdict {
            changes: lock
                .as_ref()
                .map(|lock| compare(Some(existing), lock, policy.map(|it| &**it)))
                .map(|changes| drifts(changes, definitions)),
            verify: index.map(|index| drifts(verify(existing, index, None), definitions)),
        }),
        lock: lock.as_ref().map(agent_render::lock),
    }
}

fn requirement(decision: Decision<'_>, edited: bool) -> Requirement {
    let required = decision.required();
    let details = required.details.into_iter().map(str::to_owned).collect();
    let (category, permissions, capability, policy_decision) = match decision {
        Decision::Category(..) => (Some(required.name), details, None, None),
        Decision::Capability(matching, number) => {
            let requirement = matching.requirement(number);
            let capability = Capability {
                verb: requirement.capability.verb.as_str().to_owned(),
                resource: requirement.capability.resource.to_string(),
                constraints: details,
                load: requirement.load.as_str().to_owned(),
            };
            let policy_decision = matching.policy_decision(number);
            let policy_decision = policy_decision.map(self::policy_decision);
            (None, Vec::new(), Some(capability), policy_decision)
        }
    };
    let (all, left) = decision.funnel();
    let failed = decision.policy_error().is_some();
    let stages = checks(decision).zip(left).filter_map(|(codes, (_, left))| {
        // The policy's check has the code of its failure.
        let code = *if failed { codes.last() } else { codes.first() }?;
        let lost = if all <= Stage::NAMED {
            rejected_by(decision, codes, 0, all).items
        } else {
            Vec::new()
        };
        Some(Stage {
            code,
            name: agent_explain::check_name(code).to_owned(),
            left,
            lost,
        })
    });
    let served = decision.serve().iter();
    Requirement {
        category,
        capability,
        permissions,
        only: decision.only().into_iter().map(str::to_owned).collect(),
        serve: served.map(|it| it.as_str().to_owned()).collect(),
        place: required.whole,
        all,
        funnel: stages.collect(),
        policy_decision,
        outcome: outcome(decision, edited),
    }
}

/// Adds an error for each place where a policy fails.
fn policy_errors(matching: &Matching, found: &mut Vec<Diagnostic>) {
    let start = Text::new(DocumentKind::Policy, String::new()).place(Span::default());
    let decisions = Decision::of_capabilities(matching);
    for error in decisions.filter_map(Decision::policy_error) {
        let message = format!("the policy gave no answer: {}", failure(error));
        let diagnostic = Diagnostic::new(Code::PolicyError, message)
            .label(error.place.unwrap_or(start), "")
            .help(const { Code::PolicyError.help() });
        if !found.contains(&diagnostic) {
            found.push(diagnostic);
        }
    }
}

/// Returns the reason why a policy gave no answer.
pub(super) fn failure(error: &PolicyError) -> String {
    format!(
        "{}: {}",
        agent_explain::policy_error(error.kind),
        error.detail
    )
}

fn policy_decision(decision: &decide::PolicyDecision) -> PolicyDecision {
    let error = decision.answer.as_ref().err();
    PolicyDecision {
        error: error.map(failure),
        error_at: error.and_then(|error| error.place),
        lines: decision.lines.clone(),
    }
}

fn outcome(decision: Decision<'_>, edited: bool) -> Outcome {
    let Some((selected, hash)) = decision.selected().zip(decision.hash()) else {
        let nearest = decision.nearest(NEAREST).into_iter();
        return Outcome::Unsatisfied {
            nearest: nearest
                .map(|near| convert::near_miss(decision, &near, edited))
                .collect(),
        };
    };
    Outcome::Selected(Selected {
        server: convert::server_name(selected.server()),
        tool: match (decision, selected) {
            (Decision::Capability(matching, number), Candidate::Tool(tool)) => Some(SelectedTool {
                name: tool.name().to_owned(),
                also: also(decision, tool),
                definition: agent_lower::definition_digest(tool),
                obligations: obligations(matching.needs_approval(number, tool)),
                tokens: convert::tokens(tool),
            }),
            _ => None,
        },
        endpoint: selected.server().endpoint().to_owned(),
        unknown: unknown(selected.server()),
        hash,
        over: decision
            .eligible()
            .next()
            .and_then(|other| convert::eligible(decision, other)),
        fallback: decision
            .fallback()
            .and_then(|tool| convert::eligible(decision, tool)),
    })
}

/// Returns what no source of an import said about a server. Other entries are complete as their authors wrote them.
fn unknown(server: ServerView<'_>) -> Vec<String> {
    // Within a text of JSON, quotation marks are escaped: this is the key.
    if !server.entry().contains("\"x-unrated\"") {
        return Vec::new();
    }
    let has_tools = server.tools().len() > 0;
    let tools = (!has_tools).then_some("tools");
    ["data"]
        .into_iter()
        .chain(tools)
        .map(str::to_owned)
        .collect()
}

/// Returns the names of the other tools that a requirement of `tools: all` selects.
fn also(decision: Decision<'_>, first: ToolView<'_>) -> Vec<String> {
    let chosen = decision.chosen().into_iter().filter_map(Candidate::tool);
    let others = chosen.filter(|tool| tool.number() != first.number());
    others.map(|tool| tool.name().to_owned()).collect()
}

#[cfg(not(feature = "repair"))]
fn keep_definitions(_: &mut BTreeMap<String, String>, _: &Lock, _: Option<&Lock>, _: &Index) {}

/// Maximum size of the kept definitions in bytes, apart from those of the present index.
#[cfg(feature = "repair")]
const KEPT: usize = 4 << 20;

/// Adds the definitions of both locks in the index. Of too many, those that the existing lock names stay.
/// A page loads the larger module for it.
#[cfg(feature = "repair")]
fn keep_definitions(
    kept: &mut BTreeMap<String, String>,
    existing: &Lock,
    lock: Option<&Lock>,
    index: &Index,
) {
    if kept.values().map(String::len).sum::<usize>() > KEPT {
        kept.retain(|digest, _| {
            let mut selections = existing.selections.iter();
            selections.any(|it| {
                matches!(&it.grant, Grant::Capability { definition, .. } if definition == digest)
            })
        });
    }
    for lock in lock.into_iter().chain([existing]) {
        kept.extend(agent_explain::definitions(lock, index));
    }
}

fn drifts(drifts: Vec<decide::Drift>, definitions: &BTreeMap<String, String>) -> Vec<Drift> {
    #[cfg(feature = "repair")]
    let drifts = agent_explain::detailed_by(&drifts, definitions);
    #[cfg(not(feature = "repair"))]
    debug_assert!(definitions.is_empty());
    drifts.into_iter().map(drift).collect()
}

pub(super) fn drift(mut drift: decide::Drift) -> Drift {
    let details = std::mem::take(&mut drift.details);
    Drift {
        code: drift.code,
        category: drift.category.clone(),
        capability: drift.capability.clone(),
        text: match details[..] {
            // Only then are there details.
            #[cfg(feature = "repair")]
            [_, ..] => drift.code.title().to_owned(),
            _ => agent_explain::drift(&drift),
        },
        widening: drift.widening(),
        details,
        places: drift.places,
    }
}
