//! The request of `/v1/decide`.

use super::answer::Refusal;
use super::given::Given;
use agent_host::contract::decision_point::{AskedCall, CallSubject};

/// Reads a question. A member that is not known is refused: arguments under a misspelt name would not be decided.
///
/// # Errors
///
/// A member is absent, of another type or unknown.
pub(crate) fn asked_call(given: &Given<'_>) -> Result<AskedCall, Refusal> {
    given.only(&["agent", "arguments", "subject", "tool"])?;
    let who = given.required_object("subject")?;
    who.only(&["id", "properties", "type"])?;
    Ok(AskedCall {
        tool: given.required_string("tool")?,
        arguments: bytes(given.object("arguments")?),
        subject: subject(&who)?,
        agent: given.string("agent")?,
    })
}

/// Reads a subject, whose other members have no effect.
///
/// # Errors
///
/// A member is absent or of another type.
pub(crate) fn subject(given: &Given<'_>) -> Result<CallSubject, Refusal> {
    Ok(CallSubject {
        id: given.required_string("id")?,
        kind: given.required_string("type")?,
        properties: bytes(given.object("properties")?),
    })
}

/// Returns the JSON text of an object.
pub(crate) fn bytes(given: Option<Given<'_>>) -> Option<Vec<u8>> {
    given.map(|it| it.text().as_bytes().to_vec())
}
