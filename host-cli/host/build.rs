//! Builds the engine's component and compiles it ahead of time, for the crate to embed.
//!
//! `AGENT_ENGINE_WASM` and `AGENT_ENGINE_CWASM` are the paths of the component and of its machine
//! code, for `include_bytes!(env!(...))`. `AGENT_ENGINE_SHA256` is the digest of the component.

use agent_pack::{Compiler, Result, Toolchain, Workspace, World, pack, write_if_changed};
use std::env;
use std::path::PathBuf;

fn main() {
    if let Err(error) = embed() {
        // This line alone fails the build. With a failing exit code, cargo would also print all
        // output of this script.
        println!("cargo::error={error}");
    }
}

fn embed() -> Result<()> {
    let workspace = Workspace::of_this_build();
    let inputs = workspace.component_inputs().into_iter();
    for input in inputs.chain(Compiler::inputs(&workspace)) {
        println!("cargo::rerun-if-changed={}", input.display());
    }

    let toolchain = Toolchain::find(&workspace)?;
    let compiler = Compiler::find(&workspace)?;
    let component = pack(
        &workspace,
        &toolchain,
        &workspace.component_target_dir(),
        World::Engine,
    )?;

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let (wasm, cwasm) = (out.join("engine.wasm"), out.join("engine.cwasm"));
    write_if_changed(&wasm, component.bytes())?;
    compiler.compile(&target, &wasm, &cwasm)?;

    println!("cargo::rustc-env=AGENT_ENGINE_WASM={}", wasm.display());
    println!("cargo::rustc-env=AGENT_ENGINE_CWASM={}", cwasm.display());
    println!(
        "cargo::rustc-env=AGENT_ENGINE_SHA256={}",
        component.sha256()
    );
    Ok(())
}
