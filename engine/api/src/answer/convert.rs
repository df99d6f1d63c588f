//! Values of the engine as data.

use agent_answer::{
    Applicability, Constraints, Eligible, Fix, NearMiss, Reason, Server, ServerName, ToolEntry,
};
use agent_decide::{Counterfactual, Rejection, token_estimate};
use agent_explain::{Candidate, Decision, RejectedCandidate};
use agent_model::{Residency, ServerView, ToolView};

pub(super) fn server_name(server: ServerView<'_>) -> ServerName {
    ServerName {
        id: server.id().to_owned(),
        version: server.version().to_owned(),
    }
}

pub(super) fn server(server: ServerView<'_>) -> Server {
    let constraint_key = server.constraint_key();
    let names = |names: &mut dyn Iterator<Item = &str>| names.map(str::to_owned).collect();
    Server {
        id: server.id().to_owned(),
        version: server.version().to_owned(),
        endpoint: server.endpoint().to_owned(),
        categories: names(&mut server.categories()),
        scopes: names(&mut server.scopes()),
        residency: names(&mut constraint_key.residency().iter().map(Residency::as_str)),
        max_sensitivity: constraint_key.max_sensitivity().as_str().to_owned(),
        signed: constraint_key.signed(),
        publisher: server.publisher().to_owned(),
        place: server.place(),
    }
}

pub(super) fn constraints(constraints: &agent_model::Constraints) -> Constraints {
    Constraints {
        residency: constraints.residency().map(|r| r.as_str().to_owned()),
        sensitivity: constraints.sensitivity().map(|s| s.as_str().to_owned()),
        require_signed: constraints.require_signed(),
    }
}

/// Returns an eligible candidate, unless it is the selected one.
pub(super) fn eligible(decision: Decision<'_>, other: Candidate<'_>) -> Option<Eligible> {
    let lost_on = decision.lost_on(other)?;
    Some(Eligible {
        server: server_name(other.server()),
        tool: tool_name(other),
        lost_on: lost_on.name().to_owned(),
        text: agent_explain::lost(lost_on).to_owned(),
    })
}

pub(super) fn tool_name(candidate: Candidate<'_>) -> Option<String> {
    candidate.tool().map(|tool| tool.name().to_owned())
}

/// Estimates the tokens of a tool's definition.
pub(super) fn tokens(tool: ToolView<'_>) -> u32 {
    u32::try_from(token_estimate(&agent_lower::definition(tool))).unwrap_or(u32::MAX)
}

pub(super) fn tool_entry(tool: ToolView<'_>) -> ToolEntry {
    let advertised = tool.advertised().map(|block| {
        let mut words = block.pair().to_owned();
        let mut before = " + ";
        for tag in block.tags() {
            words += std::mem::replace(&mut before, ", ");
            words += tag;
        }
        words
    });
    ToolEntry {
        name: tool.name().to_owned(),
        description: tool.description().map(str::to_owned),
        advertised: advertised.collect(),
        tokens: tokens(tool),
        place: tool.place(),
    }
}

pub(super) fn near_miss(
    decision: Decision<'_>,
    near: &RejectedCandidate<'_>,
    edited: bool,
) -> NearMiss {
    NearMiss {
        server: server_name(near.candidate.server()),
        tool: tool_name(near.candidate),
        reasons: reasons(near.reasons.as_slice()),
        fixes: fixes(decision, near, edited),
        suppositions: suppositions(near),
    }
}

/// Returns what would have to be true of a candidate.
pub(super) fn suppositions(near: &RejectedCandidate<'_>) -> Vec<String> {
    let reasons = near.reasons.as_slice();
    let suppositions = near.suppositions.iter();
    suppositions
        .map(|it| agent_explain::supposition(it, reasons))
        .collect()
}

pub(super) fn reasons(reasons: &[Rejection<'_>]) -> Vec<Reason> {
    let reason = |reason: &Rejection<'_>| Reason {
        code: reason.code(),
        text: agent_explain::reason(reason),
    };
    reasons.iter().map(reason).collect()
}

/// Returns the changes of the manifest or the task that make a candidate eligible. `edited` adds the
/// edits, whose verification takes longer than all else.
pub(super) fn fixes(
    decision: Decision<'_>,
    near: &RejectedCandidate<'_>,
    edited: bool,
) -> Vec<Fix> {
    let fix = |change: &Counterfactual<'_>| {
        let edits = edited.then(|| agent_explain::relaxing(decision, change));
        let edits = edits.flatten();
        Fix {
            title: agent_explain::fix(change),
            applicability: match edits {
                Some(_) => Applicability::Unsafe,
                None => Applicability::Display,
            },
            edits: edits.unwrap_or_default(),
        }
    };
    near.fixes.iter().map(fix).collect()
}
