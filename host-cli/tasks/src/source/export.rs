//! Copying the files of a task elsewhere.

use super::Source;
use crate::handle::{FOLDER_MODE, Folder};
use crate::limits::{MAX_EXPORT_BYTES, MAX_EXPORT_ENTRIES};
use crate::{Error, ErrorKind};
use rustix::fs::{FileType, Mode, fchmod, fstat};
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

/// What was exported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// The number of copied files.
    pub files: usize,
    /// Links, pipes, sockets and devices, which are not copied.
    pub skipped: Vec<String>,
}

impl Source {
    /// Copies all files to a folder, which must be empty or missing. Links are not followed.
    ///
    /// # Errors
    ///
    /// When the folder is not empty, a limit is reached, or a file can't be copied. What was copied until
    /// then stays.
    pub fn export(&self, to: &Path) -> Result<Exported, Error> {
        fs::create_dir_all(to).map_err(Error::system(to))?;
        let target = Folder::open(to).map_err(Error::system(to))?;
        let present = target.entries().map_err(Error::system(to))?;
        if !present.is_empty() {
            let message = format!("`{}` is not empty", to.display());
            return Err(Error::new(ErrorKind::Conflict, message));
        }
        let mut exported = Exported::default();
        let mut entries = 0;
        let mut left = MAX_EXPORT_BYTES;
        let mut folders: Vec<Vec<String>> = vec![Vec::new()];
        while let Some(names) = folders.pop() {
            let names_of: Vec<&str> = names.iter().map(String::as_str).collect();
            let path = self.source.path_of(names.join("/"));
            let failed = Error::system(&path);
            let from = self.source.below(&names_of).map_err(&failed)?;
            let into = target.below(&names_of).map_err(&failed)?;
            for (name, kind) in from.entries().map_err(&failed)? {
                entries += 1;
                if entries > MAX_EXPORT_ENTRIES {
                    let message = format!("the task has more than {MAX_EXPORT_ENTRIES} files");
                    return Err(Error::new(ErrorKind::Limit, message));
                }
                let inner = || [&names[..], std::slice::from_ref(&name)].concat();
                match kind {
                    FileType::Directory => {
                        into.make_folder(&name, FOLDER_MODE).map_err(&failed)?;
                        folders.push(inner());
                    }
                    FileType::RegularFile => {
                        left -= copy(&from, &into, &name, left)?;
                        exported.files += 1;
                    }
                    _ => exported.skipped.push(inner().join("/")),
                }
            }
        }
        Ok(exported)
    }
}

/// Copies a file with its mode. Returns its size.
fn copy(from: &Folder, to: &Folder, name: &str, left: u64) -> Result<u64, Error> {
    let path = from.path_of(name);
    let failed = Error::system(&path);
    let file = from.open_file(name).map_err(&failed)?;
    let mode = fstat(&file).map_err(Error::system(&path))?.st_mode & 0o777;
    let mut new = to.create(name, 0o600).map_err(&failed)?;
    let size = io::copy(&mut file.take(left.saturating_add(1)), &mut new).map_err(&failed)?;
    if size > left {
        let message = format!("the files of the task are larger than {MAX_EXPORT_BYTES} bytes");
        return Err(Error::new(ErrorKind::Limit, message));
    }
    fchmod(&new, Mode::from_raw_mode(mode)).map_err(Error::system(&path))?;
    Ok(size)
}
