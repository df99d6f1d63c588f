//! What the page needs and Trunk does not build: the engine's modules, the page of plans and the
//! editor.
//!
//! There are several modules of the engine: most visitors have neither a policy nor a plan, and the
//! evaluator of policies alone is several times as large as all else. Those for policies and for plans
//! stand in folders within that of the first, with files of the same names. The package for npm has
//! the first two as well, of another kind: the page does not load what only other programs call.
//!
//! The page of plans is a module of its own for the same reason. It stands beside the first page,
//! and both load the same editor and the same `browser.js`.
//!
//! Trunk calls this before each of its own builds, by `playground/hooks/parts.mjs`, and copies what
//! is built.

use agent_pack::{Aim, TARGET, Toolchain, Workspace, reproducible};
use anyhow::{Context as _, Result};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{PROFILE, source, target_dir, trunk};
use crate::browser::{npm, tools};
use crate::folder::{self, Files};
use crate::process;

/// The variable by which the hook knows this program.
pub(super) const XTASK: &str = "AGENT_XTASK";

/// What the hook calls, `cargo xtask playground parts`.
pub(super) const COMMAND: &str = "parts";

/// The engine.
const WORKER_PACKAGE: Package = Package {
    name: "agent-worker",
    // Of this kind alone: cargo does not optimise as a whole what is a library for tests, too.
    arguments: &["--lib", "--crate-type", "cdylib"],
    module: "agent_worker.wasm",
};

/// The page of plans.
const PLANS_PACKAGE: Package = Package {
    name: PLANS_PAGE,
    arguments: &["--bin", PLANS_PAGE],
    module: "agent-plans.wasm",
};

/// What the engine's module is called from here on.
pub(super) const NAME: &str = "agent-engine";

/// What the page of plans is called.
const PLANS_PAGE: &str = "agent-plans";

/// The files around the module that are written by hand.
const JS: &str = "worker/js";

/// Of these, what runs the module in a worker.
pub(super) const WORKER: &str = "worker.js";

/// The feature with which the modules for other programs are built.
pub(crate) const API: &str = "api";

/// The feature with which the second module is built, and the folder it is in.
pub(super) const POLICY: &str = "policy";

/// The feature with which the module for plans is built, and the folder it is in.
pub(crate) const PLANS: &str = "plans";

/// A package that becomes a module.
struct Package {
    name: &'static str,
    /// What cargo is told to build of it.
    arguments: &'static [&'static str],
    /// The file that it builds.
    module: &'static str,
}

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
    let mut engine = modules(workspace, Kind::Page)?;
    engine.extend(within(
        PLANS,
        module(workspace, &WORKER_PACKAGE, NAME, PLANS)?,
    ));
    for folder in ["", "policy/", "plans/"] {
        engine.insert(format!("{folder}{WORKER}"), worker.clone());
    }
    write(workspace, "engine", engine)?;
    let page = module(workspace, &PLANS_PACKAGE, PLANS_PAGE, "")?;
    write(workspace, "plans", page)?;
    editor(workspace, &folder(workspace, "editor"))
}

/// Writes a part without the types, which are for those who program with it.
fn write(workspace: &Workspace, name: &str, mut files: Files) -> Result<()> {
    files.retain(|name, _| !name.ends_with(".d.ts"));
    folder::write_all(&folder(workspace, name), &files)
}

/// Both modules as `wasm-bindgen` leaves them, with their types.
pub(super) fn modules(workspace: &Workspace, kind: Kind) -> Result<Files> {
    let engine = |policies: bool| {
        let features = kind.features(policies);
        module(workspace, &WORKER_PACKAGE, NAME, &features)
    };
    let mut files = engine(false)?;
    files.extend(within(POLICY, engine(true)?));
    Ok(files)
}

/// Files as they stand in a folder.
fn within(folder: &str, files: Files) -> Files {
    let files = files.into_iter();
    files
        .map(|(name, bytes)| (format!("{folder}/{name}"), bytes))
        .collect()
}

fn module(workspace: &Workspace, package: &Package, name: &str, features: &str) -> Result<Files> {
    let toolchain = Toolchain::find(workspace)?;
    let target_dir = target_dir(workspace);
    let mut cargo = toolchain.cargo();
    reproducible(&mut cargo, workspace, &toolchain, &target_dir, Aim::Size)?;
    cargo
        .current_dir(workspace.root())
        // Trunk hands on what the first page is told.
        .envs(env::var_os(trunk::COMPONENT_DIGEST).map(|digest| (trunk::COMPONENT_DIGEST, digest)))
        .args(["rustc", "--locked", "--package", package.name])
        .args(package.arguments)
        .args(["--features", features])
        .args(["--target", TARGET, "--profile", PROFILE, "--target-dir"])
        .arg(&target_dir);
    process::run(&mut cargo)?;

    let out = folder(workspace, "module");
    folder::remove(&out)?;
    let mut bindgen = Command::new(tools::program(workspace, "wasm-bindgen"));
    bindgen
        .args(["--target", "web", "--out-name", name, "--out-dir"])
        .arg(&out)
        .arg(target_dir.join(TARGET).join(PROFILE).join(package.module));
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
