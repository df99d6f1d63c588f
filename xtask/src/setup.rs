//! `cargo xtask setup`: what the builds need and cargo does not bring.
//!
//! Two things for every build, both below `.tools/`: the toolchain for wasm ([`toolchain`]) and the
//! ahead-of-time compiler. More for the playground alone ([`browser`]). Nothing is made again while
//! it is up to date.

use agent_pack::{Compiler, Toolchain, Workspace, write_if_changed};
use anyhow::{Context as _, Result};
use std::fs::{self, File};
use std::path::Path;

use crate::{browser, cargo, no_arguments, status, toolchain};

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    ensure(workspace)?;
    browser::ensure(workspace)?;
    browser::chromium::ensure()?;
    Ok(())
}

/// Makes sure that all is in place that every build needs, and returns the toolchain for wasm.
pub(crate) fn ensure(workspace: &Workspace) -> Result<Toolchain> {
    let _lock = lock(workspace)?;
    let toolchain = toolchain::ensure(workspace)?;
    ensure_compiler(workspace)?;
    Ok(toolchain)
}

/// Two set-ups at once would build in the same folder; the second waits, and finds all done.
pub(crate) fn lock(workspace: &Workspace) -> Result<File> {
    let tools = workspace.tools();
    fs::create_dir_all(&tools).with_context(|| format!("{} can't be made", tools.display()))?;
    let file = File::create(tools.join("lock"))?;
    file.lock().context("the lock of the set-up can't be had")?;
    Ok(file)
}

fn ensure_compiler(workspace: &Workspace) -> Result<()> {
    let program = Compiler::program(workspace);
    if Compiler::find(workspace).is_err() {
        status::doing(
            "Building",
            "the ahead-of-time compiler (once, some minutes)",
        );
        // Without `--package`, which would leave out the features that other members ask of shared
        // dependencies: as it is, wasmtime is compiled once for this and for all else.
        let built = cargo::build_program(workspace, "agent-aot", &["--bin", "agent-aot"])?;
        install(&built, &program)?;
        // Last, and after the build, which may have changed the lock file: without the stamp the
        // program does not count.
        let stamp = Compiler::stamp(workspace)?;
        write_if_changed(&Compiler::stamp_file(workspace), stamp.as_bytes())?;
    }
    status::doing(
        "Ready",
        format_args!("ahead-of-time compiler {}", program.display()),
    );
    Ok(())
}

/// Copies a program beside its place and renames it: it may be running.
pub(crate) fn install(built: &Path, program: &Path) -> Result<()> {
    if let Some(folder) = program.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = program.with_added_extension("new");
    fs::copy(built, &beside).with_context(|| format!("{} can't be copied", built.display()))?;
    fs::rename(&beside, program)?;
    Ok(())
}
