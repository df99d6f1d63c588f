//! The paths of the source tree.

use std::path::{Path, PathBuf};

/// The root of the source tree, and the paths in it that the build uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Returns the workspace whose `Cargo.toml` is in `root`, an absolute path.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the workspace that this crate was compiled in.
    #[must_use]
    pub fn of_this_build() -> Self {
        let pack = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = pack.ancestors().nth(2);
        Self::at(root.expect("component/pack lies two folders below the root"))
    }

    /// Returns the folder with the workspace's `Cargo.toml`.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of the tools from `cargo xtask setup`. It is outside `target/`, so that
    /// `cargo clean` keeps it.
    #[must_use]
    pub fn tools(&self) -> PathBuf {
        self.root.join(".tools")
    }

    /// Returns cargo's folder for the component. Not `target/` itself: the cargo that runs a build
    /// script holds the lock of that one, and a cargo called by the script would wait for it
    /// forever.
    #[must_use]
    pub fn component_target_dir(&self) -> PathBuf {
        self.root.join("target/component")
    }

    /// Returns the folder where `cargo xtask test` builds the component a second time.
    #[must_use]
    pub fn elsewhere(&self) -> PathBuf {
        self.root.join("target/elsewhere")
    }

    /// Returns the paths that the bytes of the component depend on: files, and folders with all
    /// their content.
    #[must_use]
    pub fn component_inputs(&self) -> Vec<PathBuf> {
        self.inputs(&[
            "Cargo.lock",
            "Cargo.toml",
            "component",
            "engine",
            "wit/engine",
        ])
    }

    /// Returns the paths that the bytes of the handlers depend on, as
    /// [`Workspace::component_inputs`].
    #[must_use]
    pub fn handler_inputs(&self) -> Vec<PathBuf> {
        let sources = [
            "Cargo.lock",
            "Cargo.toml",
            "component/pack",
            "host-cli/handlers",
        ];
        let mut inputs = self.inputs(&sources);
        inputs.push(self.root.join("wit/handler"));
        inputs
    }

    /// Returns the paths that the bytes of the built-in runners depend on, as
    /// [`Workspace::component_inputs`].
    #[must_use]
    pub fn runner_inputs(&self) -> Vec<PathBuf> {
        let sources = [
            "Cargo.lock",
            "Cargo.toml",
            "component/pack",
            "host-cli/language-runners",
            "wit/handler/deps",
            "wit/runner",
        ];
        self.inputs(&sources)
    }

    fn inputs(&self, sources: &[&str]) -> Vec<PathBuf> {
        let mut inputs: Vec<_> = sources.iter().map(|name| self.root.join(name)).collect();
        inputs.push(crate::Toolchain::record(self));
        inputs
    }
}
