//! The engine's values as those that are shown.

use agent_engine::decide::{Counterfactual, Near, Resolution, TieBreak};
use agent_engine::model::{Constraints, Residency, ServerView};
use agent_engine::{diagnostic, explain, text};
use agent_protocol as shown;

pub(crate) fn place(place: &text::Place) -> shown::Place {
    shown::Place {
        source: match place.source {
            text::Source::Manifest => shown::Source::Manifest,
            text::Source::Index => shown::Source::Index,
            // No compact explanation is read here.
            text::Source::Lock | text::Source::Explanation => shown::Source::Lock,
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

pub(crate) fn diagnostic(found: diagnostic::Diagnostic) -> shown::Diagnostic {
    shown::Diagnostic {
        code: found.code.name().to_owned(),
        severity: match found.severity() {
            diagnostic::Severity::Error => shown::Severity::Error,
            diagnostic::Severity::Warning => shown::Severity::Warning,
        },
        message: found.message,
        labels: found
            .labels
            .into_iter()
            .map(|label| shown::Label {
                place: place(&label.place),
                text: label.text,
            })
            .collect(),
        help: found.help,
    }
}

pub(crate) fn server_name(server: ServerView<'_>) -> shown::ServerName {
    shown::ServerName {
        id: server.id().to_owned(),
        version: server.version().to_owned(),
    }
}

pub(crate) fn server(server: ServerView<'_>) -> shown::Server {
    let gate = server.gate();
    let names = |names: &mut dyn Iterator<Item = &str>| names.map(str::to_owned).collect();
    shown::Server {
        id: server.id().to_owned(),
        version: server.version().to_owned(),
        endpoint: server.endpoint().to_owned(),
        categories: names(&mut server.categories()),
        scopes: names(&mut server.scopes()),
        residency: names(&mut gate.residency().iter().map(Residency::as_str)),
        max_sensitivity: gate.max_sensitivity().as_str().to_owned(),
        signed: gate.signed(),
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
        lost_on: lost_on.name().to_owned(),
        text: explain::lost(lost_on).to_owned(),
    }
}

pub(crate) fn near(
    resolution: &Resolution,
    requirement: usize,
    near: &Near<'_>,
    edited: bool,
) -> shown::Near {
    shown::Near {
        server: server_name(near.server),
        reasons: reasons(near),
        fixes: fixes(resolution, requirement, near, edited),
    }
}

pub(crate) fn reasons(near: &Near<'_>) -> Vec<shown::Reason> {
    near.reasons
        .as_slice()
        .iter()
        .map(|reason| shown::Reason {
            code: reason.code().name().to_owned(),
            text: explain::reason(reason),
        })
        .collect()
}

/// With the edits that carry them out, or without: making sure of them takes longer than all else.
pub(crate) fn fixes(
    resolution: &Resolution,
    requirement: usize,
    near: &Near<'_>,
    edited: bool,
) -> Vec<shown::Fix> {
    let edits = |fix: &Counterfactual<'_>| {
        let edits = explain::edits(resolution, requirement, near.server, fix)?;
        let edit = |edit: explain::Edit| shown::Edit {
            place: place(&edit.place),
            replacement: edit.replacement,
        };
        Some(edits.into_iter().map(edit).collect())
    };
    near.fixes
        .iter()
        .map(|fix| shown::Fix {
            text: explain::fix(fix),
            widening: fix.widening,
            edits: edited.then(|| edits(fix)).flatten(),
        })
        .collect()
}
