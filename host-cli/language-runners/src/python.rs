//! Python.

use crate::bindings::agent::runner::process::Command;
use crate::bindings::agent::runner::types::Failure;
use crate::{env, first_file};

/// Returns the file of the app that a command line runs.
pub(crate) fn entry<'a>(program: &str, arguments: &'a [String]) -> Option<&'a str> {
    let is_python = matches!(program, "python" | "python3");
    is_python.then(|| first_file(arguments, &[".py"])).flatten()
}

/// Returns the command of a command line. Systems have the interpreter as `python3`.
pub(crate) fn command(mut words: Vec<String>) -> Result<Command, Failure> {
    if let Some(program) = words.first_mut().filter(|it| *it == "python") {
        program.push('3');
    }
    // A line that says the app is ready must not wait in a buffer.
    let env = env([("PYTHONUNBUFFERED", "1")]);
    Ok(Command { words, env })
}
