//! The file: where it lies, and who may write it.

use super::{Agents, FILE_NAME, Operator, read, read_agents};
use agent_ownership::{Foreign, UserFolder, refuse_foreign};
use std::error;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum size of the file, in bytes.
const FILE_MAX: u64 = 1 << 20;

/// The reason why the configuration can't be used.
#[derive(Debug)]
pub enum Unreadable {
    /// The file can't be read.
    Io(PathBuf, io::Error),
    /// Another user could change the file, or exchange it.
    Foreign(Foreign),
    /// The content is refused: lines of the form `3:5: message`.
    Content(PathBuf, Vec<String>),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(out, "can't read `{}`: {error}", path.display()),
            Self::Foreign(foreign) => write!(out, "{foreign}, who could choose commands"),
            Self::Content(path, problems) => {
                write!(out, "`{}` can't be used", path.display())?;
                problems.iter().try_for_each(|it| write!(out, "\n  {it}"))
            }
        }
    }
}

impl error::Error for Unreadable {}

impl Operator {
    /// Reads the file at a path.
    ///
    /// # Errors
    ///
    /// When the file is missing, unreadable or invalid, or when another user could change it.
    pub fn read(path: &Path) -> Result<Self, Unreadable> {
        read_trusted(path, read::operator)
    }

    /// Reads the file at its usual path, if it exists.
    ///
    /// # Errors
    ///
    /// As [`Operator::read`]; a missing file is no error.
    pub fn usual() -> Result<Self, Unreadable> {
        match usual_path() {
            Some(path) if path.exists() => Self::read(&path),
            _ => Ok(Self::default()),
        }
    }
}

impl Agents {
    /// Reads the file at a path.
    ///
    /// # Errors
    ///
    /// As [`Operator::read`].
    pub fn read(path: &Path) -> Result<Self, Unreadable> {
        read_trusted(path, read_agents::agents)
    }
}

/// Reads a file that no other user can change.
fn read_trusted<T>(
    path: &Path,
    content: impl FnOnce(String) -> Result<T, Vec<String>>,
) -> Result<T, Unreadable> {
    let unreadable = |error| Unreadable::Io(path.to_owned(), error);
    let file = File::open(path).map_err(unreadable)?;
    refuse_foreign(path).map_err(Unreadable::Foreign)?;
    let mut bytes = Vec::new();
    let read = file.take(FILE_MAX + 1).read_to_end(&mut bytes);
    read.map_err(unreadable)?;
    if bytes.len() as u64 > FILE_MAX {
        let problem = format!("1:1: the file has more than {FILE_MAX} bytes");
        return Err(Unreadable::Content(path.to_owned(), vec![problem]));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        Unreadable::Content(
            path.to_owned(),
            vec!["1:1: the file is not UTF-8".to_owned()],
        )
    })?;
    content(text).map_err(|problems| Unreadable::Content(path.to_owned(), problems))
}

/// Returns the usual path: `$XDG_CONFIG_HOME/agent/servers.local.yaml`, or below `~/.config`.
#[must_use]
pub fn usual_path() -> Option<PathBuf> {
    let folder = UserFolder::Config.path()?;
    Some(folder.join("agent").join(FILE_NAME))
}

#[cfg(test)]
mod tests {
    use super::Unreadable;
    use crate::Operator;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_that_others_can_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("servers.local.yaml");
        fs::write(&path, "secrets: {}\n").unwrap();
        for (mode, is_refused) in [(0o600, false), (0o644, false), (0o664, true), (0o602, true)] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let refused = Operator::read(&path);
            let refused = matches!(refused, Err(Unreadable::Foreign(_)));
            assert_eq!(refused, is_refused, "{mode:o}");
        }
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let refused = Operator::read(&path);
        assert!(matches!(refused, Err(Unreadable::Foreign(_))));
    }

    #[test]
    fn every_problem_has_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("servers.local.yaml");
        fs::write(&path, "secrets:\n  KEY: { env: 1, file: /x }\nserver: {}\n").unwrap();
        let message = Operator::read(&path).unwrap_err().to_string();
        assert!(message.contains("\n  2:8: "), "{message}");
        assert!(message.contains("\n  3:1: "), "{message}");
    }
}
