//! A snapshot of health in which a server does otherwise.

use crate::convert;
use agent_api::decide::Matching;
use agent_api::diagnostic::Edit;
use agent_api::explain;
use agent_api::lower::{self, Notation};
use agent_api::model::{Health, HealthStatus, ServerView};
use agent_api::text::{DocumentKind, Span, Text};
use agent_protocol as shown;

/// How a server does, and the edits of the snapshot that have it do otherwise.
pub(crate) fn switch(matching: &Matching, server: ServerView<'_>) -> shown::HealthSwitch {
    let health = matching.evaluation_context().health.as_deref();
    let status = health.and_then(|health| health.status(server.id()));
    // Without a snapshot nobody asks for health, as if all were well.
    let passes = health.is_none() || status.is_some_and(HealthStatus::passes);
    let to = if passes {
        HealthStatus::Unhealthy
    } else {
        HealthStatus::Healthy
    };
    let edit = match health {
        None => snapshot(matching, server.id(), to),
        Some(health) => edit(health, server.id(), to),
    };
    let before = health.map_or("", |health| health.text.as_str());
    let edits = edit
        .filter(|edit| {
            says(
                &explain::apply(before, std::slice::from_ref(edit)),
                server.id(),
                to,
            )
        })
        .map(convert::edit);
    shown::HealthSwitch {
        status: status.map(|status| status.as_str().to_owned()),
        considered: health.is_some(),
        to: to.as_str().to_owned(),
        edits: edits.into_iter().collect(),
    }
}

/// Whether a snapshot says so: the edit is made sure of.
fn says(text: &str, id: &str, status: HealthStatus) -> bool {
    lower::health(text.as_bytes().to_vec(), Notation::ByContent)
        .is_ok_and(|health| health.value.status(id) == Some(status))
}

/// A first snapshot: all servers with tools are healthy but this one. One that is not in it would
/// be unhealthy.
fn snapshot(matching: &Matching, id: &str, status: HealthStatus) -> Option<Edit> {
    let index = matching.index();
    let mut replacement = String::new();
    let mut last = None;
    for rank in index.by_name() {
        let server = index.server(*rank);
        let known = last.replace(server.id()) == Some(server.id());
        if known || server.tools().len() == 0 {
            continue;
        }
        let of_it = if server.id() == id {
            status
        } else {
            HealthStatus::Healthy
        };
        line(&mut replacement, server.id(), of_it);
    }
    let nowhere = Text::new(DocumentKind::Health, String::new()).place(Span::default());
    Some(Edit {
        place: nowhere,
        replacement,
    })
}

/// The edit of a snapshot.
fn edit(health: &Health, id: &str, status: HealthStatus) -> Option<Edit> {
    let text = health.text.as_str();
    if let Some((_, span)) = health.servers.get(id) {
        let word = span.of(text);
        let quote = word
            .chars()
            .next()
            .filter(|first| matches!(first, '"' | '\''));
        let quote = quote.map(String::from).unwrap_or_default();
        return Some(Edit {
            place: health.text.place(*span),
            replacement: format!("{quote}{}{quote}", status.as_str()),
        });
    }
    let body = text.trim_end();
    let mut replacement = String::new();
    let at = if text.starts_with('{') {
        let before = body.strip_suffix('}')?.trim_end();
        if !health.servers.is_empty() {
            replacement.push(',');
        }
        replacement += "\n  ";
        string(&mut replacement, id);
        replacement += ": \"";
        replacement += status.as_str();
        replacement.push('"');
        if health.servers.is_empty() {
            replacement.push('\n');
        }
        before.len()
    } else {
        if !body.is_empty() {
            replacement.push('\n');
        }
        line(&mut replacement, id, status);
        replacement.pop();
        body.len()
    };
    Some(Edit {
        place: health.text.place(Span::new(at, at)),
        replacement,
    })
}

/// A line of a snapshot in YAML.
fn line(out: &mut String, id: &str, status: HealthStatus) {
    let plain = id.starts_with(|c: char| c.is_ascii_alphabetic())
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'));
    if plain {
        out.push_str(id);
    } else {
        string(out, id);
    }
    *out += ": ";
    *out += status.as_str();
    out.push('\n');
}

/// A name in double quotes, for YAML and JSON. Names hold no control characters.
fn string(out: &mut String, name: &str) {
    out.push('"');
    for c in name.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}
