//! `noop`: the output is the input.

use crate::bindings::exports::agent::handler::handler::Guest;

/// The handler.
pub(crate) struct Handler;

impl Guest for Handler {
    fn handle(input: String) -> Result<String, String> {
        Ok(input)
    }
}
