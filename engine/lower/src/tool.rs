//! The definition of a tool, as an agent sees it, and its digest.

use super::integrity::sha256;
use agent_model::ToolView;
use agent_syntax::json::{Reader, parse_value, write_string};
use agent_syntax::{Entry, Value, canonical_node};

/// The fields of a tool's entry in its definition, besides its name: sorted.
const MEMBERS: [&str; 4] = ["annotations", "description", "inputSchema", "outputSchema"];

/// Returns the RFC 8785 form of a tool's `{name, description, inputSchema, outputSchema,
/// annotations}`. Absent fields are left out, and the name is the tool's key \[4\].
pub fn definition(tool: ToolView<'_>) -> String {
    definition_of(tool.name(), tool.entry())
}

/// Returns the definition of a tool from its name and its JSON object.
pub fn definition_of(tool: &str, entry: &str) -> String {
    let mut out = String::from("{");
    let mut named = false;
    let mut name = |out: &mut String| {
        if !std::mem::replace(&mut named, true) {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str("\"name\":");
            write_string(tool, out);
        }
    };
    let entries = members(entry);
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
    name(&mut out);
    out.push('}');
    out
}

/// Returns the fields of a tool's JSON object, which was parsed with its document.
fn members(entry: &str) -> Vec<Entry<'_>> {
    match parse_value(&mut Reader::new(entry)).map(|node| node.value) {
        Ok(Value::Mapping(entries)) => entries,
        _ => Vec::new(),
    }
}

/// Returns the JSON text of a tool's `inputSchema`, if it has one.
pub fn input_schema(entry: &str) -> Option<&str> {
    member_of(entry, "inputSchema")
}

/// Returns the JSON text of a tool's `outputSchema`, if it has one.
pub fn output_schema(entry: &str) -> Option<&str> {
    member_of(entry, "outputSchema")
}

fn member_of<'e>(entry: &'e str, name: &str) -> Option<&'e str> {
    let members = members(entry);
    let member = members.iter().find(|member| member.key == name)?;
    Some(member.value.span.of(entry))
}

/// Returns a boolean of a tool's `annotations`, if it is present.
pub fn hint(entry: &str, name: &str) -> Option<bool> {
    let members = members(entry);
    let annotations = members.iter().find(|member| member.key == "annotations")?;
    let Value::Mapping(annotations) = &annotations.value.value else {
        return None;
    };
    match annotations
        .iter()
        .find(|hint| hint.key == name)?
        .value
        .value
    {
        Value::Bool(said) => Some(said),
        _ => None,
    }
}

/// Returns the digest of a tool's definition, in the form of an integrity.
pub fn definition_digest(tool: ToolView<'_>) -> String {
    digest(&definition(tool))
}

/// Returns the digest of a definition's RFC 8785 form, in the form of an integrity.
pub fn digest(definition: &str) -> String {
    sha256(definition)
}
