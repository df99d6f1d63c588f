//! `cargo xtask playground`: the page in which one sees every yes and no.
//!
//! ```text
//! agent-worker ── cargo, wasm-bindgen ──▶ the engine's modules ─┐            (parts.rs)
//! agent-plans ── cargo, wasm-bindgen ──▶ the page of plans ─────┤            (parts.rs)
//! editor/ ── esbuild ──▶ the editor ────────────────────────────┤            (parts.rs)
//! agent-playground ── Trunk ──▶ the page ───────────────────────┴─▶ a folder (trunk.rs)
//! the folder ── policy, service worker, budget ──▶ target/dist              (dist.rs)
//! ```

mod budget;
mod dist;
mod offline;
mod package;
mod parts;
mod policy;
mod trunk;

use agent_pack::Workspace;
use anyhow::Result;
use std::path::PathBuf;

pub(crate) use dist::{build as dist, folder as dist_folder};
pub(crate) use parts::{API, PLANS};

/// How everything of the playground is compiled, a profile in the workspace's `Cargo.toml`.
pub(crate) const PROFILE: &str = "playground";

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    match arguments {
        ["--dist"] => dist(workspace),
        [parts::COMMAND] => parts::build(workspace),
        trunk_arguments => trunk::serve(workspace, trunk_arguments),
    }
}

/// The folder of its sources.
pub(crate) fn source(workspace: &Workspace) -> PathBuf {
    workspace.root().join("playground")
}

/// Cargo's folder for it, not shared: its builds have flags of their own.
pub(crate) fn target_dir(workspace: &Workspace) -> PathBuf {
    workspace.root().join("target/playground")
}
