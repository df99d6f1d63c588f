//! The test runner of `wasm-bindgen`, built from its crate.
//!
//! It is installed in `.tools/bin`, next to a stamp with the install command. A change of that
//! command, such as another version, installs it again.

use agent_pack::{Workspace, read, scrub, write_if_changed};
use anyhow::{Context as _, Result};
use std::env::{self, consts::EXE_SUFFIX};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::{cargo, folder, process, setup, status};

/// The crate with the programs.
const CRATE: &str = "wasm-bindgen-cli";

/// The crate whose version the program must have: each generates input of the
/// other, in a form that changes with every release.
const LIBRARY: &str = "wasm-bindgen";

const PROGRAM: &str = "wasm-bindgen-test-runner";

/// How it is compiled: reading a module takes a second, and optimised code half of it.
const PROFILE: (&str, &str) = ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");

const RUSTUP_TOOLCHAIN: &str = "RUSTUP_TOOLCHAIN";
const RUSTUP_AUTO_INSTALL: &str = "RUSTUP_AUTO_INSTALL";

/// Returns the path of the test runner.
pub(crate) fn runner(workspace: &Workspace) -> PathBuf {
    bin(workspace).join(format!("{PROGRAM}{EXE_SUFFIX}"))
}

fn bin(workspace: &Workspace) -> PathBuf {
    workspace.tools().join("bin")
}

/// Installs the test runner of the locked version.
pub(crate) fn ensure(workspace: &Workspace) -> Result<()> {
    let lock = read(&workspace.root().join("Cargo.lock"))?;
    let lock = String::from_utf8_lossy(&lock);
    let version =
        locked_version(&lock, LIBRARY).with_context(|| format!("Cargo.lock has no {LIBRARY}"))?;
    if !is_installed(workspace, version) {
        install(workspace, version)
            .with_context(|| format!("{CRATE} {version} can't be installed"))?;
    }
    status::doing("Ready", format_args!("{CRATE} {version}"));
    Ok(())
}

fn command_line(version: &str) -> Vec<String> {
    let version = format!("--version={version}");
    // The default feature is TLS, and the test runner speaks with ChromeDriver on loopback alone.
    let features = "--no-default-features".to_owned();
    let mut words = vec!["install".to_owned(), CRATE.to_owned(), version, features];
    words.push(format!("--bin={PROGRAM}"));
    words
}

fn stamp(version: &str) -> String {
    let (name, value) = PROFILE;
    format!("{name}={value} cargo {}\n", command_line(version).join(" "))
}

fn stamp_file(workspace: &Workspace) -> PathBuf {
    bin(workspace).join(format!("{CRATE}.stamp"))
}

fn is_installed(workspace: &Workspace, version: &str) -> bool {
    let held = fs::read_to_string(stamp_file(workspace));
    held.is_ok_and(|held| held == stamp(version)) && runner(workspace).exists()
}

fn install(workspace: &Workspace, version: &str) -> Result<()> {
    status::doing(
        "Building",
        format_args!("{CRATE} {version} (once, two minutes)"),
    );
    // Cargo's output is large and has no later use.
    let unfinished = workspace.tools().join("install.unfinished");
    folder::remove(&unfinished)?;
    let mut cargo = cargo::cargo(workspace);
    keep_toolchain(scrub(&mut cargo))
        .env(PROFILE.0, PROFILE.1)
        .args(command_line(version))
        .arg("--no-track")
        .arg("--root")
        .arg(&unfinished)
        .arg("--target-dir")
        .arg(unfinished.join("target"));
    process::run(&mut cargo)?;
    let built = unfinished
        .join("bin")
        .join(format!("{PROGRAM}{EXE_SUFFIX}"));
    setup::install(&built, &runner(workspace))?;
    write_if_changed(&stamp_file(workspace), stamp(version).as_bytes())?;
    folder::remove(&unfinished)
}

/// Makes rustup keep its present toolchain and install none.
///
/// Cargo calls rustc in the folder of each package. Some packages have a `rust-toolchain.toml`
/// there. Rustup would follow it and update the toolchain of the whole machine.
fn keep_toolchain(cargo: &mut Command) -> &mut Command {
    if let Some(toolchain) = env::var_os(RUSTUP_TOOLCHAIN) {
        cargo.env(RUSTUP_TOOLCHAIN, toolchain);
    }
    cargo.env(RUSTUP_AUTO_INSTALL, "0")
}

/// Returns the version of a package in a lock file.
fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines
        .nth(1)?
        .strip_prefix("version = \"")?
        .strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::{
        RUSTUP_AUTO_INSTALL, RUSTUP_TOOLCHAIN, is_installed, keep_toolchain, locked_version,
        runner, stamp, stamp_file,
    };
    use agent_pack::{Workspace, scrub, write_if_changed};
    use std::env;
    use std::process::Command;

    const LOCK: &str = "[[package]]\nname = \"wasm-bindgen-futures\"\nversion = \"0.4.80\"\n\n\
                        [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";

    #[test]
    fn the_version_is_that_of_the_exact_package() {
        assert_eq!(locked_version(LOCK, "wasm-bindgen"), Some("0.2.130"));
        assert_eq!(locked_version(LOCK, "wasm"), None);
    }

    #[test]
    fn rustup_stays_with_its_toolchain_and_installs_none() {
        let mut command = Command::new("cargo");
        keep_toolchain(scrub(&mut command));
        let value = |name: &str| {
            let mut variables = command.get_envs();
            variables.find_map(|(held, value)| (held == name).then_some(value?.to_owned()))
        };
        assert_eq!(value(RUSTUP_AUTO_INSTALL).unwrap(), "0");
        assert_eq!(value(RUSTUP_TOOLCHAIN), env::var_os(RUSTUP_TOOLCHAIN));
    }

    #[test]
    fn another_version_or_a_missing_program_installs_again() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(folder.path());
        assert!(!is_installed(&workspace, "0.2.130"));

        write_if_changed(&runner(&workspace), b"").unwrap();
        assert!(
            !is_installed(&workspace, "0.2.130"),
            "not without the stamp"
        );
        write_if_changed(&stamp_file(&workspace), stamp("0.2.130").as_bytes()).unwrap();
        assert!(is_installed(&workspace, "0.2.130"));
        assert!(!is_installed(&workspace, "0.2.131"));

        std::fs::remove_file(runner(&workspace)).unwrap();
        assert!(!is_installed(&workspace, "0.2.130"));
    }
}
