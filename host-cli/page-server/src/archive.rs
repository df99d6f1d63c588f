//! The files of the page in one compressed archive. The build script packs it: equal files give equal bytes.

use miniz_oxide::deflate::compress_to_vec;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// The files by their paths below the page, separated by `/`.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// The level of compression: higher ones take minutes in a build script, for two percent.
#[allow(dead_code, reason = "the build script and a test pack")]
const LEVEL: u8 = 6;

/// Reads all files of a folder.
pub(crate) fn read(folder: &Path) -> io::Result<Files> {
    let mut files = Files::new();
    let mut waiting = vec![(folder.to_owned(), String::new())];
    while let Some((folder, before)) = waiting.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.ok_or_else(|| io::Error::other("a name of a file is not UTF-8"))?;
            let name = format!("{before}{name}");
            match path.is_dir() {
                true => waiting.push((path, name + "/")),
                false => {
                    files.insert(name, fs::read(path)?);
                }
            }
        }
    }
    Ok(files)
}

/// Returns the archive: for each file the length of its name, the name, the length of its content and the content.
#[allow(dead_code, reason = "the build script and a test pack")]
pub(crate) fn pack(files: &Files) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, content) in files {
        for part in [name.as_bytes(), content] {
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend(part);
        }
    }
    compress_to_vec(&bytes, LEVEL)
}
