//! The built-in runners: for each language one component, which a feature chooses. \[2, 3\]
//!
//! What runners have in common is here and in `folder`; a language says how its command lines become commands.

mod folder;

#[cfg(feature = "go")]
#[path = "go.rs"]
mod language;
#[cfg(feature = "node")]
#[path = "node.rs"]
mod language;
#[cfg(feature = "python")]
#[path = "python.rs"]
mod language;
#[cfg(feature = "rust")]
#[path = "rust.rs"]
mod language;

#[allow(
    unsafe_code,
    missing_docs,
    clippy::all,
    unused_qualifications,
    unreachable_pub,
    reason = "generated"
)]
mod bindings {
    wit_bindgen::generate!({
        path: ["../../wit/handler/deps/io.wit", "../../wit/handler/deps/clocks.wit", "../../wit/runner"],
        world: "agent:runner/built-in",
        generate_all,
    });

    export!(Runner);

    use super::Runner;
}

use bindings::agent::runner::process;
use bindings::agent::runner::types::{Condition, ErrorCode, Failure, Started};
use bindings::exports::agent::runner::runner::{Applied, File, Guest, Manifest};
use folder::Folder;

/// Where the app finds its files.
const APP: &str = "/app";

/// The runner of a language.
struct Runner;

impl Guest for Runner {
    fn apply(files: Vec<File>) -> Result<Applied, Failure> {
        let folder = Folder::open()?;
        let mut writes = 0;
        for file in &files {
            folder.write(&file.path, &file.content)?;
            writes += 1;
        }
        let target = APP.to_owned();
        Ok(Applied { writes, target })
    }

    fn start(manifest: Manifest) -> Result<Started, Failure> {
        let Manifest { words, env: wanted } = manifest;
        let Some(program) = words.first() else {
            let message = "the command line has no program".to_owned();
            return Err(failure(
                ErrorCode::Plan,
                message,
                "name the program of the app",
            ));
        };
        if let Some(path) = language::entry(program, &words[1..]) {
            Folder::open()?.require(path)?;
        }
        let mut command = language::command(words)?;
        // What the request wants comes last, and wins.
        command.env.extend(wanted);
        process::start(&command)
    }

    fn stop() -> Result<(), Failure> {
        process::stop()
    }

    fn health() -> Condition {
        process::check()
    }
}

fn failure(code: ErrorCode, message: String, hint: &str) -> Failure {
    Failure {
        code,
        message,
        hints: vec![hint.to_owned()],
    }
}

/// Returns variables of an environment.
fn env<const N: usize>(variables: [(&str, &str); N]) -> Vec<(String, String)> {
    let owned = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    owned.into()
}

/// Returns the first argument with one of some endings, unless an option comes before it: it could mean anything.
fn first_file<'a>(arguments: &'a [String], endings: &[&str]) -> Option<&'a str> {
    let first = arguments.first()?;
    let is_file = !first.starts_with('-') && endings.iter().any(|end| first.ends_with(end));
    is_file.then_some(first)
}
