//! `cargo xtask component`: the components alone.

use agent_pack::{Component, Workspace, World, pack, write_if_changed};
use anyhow::Result;
use std::path::{Path, PathBuf};

use crate::{no_arguments, resolver, setup, status};

/// What the component is called wherever it is a file of its own.
pub(crate) const FILE_NAME: &str = "agent-engine.wasm";

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    for (path, component) in [build(workspace)?, resolver::build(workspace)?] {
        println!("{}", path.display());
        println!("{} bytes", component.bytes().len());
        println!("sha256 {}", component.sha256());
    }
    Ok(())
}

/// Builds the component and says what it is. It stays in cargo's folder for it, where the build of
/// the programs finds all of this work done.
pub(crate) fn build(workspace: &Workspace) -> Result<(PathBuf, Component)> {
    let toolchain = setup::ensure(workspace)?;
    status::doing("Building", "the component");
    let target_dir = workspace.component_target_dir();
    let component = pack(workspace, &toolchain, &target_dir, World::Engine)?;
    let path = target_dir.join(FILE_NAME);
    write_if_changed(&path, component.bytes())?;
    report(workspace, &path, &component);
    Ok((path, component))
}

/// Says what was packed.
pub(crate) fn report(workspace: &Workspace, path: &Path, component: &Component) {
    status::doing(
        "Packed",
        format_args!(
            "{}: {} bytes, sha256 {}, imports nothing",
            relative(workspace, path).display(),
            component.bytes().len(),
            component.sha256()
        ),
    );
}

/// A path as one reads it in the root of the workspace.
pub(crate) fn relative<'a>(workspace: &Workspace, path: &'a Path) -> &'a Path {
    path.strip_prefix(workspace.root()).unwrap_or(path)
}
