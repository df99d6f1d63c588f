//! Tests the Python programs of `docs/how-to/other-host.md`, as they are written there.

use agent_pack::{Build, Workspace};
use anyhow::Result;

use crate::{component, python};

/// The folder of the tests, with the packages that the programs need.
const FOLDER: &str = "tests/other-host";

/// The name of the environment with these packages.
const ENVIRONMENT: &str = "python-other-host";

/// The variable that names the component to the tests.
const ENGINE_VARIABLE: &str = "AGENT_ENGINE";

pub(super) fn check(workspace: &Workspace) -> Result<()> {
    let (engine, _) = component::build(workspace, Build::Quick)?;
    python::test(workspace, ENVIRONMENT, FOLDER, &[(ENGINE_VARIABLE, engine)])
}
