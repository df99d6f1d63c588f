//! Whether a user other than this one and root could change a file, or put another one in its place, and the folders of
//! this user.
//!
//! The host obeys some files and executes others: the operator's configuration, installed packages, compiled
//! components. [`refuse_foreign`] refuses one that another user could have chosen.

mod folders;

pub use folders::{UserFolder, create_private};

use std::error::Error;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf, absolute};
use std::{fmt, io};

/// Write permission of a group and of others.
const GROUP_AND_OTHERS: u32 = 0o022;
/// The mode of a folder in which users can only rename their own files.
const STICKY: u32 = 0o1000;
/// The user who may change everything anyway.
const ROOT: u32 = 0;
/// Maximum number of links on the way to a file, as in the kernel.
const LINKS: u32 = 40;

/// Why a file can't be trusted.
#[derive(Debug)]
pub enum Foreign {
    /// Its path can't be followed.
    Io(PathBuf, io::Error),
    /// The file, a link to it or one of its folders belongs to another user.
    Owner(PathBuf),
    /// Other users can write the file, or one of its folders.
    Writable(PathBuf),
}

impl fmt::Display for Foreign {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(out, "can't read `{}`: {error}", path.display()),
            Self::Owner(path) => write!(out, "`{}` belongs to another user", path.display()),
            Self::Writable(path) => {
                write!(out, "`{}` can be written by other users", path.display())
            }
        }
    }
}

impl Error for Foreign {}

/// Refuses a file or folder that another user than this one and root can change. The same holds for each
/// folder that leads to it and for each link on the way, as their writers could exchange it.
///
/// In a folder such as `/tmp`, where users can only rename their own files, an entry of this user is
/// accepted.
///
/// # Errors
///
/// The first reason, from the root folder on.
pub fn refuse_foreign(path: &Path) -> Result<(), Foreign> {
    let user = rustix::process::getuid().as_raw();
    let path = absolute(path).map_err(|error| Foreign::Io(path.to_owned(), error))?;
    follow(&path, user, &mut 0)
}

/// Checks every folder and link on the way to a path, and the file itself.
fn follow(path: &Path, user: u32, links: &mut u32) -> Result<(), Foreign> {
    let mut prefixes: Vec<_> = path.ancestors().collect();
    prefixes.reverse();
    for prefix in prefixes {
        let failed = |error| Foreign::Io(prefix.to_owned(), error);
        let metadata = fs::symlink_metadata(prefix).map_err(failed)?;
        check(prefix, &metadata, user, prefix == path)?;
        if metadata.is_symlink() {
            *links += 1;
            if *links > LINKS {
                return Err(failed(io::Error::other("too many links")));
            }
            let target = fs::read_link(prefix).map_err(failed)?;
            let folder = prefix.parent().map_or_else(PathBuf::new, Path::to_owned);
            follow(&folder.join(target), user, links)?;
        }
    }
    Ok(())
}

fn check(path: &Path, metadata: &Metadata, user: u32, is_last: bool) -> Result<(), Foreign> {
    if ![user, ROOT].contains(&metadata.uid()) {
        return Err(Foreign::Owner(path.to_owned()));
    }
    // The mode of a link means nothing. Its owner is checked, and so is its folder.
    let is_writable = !metadata.is_symlink() && metadata.mode() & GROUP_AND_OTHERS != 0;
    // Only the entries of such a folder are safe, not what others add to it.
    let keeps_entries = !is_last && metadata.is_dir() && metadata.mode() & STICKY != 0;
    match is_writable && !keeps_entries {
        true => Err(Foreign::Writable(path.to_owned())),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Foreign, check, follow, refuse_foreign};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::Path;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// Returns the path that is refused.
    fn writable(path: &Path) -> Option<String> {
        match refuse_foreign(path) {
            Ok(()) => None,
            Err(Foreign::Writable(path)) => {
                Some(path.file_name().unwrap().to_str().unwrap().to_owned())
            }
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_file_and_every_folder_above_it_must_be_closed_to_others() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("above/folder");
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("file");
        fs::write(&file, "").unwrap();
        set_mode(&file, 0o644);
        assert_eq!(writable(&file), None);
        for (path, name) in [
            (&file, "file"),
            (&folder, "folder"),
            (&root.path().join("above"), "above"),
        ] {
            let before = fs::metadata(path).unwrap().mode();
            for mode in [0o720, 0o702, 0o777] {
                set_mode(path, mode);
                assert_eq!(writable(&file).as_deref(), Some(name), "{mode:o}");
            }
            set_mode(path, before);
        }
        // An entry of this user in a folder such as `/tmp`, and that folder itself.
        set_mode(&folder, 0o1777);
        assert_eq!(writable(&file), None);
        assert_eq!(writable(&folder).as_deref(), Some("folder"));
    }

    #[test]
    fn a_link_is_followed_through_all_its_folders() {
        let root = tempfile::tempdir().unwrap();
        let [closed, open] = ["closed", "open"].map(|name| root.path().join(name));
        for folder in [&closed, &open] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(closed.join("file"), "").unwrap();
        set_mode(&closed.join("file"), 0o600);
        symlink(closed.join("file"), open.join("inner")).unwrap();
        symlink("../open/inner", closed.join("outer")).unwrap();
        let outer = closed.join("outer");
        assert_eq!(writable(&outer), None);
        // Neither the path as written nor the canonical one has this folder.
        set_mode(&open, 0o777);
        assert_eq!(writable(&outer).as_deref(), Some("open"));

        symlink("loop", closed.join("loop")).unwrap();
        let refused = refuse_foreign(&closed.join("loop"));
        assert!(matches!(refused, Err(Foreign::Io(..))));
        let refused = refuse_foreign(&closed.join("missing"));
        assert!(matches!(refused, Err(Foreign::Io(..))));
    }

    #[test]
    fn another_owner_than_this_user_and_root_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        set_mode(&file, 0o600);
        let metadata = fs::symlink_metadata(&file).unwrap();
        let own = metadata.uid();
        assert!(check(&file, &metadata, own, true).is_ok());
        // Seen by another user, a file of root is accepted.
        let seen = check(&file, &metadata, own + 1, true);
        assert_eq!(seen.is_ok(), own == 0);
        let link = root.path().join("link");
        symlink("file", &link).unwrap();
        assert_eq!(follow(&link, own + 1, &mut 0).is_ok(), own == 0);
        if own == 0 {
            std::os::unix::fs::lchown(&link, Some(1), Some(1)).unwrap();
            let refused = refuse_foreign(&link);
            assert!(matches!(refused, Err(Foreign::Owner(path)) if path == link));
            assert!(refuse_foreign(&file).is_ok());
        }
    }
}
