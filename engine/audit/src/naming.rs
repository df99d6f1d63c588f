//! Names in records are in the catalogues.

use super::catalogue::Catalogues;
use super::folder::quoted;
use super::members::{at, items, string};
use super::problems::{At, Found};
use super::recorded::{Record, Recorded};
use agent_api::diagnostic::Code;
use agent_api::schema::Library;
use agent_syntax::{Node, Value};

/// The members whose value is the name of a schema or an envelope.
const NAMES: [&str; 2] = ["/schema_id", "/envelope_id"];

/// Checks the names in every record against the catalogues of a library.
pub(crate) fn check(recorded: &Recorded<'_>, library: &Library, found: &mut Found) {
    let catalogues = Catalogues::of(library);
    for record in &recorded.episodes {
        episode(record, &catalogues, found);
    }
    for record in recorded.records() {
        let mut refuse = |node: &Node<'_>, what: &str| {
            report(record, node, what, found);
        };
        for pointer in NAMES {
            let name = at(&record.root, pointer);
            if let Some(node) = name.filter(|it| !is_in(it, |name| catalogues.has_name(name))) {
                refuse(node, "layers and namespaces");
            }
        }
        let channel = at(&record.root, "/plan/model_instruction/channel");
        if let Some(node) = channel.filter(|it| !is_in(it, |id| catalogues.has_channel(id))) {
            refuse(node, "text channels");
        }
    }
}

fn episode(record: &Record<'_>, catalogues: &Catalogues<'_>, found: &mut Found) {
    let root = &record.root;
    let kind = string(root, "/episode_type").unwrap_or_default();
    if let Some(node) = at(root, "/episode_type").filter(|_| !catalogues.has_episode_type(kind)) {
        report(record, node, "episode types", found);
    }
    if let Some(node) = at(root, "/security_event_type") {
        let list = "security_event_type";
        if !is_in(node, |id| catalogues.has_security_name(list, id)) {
            report(record, node, "security event types", found);
        }
        let event = string(root, "/security_event_type").unwrap_or_default();
        if kind != format!("security_event/{event}") {
            let message = format!("{} is not the type of this episode", quoted(event));
            let at = Some(At::new(record.file, node.span));
            found.report(Code::EvidenceInconsistent, at, "another type", message);
        }
    }
    for action in items(root, "/actions_taken") {
        let list = "security_action_type";
        let node = at(action, "/action_type");
        let is_known = |it: &&Node<'_>| is_in(it, |id| catalogues.has_security_name(list, id));
        if let Some(node) = node.filter(|it| !is_known(it)) {
            report(record, node, "security action types", found);
        }
    }
    for (list, member) in [
        ("/input_envelopes", "/envelope_type"),
        ("/input_data_refs", "/data_type"),
        ("/output_data_refs", "/data_type"),
    ] {
        for node in items(root, list).iter().filter_map(|it| at(it, member)) {
            if !is_in(node, |name| catalogues.has_name(name)) {
                report(record, node, "layers and namespaces", found);
            }
        }
    }
}

/// Returns whether a value is a known name. Its schema refuses what is not a string.
fn is_in(node: &Node<'_>, is_known: impl Fn(&str) -> bool) -> bool {
    match &node.value {
        Value::String(name) => is_known(name),
        _ => true,
    }
}

fn report(record: &Record<'_>, node: &Node<'_>, catalogue: &str, found: &mut Found) {
    let name = match &node.value {
        Value::String(name) => quoted(name),
        _ => "the value".to_owned(),
    };
    let message = format!("{name} is not in MOVA's catalogue of {catalogue}");
    let at = Some(At::new(record.file, node.span));
    found.report(Code::EvidenceInvalid, at, "not in the catalogue", message);
}
