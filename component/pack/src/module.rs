//! The core module: cargo, called for wasm.

use crate::{Error, Result, TARGET, Toolchain, Workspace, read, remap};
use std::path::Path;

const PACKAGE: &str = "agent-component";
const MODULE: &str = "agent_component.wasm";
/// The profile in the workspace's `Cargo.toml`.
const PROFILE: &str = "component";

/// Separates flags in `CARGO_ENCODED_RUSTFLAGS`, which, unlike `RUSTFLAGS`, allows spaces in paths.
const FLAG_SEPARATOR: &str = "\x1f";

/// Builds the package and returns the bytes of its module.
pub(crate) fn build(
    workspace: &Workspace,
    toolchain: &Toolchain,
    target_dir: &Path,
) -> Result<Vec<u8>> {
    let flags = remap::flags(workspace, toolchain, target_dir)?;
    let mut cargo = toolchain.cargo();
    // Overrides the flags and wrappers that a user's own cargo configuration may name.
    cargo
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join(FLAG_SEPARATOR))
        .env("RUSTC_WRAPPER", "")
        .env("RUSTC_WORKSPACE_WRAPPER", "");
    cargo
        .current_dir(workspace.root())
        .args([
            "build",
            "--package",
            PACKAGE,
            "--target",
            TARGET,
            "--profile",
            PROFILE,
        ])
        .arg("--target-dir")
        .arg(target_dir);
    if workspace.root().join("Cargo.lock").exists() {
        cargo.arg("--locked");
    }
    let outcome = match cargo.status() {
        Ok(status) if status.success() => {
            return read(&target_dir.join(TARGET).join(PROFILE).join(MODULE));
        }
        Ok(status) => status.to_string(),
        Err(error) => format!("{}: {error}", toolchain.cargo.display()),
    };
    Err(Error::Program {
        task: "building the component with cargo".to_owned(),
        outcome,
    })
}
