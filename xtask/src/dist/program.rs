//! The program for machines with an older C library than this one.

use agent_pack::{Workspace, scrub};
use anyhow::{Context as _, Result, ensure};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{process, python, setup, status};

/// The only target so far: sandboxes are those of Linux.
pub(super) const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The oldest version of glibc that the program runs with: that of RHEL 8 and of manylinux_2_28.
const GLIBC: &str = "2.28";

/// The platform of the wheel, which `auditwheel` checks.
pub(super) const MANYLINUX: &str = "manylinux_2_28_x86_64";

/// Separates flags in `CARGO_ENCODED_RUSTFLAGS`.
const FLAG_SEPARATOR: &str = "\x1f";

/// Installs the tools of PyPI for packages, and returns the Python that has them.
pub(super) fn tools(workspace: &Workspace) -> Result<PathBuf> {
    let _lock = setup::lock(workspace)?;
    let requirements = workspace.root().join("xtask/src/dist/requirements.txt");
    python::ensure(workspace, "python-dist", &requirements)
}

/// Builds a stripped program with `zig` as its linker, which has the stubs of every glibc. Its package has the same name. Another program
/// is built by itself: its dependencies would change the features of the first one's.
pub(super) fn build(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    setup::ensure(workspace)?;
    let python = tools(workspace)?;
    let programs = python.parent().context("Python has a folder")?;
    status::doing("Building", format_args!("{name} for glibc {GLIBC}"));
    let target_dir = workspace.root().join("target/portable");
    let mut build = Command::new(programs.join("cargo-zigbuild"));
    scrub(&mut build);
    build
        .current_dir(workspace.root())
        .args(["zigbuild", "--release", "--locked", "--package", name])
        .arg(format!("--target={TARGET}.{GLIBC}"))
        .arg("--target-dir")
        .arg(&target_dir)
        .env("PATH", search(programs)?)
        // The build scripts compile for other targets, with flags of their own.
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            remaps(workspace, &target_dir)?.join(FLAG_SEPARATOR),
        );
    process::run(&mut build)?;
    let program = target_dir.join(TARGET).join("release").join(name);
    ensure!(program.exists(), "{} was not built", program.display());
    Ok(program)
}

/// Returns the search path with the tools of PyPI and the cargo of this build before all others.
fn search(programs: &Path) -> Result<OsString> {
    let cargo = env::var_os("CARGO").map(PathBuf::from);
    let cargo = cargo.as_deref().and_then(Path::parent).map(Path::to_owned);
    let usual = env::var_os("PATH").unwrap_or_default();
    let folders = [programs.to_owned()].into_iter().chain(cargo);
    Ok(env::join_paths(folders.chain(env::split_paths(&usual)))?)
}

/// Returns the flags with which the bytes name no folder of this machine.
fn remaps(workspace: &Workspace, target_dir: &Path) -> Result<Vec<String>> {
    let registry = env::var_os("CARGO_HOME").map(PathBuf::from);
    let registry = registry.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let registry = registry
        .context("cargo has no folder")?
        .join("registry/src");
    // Of the prefixes that match a path, rustc takes the last one.
    let prefixes = [
        (workspace.root(), "/agent"),
        (target_dir, "/target"),
        (&registry, "/deps"),
    ];
    let flags = prefixes.map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
    Ok(flags.to_vec())
}
