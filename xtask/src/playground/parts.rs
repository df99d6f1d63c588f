//! What the page needs and Trunk does not build: the engine's modules and the editor.
//!
//! There are two modules: most visitors have no policy, and the evaluator of policies is several
//! times as large as all else. The second one has it, and stands in a folder within that of the
//! first, with files of the same names. The package for npm has both as well, of another kind: the
//! page does not load what only other programs call.
//!
//! Trunk calls this before each of its own builds, by `playground/hooks/parts.mjs`, and copies the
//! two folders.

use agent_pack::{Aim, TARGET, Toolchain, Workspace, reproducible};
use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{PROFILE, source, target_dir};
use crate::browser::{npm, tools};
use crate::folder::{self, Files};
use crate::process;

/// The variable by which the hook knows this program.
pub(super) const XTASK: &str = "AGENT_XTASK";

/// What the hook calls, `cargo xtask playground parts`.
pub(super) const COMMAND: &str = "parts";

const PACKAGE: &str = "agent-worker";
const MODULE: &str = "agent_worker.wasm";

/// What the module is called from here on.
pub(super) const NAME: &str = "agent-engine";

/// The files around the module that are written by hand.
const JS: &str = "worker/js";

/// Of these, what runs the module in a worker.
pub(super) const WORKER: &str = "worker.js";

/// The feature with which the modules for other programs are built.
pub(crate) const API: &str = "api";

/// The feature with which the second module is built, and the folder it is in.
pub(super) const POLICY: &str = "policy";

/// For whom a module is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The page.
    Page,
    /// Other programs, in JavaScript.
    Api,
}

impl Kind {
    /// The features with which it is built.
    fn features(self, policies: bool) -> String {
        let api = (self == Self::Api).then_some(API);
        let policy = policies.then_some(POLICY);
        let features: Vec<_> = api.into_iter().chain(policy).collect();
        features.join(",")
    }
}

pub(super) fn build(workspace: &Workspace) -> Result<()> {
    let worker = written(workspace)?.remove(WORKER);
    let worker = worker.with_context(|| format!("there is no playground/{JS}/{WORKER}"))?;
    let mut engine = Files::new();
    engine.insert(format!("{POLICY}/{WORKER}"), worker.clone());
    engine.insert(WORKER.to_owned(), worker);
    // The types are for those who program with it.
    let modules = modules(workspace, Kind::Page)?.into_iter();
    engine.extend(modules.filter(|(name, _)| !name.ends_with(".d.ts")));
    folder::write_all(&folder(workspace, "engine"), &engine)?;
    editor(workspace, &folder(workspace, "editor"))
}

/// Both modules as `wasm-bindgen` leaves them, with their types.
pub(super) fn modules(workspace: &Workspace, kind: Kind) -> Result<Files> {
    let mut files = module(workspace, &kind.features(false))?;
    let with_policies = module(workspace, &kind.features(true))?;
    files.extend(
        with_policies
            .into_iter()
            .map(|(name, bytes)| (format!("{POLICY}/{name}"), bytes)),
    );
    Ok(files)
}

fn module(workspace: &Workspace, features: &str) -> Result<Files> {
    let toolchain = Toolchain::find(workspace)?;
    let target_dir = target_dir(workspace);
    let mut cargo = toolchain.cargo();
    reproducible(&mut cargo, workspace, &toolchain, &target_dir, Aim::Size)?;
    cargo
        .current_dir(workspace.root())
        .args(["rustc", "--locked", "--package", PACKAGE, "--lib"])
        .args(["--features", features])
        // Of this kind alone: cargo does not optimise as a whole what is a library for tests, too.
        .args(["--crate-type", "cdylib"])
        .args(["--target", TARGET, "--profile", PROFILE, "--target-dir"])
        .arg(&target_dir);
    process::run(&mut cargo)?;

    let out = folder(workspace, "module");
    folder::remove(&out)?;
    let mut bindgen = Command::new(tools::program(workspace, "wasm-bindgen"));
    bindgen
        .args(["--target", "web", "--out-name", NAME, "--out-dir"])
        .arg(&out)
        .arg(target_dir.join(TARGET).join(PROFILE).join(MODULE));
    process::run(&mut bindgen)?;
    folder::read_all(&out)
}

/// The files around the module that are written by hand.
pub(super) fn written(workspace: &Workspace) -> Result<Files> {
    folder::read_all(&source(workspace).join(JS))
}

fn editor(workspace: &Workspace, out: &Path) -> Result<()> {
    folder::remove(out)?;
    process::run(npm::node(workspace).arg("editor/build.mjs").arg(out))
}

fn folder(workspace: &Workspace, name: &str) -> PathBuf {
    target_dir(workspace).join("parts").join(name)
}
