//! The parts of the page that Trunk does not build: the engine's modules, the pages of plans and of
//! sessions, and the editor.
//!
//! The engine has several modules: most visitors have neither a policy nor a plan, and the
//! evaluator of policies is several times as large as the rest. The modules for policies, for plans,
//! for both, for runs and for sessions are in subfolders, with files of the same names. The npm package contains the first
//! two in another kind: the page does not load functions for other programs.
//!
//! The pages of plans and of sessions are separate modules for the same reason. They are beside the first
//! page, and all load the same editor and the same `browser.js`.
//!
//! Trunk calls this before each of its builds, by `playground/hooks/parts.mjs`, and copies the
//! result.

use agent_pack::{Aim, TARGET, Toolchain, Workspace, reproducible};
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{PROFILE, source, target_dir, trunk};
use crate::browser::{npm, tools};
use crate::folder::{self, Files};
use crate::process;

/// The variable that names this program to the hook.
pub(super) const XTASK: &str = "AGENT_XTASK";

/// The argument of the hook's call, `cargo xtask playground parts`.
pub(super) const COMMAND: &str = "parts";

/// The engine.
const WORKER_PACKAGE: Package = Package {
    name: "agent-worker",
    // Only this kind: cargo does not optimise a library for tests as a whole.
    arguments: &["--lib", "--crate-type", "cdylib"],
    module: "agent_worker.wasm",
};

/// The page of plans.
const PLANS_PACKAGE: Package = Package {
    name: PLANS_PAGE,
    arguments: &["--bin", PLANS_PAGE],
    module: "agent-plans-page.wasm",
};

/// The page of sessions.
const SESSION_PACKAGE: Package = Package {
    name: SESSION_PAGE,
    arguments: &["--bin", SESSION_PAGE],
    module: "agent-session-page.wasm",
};

/// The name of the engine's module.
pub(super) const NAME: &str = "agent-engine";

/// The name of the page of plans.
const PLANS_PAGE: &str = "agent-plans-page";

/// The name of the page of sessions.
const SESSION_PAGE: &str = "agent-session-page";

/// The folder of the handwritten files around the module.
const JS: &str = "worker/js";

/// The handwritten file that runs the module in a worker.
pub(super) const WORKER: &str = "worker.js";

/// The feature of the modules for other programs.
pub(crate) const API: &str = "api";

/// The features of the modules for other programs, without and with policies.
pub(super) const API_FEATURES: [&str; 2] = [API, "api,policy"];

/// The feature of the module with policies, and its folder.
const POLICY: &str = "policy";

/// The feature of the module for plans, and its folder.
pub(crate) const PLANS: &str = "plans";

/// The features of the module for plans under policies.
const PLANS_AND_POLICY: &str = "plans,policy";

/// The feature of the module for plans, policies and the runs of plans, and its folder.
pub(crate) const RUN: &str = "run";

/// The feature of the module for sessions, which evaluates policies, and its folder.
pub(crate) const SESSION: &str = "session";

/// A package that is built as a module.
struct Package {
    name: &'static str,
    /// The arguments that select its build target.
    arguments: &'static [&'static str],
    /// The name of the built file.
    module: &'static str,
}

pub(super) fn build(workspace: &Workspace) -> Result<()> {
    let worker = written(workspace)?.remove(WORKER);
    let worker = worker.with_context(|| format!("playground/{JS}/{WORKER} is missing"))?;
    let mut engine = modules(workspace, ["", POLICY])?;
    engine.extend(within(
        PLANS,
        modules(workspace, [PLANS, PLANS_AND_POLICY])?,
    ));
    for feature in [RUN, SESSION] {
        let files = module(workspace, &WORKER_PACKAGE, NAME, feature)?;
        engine.extend(within(feature, files));
    }
    for folder in ["", "policy/", "plans/", "plans/policy/", "run/", "session/"] {
        engine.insert(format!("{folder}{WORKER}"), worker.clone());
    }
    write(workspace, "engine", engine)?;
    let page = module(workspace, &PLANS_PACKAGE, PLANS_PAGE, "")?;
    write(workspace, "plans", page)?;
    let page = module(workspace, &SESSION_PACKAGE, SESSION_PAGE, "")?;
    write(workspace, "session", page)?;
    let codes = Files::from([("codes.json".to_owned(), codes(workspace)?)]);
    write(workspace, "codes", codes)?;
    editor(workspace, &folder(workspace, "editor"))
}

/// Returns the pages about codes as one JSON object, by their names.
fn codes(workspace: &Workspace) -> Result<Vec<u8>> {
    let pages = folder::read_all(&workspace.root().join("docs/reference/codes"))?;
    let pages = pages.into_iter().filter_map(|(name, text)| {
        let name = name.strip_suffix(".md")?.to_owned();
        Some((name, String::from_utf8_lossy(&text).into_owned()))
    });
    let pages: BTreeMap<_, _> = pages.collect();
    Ok(serde_json::to_vec(&pages)?)
}

/// Writes a part without the types, which only programmers need.
fn write(workspace: &Workspace, name: &str, mut files: Files) -> Result<()> {
    files.retain(|name, _| !name.ends_with(".d.ts"));
    folder::write_all(&folder(workspace, name), &files)
}

/// Returns the modules without and with policies from `wasm-bindgen`, with their types. Each has its
/// features.
pub(super) fn modules(workspace: &Workspace, features: [&str; 2]) -> Result<Files> {
    let engine = |features| module(workspace, &WORKER_PACKAGE, NAME, features);
    let mut files = engine(features[0])?;
    files.extend(within(POLICY, engine(features[1])?));
    Ok(files)
}

/// Returns the files with their names inside a folder.
fn within(folder: &str, files: Files) -> Files {
    let files = files.into_iter();
    files
        .map(|(name, bytes)| (format!("{folder}/{name}"), bytes))
        .collect()
}

/// The passes of `wasm-opt` that make a module smaller after compression. The others, together with
/// these, make it larger.
const SMALLER: [&str; 4] = [
    "--coalesce-locals",
    "--reorder-locals",
    "--remove-unused-brs",
    "--duplicate-function-elimination",
];

fn module(workspace: &Workspace, package: &Package, name: &str, features: &str) -> Result<Files> {
    let toolchain = Toolchain::find(workspace)?;
    let target_dir = target_dir(workspace);
    let mut cargo = toolchain.cargo();
    reproducible(&mut cargo, workspace, &toolchain, &target_dir, Aim::Size)?;
    cargo
        .current_dir(workspace.root())
        // Trunk passes on the digest of the first page.
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
    let module = out.join(format!("{name}_bg.wasm"));
    npm::wasm_opt(workspace, &SMALLER, &module, &module)?;
    folder::read_all(&out)
}

/// Returns the handwritten files around the module.
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
