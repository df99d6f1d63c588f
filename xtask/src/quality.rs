//! `cargo xtask quality-pos` and `quality-neg`: the quality suites of plans [3, 7], through the program.

use agent_pack::Workspace;
use anyhow::Result;

use crate::cargo::cargo;
use crate::{bubblewrap, component, no_arguments, process, setup};

/// The package with the suites, and their test.
const SUITES: [&str; 5] = ["test", "--package", "agent-cli", "--test", "cli"];

pub(crate) fn positive(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    component::build(workspace)?;
    pos(workspace)
}

pub(crate) fn negative(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    component::build(workspace)?;
    neg(workspace)
}

/// Plans that run.
pub(crate) fn pos(workspace: &Workspace) -> Result<()> {
    suite(workspace, "quality::pos::")
}

/// Plans that must not run, or must not end well.
pub(crate) fn neg(workspace: &Workspace) -> Result<()> {
    suite(workspace, "quality::neg::")
}

fn suite(workspace: &Workspace, name: &str) -> Result<()> {
    setup::ensure(workspace)?;
    bubblewrap::ensure()?;
    process::run(cargo(workspace).args(SUITES).args(["--", name]))
}
