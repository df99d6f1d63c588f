//! A server's own manifest \[4, 3\]: its name, its version and the tools that it advertises.

use super::described::{DescribedServer, FieldValue, Tool, Tools};
use super::left_out::{Defect, definition_defect, name_defect};
use super::output::Base;
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
        at: name.1,
        version: version(server.optional("version"), problems),
        endpoint: FieldValue::Absent,
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
    let base = Base::of_document(problems.text().number());
    let mut found = Tools::default();
    for entry in object.entries() {
        if entry.key == "listChanged" && matches!(entry.value.value, Value::Bool(_)) {
            found.list_changed = Some(entry);
            continue;
        }
        let defect = match &entry.value.value {
            Value::Mapping(tool) => name_defect(&entry.key, entry.key_span)
                .or_else(|| definition_defect(tool, false, entry.key_span))
                .map_or_else(|| Ok(Tool::of(tool, &entry.value, entry.key_span)), Err),
            _ => Err(Defect::not_an_object(&entry.value)),
        };
        match defect {
            Ok(tool) => {
                found.tools.insert(&entry.key, tool);
            }
            Err(defect) => found.left_out.add(&entry.key, defect, base),
        }
    }
    Some(found)
}
