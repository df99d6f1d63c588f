//! Replacing a file that a running program may write, too.

use agent_host::Failure;
use agent_host::atomic_write::{Links, StagedFile};
use agent_ownership::create_private;
use std::fs;
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// How long a running program may take until it writes its own content over the new one.
const SETTLED: Duration = Duration::from_secs(1);

/// Random characters in the name of a file that is not yet in its place.
const STAGED_RANDOM: usize = 6;

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
/// name. A link is followed to the user's own file.
///
/// # Errors
///
/// When another program has changed the file meanwhile, or it can't be written.
pub fn replace(path: &Path, expected: Option<&[u8]>, new: &[u8]) -> Result<(), Failure> {
    replace_with(path, expected, new, Links::Followed)
}

/// Does the same to a file of a folder that may be a stranger's: a link is refused, which could lead to any file.
///
/// # Errors
///
/// As [`replace`].
pub fn replace_of_stranger(
    path: &Path,
    expected: Option<&[u8]>,
    new: &[u8],
) -> Result<(), Failure> {
    replace_with(path, expected, new, Links::Refused)
}

fn replace_with(
    path: &Path,
    expected: Option<&[u8]>,
    new: &[u8],
    links: Links,
) -> Result<(), Failure> {
    if let (None, Some(folder)) = (expected, path.parent()) {
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    }
    remove_staged(path);
    commit(StagedFile::with_links(path, new, links)?, path, expected)
}

/// Puts new content in the place of a file that still is the expected one.
fn commit(staged: StagedFile, path: &Path, expected: Option<&[u8]>) -> Result<(), Failure> {
    if content(path)?.as_deref() != expected {
        let path = path.display();
        let message = format!("another program has changed `{path}` meanwhile");
        return Err(Failure::new(message).help("end the client, and run this again"));
    }
    staged.commit()
}

/// Removes what a killed run has left beside a file. No other run writes it: only one adopts at a time.
fn remove_staged(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return;
    };
    let start = format!(".{}.", name.to_string_lossy());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let between = name
            .strip_prefix(&start)
            .and_then(|it| it.strip_suffix(".tmp"));
        let is_random =
            |it: &str| it.len() == STAGED_RANDOM && it.chars().all(char::is_alphanumeric);
        if between.is_some_and(is_random) {
            // One that stays does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
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
    remove_staged(path);
    commit(StagedFile::private(path, new)?, path, expected)
}

/// Makes a folder that only this user can read, with those above it.
///
/// # Errors
///
/// When it can't be made.
pub fn private_folder(folder: &Path) -> Result<(), Failure> {
    create_private(folder).map_err(|error| unwritable(folder, &error))
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
        // What a killed run left goes; what is another program's stays.
        for name in [".file.a1B2c3.tmp", ".file.other.tmp"] {
            fs::write(path.with_file_name(name), "").unwrap();
        }
        replace(&path, Some(b"two"), b"three").unwrap();
        let left = fs::read_dir(path.parent().unwrap()).unwrap().flatten();
        let mut left: Vec<_> = left.map(|it| it.file_name()).collect();
        left.sort();
        assert_eq!(left, [".file.other.tmp", "file"]);
    }

    #[test]
    fn a_private_file_is_read_by_its_owner_alone() {
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
