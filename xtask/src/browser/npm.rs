//! The packages from npm: the editor, the driver of the browser tests, the optimiser of modules,
//! and the programs to compare with.

use agent_pack::{Workspace, read, sha256, write_if_changed};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{process, status};

/// The oldest supported Node.js, as in `playground/package.json`.
const OLDEST_NODE: u32 = 20;

/// The file name of npm. On Windows it is a script, which needs its whole name.
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

const HOW_TO_INSTALL: &str =
    "install Node.js 20 or newer with npm (on Debian: `apt-get install nodejs npm`)";

/// Returns a call of Node.js in the folder of the playground.
pub(crate) fn node(workspace: &Workspace) -> Command {
    let mut command = Command::new("node");
    command.current_dir(folder(workspace));
    command
}

/// The WebAssembly features of rustc that `wasm-opt` does not enable by default: a stripped module
/// does not declare them.
const FEATURES: [&str; 4] = [
    "--enable-bulk-memory-opt",
    "--enable-multivalue",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
];

/// Runs passes of `wasm-opt` over a module.
pub(crate) fn wasm_opt(
    workspace: &Workspace,
    passes: &[&str],
    module: &Path,
    out: &Path,
) -> Result<()> {
    process::run(
        node(workspace)
            .arg("node_modules/binaryen/bin/wasm-opt")
            .args(passes)
            .args(FEATURES)
            .arg("--strip-producers")
            .arg(module)
            .arg("-o")
            .arg(out),
    )
}

/// Returns the folder of the playground, which contains `package.json`.
fn folder(workspace: &Workspace) -> PathBuf {
    workspace.root().join("playground")
}

/// Installs the packages of the playground.
pub(crate) fn ensure(workspace: &Workspace) -> Result<()> {
    install(&folder(workspace), "the npm packages of the playground")
}

/// Installs the packages of a folder's lock file, unless they are up to date.
pub(crate) fn install(folder: &Path, packages: &str) -> Result<()> {
    let node = check_node()?;
    let stamp = sha256(&read(&folder.join("package-lock.json"))?);
    // The stamp is inside the folder, so that it disappears with it.
    let stamp_file = folder.join("node_modules/.stamp");
    if fs::read_to_string(&stamp_file).ok().as_ref() != Some(&stamp) {
        status::doing("Installing", packages);
        let mut npm = Command::new(NPM);
        // No package needs its install scripts, so none runs.
        npm.current_dir(folder)
            .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            // Output of npm is progress; standard output is for results.
            .stdout(std::io::stderr());
        process::run(&mut npm).context(HOW_TO_INSTALL)?;
        write_if_changed(&stamp_file, stamp.as_bytes())?;
    }
    status::doing("Ready", format_args!("{packages}, Node.js {node}"));
    Ok(())
}

/// Checks that Node.js is installed and new enough, and returns its version.
fn check_node() -> Result<String> {
    let version = process::output(Command::new("node").arg("--version")).context(HOW_TO_INSTALL)?;
    let version = version.trim();
    match major(version) {
        Some(major) if major >= OLDEST_NODE => Ok(version.to_owned()),
        _ => bail!("Node.js {version} is too old: {HOW_TO_INSTALL}"),
    }
}

fn major(version: &str) -> Option<u32> {
    version.strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{HOW_TO_INSTALL, OLDEST_NODE, major};

    #[test]
    fn the_version_is_read() {
        assert_eq!(major("v20.20.2"), Some(20));
        assert_eq!(major("20"), None);
        assert!(HOW_TO_INSTALL.contains(&OLDEST_NODE.to_string()));
    }
}
