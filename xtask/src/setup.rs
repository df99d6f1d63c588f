//! `cargo xtask setup`: installs the tools that cargo does not provide.
//!
//! Every build needs two tools below `.tools/`: the toolchain for wasm ([`mod@toolchain`]) and the
//! ahead-of-time compiler. The playground needs more ([`browser`]). A tool that is up to date stays
//! as it is.

use agent_pack::{Compiler, Toolchain, Workspace, write_if_changed};
use anyhow::{Context as _, Result};
use std::fs::{self, File};
use std::path::Path;

use crate::{browser, bubblewrap, cargo, folder, no_arguments, status, toolchain};

pub(crate) fn command(workspace: &Workspace, arguments: &[&str]) -> Result<()> {
    no_arguments(arguments)?;
    ensure(workspace)?;
    bubblewrap::ensure()?;
    browser::ensure(workspace)?;
    browser::chromium::ensure()?;
    Ok(())
}

/// Installs the tools of every build and returns the toolchain for wasm.
pub(crate) fn ensure(workspace: &Workspace) -> Result<Toolchain> {
    let toolchain = toolchain(workspace)?;
    ensure_compiler(workspace)?;
    Ok(toolchain)
}

/// Installs the toolchain for wasm.
pub(crate) fn toolchain(workspace: &Workspace) -> Result<Toolchain> {
    let _lock = lock(workspace)?;
    toolchain::ensure(workspace)
}

/// Takes the lock of the set-up: a second set-up waits instead of building in the same folder.
pub(crate) fn lock(workspace: &Workspace) -> Result<File> {
    folder::lock(&workspace.tools())
}

/// Installs the ahead-of-time compiler.
pub(crate) fn ensure_compiler(workspace: &Workspace) -> Result<()> {
    let _lock = lock(workspace)?;
    let program = Compiler::program(workspace);
    if Compiler::find(workspace).is_err() {
        status::doing(
            "Building",
            "the ahead-of-time compiler (once, some minutes)",
        );
        // Without `--package`, which would omit the features that other members request of shared
        // dependencies and compile wasmtime a second time.
        let built = cargo::build_program(workspace, "agent-aot", &["--bin", "agent-aot"])?;
        install(&built, &program)?;
        // The stamp comes after the build, which may change the lock file. Without the stamp the
        // program does not count as installed.
        let stamp = Compiler::stamp(workspace)?;
        write_if_changed(&Compiler::stamp_file(workspace), stamp.as_bytes())?;
    }
    status::doing(
        "Ready",
        format_args!("ahead-of-time compiler {}", program.display()),
    );
    Ok(())
}

/// Copies a program beside its place and renames it, because it may be running.
pub(crate) fn install(built: &Path, program: &Path) -> Result<()> {
    if let Some(folder) = program.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = program.with_added_extension("new");
    fs::copy(built, &beside).with_context(|| format!("{} can't be copied", built.display()))?;
    fs::rename(&beside, program)?;
    Ok(())
}
