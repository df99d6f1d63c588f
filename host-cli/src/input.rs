//! Reading input files, up to their limits.

use crate::engine::NamedText;
use crate::failure::Failure;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A manifest or a lock may have this many bytes.
pub(crate) const TEXT_MAX: u64 = 16 << 20;

/// An index may have this many bytes.
pub(crate) const INDEX_MAX: u64 = 512 << 20;

/// A schema of MOVA may have this many bytes.
const SCHEMA_MAX: u64 = 1 << 20;

/// The component given by `--engine` may have this many bytes.
const ENGINE_MAX: u64 = 64 << 20;

/// Where an input is read from: a file, or standard input, which is written `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    File(PathBuf),
    Stdin,
}

impl From<OsString> for Input {
    fn from(argument: OsString) -> Self {
        if argument == "-" {
            Self::Stdin
        } else {
            Self::File(argument.into())
        }
    }
}

impl From<&str> for Input {
    fn from(argument: &str) -> Self {
        OsString::from(argument).into()
    }
}

impl fmt::Display for Input {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(out),
            Self::Stdin => out.write_str("<stdin>"),
        }
    }
}

impl Input {
    /// Reads it all, or just more than `limit` bytes of it: whether that is too much is not for
    /// the host to say, and an endless input comes to an end.
    pub(crate) fn read(&self, limit: u64) -> Result<Vec<u8>, Failure> {
        match self {
            Self::File(path) => read_file(path, limit),
            Self::Stdin => read_up_to(io::stdin().lock(), limit, 0),
        }
        .map_err(|error| self.unreadable(&error))
    }

    /// Whether there is no such file. A link that leads nowhere is one, and a mistake.
    pub(crate) fn is_missing(&self) -> bool {
        match self {
            Self::File(path) => fs::symlink_metadata(path)
                .is_err_and(|error| error.kind() == io::ErrorKind::NotFound),
            Self::Stdin => false,
        }
    }

    fn unreadable(&self, error: &io::Error) -> Failure {
        Failure::new(format_args!("can't read `{self}`: {}", reason(error)))
    }
}

/// Reads the schemas of a folder, or of the folder `schemas` in it, each by its name.
pub(crate) fn read_schemas(folder: &Path) -> Result<Vec<NamedText>, Failure> {
    const SUFFIX: &str = ".schema.json";
    let within = folder.join("schemas");
    let folder = if within.is_dir() { &within } else { folder };
    let unreadable = |error: io::Error| {
        let path = folder.display();
        Failure::new(format_args!("can't read `{path}`: {}", reason(&error)))
    };
    let mut schemas = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(name) = name.and_then(|name| name.strip_suffix(SUFFIX)) {
            schemas.push(NamedText {
                name: name.to_owned(),
                text: Input::File(path.clone()).read(SCHEMA_MAX)?,
            });
        }
    }
    Ok(schemas)
}

/// Reads the component that `--engine` names.
pub(crate) fn read_engine(path: &Path) -> Result<Vec<u8>, Failure> {
    let input = Input::File(path.to_owned());
    let wasm = input.read(ENGINE_MAX)?;
    if wasm.len() as u64 > ENGINE_MAX {
        return Err(Failure::new(format_args!(
            "`{input}` is not an engine: it is larger than {} MiB",
            ENGINE_MAX >> 20
        )));
    }
    Ok(wasm)
}

fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // Asked before it is opened: opening a named pipe would wait for somebody to write to it.
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(io::Error::other(
            "it is not a regular file; `-` reads standard input",
        ));
    }
    read_up_to(File::open(path)?, limit, metadata.len())
}

fn read_up_to(source: impl Read, limit: u64, expected: u64) -> io::Result<Vec<u8>> {
    let expected = usize::try_from(expected.min(limit)).unwrap_or(0);
    // One byte more, so that reading to the end does not need to grow the buffer to find the end.
    let mut bytes = Vec::with_capacity(expected + 1);
    source.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What the system says, without the number that it is known by.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}
