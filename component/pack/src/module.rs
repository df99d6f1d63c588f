//! The build of the core module with cargo.

use crate::environment::run;
use crate::{Aim, ExampleApi, Result, TARGET, Toolchain, Workspace, World, read, reproducible};
use std::env;
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
    fn profile(self, build: Build) -> &'static str {
        match (build, self) {
            (Build::Quick, _) => QUICK_PROFILE,
            (Build::Released, Self::Engine) => "component",
            (Build::Released, _) => "resolver-only",
        }
    }

    /// Returns the aim. Quick builds have one, so that all of them share their dependencies.
    fn aim(self, build: Build) -> Aim {
        match (build, self) {
            (Build::Quick, _) | (_, Self::Engine) => Aim::Speed,
            (Build::Released, _) => Aim::Size,
        }
    }
}

/// The profile of [`Build::Quick`] in the workspace's `Cargo.toml`.
pub const QUICK_PROFILE: &str = "quick";

/// The variable that makes a build script embed the released component in a build for development:
/// `AGENT_COMPONENT=released`.
pub(crate) const VARIABLE: &str = "AGENT_COMPONENT";

/// The optimisation of modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// In little time, for development and tests.
    Quick,
    /// As they are released: a world for its speed or its size.
    Released,
}

impl Build {
    /// Returns the build that the calling build script embeds: the released one in a release, or if
    /// `AGENT_COMPONENT` is `released`.
    #[must_use]
    pub fn of_this_script() -> Self {
        let is = |name: &str, value: &str| env::var_os(name).is_some_and(|found| found == value);
        match is("PROFILE", "release") || is(VARIABLE, "released") {
            true => Self::Released,
            false => Self::Quick,
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
    build: Build,
) -> Result<Vec<u8>> {
    let (package, features) = world.package();
    let mut cargo = toolchain.cargo();
    reproducible(
        &mut cargo,
        workspace,
        toolchain,
        target_dir,
        world.aim(build),
    )?;
    cargo
        .current_dir(workspace.root())
        .args(["build", "--package", package, "--target", TARGET])
        .args(["--profile", world.profile(build), "--target-dir"])
        .arg(target_dir);
    if let Some(features) = features {
        cargo.args(["--no-default-features", "--features", features]);
    }
    if workspace.root().join("Cargo.lock").exists() {
        cargo.arg("--locked");
    }
    run("building the component with cargo", &mut cargo)?;
    let module = format!("{}.wasm", package.replace('-', "_"));
    read(
        &target_dir
            .join(TARGET)
            .join(world.profile(build))
            .join(module),
    )
}
