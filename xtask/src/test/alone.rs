//! Checks each package by itself.
//!
//! In a build of the whole workspace a package sees every feature that any other requests of a
//! shared dependency. A package with a missing feature compiles there all the same.

use agent_pack::Workspace;
use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::cargo::{GUESTS, cargo};
use crate::process;

/// Checks all packages except the guest, which every build of the programs builds by itself for
/// wasm.
pub(super) fn check(workspace: &Workspace) -> Result<()> {
    let metadata =
        process::output(cargo(workspace).args(["metadata", "--no-deps", "--format-version=1"]))?;
    for package in packages(&metadata)? {
        process::run(cargo(workspace).args(["check", "--quiet", "--package", &package]))?;
    }
    Ok(())
}

fn packages(metadata: &str) -> Result<Vec<String>> {
    let metadata: Value = serde_json::from_str(metadata)?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo named no packages")?;
    let names = packages
        .iter()
        .filter_map(|package| package["name"].as_str());
    Ok(names
        .filter(|name| !GUESTS.contains(name))
        .map(str::to_owned)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::packages;

    #[test]
    fn every_package_but_the_guest_is_checked() {
        let metadata =
            r#"{"packages":[{"name":"agent"},{"name":"agent-component"},{"name":"xtask"}]}"#;
        assert_eq!(packages(metadata).unwrap(), ["agent", "xtask"]);
    }
}
