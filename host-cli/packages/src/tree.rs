//! The digest of an installed folder.

use crate::Error;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Size of the buffer for reading files, in bytes.
const BUFFER: usize = 64 << 10;

/// Returns the digest of all files and links below a folder except for one file: `sha256-` and 64 hexadecimal
/// digits. It is the SHA-256 of a line for each, in the order of paths: the path, a space, and the SHA-256 of
/// the content, or `->` and what a link names.
pub(crate) fn digest(root: &Path, except: &str) -> Result<String, Error> {
    let mut entries = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let whole = root.join(&folder);
        let listed = fs::read_dir(&whole).map_err(Error::file(&whole))?;
        for entry in listed {
            let entry = entry.map_err(Error::file(&whole))?;
            let kind = entry.file_type().map_err(Error::file(&whole))?;
            let path = folder.join(entry.file_name());
            match kind.is_dir() {
                true => folders.push(path),
                false if path == Path::new(except) => {}
                false => entries.push((path, kind.is_symlink())),
            }
        }
    }
    entries.sort();
    let mut digest = Sha256::new();
    for (path, is_link) in entries {
        let whole = root.join(&path);
        digest.update(path.as_os_str().as_encoded_bytes());
        match is_link {
            true => {
                let target = fs::read_link(&whole).map_err(Error::file(&whole))?;
                digest.update(" -> ");
                digest.update(target.as_os_str().as_encoded_bytes());
            }
            false => {
                let content = content(&whole).map_err(Error::file(&whole))?;
                digest.update(format!(" {content}"));
            }
        }
        digest.update("\n");
    }
    Ok(format!("sha256-{}", hexadecimal(&digest.finalize())))
}

/// Returns the SHA-256 of a file.
fn content(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hexadecimal(&digest.finalize())),
            count => digest.update(&buffer[..count]),
        }
    }
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::digest;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn every_change_but_that_of_the_record_changes_the_digest() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir_all(path("a/b")).unwrap();
        fs::write(path("a/b/file"), "content").unwrap();
        fs::write(path("a/record"), "").unwrap();
        symlink("b/file", path("a/link")).unwrap();
        let now = || digest(root.path(), "record").unwrap();
        let before = now();
        fs::write(path("record"), "anything").unwrap();
        assert_eq!(now(), before);

        let mut seen = vec![before];
        let mut changed = || {
            let now = now();
            assert!(!seen.contains(&now));
            seen.push(now);
        };
        fs::write(path("a/b/file"), "Content").unwrap();
        changed();
        fs::rename(path("a/b/file"), path("a/b/fine")).unwrap();
        changed();
        fs::remove_file(path("a/link")).unwrap();
        symlink("b/fine", path("a/link")).unwrap();
        changed();
        fs::write(path("more"), "").unwrap();
        changed();
        fs::remove_file(path("a/record")).unwrap();
        changed();
    }
}
