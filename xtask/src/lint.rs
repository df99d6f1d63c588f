//! `cargo xtask lint`: format, lints, documentation, tidiness.

mod tidy;
mod unification;

use agent_pack::Workspace;
use anyhow::{Result, bail};

use crate::cargo::cargo;
use crate::{no_arguments, process, setup, status};

type Check = (&'static str, fn(&Workspace) -> Result<()>);

const CHECKS: [Check; 5] = [
    ("the format", |workspace| {
        process::run(cargo(workspace).args(["fmt", "--all", "--check"]))
    }),
    ("the tree", tidy::check),
    ("that wasmtime is built once", unification::check),
    ("the code with clippy", |workspace| {
        let clippy = [
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ];
        process::run(cargo(workspace).args(clippy))
    }),
    ("the documentation", |workspace| {
        let doc = [
            "doc",
            "--workspace",
            "--no-deps",
            "--document-private-items",
        ];
        process::run(
            cargo(workspace)
                .args(doc)
                .env("RUSTDOCFLAGS", "--deny warnings"),
        )
    }),
];

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    setup::ensure(workspace)?;
    let mut failed = 0;
    for (what, check) in CHECKS {
        status::doing("Checking", what);
        if let Err(error) = check(workspace) {
            status::error(&error);
            failed += 1;
        }
    }
    if failed > 0 {
        bail!("{failed} of {} checks failed", CHECKS.len());
    }
    Ok(())
}
