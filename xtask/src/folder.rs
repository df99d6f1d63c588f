//! Reading, writing and removing whole folders.

use agent_pack::{read, write_if_changed};
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::Path;

use crate::status;

/// The files of a folder and its subfolders, by their names with slashes.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Takes the lock of a folder, which is made if it is missing. Others wait until the file is dropped.
pub(crate) fn lock(folder: &Path) -> Result<File> {
    fs::create_dir_all(folder).with_context(|| format!("{} can't be made", folder.display()))?;
    let path = folder.join("lock");
    let file = File::create(&path)?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        let path = path.display();
        status::doing(
            "Waiting",
            format_args!("for another command to free {path}"),
        );
        file.lock()
            .with_context(|| format!("{path} can't be locked"))?;
    }
    Ok(file)
}

/// Removes a folder with its content, if it exists.
pub(crate) fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("{} can't be removed", folder.display()))?;
    }
    Ok(())
}

/// Reads all files.
pub(crate) fn read_all(folder: &Path) -> Result<Files> {
    read_all_but(folder, &[])
}

/// Reads all files except files and folders of these names.
pub(crate) fn read_all_but(folder: &Path, left_out: &[&str]) -> Result<Files> {
    let mut files = Files::new();
    let mut waiting = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = waiting.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("{} can't be read", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if left_out.contains(&&*name) {
                continue;
            }
            let name = format!("{prefix}{name}");
            if path.is_dir() {
                waiting.push((path, name + "/"));
            } else {
                let bytes = read(&path)?;
                files.insert(name, bytes);
            }
        }
    }
    Ok(files)
}

/// Makes a folder contain exactly these files. Equal files stay untouched.
pub(crate) fn write_all(folder: &Path, files: &Files) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("{} can't be made", folder.display()))?;
    for name in read_all(folder)?.keys() {
        if !files.contains_key(name) {
            let stale = folder.join(name);
            fs::remove_file(&stale)?;
            // Also removes the folders that are empty without it.
            let mut within = stale.ancestors().skip(1).take_while(|it| *it != folder);
            while within.next().is_some_and(|it| fs::remove_dir(it).is_ok()) {}
        }
    }
    for (name, bytes) in files {
        write_if_changed(&folder.join(name), bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Files, lock, read_all, read_all_but, write_all};
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn the_second_to_lock_a_folder_waits() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("locks");
        let first = lock(&place).unwrap();
        let (has_locked, is_locked) = channel();
        let second = thread::spawn({
            let place = place.clone();
            move || {
                let second = lock(&place).unwrap();
                has_locked.send(()).unwrap();
                drop(second);
            }
        });
        assert!(is_locked.recv_timeout(Duration::from_millis(300)).is_err());
        drop(first);
        is_locked.recv_timeout(Duration::from_secs(60)).unwrap();
        second.join().unwrap();
    }

    #[test]
    fn a_written_folder_reads_back_without_earlier_files() {
        let folder = tempfile::tempdir().unwrap();
        let files = |names: &[&str]| -> Files {
            let files = names.iter();
            files
                .map(|name| ((*name).to_owned(), name.as_bytes().to_vec()))
                .collect()
        };
        for names in [&["a", "b/c", "b/d/e/f"][..], &["a", "b/d/f"]] {
            write_all(folder.path(), &files(names)).unwrap();
            assert_eq!(read_all(folder.path()).unwrap(), files(names));
        }
        assert!(!folder.path().join("b/d/e").exists());
        let without = read_all_but(folder.path(), &["d"]).unwrap();
        assert_eq!(without, files(&["a"]));
    }
}
