//! Reading input files, up to their limits.

use crate::contract::schemas::NamedText;
use crate::failure::Failure;
use crate::system::{Files, System, Terminal};
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum number of bytes of a manifest, a lock or any other input but an index.
pub const TEXT_MAX: u64 = 16 << 20;

/// Maximum number of bytes of an index.
pub const INDEX_MAX: u64 = 512 << 20;

/// Maximum number of bytes of a schema of MOVA.
const SCHEMA_MAX: u64 = 1 << 20;

/// Size of the pieces of an input of any size, in bytes.
const PIECE: usize = 256 << 10;

/// The first bytes of every WebAssembly file.
pub const WASM_MAGIC: &[u8] = b"\0asm";

/// The place an input is read from. Command lines spell standard input `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// Standard input.
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
    /// Reads the whole input, or one byte more than `limit`.
    ///
    /// The extra byte lets the engine report that the input is too large, and ends an endless
    /// input.
    ///
    /// # Errors
    ///
    /// When the input can't be read, or is neither a regular file nor standard input.
    pub fn read(&self, limit: u64) -> Result<Vec<u8>, Failure> {
        match self {
            Self::File(path) => read_file(path, limit),
            Self::Stdin => read_up_to(System::input(), limit, 0),
        }
        .map_err(|error| self.unreadable(&error))
    }

    /// Reads the whole input, of any size, and passes it on in pieces.
    ///
    /// # Errors
    ///
    /// As [`Input::read`], and when `take` fails.
    pub fn pieces(
        &self,
        mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut source: Box<dyn Read> = match self {
            Self::File(path) => {
                let file = System::open(path).map_err(|error| self.unreadable(&error))?;
                Box::new(file.0)
            }
            Self::Stdin => System::input(),
        };
        let mut piece = vec![0; PIECE];
        loop {
            match source.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(size) => take(&piece[..size])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.unreadable(&error)),
            }
        }
    }

    /// Returns whether the file does not exist. A dangling link exists, and is an error.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        match self {
            Self::File(path) => System::is_missing(path),
            Self::Stdin => false,
        }
    }

    fn unreadable(&self, error: &io::Error) -> Failure {
        Failure::new(format_args!("can't read `{self}`: {}", reason(error)))
    }
}

/// Reads the core of a copy of MOVA: the schemas of the folder, or of its subfolder `schemas`, and the
/// global catalogues beside them.
///
/// # Errors
///
/// When the folder or one of its files can't be read.
pub fn read_mova(folder: &Path) -> Result<Vec<NamedText>, Failure> {
    let mut core = named_texts(folder)?;
    let within = folder.join("schemas");
    if System::is_folder(&within) {
        core.extend(named_texts(&within)?);
    }
    Ok(core)
}

/// Reads the files of a folder that have the name of a schema or of a global catalogue.
fn named_texts(folder: &Path) -> Result<Vec<NamedText>, Failure> {
    let unreadable = |error: io::Error| {
        let path = folder.display();
        Failure::new(format_args!("can't read `{path}`: {}", reason(&error)))
    };
    let mut texts = Vec::new();
    for path in System::list(folder).map_err(unreadable)? {
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(name) = name.and_then(name_of_core) {
            texts.push(NamedText {
                name: name.to_owned(),
                text: Input::File(path.clone()).read(SCHEMA_MAX)?,
            });
        }
    }
    Ok(texts)
}

/// Returns the name of a schema or a global catalogue by that of its file.
fn name_of_core(file: &str) -> Option<&str> {
    let name = file.strip_suffix(".json")?;
    match name.strip_suffix(".schema") {
        Some(schema) => Some(schema),
        None => name.starts_with("global.").then_some(name),
    }
}

fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let (file, size) = System::open(path)?;
    read_up_to(file, limit, size)
}

fn read_up_to(source: impl Read, limit: u64, expected: u64) -> io::Result<Vec<u8>> {
    let expected = usize::try_from(expected.min(limit)).unwrap_or(0);
    // One byte more lets the reader find the end without growing the buffer.
    let mut bytes = Vec::with_capacity(expected + 1);
    source.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the message of the system without its error number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}
