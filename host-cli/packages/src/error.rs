//! Why a package can't be installed or used.

use std::path::Path;
use std::{error, fmt, io};

/// The reason, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
    help: Option<String>,
    is_unreachable: bool,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            is_unreachable: false,
        }
    }

    pub(crate) fn file(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| Self::new(format!("`{}`: {error}", path.display()))
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }

    /// Marks that a registry could not be reached.
    pub(crate) fn unreachable(self) -> Self {
        Self {
            is_unreachable: true,
            ..self
        }
    }

    /// Returns whether the reason is a registry that could not be reached: its name has no address, or no connection
    /// to it was made.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        self.is_unreachable
    }

    /// Returns what the user can do about it.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl error::Error for Error {}
