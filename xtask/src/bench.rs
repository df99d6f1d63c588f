//! `cargo xtask bench`: the measurements in `bench/`.

use agent_pack::Workspace;
use anyhow::Result;

use crate::browser::npm;
use crate::{build, cargo, process, python, setup};

const PACKAGE: &str = "agent-bench";

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    if arguments == ["--plans"] {
        return plans(workspace);
    }
    setup::ensure(workspace)?;
    // The benchmark also measures the whole program, which it finds beside itself.
    build::programs(workspace, &["--release"])?;
    let mut command = cargo::cargo(workspace);
    command
        .args(["run", "--release", "--package", PACKAGE, "--"])
        .args(arguments);
    process::run(&mut command)
}

/// Measures the checking of plans beside other programs, without the component and wasmtime.
fn plans(workspace: &Workspace) -> Result<()> {
    let lock = setup::lock(workspace)?;
    let baseline = workspace.root().join("bench/baseline");
    npm::install(&baseline, "the npm packages to compare with")?;
    let python = python::ensure(workspace, "python", &baseline.join("requirements.txt"))?;
    drop(lock);
    let build = ["--release", "--package", PACKAGE, "--no-default-features"];
    // Built by itself: its dependencies would change the features of the engine's.
    let example = ["--example", "jsonschema"];
    let jsonschema = cargo::build_program(workspace, example[1], &[&build[..], &example].concat())?;
    let mut command = cargo::cargo(workspace);
    command
        .arg("run")
        .args(build)
        .args(["--bin", "agent-bench-plans", "--"])
        .args([python, jsonschema]);
    process::run(&mut command)
}
