//! WASI: the folders that the host opened to this component, and its streams.

use super::{Files, Stream, Terminal};
use crate::atomic_write::Links;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use wasip2::cli::{environment, exit, stderr, stdin, stdout, terminal_stderr, terminal_stdout};
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, ErrorCode, OpenFlags, PathFlags,
};
use wasip2::io::streams::{InputStream, OutputStream, StreamError};

/// Maximum number of links that lead to one file.
const LINKS: usize = 40;

/// Maximum number of bytes that a stream takes at once.
const PIECE: usize = 4096;

/// Maximum number of temporary files of one name that killed runs have left behind.
const LEFT: usize = 100;

/// WASI.
#[derive(Clone, Copy, Debug)]
pub struct System;

/// New content on disk, in a temporary file of the same folder.
pub struct Staged {
    folder: &'static Descriptor,
    target: String,
    temporary: String,
    is_done: bool,
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.is_done {
            // What can't be removed is a file that nothing reads.
            let _ = self.folder.unlink_file_at(&self.temporary);
        }
    }
}

/// The working folder, below which relative paths are.
static WORKING: Mutex<PathBuf> = Mutex::new(PathBuf::new());

/// A folder of the host, with the path by which this program knows it.
struct Opened {
    descriptor: Descriptor,
    path: PathBuf,
}

impl Files for System {
    type Content = InputStream;
    type Staged = Staged;

    fn enter(folder: &Path) -> io::Result<()> {
        let folder = working(folder);
        let found = open(
            &Place::of(&folder)?,
            OpenFlags::DIRECTORY,
            DescriptorFlags::READ,
        );
        found.map_err(system)?;
        *WORKING.lock().expect("nothing panics while it is locked") = folder;
        Ok(())
    }

    fn open(path: &Path) -> io::Result<(InputStream, u64)> {
        let place = Place::of(path)?;
        // Checked before opening: opening a named pipe would wait for a writer.
        let found = place.stat().map_err(system)?;
        match found.type_ {
            DescriptorType::RegularFile => {}
            DescriptorType::Directory => return Err(io::ErrorKind::IsADirectory.into()),
            _ => {
                return Err(io::Error::other(
                    "it is not a regular file; `-` reads standard input",
                ));
            }
        }
        let file = open(&place, OpenFlags::empty(), DescriptorFlags::READ);
        let content = file.and_then(|it| it.read_via_stream(0)).map_err(system)?;
        Ok((content, found.size))
    }

    fn is_missing(path: &Path) -> bool {
        Place::of(path).is_ok_and(|it| it.link() == Err(ErrorCode::NoEntry))
    }

    fn is_folder(path: &Path) -> bool {
        let opened = |it| open(&it, OpenFlags::DIRECTORY, DescriptorFlags::READ);
        Place::of(path).is_ok_and(|it| opened(it).is_ok())
    }

    fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
        let opened = open(
            &Place::of(folder)?,
            OpenFlags::DIRECTORY,
            DescriptorFlags::READ,
        );
        let entries = opened.and_then(|it| it.read_directory()).map_err(system)?;
        let mut paths = Vec::new();
        while let Some(entry) = entries.read_directory_entry().map_err(system)? {
            paths.push(folder.join(entry.name));
        }
        Ok(paths)
    }

    fn identity(path: &Path) -> io::Result<PathBuf> {
        let place = Place::of(path)?.target(Links::Followed)?;
        Ok(place.opened.path.join(place.path))
    }

    fn remove(path: &Path) -> io::Result<()> {
        let place = Place::of(path)?;
        place.folder().unlink_file_at(&place.path).map_err(system)
    }

    fn stage(path: &Path, bytes: &[u8], links: Links, private: bool) -> io::Result<Staged> {
        if private {
            // WASI has no permissions.
            return Err(io::ErrorKind::Unsupported.into());
        }
        let target = Place::of(path)?.target(links)?;
        match target.stat() {
            Err(ErrorCode::NoEntry) => {}
            Err(error) => return Err(system(error)),
            Ok(found) if found.type_ != DescriptorType::RegularFile => {
                return Err(io::Error::other("it is not a regular file"));
            }
            Ok(_) => {
                // A file that must not be written to must not be replaced either.
                let writable = DescriptorFlags::READ | DescriptorFlags::WRITE;
                open(&target, OpenFlags::empty(), writable).map_err(system)?;
            }
        }
        let (file, temporary) = target.temporary()?;
        let staged = Staged {
            folder: target.folder(),
            target: target.path,
            temporary,
            is_done: false,
        };
        let mut written = 0;
        while written < bytes.len() {
            let size = file.write(&bytes[written..], written as u64);
            written += usize::try_from(size.map_err(system)?).unwrap_or(usize::MAX);
        }
        file.sync().map_err(system)?;
        Ok(staged)
    }

    fn commit(mut staged: Staged) -> io::Result<()> {
        let folder = staged.folder;
        folder
            .rename_at(&staged.temporary, folder, &staged.target)
            .map_err(system)?;
        staged.is_done = true;
        Ok(())
    }
}

impl Terminal for System {
    fn arguments() -> Vec<OsString> {
        let mut line: Vec<OsString> = Vec::new();
        line.extend(environment::get_arguments().into_iter().map(OsString::from));
        // The host says the name of a file, which people do not type.
        if let Some(name) = line.first_mut() {
            *name = "agent".into();
        }
        line
    }

    fn input() -> Box<dyn Read> {
        Box::new(stdin::get_stdin())
    }

    fn write(stream: Stream, bytes: &[u8]) -> io::Result<()> {
        let stream = match stream {
            Stream::Output => stdout::get_stdout(),
            Stream::Error => stderr::get_stderr(),
        };
        bytes
            .chunks(PIECE)
            .try_for_each(|piece| put(&stream, piece))
    }

    fn is_terminal(stream: Stream) -> bool {
        match stream {
            Stream::Output => terminal_stdout::get_terminal_stdout().is_some(),
            Stream::Error => terminal_stderr::get_terminal_stderr().is_some(),
        }
    }

    fn width() -> Option<usize> {
        // WASI does not say it.
        None
    }

    fn exit(code: u8) -> ! {
        exit::exit_with_code(code);
        unreachable!("the host ends this component")
    }
}

/// A file or a folder below one that the host opened.
#[derive(Clone)]
struct Place {
    opened: &'static Opened,
    /// The path from there, without `.` and, where possible, without `..`.
    path: String,
}

impl Place {
    /// Finds the innermost of the opened folders that contains a path.
    fn of(path: &Path) -> io::Result<Self> {
        static OPENED: LazyLock<Vec<Opened>> = LazyLock::new(opened);
        let path = working(path);
        let around = |path: &Path| {
            // Every path begins with an empty one, also where the host opened `.` alone. This target has no
            // absolute paths by the name of Rust's library.
            let has_root = path.has_root();
            let within = OPENED.iter().filter(|it| it.path.has_root() == has_root);
            let within = within.filter_map(|it| {
                let rest = path.strip_prefix(&it.path).ok()?;
                Some((it, rest.to_str()?.to_owned()))
            });
            within.min_by_key(|(_, rest)| rest.len())
        };
        let found = around(&path).or_else(|| {
            let working = environment::initial_cwd()?;
            around(&Path::new(&working).join(&path))
        });
        let Some((opened, path)) = found else {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "no folder with it is open to this component, as `wasmtime run --dir .` opens the present one",
            ));
        };
        let path = if path.is_empty() {
            ".".to_owned()
        } else {
            path
        };
        Ok(Self { opened, path })
    }

    fn folder(&self) -> &'static Descriptor {
        &self.opened.descriptor
    }

    /// Returns what is there, behind links.
    fn stat(&self) -> Result<DescriptorStat, ErrorCode> {
        self.folder().stat_at(PathFlags::SYMLINK_FOLLOW, &self.path)
    }

    /// Returns where a link leads.
    fn link(&self) -> Result<String, ErrorCode> {
        self.folder().readlink_at(&self.path)
    }

    /// Follows links to a file, as far as they may be.
    fn target(mut self, links: Links) -> io::Result<Self> {
        for _ in 0..LINKS {
            let to = match self.link() {
                Ok(to) => to,
                // It is no link, or there is nothing.
                Err(ErrorCode::Invalid | ErrorCode::NoEntry) => return Ok(self),
                Err(error) => return Err(system(error)),
            };
            let is_allowed = match links {
                Links::Followed => true,
                Links::InFolder => !to.contains('/'),
                Links::Refused => false,
            };
            if !is_allowed {
                return Err(io::Error::other("it is a symbolic link"));
            }
            if to.starts_with('/') {
                return Err(system(ErrorCode::NotPermitted));
            }
            let path = normal(&Path::new(&self.path).with_file_name(to));
            self.path = path.to_string_lossy().into_owned();
        }
        Err(system(ErrorCode::Loop))
    }

    /// Makes a file beside this one.
    fn temporary(&self) -> io::Result<(Descriptor, String)> {
        let path = Path::new(&self.path);
        let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        for number in 0..LEFT {
            let name = format!(".{}.{number}.tmp", name.display());
            let beside = path.with_file_name(name).to_string_lossy().into_owned();
            let made = self.folder().open_at(
                PathFlags::empty(),
                &beside,
                OpenFlags::CREATE | OpenFlags::EXCLUSIVE,
                DescriptorFlags::WRITE,
            );
            match made {
                Ok(file) => return Ok((file, beside)),
                Err(ErrorCode::Exist) => {}
                Err(error) => return Err(system(error)),
            }
        }
        Err(system(ErrorCode::Exist))
    }
}

fn opened() -> Vec<Opened> {
    let folders = get_directories().into_iter();
    folders
        .map(|(descriptor, path)| Opened {
            descriptor,
            path: normal(Path::new(&path)),
        })
        .collect()
}

fn open(place: &Place, how: OpenFlags, flags: DescriptorFlags) -> Result<Descriptor, ErrorCode> {
    let follow = PathFlags::SYMLINK_FOLLOW;
    place.folder().open_at(follow, &place.path, how, flags)
}

/// Returns a path below the working folder.
fn working(path: &Path) -> PathBuf {
    let working = WORKING.lock().expect("nothing panics while it is locked");
    normal(&working.join(path))
}

/// Returns a path without `.`, and without the folders that `..` leaves.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        let last = normal.components().next_back();
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(last, Some(Component::Normal(_))) => {
                normal.pop();
            }
            _ => normal.push(part),
        }
    }
    normal
}

/// Writes a piece.
fn put(stream: &OutputStream, piece: &[u8]) -> io::Result<()> {
    stream
        .blocking_write_and_flush(piece)
        .map_err(|error| match error {
            StreamError::Closed => io::ErrorKind::BrokenPipe.into(),
            StreamError::LastOperationFailed(error) => io::Error::other(error.to_debug_string()),
        })
}

/// Returns the error with the kind and the words that it has natively.
fn system(error: ErrorCode) -> io::Error {
    use io::ErrorKind;
    let (kind, words) = match error {
        ErrorCode::Access => (ErrorKind::PermissionDenied, "permission denied"),
        ErrorCode::Exist => (ErrorKind::AlreadyExists, "file exists"),
        ErrorCode::InsufficientSpace => (ErrorKind::StorageFull, "no space left on device"),
        ErrorCode::IsDirectory => (ErrorKind::IsADirectory, "is a directory"),
        ErrorCode::Loop => (ErrorKind::Other, "too many levels of symbolic links"),
        ErrorCode::NameTooLong => (ErrorKind::InvalidFilename, "file name too long"),
        ErrorCode::NoEntry => (ErrorKind::NotFound, "no such file or directory"),
        ErrorCode::NotDirectory => (ErrorKind::NotADirectory, "not a directory"),
        ErrorCode::NotPermitted => (ErrorKind::PermissionDenied, "operation not permitted"),
        ErrorCode::ReadOnly => (ErrorKind::ReadOnlyFilesystem, "read-only file system"),
        other => return io::Error::other(other.message()),
    };
    io::Error::new(kind, words)
}
