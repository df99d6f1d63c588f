//! Why something could not be done to a task.

use std::error::Error as StdError;
use std::path::Path;
use std::{fmt, io};

/// The kind of a failure, for the caller's codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A path or a mode that is not allowed, or a file of a kind that is not touched.
    Refused,
    /// There is no such task, file or batch.
    Missing,
    /// The files are not as the change needs them.
    Conflict,
    /// A limit of this crate.
    Limit,
    /// What was stored can't be read.
    Damaged,
    /// This machine can't do what was asked for.
    Unavailable,
    /// The task already runs.
    Running,
    /// The system refused an operation.
    System,
}

/// Why something could not be done to a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// Returns a function that words the failure of the system about a file.
    pub(crate) fn system<E: Into<io::Error>>(path: &Path) -> impl Fn(E) -> Self + '_ {
        move |error| {
            let error: io::Error = error.into();
            let kind = match error.kind() {
                io::ErrorKind::NotFound => ErrorKind::Missing,
                _ => ErrorKind::System,
            };
            Self::new(kind, format!("`{}`: {error}", path.display()))
        }
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl StdError for Error {}
