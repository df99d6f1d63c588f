//! Descriptions of one version of a server that contradict each other.

use super::capture::FIELDS;
use super::described::{DescribedServer, FieldValue, Tool, Tools};
use super::endpoint::package_url;
use agent_syntax::canonical_node;
use agent_text::{Span, visible};
use std::borrow::Cow;

/// A contradiction between two descriptions.
pub(super) struct Conflict {
    /// What differs.
    pub(super) what: String,
    /// The place in the first description.
    pub(super) before: Span,
    /// The place in the second one.
    pub(super) now: Span,
}

/// Returns the first contradiction between two descriptions of a server in one version. Whether endpoints count is
/// the caller's choice.
pub(super) fn conflict(
    before: &DescribedServer<'_>,
    now: &DescribedServer<'_>,
    version: &str,
    of_endpoint: bool,
) -> Option<Conflict> {
    if of_endpoint
        && let Some((one, first)) = endpoint(&before.endpoint, version)
        && let Some((other, again)) = endpoint(&now.endpoint, version)
        && one != other
    {
        return Some(Conflict {
            what: "the endpoint".to_owned(),
            before: first,
            now: again,
        });
    }
    let is_complete = |tools: &&Tools<'_>| tools.complete;
    let one = before.tools.as_ref().filter(is_complete)?;
    let other = now.tools.as_ref().filter(is_complete)?;
    let of_tool = |name: &str, first: Span, again: Span| Conflict {
        what: format!("the tool `{}`", visible(name)),
        before: first,
        now: again,
    };
    for (name, tool) in &one.tools {
        match other.tools.get(name) {
            Some(again) if is_same(tool, again) => {}
            Some(again) => return Some(of_tool(name, tool.name, again.name)),
            None if other.left_out.has(name) => {}
            None => return Some(of_tool(name, tool.name, now.at)),
        }
    }
    let mut added = other.tools.iter();
    let (name, tool) =
        added.find(|(name, _)| !one.tools.contains_key(*name) && !one.left_out.has(name))?;
    Some(of_tool(name, before.at, tool.name))
}

/// Returns the endpoint that a description gives a version.
fn endpoint<'s>(value: &'s FieldValue<'_>, version: &str) -> Option<(Cow<'s, str>, Span)> {
    match value {
        FieldValue::Value(value, span) => Some((Cow::Borrowed(value), *span)),
        FieldValue::OfVersion {
            before,
            after,
            span,
        } => Some((package_url(before, version, after).into(), *span)),
        _ => None,
    }
}

/// Returns whether two definitions say the same.
fn is_same(one: &Tool<'_>, other: &Tool<'_>) -> bool {
    let field = |tool: &Tool<'_>, key: &str| {
        let found = tool.fields.iter().find(|it| it.key == key)?;
        let mut text = String::new();
        canonical_node(&found.value, &mut text);
        Some(text)
    };
    FIELDS
        .iter()
        .all(|key| field(one, key) == field(other, key))
}
