//! Lets tools that we did not write verify the in-toto statement of a run.

use agent_pack::Workspace;
use anyhow::Result;

use crate::{build, cargo, python, setup};

/// The folder of the tests, with the packages that verify.
const FOLDER: &str = "tests/in-toto";

/// The name of the environment with these packages.
const ENVIRONMENT: &str = "python-in-toto";

pub(super) fn check(workspace: &Workspace) -> Result<()> {
    setup::ensure(workspace)?;
    let agent = cargo::build_tested(workspace, build::PROGRAM)?;
    python::test(workspace, ENVIRONMENT, FOLDER, &[("AGENT", agent)])
}
