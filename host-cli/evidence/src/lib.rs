//! Files of evidence, below one root: written by runs, and read by those who check a run.
//!
//! The content comes from the engine and is stored as it is. A file is replaced as a whole, or whole
//! lines are added to its end; either is on disk when the call returns. What can't be stored leaves
//! the file as it was.

mod folder;
mod signing;

pub use folder::{find, read, resolve};
pub use signing::{SigningKey, is_signed_by};

use agent_host::Failure;
use agent_host::atomic_write::StagedFile;
use agent_host::input::reason;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// The root of evidence, if the user names no other.
const USUAL_ROOT: &str = "artifacts";

/// A folder of evidence.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// Returns the store in a folder, which the first file creates.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the path of a file or folder of evidence.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Replaces a file as a whole.
    ///
    /// # Errors
    ///
    /// When the file can't be written. Its old content is then still there.
    pub fn replace(&self, name: &str, content: &[u8]) -> Result<(), Failure> {
        let path = self.prepare(name)?;
        StagedFile::new(&path, content)?.commit()
    }

    /// Adds whole lines to the end of a file.
    ///
    /// # Errors
    ///
    /// When they can't be written. The file is then as long as before.
    pub fn append(&self, name: &str, lines: &[u8]) -> Result<(), Failure> {
        let path = self.prepare(name)?;
        append(&path, lines).map_err(|error| unwritable(&path, &error))
    }

    /// Creates the folder of a file, and returns the file's path. A root that the user named may be a symbolic
    /// link; what is below it may not, since a link leads out of the root.
    fn prepare(&self, name: &str) -> Result<PathBuf, Failure> {
        let parts = || Path::new(name).components();
        if !parts().all(|part| matches!(part, Component::Normal(_))) {
            return Err(Failure::internal(format_args!(
                "`{name}` is outside the folder of the evidence"
            )));
        }
        let mut path = self.root.clone();
        // A root that nobody named may be a link in a foreign folder.
        if path == Path::new(USUAL_ROOT) {
            refuse_link(&path)?;
        }
        for part in parts() {
            path.push(part);
            refuse_link(&path)?;
        }
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        Ok(path)
    }
}

/// Refuses a symbolic link, wherever it leads.
fn refuse_link(path: &Path) -> Result<(), Failure> {
    if !fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink()) {
        return Ok(());
    }
    let path = path.display();
    Err(Failure::new(format_args!(
        "`{path}` is a symbolic link, which leads elsewhere"
    ))
    .help("remove the link, or name another folder with `--artifacts`"))
}

fn append(path: &Path, lines: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let before = file.metadata()?.len();
    let written = file.write_all(lines).and_then(|()| file.sync_all());
    if written.is_err() {
        // A part of a line would be no evidence.
        file.set_len(before)?;
    }
    written?;
    if before == 0 {
        // The name is on disk once its folder is synced, which not every file system can do.
        let folder = path.parent().map(File::open);
        let _ = folder.and_then(Result::ok).map(|folder| folder.sync_all());
    }
    Ok(())
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format_args!(
        "can't write `{}`: {}",
        path.display(),
        reason(error)
    ))
}

#[cfg(test)]
mod tests {
    use super::Store;
    use std::fs;

    #[test]
    fn files_are_replaced_and_appended_to() {
        let root = tempfile::tempdir().unwrap();
        let store = Store::new(root.path().join("artifacts"));
        store.replace("a/b/one.json", b"{}\n").unwrap();
        store.replace("a/b/one.json", b"[]\n").unwrap();
        store.append("a/b/index.jsonl", b"1\n").unwrap();
        store.append("a/b/index.jsonl", b"2\n").unwrap();
        assert_eq!(fs::read(store.path("a/b/one.json")).unwrap(), b"[]\n");
        assert_eq!(fs::read(store.path("a/b/index.jsonl")).unwrap(), b"1\n2\n");
        let names = fs::read_dir(store.path("a/b")).unwrap();
        assert_eq!(names.count(), 2, "nothing else is left behind");
    }

    #[test]
    fn nothing_is_written_outside_the_root() {
        let root = tempfile::tempdir().unwrap();
        let store = Store::new(root.path().join("artifacts"));
        for name in ["../x", "/tmp/x", "a/../../x", "."] {
            assert!(store.replace(name, b"").is_err(), "{name}");
            assert!(store.append(name, b"").is_err(), "{name}");
        }
        assert!(!root.path().join("x").exists());
    }

    #[test]
    fn links_below_the_root_are_not_followed() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let elsewhere = root.path().join("elsewhere");
        fs::create_dir_all(elsewhere.join("a")).unwrap();
        fs::write(elsewhere.join("file"), "old").unwrap();
        let store = Store::new(root.path().join("artifacts"));
        store.replace("real/one.json", b"{}\n").unwrap();
        symlink(&elsewhere, store.path("link")).unwrap();
        symlink(elsewhere.join("file"), store.path("real/file")).unwrap();
        symlink(elsewhere.join("new"), store.path("real/new")).unwrap();
        for name in ["link/one.json", "link/a/one.json", "real/file", "real/new"] {
            for failure in [store.replace(name, b"x"), store.append(name, b"x")] {
                let failure = failure.unwrap_err();
                assert!(failure.message.contains("is a symbolic link"), "{name}");
            }
        }
        assert_eq!(fs::read(elsewhere.join("file")).unwrap(), b"old");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 2);
        assert_eq!(fs::read_dir(elsewhere.join("a")).unwrap().count(), 0);
        // The user may keep evidence on another disk.
        symlink(root.path().join("artifacts"), root.path().join("linked")).unwrap();
        let linked = Store::new(root.path().join("linked"));
        linked.replace("real/two.json", b"{}\n").unwrap();
        assert!(store.path("real/two.json").exists());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("artifacts"), "a file").unwrap();
        let store = Store::new(root.path().join("artifacts"));
        let failure = store.replace("a/one.json", b"").unwrap_err();
        assert!(
            failure.message.contains("artifacts/a"),
            "{}",
            failure.message
        );
    }
}
