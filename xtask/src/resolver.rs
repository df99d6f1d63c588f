//! The component of the world `resolver-only`: built, made small, and compared with the engine.

use agent_pack::{Component, Toolchain, Workspace, World, read, write_if_changed};
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};

use crate::browser::npm;
use crate::{cargo, component, process, setup, status};

/// What the component is called where it is a file of its own.
pub(crate) const FILE_NAME: &str = "agent-resolver.wasm";

/// How large it may be, in bytes.
const LIMIT: usize = 400_000;

/// What rustc uses of WebAssembly besides what `wasm-opt` takes for granted: the module, stripped,
/// does not say so.
const FEATURES: [&str; 4] = [
    "--enable-bulk-memory-opt",
    "--enable-multivalue",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
];

/// Compares it with the engine on this machine.
const COMPARE: [&str; 5] = [
    "--quiet",
    "--package",
    "agent-parity",
    "--example",
    "resolver-alone",
];

/// Builds it, and refuses it where it has grown too large.
pub(crate) fn build(workspace: &Workspace) -> Result<(PathBuf, Component)> {
    let toolchain = setup::ensure(workspace)?;
    status::doing("Building", "the component of the resolver alone");
    let target_dir = workspace.component_target_dir();
    let module = optimised(workspace, &toolchain, &target_dir)?;
    let component = Component::from_module(&module)?;
    let path = target_dir.join(FILE_NAME);
    write_if_changed(&path, component.bytes())?;
    component::report(workspace, &path, &component);
    let len = component.bytes().len();
    ensure!(
        len <= LIMIT,
        "{FILE_NAME} has {len} bytes, and may have {LIMIT}"
    );
    Ok((path, component))
}

/// The module, a tenth smaller by `wasm-opt`.
fn optimised(workspace: &Workspace, toolchain: &Toolchain, target_dir: &Path) -> Result<Vec<u8>> {
    let module = agent_pack::module(workspace, toolchain, target_dir, World::ResolverOnly)?;
    npm::ensure_alone(workspace)?;
    let [given, made] =
        ["module", "optimised"].map(|name| target_dir.join(format!("agent-resolver.{name}.wasm")));
    write_if_changed(&given, &module)?;
    process::run(
        npm::node(workspace)
            .arg("node_modules/binaryen/bin/wasm-opt")
            .args(["-Oz", "--converge"])
            .args(FEATURES)
            .args(["--strip-debug", "--strip-producers"])
            .arg(&given)
            .arg("-o")
            .arg(&made),
    )?;
    Ok(read(&made)?)
}

/// Checks that it answers as the engine does.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let (path, _) = build(workspace)?;
    process::run(
        cargo::cargo(workspace)
            .arg("run")
            .args(COMPARE)
            .arg("--")
            .arg(path),
    )
}
