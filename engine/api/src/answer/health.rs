//! Edits of a health snapshot.

use agent_answer::HealthSwitch;
use agent_decide::Matching;
use agent_diagnostic::Edit;
use agent_lower::Notation;
use agent_model::{Health, HealthStatus, ServerView};
use agent_text::{DocumentKind, Span, Text};

/// Returns the health of a server, and the edit of the snapshot that switches it.
pub(super) fn switch(matching: &Matching, server: ServerView<'_>) -> HealthSwitch {
    let health = matching.evaluation_context().health.as_deref();
    let status = health.and_then(|health| health.status(server.id()));
    // Without a snapshot, health is not checked.
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
    let edits = edit.filter(|edit| {
        let after = agent_explain::apply(before, std::slice::from_ref(edit));
        has_status(&after, server.id(), to)
    });
    HealthSwitch {
        status: status.map(|status| status.as_str().to_owned()),
        considered: health.is_some(),
        to: to.as_str().to_owned(),
        edits: edits.into_iter().collect(),
    }
}

/// Verifies an edit: whether the snapshot has the status.
fn has_status(text: &str, id: &str, status: HealthStatus) -> bool {
    agent_lower::health(text.as_bytes().to_vec(), Notation::ByContent)
        .is_ok_and(|health| health.value.status(id) == Some(status))
}

/// Returns a first snapshot, in which every other server with tools is healthy. A server that it did not
/// list would be unhealthy.
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
        replacement += &line(server.id(), of_it);
        replacement.push('\n');
    }
    let nowhere = Text::new(DocumentKind::Health, String::new()).place(Span::default());
    Some(Edit {
        place: nowhere,
        replacement,
    })
}

/// Returns the edit of a snapshot that sets a status.
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
    let (before, replacement) = if text.starts_with('{') {
        let (separator, end) = match health.servers.is_empty() {
            true => ("", "\n"),
            false => (",", ""),
        };
        let (name, status) = (quoted(id), status.as_str());
        let member = format!("{separator}\n  {name}: \"{status}\"{end}");
        (body.strip_suffix('}')?.trim_end(), member)
    } else {
        let separator = if body.is_empty() { "" } else { "\n" };
        (body, format!("{separator}{}", line(id, status)))
    };
    let at = before.len();
    Some(Edit {
        place: health.text.place(Span::new(at, at)),
        replacement,
    })
}

/// Returns a line of a snapshot in YAML.
fn line(id: &str, status: HealthStatus) -> String {
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let plain = id.starts_with(|c: char| c.is_ascii_alphabetic()) && id.chars().all(in_name);
    let name = if plain { id.to_owned() } else { quoted(id) };
    format!("{name}: {}", status.as_str())
}

/// Returns a name in double quotes, for YAML and JSON. Names contain no control characters.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}
