//! Replacing a file that a running program may write, too.

use agent_host::Failure;
use agent_host::atomic_write::StagedFile;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// How long a running program may take until it writes its own content over the new one.
const SETTLED: Duration = Duration::from_secs(1);

/// Returns the content of a file; `None` if there is none.
///
/// # Errors
///
/// When the file can't be read.
pub fn content(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let path = path.display();
            Err(Failure::new(format_args!("can't read `{path}`: {error}")))
        }
    }
}

/// Replaces the content of a file that still is the expected one. The new content is whole on disk before it has its
/// name.
///
/// # Errors
///
/// When another program has changed the file meanwhile, or it can't be written.
pub fn replace(path: &Path, expected: Option<&[u8]>, new: &[u8]) -> Result<(), Failure> {
    if let (None, Some(folder)) = (expected, path.parent()) {
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    }
    let staged = StagedFile::new(path, new)?;
    if content(path)?.as_deref() != expected {
        let path = path.display();
        let message = format!("another program has changed `{path}` meanwhile");
        return Err(Failure::new(message).help("end the client, and run this again"));
    }
    staged.commit()
}

/// Replaces a file that only this user may read.
///
/// # Errors
///
/// As [`replace`].
pub fn replace_private(path: &Path, expected: Option<&[u8]>, new: &[u8]) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        private_folder(folder)?;
    }
    if expected.is_none() && !path.exists() {
        fs::write(path, "").map_err(|error| unwritable(path, &error))?;
        close(path, 0o600)?;
        return replace(path, Some(b""), new);
    }
    close(path, 0o600)?;
    replace(path, expected, new)
}

/// Makes a folder that only this user can read, with those above it.
///
/// # Errors
///
/// When it can't be made.
pub fn private_folder(folder: &Path) -> Result<(), Failure> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder
        .create(folder)
        .map_err(|error| unwritable(folder, &error))
}

/// Waits whether a running client writes its own content over the new one. Returns whether the new one stays.
///
/// # Errors
///
/// When the file can't be read.
pub fn stays(path: &Path, new: &[u8]) -> Result<bool, Failure> {
    sleep(SETTLED);
    Ok(content(path)?.as_deref() == Some(new))
}

fn close(path: &Path, mode: u32) -> Result<(), Failure> {
    let closed = fs::set_permissions(path, Permissions::from_mode(mode));
    closed.map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format_args!("can't write `{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{content, replace, replace_private};
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn what_another_program_wrote_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/file");
        replace(&path, None, b"one").unwrap();
        replace(&path, Some(b"one"), b"two").unwrap();
        let refused = replace(&path, Some(b"one"), b"three").unwrap_err();
        assert!(refused.message.contains("another program"), "{refused:?}");
        assert!(replace(&path, None, b"three").is_err());
        assert_eq!(content(&path).unwrap().as_deref(), Some(&b"two"[..]));
        let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1);
    }

    #[test]
    fn a_private_file_is_closed_before_it_has_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/file");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        replace_private(&path, None, b"one").unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        replace_private(&path, Some(b"one"), b"two").unwrap();
        assert_eq!(mode(), 0o600);
    }
}
