//! `cargo xtask soak`: many clients of `agent serve`, and servers that are killed.

use agent_pack::{Build, Workspace};
use anyhow::Result;
use std::process::Command;

use crate::{bubblewrap, build, cargo, component, process};

/// The program of the test, and the servers that it starts.
const PROGRAM: &str = "agent-soak";
pub(crate) const SERVER: &str = "agent-load-server";

/// The time of the test among the others, in seconds.
const SHORT: &str = "30";

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    component::build(workspace, Build::Quick)?;
    run(workspace, arguments)
}

/// Runs the test for a short time.
pub(crate) fn short(workspace: &Workspace) -> Result<()> {
    run(workspace, &["--seconds", SHORT])
}

fn run(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    bubblewrap::ensure()?;
    let agent = cargo::build_tested(workspace, build::PROGRAM)?;
    let soak = cargo::build_tested(workspace, PROGRAM)?;
    let mut command = Command::new(&soak);
    command.arg(agent).arg(soak.with_file_name(SERVER));
    process::run(command.args(arguments))
}
