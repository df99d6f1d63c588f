//! `cargo xtask bench`: the measurements in `bench/`.

use agent_pack::Workspace;
use anyhow::Result;

use std::path::PathBuf;

use crate::browser::npm;
use crate::cargo::BENCH;
use crate::of_pypi::{ENVOY, NATS};
use crate::{apt, bubblewrap, build, cargo, process, python, setup, soak};

/// The package of Debian with nginx, and where the program is in it.
const NGINX: (&str, &str) = ("nginx", "usr/sbin/nginx");

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    match arguments {
        ["--plans"] => return plans(workspace),
        ["--history"] => return history(workspace),
        ["--serve"] => return serve(workspace),
        ["--apps"] => return apps(workspace),
        ["--pdp"] => return pdp(workspace),
        _ => {}
    }
    setup::ensure(workspace)?;
    // The benchmark also measures the whole program, which it finds beside itself.
    build::programs(workspace, &["--release"])?;
    let mut command = cargo::cargo(workspace);
    command
        .args(["run", "--release", "--package", BENCH, "--"])
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
    let build = ["--release", "--package", BENCH, "--no-default-features"];
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

/// Measures what the history of calls costs, without the component.
fn history(workspace: &Workspace) -> Result<()> {
    let mut command = cargo::cargo(workspace);
    command
        .args([
            "run",
            "--release",
            "--package",
            BENCH,
            "--no-default-features",
        ])
        .args(["--bin", "agent-bench-history"]);
    process::run(&mut command)
}

/// Measures calls through `agent serve`, beside nginx and a proxy by the Rust SDK.
fn serve(workspace: &Workspace) -> Result<()> {
    setup::ensure(workspace)?;
    let agent = build::programs(workspace, &["--release"])?;
    let load = ["--release", "--package", "agent-load", "--bins"];
    let server = cargo::build_program(workspace, soak::SERVER, &load)?;
    let build = ["--release", "--package", BENCH, "--no-default-features"];
    let example = [&build[..], &["--example", "rmcp-proxy"]].concat();
    let rmcp = cargo::build_program(workspace, "rmcp-proxy", &example)?;
    let mut command = cargo::cargo(workspace);
    command
        .arg("run")
        .args(build)
        .args(["--bin", "agent-bench-serve", "--"])
        .args([agent, server, rmcp, nginx(workspace)?]);
    process::run(&mut command)
}

/// Measures requests through the gateway of apps beside nginx, and the stages of `mcp run`.
fn apps(workspace: &Workspace) -> Result<()> {
    setup::ensure(workspace)?;
    bubblewrap::ensure()?;
    let agent = build::programs(workspace, &["--release"])?;
    let build = ["--release", "--package", BENCH, "--no-default-features"];
    let mut command = cargo::cargo(workspace);
    command
        .arg("run")
        .args(build)
        .args(["--bin", "agent-bench-apps", "--"])
        .args([nginx(workspace)?, agent]);
    process::run(&mut command)
}

/// Measures decision points beside regorus and Cedar, behind Envoy, and with NATS.
fn pdp(workspace: &Workspace) -> Result<()> {
    setup::ensure(workspace)?;
    let (envoy, nats) = (ENVOY.ensure(workspace)?, NATS.ensure(workspace)?);
    let agent = build::programs(workspace, &["--release"])?;
    let pdp = ["--release", "--package", "agent-pdp"];
    let pdp = cargo::build_program(workspace, "agent-pdp", &pdp)?;
    let target = workspace.root().join("target/policies");
    let mut policies = cargo::cargo(workspace);
    policies
        .args(["build", "--release", "--locked"])
        .args(["--manifest-path", "bench/policies/Cargo.toml"])
        .arg("--target-dir")
        .arg(&target);
    process::run(&mut policies)?;
    let mut command = cargo::cargo(workspace);
    command
        .args(["run", "--release", "--package", BENCH])
        .args(["--no-default-features", "--example", "pdp", "--"])
        .args([agent, pdp, target.join("release/agent-bench-policies")])
        .args([envoy, nats]);
    process::run(&mut command)
}

/// Returns an nginx that is unpacked and not installed: nothing of it starts by itself.
fn nginx(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.tools().join("nginx");
    let program = folder.join(NGINX.1);
    if !program.exists() {
        apt::unpack(&[NGINX.0], &folder)?;
    }
    Ok(program)
}
