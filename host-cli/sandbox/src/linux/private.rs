//! The folder of the machine for the files of a command that has no folders in memory.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process;

/// The mode of a folder that only its user may use.
const OWN: u32 = 0o700;

/// A private folder with a home and a folder for temporary files. It is removed when dropped,
/// whatever a command made in it.
#[derive(Debug)]
pub(super) struct PrivateFolder(tempfile::TempDir);

impl PrivateFolder {
    /// Makes the folders.
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix(&format!("agent-sandbox-{}-", process::id()))
            .tempdir()?;
        let private = Self(folder);
        fs::create_dir(private.home())?;
        fs::create_dir(private.temporary())?;
        Ok(private)
    }

    /// Returns the home.
    pub(super) fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    /// Returns the folder for temporary files.
    pub(super) fn temporary(&self) -> PathBuf {
        self.0.path().join("tmp")
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // What can't be removed stays: the library would try it by recursion.
        let emptied = empty(self.0.path());
        self.0.disable_cleanup(emptied.is_err());
    }
}

/// Removes a folder with everything that a command may have made in it, such as folders a thousand levels
/// deep. Links are not followed. Entries of the folder itself must not have numbers as their names.
///
/// # Errors
///
/// The first thing that can't be removed.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    empty(folder)?;
    fs::remove_dir(folder)
}

/// Removes everything in a folder without recursion: a command may have made folders a thousand
/// levels deep, and some without permissions. Folders of folders move up to `root` first. Their
/// new names are numbers, which no command made there.
fn empty(root: &Path) -> io::Result<()> {
    let mut number = 0_u64;
    loop {
        let folders = remove_files(root)?;
        if folders.is_empty() {
            return Ok(());
        }
        for folder in folders {
            fs::set_permissions(&folder, Permissions::from_mode(OWN))?;
            for inner in remove_files(&folder)? {
                // A folder itself has to be changed to move elsewhere.
                fs::set_permissions(&inner, Permissions::from_mode(OWN))?;
                fs::rename(inner, root.join(number.to_string()))?;
                number += 1;
            }
            fs::remove_dir(folder)?;
        }
    }
}

/// Removes the files of a folder, and lists its folders.
fn remove_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries: Vec<fs::DirEntry> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    let mut folders = Vec::new();
    for entry in entries {
        match entry.file_type()?.is_dir() {
            true => folders.push(entry.path()),
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::super::supervisor::STACK;
    use super::PrivateFolder;
    use rustix::fs::{Mode, OFlags, mkdirat, openat};
    use std::fs::{self, Permissions};
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;
    use std::thread;

    /// Makes folders in folders. Their path would be too long.
    fn nest(folder: &Path, levels: usize) {
        let mut inner = OwnedFd::from(fs::File::open(folder).unwrap());
        for _ in 0..levels {
            mkdirat(&inner, "f", Mode::RWXU).unwrap();
            let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
            inner = openat(&inner, "f", flags, Mode::empty()).unwrap();
        }
    }

    #[test]
    fn folders_of_any_depth_are_removed_with_a_small_stack() {
        let private = PrivateFolder::new().unwrap();
        let root = private.0.path().to_owned();
        for folder in [private.home(), private.temporary()] {
            nest(&folder, 3000);
        }
        let remove = thread::Builder::new().stack_size(STACK);
        remove.spawn(move || drop(private)).unwrap().join().unwrap();
        assert!(!root.exists());
    }

    #[test]
    fn links_are_removed_and_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("file"), "x").unwrap();
        let private = PrivateFolder::new().unwrap();
        let root = private.0.path().to_owned();
        symlink(outside.path(), private.home().join("link")).unwrap();
        let locked = private.temporary().join("locked");
        fs::create_dir_all(locked.join("inner/0")).unwrap();
        fs::write(locked.join("inner/0/file"), "x").unwrap();
        fs::set_permissions(&locked, Permissions::from_mode(0o0)).unwrap();
        drop(private);
        assert!(!root.exists());
        assert!(outside.path().join("file").exists());
    }
}
