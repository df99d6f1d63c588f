//! The installed rustc, which may already have the target.

use agent_pack::{Source, TARGET, Toolchain};
use anyhow::{Result, bail};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process;

/// Returns the toolchain that builds everything else, if it has the target.
pub(super) fn find() -> Result<Toolchain> {
    describe(Source::Rustc)
}

pub(super) fn describe(source: Source) -> Result<Toolchain> {
    let sysroot = process::output(rustc().args(["--print", "sysroot"]))?;
    let bin = Path::new(sysroot.trim_end()).join("bin");
    // By its own path: under rustup `rustc` is a proxy, which chooses a toolchain at each call.
    let toolchain = Toolchain::describe(source, cargo_of(&bin), bin)?;
    if !has_target(&mut toolchain.rustc()) {
        bail!("{} has no standard library for it", toolchain.version);
    }
    Ok(toolchain)
}

/// Returns whether a rustc has the standard library for the target. Every rustc knows the target
/// itself.
pub(super) fn has_target(rustc: &mut Command) -> bool {
    rustc
        .args(["--print", "target-libdir", "--target", TARGET])
        .stderr(Stdio::null());
    let Ok(output) = rustc.output() else {
        return false;
    };
    output.status.success()
        && has_core(Path::new(
            String::from_utf8_lossy(&output.stdout).trim_end(),
        ))
}

fn has_core(libdir: &Path) -> bool {
    let Ok(entries) = fs::read_dir(libdir) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libcore-") && name.ends_with(".rlib")
    })
}

fn rustc() -> Command {
    Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// Returns the cargo beside a rustc, or else the one that runs this program.
fn cargo_of(bin: &Path) -> PathBuf {
    let beside = bin.join(format!("cargo{}", env::consts::EXE_SUFFIX));
    if beside.exists() {
        return beside;
    }
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::has_core;
    use std::fs;

    #[test]
    fn a_core_library_marks_the_target() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!has_core(&folder.path().join("missing")));
        assert!(!has_core(folder.path()));
        fs::write(folder.path().join("libcore-0123.rmeta"), "").unwrap();
        assert!(
            !has_core(folder.path()),
            "metadata alone is not enough to link"
        );
        fs::write(folder.path().join("libcore-0123.rlib"), "").unwrap();
        assert!(has_core(folder.path()));
    }
}
