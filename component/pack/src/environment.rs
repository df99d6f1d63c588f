//! The environment of a nested cargo.

use crate::{Error, Result};
use std::env;
use std::process::{Command, Stdio};

/// The inherited variables: paths, and settings for the network.
///
/// The list names what stays, not what goes: cargo passes some forty variables to build scripts and
/// programs (`CARGO_ENCODED_RUSTFLAGS`, `RUSTC_WRAPPER`, `RUSTUP_TOOLCHAIN`, `TARGET`, ...), and a
/// forgotten one would change the bytes of the component.
const KEPT: [&str; 22] = [
    "ALL_PROXY",
    "CARGO_HOME",
    // The jobserver: with it the nested cargo shares the outer one's share of the processors.
    "CARGO_MAKEFLAGS",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "NO_PROXY",
    "PATH",
    "RUSTUP_HOME",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "USERPROFILE",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// Whether rustup may install what it misses.
const AUTO_INSTALL: &str = "RUSTUP_AUTO_INSTALL";

/// Cargo's settings for the network and for registries.
const KEPT_PREFIXES: [&str; 3] = ["CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR"];

/// Removes every inherited variable that could change the output of a compiler.
pub fn scrub(command: &mut Command) -> &mut Command {
    command.env_clear().envs(env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        KEPT.contains(&name.as_ref()) || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    }));
    // Without the toolchain of the outer cargo, rustup looks for one, and may replace the installed one by a newer.
    command.env(AUTO_INSTALL, "0")
}

/// Runs a program to its end.
pub(crate) fn run(task: &str, command: &mut Command) -> Result<()> {
    output(task, command.stdout(Stdio::inherit())).map(drop)
}

/// Runs a program and returns its standard output. Its messages go to standard error.
pub(crate) fn output(task: &str, command: &mut Command) -> Result<Vec<u8>> {
    let failure = |outcome: String| Error::Program {
        task: task.to_owned(),
        outcome,
    };
    let program = command.get_program().to_owned();
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| failure(format!("{}: {error}", program.display())))?;
    if !output.status.success() {
        return Err(failure(output.status.to_string()));
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::{AUTO_INSTALL, KEPT, scrub};
    use std::process::Command;

    #[test]
    fn variables_of_cargo_are_removed() {
        // Cargo sets this one for every test; it represents all others.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());

        let mut command = Command::new("cargo");
        scrub(&mut command);

        let names: Vec<_> = command
            .get_envs()
            .map(|(name, _)| name.to_owned())
            .collect();
        assert!(names.iter().any(|name| name == "PATH"));
        assert!(names.iter().all(|name| name != "CARGO_MANIFEST_DIR"));
    }

    #[test]
    fn rustup_installs_nothing() {
        let mut command = Command::new("cargo");
        scrub(&mut command);
        let installs = command
            .get_envs()
            .find(|(name, _)| name.to_str() == Some(AUTO_INSTALL));
        assert_eq!(installs, Some((AUTO_INSTALL.as_ref(), Some("0".as_ref()))));
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(KEPT.is_sorted());
    }
}
