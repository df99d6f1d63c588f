//! The definition of a tool, as an agent sees it, and its digest.

use super::document::member;
use super::integrity::digest;
use agent_model::ToolView;
use agent_syntax::json::{Reader, parse_value, write_string};
use agent_syntax::{Entry, Node, Value, canonical_node};

/// The fields of a definition, sorted.
const MEMBERS: [&str; 5] = [
    "annotations",
    "description",
    "inputSchema",
    "name",
    "outputSchema",
];

/// Returns the RFC 8785 form of a tool's `{name, description, inputSchema, outputSchema,
/// annotations}`. Absent fields are left out, and the name is the tool's key \[4\].
pub fn definition(tool: ToolView<'_>) -> String {
    ToolEntry::read(tool.entry()).definition(tool.name())
}

/// The JSON object of a tool, parsed with its document before.
#[derive(Debug)]
pub struct ToolEntry<'e> {
    text: &'e str,
    members: Vec<Entry<'e>>,
}

impl<'e> ToolEntry<'e> {
    /// Reads the text of the object.
    pub fn read(text: &'e str) -> Self {
        let members = match parse_value(&mut Reader::new(text)).map(|node| node.value) {
            Ok(Value::Mapping(entries)) => entries,
            _ => Vec::new(),
        };
        Self { text, members }
    }

    fn member(&self, name: &str) -> Option<&Node<'e>> {
        let mut members = self.members.iter();
        Some(&members.find(|member| member.key == name)?.value)
    }

    /// Returns the definition of the tool of this name.
    pub fn definition(&self, tool: &str) -> String {
        let mut out = String::from("{");
        for key in MEMBERS {
            let value = self.member(key);
            if value.is_none() && key != "name" {
                continue;
            }
            if out.len() > 1 {
                out.push(',');
            }
            write_string(key, &mut out);
            out.push(':');
            match value.filter(|_| key != "name") {
                Some(value) => canonical_node(value, &mut out),
                None => write_string(tool, &mut out),
            }
        }
        out.push('}');
        out
    }

    /// Returns the members that an agent sees, but for the name.
    pub(super) fn shown(&self) -> impl Iterator<Item = (&'static str, &Node<'e>)> {
        let members = MEMBERS.into_iter().filter(|key| *key != "name");
        members.filter_map(|key| Some((key, self.member(key)?)))
    }

    /// Returns the JSON text of `inputSchema`, if the tool has one.
    pub fn input_schema(&self) -> Option<&'e str> {
        Some(self.member("inputSchema")?.span.of(self.text))
    }

    /// Returns the JSON text of `outputSchema`, if the tool has one.
    pub fn output_schema(&self) -> Option<&'e str> {
        Some(self.member("outputSchema")?.span.of(self.text))
    }

    /// Returns a boolean of `annotations`, if it is present.
    pub fn hint(&self, name: &str) -> Option<bool> {
        match member(self.member("annotations")?, name)?.value {
            Value::Bool(hint) => Some(hint),
            _ => None,
        }
    }
}

/// Returns the digest of a tool's definition, in the form of an integrity.
pub fn definition_digest(tool: ToolView<'_>) -> String {
    digest(&definition(tool))
}
