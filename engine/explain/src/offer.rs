//! The places of offered values in the entry of a server.

use agent_diagnostic::Code;
use agent_json_schema::at_pointer;
use agent_model::ServerView;
use agent_syntax::json::{Reader, parse_value};
use agent_text::Place;

/// Returns the place of the value that the check of a code looked at, with brackets and quotes.
/// `None` for a code without a check.
///
/// An index keeps no trees, so the entry is read again.
pub fn offered_at(server: ServerView<'_>, code: Code) -> Option<Place> {
    let pointer = match code {
        Code::MissingCategory => "/categories",
        Code::ToolMissing => "/capabilities/tools",
        Code::MissingScope => "/scopes",
        Code::ResidencyMismatch => "/data/residency",
        Code::SensitivityExceeded => "/data/maxSensitivity",
        Code::UnsignedNotAllowed => "/trust/signed",
        _ => return None,
    };
    let entry = parse_value(&mut Reader::new(server.entry())).ok()?;
    Some(server.place_of(at_pointer(&entry, pointer)?.span))
}
