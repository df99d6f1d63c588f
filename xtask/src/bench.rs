//! `cargo xtask bench`: the measurements in `bench/`.

use agent_pack::Workspace;
use anyhow::Result;

use crate::{cargo, process, setup};

const PACKAGE: &str = "agent-bench";

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    setup::ensure(workspace)?;
    let mut command = cargo::cargo(workspace);
    command
        .args(["run", "--release", "--package", PACKAGE, "--"])
        .args(arguments);
    process::run(&mut command)
}
