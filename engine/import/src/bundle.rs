//! The manifest of a bundle: MCPB, which was named DXT.

use super::capture::at;
use super::described::{DescribedServer, FieldValue, Tool, Tools, member};
use super::left_out::{Defect, definition_defect, name_defect};
use super::output::Base;
use super::registry::{spanned_text, version};
use agent_diagnostic::Problems;
use agent_lower::fields::{Object, opening};
use agent_syntax::members::items;
use agent_syntax::{Node, Value};

/// The members that have the version of the form.
pub(super) const MARKS: [&str; 2] = ["manifest_version", "dxt_version"];

/// Reads the server of a bundle. Returns `None` if it has no name.
pub(super) fn read<'a>(
    root: &'a Node<'a>,
    problems: &mut Problems<'_>,
) -> Option<DescribedServer<'a>> {
    let bundle = Object::of(root, "the manifest", opening(root), problems)?.rename("");
    let help = "add the name of the bundle:\n\"name\": \"reports\"";
    let name = bundle.read("name", help, problems, spanned_text)?;
    let listed = bundle.optional("tools").and_then(|it| items(&it.value));
    Some(DescribedServer {
        document: problems.text().number(),
        names: vec![name],
        at: name.1,
        version: version(bundle.optional("version"), problems),
        // The bundle's files are where a person installs them.
        endpoint: FieldValue::NoPackage(name.1),
        tools: listed.map(|items| tools(items, problems)),
    })
}

/// Reads the tools of a bundle: names and descriptions.
fn tools<'a>(items: &'a [Node<'a>], problems: &Problems<'_>) -> Tools<'a> {
    let base = Base::of_document(problems.text().number());
    let mut found = Tools::default();
    for (number, item) in items.iter().enumerate() {
        let name = at(item, &["name"]).map(|it| &it.value);
        let read = match (&item.value, name) {
            (
                Value::Mapping(entries),
                Some(Node {
                    value: Value::String(name),
                    span,
                }),
            ) => {
                let defect = name_defect(name, *span)
                    .or_else(|| definition_defect(entries, false, opening(item)));
                defect.map_or_else(|| Ok((&**name, Tool::of(entries, item, *span))), Err)
            }
            (Value::Mapping(_), Some(name)) => Err(Defect::name_type(name)),
            (Value::Mapping(_), None) => Err(Defect::no_name(opening(item))),
            _ => Err(Defect::not_an_object(item)),
        };
        match read {
            Ok((name, tool)) => {
                found.tools.insert(name, tool);
            }
            Err(defect) => found
                .left_out
                .add(&format!("tools[{number}]"), defect, base),
        }
    }
    found
}

/// Returns whether a document is the manifest of a bundle.
pub(super) fn fits(root: &Node<'_>) -> bool {
    match &root.value {
        Value::Mapping(entries) => MARKS.iter().any(|mark| member(entries, mark).is_some()),
        _ => false,
    }
}
