//! Calls of Trunk, which builds and serves the page as `playground/Trunk.toml` configures it.

use agent_pack::{Aim, Toolchain, Workspace, reproducible};
use anyhow::{Context as _, Result};
use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use super::{parts, source, target_dir};
use crate::{browser, component, process, status};

/// The variable with the digest that a page shows in its footer, read at compile time.
pub(super) const COMPONENT_DIGEST: &str = "AGENT_COMPONENT_SHA256";

/// Runs a command of Trunk on the folder `site`: `build`, or `serve`, which rebuilds the page after each
/// change of a source.
pub(super) fn run(
    workspace: &Workspace,
    command: &str,
    site: &Path,
    arguments: &[&str],
) -> Result<()> {
    browser::ensure(workspace)?;
    let (_, component) = component::build(workspace)?;
    let toolchain = Toolchain::find(workspace)?;
    status::doing("Building", "the playground");

    let mut trunk = toolchain.command(&browser::tools::program(workspace, "trunk"));
    // Trunk finds cargo and wasm-bindgen by name.
    put_in_front(&mut trunk, &browser::tools::bin(workspace))?;
    let target_dir = target_dir(workspace);
    reproducible(&mut trunk, workspace, &toolchain, &target_dir, Aim::Size)?;
    trunk
        .current_dir(source(workspace))
        .env("CARGO_TARGET_DIR", &target_dir)
        .env(COMPONENT_DIGEST, component.sha256())
        // Without cargo, which would build this program with the toolchain for wasm.
        .env(parts::XTASK, env::current_exe()?)
        .args([command, "--dist"])
        .arg(site)
        .args(arguments);
    process::run(&mut trunk)
}

/// Puts a folder in front of the `PATH` that `command` has.
fn put_in_front(command: &mut Command, folder: &Path) -> Result<()> {
    let path = command.get_envs().find(|(name, _)| *name == "PATH");
    let path = path.and_then(|(_, value)| value).map(OsStr::to_owned);
    let path = path.context("the toolchain for wasm has no PATH")?;
    let folders = [folder.to_owned()]
        .into_iter()
        .chain(env::split_paths(&path));
    command.env("PATH", env::join_paths(folders)?);
    Ok(())
}
