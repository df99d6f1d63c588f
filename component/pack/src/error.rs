//! The errors of this crate, each one sentence.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a component could not be built.
#[derive(Debug)]
pub enum Error {
    /// Something that `cargo xtask setup` provides is missing or out of date.
    NotSetUp {
        /// The problem, as the first half of a sentence.
        what: String,
    },
    /// A file could not be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A program did not start or failed; its messages are on standard error.
    Program {
        /// Its task, such as "building the component with cargo".
        task: String,
        /// Its exit status or the error.
        outcome: String,
    },
    /// The module can't be encoded as a component, or the component is not valid.
    Invalid(String),
    /// The component imports something. It must not: the engine decides from its arguments alone.
    Imports(Vec<String>),
}

impl Error {
    pub(crate) fn not_set_up(what: impl Into<String>) -> Self {
        Self::NotSetUp { what: what.into() }
    }

    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSetUp { what } => write!(f, "{what}: run `cargo xtask setup`"),
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Program { task, outcome } => write!(f, "{task} failed: {outcome}"),
            Self::Invalid(message) => write!(f, "the component is not valid: {message}"),
            Self::Imports(names) => {
                write!(
                    f,
                    "the component must import nothing, but it imports {}",
                    names.join(", ")
                )
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { source, .. } => Some(source),
            _ => None,
        }
    }
}
