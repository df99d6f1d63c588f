//! `cargo xtask bench`: the measurements in `bench/`.

use agent_pack::Workspace;
use anyhow::Result;

use crate::{build, cargo, process, setup};

const PACKAGE: &str = "agent-bench";

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    setup::ensure(workspace)?;
    // It is measured as a whole as well, from beside the program that measures.
    build::programs(workspace, build::Profile::Release)?;
    let mut command = cargo::cargo(workspace);
    command
        .args(["run", "--release", "--package", PACKAGE, "--"])
        .args(arguments);
    process::run(&mut command)
}
