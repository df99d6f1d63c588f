//! Apps in Go, by Debian's toolchain, which is unpacked and not installed.

use agent_pack::Workspace;
use anyhow::{Context as _, Result};
use std::env;
use std::path::PathBuf;
use std::process::Command;

use super::run_named;
use crate::{apt, process, setup};

/// The tests of apps in Go, in the package of the program `mcp`. Other parts leave them out.
pub(super) const TESTS: &str = "go_apps::";

/// The package of Debian that depends on the present version of the toolchain.
const PACKAGE: &str = "golang-go";

/// Tests apps in Go.
pub(super) fn check(workspace: &Workspace) -> Result<()> {
    let lock = setup::lock(workspace)?;
    let programs = toolchain(workspace)?;
    drop(lock);
    let present = env::var_os("PATH").unwrap_or_default();
    let folders = [programs].into_iter().chain(env::split_paths(&present));
    let path = env::join_paths(folders)?;
    let path = path.to_str().context("`PATH` is not UTF-8")?;
    run_named(workspace, TESTS, &[("PATH", path)])
}

/// Returns the folder with the programs of the toolchain.
fn toolchain(workspace: &Workspace) -> Result<PathBuf> {
    let version = version()?;
    let folder = workspace.tools().join(format!("go-{version}"));
    let programs = folder.join(format!("usr/lib/go-{version}/bin"));
    if !programs.join("go").exists() {
        let packages = ["go", "src"].map(|part| format!("golang-{version}-{part}"));
        apt::unpack(&[&packages[0], &packages[1]], &folder)?;
    }
    Ok(programs)
}

/// Returns the version of the toolchain, such as `1.19`.
fn version() -> Result<String> {
    let mut show = Command::new("apt-cache");
    let shown = process::output(show.args(["show", "--no-all-versions", PACKAGE]))?;
    let mut words = shown.split([' ', ',', '\n']);
    let found = words.find_map(|word| {
        let version = word.strip_prefix("golang-")?.strip_suffix("-go")?;
        Some(version.to_owned())
    });
    found.with_context(|| format!("apt-cache knows no version of {PACKAGE}"))
}
