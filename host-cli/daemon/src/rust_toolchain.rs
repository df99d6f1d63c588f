//! The toolchain of Rust that is in `PATH`, or else the one of rustup.

use agent_sandbox::whole;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What every sandbox can read.
const SYSTEM: &str = "/usr";

/// A target whose modules can be components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Its compiler writes components, and its standard library calls WASI.
    Wasip2,
    /// Its compiler writes modules, which this program encodes. Its standard library calls nothing.
    Unknown,
}

impl Target {
    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Wasip2 => "wasm32-wasip2",
            Self::Unknown => "wasm32-unknown-unknown",
        }
    }
}

/// A toolchain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rust {
    /// Its folder.
    pub(crate) root: PathBuf,
    pub(crate) cargo: PathBuf,
    pub(crate) rustc: PathBuf,
    /// The folders that a sandbox has to read for it.
    pub(crate) read: Vec<PathBuf>,
    /// The first target that it has a standard library for.
    pub(crate) target: Option<Target>,
}

impl Rust {
    /// Finds the toolchain of this user. The error says what is missing.
    pub(crate) fn find() -> Result<Self, String> {
        let mut folders: Vec<_> = env::var_os("PATH")
            .map(|path| env::split_paths(&path).collect())
            .unwrap_or_default();
        folders.extend(env::home_dir().map(|home| home.join(".cargo/bin")));
        let rustc = folders.iter().map(|folder| folder.join("rustc"));
        let rustc = rustc.filter(|it| it.is_absolute()).find(|it| it.is_file());
        let rustc = rustc.ok_or("there is no `rustc` in `PATH`")?;
        // A file of the app must not choose a toolchain, and none is installed.
        let output = Command::new(&rustc)
            .args(["--print", "sysroot"])
            .current_dir("/")
            .env("RUSTUP_AUTO_INSTALL", "0")
            .env_remove("LD_LIBRARY_PATH")
            .stdin(Stdio::null())
            .output();
        let output = output.map_err(|error| format!("`{}`: {error}", rustc.display()))?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!("`{}`: {}", rustc.display(), errors.trim()));
        }
        let root = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Self::at(Path::new(&root))
    }

    /// Returns the toolchain of a folder.
    fn at(root: &Path) -> Result<Self, String> {
        let program = |name: &str| {
            let path = root.join("bin").join(name);
            let missing = || format!("there is no `{}`", path.display());
            path.is_file().then(|| path.clone()).ok_or_else(missing)
        };
        let libraries = |target: &Target| {
            let folder = root.join("lib/rustlib").join(target.name()).join("lib");
            let mut files = folder.read_dir().into_iter().flatten().flatten();
            files.any(|file| file.file_name().to_string_lossy().starts_with("libcore-"))
        };
        let read = match root.starts_with(SYSTEM) {
            true => Vec::new(),
            false => whole(root),
        };
        Ok(Self {
            cargo: program("cargo")?,
            rustc: program("rustc")?,
            read,
            target: [Target::Wasip2, Target::Unknown]
                .into_iter()
                .find(libraries),
            root: root.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Rust, Target};
    use std::fs;

    #[test]
    fn the_best_target_of_a_toolchain_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert!(Rust::at(root).unwrap_err().contains("bin/cargo"));
        fs::create_dir(root.join("bin")).unwrap();
        for name in ["cargo", "rustc"] {
            fs::write(root.join("bin").join(name), "").unwrap();
        }
        assert_eq!(Rust::at(root).unwrap().target, None);
        for target in [Target::Unknown, Target::Wasip2] {
            let libraries = root.join("lib/rustlib").join(target.name()).join("lib");
            fs::create_dir_all(&libraries).unwrap();
            let before = Rust::at(root).unwrap().target;
            assert_ne!(before, Some(target));
            fs::write(libraries.join("libcore-1.rlib"), "").unwrap();
            assert_eq!(Rust::at(root).unwrap().target, Some(target));
        }
        assert_eq!(Rust::at(root).unwrap().read, [root]);
    }
}
