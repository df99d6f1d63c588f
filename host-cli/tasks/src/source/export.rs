//! Copying the files of a task elsewhere.

use super::Source;
use super::executed::{is_executed, is_repository};
use crate::handle::{FOLDER_MODE, Folder, is_gone};
use crate::limits::{MAX_EXPORT_BYTES, MAX_EXPORT_ENTRIES};
use crate::{Error, ErrorKind};
use rustix::fs::{FileType, Mode, fchmod, fstat};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// The permissions that an exported file of the app may have: none to run it.
const DATA: u32 = 0o666;

/// What was exported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// The number of copied files.
    pub files: usize,
    /// Links, pipes, sockets and devices, which are not copied.
    pub skipped: Vec<String>,
    /// What the app wrote and is not copied, because tools would take it for orders or it can't be read. The path of a
    /// folder ends with `/`.
    pub left_out: Vec<String>,
}

impl Source {
    /// Copies all files to a folder, which must be empty or missing. Links are not followed.
    ///
    /// # Errors
    ///
    /// When the folder is not empty, a limit is reached, or a file can't be copied. What was copied until
    /// then stays.
    pub fn export(&self, to: &Path) -> Result<Exported, Error> {
        Ok(self.exported(to)?.exported)
    }

    /// Copies all files as [`export`](Self::export) does, and adds the regular files that the app wrote. A path that
    /// a plan wrote has what the plan wrote. Left out are names that tools execute, and each folder that git would
    /// take for a repository. No file of the app can be run.
    ///
    /// # Errors
    ///
    /// As for [`export`](Self::export).
    pub fn export_with_written(&self, to: &Path) -> Result<Exported, Error> {
        let mut copying = self.exported(to)?;
        if let Some(work) = self.opened_work()? {
            copying.written(&work)?;
        }
        Ok(copying.exported)
    }

    fn exported(&self, to: &Path) -> Result<Copying, Error> {
        fs::create_dir_all(to).map_err(Error::system(to))?;
        let target = Folder::open(to).map_err(Error::system(to))?;
        let present = target.entries().map_err(Error::system(to))?;
        if !present.is_empty() {
            let message = format!("`{}` is not empty", to.display());
            return Err(Error::new(ErrorKind::Conflict, message));
        }
        let mut copying = Copying::new(target, MAX_EXPORT_ENTRIES, MAX_EXPORT_BYTES);
        copying.all(&self.source)?;
        Ok(copying)
    }
}

/// A folder into which files are copied, within limits.
pub(super) struct Copying {
    target: Folder,
    exported: Exported,
    entries_left: usize,
    bytes_left: u64,
}

impl Copying {
    pub(super) fn new(target: Folder, entries: usize, bytes: u64) -> Self {
        Self {
            target,
            exported: Exported::default(),
            entries_left: entries,
            bytes_left: bytes,
        }
    }

    /// Copies all files and folders.
    pub(super) fn all(&mut self, from: &Folder) -> Result<(), Error> {
        let mut folders: Vec<Vec<String>> = vec![Vec::new()];
        while let Some(names) = folders.pop() {
            let names_of: Vec<&str> = names.iter().map(String::as_str).collect();
            let path = from.path_of(names.join("/"));
            let failed = Error::system(&path);
            let folder = from.below(&names_of).map_err(&failed)?;
            let into = self.target.below(&names_of).map_err(&failed)?;
            for (name, kind) in folder.entries().map_err(&failed)? {
                self.count()?;
                match kind {
                    FileType::Directory => {
                        into.make_folder(&name, FOLDER_MODE).map_err(&failed)?;
                        folders.push(inner(&names, &name));
                    }
                    FileType::RegularFile => {
                        let path = folder.path_of(&name);
                        let file = folder.open_file(&name).map_err(Error::system(&path))?;
                        self.copy(file, &path, &into, &name, u32::MAX)?;
                    }
                    _ => self.exported.skipped.push(inner(&names, &name).join("/")),
                }
            }
        }
        Ok(())
    }

    /// Adds the files of an app that have no counterpart yet. The app may run and change them meanwhile.
    fn written(&mut self, work: &Folder) -> Result<(), Error> {
        let mut folders: Vec<Vec<String>> = vec![Vec::new()];
        while let Some(names) = folders.pop() {
            let names_of: Vec<&str> = names.iter().map(String::as_str).collect();
            let shown = format!("{}/", names.join("/"));
            let entries = work
                .below(&names_of)
                .and_then(|folder| Ok((folder.entries_but(|_| Ok(()))?, folder)));
            let Ok((entries, folder)) = entries else {
                // The app has locked or removed it, or its path is too long.
                self.exported.left_out.push(shown);
                continue;
            };
            // What plans wrote into it. What the app wrote into it is not there yet.
            let planned = match self.target.below(&names_of) {
                Ok(planned) => planned.entries().map_err(Error::system(planned.path()))?,
                Err(error) if is_gone(&error) => Vec::new(),
                Err(error) => return Err(Error::system(self.target.path())(error)),
            };
            // Git looks at the whole folder, whoever wrote which part of it.
            let all = entries.iter().chain(&planned);
            if is_repository(all.map(|(name, _)| &**name)) {
                self.exported.left_out.push(shown);
                continue;
            }
            for (name, kind) in entries {
                self.count()?;
                let path = inner(&names, &name);
                let counterpart = planned.iter().find(|(planned, _)| *planned == name);
                match (kind, counterpart) {
                    (FileType::Directory, Some((_, FileType::Directory))) => folders.push(path),
                    (_, Some(_)) => {}
                    (FileType::Directory, None) if is_executed(&name, true) => {
                        self.exported.left_out.push(format!("{}/", path.join("/")));
                    }
                    (FileType::Directory, None) => folders.push(path),
                    (FileType::RegularFile, None) if is_executed(&name, false) => {
                        self.exported.left_out.push(path.join("/"));
                    }
                    (FileType::RegularFile, None) => match folder.open_file(&name) {
                        Ok(file) => {
                            let into = self.made(&names)?;
                            self.copy(file, &folder.path_of(&name), &into, &name, DATA)?;
                        }
                        Err(_) => self.exported.left_out.push(path.join("/")),
                    },
                    _ => self.exported.skipped.push(path.join("/")),
                }
            }
        }
        Ok(())
    }

    /// Waits until all files are stored.
    pub(super) fn sync(&self) -> Result<(), Error> {
        let failed = Error::system(self.target.path());
        for path in self.target.files(MAX_EXPORT_ENTRIES).map_err(&failed)? {
            let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
            let folders: Vec<&str> = folders.split_terminator('/').collect();
            let folder = self.target.below(&folders).map_err(&failed)?;
            let synced = folder.open_file(name).and_then(|file| file.sync_all());
            synced.and_then(|()| folder.sync()).map_err(&failed)?;
        }
        self.target.sync().map_err(&failed)
    }

    /// Opens a folder of the target, and makes it if it is missing.
    fn made(&self, names: &[String]) -> Result<Folder, Error> {
        let begin = self.target.below(&[]);
        let made = names.iter().fold(begin, |folder, name| {
            folder?.folder_or_new(name, FOLDER_MODE)
        });
        made.map_err(Error::system(self.target.path()))
    }

    fn count(&mut self) -> Result<(), Error> {
        let left = self.entries_left.checked_sub(1);
        self.entries_left = left.ok_or_else(|| {
            let message = format!("the task has more than {MAX_EXPORT_ENTRIES} files");
            Error::new(ErrorKind::Limit, message)
        })?;
        Ok(())
    }

    /// Copies a file with those permissions of it that are in `mask`.
    fn copy(
        &mut self,
        file: File,
        path: &Path,
        to: &Folder,
        name: &str,
        mask: u32,
    ) -> Result<(), Error> {
        let failed = Error::system(path);
        let mode = fstat(&file).map_err(Error::system(path))?.st_mode & 0o777 & mask;
        let mut new = to.create(name, 0o600).map_err(&failed)?;
        let max = self.bytes_left;
        let size = io::copy(&mut file.take(max.saturating_add(1)), &mut new).map_err(&failed)?;
        self.bytes_left = max.checked_sub(size).ok_or_else(|| {
            let message = format!("the files of the task are larger than {MAX_EXPORT_BYTES} bytes");
            Error::new(ErrorKind::Limit, message)
        })?;
        fchmod(&new, Mode::from_raw_mode(mode)).map_err(Error::system(path))?;
        self.exported.files += 1;
        Ok(())
    }
}

fn inner(names: &[String], name: &str) -> Vec<String> {
    [names, &[name.to_owned()]].concat()
}
