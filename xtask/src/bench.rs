//! `cargo xtask bench`: the measurements in `bench/`.

use agent_pack::{Workspace, read, sha256, write_if_changed};
use anyhow::{Context as _, Result};
use std::path::PathBuf;
use std::process::Command;

use crate::browser::npm;
use crate::{build, cargo, process, setup, status};

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
    let python = python(workspace)?;
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

/// Installs a Python with the packages to compare with, and returns its path.
fn python(workspace: &Workspace) -> Result<PathBuf> {
    let requirements = workspace.root().join("bench/baseline/requirements.txt");
    let stamp = sha256(&read(&requirements)?);
    let folder = workspace.tools().join("python");
    let stamp_file = folder.join(".stamp");
    let programs = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let python = programs.join(if cfg!(windows) {
        "python.exe"
    } else {
        "python"
    });
    if std::fs::read_to_string(&stamp_file).ok().as_ref() != Some(&stamp) {
        status::doing("Installing", "the Python packages to compare with");
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv", "--clear"]).arg(&folder);
        process::run(&mut venv).context("install Python 3 with venv")?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--requirement"]);
        // Output of pip is progress; standard output is for results.
        process::run(pip.arg(&requirements).stdout(std::io::stderr()))?;
        write_if_changed(&stamp_file, stamp.as_bytes())?;
    }
    Ok(python)
}
