//! Atomic replacement of files.
//!
//! A reader always finds the old content or the new content, never a part of either. The new
//! content is written to a temporary file in the same folder, synced to disk, and renamed. A run
//! that is killed may leave a temporary file behind, whose name starts with a dot and ends in
//! `.tmp`. Nothing reads it, and it may be deleted.

use crate::failure::Failure;
use crate::input;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// A file whose new content is on disk, but not yet in its place. Dropping it discards the content.
pub struct StagedFile {
    /// The path as the user gave it.
    path: PathBuf,
    target: PathBuf,
    content: NamedTempFile,
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
        Self::write(path, content, links, None).map_err(|error| unwritable(path, &error))
    }

    /// Does the same as [`StagedFile::new`] to a file that only this user may read, new or not.
    ///
    /// # Errors
    ///
    /// As [`StagedFile::new`].
    pub fn private(path: &Path, content: &[u8]) -> Result<Self, Failure> {
        let mode = Some(Permissions::from_mode(0o600));
        let written = Self::write(path, content, Links::Followed, mode);
        written.map_err(|error| unwritable(path, &error))
    }

    fn write(
        path: &Path,
        bytes: &[u8],
        links: Links,
        mode: Option<Permissions>,
    ) -> io::Result<Self> {
        let (target, permissions) = existing(path, links)?;
        let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let mut prefix = OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(".tmp");
        // The permissions of any new file, before the user's mask is applied.
        let usual = Permissions::from_mode(0o666);
        builder.permissions(mode.clone().unwrap_or(usual));
        let mut content = builder.tempfile_in(folder(&target))?;
        content.write_all(bytes)?;
        if let Some(permissions) = mode.or(permissions) {
            content.as_file().set_permissions(permissions)?;
        }
        content.as_file().sync_all()?;
        Ok(Self {
            path: path.to_owned(),
            target,
            content,
        })
    }

    /// Puts the new content in its place.
    ///
    /// # Errors
    ///
    /// When the file can't be renamed. The old content is then still in its place.
    pub fn commit(self) -> Result<(), Failure> {
        self.content
            .persist(&self.target)
            .map_err(|error| unwritable(&self.path, &error.error))?;
        // The new content is there now. It survives a power failure once the folder is synced,
        // which not every file system can do.
        let _ = File::open(folder(&self.target)).and_then(|folder| folder.sync_all());
        Ok(())
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

/// The file that `path` leads to, and its permissions if it exists.
fn existing(path: &Path, links: Links) -> io::Result<(PathBuf, Option<Permissions>)> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((path.to_owned(), None)),
        Err(error) => Err(error),
        Ok(found) => {
            let target = fs::canonicalize(path)?;
            let stays =
                || Ok::<_, io::Error>(target.parent() == Some(&*fs::canonicalize(folder(path))?));
            let is_allowed = match links {
                _ if !found.is_symlink() => true,
                Links::Followed => true,
                Links::InFolder => stays()?,
                Links::Refused => false,
            };
            if !is_allowed {
                return Err(io::Error::other("it is a symbolic link"));
            }
            let metadata = fs::metadata(&target)?;
            if !metadata.is_file() {
                return Err(io::Error::other("it is not a regular file"));
            }
            // A file that must not be written to must not be replaced either.
            OpenOptions::new().write(true).open(&target)?;
            Ok((target, Some(metadata.permissions())))
        }
    }
}

fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if parent != "" => parent,
        _ => Path::new("."),
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::new(format_args!(
        "can't write `{}`: {}",
        path.display(),
        input::reason(error)
    ));
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    match parent.filter(|_| error.kind() == io::ErrorKind::NotFound) {
        Some(parent) if !parent.exists() => {
            failure.help(format_args!("create the folder `{}`", parent.display()))
        }
        _ => failure,
    }
}
