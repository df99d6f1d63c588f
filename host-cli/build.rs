//! Embeds the engine: builds its component, compiles that ahead of time, and tells the crate where
//! both are.
//!
//! For `include_bytes!(env!(...))` there are `AGENT_ENGINE_WASM` and `AGENT_ENGINE_CWASM`, the
//! component and its machine code, and for `agent --version` there is `AGENT_ENGINE_SHA256`, the
//! digest of the component.

use agent_pack::{Compiler, Result, Toolchain, Workspace, World, pack, write_if_changed};
use std::env;
use std::path::PathBuf;

fn main() {
    if let Err(error) = embed() {
        // This alone fails the build, and with this one line. If the exit code said so as well,
        // cargo would print all of this script's output around it.
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
