//! A server's own manifest \[4, 3\]: its name, its version and the tools that it advertises.

use super::capture::check_name;
use super::described::{DescribedServer, FieldValue, Tool, Tools};
use super::registry::{spanned_text, version};
use agent_diagnostic::Problems;
use agent_lower::fields::{Object, opening};
use agent_syntax::{Entry, Node, Value};

/// Reads the server of a manifest. Returns `None` if it has no name.
pub(super) fn read<'a>(
    root: &'a Node<'a>,
    problems: &mut Problems<'_>,
) -> Option<DescribedServer<'a>> {
    let server = Object::of(root, "the manifest", opening(root), problems)?.rename("");
    let help = "add the name of the server:\n\"name\": \"reports\"";
    let name = server.read("name", help, problems, spanned_text)?;
    let capabilities = server.object("capabilities", problems)?;
    let advertised = capabilities.optional("tools")?;
    Some(DescribedServer {
        document: problems.text().number(),
        names: vec![name],
        version: version(server.optional("version"), problems),
        endpoint: FieldValue::Absent,
        captured: true,
        tools: tools(advertised, problems),
    })
}

/// Reads the tools that a server advertises by name. MCP's `listChanged` is not one.
pub(super) fn tools<'a>(
    advertised: &'a Entry<'a>,
    problems: &mut Problems<'_>,
) -> Option<Tools<'a>> {
    let key = advertised.key_span;
    let object = Object::of(&advertised.value, "capabilities.tools", key, problems)?;
    let mut found = Tools::default();
    for entry in object.entries() {
        if entry.key == "listChanged" && matches!(entry.value.value, Value::Bool(_)) {
            found.list_changed = Some(entry);
            continue;
        }
        let path = object.path(&entry.key);
        let Some(tool) = Object::of(&entry.value, path, entry.key_span, problems) else {
            continue;
        };
        if check_name(&entry.key, entry.key_span, problems).is_some() {
            let tool = Tool::of(&tool, &entry.value, entry.key_span);
            found.tools.insert(&entry.key, tool);
        }
    }
    Some(found)
}
