//! Go.

use crate::bindings::agent::runner::process::{Command, toolchain};
use crate::bindings::agent::runner::types::{ErrorCode, Failure};
use crate::{env, failure, first_file};

/// What a build of Go needs: its caches in the private `/tmp`, and no network.
const BUILD: [(&str, &str); 6] = [
    ("GO111MODULE", "auto"),
    ("GOCACHE", "/tmp/go-build"),
    ("GOFLAGS", "-buildvcs=false"),
    ("GOPATH", "/tmp/go"),
    ("GOPROXY", "off"),
    ("GOTOOLCHAIN", "local"),
];

/// Returns the file of the app that a command line runs.
pub(crate) fn entry<'a>(program: &str, arguments: &'a [String]) -> Option<&'a str> {
    match arguments {
        [first, files @ ..] if program == "go" && first == "run" => first_file(files, &[".go"]),
        _ => None,
    }
}

/// Returns the command of a command line.
pub(crate) fn command(mut words: Vec<String>) -> Result<Command, Failure> {
    if let Some(program) = words.first_mut().filter(|it| *it == "go") {
        *program = toolchain(program).ok_or_else(|| {
            let message = "this machine has no toolchain of Go".to_owned();
            failure(
                ErrorCode::Build,
                message,
                "install Go, and put `go` into `PATH`",
            )
        })?;
    }
    let env = env(BUILD);
    Ok(Command { words, env })
}
