//! Programs of others that PyPI distributes, beside decision points.

use agent_pack::Workspace;
use anyhow::{Context as _, Result};

use super::run_named;
use crate::{python, setup};

/// A program and the tests with it, in the package of the decision point. Other parts leave them out.
pub(super) struct Program {
    /// The folder of its requirements below `tests`.
    folder: &'static str,
    name: &'static str,
    /// The variable that names it to the tests.
    variable: &'static str,
    pub(super) tests: &'static str,
}

/// The proxy that asks decision points.
pub(super) const ENVOY: Program = Program {
    folder: "envoy",
    name: "envoy",
    variable: "AGENT_TEST_ENVOY",
    tests: "envoy_of_others::",
};

/// The store of what decides beside the documents.
pub(super) const NATS: Program = Program {
    folder: "nats",
    name: "nats-server",
    variable: "AGENT_TEST_NATS",
    tests: "store_of_others::",
};

impl Program {
    /// Installs the program, and tests decision points with it.
    pub(super) fn check(&self, workspace: &Workspace) -> Result<()> {
        let lock = setup::lock(workspace)?;
        let requirements = workspace.root().join("tests").join(self.folder);
        let requirements = requirements.join("requirements.txt");
        let python = python::ensure(workspace, self.folder, &requirements)?;
        drop(lock);
        let program = python.with_file_name(self.name);
        let program = program
            .to_str()
            .context("the path of the program is not UTF-8")?;
        run_named(workspace, self.tests, &[(self.variable, program)])
    }
}
