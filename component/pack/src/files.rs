//! Reading and writing with the path in every error.

use crate::{Error, Result};
use std::fs;
use std::path::Path;

/// Reads a whole file.
///
/// # Errors
///
/// When the file can't be read; the error names it.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(Error::file(path))
}

/// Writes `bytes` to `path` unless the file already contains them. Returns whether it wrote.
///
/// An unchanged file keeps its modification time, so that nothing that depends on it is built
/// again. Otherwise the file is replaced by a rename: readers see the old bytes or the new ones.
///
/// # Errors
///
/// When the file or its folder can't be written; the error names it.
pub fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<bool> {
    if fs::read(path).is_ok_and(|held| held == bytes) {
        return Ok(false);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
    }
    let beside = path.with_added_extension(format!("{}.tmp", std::process::id()));
    fs::write(&beside, bytes).map_err(Error::file(&beside))?;
    fs::rename(&beside, path).map_err(Error::file(path))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::write_if_changed;
    use std::fs;

    #[test]
    fn equal_bytes_are_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/engine.wasm");

        assert!(write_if_changed(&path, b"one").unwrap());
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        assert!(!write_if_changed(&path, b"one").unwrap());
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written);

        assert!(write_if_changed(&path, b"two").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"two");
    }

    #[test]
    fn nothing_is_left_beside_the_file() {
        let folder = tempfile::tempdir().unwrap();
        write_if_changed(&folder.path().join("engine.wasm"), b"one").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
