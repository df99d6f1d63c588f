//! The build of the core module with cargo.

use crate::environment::run;
use crate::{Aim, Result, TARGET, Toolchain, Workspace, World, read, reproducible};
use std::path::Path;

const PACKAGE: &str = "agent-component";
const MODULE: &str = "agent_component.wasm";

impl World {
    /// Returns the profile in the workspace's `Cargo.toml`.
    fn profile(self) -> &'static str {
        match self {
            Self::Engine => "component",
            Self::ResolverOnly => "resolver-only",
        }
    }

    fn aim(self) -> Aim {
        match self {
            Self::Engine => Aim::Speed,
            Self::ResolverOnly => Aim::Size,
        }
    }
}

/// Builds the core module of a component, which contains its world.
///
/// # Errors
///
/// When cargo fails; its messages are on standard error.
pub fn build(
    workspace: &Workspace,
    toolchain: &Toolchain,
    target_dir: &Path,
    world: World,
) -> Result<Vec<u8>> {
    let mut cargo = toolchain.cargo();
    reproducible(&mut cargo, workspace, toolchain, target_dir, world.aim())?;
    cargo
        .current_dir(workspace.root())
        .args(["build", "--package", PACKAGE, "--target", TARGET])
        .args(["--profile", world.profile(), "--target-dir"])
        .arg(target_dir);
    if world == World::ResolverOnly {
        cargo.arg("--no-default-features");
    }
    if workspace.root().join("Cargo.lock").exists() {
        cargo.arg("--locked");
    }
    run("building the component with cargo", &mut cargo)?;
    read(&target_dir.join(TARGET).join(world.profile()).join(MODULE))
}
