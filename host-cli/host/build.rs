//! Builds the engine's component and compiles it ahead of time, for the crate to embed.
//!
//! `AGENT_ENGINE_WASM` and `AGENT_ENGINE` are the paths of the component and of its machine
//! code, for `include_bytes!(env!(...))`. `AGENT_ENGINE_SHA256` is the digest of the component. A component has
//! the engine composed in instead, and gets the digest from whoever composes it.

use agent_pack::{Embedding, Result, Workspace, World};
use std::env;

fn main() {
    let family = env::var("CARGO_CFG_TARGET_FAMILY");
    if family.is_ok_and(|it| it == "wasm") {
        return;
    }
    if let Err(error) = embed() {
        // This line alone fails the build. With a failing exit code, cargo would also print all
        // output of this script.
        println!("cargo::error={error}");
    }
}

fn embed() -> Result<()> {
    let embedding = Embedding::begin(Workspace::component_inputs)?;
    let component = embedding.embed(World::Engine, "engine", "AGENT_ENGINE")?;
    println!(
        "cargo::rustc-env=AGENT_ENGINE_SHA256={}",
        component.sha256()
    );
    Ok(())
}
