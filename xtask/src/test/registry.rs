//! The registry of others in which bundles are kept: Debian's, which is unpacked and not installed.

use agent_pack::Workspace;
use anyhow::{Context as _, Result};

use super::run_named;
use crate::{apt, setup};

/// The tests with a registry, in the package of the decision point. Other parts leave them out.
pub(super) const TESTS: &str = "registry_of_others::";

/// The package of Debian.
const PACKAGE: &str = "docker-registry";

/// The variable that names the program to the tests.
const PROGRAM_VARIABLE: &str = "AGENT_TEST_REGISTRY";

/// Tests bundles in a registry.
pub(super) fn check(workspace: &Workspace) -> Result<()> {
    let lock = setup::lock(workspace)?;
    let folder = workspace.tools().join(PACKAGE);
    let program = folder.join("usr/bin").join(PACKAGE);
    if !program.exists() {
        apt::unpack(&[PACKAGE], &folder)?;
    }
    drop(lock);
    let program = program
        .to_str()
        .context("the path of the registry is not UTF-8")?;
    run_named(workspace, TESTS, &[(PROGRAM_VARIABLE, program)])
}
