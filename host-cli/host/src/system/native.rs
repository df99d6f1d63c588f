//! The operating system.

use super::{Files, Stream, Terminal};
use crate::atomic_write::Links;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, process};
use tempfile::{Builder, NamedTempFile};

/// The operating system.
#[derive(Clone, Copy, Debug)]
pub struct System;

/// New content on disk, in a temporary file of the same folder.
pub struct Staged {
    target: PathBuf,
    content: NamedTempFile,
}

impl Files for System {
    type Content = File;
    type Staged = Staged;

    fn enter(folder: &Path) -> io::Result<()> {
        env::set_current_dir(folder)
    }

    fn open(path: &Path) -> io::Result<(File, u64)> {
        // Checked before opening: opening a named pipe would wait for a writer.
        let metadata = fs::metadata(path)?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !metadata.is_file() {
            return Err(io::Error::other(
                "it is not a regular file; `-` reads standard input",
            ));
        }
        Ok((File::open(path)?, metadata.len()))
    }

    fn is_missing(path: &Path) -> bool {
        fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    fn is_folder(path: &Path) -> bool {
        path.is_dir()
    }

    fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
        fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect()
    }

    fn identity(path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn remove(path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn stage(path: &Path, bytes: &[u8], links: Links, private: bool) -> io::Result<Staged> {
        let (target, permissions) = existing(path, links)?;
        let name = target.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let mut prefix = OsString::from(".");
        prefix.push(name);
        prefix.push(".");
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(".tmp");
        let mode = private.then(|| Permissions::from_mode(0o600));
        // The permissions of any new file, before the user's mask is applied.
        let usual = Permissions::from_mode(0o666);
        builder.permissions(mode.clone().unwrap_or(usual));
        let mut content = builder.tempfile_in(folder(&target))?;
        content.write_all(bytes)?;
        if let Some(permissions) = mode.or(permissions) {
            content.as_file().set_permissions(permissions)?;
        }
        content.as_file().sync_all()?;
        Ok(Staged { target, content })
    }

    fn commit(staged: Staged) -> io::Result<()> {
        let Staged { target, content } = staged;
        content.persist(&target).map_err(|error| error.error)?;
        // The new content is there now. It survives a power failure once the folder is synced,
        // which not every file system can do.
        let _ = File::open(folder(&target)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl Terminal for System {
    fn arguments() -> Vec<OsString> {
        env::args_os().collect()
    }

    fn input() -> Box<dyn Read> {
        Box::new(io::stdin().lock())
    }

    fn write(stream: Stream, bytes: &[u8]) -> io::Result<()> {
        match stream {
            Stream::Output => {
                let mut output = io::stdout().lock();
                output.write_all(bytes)?;
                output.flush()
            }
            Stream::Error => io::stderr().write_all(bytes),
        }
    }

    fn is_terminal(stream: Stream) -> bool {
        match stream {
            Stream::Output => io::stdout().is_terminal(),
            Stream::Error => io::stderr().is_terminal(),
        }
    }

    fn width() -> Option<usize> {
        let (width, _) = terminal_size::terminal_size_of(io::stderr())?;
        Some(usize::from(width.0))
    }

    fn exit(code: u8) -> ! {
        process::exit(code.into())
    }
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
