//! `cargo xtask playground`: serves or builds the playground.
//!
//! ```text
//! agent-worker ── cargo, wasm-bindgen ──▶ the engine's modules ─┐            (parts.rs)
//! agent-plans-page ── cargo, wasm-bindgen ──▶ the page of plans ─────┤            (parts.rs)
//! agent-session-page ── the same ──▶ the page of sessions ──────┤            (parts.rs)
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
pub(crate) use parts::{API, PLANS, RUN, SESSION};

/// The cargo profile of the playground, from the workspace's `Cargo.toml`.
pub(crate) const PROFILE: &str = "playground";

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    match arguments {
        ["--dist"] => dist(workspace),
        [parts::COMMAND] => parts::build(workspace),
        trunk_arguments => {
            let site = target_dir(workspace).join("serve");
            trunk::run(workspace, "serve", &site, trunk_arguments)
        }
    }
}

/// Returns the folder of the playground's sources.
pub(crate) fn source(workspace: &Workspace) -> PathBuf {
    workspace.root().join("playground")
}

/// Returns cargo's folder for the playground, whose builds have their own flags.
pub(crate) fn target_dir(workspace: &Workspace) -> PathBuf {
    workspace.root().join("target/playground")
}
