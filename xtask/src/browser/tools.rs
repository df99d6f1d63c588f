//! Programs built from crates: Trunk, and `wasm-bindgen` with its test runner.
//!
//! Each is installed in `.tools/bin`, beside a stamp with its install command. A change of that
//! command, such as another version, installs it again.

use agent_pack::{Workspace, read, scrub, write_if_changed};
use anyhow::{Context as _, Result};
use std::env::{self, consts::EXE_SUFFIX};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::{cargo, folder, process, setup, status};

/// The version of Trunk. 0.22 requires a newer compiler.
const TRUNK_VERSION: &str = "0.21.14";

/// The crate whose version the program of the same name must have: each generates input of the
/// other, in a form that changes with every release.
const BINDGEN: &str = "wasm-bindgen";

const RUSTUP_TOOLCHAIN: &str = "RUSTUP_TOOLCHAIN";
const RUSTUP_AUTO_INSTALL: &str = "RUSTUP_AUTO_INSTALL";

/// Returns the folder of the programs, which must precede others in `PATH`.
pub(crate) fn bin(workspace: &Workspace) -> PathBuf {
    workspace.tools().join("bin")
}

/// Returns the path of a program of [`ensure`].
pub(crate) fn program(workspace: &Workspace, name: &str) -> PathBuf {
    bin(workspace).join(format!("{name}{EXE_SUFFIX}"))
}

/// A crate with programs.
struct Tool {
    package: &'static str,
    version: String,
    programs: &'static [&'static str],
    /// Further arguments for cargo.
    arguments: &'static [&'static str],
    /// Settings for how it is compiled.
    profile: &'static [(&'static str, &'static str)],
}

fn tools(lock: &str) -> Result<[Tool; 2]> {
    Ok([
        Tool {
            package: "trunk",
            version: TRUNK_VERSION.to_owned(),
            programs: &["trunk"],
            // Without its features it neither checks for updates nor downloads other programs. It
            // mostly waits for other programs, so it need not be fast.
            arguments: &["--locked", "--debug", "--no-default-features"],
            profile: &[("CARGO_PROFILE_DEV_DEBUG", "0")],
        },
        Tool {
            package: "wasm-bindgen-cli",
            version: locked_version(lock, BINDGEN)
                .with_context(|| format!("Cargo.lock has no {BINDGEN}"))?
                .to_owned(),
            programs: &["wasm-bindgen", "wasm-bindgen-test-runner"],
            arguments: &[],
            profile: &[("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")],
        },
    ])
}

pub(super) fn ensure(workspace: &Workspace) -> Result<()> {
    let lock = read(&workspace.root().join("Cargo.lock"))?;
    for tool in tools(&String::from_utf8_lossy(&lock))? {
        if !tool.is_installed(workspace) {
            tool.install(workspace)
                .with_context(|| format!("{} {} can't be installed", tool.package, tool.version))?;
        }
        status::doing("Ready", format_args!("{} {}", tool.package, tool.version));
    }
    Ok(())
}

impl Tool {
    fn command_line(&self) -> Vec<String> {
        let mut words = vec![
            "install".to_owned(),
            self.package.to_owned(),
            format!("--version={}", self.version),
        ];
        words.extend(self.arguments.iter().map(|&argument| argument.to_owned()));
        words.extend(
            self.programs
                .iter()
                .map(|program| format!("--bin={program}")),
        );
        words
    }

    fn stamp(&self) -> String {
        let profile = self.profile.iter();
        let words: Vec<_> = profile
            .map(|(name, value)| format!("{name}={value}"))
            .chain(["cargo".to_owned()])
            .chain(self.command_line())
            .collect();
        words.join(" ") + "\n"
    }

    fn stamp_file(&self, workspace: &Workspace) -> PathBuf {
        bin(workspace).join(format!("{}.stamp", self.package))
    }

    fn is_installed(&self, workspace: &Workspace) -> bool {
        let held = fs::read_to_string(self.stamp_file(workspace));
        held.is_ok_and(|held| held == self.stamp())
            && self
                .programs
                .iter()
                .all(|name| program(workspace, name).exists())
    }

    fn install(&self, workspace: &Workspace) -> Result<()> {
        status::doing(
            "Building",
            format_args!("{} {} (once, two minutes)", self.package, self.version),
        );
        // Cargo's output is large and has no later use.
        let unfinished = workspace.tools().join("install.unfinished");
        folder::remove(&unfinished)?;
        let mut cargo = cargo::cargo(workspace);
        keep_toolchain(scrub(&mut cargo))
            .envs(self.profile.iter().copied())
            .args(self.command_line())
            .arg("--no-track")
            .arg("--root")
            .arg(&unfinished)
            .arg("--target-dir")
            .arg(unfinished.join("target"));
        process::run(&mut cargo)?;
        for name in self.programs {
            let built = unfinished.join("bin").join(format!("{name}{EXE_SUFFIX}"));
            setup::install(&built, &program(workspace, name))?;
        }
        write_if_changed(&self.stamp_file(workspace), self.stamp().as_bytes())?;
        folder::remove(&unfinished)
    }
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
        RUSTUP_AUTO_INSTALL, RUSTUP_TOOLCHAIN, keep_toolchain, locked_version, program, tools,
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
        assert!(tools("").is_err());
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
        let [_, tool] = tools(LOCK).unwrap();
        assert!(!tool.is_installed(&workspace));

        for name in tool.programs {
            write_if_changed(&program(&workspace, name), b"").unwrap();
        }
        assert!(!tool.is_installed(&workspace), "not without its stamp");
        write_if_changed(&tool.stamp_file(&workspace), tool.stamp().as_bytes()).unwrap();
        assert!(tool.is_installed(&workspace));

        let [_, newer] = tools(&LOCK.replace("130", "131")).unwrap();
        assert!(!newer.is_installed(&workspace));
        std::fs::remove_file(program(&workspace, tool.programs[1])).unwrap();
        assert!(!tool.is_installed(&workspace));
    }
}
