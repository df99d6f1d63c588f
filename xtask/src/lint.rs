//! `cargo xtask lint`: checks format, lints, documentation and tidiness.

mod tidy;
mod unification;

use agent_pack::{Source, TARGET, Workspace};
use anyhow::{Result, bail};

use crate::cargo::{BENCH, BINDGEN, COMPOSE, GUESTS, cargo, tested};
use crate::playground::{API, WORKER};
use crate::test::{Check, run_all};
use crate::{build, no_arguments, process, setup};

const CHECKS: [Check; 6] = [
    ("the format", |workspace| {
        process::run(cargo(workspace).args(["fmt", "--all", "--check"]))
    }),
    ("the tree", tidy::check),
    ("that wasmtime is built once", unification::check),
    ("the code with clippy", |workspace| {
        // Features of the worker replace other code, so each kind of module is linted.
        let servers = vec!["--package", WORKER];
        let api = vec!["--package", WORKER, "--features", API];
        for packages in [tested(), others(), servers, api] {
            let mut clippy = cargo(workspace);
            clippy.arg("clippy").args(packages).arg("--all-targets");
            process::run(clippy.args(["--", "--deny", "warnings"]))?;
        }
        Ok(())
    }),
    ("the program as a component", |workspace| {
        let toolchain = setup::toolchain(workspace)?;
        // Debian has no clippy for its compiler for wasm: the compiler's own lints remain.
        let (lint, deny): (_, &[&str]) = match toolchain.source {
            Source::Debian => ("check", &[]),
            Source::Rustc | Source::Rustup => ("clippy", &["--", "--deny", "warnings"]),
        };
        let mut cargo = toolchain.cargo();
        cargo
            .current_dir(workspace.root())
            .args([lint, "--package", build::PROGRAM, "--package", "agent-host"])
            .args(["--lib", "--target", TARGET, "--target-dir"])
            .arg(workspace.component_target_dir())
            .env("AGENT_ENGINE_SHA256", "");
        process::run(cargo.args(deny))
    }),
    ("the documentation", |workspace| {
        for packages in [tested(), others()] {
            let mut doc = cargo(workspace);
            doc.env("RUSTDOCFLAGS", "--deny warnings");
            doc.arg("doc").args(packages);
            process::run(doc.args(["--no-deps", "--document-private-items"]))?;
        }
        Ok(())
    }),
];

/// Returns the arguments that select the packages without tests here.
fn others() -> Vec<&'static str> {
    let packages = GUESTS.iter().chain([&BENCH, &BINDGEN, &COMPOSE]);
    packages.flat_map(|name| ["--package", name]).collect()
}

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    setup::ensure(workspace)?;
    let failed = run_all(workspace, "Checking", CHECKS.into_iter());
    if failed > 0 {
        bail!("{failed} of {} checks failed", CHECKS.len());
    }
    Ok(())
}
