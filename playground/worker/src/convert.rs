//! The engine's values as those that are shown.

use crate::health;
use agent_api::decide::{
    Change, Counterfactual, Matching, NearMiss, NearTool, Rejection, Resolution, TieBreak,
    token_estimate,
};
use agent_api::model::{Constraints, Residency, ServerView, ToolView};
use agent_api::{diagnostic, explain, lower, text};
use agent_protocol as shown;

pub(crate) fn place(place: &text::Place) -> shown::Place {
    shown::Place {
        source: match place.source {
            text::DocumentKind::Manifest => shown::DocumentKind::Manifest,
            text::DocumentKind::Index => shown::DocumentKind::Index,
            text::DocumentKind::Task => shown::DocumentKind::Task,
            text::DocumentKind::Tenant => shown::DocumentKind::Tenant,
            text::DocumentKind::Health => shown::DocumentKind::Health,
            text::DocumentKind::Policy => shown::DocumentKind::Policy,
            text::DocumentKind::Context => shown::DocumentKind::Context,
            text::DocumentKind::Plan => shown::DocumentKind::Plan,
            text::DocumentKind::ToolPool => shown::DocumentKind::ToolPool,
            text::DocumentKind::Profile => shown::DocumentKind::Profile,
            text::DocumentKind::Request => shown::DocumentKind::Request,
            text::DocumentKind::Catalogue => shown::DocumentKind::Catalogue,
            text::DocumentKind::Summary => shown::DocumentKind::Summary,
            text::DocumentKind::Payload => shown::DocumentKind::Payload,
            // The others are not read here.
            _ => shown::DocumentKind::Lock,
        },
        start: point(place.start),
        end: point(place.end),
    }
}

fn point(position: text::Position) -> shown::Point {
    shown::Point {
        line: position.line,
        column: position.utf16_column,
    }
}

pub(crate) fn diagnostics(found: Vec<diagnostic::Diagnostic>) -> Vec<shown::Diagnostic> {
    found.into_iter().map(diagnostic).collect()
}

pub(crate) fn labels(labels: impl Iterator<Item = diagnostic::Label>) -> Vec<shown::Label> {
    let labels = labels.map(|label| shown::Label {
        place: place(&label.place),
        text: label.text,
    });
    labels.collect()
}

fn diagnostic(found: diagnostic::Diagnostic) -> shown::Diagnostic {
    shown::Diagnostic {
        code: found.code.name().to_owned(),
        severity: match found.severity() {
            diagnostic::Severity::Error => shown::Severity::Error,
            diagnostic::Severity::Warning => shown::Severity::Warning,
            diagnostic::Severity::Note => shown::Severity::Note,
        },
        message: found.message,
        labels: labels(found.labels.into_iter()),
        help: found
            .fixes
            .into_iter()
            .map(|fix| fix.title)
            .chain(found.notes)
            .collect(),
    }
}

pub(crate) fn server_name(server: ServerView<'_>) -> shown::ServerName {
    shown::ServerName {
        id: server.id().to_owned(),
        version: server.version().to_owned(),
    }
}

pub(crate) fn server(server: ServerView<'_>) -> shown::Server {
    let constraint_key = server.constraint_key();
    let names = |names: &mut dyn Iterator<Item = &str>| names.map(str::to_owned).collect();
    shown::Server {
        id: server.id().to_owned(),
        version: server.version().to_owned(),
        endpoint: server.endpoint().to_owned(),
        categories: names(&mut server.categories()),
        scopes: names(&mut server.scopes()),
        residency: names(&mut constraint_key.residency().iter().map(Residency::as_str)),
        max_sensitivity: constraint_key.max_sensitivity().as_str().to_owned(),
        signed: constraint_key.signed(),
        publisher: server.publisher().to_owned(),
        place: place(&server.place()),
    }
}

pub(crate) fn constraints(constraints: &Constraints) -> shown::Constraints {
    shown::Constraints {
        residency: constraints.residency().map(|r| r.as_str().to_owned()),
        sensitivity: constraints.sensitivity().map(|s| s.as_str().to_owned()),
        require_signed: constraints.require_signed(),
    }
}

pub(crate) fn eligible(selected: ServerView<'_>, other: ServerView<'_>) -> shown::Eligible {
    let lost_on = TieBreak::between(selected, other);
    shown::Eligible {
        server: server_name(other),
        tool: None,
        lost_on: lost_on.name().to_owned(),
        text: explain::lost(explain::LostOn::Server(lost_on)).to_owned(),
    }
}

pub(crate) fn eligible_tool(
    matching: &Matching,
    selected: ToolView<'_>,
    other: ToolView<'_>,
) -> shown::Eligible {
    let lost_on = matching.preference(selected, other);
    shown::Eligible {
        server: server_name(other.server()),
        tool: Some(other.name().to_owned()),
        lost_on: lost_on.name().to_owned(),
        text: explain::lost(explain::LostOn::Tool(lost_on)).to_owned(),
    }
}

/// What the definition of a tool costs, by the estimate.
pub(crate) fn tokens(tool: ToolView<'_>) -> u32 {
    u32::try_from(token_estimate(&lower::definition(tool))).unwrap_or(u32::MAX)
}

pub(crate) fn tool_entry(tool: ToolView<'_>) -> shown::ToolEntry {
    let advertised = tool.advertised().map(|block| {
        let mut words = block.pair().to_owned();
        let mut before = " + ";
        for tag in block.tags() {
            words += std::mem::replace(&mut before, ", ");
            words += tag;
        }
        words
    });
    shown::ToolEntry {
        name: tool.name().to_owned(),
        description: tool.description().map(str::to_owned),
        advertised: advertised.collect(),
        tokens: tokens(tool),
        place: place(&tool.place()),
    }
}

pub(crate) fn near(
    resolution: &Resolution,
    requirement: usize,
    near: &NearMiss<'_>,
    edited: bool,
) -> shown::NearMiss {
    shown::NearMiss {
        server: server_name(near.server),
        tool: None,
        reasons: reasons(near.reasons.as_slice()),
        fixes: fixes(resolution, requirement, near.server, &near.fixes, edited),
    }
}

pub(crate) fn near_tool(matching: &Matching, near: &NearTool<'_>) -> shown::NearMiss {
    shown::NearMiss {
        server: server_name(near.tool.server()),
        tool: Some(near.tool.name().to_owned()),
        reasons: reasons(near.reasons.as_slice()),
        fixes: tool_fixes(matching, near.tool.server(), &near.fixes),
    }
}

/// Of these only the health of the server can be changed by an edit.
pub(crate) fn tool_fixes(
    matching: &Matching,
    server: ServerView<'_>,
    fixes: &[Counterfactual<'_>],
) -> Vec<shown::Fix> {
    fixes
        .iter()
        .map(|fix| shown::Fix {
            text: explain::fix(fix),
            widening: fix.widening,
            edits: (fix.changes == [Change::Recover])
                .then(|| health::switch(matching, server).edits)
                .filter(|edits| !edits.is_empty()),
        })
        .collect()
}

pub(crate) fn reasons(reasons: &[Rejection<'_>]) -> Vec<shown::Reason> {
    reasons
        .iter()
        .map(|reason| shown::Reason {
            code: reason.code().name().to_owned(),
            text: explain::reason(reason),
        })
        .collect()
}

pub(crate) fn edit(edit: diagnostic::Edit) -> shown::Edit {
    shown::Edit {
        place: place(&edit.place),
        replacement: edit.replacement,
    }
}

/// With the edits that carry them out, or without: making sure of them takes longer than all else.
pub(crate) fn fixes(
    resolution: &Resolution,
    requirement: usize,
    server: ServerView<'_>,
    fixes: &[Counterfactual<'_>],
    edited: bool,
) -> Vec<shown::Fix> {
    let edits = |fix: &Counterfactual<'_>| {
        let edits = explain::edits(resolution, requirement, server, fix)?;
        Some(edits.into_iter().map(edit).collect())
    };
    fixes
        .iter()
        .map(|fix| shown::Fix {
            text: explain::fix(fix),
            widening: fix.widening,
            edits: edited.then(|| edits(fix)).flatten(),
        })
        .collect()
}
