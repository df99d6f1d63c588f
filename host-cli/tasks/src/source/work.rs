//! The copy of an app's files in which the app works.
//!
//! What an app writes is as untrusted as the app. A tool that a person runs in a folder takes names such as `.git` for
//! orders, so no such name may get into the task's folder: the app changes its copy, and `source/` has what batches
//! wrote. The copy is made before the first start, and kept. It repeats each later batch in order.
//!
//! The app may run meanwhile and put links in the way. Nothing here follows one: a path is taken one name after the
//! other, from an open folder.

use super::{STAGED, Source, Stage};
use crate::folder::read_json;
use crate::handle::{FOLDER_MODE, Folder, PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE, is_gone};
use crate::limits::{MAX_EXPORT_BYTES, MAX_EXPORT_ENTRIES, MAX_MEMORY_BYTES};
use crate::source::export::Copying;
use crate::source::record::{Record, Version};
use crate::{Error, ErrorKind, TaskId};
use rustix::fs::{Mode, fchmod, fstat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The folder of all copies, in that of the states of tasks.
const COPIES: &str = "work";

/// A repository around the folder of tasks takes none of the copies in.
const IGNORE: (&str, &[u8]) = (".gitignore", b"*\n");

/// How often a change is tried while the app puts something else in its place.
const ATTEMPTS: usize = 16;

/// The names that are tried for what is moved aside.
const MAX_ASIDE: u32 = 100;

/// How far a copy is.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Progress {
    /// The last batch that is in the copy.
    batch: u32,
}

/// Returns the path of the copy of a task, given the folder of states.
pub(crate) fn path(state: &Folder, id: &TaskId) -> PathBuf {
    state.path_of(COPIES).join(id.as_str())
}

/// Returns the tasks that have a copy.
pub(crate) fn ids(state: &Folder) -> Result<Vec<TaskId>, Error> {
    let failed = Error::system(state.path());
    let entries = match state.folder(COPIES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        copies => copies.and_then(|it| it.entries()).map_err(&failed)?,
    };
    let ids = entries.iter().map(|(name, _)| TaskId::parse(name));
    Ok(ids.filter_map(Result::ok).collect())
}

/// Removes the copy of a task that doesn't run.
pub(crate) fn remove(state: &Folder, id: &TaskId) -> Result<(), Error> {
    let copy = path(state, id);
    for folder in [copy.with_file_name(staged(id)), copy] {
        remove_folder(&folder)?;
    }
    let name = progress_name(id);
    let removed = state.remove_file(&name);
    removed.map_err(Error::system(&state.path_of(&name)))
}

impl Source {
    /// Returns the folder in which the app works. It is made if it is missing, and has every batch.
    ///
    /// # Errors
    ///
    /// When it can't be made or changed.
    pub(crate) fn work(&self) -> Result<PathBuf, Error> {
        let failed = Error::system(self.state.path());
        let copies = self.state.folder_or_new(COPIES, PRIVATE_FOLDER_MODE);
        let copies = copies.map_err(&failed)?;
        if copies.has(self.id.as_str()).map_err(&failed)? {
            self.follow()?;
        } else {
            self.copy(&copies)?;
        }
        Ok(copies.path_of(self.id.as_str()))
    }

    /// Opens the copy; `None` if the app was never started.
    pub(super) fn opened_work(&self) -> Result<Option<Folder>, Error> {
        let path = path(&self.state, &self.id);
        let reached = reach(&self.state, &[COPIES, self.id.as_str()], Missing::Stays);
        reached.map_err(Error::system(&path))
    }

    /// Makes the copy. It gets its name when it is complete.
    fn copy(&self, copies: &Folder) -> Result<(), Error> {
        let failed = Error::system(copies.path());
        let (name, contents) = IGNORE;
        match copies.write_new(name, contents, PRIVATE_FILE_MODE) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            written => written.map_err(&failed)?,
        }
        let staged = staged(&self.id);
        // A daemon that was killed may have left it.
        remove_folder(&copies.path_of(&staged))?;
        let made = copies.make_folder(&staged, PRIVATE_FOLDER_MODE);
        let mut copying =
            Copying::new(made.map_err(&failed)?, MAX_EXPORT_ENTRIES, MAX_EXPORT_BYTES);
        copying.all(&self.source)?;
        copying.sync()?;
        self.progress(self.batches()?.last().copied().unwrap_or_default())?;
        let renamed = copies.rename(&staged, copies, self.id.as_str());
        renamed.and_then(|()| copies.sync()).map_err(&failed)
    }

    /// Repeats in the copy the batches that it lacks.
    pub(super) fn follow(&self) -> Result<(), Error> {
        if self.opened_work()?.is_none() {
            return Ok(());
        }
        let name = progress_name(&self.id);
        let progress: Option<Progress> = read_json(&self.state, &name, MAX_MEMORY_BYTES)?;
        let Progress { batch } = progress.unwrap_or_default();
        for number in self.batches()?.into_iter().filter(|it| *it > batch) {
            self.repeat(&self.record(number)?)?;
            self.progress(number)?;
        }
        Ok(())
    }

    fn progress(&self, batch: u32) -> Result<(), Error> {
        let text = serde_json::to_vec(&Progress { batch })
            .map_err(|error| Error::new(ErrorKind::System, error.to_string()))?;
        let name = progress_name(&self.id);
        let written = self.state.replace(&name, &format!("{name}.new"), &text);
        written.map_err(Error::system(&self.state.path_of(&name)))
    }

    /// Changes in the copy what a batch has changed, and nothing else. Repeating it twice is the same as once.
    fn repeat(&self, record: &Record) -> Result<(), Error> {
        let stage = Stage::new(&self.state, &self.id)?;
        for change in &record.changes {
            let path = change.path()?;
            let (folders, name) = path.split();
            let mut left = ATTEMPTS;
            while let Err(error) = self.set_in_copy(&stage, &folders, name, change.after.as_ref()) {
                left -= 1;
                if left == 0 {
                    let message =
                        format!("`{}` can't be changed for the app: {error}", path.as_str());
                    return Err(Error::new(ErrorKind::System, message));
                }
            }
        }
        stage.remove()?;
        let Some(reverted) = record.reverts else {
            return Ok(());
        };
        for path in self.record(reverted)?.folders.iter().rev() {
            let mut folders: Vec<&str> = path.split('/').collect();
            let name = folders.pop().unwrap_or_default();
            // One that the app has locked, or replaced, is its own.
            if let Ok(Some(folder)) = self.reach_in_copy(&folders, Missing::Stays) {
                let _ = folder.remove_folder_if_empty(name);
            }
        }
        Ok(())
    }

    fn set_in_copy(
        &self,
        stage: &Stage,
        folders: &[&str],
        name: &str,
        version: Option<&Version>,
    ) -> io::Result<()> {
        let missing = match version {
            Some(_) => Missing::IsMade,
            None => Missing::Stays,
        };
        let Some(folder) = self.reach_in_copy(folders, missing)? else {
            return Ok(());
        };
        let Some(version) = version else {
            return match folder.remove_file(name) {
                // The app has a folder in the place of the file.
                Err(error) if is(&error, &[Errno::ISDIR, Errno::PERM]) => Ok(()),
                removed => removed,
            };
        };
        let content = version.content().map_err(io::Error::other)?;
        let written = stage.write(&content, version.mode);
        written.map_err(io::Error::other)?;
        match stage.0.rename(STAGED, &folder, name) {
            Err(error) if is(&error, &[Errno::ISDIR, Errno::NOTEMPTY, Errno::EXIST]) => {
                move_aside(&folder, name)?;
                stage.0.rename(STAGED, &folder, name)
            }
            renamed => renamed,
        }
    }

    fn reach_in_copy(&self, folders: &[&str], missing: Missing) -> io::Result<Option<Folder>> {
        let begin = [COPIES, self.id.as_str()];
        reach(&self.state, &[&begin, folders].concat(), missing)
    }
}

/// What is done about a folder that is missing on the way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    /// Nothing is below it.
    Stays,
    /// It is made. What is in its place is moved aside.
    IsMade,
}

/// Opens a folder below another one, and lets this user change it, whatever the app has done to its mode.
fn reach(from: &Folder, names: &[&str], missing: Missing) -> io::Result<Option<Folder>> {
    let mut folder = from.below(&[])?;
    for name in names {
        let opened = match folder.folder(name) {
            Err(error) if is(&error, &[Errno::ACCESS]) => {
                crate::disk::unlocked(&folder, *name)?;
                folder.folder(name)
            }
            opened => opened,
        };
        folder = match opened {
            Err(error) if is_gone(&error) && missing == Missing::Stays => return Ok(None),
            Err(error) if is(&error, &[Errno::NOENT]) => folder.make_folder(name, FOLDER_MODE)?,
            Err(error) if is_gone(&error) => {
                move_aside(&folder, name)?;
                folder.make_folder(name, FOLDER_MODE)?
            }
            opened => opened?,
        };
        let mode = Mode::from_raw_mode(fstat(&folder)?.st_mode);
        if !mode.contains(Mode::RWXU) {
            fchmod(&folder, mode | Mode::RWXU)?;
        }
    }
    Ok(Some(folder))
}

/// Gives an entry of the app another name in its folder: the name is that of a plan's file or folder now.
fn move_aside(folder: &Folder, name: &str) -> io::Result<()> {
    for number in 1..MAX_ASIDE {
        match folder.rename_to_new(name, &format!("{name}.app{number}")) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            renamed => return renamed,
        }
    }
    Err(io::Error::other("no name is free for what is in its place"))
}

fn is(error: &io::Error, numbers: &[Errno]) -> bool {
    let found = error.raw_os_error().map(Errno::from_raw_os_error);
    found.is_some_and(|found| numbers.contains(&found))
}

fn remove_folder(path: &Path) -> Result<(), Error> {
    match agent_sandbox::remove_folder(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(Error::system(path)),
    }
}

fn staged(id: &TaskId) -> String {
    format!("{id}.new")
}

fn progress_name(id: &TaskId) -> String {
    format!("{id}.work.json")
}
