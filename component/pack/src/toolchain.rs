//! The recorded toolchain for wasm, which `cargo xtask setup` provides.

use crate::{Error, Result, Workspace, scrub, write_if_changed};
use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

/// The target of components. Not `wasm32-wasip2`, whose standard library imports WASI.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// A cargo and a rustc with the standard library for [`TARGET`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// The origin of the toolchain.
    pub source: Source,
    /// The cargo to call.
    pub cargo: PathBuf,
    /// The folder of its `rustc`, which must precede others in `PATH`.
    pub bin: PathBuf,
    /// The output of `rustc --version`: another version has another standard library.
    pub version: String,
}

/// The origin of a toolchain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The installed rustc already had the target.
    Rustc,
    /// `rustup target add` provided it.
    Rustup,
    /// Debian's compiler, with a standard library built from Debian's sources.
    Debian,
}

impl Toolchain {
    /// Returns the path of the record, which `cargo xtask setup` writes and every build reads.
    #[must_use]
    pub fn record(workspace: &Workspace) -> PathBuf {
        workspace.tools().join("wasm-toolchain")
    }

    /// Reads the record and checks that the compiler still has the recorded version.
    ///
    /// # Errors
    ///
    /// [`Error::NotSetUp`] when there is no record, or when the compiler has gone or changed.
    pub fn find(workspace: &Workspace) -> Result<Self> {
        let record = fs::read_to_string(Self::record(workspace))
            .map_err(|_| Error::not_set_up("the toolchain for wasm has not been set up"))?;
        let toolchain: Self = record.parse()?;
        if rustc_version(&toolchain.bin).as_ref() != Some(&toolchain.version) {
            return Err(Error::not_set_up(format!(
                "the toolchain for wasm is no longer {}",
                toolchain.version
            )));
        }
        Ok(toolchain)
    }

    /// Describes the toolchain whose `rustc` is in the folder `bin`.
    ///
    /// # Errors
    ///
    /// [`Error::Program`] when that rustc does not run.
    pub fn describe(source: Source, cargo: PathBuf, bin: PathBuf) -> Result<Self> {
        let version = rustc_version(&bin).ok_or_else(|| Error::Program {
            task: format!("reading the version of {}", bin.join("rustc").display()),
            outcome: "it does not run".to_owned(),
        })?;
        Ok(Self {
            source,
            cargo,
            bin,
            version,
        })
    }

    /// Writes the record.
    ///
    /// # Errors
    ///
    /// When the file can't be written.
    pub fn save(&self, workspace: &Workspace) -> Result<()> {
        write_if_changed(&Self::record(workspace), self.to_string().as_bytes())?;
        Ok(())
    }

    /// Returns a call of this toolchain's cargo without the caller's settings.
    #[must_use]
    pub fn cargo(&self) -> Command {
        self.command(&self.cargo)
    }

    /// Returns a call of this toolchain's rustc without the caller's settings.
    #[must_use]
    pub fn rustc(&self) -> Command {
        self.command(&self.bin.join("rustc"))
    }

    /// Returns a call of a program that finds this toolchain's cargo and rustc by name, without the
    /// caller's settings.
    #[must_use]
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        scrub(&mut command);
        let inherited = env::var_os("PATH").unwrap_or_default();
        // The folder of cargo may also contain a rustc, without the target: it comes second.
        let own = [Some(self.bin.as_path()), self.cargo.parent()];
        let folders = own
            .into_iter()
            .flatten()
            // A cargo without a folder is found in `PATH` anyway.
            .filter(|folder| !folder.as_os_str().is_empty())
            .map(Path::to_owned)
            .chain(env::split_paths(&inherited));
        let path = env::join_paths(folders).expect("no folder of a toolchain has a separator");
        command.env("PATH", path);
        command
    }
}

fn rustc_version(bin: &Path) -> Option<String> {
    let output = scrub(&mut Command::new(bin.join("rustc")))
        .arg("--version")
        .output()
        .ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    output
        .status
        .success()
        .then(|| version.trim_end().to_owned())
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# The toolchain for {TARGET}. Written by `cargo xtask setup`."
        )?;
        writeln!(f, "source = {}", self.source.name())?;
        writeln!(f, "cargo = {}", self.cargo.display())?;
        writeln!(f, "bin = {}", self.bin.display())?;
        writeln!(f, "version = {}", self.version)
    }
}

impl FromStr for Toolchain {
    type Err = Error;

    fn from_str(record: &str) -> Result<Self> {
        let value = |key: &str| {
            record
                .lines()
                .find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))
                .ok_or_else(|| {
                    Error::not_set_up(format!(
                        "the record of the toolchain for wasm has no `{key}`"
                    ))
                })
        };
        let source = value("source")?;
        Ok(Self {
            source: Source::named(source).ok_or_else(|| {
                Error::not_set_up(format!(
                    "the toolchain for wasm has an unknown source `{source}`"
                ))
            })?,
            cargo: value("cargo")?.into(),
            bin: value("bin")?.into(),
            version: value("version")?.to_owned(),
        })
    }
}

impl Source {
    const ALL: [Self; 3] = [Self::Rustc, Self::Rustup, Self::Debian];

    const fn name(self) -> &'static str {
        match self {
            Self::Rustc => "rustc",
            Self::Rustup => "rustup",
            Self::Debian => "debian",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rustc => "found in the installed toolchain",
            Self::Rustup => "added by rustup",
            Self::Debian => "built from Debian's sources",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Source, Toolchain};
    use crate::Workspace;

    fn toolchain(source: Source) -> Toolchain {
        Toolchain {
            source,
            cargo: "/somewhere/bin/cargo".into(),
            bin: "/somewhere/bin".into(),
            version: "rustc 1.95.0 (59807616e 2026-04-14)".to_owned(),
        }
    }

    #[test]
    fn a_record_reads_back_as_it_was_written() {
        for source in Source::ALL {
            let written = toolchain(source);
            assert_eq!(written.to_string().parse::<Toolchain>().unwrap(), written);
        }
    }

    #[test]
    fn a_truncated_record_requires_setup() {
        let record = toolchain(Source::Debian).to_string();
        let (cut, _) = record.split_once("version").unwrap();
        assert_eq!(
            cut.parse::<Toolchain>().unwrap_err().to_string(),
            "the record of the toolchain for wasm has no `version`: run `cargo xtask setup`"
        );
    }

    #[test]
    fn a_missing_record_requires_setup() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            Toolchain::find(&Workspace::at(folder.path()))
                .unwrap_err()
                .to_string(),
            "the toolchain for wasm has not been set up: run `cargo xtask setup`"
        );
    }

    #[test]
    fn a_missing_compiler_requires_setup() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(folder.path());
        let mut gone = toolchain(Source::Rustup);
        gone.bin = folder.path().join("gone");
        gone.save(&workspace).unwrap();

        let error = Toolchain::find(&workspace).unwrap_err().to_string();
        assert!(
            error.starts_with("the toolchain for wasm is no longer rustc 1.95.0"),
            "{error}"
        );
        assert!(error.ends_with("run `cargo xtask setup`"), "{error}");
    }
}
