//! Tool catalogues: each server's present tools, as results of `tools/list`.

use super::fields::{Object, bad_name, each, empty, list, name};
use super::read::{Lowered, TOOLS_SNAPSHOT_LIMIT, read};
use agent_diagnostic::{Code, Problems};
use agent_model::{ListedServer, ListedTool, Name, ServerId, ToolsSnapshot};
use agent_syntax::{Entry, json};
use agent_text::sort::sort_by;
use agent_text::{DocumentKind, Span};

const EXAMPLE: &str =
    "add the server's tools:\n{ \"<server id>\": { \"tools\": [{ \"name\": \"<tool>\" }] } }";

const TOOLS: &str = "add the list:\n\"tools\": [{ \"name\": \"<tool>\" }]";

/// Reads a catalogue: an object that maps each server's id to the result of its `tools/list`.
/// Of each tool the name and the definition count; other fields are ignored.
///
/// # Errors
/// Every problem of the text, ordered by place.
pub fn tools_snapshot(bytes: Vec<u8>) -> Lowered<ToolsSnapshot> {
    read(
        (DocumentKind::Catalogue, bytes, TOOLS_SNAPSHOT_LIMIT),
        |problems| {
            let root = json::parse(problems)?;
            let entries = Object::of(&root, "the catalogue", root.span, problems)?.entries();
            let found = entries.iter().filter_map(|entry| server(entry, problems));
            let mut servers: Vec<_> = found.collect();
            if entries.is_empty() {
                empty(problems, root.span, "the catalogue lists no server").help(EXAMPLE);
            }
            sort_by(&mut servers, |a, b| a.id.cmp(&b.id));
            Some(|text| ToolsSnapshot { text, servers })
        },
    )
}

fn server(entry: &Entry<'_>, problems: &mut Problems<'_>) -> Option<ListedServer> {
    let id = ServerId::new(entry.key.as_ref())
        .map_err(|error| bad_name(problems, entry.key_span, ServerId::RULE, &entry.key, error));
    let result = Object::of(&entry.value, entry.key.as_ref(), entry.key_span, problems)?;
    let listed = result.required("tools", TOOLS, problems)?;
    let path = result.path("tools");
    let items = list(&listed.value, &path, problems)?;
    let mut tools: Vec<(ListedTool, Span)> = Vec::new();
    // An invalid tool has been reported, and does not hide problems of the others.
    each(items, &path, problems, |item, path, problems| {
        let tool = Object::of(item, path, item.span, problems)?;
        let name = tool.read("name", "add:\n\"name\": \"<tool>\"", problems, name)?;
        let listed = ListedTool {
            name: name.value,
            span: item.span,
        };
        tools.push((listed, name.span));
        Some(())
    });
    sort_by(&mut tools, |a, b| (&a.0.name, a.1).cmp(&(&b.0.name, b.1)));
    for same in tools
        .windows(2)
        .filter(|pair| pair[0].0.name == pair[1].0.name)
    {
        let message = format!("two tools have the name `{}`", same[1].0.name);
        problems
            .report(Code::DuplicateKey, same[1].1, "repeated here", message)
            .also(same[0].1, "first here")
            .help("list each tool once: agents call it by its name alone");
    }
    Some(ListedServer {
        id: id.ok()?,
        tools: tools.into_iter().map(|(tool, _)| tool).collect(),
    })
}
