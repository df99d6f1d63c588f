//! Compares `agent.wasm` with the program, under runtimes of others.

use agent_pack::{Build, Workspace};
use anyhow::Result;
use std::path::PathBuf;

use crate::browser::npm;
use crate::{build, cargo, component, python, setup, wasi};

/// The folder of the tests, with the packages that they need.
const FOLDER: &str = "tests/wasi";

/// The name of the environment with the runtime of PyPI.
const ENVIRONMENT: &str = "python-wasi";

/// Asks a few questions.
pub(super) fn few(workspace: &Workspace) -> Result<()> {
    check(workspace, Vec::new())
}

/// Asks all questions of the corpus, and some under Node.js.
pub(super) fn all(workspace: &Workspace) -> Result<()> {
    let folder = workspace.root().join(FOLDER).join("jco");
    let lock = setup::lock(workspace)?;
    npm::install(&folder, "the runtime of components for Node.js")?;
    drop(lock);
    check(workspace, vec![("JCO", folder), ("AT_LENGTH", "1".into())])
}

fn check(workspace: &Workspace, more: Vec<(&str, PathBuf)>) -> Result<()> {
    let (command, _) = wasi::build(workspace, Build::Quick)?;
    let engine = command.with_file_name(component::FILE_NAME);
    let agent = cargo::build_tested(workspace, build::PROGRAM)?;
    let mut variables = vec![
        ("AGENT", agent),
        ("AGENT_ENGINE", engine),
        ("AGENT_WASM", command),
    ];
    variables.extend(more);
    python::test(workspace, ENVIRONMENT, FOLDER, &variables)
}
