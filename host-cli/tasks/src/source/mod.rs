//! The files of a task's app, and changes of them.
//!
//! A batch applies whole or not at all. It is first written down in a journal, with each file before and
//! after. Committing it is one rename of the journal to the record of the batch. A journal that is found
//! later belongs to a batch that was cut short, and is undone. New files are made aside and renamed to their
//! place, so that no file is seen half written, and no other name of a file sees a change.
//!
//! The app itself works in a copy, which repeats each batch: module `work`.

mod executed;
mod export;
mod path;
mod record;
pub(crate) mod work;

pub use export::Exported;
pub use path::SourcePath;
pub use record::{Record, Recorded, Version};

use crate::folder::read_json;
use crate::handle::{FOLDER_MODE, Folder, PRIVATE_FOLDER_MODE};
use crate::limits::{
    MAX_BATCH_BYTES, MAX_BATCH_CHANGES, MAX_BATCHES, MAX_FILE_BYTES, MAX_RECORD_BYTES,
};
use crate::{Error, ErrorKind, TaskId};
use rustix::fs::{FileType, FlockOperation, flock};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;

/// The largest mode of a file: no permission to run as its owner or group. \[2, 2.2\]
const MAX_MODE: u32 = 0o777;

/// The name of the new file in its folder.
const STAGED: &str = "staged";

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Writes a file. Missing folders are made.
    Write {
        /// The path of the file.
        path: SourcePath,
        /// Its new content.
        content: Vec<u8>,
        /// Its permissions, from 0 to `0o777`.
        mode: u32,
    },
    /// Removes a file.
    Remove {
        /// The path of the file.
        path: SourcePath,
    },
}

impl Change {
    fn path(&self) -> &SourcePath {
        match self {
            Self::Write { path, .. } | Self::Remove { path } => path,
        }
    }
}

/// The files of one task, as batches wrote them. It holds the task's lock: changes happen one after the other.
#[derive(Debug)]
pub struct Source {
    id: TaskId,
    source: Folder,
    patches: Folder,
    state: Folder,
    _lock: File,
}

impl Source {
    /// Opens the files of a task, and undoes a batch that was cut short. Waits for another opener.
    pub(crate) fn open(id: TaskId, task: &Folder, state: Folder) -> Result<Self, Error> {
        let folder = |name: &str| {
            task.folder(name)
                .map_err(Error::system(&task.path_of(name)))
        };
        let name = format!("{id}.lock");
        let lock = state.open_lock(&name);
        let lock = lock.map_err(Error::system(&state.path_of(&name)))?;
        flock(&lock, FlockOperation::LockExclusive)
            .map_err(Error::system(&state.path_of(&name)))?;
        let source = Self {
            id,
            source: folder("source")?,
            patches: folder("patches")?,
            state,
            _lock: lock,
        };
        source.recover()?;
        // The daemon may have been killed between a batch and its repetition. A copy that can't be changed now is no
        // reason to read or change no files: the next start needs it, and reports why.
        let _ = source.follow();
        Ok(source)
    }

    /// Returns the folder of the files.
    #[must_use]
    pub fn folder(&self) -> &std::path::Path {
        self.source.path()
    }

    /// Reads a file; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// When it is not a regular file, too large, or can't be read.
    pub fn read(&self, path: &SourcePath) -> Result<Option<Version>, Error> {
        let (folders, name) = path.split();
        let folder = match self.source.below(&folders) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|error| self.refused(path, &error))?,
        };
        let read = folder.read(name, MAX_FILE_BYTES);
        let read = read.map_err(|error| self.refused(path, &error))?;
        Ok(read.map(Version::from))
    }

    /// Lists the paths of all regular files, in order. Links are not followed, and names that are not Unicode are left out.
    ///
    /// # Errors
    ///
    /// When there are more than `max` files, or a folder can't be read.
    pub fn files(&self, max: usize) -> Result<Vec<String>, Error> {
        let files = self.source.files(max);
        files.map_err(Error::system(self.source.path()))
    }

    /// Returns the regular files with their contents, in order of paths. Left out is a file of more than `each` bytes, one
    /// with which all would be more than `all` bytes, and one that the app removes meanwhile.
    ///
    /// # Errors
    ///
    /// As for [`files`](Self::files).
    pub fn contents(
        &self,
        max: usize,
        each: u64,
        mut all: u64,
    ) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let files = self.files(max)?.into_iter();
        let contents = files.filter_map(|path| {
            let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
            let folders: Vec<&str> = folders.split_terminator('/').collect();
            let read = self.source.below(&folders).ok()?.read(name, each.min(all));
            let content = read.ok()??.content;
            all = all.saturating_sub(content.len() as u64);
            Some((path, content))
        });
        Ok(contents.collect())
    }

    /// Applies a batch. Returns its record, which also is in `patches/`.
    ///
    /// # Errors
    ///
    /// When a change is refused or fails. Then no file was changed.
    pub fn apply(&self, changes: Vec<Change>) -> Result<Record, Error> {
        // Undoing the last one may have failed.
        self.recover()?;
        let record = self.plan(changes, None)?;
        self.perform(record)
    }

    /// Takes a batch back, by another batch.
    ///
    /// # Errors
    ///
    /// When there is no such batch, and when a file of it has been changed since.
    pub fn revert(&self, number: u32) -> Result<Record, Error> {
        self.recover()?;
        let record = self.record(number)?;
        let mut changes = Vec::new();
        for recorded in record.changes.iter().rev() {
            let path = recorded.path()?;
            if self.read(&path)? != recorded.after {
                let path = path.as_str();
                let message = format!("`{path}` was changed since batch {number}");
                return Err(Error::new(ErrorKind::Conflict, message));
            }
            changes.push(match &recorded.before {
                Some(before) => Change::Write {
                    path,
                    content: before.content()?,
                    mode: before.mode,
                },
                None => Change::Remove { path },
            });
        }
        let reverting = self.plan(changes, Some(number))?;
        let reverting = self.perform(reverting)?;
        // Folders that the batch made, unless something else is in them now.
        for path in record.folders.iter().rev() {
            let path = SourcePath::parse(path)?;
            let (folders, name) = path.split();
            if let Ok(folder) = self.source.below(&folders) {
                let _ = folder.remove_folder_if_empty(name);
            }
        }
        Ok(reverting)
    }

    /// Returns the numbers of the batches that were applied, in order.
    ///
    /// # Errors
    ///
    /// When the folder can't be read.
    pub fn batches(&self) -> Result<Vec<u32>, Error> {
        let entries = self.patches.entries();
        let entries = entries.map_err(Error::system(self.patches.path()))?;
        let number = |(name, _): (String, FileType)| {
            let digits = name.strip_suffix(".json")?;
            let number: u32 = digits.parse().ok()?;
            (record_name(number) == name).then_some(number)
        };
        Ok(entries.into_iter().filter_map(number).collect())
    }

    /// Returns the record of a batch.
    ///
    /// # Errors
    ///
    /// When it does not exist or can't be read.
    pub fn record(&self, number: u32) -> Result<Record, Error> {
        let name = record_name(number);
        let read = read_json(&self.patches, &name, MAX_RECORD_BYTES)?;
        read.ok_or_else(|| Error::new(ErrorKind::Missing, format!("there is no batch {number}")))
    }

    fn journal(&self) -> String {
        format!("{}.batch.json", self.id)
    }

    /// Words why a path can't be used: what is there is of another kind, or the system failed.
    fn refused(&self, path: &SourcePath, error: &io::Error) -> Error {
        let path = path.as_str();
        let (kind, why) = match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::LOOP) => (ErrorKind::Refused, "a folder of it is a symbolic link"),
            Some(Errno::NOTDIR) => (ErrorKind::Refused, "a part of it is not a folder"),
            Some(Errno::ISDIR | Errno::EXIST | Errno::NOTEMPTY) => {
                (ErrorKind::Refused, "it is a folder")
            }
            Some(Errno::NOENT) => (ErrorKind::Refused, "a folder of it is missing"),
            Some(_) => (ErrorKind::System, &*error.to_string()),
            None if error.kind() == io::ErrorKind::FileTooLarge => {
                (ErrorKind::Limit, &*error.to_string())
            }
            None => (ErrorKind::Refused, &*error.to_string()),
        };
        Error::new(kind, format!("`{path}` can't be used: {why}"))
    }

    /// Checks a batch, and reads what it replaces.
    fn plan(&self, changes: Vec<Change>, reverts: Option<u32>) -> Result<Record, Error> {
        let limit = |what: String| Err(Error::new(ErrorKind::Limit, what));
        let refused = |what: String| Err(Error::new(ErrorKind::Refused, what));
        if changes.len() > MAX_BATCH_CHANGES {
            return limit(format!("a batch has more than {MAX_BATCH_CHANGES} changes"));
        }
        let number = self.batches()?.last().map_or(1, |last| last + 1);
        if number > MAX_BATCHES {
            return limit(format!("the task has {MAX_BATCHES} batches already"));
        }
        let mut record = Record {
            number,
            reverts,
            changes: Vec::new(),
            folders: Vec::new(),
        };
        let mut paths = BTreeSet::new();
        let mut made = BTreeSet::new();
        let mut bytes = 0;
        for change in changes {
            let path = change.path().clone();
            let shown = path.as_str();
            if !paths.insert(path.clone()) {
                return refused(format!("`{shown}` appears twice in a batch"));
            }
            let before = self.read(&path)?;
            let after = match change {
                Change::Write { content, mode, .. } => {
                    if mode > MAX_MODE {
                        return refused(format!(
                            "the mode 0o{mode:o} of `{shown}` is refused: the largest is 0o777"
                        ));
                    }
                    if u64::try_from(content.len()).is_ok_and(|size| size > MAX_FILE_BYTES) {
                        return limit(format!("`{shown}` is larger than {MAX_FILE_BYTES} bytes"));
                    }
                    for folder in self.missing_folders(&path)? {
                        if made.insert(folder.clone()) {
                            record.folders.push(folder);
                        }
                    }
                    Some(Version::new(mode, content))
                }
                Change::Remove { .. } if before.is_none() => {
                    let message = format!("`{shown}` can't be removed: it does not exist");
                    return Err(Error::new(ErrorKind::Missing, message));
                }
                Change::Remove { .. } => None,
            };
            for version in [&before, &after].into_iter().flatten() {
                bytes += version.content()?.len() as u64;
            }
            if bytes > MAX_BATCH_BYTES {
                return limit(format!("a batch is larger than {MAX_BATCH_BYTES} bytes"));
            }
            record.changes.push(Recorded {
                path: shown.to_owned(),
                before,
                after,
            });
        }
        for path in &paths {
            if made.contains(path.as_str()) {
                let path = path.as_str();
                return refused(format!("`{path}` is a file and a folder in one batch"));
            }
        }
        Ok(record)
    }

    /// Lists the folders of a path that don't exist, the outer first.
    fn missing_folders(&self, path: &SourcePath) -> Result<Vec<String>, Error> {
        let (folders, _) = path.split();
        let mut missing = Vec::new();
        for depth in 1..=folders.len() {
            match self.source.below(&folders[..depth]) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    missing.push(folders[..depth].join("/"));
                }
                Err(error) => return Err(self.refused(path, &error)),
            }
        }
        Ok(missing)
    }

    /// Carries out a batch: journal, files, commit.
    fn perform(&self, record: Record) -> Result<Record, Error> {
        let mut text = serde_json::to_vec(&record)
            .map_err(|error| Error::new(ErrorKind::System, error.to_string()))?;
        text.push(b'\n');
        let journal = self.journal();
        let staging = format!("{journal}.new");
        let path = self.state.path_of(&journal);
        let written = self.state.replace(&journal, &staging, &text);
        written.map_err(Error::system(&path))?;
        if let Err(error) = self.make(&record) {
            // What the batch did not reach is as it was, and undoing it again changes nothing.
            self.recover()?;
            return Err(error);
        }
        let name = record_name(record.number);
        let commit = self.state.rename(&journal, &self.patches, &name);
        commit.map_err(Error::system(&path))?;
        let synced = self.patches.sync().and_then(|()| self.state.sync());
        synced.map_err(Error::system(&path))?;
        // The batch is applied, whatever the app has made of its copy. The next opener tries again, and the next start
        // reports why.
        let _ = self.follow();
        Ok(record)
    }

    fn make(&self, record: &Record) -> Result<(), Error> {
        let stage = Stage::new(&self.state, &self.id)?;
        for path in &record.folders {
            let path = SourcePath::parse(path)?;
            let (folders, name) = path.split();
            let made = self
                .source
                .below(&folders)
                .and_then(|folder| folder.folder_or_new(name, FOLDER_MODE));
            made.map_err(|error| self.refused(&path, &error))?;
        }
        for change in &record.changes {
            self.set(&stage, &change.path()?, change.after.as_ref())?;
        }
        self.sync_folders(record)?;
        stage.remove()
    }

    /// Gives a file its content, or removes it.
    fn set(
        &self,
        stage: &Stage,
        path: &SourcePath,
        version: Option<&Version>,
    ) -> Result<(), Error> {
        let (folders, name) = path.split();
        let refused = |error: io::Error| self.refused(path, &error);
        let folder = self.source.below(&folders).map_err(refused)?;
        match version {
            Some(version) => {
                stage.write(&version.content()?, version.mode)?;
                stage.0.rename(STAGED, &folder, name).map_err(refused)
            }
            None => folder.remove_file(name).map_err(refused),
        }
    }

    fn sync_folders(&self, record: &Record) -> Result<(), Error> {
        let mut synced = BTreeSet::new();
        let files = record.changes.iter().map(|change| &change.path);
        for path in files.chain(&record.folders) {
            let path = SourcePath::parse(path)?;
            let (folders, _) = path.split();
            if synced.insert(folders.join("/")) {
                // A folder that an app has removed meanwhile needs no care.
                if let Ok(folder) = self.source.below(&folders) {
                    folder.sync().map_err(Error::system(folder.path()))?;
                }
            }
        }
        Ok(())
    }

    /// Undoes a batch that was not committed. Undoing it twice is the same as once.
    fn recover(&self) -> Result<(), Error> {
        let journal = self.journal();
        let Some(record) = read_json::<Record>(&self.state, &journal, MAX_RECORD_BYTES)? else {
            return Ok(());
        };
        let stage = Stage::new(&self.state, &self.id)?;
        for change in record.changes.iter().rev() {
            let path = change.path()?;
            match self.set(&stage, &path, change.before.as_ref()) {
                // A folder that was not made yet, or that the running app has put something else in the
                // place of. What it has moved elsewhere is its own.
                Err(error) if error.kind() == ErrorKind::Refused => {}
                set => set?,
            }
        }
        for path in record.folders.iter().rev() {
            let path = SourcePath::parse(path)?;
            let (folders, name) = path.split();
            if let Ok(folder) = self.source.below(&folders) {
                match folder.remove_folder_if_empty(name) {
                    Err(error) if error.raw_os_error() == Some(Errno::NOTDIR.raw_os_error()) => {}
                    removed => removed.map_err(|error| self.refused(&path, &error))?,
                }
            }
        }
        self.sync_folders(&record)?;
        stage.remove()?;
        let removed = self.state.remove_file(&journal);
        removed.map_err(Error::system(&self.state.path_of(&journal)))
    }
}

/// A folder beside the task, on the same file system, in which new files are made.
struct Stage(Folder, Folder, String);

impl Stage {
    fn new(state: &Folder, id: &TaskId) -> Result<Self, Error> {
        let name = format!("{id}.stage");
        let path = state.path_of(&name);
        let failed = Error::system(&path);
        let stage = state.folder_or_new(&name, PRIVATE_FOLDER_MODE);
        let stage = stage.map_err(&failed)?;
        let state = state.below(&[]).map_err(&failed)?;
        Ok(Self(stage, state, name))
    }

    fn write(&self, content: &[u8], mode: u32) -> Result<(), Error> {
        let removed = self.0.remove_file(STAGED);
        removed
            .and_then(|()| self.0.write_new(STAGED, content, mode))
            .map_err(Error::system(self.0.path()))
    }

    fn remove(self) -> Result<(), Error> {
        let removed = self.0.remove_file(STAGED);
        removed
            .and_then(|()| self.1.remove_folder_if_empty(&self.2))
            .map_err(Error::system(self.0.path()))
    }
}

fn record_name(number: u32) -> String {
    format!("{number:04}.json")
}
