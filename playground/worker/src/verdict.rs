//! The verdict: all that is known of the inputs.

use crate::inputs::Inputs;
use crate::tokens::tokens;
use crate::{convert, evaluator};
use agent_api::decide::{
    self, CapabilityFunnel, Drift, LockState, Matching, PolicyDecision, PolicyError, Resolution,
};
use agent_api::diagnostic::Code;
use agent_api::model::Name as _;
use agent_api::text::{DocumentKind, Span, Text};
use agent_api::{compare, explain, lower, render, verify};
use agent_protocol as shown;

/// How many rejected servers are told of for a requirement without a server.
const NEAREST: usize = 3;

/// Of how many requirements without a server the fixes have their edits. Those of the others are in
/// the stories of their servers: a verdict has to be there with the next keystroke.
const EDITED: usize = 8;

/// All that is known of the inputs and of the decision about them, if there is one.
pub(crate) fn verdict(inputs: &Inputs, resolution: Option<&Resolution>) -> shown::Verdict {
    let mut problems = inputs.problems();
    if let Some(resolution) = resolution {
        if let Some(policy) = inputs.policy.value.as_deref() {
            problems.append(&mut evaluator::remarks(policy, resolution));
        }
        problems.append(&mut explain::unsatisfied(resolution));
    }
    let mut diagnostics = convert::diagnostics(problems);
    let mut requirements = Vec::new();
    if let Some(resolution) = resolution {
        policy_errors(resolution.matching(), &mut diagnostics);
        of_categories(resolution, &mut requirements);
        of_capabilities(resolution.matching(), &mut requirements);
    }
    let lock = resolution.and_then(Resolution::lock);
    let (tokens, collisions) = match resolution
        .zip(lock.as_ref())
        .and_then(|(resolution, lock)| tokens(resolution, lock))
    {
        None => (None, Vec::new()),
        Some(Ok(tokens)) => (Some(tokens), Vec::new()),
        Some(Err(problems)) => (None, problems),
    };
    let manifest = inputs.manifest.value.as_deref();
    shown::Verdict {
        satisfied: resolution.map(Resolution::satisfied),
        diagnostics,
        agent: manifest.map(|manifest| shown::Agent {
            name: manifest.agent.name.to_string(),
            version: manifest.agent.version.to_string(),
        }),
        servers: inputs.index.value.as_ref().map(|index| index.len() as u32),
        tools: inputs
            .index
            .value
            .as_ref()
            .map(|index| index.tool_count() as u32),
        constraints: manifest
            .map(|manifest| convert::constraints(&manifest.constraints))
            .unwrap_or_default(),
        requirements,
        tokens,
        collisions: convert::diagnostics(collisions),
        existing: inputs
            .lock
            .value
            .as_deref()
            .map(|existing| shown::LockVerdict {
                changes: lock
                    .as_ref()
                    .map(|lock| drifts(compare(Some(existing), lock))),
                verify: inputs
                    .index
                    .value
                    .as_deref()
                    .map(|index| drifts(verify(existing, index))),
            }),
        lock: lock.as_ref().map(render::lock),
    }
}

fn of_categories(resolution: &Resolution, requirements: &mut Vec<shown::Requirement>) {
    let manifest = resolution.manifest();
    let mut unsatisfied = 0;
    for (number, requirement) in manifest.requirements.iter().enumerate() {
        let funnel = resolution.funnel(number);
        unsatisfied += usize::from(funnel.signature == 0);
        requirements.push(shown::Requirement {
            category: Some(requirement.category.value.to_string()),
            capability: None,
            permissions: requirement
                .permissions
                .iter()
                .map(|permission| permission.value.to_string())
                .collect(),
            place: convert::place(&manifest.text.place(requirement.span)),
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

fn of_capabilities(matching: &Matching, requirements: &mut Vec<shown::Requirement>) {
    for (number, requirement) in matching.requirements().enumerate() {
        let funnel = matching.funnel(number);
        let policy_decision = matching.policy_decision(number);
        let failed = policy_decision.is_some_and(|policy_decision| policy_decision.answer.is_err());
        let capability = &requirement.capability;
        let tags = capability.constraints.iter();
        requirements.push(shown::Requirement {
            category: None,
            capability: Some(shown::Capability {
                verb: capability.verb.as_str().to_owned(),
                resource: capability.resource.to_string(),
                constraints: tags.map(|tag| tag.as_str().to_owned()).collect(),
                load: requirement.load.as_str().to_owned(),
            }),
            permissions: Vec::new(),
            place: convert::place(&matching.place(number, requirement.span)),
            all: funnel.tools,
            funnel: stages(&capability_stages(&funnel, failed)),
            policy_decision: policy_decision.map(self::policy_decision),
            outcome: capability_outcome(matching, number),
        });
    }
}

/// What each check leaves; that of the policy has the code of what it did.
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

/// Adds where a policy fails, each place once. That a requirement has no tool is said of it.
fn policy_errors(matching: &Matching, found: &mut Vec<shown::Diagnostic>) {
    let start = Text::new(DocumentKind::Policy, String::new()).place(Span::default());
    for number in 0..matching.len() {
        let error = matching
            .policy_decision(number)
            .and_then(|it| it.answer.as_ref().err());
        let Some(error) = error else { continue };
        let diagnostic = shown::Diagnostic {
            code: Code::PolicyError.name().to_owned(),
            severity: shown::Severity::Error,
            message: format!("the policy gave no answer: {}", failure(error)),
            labels: vec![shown::Label {
                place: convert::place(error.place.as_ref().unwrap_or(&start)),
                text: String::new(),
            }],
            help: vec![Code::PolicyError.help().to_owned()],
        };
        if !found.contains(&diagnostic) {
            found.push(diagnostic);
        }
    }
}

/// Why a policy gave no answer.
fn failure(error: &PolicyError) -> String {
    format!("{}: {}", explain::policy_error(error.kind), error.detail)
}

fn policy_decision(policy_decision: &PolicyDecision) -> shown::PolicyDecision {
    let error = policy_decision.answer.as_ref().err();
    shown::PolicyDecision {
        error: error.map(failure),
        error_at: error
            .and_then(|error| error.place.as_ref())
            .map(convert::place),
        lines: policy_decision.lines.clone(),
    }
}

fn stages(left: &[(Code, u32)]) -> Vec<shown::Stage> {
    left.iter()
        .map(|&(code, left)| shown::Stage {
            code: code.name().to_owned(),
            name: explain::check_name(code).to_owned(),
            left,
        })
        .collect()
}

fn outcome(resolution: &Resolution, number: usize, edited: bool) -> shown::Outcome {
    let selected = resolution.selected(number).zip(resolution.hash(number));
    match selected {
        Some((server, hash)) => shown::Outcome::Selected(shown::Selected {
            server: convert::server_name(server),
            tool: None,
            endpoint: server.endpoint().to_owned(),
            hash,
            over: resolution
                .eligible(number)
                .nth(1)
                .map(|other| convert::eligible(server, other)),
        }),
        None => shown::Outcome::Unsatisfied {
            nearest: resolution
                .nearest(number, NEAREST)
                .iter()
                .map(|near| convert::near(resolution, number, near, edited))
                .collect(),
        },
    }
}

fn capability_outcome(matching: &Matching, number: usize) -> shown::Outcome {
    let Some(tool) = matching.selected(number) else {
        let nearest = matching.nearest(number, NEAREST);
        return shown::Outcome::Unsatisfied {
            nearest: nearest
                .iter()
                .map(|near| convert::near_tool(matching, near))
                .collect(),
        };
    };
    let approval = matching.needs_approval(number, tool);
    shown::Outcome::Selected(shown::Selected {
        server: convert::server_name(tool.server()),
        tool: Some(shown::SelectedTool {
            name: tool.name().to_owned(),
            definition: lower::definition_digest(tool),
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

fn drifts(state: LockState) -> Vec<shown::Drift> {
    state.drifts().iter().map(drift).collect()
}

fn drift(drift: &Drift) -> shown::Drift {
    shown::Drift {
        code: drift.code.name().to_owned(),
        category: drift.category.clone(),
        capability: drift.capability.clone(),
        text: explain::drift(drift),
        widening: drift.widening(),
    }
}
