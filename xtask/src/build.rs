//! `cargo xtask build`: the component and the programs.

use agent_pack::Workspace;
use anyhow::{Result, bail};
use std::path::PathBuf;

use crate::{cargo, component, status};

/// The package of the programs.
const PACKAGE: &str = "agent-cli";

/// The name of the program.
pub(crate) const PROGRAM: &str = "agent";

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    let profile = match arguments {
        [] => Profile::Dev,
        ["--release"] => Profile::Release,
        _ => bail!("`--release` is the only argument"),
    };
    component::build(workspace)?;
    programs(workspace, profile)?;
    Ok(())
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Profile {
    Dev,
    Release,
}

/// Builds the programs and returns the path of `agent`.
pub(crate) fn programs(workspace: &Workspace, profile: Profile) -> Result<PathBuf> {
    status::doing("Building", "the programs");
    let mut arguments = vec!["--package", PACKAGE];
    match profile {
        Profile::Dev => {}
        Profile::Release => arguments.push("--release"),
    }
    let program = cargo::build_program(workspace, PROGRAM, &arguments)?;
    status::doing("Built", component::relative(workspace, &program).display());
    Ok(program)
}
