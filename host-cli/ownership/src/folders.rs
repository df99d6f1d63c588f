//! The folders of this user, and folders that only this user can read.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::{env, io};

/// A base folder of this user, as the XDG Base Directory Specification has it. Each program has a folder below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserFolder {
    /// `XDG_CACHE_HOME`, or `~/.cache`: what can be made again.
    Cache,
    /// `XDG_CONFIG_HOME`, or `~/.config`
    Config,
    /// `XDG_DATA_HOME`, or `~/.local/share`
    Data,
    /// `XDG_STATE_HOME`, or `~/.local/state`: what must outlive a restart and belongs to this machine.
    State,
}

impl UserFolder {
    /// Returns the path; `None` for a user without a home. A variable whose path is not absolute is ignored.
    #[must_use]
    pub fn path(self) -> Option<PathBuf> {
        let (variable, below) = match self {
            Self::Cache => ("XDG_CACHE_HOME", ".cache"),
            Self::Config => ("XDG_CONFIG_HOME", ".config"),
            Self::Data => ("XDG_DATA_HOME", ".local/share"),
            Self::State => ("XDG_STATE_HOME", ".local/state"),
        };
        let named = env::var_os(variable).map(PathBuf::from);
        let named = named.filter(|path| path.is_absolute());
        named.or_else(|| Some(env::home_dir()?.join(below)))
    }
}

/// Makes a folder that only this user can read and write, with those above it.
///
/// # Errors
///
/// When it can't be made.
pub fn create_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
