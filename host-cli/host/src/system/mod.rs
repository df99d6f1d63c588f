//! What a program has below it: files and a terminal. Natively they are those of the operating system, and in a
//! component those of WASI.

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(target_family = "wasm")]
mod wasi;

#[cfg(not(target_family = "wasm"))]
pub use native::System;
#[cfg(target_family = "wasm")]
pub use wasi::System;

use crate::atomic_write::Links;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Files, by paths that are relative to the working folder.
///
/// # Errors
///
/// All functions fail with the kind and the words of the operating system.
pub trait Files {
    /// The bytes of an open file.
    type Content: Read + 'static;
    /// New content of a file, which is not in its place yet. Dropping it discards the content.
    type Staged;

    /// Makes a folder the working folder.
    fn enter(folder: &Path) -> io::Result<()>;

    /// Opens a regular file. Returns it with its size, or 0 if the system does not say it.
    fn open(path: &Path) -> io::Result<(Self::Content, u64)>;

    /// Returns whether nothing has this path. A dangling link has it.
    fn is_missing(path: &Path) -> bool;

    /// Returns whether a path leads to a folder.
    fn is_folder(path: &Path) -> bool;

    /// Returns the paths in a folder.
    fn list(folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Returns the path without links, by which two paths of one file are recognised.
    fn identity(path: &Path) -> io::Result<PathBuf>;

    /// Removes a file.
    fn remove(path: &Path) -> io::Result<()>;

    /// Writes new content beside a file. An existing file keeps its permissions, if the system can keep them; a
    /// private one is for its owner alone.
    fn stage(path: &Path, content: &[u8], links: Links, private: bool) -> io::Result<Self::Staged>;

    /// Puts the new content in its place.
    fn commit(staged: Self::Staged) -> io::Result<()>;
}

/// A standard stream that is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// The command line and the standard streams.
pub trait Terminal {
    /// Returns the command line, the program's name first.
    fn arguments() -> Vec<OsString>;

    /// Returns standard input.
    fn input() -> Box<dyn Read>;

    /// Writes everything.
    ///
    /// # Errors
    ///
    /// When the stream is closed or broken.
    fn write(stream: Stream, bytes: &[u8]) -> io::Result<()>;

    /// Returns whether people see a stream as it is written.
    fn is_terminal(stream: Stream) -> bool;

    /// Returns the columns of the terminal behind standard error.
    fn width() -> Option<usize>;

    /// Ends the program.
    fn exit(code: u8) -> !;
}
