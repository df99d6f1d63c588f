//! The build of the core module with cargo.

use crate::environment::run;
use crate::{Aim, ExampleApi, Result, TARGET, Toolchain, Workspace, World, read, reproducible};
use std::path::Path;

impl World {
    /// Returns the package, and its features if they are not the default ones.
    fn package(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Engine => ("agent-component", None),
            Self::ResolverOnly => ("agent-component", Some("")),
            Self::Handler(kind) => ("agent-handlers", Some(kind.world())),
            Self::Runner(language) => ("agent-language-runners", Some(language.name())),
            Self::ExampleHandler(ExampleApi::Own) => ("agent-example-handler", None),
            Self::ExampleHandler(ExampleApi::Wasi) => ("agent-example-handler", Some("wasi")),
        }
    }

    /// Returns the profile in the workspace's `Cargo.toml`.
    fn profile(self) -> &'static str {
        match self {
            Self::Engine => "component",
            Self::ResolverOnly | Self::Handler(_) | Self::Runner(_) | Self::ExampleHandler(_) => {
                "resolver-only"
            }
        }
    }

    fn aim(self) -> Aim {
        match self {
            Self::Engine => Aim::Speed,
            Self::ResolverOnly | Self::Handler(_) | Self::Runner(_) | Self::ExampleHandler(_) => {
                Aim::Size
            }
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
    let (package, features) = world.package();
    let mut cargo = toolchain.cargo();
    reproducible(&mut cargo, workspace, toolchain, target_dir, world.aim())?;
    cargo
        .current_dir(workspace.root())
        .args(["build", "--package", package, "--target", TARGET])
        .args(["--profile", world.profile(), "--target-dir"])
        .arg(target_dir);
    if let Some(features) = features {
        cargo.args(["--no-default-features", "--features", features]);
    }
    if workspace.root().join("Cargo.lock").exists() {
        cargo.arg("--locked");
    }
    run("building the component with cargo", &mut cargo)?;
    let module = format!("{}.wasm", package.replace('-', "_"));
    read(&target_dir.join(TARGET).join(world.profile()).join(module))
}
