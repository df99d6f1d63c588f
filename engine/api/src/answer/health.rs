//! Edits of a health snapshot.

use agent_answer::HealthSwitch;
use agent_decide::Matching;
use agent_diagnostic::Edit;
use agent_lower::Notation;
use agent_model::{Health, HealthStatus, ServerView};
use agent_text::{DocumentKind, Place, Span, Text};

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
        None => {
            let nowhere = Text::new(DocumentKind::Health, String::new()).place(Span::default());
            Some((nowhere, snapshot(matching, server.id(), to)))
        }
        Some(health) => edit(health, server.id(), to),
    };
    let edit = edit.map(|(place, replacement)| Edit { place, replacement });
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
fn snapshot(matching: &Matching, id: &str, status: HealthStatus) -> String {
    let index = matching.index();
    let servers = index.by_name().iter().map(|rank| index.server(*rank));
    let with_tools = servers.filter(|server| server.tools().len() > 0);
    let mut ids: Vec<_> = with_tools.map(ServerView::id).collect();
    ids.dedup();
    let lines = ids.into_iter().map(|each| match each == id {
        true => line(each, status) + "\n",
        false => line(each, HealthStatus::Healthy) + "\n",
    });
    lines.collect()
}

/// Returns the place in a snapshot and the text that sets a status there.
fn edit(health: &Health, id: &str, status: HealthStatus) -> Option<(Place, String)> {
    let text = health.text.as_str();
    if let Some((_, span)) = health.servers.get(id) {
        let quote = span.of(text).chars().next();
        let quote = quote.filter(|first| matches!(first, '"' | '\''));
        let quote = quote.map(String::from).unwrap_or_default();
        let replacement = format!("{quote}{}{quote}", status.as_str());
        return Some((health.text.place(*span), replacement));
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
    let end = Span::new(before.len(), before.len());
    Some((health.text.place(end), replacement))
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
