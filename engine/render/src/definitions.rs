//! `agents.definitions.json`.

use agent_decide::locked_definitions;
use agent_lower::definition;
use agent_model::{Index, Lock, ToolView};
use agent_syntax::json::{Reader, Writer, parse_value};
use agent_syntax::{Node, Value, canonical_node};
use agent_text::sort::sort_by;

/// Returns the text of `agents.definitions.json`, or `None` if no tool belongs into it.
pub fn definitions(lock: &Lock, index: &Index) -> Option<String> {
    let tools = locked_definitions(lock, index);
    if tools.is_empty() {
        return None;
    }
    let mut w = Writer::pretty();
    w.object(|w| {
        for (digest, tool) in &tools {
            w.key(digest);
            write_definition(w, *tool);
        }
    });
    Some(w.finish())
}

/// Returns the definition of a tool as `agents.definitions.json` has it, line by line.
pub fn definition_lines(tool: ToolView<'_>) -> String {
    let mut w = Writer::pretty();
    write_definition(&mut w, tool);
    w.finish()
}

fn write_definition(w: &mut Writer, tool: ToolView<'_>) {
    let text = definition(tool);
    // It was written from a tree.
    if let Ok(node) = parse_value(&mut Reader::new(&text)) {
        write_sorted(w, &node);
    }
}

/// Writes a value with the keys of its objects in order, and its numbers as RFC 8785 does.
fn write_sorted(w: &mut Writer, node: &Node<'_>) {
    match &node.value {
        Value::Sequence(items) => w.array(|w| items.iter().for_each(|item| write_sorted(w, item))),
        Value::Mapping(entries) => w.object(|w| {
            let mut entries: Vec<_> = entries.iter().collect();
            sort_by(&mut entries, |a, b| a.key.cmp(&b.key));
            for entry in entries {
                w.key(&entry.key);
                write_sorted(w, &entry.value);
            }
        }),
        _ => {
            let mut text = String::new();
            canonical_node(node, &mut text);
            w.json(&text);
        }
    }
}
