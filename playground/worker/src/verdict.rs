//! The verdict: all that is known of the inputs.

use crate::inputs::Inputs;
use crate::tokens::tokens;
use crate::{convert, evaluator};
use agent_engine::decide::{
    self, CapabilityFunnel, Drift, LockState, Matching, Resolution, Ruling,
};
use agent_engine::diagnostic::Code;
use agent_engine::model::Name as _;
use agent_engine::text::{Source, Span, Text};
use agent_engine::{explain, lower, render};
use agent_protocol as shown;

/// How many rejected servers are told of for a requirement without a server.
const NEAREST: usize = 3;

/// Of how many requirements without a server the fixes have their edits. Those of the others are in
/// the stories of their servers: a verdict has to be there with the next keystroke.
const EDITED: usize = 8;

/// All that is known of the inputs and of the decision about them, if there is one.
pub(crate) fn verdict(inputs: &Inputs, resolution: Option<&Resolution>) -> shown::Verdict {
    let unsatisfied = resolution.map(explain::unsatisfied).unwrap_or_default();
    let problems = inputs.problems().cloned();
    let policy = inputs.policy.value.as_deref().zip(resolution);
    let remarks = policy.map(|(policy, resolution)| evaluator::remarks(policy, resolution));
    let lock = resolution.and_then(Resolution::lock);
    let (tokens, collisions) = match resolution
        .zip(lock.as_ref())
        .and_then(|(resolution, lock)| tokens(resolution, lock))
    {
        None => (None, Vec::new()),
        Some(Ok(tokens)) => (Some(tokens), Vec::new()),
        Some(Err(problems)) => (None, problems),
    };
    let matching = resolution.map(Resolution::matching);
    let manifest = inputs.manifest.value.as_deref();
    shown::Verdict {
        satisfied: resolution.map(Resolution::satisfied),
        diagnostics: problems
            .chain(remarks.unwrap_or_default())
            .chain(unsatisfied)
            .map(convert::diagnostic)
            .chain(matching.into_iter().flat_map(|it| policy_errors(it)))
            .collect(),
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
        requirements: resolution.map(requirements).unwrap_or_default(),
        tokens,
        collisions: collisions.into_iter().map(convert::diagnostic).collect(),
        existing: inputs
            .lock
            .value
            .as_deref()
            .map(|existing| shown::LockVerdict {
                changes: lock
                    .as_ref()
                    .map(|lock| drifts(decide::compare(Some(existing), lock))),
                verify: inputs
                    .index
                    .value
                    .as_deref()
                    .map(|index| drifts(decide::verify(existing, index))),
            }),
        lock: lock.as_ref().map(render::lock),
    }
}

fn requirements(resolution: &Resolution) -> Vec<shown::Requirement> {
    let manifest = resolution.manifest();
    let mut unsatisfied = 0;
    manifest
        .requirements
        .iter()
        .enumerate()
        .map(|(number, requirement)| {
            let funnel = resolution.funnel(number);
            unsatisfied += usize::from(funnel.signature == 0);
            shown::Requirement {
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
                ruling: None,
                outcome: outcome(resolution, number, unsatisfied <= EDITED),
            }
        })
        .chain(capabilities(resolution.matching()))
        .collect()
}

fn capabilities(matching: &Matching) -> impl Iterator<Item = shown::Requirement> {
    matching
        .requirements()
        .enumerate()
        .map(|(number, requirement)| {
            let funnel = matching.funnel(number);
            let ruling = matching.ruling(number);
            let failed = ruling.is_some_and(|ruling| ruling.answer.is_err());
            shown::Requirement {
                category: None,
                capability: Some(shown::Capability {
                    verb: requirement.capability.verb.as_str().to_owned(),
                    resource: requirement.capability.resource.to_string(),
                    constraints: requirement
                        .capability
                        .constraints
                        .iter()
                        .map(|tag| tag.as_str().to_owned())
                        .collect(),
                    load: requirement.load.as_str().to_owned(),
                }),
                permissions: Vec::new(),
                place: convert::place(&matching.place(number, requirement.span)),
                all: funnel.tools,
                funnel: stages(&capability_stages(&funnel, failed)),
                ruling: ruling.map(self::ruling),
                outcome: capability_outcome(matching, number),
            }
        })
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

/// Where a policy fails, each place once. That a requirement has no tool is said of it.
fn policy_errors(matching: &Matching) -> Vec<shown::Diagnostic> {
    let start = Text::new(Source::Policy, String::new()).place(Span::default());
    let mut found: Vec<shown::Diagnostic> = Vec::new();
    for number in 0..matching.len() {
        let error = matching
            .ruling(number)
            .and_then(|it| it.answer.as_ref().err());
        let Some(error) = error else { continue };
        let diagnostic = shown::Diagnostic {
            code: Code::PolicyError.name().to_owned(),
            severity: shown::Severity::Error,
            message: format!(
                "the policy gave no answer: {}: {}",
                explain::policy_error(error.kind),
                error.detail
            ),
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
    found
}

fn ruling(ruling: &Ruling) -> shown::Ruling {
    let error = ruling.answer.as_ref().err();
    shown::Ruling {
        error: error
            .map(|error| format!("{}: {}", explain::policy_error(error.kind), error.detail)),
        error_at: error
            .and_then(|error| error.place.as_ref())
            .map(convert::place),
        lines: ruling.lines.clone(),
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
