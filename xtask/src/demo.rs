//! `cargo xtask demo`: from nothing to a lock.

use agent_pack::{Build, Workspace};
use anyhow::{Context as _, Result};
use std::fs;
use std::process::Command;

use crate::{build, component, no_arguments, process, status};

const EXAMPLE: &str = "examples/hello-agent";

/// The files of `agent resolve --explain`.
const WRITTEN: [&str; 2] = ["agents.lock", "agents.resolution.json"];

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    component::build(workspace, Build::Quick)?;
    let program = build::programs(workspace, &[])?;

    let example = workspace.root().join(EXAMPLE);
    status::doing(
        "Running",
        format_args!("`agent resolve --explain` in {EXAMPLE}"),
    );
    process::run(
        Command::new(&program)
            .args(["resolve", "--explain"])
            .current_dir(&example),
    )?;
    for name in WRITTEN {
        let path = example.join(name);
        let length = fs::metadata(&path)
            .with_context(|| format!("there is no {name}"))?
            .len();
        status::doing("Result", format_args!("{EXAMPLE}/{name}, {length} bytes"));
    }
    Ok(())
}
