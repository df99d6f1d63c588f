//! Why a package can't be installed or used.

use std::path::Path;
use std::{error, fmt, io};

/// The reason, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub(crate) String);

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    pub(crate) fn file(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| Self(format!("`{}`: {error}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl error::Error for Error {}
