//! The modules of the playground: cargo compiles each, and `xtask-bindgen` writes its JavaScript.
//!
//! The engine has several modules: most visitors have neither a policy nor a plan, and the
//! evaluator of policies is several times as large as the rest. The pages of plans and of sessions are
//! modules apart from the first page for the same reason.

use agent_pack::{
    Aim, Build, QUICK_PROFILE, TARGET, Toolchain, Workspace, read, reproducible, write_if_changed,
};
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;

use super::order;
use crate::browser::npm;
use crate::cargo::{BINDGEN, build_program};
use crate::folder::{self, Files};
use crate::process;

/// The name of the engine's module.
pub(super) const ENGINE: &str = "agent-engine";

/// The engine as a module for browsers.
pub(crate) const WORKER: &str = "agent-worker";

/// The feature of the modules for other programs.
pub(crate) const API: &str = "api";

/// The feature of the module that imports documents, and its folder.
pub(super) const IMPORT: &str = "import";

/// The feature of the module with policies, and its folder.
pub(super) const POLICY: &str = "policy";

/// The features of the module with policies for pages, where it also compares locks.
pub(super) const POLICY_AND_REVIEW: &str = "policy,review";

/// The feature of the module for plans, and its folder.
pub(super) const PLANS: &str = "plans";

/// The feature of the module for plans, policies and the runs of plans, and its folder.
pub(crate) const RUN: &str = "run";

/// The feature of the module for sessions, which evaluates policies, and its folder.
pub(crate) const SESSION: &str = "session";

/// The cargo profile of the released playground, from the workspace's `Cargo.toml`.
const RELEASED_PROFILE: &str = "playground";

/// The variable with the digest of the component, which pages show in their footer and read at compile time.
const COMPONENT_DIGEST: &str = "AGENT_COMPONENT_SHA256";

/// The passes of `wasm-opt` that make a module smaller after compression. The others, together with
/// these, make it larger.
const SMALLER: [&str; 4] = [
    "--coalesce-locals",
    "--reorder-locals",
    "--remove-unused-brs",
    "--duplicate-function-elimination",
];

/// Compiles modules for browsers, quickly or as they are released.
pub(crate) struct Compiler<'a> {
    workspace: &'a Workspace,
    toolchain: Toolchain,
    build: Build,
    target_dir: PathBuf,
    /// The program that writes JavaScript.
    bindgen: PathBuf,
}

impl<'a> Compiler<'a> {
    pub(crate) fn new(workspace: &'a Workspace, build: Build) -> Result<Self> {
        Ok(Self {
            workspace,
            toolchain: Toolchain::find(workspace)?,
            build,
            // Quick modules share their dependencies with the quick component. Released ones have their own flags.
            target_dir: match build {
                Build::Quick => workspace.component_target_dir(),
                Build::Released => workspace.root().join("target/playground"),
            },
            bindgen: build_program(workspace, BINDGEN, &["--package", BINDGEN])?,
        })
    }

    /// Returns cargo's folder for the modules.
    pub(crate) fn target_dir(&self) -> &PathBuf {
        &self.target_dir
    }

    /// Returns a call of cargo for a package, with the arguments that follow its command.
    pub(crate) fn cargo(&self, command: &[&str], package: &str, features: &str) -> Result<Command> {
        let (profile, aim) = match self.build {
            Build::Quick => (QUICK_PROFILE, Aim::Speed),
            Build::Released => (RELEASED_PROFILE, Aim::Size),
        };
        let mut cargo = self.toolchain.cargo();
        reproducible(
            &mut cargo,
            self.workspace,
            &self.toolchain,
            &self.target_dir,
            aim,
        )?;
        cargo
            .current_dir(self.workspace.root())
            .args(command)
            .args(["--locked", "--package", package, "--features", features])
            .args(["--target", TARGET, "--profile", profile, "--target-dir"])
            .arg(&self.target_dir);
        Ok(cargo)
    }

    /// Returns the engine's module without its types, as a file `agent-engine.js` with its code.
    pub(super) fn engine(&self, features: &str) -> Result<Files> {
        let mut files = self.typed_engine(features)?;
        files.retain(|name, _| !name.ends_with(".d.ts"));
        Ok(files)
    }

    /// Returns the engine's module with the types for programmers.
    pub(super) fn typed_engine(&self, features: &str) -> Result<Files> {
        // Only this kind: cargo does not optimise a library for tests as a whole.
        let command = ["rustc", "--lib", "--crate-type", "cdylib"];
        process::run(&mut self.cargo(&command, WORKER, features)?)?;
        self.bound("agent_worker.wasm", ENGINE)
    }

    /// Returns the module of a page, which shows the digest of the component.
    pub(super) fn page(&self, package: &str, component: &str) -> Result<Files> {
        let mut cargo = self.cargo(&["rustc", "--bin", package], package, "")?;
        process::run(cargo.env(COMPONENT_DIGEST, component))?;
        let mut files = self.bound(&format!("{package}.wasm"), package)?;
        files.retain(|name, _| !name.ends_with(".d.ts"));
        Ok(files)
    }

    /// Returns what `wasm-bindgen` makes of a compiled module.
    fn bound(&self, module: &str, name: &str) -> Result<Files> {
        let profile = match self.build {
            Build::Quick => QUICK_PROFILE,
            Build::Released => RELEASED_PROFILE,
        };
        let out = self.target_dir.join("bound");
        folder::remove(&out)?;
        let module = self.target_dir.join(TARGET).join(profile).join(module);
        let mut bindgen = Command::new(&self.bindgen);
        process::run(bindgen.arg(module).arg(name).arg(&out))?;
        if self.build == Build::Released {
            let module = out.join(format!("{name}_bg.wasm"));
            npm::wasm_opt(self.workspace, &SMALLER, &module, &module)?;
            write_if_changed(&module, &order::with_names(read(&module)?)?)?;
            npm::wasm_opt(self.workspace, &[order::PASS], &module, &module)?;
        }
        folder::read_all(&out)
    }
}
