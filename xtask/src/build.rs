//! `cargo xtask build`: the component and the programs.

use agent_pack::{Build, Workspace};
use anyhow::{Result, bail};
use std::path::PathBuf;

use crate::{cargo, component, status};

/// The package of the programs.
const PACKAGE: &str = "agent";

/// The name of the program.
pub(crate) const PROGRAM: &str = "agent";

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    let build = match arguments {
        [] => Build::Quick,
        ["--release"] => Build::Released,
        _ => bail!("`--release` is the only argument"),
    };
    component::build(workspace, build)?;
    programs(workspace, arguments)?;
    Ok(())
}

/// Builds the programs with further arguments of cargo, and returns the path of `agent`.
pub(crate) fn programs(workspace: &Workspace, arguments: &[&str]) -> Result<PathBuf> {
    status::doing("Building", "the programs");
    let arguments = [&["--package", PACKAGE], arguments].concat();
    let program = cargo::build_program(workspace, PROGRAM, &arguments)?;
    status::doing("Built", component::relative(workspace, &program).display());
    Ok(program)
}
