//! The definition of a tool, as an agent sees it, and its digest.

use super::integrity::sha256;
use crate::model::ToolView;
use crate::syntax::json::{Reader, parse_value, write_string};
use crate::syntax::{Value, canonical_node};

/// The members of a tool's entry that make up its definition, besides its name: sorted.
const MEMBERS: [&str; 4] = ["annotations", "description", "inputSchema", "outputSchema"];

/// The RFC 8785 form of `{name, description, inputSchema, outputSchema, annotations}` of a tool:
/// those that are present, the name being the key \[4\].
pub fn definition(tool: ToolView<'_>) -> String {
    let mut out = String::from("{");
    let mut named = false;
    let mut name = |out: &mut String| {
        if !std::mem::replace(&mut named, true) {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str("\"name\":");
            write_string(tool.name(), out);
        }
    };
    // The entry was read when the index was loaded, so that it is a JSON object.
    if let Ok(node) = parse_value(&mut Reader::new(tool.entry()))
        && let Value::Mapping(entries) = &node.value
    {
        for key in MEMBERS {
            let Some(entry) = entries.iter().find(|entry| entry.key == key) else {
                continue;
            };
            if key > "name" {
                name(&mut out);
            }
            if out.len() > 1 {
                out.push(',');
            }
            write_string(key, &mut out);
            out.push(':');
            canonical_node(&entry.value, &mut out);
        }
    }
    name(&mut out);
    out.push('}');
    out
}

/// The digest of a tool's definition, in the form of an integrity.
pub fn definition_digest(tool: ToolView<'_>) -> String {
    digest(&definition(tool))
}

/// The digest of the RFC 8785 form of a definition, in the form of an integrity.
pub fn digest(definition: &str) -> String {
    sha256(definition)
}
