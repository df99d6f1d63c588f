//! Clients of npm and PyPI, which the tests install and connect to `agent serve`. Without the registries a part
//! fails.

use agent_pack::Workspace;
use anyhow::{Context as _, Result};

use super::run_named;
use crate::browser::npm;
use crate::{cargo, python, setup};

/// The tests of clients, in the package of the program. Other parts leave them out.
pub(super) const TESTS: &str = "other_clients::";

/// The tests of the client that is the quickest to install.
const QUICKEST: &str = "other_clients::sdk::";

/// The folder with a folder for each client, and the lists of what they need.
const FOLDER: &str = "tests/clients";

/// The name of the environment with the Python client.
const ENVIRONMENT: &str = "python-client";

/// The server that the clients call through the gateway.
const SERVER: &str = "everything-server";

/// The variables that name to the tests what was built and installed.
const SERVER_VARIABLE: &str = "AGENT_TEST_EVERYTHING_SERVER";
const PYTHON_VARIABLE: &str = "AGENT_TEST_CLIENT_PYTHON";

/// Tests one client.
pub(super) fn one(workspace: &Workspace) -> Result<()> {
    install_sdk(workspace)?;
    check(workspace, QUICKEST, &[])
}

/// Tests all clients.
pub(super) fn all(workspace: &Workspace) -> Result<()> {
    install_sdk(workspace)?;
    let folder = workspace.root().join(FOLDER);
    let lock = setup::lock(workspace)?;
    npm::install(&folder.join("inspector"), "the inspector in three versions")?;
    let requirements = folder.join("python/requirements.txt");
    let python = python::ensure(workspace, ENVIRONMENT, &requirements)?;
    drop(lock);
    let python = python.to_str().context("the path of Python is not UTF-8")?;
    check(workspace, TESTS, &[(PYTHON_VARIABLE, python)])
}

fn install_sdk(workspace: &Workspace) -> Result<()> {
    let folder = workspace.root().join(FOLDER).join("sdk");
    let _lock = setup::lock(workspace)?;
    npm::install(&folder, "the client of the TypeScript SDK")
}

fn check(workspace: &Workspace, tests: &str, more: &[(&str, &str)]) -> Result<()> {
    let server = cargo::build_tested(workspace, SERVER)?;
    let server = server
        .to_str()
        .context("the path of the server is not UTF-8")?;
    let environment = [&[(SERVER_VARIABLE, server)], more].concat();
    run_named(workspace, tests, &environment)
}
