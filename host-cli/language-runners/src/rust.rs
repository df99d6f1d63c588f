//! Rust.

use crate::bindings::agent::runner::process::Command;
use crate::bindings::agent::runner::types::Failure;

/// Returns the file of the app that a command line runs.
pub(crate) fn entry<'a>(_program: &str, _arguments: &'a [String]) -> Option<&'a str> {
    None
}

/// Returns the command of a command line.
pub(crate) fn command(words: Vec<String>) -> Result<Command, Failure> {
    let env = Vec::new();
    Ok(Command { words, env })
}
