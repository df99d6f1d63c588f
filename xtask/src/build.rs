//! `cargo xtask build`: the component and the programs.

use agent_pack::{Build, Workspace};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::{cargo, component, status};

/// The package of the program.
const PACKAGE: &str = "agent";

/// The name of the program.
pub(crate) const PROGRAM: &str = "agent";

/// The second name of the program, under which it has the commands of `agent app`.
pub(crate) const SECOND_NAME: &str = "mcp";

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

/// Builds the program with further arguments of cargo, and links it to its second name. Returns the path of `agent`.
pub(crate) fn programs(workspace: &Workspace, arguments: &[&str]) -> Result<PathBuf> {
    status::doing("Building", "the programs");
    let arguments = [&["--package", PACKAGE], arguments].concat();
    let program = cargo::build_program(workspace, PROGRAM, &arguments)?;
    let second = program.with_file_name(SECOND_NAME);
    if !fs::read_link(&second).is_ok_and(|link| link == Path::new(PROGRAM)) {
        // An earlier one may be a program of its own.
        let _ = fs::remove_file(&second);
        symlink(PROGRAM, &second).with_context(|| format!("{} can't be made", second.display()))?;
    }
    for path in [&program, &second] {
        status::doing("Built", component::relative(workspace, path).display());
    }
    Ok(program)
}
