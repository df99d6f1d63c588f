//! Programs of others that PyPI distributes, beside decision points: for tests, and for measurements.

use agent_pack::Workspace;
use anyhow::{Context as _, Result};

use std::path::PathBuf;

use crate::test::run_named;
use crate::{python, setup};

/// A program and the tests with it, in the package of the decision point. Other parts leave them out.
pub(crate) struct Program {
    /// The folder of its requirements below `tests`.
    folder: &'static str,
    name: &'static str,
    /// The variable that names it to the tests.
    variable: &'static str,
    pub(crate) tests: &'static str,
}

/// The proxy that asks decision points.
pub(crate) const ENVOY: Program = Program {
    folder: "envoy",
    name: "envoy",
    variable: "AGENT_TEST_ENVOY",
    tests: "envoy_of_others::",
};

/// The store of what decides beside the documents.
pub(crate) const NATS: Program = Program {
    folder: "nats",
    name: "nats-server",
    variable: "AGENT_TEST_NATS",
    tests: "store_of_others::",
};

impl Program {
    /// Installs the program, and returns its path.
    pub(crate) fn ensure(&self, workspace: &Workspace) -> Result<PathBuf> {
        let _lock = setup::lock(workspace)?;
        let requirements = workspace.root().join("tests").join(self.folder);
        let requirements = requirements.join("requirements.txt");
        let python = python::ensure(workspace, self.folder, &requirements)?;
        Ok(python.with_file_name(self.name))
    }

    /// Tests decision points with the program.
    pub(crate) fn check(&self, workspace: &Workspace) -> Result<()> {
        let program = self.ensure(workspace)?;
        let program = program
            .to_str()
            .context("the path of the program is not UTF-8")?;
        run_named(workspace, self.tests, &[(self.variable, program)])
    }
}
