//! `cargo xtask lint`: checks format, lints, documentation and tidiness.

mod tidy;
mod unification;

use agent_pack::Workspace;
use anyhow::{Result, bail};

use crate::cargo::{all_but_playground, cargo, playground};
use crate::playground::{API, RUN, SESSION};
use crate::test::{Part, run_all};
use crate::{no_arguments, process, setup};

const CHECKS: [Part; 5] = [
    ("the format", |workspace| {
        process::run(cargo(workspace).args(["fmt", "--all", "--check"]))
    }),
    ("the tree", tidy::check),
    ("that wasmtime is built once", unification::check),
    ("the code with clippy", |workspace| {
        // The features for the JavaScript API, plans and sessions replace other code, so each is linted.
        let api = vec!["--package", "agent-worker", "--features", API];
        let plans = vec!["--package", "agent-worker", "--features", RUN];
        let sessions = vec!["--package", "agent-worker", "--features", SESSION];
        for packages in [all_but_playground(), playground(), api, plans, sessions] {
            let mut clippy = cargo(workspace);
            clippy.arg("clippy").args(packages).arg("--all-targets");
            process::run(clippy.args(["--", "--deny", "warnings"]))?;
        }
        Ok(())
    }),
    ("the documentation", |workspace| {
        for packages in [all_but_playground(), playground()] {
            let mut doc = cargo(workspace);
            doc.env("RUSTDOCFLAGS", "--deny warnings");
            doc.arg("doc").args(packages);
            process::run(doc.args(["--no-deps", "--document-private-items"]))?;
        }
        Ok(())
    }),
];

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    setup::ensure(workspace)?;
    let failed = run_all(workspace, "Checking", &CHECKS);
    if failed > 0 {
        bail!("{failed} of {} checks failed", CHECKS.len());
    }
    Ok(())
}
