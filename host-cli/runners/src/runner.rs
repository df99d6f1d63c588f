//! A runner, and where it works.

use crate::Error;
use crate::limits::{FILE_BYTES, LOG_BYTES, MEMORY_BYTES, OPEN_FILES, PROCESSES};
use agent_sandbox::Limits;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A foreign runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    program: PathBuf,
    /// Files and folders of the machine that the runner and the app can read in addition to the program and the system,
    /// as absolute paths.
    pub read: Vec<PathBuf>,
}

impl Runner {
    /// Returns the runner at a path.
    ///
    /// # Errors
    ///
    /// If there is no executable file.
    pub fn new(program: &Path) -> Result<Self, Error> {
        let unusable = |reason: &dyn std::fmt::Display| {
            Error::NotStarted(format!("{}: {reason}", program.display()))
        };
        let path = program.canonicalize().map_err(|error| unusable(&error))?;
        let data = fs::metadata(&path).map_err(|error| unusable(&error))?;
        if !data.is_file() || data.permissions().mode() & 0o111 == 0 {
            return Err(unusable(&"it is not an executable file"));
        }
        Ok(Self {
            program: path,
            read: Vec::new(),
        })
    }

    /// Returns the absolute path of the executable, without links.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }
}

/// Where a runner works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The only folder of the machine that the runner and the app can change, as an absolute path: `source/` of a task.
    pub folder: PathBuf,
    /// The port at which the app is asked to listen, in a separate network.
    pub port: u16,
    /// The environment of runner and app, in addition to `PATH`, `PORT` and the private folders.
    pub env: BTreeMap<String, String>,
    /// Folders of the machine that runner and app can read, by their path inside.
    pub folders: BTreeMap<PathBuf, PathBuf>,
    /// The limits of the session.
    pub limits: Limits,
    /// Whether runner and app may only read the folder.
    pub readonly: bool,
    /// Whether runner and app have a proxy, whose connections arrive at [`Session::take_proxy`](crate::Session::take_proxy).
    pub has_proxy: bool,
}

impl Place {
    /// Returns a place with the limits of [`limits`](crate::limits), without a limit of wall time.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>, port: u16) -> Self {
        Self {
            folder: folder.into(),
            port,
            env: BTreeMap::new(),
            folders: BTreeMap::new(),
            limits: Limits {
                wall_time: None,
                cpu_time: None,
                cpu_percent: None,
                memory_bytes: MEMORY_BYTES,
                processes: PROCESSES,
                file_bytes: FILE_BYTES,
                open_files: OPEN_FILES,
                // The reader of a session counts by itself.
                stdout_bytes: u64::MAX,
                stderr_bytes: LOG_BYTES,
            },
            readonly: false,
            has_proxy: false,
        }
    }
}
