//! Builds the book, and follows its links.

use agent_pack::Workspace;
use anyhow::Result;
use std::process::Command;

use crate::{crates, folder, process, setup};

/// The builder.
const VERSION: &str = "0.5.4";

/// The folder of the tests, which need no packages.
const FOLDER: &str = "tests/book";

pub(super) fn check(workspace: &Workspace) -> Result<()> {
    let lock = setup::lock(workspace)?;
    let mdbook = crates::MDBOOK.ensure(workspace, VERSION)?;
    drop(lock);
    let book = workspace.root().join("target/book");
    folder::remove(&book)?;
    let mut build = Command::new(mdbook);
    build
        .arg("build")
        .arg(workspace.root().join("docs"))
        .arg("--dest-dir")
        .arg(&book);
    process::run(&mut build)?;
    let mut tests = Command::new("python3");
    tests
        .env("BOOK", &book)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .args(["-m", "unittest", "discover", "--start-directory"])
        .arg(workspace.root().join(FOLDER));
    process::run(&mut tests)
}
