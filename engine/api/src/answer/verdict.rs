//! The answer to a manifest and an index.

use super::convert;
use super::tokens::tokens;
use crate::{compare, verify};
use agent_answer::{
    Agent, Capability, Drift, LockVerdict, Outcome, PolicyDecision, Requirement, Selected,
    SelectedTool, Stage, Verdict,
};
use agent_decide::{
    self as decide, CapabilityFunnel, LockState, Matching, PolicyError, Resolution,
};
use agent_diagnostic::{Code, Diagnostic};
use agent_model::{Index, Lock, Manifest, Name as _};
use agent_text::{DocumentKind, Span, Text};

/// Number of near misses of a requirement without a server or tool.
const NEAREST: usize = 3;

/// Number of requirements without a server whose fixes have edits. The explanations of servers contain
/// the other edits: a page shows a verdict after each keystroke.
const EDITED: usize = 8;

/// What can be read of a question's texts.
#[derive(Debug, Default)]
pub struct Inputs<'a> {
    /// The manifest, if it has no errors.
    pub manifest: Option<&'a Manifest>,
    /// The index, if it has no errors.
    pub index: Option<&'a Index>,
    /// An existing lock, if there is a readable one.
    pub lock: Option<&'a Lock>,
    /// The problems of all texts.
    pub problems: Vec<Diagnostic>,
}

/// Describes the inputs and the decision about them, if there is one.
pub fn verdict(inputs: Inputs<'_>, resolution: Option<&Resolution>) -> Verdict {
    let Inputs {
        manifest,
        index,
        lock: existing,
        problems: mut diagnostics,
    } = inputs;
    let mut requirements = Vec::new();
    if let Some(resolution) = resolution {
        diagnostics.append(&mut agent_explain::unsatisfied(resolution));
        policy_errors(resolution.matching(), &mut diagnostics);
        of_categories(resolution, &mut requirements);
        of_capabilities(resolution.matching(), &mut requirements);
    }
    let lock = resolution.and_then(Resolution::lock);
    let tokens = resolution
        .zip(lock.as_ref())
        .and_then(|(resolution, lock)| tokens(resolution, lock));
    let (tokens, collisions) = match tokens {
        None => (None, Vec::new()),
        Some(Ok(tokens)) => (Some(tokens), Vec::new()),
        Some(Err(problems)) => (None, problems),
    };
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
                .map(|lock| drifts(compare(Some(existing), lock))),
            verify: index.map(|index| drifts(verify(existing, index))),
        }),
        lock: lock.as_ref().map(agent_render::lock),
    }
}

fn of_categories(resolution: &Resolution, requirements: &mut Vec<Requirement>) {
    let manifest = resolution.manifest();
    let mut unsatisfied = 0;
    for (number, requirement) in manifest.requirements.iter().enumerate() {
        let funnel = resolution.funnel(number);
        unsatisfied += usize::from(funnel.signature == 0);
        requirements.push(Requirement {
            category: Some(requirement.category.value.to_string()),
            capability: None,
            permissions: requirement
                .permissions
                .iter()
                .map(|permission| permission.value.to_string())
                .collect(),
            place: manifest.text.place(requirement.span),
            all: funnel.all,
            funnel: stages(&[
                (Code::MissingCategory, funnel.category),
                (Code::MissingScope, funnel.scopes),
                (Code::ResidencyMismatch, funnel.residency),
                (Code::SensitivityExceeded, funnel.sensitivity),
                (Code::UnsignedNotAllowed, funnel.signature),
            ]),
            policy_decision: None,
            outcome: outcome(resolution, number, unsatisfied <= EDITED),
        });
    }
}

fn of_capabilities(matching: &Matching, requirements: &mut Vec<Requirement>) {
    for (number, requirement) in matching.requirements().enumerate() {
        let funnel = matching.funnel(number);
        let policy_decision = matching.policy_decision(number);
        let failed = policy_decision.is_some_and(|policy_decision| policy_decision.answer.is_err());
        let capability = &requirement.capability;
        let tags = capability.constraints.iter();
        requirements.push(Requirement {
            category: None,
            capability: Some(Capability {
                verb: capability.verb.as_str().to_owned(),
                resource: capability.resource.to_string(),
                constraints: tags.map(|tag| tag.as_str().to_owned()).collect(),
                load: requirement.load.as_str().to_owned(),
            }),
            permissions: Vec::new(),
            place: matching.place(number, requirement.span),
            all: funnel.tools,
            funnel: stages(&capability_stages(&funnel, failed)),
            policy_decision: policy_decision.map(self::policy_decision),
            outcome: capability_outcome(matching, number),
        });
    }
}

/// Returns how many tools each check leaves. The policy's check has the code of its failure.
fn capability_stages(funnel: &CapabilityFunnel, failed: bool) -> [(Code, u32); 8] {
    let policy = if failed {
        Code::PolicyError
    } else {
        Code::PolicyDenied
    };
    [
        (Code::MissingCapability, funnel.capability),
        (Code::ConstraintUnmet, funnel.constraints),
        (Code::ResidencyMismatch, funnel.residency),
        (Code::SensitivityExceeded, funnel.sensitivity),
        (Code::UnsignedNotAllowed, funnel.signature),
        (Code::ForbiddenAction, funnel.action),
        (policy, funnel.policy),
        (Code::HealthVeto, funnel.health),
    ]
}

/// Adds an error for each place where a policy fails.
fn policy_errors(matching: &Matching, found: &mut Vec<Diagnostic>) {
    let start = Text::new(DocumentKind::Policy, String::new()).place(Span::default());
    for number in 0..matching.len() {
        let error = matching
            .policy_decision(number)
            .and_then(|it| it.answer.as_ref().err());
        let Some(error) = error else { continue };
        let message = format!("the policy gave no answer: {}", failure(error));
        let diagnostic = Diagnostic::new(Code::PolicyError, message)
            .label(error.place.unwrap_or(start), "")
            .help(Code::PolicyError.help());
        if !found.contains(&diagnostic) {
            found.push(diagnostic);
        }
    }
}

/// Returns the reason why a policy gave no answer.
fn failure(error: &PolicyError) -> String {
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

fn stages(left: &[(Code, u32)]) -> Vec<Stage> {
    left.iter()
        .map(|&(code, left)| Stage {
            code,
            name: agent_explain::check_name(code).to_owned(),
            left,
        })
        .collect()
}

fn outcome(resolution: &Resolution, number: usize, edited: bool) -> Outcome {
    let selected = resolution.selected(number).zip(resolution.hash(number));
    match selected {
        Some((server, hash)) => Outcome::Selected(Selected {
            server: convert::server_name(server),
            tool: None,
            endpoint: server.endpoint().to_owned(),
            hash,
            over: resolution
                .eligible(number)
                .nth(1)
                .map(|other| convert::eligible_server(server, other)),
        }),
        None => Outcome::Unsatisfied {
            nearest: resolution
                .nearest(number, NEAREST)
                .iter()
                .map(|near| convert::near_server(resolution, number, near, edited))
                .collect(),
        },
    }
}

fn capability_outcome(matching: &Matching, number: usize) -> Outcome {
    let Some(tool) = matching.selected(number) else {
        let nearest = matching.nearest(number, NEAREST);
        return Outcome::Unsatisfied {
            nearest: nearest
                .iter()
                .map(|near| convert::near_tool(matching, near))
                .collect(),
        };
    };
    let approval = matching.needs_approval(number, tool);
    Outcome::Selected(Selected {
        server: convert::server_name(tool.server()),
        tool: Some(SelectedTool {
            name: tool.name().to_owned(),
            definition: agent_lower::definition_digest(tool),
            obligations: approval
                .then(|| "approval".to_owned())
                .into_iter()
                .collect(),
            tokens: convert::tokens(tool),
        }),
        endpoint: tool.server().endpoint().to_owned(),
        hash: decide::hash(tool),
        over: matching
            .eligible(number)
            .nth(1)
            .map(|other| convert::eligible_tool(matching, tool, other)),
    })
}

fn drifts(state: LockState) -> Vec<Drift> {
    state.drifts().iter().map(drift).collect()
}

fn drift(drift: &decide::Drift) -> Drift {
    Drift {
        code: drift.code,
        category: drift.category.clone(),
        capability: drift.capability.clone(),
        text: agent_explain::drift(drift),
        widening: drift.widening(),
    }
}
