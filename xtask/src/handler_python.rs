//! `cargo xtask handler-python`: the example of a handler in Python, from its source to a run.

use agent_pack::{Build, Workspace, read};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::{build, cargo, component, no_arguments, process, python, setup, status};

/// The folder of the example: its module, its tests and the packages that both need.
const FOLDER: &str = "examples/handler-python";

/// The module with the handler.
const MODULE: &str = "line_counter";

/// The name of the environment with these packages.
const ENVIRONMENT: &str = "python-handler";

/// The folder of the built components.
const TARGET: &str = "target/handler-python";

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    component::build(workspace, Build::Quick)?;
    let agent = cargo::build_tested(workspace, build::PROGRAM)?;
    let lock = setup::lock(workspace)?;
    let requirements = workspace.root().join(FOLDER).join("requirements.txt");
    let python = python::ensure(workspace, ENVIRONMENT, &requirements)?;
    drop(lock);
    let target = workspace.root().join(TARGET);
    fs::create_dir_all(&target).with_context(|| format!("{} can't be made", target.display()))?;
    let componentize = python.with_file_name("componentize-py");
    let handler = target.join("line-counter.wasm");
    let with_wasi = target.join("with-wasi.wasm");
    // Python itself imports WASI, which no handler gets.
    componentized(workspace, &componentize, &handler, &["--stub-wasi"])?;
    componentized(workspace, &componentize, &with_wasi, &[])?;
    let variables = [
        ("AGENT", &agent),
        ("HANDLER", &handler),
        ("WITH_WASI", &with_wasi),
    ];
    python::test(workspace, ENVIRONMENT, FOLDER, &variables)?;
    println!("{}", handler.display());
    Ok(())
}

/// Builds a component of the example, and reports its size and the time that it took.
fn componentized(
    workspace: &Workspace,
    program: &Path,
    output: &Path,
    options: &[&str],
) -> Result<()> {
    let started = Instant::now();
    let mut componentize = Command::new(program);
    componentize
        .args([
            "--wit-path",
            "wit/handler",
            "--world",
            "http",
            "componentize",
        ])
        .args(options)
        .args(["--python-path", FOLDER, MODULE, "--output"])
        .arg(output)
        .current_dir(workspace.root())
        .stdout(std::io::stderr());
    process::run(&mut componentize)?;
    status::doing(
        "Built",
        format_args!(
            "{}: {} bytes, in {} s",
            component::relative(workspace, output).display(),
            read(output)?.len(),
            started.elapsed().as_secs()
        ),
    );
    Ok(())
}
