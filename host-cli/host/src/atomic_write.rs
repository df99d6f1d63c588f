//! Atomic replacement of files.
//!
//! A reader always finds the old content or the new content, never a part of either. The new
//! content is written to a temporary file in the same folder, synced to disk, and renamed. A run
//! that is killed may leave a temporary file behind, whose name starts with a dot and ends in
//! `.tmp`. Nothing reads it, and it may be deleted.

use crate::failure::Failure;
use crate::input;
use crate::system::{Files, System};
use std::io;
use std::path::{Path, PathBuf};

/// A file whose new content is on disk, but not yet in its place. Dropping it discards the content.
pub struct StagedFile {
    /// The path as the user gave it.
    path: PathBuf,
    content: <System as Files>::Staged,
}

impl StagedFile {
    /// Writes the new content of `path` beside it.
    ///
    /// Follows a symbolic link and replaces the file it leads to. An existing file keeps its
    /// permissions.
    ///
    /// # Errors
    ///
    /// When the content can't be written, or `path` leads to a file that must not be written to.
    pub fn new(path: &Path, content: &[u8]) -> Result<Self, Failure> {
        Self::with_links(path, content, Links::Followed)
    }

    /// Does the same to a file that nobody named, with what links may do: a foreign folder may contain links that
    /// lead out of it \[3\].
    ///
    /// # Errors
    ///
    /// As [`StagedFile::new`], and for a link that may not be followed.
    pub fn with_links(path: &Path, content: &[u8], links: Links) -> Result<Self, Failure> {
        Self::staged(path, System::stage(path, content, links, false))
    }

    /// Does the same as [`StagedFile::new`] to a file that only this user may read, new or not.
    ///
    /// # Errors
    ///
    /// As [`StagedFile::new`].
    pub fn private(path: &Path, content: &[u8]) -> Result<Self, Failure> {
        Self::staged(path, System::stage(path, content, Links::Followed, true))
    }

    fn staged(
        path: &Path,
        content: io::Result<<System as Files>::Staged>,
    ) -> Result<Self, Failure> {
        let path = path.to_owned();
        match content {
            Ok(content) => Ok(Self { path, content }),
            Err(error) => Err(unwritable(&path, &error)),
        }
    }

    /// Puts the new content in its place.
    ///
    /// # Errors
    ///
    /// When the file can't be renamed. The old content is then still in its place.
    pub fn commit(self) -> Result<(), Failure> {
        System::commit(self.content).map_err(|error| unwritable(&self.path, &error))
    }
}

/// What a symbolic link in the place of a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// The file that it leads to is replaced.
    Followed,
    /// The same, if that file is in the same folder.
    InFolder,
    /// Nothing is written.
    Refused,
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::new(format_args!(
        "can't write `{}`: {}",
        path.display(),
        input::reason(error)
    ));
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    match parent.filter(|_| error.kind() == io::ErrorKind::NotFound) {
        Some(parent) if System::is_missing(parent) => {
            failure.help(format_args!("create the folder `{}`", parent.display()))
        }
        _ => failure,
    }
}
