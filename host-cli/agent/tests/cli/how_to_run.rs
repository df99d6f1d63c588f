//! The page `docs/how-to/run.md`: its commands do what it says, as they are written there.

use crate::project::{Project, Run};
use std::fs;
use std::path::Path;

/// The heading from which on the page needs a registry.
const REAL_SERVER: &str = "## Install a real server";

/// A block of the page.
enum Block<'p> {
    /// A file and its content.
    File(&'p str, &'p str),
    /// Commands of a shell.
    Commands(&'p str),
}

/// Returns the blocks of a part of the page. The paragraph before a file begins with its name.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((before, fenced)) = rest.split_once("```") {
        let (language, fenced) = fenced.split_once('\n').unwrap();
        let (content, after) = fenced.split_once("```\n").expect("the block ends");
        let paragraph = before.trim().rsplit("\n\n").next().unwrap();
        blocks.push(match language {
            "sh" => Block::Commands(content),
            _ => {
                let name = paragraph
                    .strip_prefix('`')
                    .and_then(|it| it.split_once('`'));
                Block::File(name.expect("a name").0, content)
            }
        });
        rest = after;
    }
    blocks
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/run.md");
    fs::read_to_string(path).unwrap()
}

/// Writes the files of a part of the page, and runs its commands in one shell, which ends with the first
/// that fails. Returns what they print.
fn follow(project: &Project, part: &str, variables: &[(&str, &Path)]) -> Run {
    let mut script = "set -eux\n".to_owned();
    for block in blocks(part) {
        match block {
            Block::File(name, content) => project.write(name, content),
            Block::Commands(commands) => script += commands,
        }
    }
    let own = Path::new(env!("CARGO_BIN_EXE_agent")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut shell = project.command_of("/bin/sh", ["-c", &script]);
    shell
        .env("PATH", format!("{}:{path}", own.display()))
        .envs(variables.iter().copied());
    Run::of(shell).exits(0)
}

#[test]
fn its_commands_run_as_they_are_written() {
    let page = page();
    let (part, _) = page.split_once(REAL_SERVER).unwrap();
    let followed = follow(&Project::empty(), part, &[]);
    followed
        .answers("would run: note")
        .answers("✓ completed: note")
        .answers("<!-- channel: human_ui -->")
        .answers("decided as recorded")
        .notes("verifies");
}

/// Follows the part about a real server, with a folder for packages.
pub(crate) fn follow_real_server(packages: &Path) -> Run {
    let page = page();
    let project = Project::empty();
    let (part, real_server) = page.split_once(REAL_SERVER).unwrap();
    for block in blocks(part) {
        if let Block::File(name, content) = block {
            project.write(name, content);
        }
    }
    follow(&project, real_server, &[("XDG_DATA_HOME", packages)])
}
