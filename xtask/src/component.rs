//! `cargo xtask component`: the components alone.

use agent_pack::{Build, Component, Workspace, World, pack, write_if_changed};
use anyhow::Result;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use crate::{no_arguments, resolver, setup, status, wasi};

/// The file name of the component.
pub(crate) const FILE_NAME: &str = "agent-engine.wasm";

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    let engine = build(workspace, Build::Released)?;
    let program = wasi::build(workspace, Build::Released)?;
    for (path, component) in [engine, resolver::build(workspace)?, program] {
        println!("{}", path.display());
        println!("{} bytes", component.bytes().len());
        println!("sha256 {}", component.sha256());
    }
    Ok(())
}

/// Builds and reports the component. Its files stay in cargo's folder, so that the build of the
/// programs repeats nothing.
pub(crate) fn build(workspace: &Workspace, build: Build) -> Result<(PathBuf, Component)> {
    let toolchain = setup::toolchain(workspace)?;
    let target_dir = workspace.component_target_dir();
    // The first build of either leaves a core idle at times: the end of the component's is one unit.
    let component = thread::scope(|scope| {
        let compiler = scope.spawn(|| setup::ensure_compiler(workspace));
        status::doing("Building", "the component");
        let component = pack(workspace, &toolchain, &target_dir, World::Engine, build);
        match compiler.join() {
            Ok(compiler) => compiler.and(Ok(component?)),
            Err(panic) => resume_unwind(panic),
        }
    })?;
    Ok((write(workspace, FILE_NAME, build, &component)?, component))
}

/// Writes and reports a component: a released one in cargo's folder for components, a quick one in a folder there.
pub(crate) fn write(
    workspace: &Workspace,
    name: &str,
    build: Build,
    component: &Component,
) -> Result<PathBuf> {
    let folder = match build {
        Build::Quick => "quick",
        Build::Released => "",
    };
    let path = workspace.component_target_dir().join(folder).join(name);
    write_if_changed(&path, component.bytes())?;
    status::doing(
        "Packed",
        format_args!(
            "{}: {} bytes, sha256 {}",
            relative(workspace, &path).display(),
            component.bytes().len(),
            component.sha256()
        ),
    );
    Ok(path)
}

/// Returns a path relative to the root of the workspace.
pub(crate) fn relative<'a>(workspace: &Workspace, path: &'a Path) -> &'a Path {
    path.strip_prefix(workspace.root()).unwrap_or(path)
}
