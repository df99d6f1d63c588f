//! The verdict: all that is known of the inputs.

use crate::convert;
use crate::inputs::Inputs;
use agent_engine::decide::{self, Drift, Failures, Funnel, LockState, Resolution};
use agent_engine::{explain, render};
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
    let lock = resolution.and_then(Resolution::lock);
    let manifest = inputs.manifest.value.as_deref();
    shown::Verdict {
        satisfied: resolution.map(Resolution::satisfied),
        diagnostics: problems
            .chain(unsatisfied)
            .map(convert::diagnostic)
            .collect(),
        agent: manifest.map(|manifest| shown::Agent {
            name: manifest.agent.name.to_string(),
            version: manifest.agent.version.to_string(),
        }),
        servers: inputs.index.value.as_ref().map(|index| index.len() as u32),
        constraints: manifest
            .map(|manifest| convert::constraints(&manifest.constraints))
            .unwrap_or_default(),
        requirements: resolution.map(requirements).unwrap_or_default(),
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
                category: requirement.category.value.to_string(),
                permissions: requirement
                    .permissions
                    .iter()
                    .map(|permission| permission.value.to_string())
                    .collect(),
                place: convert::place(&manifest.text.place(requirement.span)),
                all: funnel.all,
                funnel: stages(&funnel),
                outcome: outcome(resolution, number, unsatisfied <= EDITED),
            }
        })
        .collect()
}

fn stages(funnel: &Funnel) -> Vec<shown::Stage> {
    let left = [
        funnel.category,
        funnel.scopes,
        funnel.residency,
        funnel.sensitivity,
        funnel.signature,
    ];
    Failures::CHECKS
        .into_iter()
        .zip(left)
        .map(|(code, left)| shown::Stage {
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

fn drifts(state: LockState) -> Vec<shown::Drift> {
    state.drifts().iter().map(drift).collect()
}

fn drift(drift: &Drift) -> shown::Drift {
    shown::Drift {
        code: drift.code.name().to_owned(),
        category: drift.category.clone(),
        text: explain::drift(drift),
        widening: drift.widening(),
    }
}
