//! The program that compiles the component ahead of time.
//!
//! It contains wasmtime's compiler, which takes minutes to build, so no build script depends on it.
//! `cargo xtask setup` builds it once, in the profile and with the features that the rest of the
//! workspace shares.

use crate::digest::sha256;
use crate::environment::run;
use crate::{Error, Result, Workspace, World, read};
use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The installed `agent-aot`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    program: PathBuf,
}

impl Compiler {
    /// Returns the path where `cargo xtask setup` installs the program.
    #[must_use]
    pub fn program(workspace: &Workspace) -> PathBuf {
        workspace.tools().join(format!("bin/agent-aot{EXE_SUFFIX}"))
    }

    /// Returns the path of the stamp beside the program, which names its sources.
    #[must_use]
    pub fn stamp_file(workspace: &Workspace) -> PathBuf {
        workspace.tools().join("bin/agent-aot.stamp")
    }

    /// Returns the inputs of [`Compiler::find`] besides the workspace's manifest and lock file.
    #[must_use]
    pub fn inputs(workspace: &Workspace) -> [PathBuf; 2] {
        [sources(workspace), Self::stamp_file(workspace)]
    }

    /// Returns the program, if its stamp matches the workspace.
    ///
    /// # Errors
    ///
    /// [`Error::NotSetUp`] when it is missing or older than its sources. Code that another version
    /// of wasmtime compiled would be refused only when the finished `agent` starts.
    pub fn find(workspace: &Workspace) -> Result<Self> {
        let program = Self::program(workspace);
        let held = fs::read_to_string(Self::stamp_file(workspace));
        let (true, Ok(held)) = (program.exists(), held) else {
            return Err(Error::not_set_up(
                "the ahead-of-time compiler has not been set up",
            ));
        };
        if held != Self::stamp(workspace)? {
            return Err(Error::not_set_up(
                "the ahead-of-time compiler is out of date",
            ));
        }
        Ok(Self { program })
    }

    /// Compiles the component of a world in the file `wasm` to machine code for `target` in the file `cwasm`.
    ///
    /// # Errors
    ///
    /// When the program fails; its message is on standard error.
    pub fn compile(&self, world: World, target: &str, wasm: &Path, cwasm: &Path) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.args(["--target", target]);
        if !matches!(world, World::Engine | World::ResolverOnly) {
            command.arg("--metered");
        }
        command.arg(wasm).arg(cwasm);
        run("compiling the component ahead of time", &mut command)
    }

    /// Returns a digest of everything the compiled code depends on: the configuration in
    /// `host-cli/aot`, and the versions and features of wasmtime.
    ///
    /// # Errors
    ///
    /// When one of these files can't be read.
    pub fn stamp(workspace: &Workspace) -> Result<String> {
        let mut text = Vec::new();
        for file in files_below(&sources(workspace))? {
            text.extend(read(&file)?);
        }
        let manifest = read(&workspace.root().join("Cargo.toml"))?;
        for line in String::from_utf8_lossy(&manifest).lines() {
            if line.starts_with("wasmtime = ") {
                text.extend(line.as_bytes());
            }
        }
        let lock = read(&workspace.root().join("Cargo.lock"))?;
        for version in compiler_versions(&String::from_utf8_lossy(&lock)) {
            text.extend(version.as_bytes());
        }
        Ok(sha256(&text))
    }
}

fn sources(workspace: &Workspace) -> PathBuf {
    workspace.root().join("host-cli/aot")
}

/// Returns the name and version lines of the packages that generate code.
fn compiler_versions(lock: &str) -> Vec<&str> {
    let generates_code = |name: &str| {
        let prefixes = ["wasmtime", "cranelift", "regalloc2"];
        let mut prefixes = prefixes.iter();
        prefixes.any(|prefix| name.starts_with(prefix)) && !name.starts_with("wasmtime-wasi")
    };
    let mut versions = Vec::new();
    let mut lines = lock.lines();
    while let Some(line) = lines.next() {
        if line.strip_prefix("name = \"").is_some_and(generates_code) {
            versions.push(line);
            versions.extend(lines.next());
        }
    }
    versions
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(Error::file(&folder))? {
            let path = entry.map_err(Error::file(&folder))?.path();
            if path.is_dir() {
                folders.push(path)
            } else {
                files.push(path)
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::{Compiler, compiler_versions};
    use crate::{Workspace, write_if_changed};

    const LOCK: &str = "[[package]]\nname = \"serde\"\nversion = \"1.0.0\"\n\n\
                        [[package]]\nname = \"wasmtime\"\nversion = \"48.0.8\"\n";

    fn workspace(root: &std::path::Path) -> Workspace {
        let write = |name: &str, text: &str| {
            write_if_changed(&root.join(name), text.as_bytes()).unwrap();
        };
        write("Cargo.lock", LOCK);
        write(
            "Cargo.toml",
            "wasmtime = { version = \"=48.0.8\" }\nserde = \"1\"\n",
        );
        write("host-cli/aot/src/lib.rs", "//! One.\n");
        Workspace::at(root)
    }

    fn install(workspace: &Workspace) {
        write_if_changed(&Compiler::program(workspace), b"").unwrap();
        let stamp = Compiler::stamp(workspace).unwrap();
        write_if_changed(&Compiler::stamp_file(workspace), stamp.as_bytes()).unwrap();
    }

    #[test]
    fn a_missing_compiler_requires_setup() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            Compiler::find(&workspace(folder.path()))
                .unwrap_err()
                .to_string(),
            "the ahead-of-time compiler has not been set up: run `cargo xtask setup`"
        );
    }

    #[test]
    fn a_change_of_wasmtime_or_of_its_configuration_makes_it_stale() {
        for (file, old, new) in [
            ("host-cli/aot/src/lib.rs", "One", "Two"),
            ("Cargo.lock", "48.0.8", "48.0.9"),
            ("Cargo.toml", "=48.0.8", "=48.0.9"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let workspace = workspace(folder.path());
            install(&workspace);
            Compiler::find(&workspace).unwrap();

            let path = folder.path().join(file);
            let text = std::fs::read_to_string(&path).unwrap().replace(old, new);
            std::fs::write(&path, text).unwrap();
            assert_eq!(
                Compiler::find(&workspace).unwrap_err().to_string(),
                "the ahead-of-time compiler is out of date: run `cargo xtask setup`",
                "after a change of {file}"
            );
        }
    }

    #[test]
    fn a_change_of_another_dependency_does_not_make_it_stale() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = workspace(folder.path());
        install(&workspace);
        std::fs::write(
            folder.path().join("Cargo.lock"),
            LOCK.replace("1.0.0", "1.0.1"),
        )
        .unwrap();
        Compiler::find(&workspace).unwrap();
    }

    #[test]
    fn only_packages_that_generate_code_count() {
        assert_eq!(
            compiler_versions(LOCK),
            ["name = \"wasmtime\"", "version = \"48.0.8\""]
        );
    }
}
