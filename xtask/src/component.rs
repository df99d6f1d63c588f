//! `cargo xtask component`: the engine's component alone.

use agent_pack::{Component, Workspace, World, pack, write_if_changed};
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};

use crate::{no_arguments, setup, status};

/// What the component is called wherever it is a file of its own.
pub(crate) const FILE_NAME: &str = "agent-engine.wasm";

/// What the component without policies is called.
pub(crate) const RESOLVER_FILE_NAME: &str = "agent-resolver.wasm";

/// How large the component without policies may be, in bytes. It was meant to have 400,000, which it
/// has never had since it reads YAML and JSON with all their diagnostics: see the measurements.
const RESOLVER_LIMIT: usize = 740_000;

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    for (path, component) in [build(workspace)?, build_resolver(workspace)?] {
        println!("{}", path.display());
        println!("{} bytes", component.bytes().len());
        println!("sha256 {}", component.sha256());
    }
    Ok(())
}

/// Builds the component without policies, and refuses it where it has grown too large.
pub(crate) fn build_resolver(workspace: &Workspace) -> Result<(PathBuf, Component)> {
    let built = build_world(workspace, World::ResolverOnly, RESOLVER_FILE_NAME)?;
    let len = built.1.bytes().len();
    ensure!(
        len <= RESOLVER_LIMIT,
        "{RESOLVER_FILE_NAME} has {len} bytes, and may have {RESOLVER_LIMIT}"
    );
    Ok(built)
}

/// Builds the component and says what it is. It stays in cargo's folder for it, where the build of
/// the programs finds all of this work done.
pub(crate) fn build(workspace: &Workspace) -> Result<(PathBuf, Component)> {
    build_world(workspace, World::Engine, FILE_NAME)
}

fn build_world(
    workspace: &Workspace,
    world: World,
    file_name: &str,
) -> Result<(PathBuf, Component)> {
    let toolchain = setup::ensure(workspace)?;
    status::doing("Building", "the component");
    let target_dir = workspace.component_target_dir();
    let component = pack(workspace, &toolchain, &target_dir, world)?;
    let path = target_dir.join(file_name);
    write_if_changed(&path, component.bytes())?;
    status::doing(
        "Packed",
        format_args!(
            "{}: {} bytes, sha256 {}, imports nothing",
            relative(workspace, &path).display(),
            component.bytes().len(),
            component.sha256()
        ),
    );
    Ok((path, component))
}

/// A path as one reads it in the root of the workspace.
pub(crate) fn relative<'a>(workspace: &Workspace, path: &'a Path) -> &'a Path {
    path.strip_prefix(workspace.root()).unwrap_or(path)
}
