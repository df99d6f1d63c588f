//! `cargo xtask quality-pos` and `quality-neg`: the quality suites of plans [3, 7], through the program.

use agent_pack::{Build, Workspace};
use anyhow::Result;

use crate::test::run_named;
use crate::{component, no_arguments};

pub(crate) fn positive(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    component::build(workspace, Build::Quick)?;
    pos(workspace)
}

pub(crate) fn negative(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    component::build(workspace, Build::Quick)?;
    neg(workspace)
}

/// Plans that run.
pub(crate) fn pos(workspace: &Workspace) -> Result<()> {
    run_named(workspace, "quality::pos::", &[])
}

/// Plans that must not run, or must not end well.
pub(crate) fn neg(workspace: &Workspace) -> Result<()> {
    run_named(workspace, "quality::neg::", &[])
}
