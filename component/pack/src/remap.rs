//! Removal of machine paths from the bytes.
//!
//! Panic messages contain the paths of source files. Without this the component would differ from
//! one folder, and from one user's home, to the next.

use crate::environment::output;
use crate::{Error, Result, Toolchain, Workspace};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Separates flags in `CARGO_ENCODED_RUSTFLAGS`, which, unlike `RUSTFLAGS`, allows spaces in paths.
const FLAG_SEPARATOR: &str = "\x1f";

/// The goal of a build's optimisation, in addition to its profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Speed.
    Speed,
    /// Size.
    Size,
}

impl Aim {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Speed => &[],
            // SHA-256 in a loop: 7 kB less, and a page hashes little.
            Self::Size => &["--cfg=sha2_backend_soft=\"compact\""],
        }
    }
}

/// Makes a call of cargo, or of a program that calls it, compile for [`TARGET`](crate::TARGET) to
/// bytes without paths of this machine.
///
/// # Errors
///
/// When the toolchain does not report its folders.
pub fn reproducible(
    command: &mut Command,
    workspace: &Workspace,
    toolchain: &Toolchain,
    target_dir: &Path,
    aim: Aim,
) -> Result<()> {
    let mut flags = flags(workspace, toolchain, target_dir)?;
    flags.extend(aim.flags().iter().map(|flag| (*flag).to_owned()));
    // Overrides the flags and wrappers that a user's own cargo configuration may name.
    command
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join(FLAG_SEPARATOR))
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "");
    Ok(())
}

/// Returns the flags for rustc that replace every path of this machine by a fixed one.
fn flags(workspace: &Workspace, toolchain: &Toolchain, target_dir: &Path) -> Result<Vec<String>> {
    // Of the prefixes that match a path, rustc takes the last one.
    let mut prefixes = vec![
        (workspace.root().to_owned(), "/agent"),
        (target_dir.to_owned(), "/target"),
        (library_source(toolchain)?, "/library"),
    ];
    let metadata = metadata(workspace, toolchain)?;
    prefixes.extend(
        dependency_folders(&metadata)
            .into_iter()
            .map(|folder| (folder, "/deps")),
    );
    Ok(prefixes.iter().map(|(from, to)| flag(from, to)).collect())
}

fn flag(from: &Path, to: &str) -> String {
    format!("--remap-path-prefix={}={to}", from.display())
}

fn library_source(toolchain: &Toolchain) -> Result<PathBuf> {
    let sysroot = output(
        "reading the folder of rustc",
        toolchain.rustc().args(["--print", "sysroot"]),
    )?;
    Ok(Path::new(String::from_utf8_lossy(&sysroot).trim_end()).join("lib/rustlib/src/rust"))
}

/// Returns the folders with the sources of dependencies. Cargo knows them: registry mirrors,
/// vendored sources and git checkouts each have their own.
fn dependency_folders(metadata: &Value) -> BTreeSet<PathBuf> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter(|package| !package["source"].is_null())
        .filter_map(|package| {
            Path::new(package["manifest_path"].as_str()?)
                .ancestors()
                .nth(2)
        })
        .map(Path::to_owned)
        .collect()
}

fn metadata(workspace: &Workspace, toolchain: &Toolchain) -> Result<Value> {
    let task = "reading the workspace with cargo";
    let mut cargo = toolchain.cargo();
    cargo.current_dir(workspace.root());
    cargo.args(["metadata", "--format-version=1", "--filter-platform"]);
    cargo.arg(crate::TARGET);
    serde_json::from_slice(&output(task, &mut cargo)?).map_err(|error| Error::Program {
        task: task.to_owned(),
        outcome: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::{dependency_folders, flag};
    use serde_json::json;
    use std::path::{Path, PathBuf};

    #[test]
    fn a_folder_of_dependencies_is_named_once_and_members_are_not() {
        let registry = "registry+https://example.org/index";
        let metadata = json!({ "packages": [
            { "source": registry, "manifest_path": "/home/a/src/mirror/serde-1.0.0/Cargo.toml" },
            { "source": registry, "manifest_path": "/home/a/src/mirror/sha2-0.11.1/Cargo.toml" },
            { "source": null, "manifest_path": "/home/a/agent/engine/Cargo.toml" },
        ]});
        assert_eq!(
            dependency_folders(&metadata)
                .into_iter()
                .collect::<Vec<_>>(),
            [PathBuf::from("/home/a/src/mirror")]
        );
    }

    #[test]
    fn the_flag_is_rustcs() {
        assert_eq!(
            flag(Path::new("/home/a/agent"), "/agent"),
            "--remap-path-prefix=/home/a/agent=/agent"
        );
    }
}
