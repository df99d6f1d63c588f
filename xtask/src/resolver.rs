//! The component of the world `resolver-only`: its build, its size, and its parity with the engine.

use agent_pack::{Build, Component, Toolchain, Workspace, World, read, write_if_changed};
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::browser::npm;
use crate::{cargo, component, process, setup, status};

/// The file name of the component.
pub(crate) const FILE_NAME: &str = "agent-resolver.wasm";

/// Maximum size of the component in bytes.
const LIMIT: usize = 565_000;

/// Builds the component and refuses one that is too large.
pub(crate) fn build(workspace: &Workspace) -> Result<(PathBuf, Component)> {
    let toolchain = setup::ensure(workspace)?;
    status::doing("Building", "the component of the resolver alone");
    let target_dir = workspace.component_target_dir();
    let module = optimised(workspace, &toolchain, &target_dir)?;
    let component = Component::from_module(&module)?;
    let path = component::write(workspace, FILE_NAME, Build::Released, &component)?;
    let len = component.bytes().len();
    ensure!(
        len <= LIMIT,
        "{FILE_NAME} has {len} bytes; at most {LIMIT} are allowed"
    );
    Ok((path, component))
}

/// Builds the module and optimises it with `wasm-opt`, which saves a tenth.
fn optimised(workspace: &Workspace, toolchain: &Toolchain, target_dir: &Path) -> Result<Vec<u8>> {
    let module = agent_pack::module(
        workspace,
        toolchain,
        target_dir,
        World::ResolverOnly,
        Build::Released,
    )?;
    let lock = setup::lock(workspace)?;
    npm::ensure(workspace)?;
    drop(lock);
    let [given, made] =
        ["module", "optimised"].map(|name| target_dir.join(format!("agent-resolver.{name}.wasm")));
    write_if_changed(&given, &module)?;
    npm::wasm_opt(
        workspace,
        &["-Oz", "--converge", "--strip-debug"],
        &given,
        &made,
    )?;
    Ok(read(&made)?)
}

/// Checks that the component answers like the engine.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let (path, _) = build(workspace)?;
    let program = cargo::build_tested(workspace, "resolver-alone")?;
    process::run(
        Command::new(program)
            .current_dir(workspace.root())
            .arg(path),
    )
}
