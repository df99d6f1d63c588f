//! JavaScript under Node.js.

use crate::bindings::agent::runner::process::Command;
use crate::bindings::agent::runner::types::Failure;
use crate::first_file;

/// Returns the file of the app that a command line runs.
pub(crate) fn entry<'a>(program: &str, arguments: &'a [String]) -> Option<&'a str> {
    let endings = [".js", ".mjs", ".cjs"];
    (program == "node")
        .then(|| first_file(arguments, &endings))
        .flatten()
}

/// Returns the command of a command line.
pub(crate) fn command(words: Vec<String>) -> Result<Command, Failure> {
    let env = Vec::new();
    Ok(Command { words, env })
}
