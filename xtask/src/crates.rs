//! Programs that are built from crates of the registry.
//!
//! Each is installed in `.tools/bin`, next to a stamp with the install command. A change of that
//! command, such as another version, installs it again.

use agent_pack::{Workspace, read, scrub, write_if_changed};
use anyhow::{Context as _, Result};
use std::env::{self, consts::EXE_SUFFIX};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::{cargo, folder, process, setup, status};

/// How each is compiled: optimised code takes half the time of other code, and a third more to compile.
const PROFILE: (&str, &str) = ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");

const RUSTUP_TOOLCHAIN: &str = "RUSTUP_TOOLCHAIN";
const RUSTUP_AUTO_INSTALL: &str = "RUSTUP_AUTO_INSTALL";

/// A program of a crate.
pub(crate) struct Program {
    crate_name: &'static str,
    name: &'static str,
    features: &'static str,
}

/// The test runner of `wasm-bindgen`. The default feature is TLS, and it speaks with ChromeDriver on loopback alone.
pub(crate) const TEST_RUNNER: Program = Program {
    crate_name: "wasm-bindgen-cli",
    name: "wasm-bindgen-test-runner",
    features: "",
};

/// The crate whose version the test runner must have: each generates input of the
/// other, in a form that changes with every release.
const LIBRARY: &str = "wasm-bindgen";

/// The builder of the book, without its server.
pub(crate) const MDBOOK: Program = Program {
    crate_name: "mdbook",
    name: "mdbook",
    features: "search",
};

impl Program {
    /// Installs a version of the program, and returns its path. The caller holds the lock of the set-up.
    pub(crate) fn ensure(&self, workspace: &Workspace, version: &str) -> Result<PathBuf> {
        let name = self.crate_name;
        if !self.is_installed(workspace, version) {
            self.install(workspace, version)
                .with_context(|| format!("{name} {version} can't be installed"))?;
        }
        status::doing("Ready", format_args!("{name} {version}"));
        Ok(self.path(workspace))
    }

    fn path(&self, workspace: &Workspace) -> PathBuf {
        let file = format!("{}{EXE_SUFFIX}", self.name);
        workspace.tools().join("bin").join(file)
    }

    fn command_line(&self, version: &str) -> [String; 6] {
        [
            "install".to_owned(),
            self.crate_name.to_owned(),
            format!("--version={version}"),
            "--no-default-features".to_owned(),
            format!("--features={}", self.features),
            format!("--bin={}", self.name),
        ]
    }

    fn stamp(&self, version: &str) -> String {
        let (name, value) = PROFILE;
        let line = self.command_line(version).join(" ");
        format!("{name}={value} cargo {line}\n")
    }

    fn stamp_file(&self, workspace: &Workspace) -> PathBuf {
        let file = format!("bin/{}.stamp", self.crate_name);
        workspace.tools().join(file)
    }

    fn is_installed(&self, workspace: &Workspace, version: &str) -> bool {
        let held = fs::read_to_string(self.stamp_file(workspace));
        held.is_ok_and(|held| held == self.stamp(version)) && self.path(workspace).exists()
    }

    fn install(&self, workspace: &Workspace, version: &str) -> Result<()> {
        let name = self.crate_name;
        status::doing(
            "Building",
            format_args!("{name} {version} (once, some minutes)"),
        );
        // Cargo's output is large and has no later use.
        let unfinished = workspace.tools().join("install.unfinished");
        folder::remove(&unfinished)?;
        let mut cargo = cargo::cargo(workspace);
        keep_toolchain(scrub(&mut cargo))
            .env(PROFILE.0, PROFILE.1)
            .args(self.command_line(version))
            .arg("--no-track")
            .arg("--root")
            .arg(&unfinished)
            .arg("--target-dir")
            .arg(unfinished.join("target"));
        process::run(&mut cargo)?;
        let built = unfinished
            .join("bin")
            .join(format!("{}{EXE_SUFFIX}", self.name));
        setup::install(&built, &self.path(workspace))?;
        write_if_changed(&self.stamp_file(workspace), self.stamp(version).as_bytes())?;
        folder::remove(&unfinished)
    }
}

/// Installs the test runner of the locked version, and returns its path. The caller holds the lock of the set-up.
pub(crate) fn ensure_test_runner(workspace: &Workspace) -> Result<PathBuf> {
    let lock = read(&workspace.root().join("Cargo.lock"))?;
    let lock = String::from_utf8_lossy(&lock);
    let version =
        locked_version(&lock, LIBRARY).with_context(|| format!("Cargo.lock has no {LIBRARY}"))?;
    TEST_RUNNER.ensure(workspace, version)
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
        RUSTUP_AUTO_INSTALL, RUSTUP_TOOLCHAIN, TEST_RUNNER, keep_toolchain, locked_version,
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
        let is_installed = |version| TEST_RUNNER.is_installed(&workspace, version);
        assert!(!is_installed("0.2.130"));

        let program = TEST_RUNNER.path(&workspace);
        write_if_changed(&program, b"").unwrap();
        assert!(!is_installed("0.2.130"), "not without the stamp");
        let stamp = TEST_RUNNER.stamp("0.2.130");
        write_if_changed(&TEST_RUNNER.stamp_file(&workspace), stamp.as_bytes()).unwrap();
        assert!(is_installed("0.2.130"));
        assert!(!is_installed("0.2.131"));

        std::fs::remove_file(program).unwrap();
        assert!(!is_installed("0.2.130"));
    }
}
