//! Builds the handlers and compiles them ahead of time, for the crate to embed.
//!
//! `AGENT_HANDLER_NOOP` and so on are the paths of the machine code, for
//! `include_bytes!(env!(...))`; `AGENT_HANDLER_NOOP_DIGEST` and so on are the digests of the components:
//! `sha256-` and base64.

use agent_pack::{
    Compiler, HandlerKind, Result, Toolchain, Workspace, World, pack, write_if_changed,
};
use base64::prelude::{BASE64_STANDARD, Engine};
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
    let inputs = workspace.handler_inputs().into_iter();
    for input in inputs.chain(Compiler::inputs(&workspace)) {
        println!("cargo::rerun-if-changed={}", input.display());
    }
    let toolchain = Toolchain::find(&workspace)?;
    let compiler = Compiler::find(&workspace)?;
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let target = env::var("TARGET").expect("cargo sets TARGET");
    for kind in HandlerKind::ALL {
        let folder = workspace.component_target_dir();
        let component = pack(&workspace, &toolchain, &folder, World::Handler(kind))?;
        let wasm = out.join(format!("{}.wasm", kind.world()));
        let cwasm = out.join(format!("{}.cwasm", kind.world()));
        write_if_changed(&wasm, component.bytes())?;
        compiler.compile_handler(&target, &wasm, &cwasm)?;
        let name = kind.world().to_uppercase().replace('-', "_");
        println!("cargo::rustc-env=AGENT_HANDLER_{name}={}", cwasm.display());
        let digest = integrity(component.sha256());
        println!("cargo::rustc-env=AGENT_HANDLER_{name}_DIGEST={digest}");
    }
    Ok(())
}

/// Returns a SHA-256 of 64 hexadecimal digits as evidence writes it: `sha256-` and base64.
fn integrity(digits: &str) -> String {
    let byte = |pair: &[u8]| {
        let pair = str::from_utf8(pair).expect("ASCII");
        u8::from_str_radix(pair, 16).expect("two digits")
    };
    let bytes: Vec<u8> = digits.as_bytes().chunks(2).map(byte).collect();
    format!("sha256-{}", BASE64_STANDARD.encode(bytes))
}
