//! Tests the Python programs of `docs/how-to/other-host.md`, as they are written there.

use agent_pack::Workspace;
use anyhow::Result;
use std::process::Command;

use crate::{component, process, python, setup};

/// The folder of the tests, with the packages that the programs need.
const FOLDER: &str = "tests/other-host";

/// The name of the environment with these packages.
const ENVIRONMENT: &str = "python-other-host";

/// The variable that names the component to the tests.
const ENGINE_VARIABLE: &str = "AGENT_ENGINE";

pub(super) fn check(workspace: &Workspace) -> Result<()> {
    let (engine, _) = component::build(workspace)?;
    let folder = workspace.root().join(FOLDER);
    let lock = setup::lock(workspace)?;
    let requirements = folder.join("requirements.txt");
    let python = python::ensure(workspace, ENVIRONMENT, &requirements)?;
    drop(lock);
    let mut tests = Command::new(python);
    tests
        .env(ENGINE_VARIABLE, engine)
        // The repository gets no compiled files.
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .args(["-m", "unittest", "discover", "--start-directory"])
        .arg(folder);
    process::run(&mut tests)
}
