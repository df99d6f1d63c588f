//! The live list of a server's tools against the locked definition.

use super::server::ServerUse;
use agent_json_schema::JsonText;
use agent_lower::ToolEntry;

/// A reason why a tool of a live list can't be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListingDenial {
    /// The list is not the strict JSON of a `tools/list` result.
    Unreadable,
    /// The server no longer lists the tool.
    Missing,
    /// The server lists several tools of that name.
    Ambiguous,
    /// The definition is not the locked one.
    Changed {
        /// The locked digest.
        locked: String,
        /// The digest of the listed definition.
        present: String,
    },
}

/// Compares the tool of a step with the result of `tools/list`. Other tools of the list, whatever is
/// wrong with them, change nothing.
///
/// # Errors
/// The reason why the tool can't be called.
pub(super) fn check_listing(server: &ServerUse, list: &str) -> Result<(), ListingDenial> {
    let text = JsonText::strict(list).ok_or(ListingDenial::Unreadable)?;
    let tools = text.root().member("tools").and_then(|it| it.items());
    let tools = tools.ok_or(ListingDenial::Unreadable)?;
    let mut found = tools.filter(|tool| {
        let name = tool.member("name").and_then(|it| it.string());
        name == Some(&*server.tool)
    });
    let tool = found.next().ok_or(ListingDenial::Missing)?;
    if found.next().is_some() {
        return Err(ListingDenial::Ambiguous);
    }
    let entry = ToolEntry::read(tool.span().of(list));
    let is_locked = |digest: &str| digest == server.definition;
    let (present, _) = entry.locked_form(&server.tool, is_locked);
    if present == server.definition {
        return Ok(());
    }
    Err(ListingDenial::Changed {
        locked: server.definition.clone(),
        present,
    })
}
