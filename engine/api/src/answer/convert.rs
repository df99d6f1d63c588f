//! Values of the engine as data.

use super::health::switch;
use agent_answer::{
    Applicability, Constraints, Eligible, Fix, NearMiss, Reason, Server, ServerName, ToolEntry,
};
use agent_decide::{
    Change, Counterfactual, Matching, NearMiss as NearServer, NearTool, Rejection, Resolution,
    TieBreak, token_estimate,
};
use agent_explain::LostOn;
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

pub(super) fn eligible_server(selected: ServerView<'_>, other: ServerView<'_>) -> Eligible {
    let lost_on = TieBreak::between(selected, other);
    Eligible {
        server: server_name(other),
        tool: None,
        lost_on: lost_on.name().to_owned(),
        text: agent_explain::lost(LostOn::Server(lost_on)).to_owned(),
    }
}

pub(super) fn eligible_tool(
    matching: &Matching,
    selected: ToolView<'_>,
    other: ToolView<'_>,
) -> Eligible {
    let lost_on = matching.preference(selected, other);
    Eligible {
        server: server_name(other.server()),
        tool: Some(other.name().to_owned()),
        lost_on: lost_on.name().to_owned(),
        text: agent_explain::lost(LostOn::Tool(lost_on)).to_owned(),
    }
}

/// What the definition of a tool costs, by the estimate.
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

pub(super) fn near_server(
    resolution: &Resolution,
    requirement: usize,
    near: &NearServer<'_>,
    edited: bool,
) -> NearMiss {
    NearMiss {
        server: server_name(near.server),
        tool: None,
        reasons: reasons(near.reasons.as_slice()),
        fixes: fixes(resolution, requirement, near.server, &near.fixes, edited),
    }
}

pub(super) fn near_tool(matching: &Matching, near: &NearTool<'_>) -> NearMiss {
    NearMiss {
        server: server_name(near.tool.server()),
        tool: Some(near.tool.name().to_owned()),
        reasons: reasons(near.reasons.as_slice()),
        fixes: tool_fixes(matching, near.tool.server(), &near.fixes),
    }
}

pub(super) fn reasons(reasons: &[Rejection<'_>]) -> Vec<Reason> {
    let reason = |reason: &Rejection<'_>| Reason {
        code: reason.code(),
        text: agent_explain::reason(reason),
    };
    reasons.iter().map(reason).collect()
}

/// Returns the changes that make a server eligible. `edited` adds their edits, whose verification takes
/// longer than all else.
pub(super) fn fixes(
    resolution: &Resolution,
    requirement: usize,
    server: ServerView<'_>,
    changes: &[Counterfactual<'_>],
    edited: bool,
) -> Vec<Fix> {
    let edits = |change: &Counterfactual<'_>| match edited {
        true => agent_explain::edits(resolution, requirement, server, change),
        false => None,
    };
    let fix = |change| fix(change, edits(change).unwrap_or_default());
    changes.iter().map(fix).collect()
}

/// Returns the changes that make a tool eligible. Only one of the server's health has an edit.
pub(super) fn tool_fixes(
    matching: &Matching,
    server: ServerView<'_>,
    changes: &[Counterfactual<'_>],
) -> Vec<Fix> {
    let edits = |change: &Counterfactual<'_>| match change.changes == [Change::Recover] {
        true => switch(matching, server).edits,
        false => Vec::new(),
    };
    let fix = |change| fix(change, edits(change));
    changes.iter().map(fix).collect()
}

fn fix(change: &Counterfactual<'_>, edits: Vec<agent_answer::Edit>) -> Fix {
    Fix {
        title: agent_explain::fix(change),
        applicability: match change.widening {
            true => Applicability::Unsafe,
            false => Applicability::Display,
        },
        edits,
    }
}
