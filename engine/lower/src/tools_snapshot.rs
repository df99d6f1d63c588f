//! Tool catalogues: each server's present tools, as results of `tools/list`.

use super::fields::{Object, bad_name, list, name};
use super::{CATALOGUE_LIMIT, Checked, Lowered, decode};
use agent_diagnostic::{Code, Problems};
use agent_model::{ListedServer, ListedTool, Name, ServerId, ToolsSnapshot};
use agent_syntax::{Entry, Node, Value, json};
use agent_text::sort::sort_by;
use agent_text::{DocumentKind, Span};

const EXAMPLE: &str = "add a server, for example\n{ \"acme-reports\": { \"tools\": [] } }";

/// Reads a catalogue: an object that maps each server's id to the result of its `tools/list`.
/// Of each tool the name and the definition count; other fields are ignored.
///
/// # Errors
/// Every problem of the text, ordered by place.
pub fn tools_snapshot(bytes: Vec<u8>) -> Lowered<ToolsSnapshot> {
    let text = decode(DocumentKind::Catalogue, bytes, CATALOGUE_LIMIT)?;
    let mut problems = Problems::new(&text);
    let servers = json::parse(&mut problems).and_then(|root| read(&root, &mut problems));
    let errors = problems.has_errors();
    let found = problems.finish();
    match servers {
        Some(servers) if !errors => Ok(Checked {
            value: ToolsSnapshot { text, servers },
            warnings: found,
        }),
        _ => Err(found),
    }
}

fn read(node: &Node<'_>, problems: &mut Problems<'_>) -> Option<Vec<ListedServer>> {
    let Value::Mapping(entries) = &node.value else {
        // Reports the type that was found.
        Object::of(node, "the catalogue", node.span, problems)?;
        return None;
    };
    let mut servers: Vec<_> = entries
        .iter()
        .filter_map(|entry| server(entry, problems))
        .collect();
    if entries.is_empty() {
        problems
            .report(
                Code::EmptyValue,
                node.span,
                "empty",
                "the catalogue lists no server",
            )
            .help(EXAMPLE);
    }
    sort_by(&mut servers, |a, b| a.id.cmp(&b.id));
    Some(servers)
}

fn server(entry: &Entry<'_>, problems: &mut Problems<'_>) -> Option<ListedServer> {
    let id = ServerId::new(entry.key.as_ref())
        .map_err(|error| bad_name(problems, entry.key_span, ServerId::RULE, &entry.key, error));
    let result = Object::of(&entry.value, entry.key.as_ref(), entry.key_span, problems)?;
    let listed = result.required("tools", EXAMPLE, problems)?;
    let items = list(&listed.value, &result.path("tools"), problems)?;
    let mut tools: Vec<(ListedTool, Span)> = Vec::new();
    for (i, item) in items.iter().enumerate() {
        let path = format!("{}[{i}]", result.path("tools"));
        let Some(tool) = Object::of(item, path.as_str(), item.span, problems) else {
            continue;
        };
        let named = tool.required("name", "add:\n\"name\": \"search\"", problems);
        let named = named.and_then(|it| name(&it.value, &tool.path("name"), problems));
        if let Some(name) = named {
            let listed = ListedTool {
                name: name.value,
                span: item.span,
            };
            tools.push((listed, name.span));
        }
    }
    sort_by(&mut tools, |a, b| (&a.0.name, a.1).cmp(&(&b.0.name, b.1)));
    for same in tools
        .windows(2)
        .filter(|pair| pair[0].0.name == pair[1].0.name)
    {
        problems
            .report(
                Code::DuplicateKey,
                same[1].1,
                "repeated here",
                format!("two tools have the name `{}`", same[1].0.name),
            )
            .also(same[0].1, "first here")
            .help("list each tool once: agents call it by its name alone");
    }
    Some(ListedServer {
        id: id.ok()?,
        tools: tools.into_iter().map(|(tool, _)| tool).collect(),
    })
}
