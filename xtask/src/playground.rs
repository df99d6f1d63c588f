//! `cargo xtask playground`: serves or builds the playground.
//!
//! ```text
//! agent-worker ── cargo, wasm-bindgen ──▶ the engine's modules ───────┐ (modules.rs, order.rs)
//! agent-playground and two pages ── the same ──▶ the modules of pages ┤ (modules.rs)
//! editor/ ── esbuild ──▶ the editor ──────────────────────────────────┤
//! static/, styles/, index.html ── policy ─────────────────────────────┴─▶ the page (site.rs, minify.rs)
//! the page ── service worker ──▶ target/dist ──▶ budget                 (dist.rs)
//! ```

mod budget;
mod dist;
mod minify;
mod modules;
mod offline;
mod order;
mod package;
mod policy;
mod serve;
mod site;

use agent_pack::{Build, Workspace};
use anyhow::Result;
use std::path::PathBuf;

pub(crate) use dist::{build, build_usual, folder, released};
pub(crate) use modules::{API, Compiler, RUN, SESSION, WORKER};

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    match arguments {
        ["--dist"] => released(workspace),
        ["--quick"] => build(workspace, Build::Quick),
        _ => serve::run(workspace, arguments),
    }
}

/// Returns the folder of the playground's sources.
pub(crate) fn source(workspace: &Workspace) -> PathBuf {
    workspace.root().join("playground")
}
