//! The folder of all tasks, and the folder of one. \[2, 9\]

use crate::handle::{Folder, PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE};
use crate::limits::{MAX_ARTIFACT_BYTES, MAX_LOG_BYTES, MAX_MEMORY_BYTES};
use crate::processes::Found;
use crate::run::Run;
use crate::source::{Source, work};
use crate::{Error, ErrorKind, TaskId};
use rustix::fs::{FileType, FlockOperation, flock, fstat};
use rustix::process::getuid;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The folder of what is remembered of tasks, in that of all tasks.
const STATE: &str = ".state";

/// Write permission of a group and of others.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// How many ids are tried until one is new.
const ATTEMPTS: usize = 100;

/// The folder of all tasks: `.mcpd`.
#[derive(Debug)]
pub struct Tasks {
    root: Folder,
}

/// A file of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Artifact {
    /// `plan.json`.
    Plan,
    /// `manifest.json`.
    Manifest,
    /// `run.log`.
    RunLog,
    /// `probes.log`.
    ProbesLog,
}

impl Artifact {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Plan, Self::Manifest, Self::RunLog, Self::ProbesLog];

    /// Returns the name of the file.
    #[must_use]
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Plan => "plan.json",
            Self::Manifest => "manifest.json",
            Self::RunLog => "run.log",
            Self::ProbesLog => "probes.log",
        }
    }
}

/// What is remembered of a task from one program to the next. It outlives the task's folder, so that no id
/// is used again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// The name of the task's state; this crate does not read it.
    pub state: String,
    /// When the task was made, in milliseconds since 1970.
    pub created_ms: u64,
    /// When the state was changed, in milliseconds since 1970.
    pub changed_ms: u64,
    /// The port that is leased for the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Anything else that the caller keeps.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<String, String>,
}

/// A task of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The id.
    pub id: TaskId,
    /// Whether the task has its folder still.
    pub has_folder: bool,
    /// What is remembered of it; `None` if nothing can be read.
    pub memory: Option<Memory>,
    /// Its last run.
    pub run: Option<Run>,
    /// What is wrong with it.
    pub damage: Vec<String>,
}

/// The folder of one task.
#[derive(Debug)]
pub struct Task {
    id: TaskId,
    folder: Folder,
    state: Folder,
}

impl Tasks {
    /// Opens the folder of all tasks, and makes it if it is missing. Only this user may enter it.
    ///
    /// # Errors
    ///
    /// When it can't be made, is a link, belongs to another user or can be written by one.
    pub fn open(root: &Path) -> Result<Self, Error> {
        let absolute = std::path::absolute(root).map_err(Error::system(root))?;
        let failed = Error::system(&absolute);
        let refused = |why: &str| {
            let message = format!("`{}` {why}", absolute.display());
            Err(Error::new(ErrorKind::Refused, message))
        };
        let (Some(above), Some(name)) = (absolute.parent(), absolute.file_name()) else {
            return refused("can't be the folder of tasks");
        };
        let Some(name) = name.to_str() else {
            return refused("is not Unicode text");
        };
        fs::create_dir_all(above).map_err(&failed)?;
        let above = Folder::open(above).map_err(&failed)?;
        let root = above.folder_or_new(name, PRIVATE_FOLDER_MODE);
        let root = root.map_err(&failed)?;
        // A user who may exchange the folder can't make one of this user.
        let metadata = fstat(&root).map_err(Error::system(&absolute))?;
        if metadata.st_uid != getuid().as_raw() {
            return refused("belongs to another user");
        }
        if metadata.st_mode & WRITABLE_BY_OTHERS != 0 {
            return refused("can be written by other users");
        }
        root.folder_or_new(STATE, PRIVATE_FOLDER_MODE)
            .map_err(&failed)?;
        Ok(Self { root })
    }

    /// Returns the absolute path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    fn state(&self) -> Result<Folder, Error> {
        let path = self.root.path_of(STATE);
        self.root.folder(STATE).map_err(Error::system(&path))
    }

    /// Makes a task with a new id and its artifacts, all of them empty.
    ///
    /// # Errors
    ///
    /// When its folder can't be made.
    pub fn create(&self, memory: &Memory) -> Result<Task, Error> {
        let state = self.state()?;
        let text = to_json(memory)?;
        for _ in 0..ATTEMPTS {
            let id = TaskId::random()?;
            let name = memory_name(&id);
            let path = state.path_of(&name);
            // What is remembered of a task keeps its id from being used again.
            match state.write_new(&name, &text, PRIVATE_FILE_MODE) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
                written => written.map_err(Error::system(&path))?,
            }
            let failed = Error::system(self.root.path());
            let folder = match self.root.make_folder(id.as_str(), PRIVATE_FOLDER_MODE) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
                made => made.map_err(&failed)?,
            };
            for name in ["patches", "source"] {
                folder
                    .make_folder(name, PRIVATE_FOLDER_MODE)
                    .map_err(&failed)?;
            }
            for artifact in Artifact::ALL {
                let made = folder.create(artifact.file_name(), PRIVATE_FILE_MODE);
                made.map_err(&failed)?;
            }
            folder.sync().map_err(&failed)?;
            self.root.sync().map_err(&failed)?;
            state.sync().map_err(&failed)?;
            return Ok(Task { id, folder, state });
        }
        let message = format!("no new task id was found in {ATTEMPTS} attempts");
        Err(Error::new(ErrorKind::Limit, message))
    }

    /// Opens a task.
    ///
    /// # Errors
    ///
    /// When it has no folder.
    pub fn task(&self, id: &TaskId) -> Result<Task, Error> {
        let folder = self.root.folder(id.as_str());
        let folder = folder.map_err(Error::system(&self.root.path_of(id.as_str())))?;
        Ok(Task {
            id: id.clone(),
            folder,
            state: self.state()?,
        })
    }

    /// Lists all tasks in order of ids, those that are damaged and those whose folder was removed, too.
    ///
    /// # Errors
    ///
    /// When the folder can't be read.
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        let state = self.state()?;
        let entries = self.root.entries();
        let entries = entries.map_err(Error::system(self.root.path()))?;
        let remembered = state.entries().map_err(Error::system(state.path()))?;
        let mut found: BTreeMap<TaskId, Option<FileType>> = BTreeMap::new();
        for (name, _) in remembered {
            let id = name.strip_suffix(".json").map(TaskId::parse);
            if let Some(Ok(id)) = id {
                found.insert(id, None);
            }
        }
        for (name, kind) in entries {
            if let Ok(id) = TaskId::parse(&name) {
                found.insert(id, Some(kind));
            }
        }
        let list = found.into_iter().map(|(id, kind)| {
            let mut damage = Vec::new();
            let memory = read_json(&state, &memory_name(&id), MAX_MEMORY_BYTES);
            let memory = memory.unwrap_or_else(|error| {
                damage.push(error.to_string());
                None
            });
            if memory.is_none() && damage.is_empty() {
                damage.push("nothing is remembered of the task".to_owned());
            }
            let run = read_json(&state, &run_name(&id), MAX_MEMORY_BYTES).unwrap_or_else(|error| {
                damage.push(error.to_string());
                None
            });
            let has_folder = kind == Some(FileType::Directory);
            if kind.is_some() {
                damage.extend(self.damage(&id));
            }
            Listed {
                id,
                has_folder,
                memory,
                run,
                damage,
            }
        });
        Ok(list.collect())
    }

    /// Lists the parts that a task's folder lacks.
    fn damage(&self, id: &TaskId) -> Vec<String> {
        let Ok(folder) = self.root.folder(id.as_str()) else {
            return vec![format!("`{id}` is not a folder")];
        };
        let folders = ["patches", "source"]
            .into_iter()
            .map(|name| (name, folder.folder(name).map(|_| ())));
        let files = Artifact::ALL
            .into_iter()
            .map(|it| (it.file_name(), folder.open_file(it.file_name()).map(|_| ())));
        folders
            .chain(files)
            .filter_map(|(name, opened)| Some(format!("`{name}`: {}", opened.err()?)))
            .collect()
    }

    /// Removes the copies of tasks whose folders were removed. What can't be removed takes room and does no harm.
    ///
    /// # Errors
    ///
    /// When the folder can't be read.
    pub fn clear_work(&self) -> Result<(), Error> {
        let state = self.state()?;
        for id in work::ids(&state)? {
            let is_kept = self.root.has(id.as_str());
            let run = read_json::<Run>(&state, &run_name(&id), MAX_MEMORY_BYTES);
            let runs = run.is_ok_and(|run| {
                run.is_some_and(|run| run.end.is_none() && run.supervisor.lives())
            });
            if !runs && !is_kept.map_err(Error::system(self.root.path()))? {
                let _ = work::remove(&state, &id);
            }
        }
        Ok(())
    }

    /// Removes the folder of a task, the copy of its app, and what is stored of its runs. Its id stays taken.
    ///
    /// # Errors
    ///
    /// When the task runs, or something in its folder can't be removed.
    pub fn remove(&self, id: &TaskId) -> Result<(), Error> {
        let path = self.root.path_of(id.as_str());
        if let Ok(task) = self.task(id)
            && let Found::Running(_) = task.find()?
        {
            let message = format!("the task {id} runs: stop it first");
            return Err(Error::new(ErrorKind::Running, message));
        }
        match self.root.folder(id.as_str()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            opened => {
                opened.map_err(Error::system(&path))?;
                agent_sandbox::remove_folder(&path).map_err(Error::system(&path))?;
            }
        }
        let state = self.state()?;
        work::remove(&state, id)?;
        for name in ["batch.json", "lock", "run.lock"].map(|part| format!("{id}.{part}")) {
            let removed = state.remove_file(&name);
            removed.map_err(Error::system(&state.path_of(&name)))?;
        }
        Ok(())
    }
}

impl Task {
    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of the folder with the app's files, as batches wrote them.
    #[must_use]
    pub fn source_path(&self) -> PathBuf {
        self.folder.path_of("source")
    }

    /// Returns the path of the copy in which the app works. It exists once the app was started.
    #[must_use]
    pub fn work_path(&self) -> PathBuf {
        work::path(&self.state, &self.id)
    }

    /// Makes the copy in which the app works, unless it exists, and repeats batches that it lacks. Returns its path.
    ///
    /// # Errors
    ///
    /// When the files can't be opened, or the copy can't be made or changed.
    pub fn work(&self) -> Result<PathBuf, Error> {
        self.source()?.work()
    }

    /// Returns the folder of all tasks.
    pub(crate) fn root_path(&self) -> &Path {
        self.folder.path().parent().unwrap_or(Path::new("/"))
    }

    /// Opens the files of the app for changes. Waits while another program has them open.
    ///
    /// # Errors
    ///
    /// When the folder is damaged, or a batch that was cut short can't be undone.
    pub fn source(&self) -> Result<Source, Error> {
        let state = self.state.below(&[]);
        let state = state.map_err(Error::system(self.state.path()))?;
        Source::open(self.id.clone(), &self.folder, state)
    }

    /// Lists the paths of all regular files of the task, in order. Links are not followed, and names that are not Unicode
    /// are left out.
    ///
    /// # Errors
    ///
    /// When there are more than `max` files, or a folder can't be read.
    pub fn files(&self, max: usize) -> Result<Vec<String>, Error> {
        let files = self.folder.files(max);
        files.map_err(Error::system(self.folder.path()))
    }

    /// Replaces an artifact as a whole.
    ///
    /// # Errors
    ///
    /// When it is too large or can't be written.
    pub fn write(&self, artifact: Artifact, content: &[u8]) -> Result<(), Error> {
        let name = artifact.file_name();
        let path = self.folder.path_of(name);
        if u64::try_from(content.len()).is_ok_and(|size| size > MAX_ARTIFACT_BYTES) {
            let message = format!("`{name}` is larger than {MAX_ARTIFACT_BYTES} bytes");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let staged = format!("{}.{name}", self.id);
        let failed = Error::system(&path);
        self.state.remove_file(&staged).map_err(&failed)?;
        let written = self.state.write_new(&staged, content, PRIVATE_FILE_MODE);
        written.map_err(&failed)?;
        let renamed = self.state.rename(&staged, &self.folder, name);
        renamed.map_err(&failed)?;
        self.folder.sync().map_err(&failed)
    }

    /// Reads an artifact.
    ///
    /// # Errors
    ///
    /// When it is missing, too large, or not a regular file.
    pub fn read(&self, artifact: Artifact) -> Result<Vec<u8>, Error> {
        let name = artifact.file_name();
        let path = self.folder.path_of(name);
        let read = self.folder.read(name, MAX_ARTIFACT_BYTES);
        let read = read.map_err(Error::system(&path))?;
        read.map(|file| file.content)
            .ok_or_else(|| Error::new(ErrorKind::Missing, format!("there is no `{name}`")))
    }

    /// Appends to an artifact, up to the limit of a log. The rest is dropped.
    ///
    /// # Errors
    ///
    /// When it can't be written.
    pub fn append(&self, artifact: Artifact, content: &[u8]) -> Result<(), Error> {
        let mut file = self.open_log(artifact)?;
        let path = self.folder.path_of(artifact.file_name());
        let failed = Error::system(&path);
        let size = file.metadata().map_err(&failed)?.len();
        let left = usize::try_from(MAX_LOG_BYTES.saturating_sub(size)).unwrap_or(usize::MAX);
        file.write_all(&content[..content.len().min(left)])
            .map_err(&failed)
    }

    pub(crate) fn open_log(&self, artifact: Artifact) -> Result<fs::File, Error> {
        let name = artifact.file_name();
        let file = self.folder.open_to_append(name);
        file.map_err(Error::system(&self.folder.path_of(name)))
    }

    /// Returns what is remembered of the task; `None` if nothing is.
    ///
    /// # Errors
    ///
    /// When it can't be read.
    pub fn memory(&self) -> Result<Option<Memory>, Error> {
        read_json(&self.state, &memory_name(&self.id), MAX_MEMORY_BYTES)
    }

    /// Remembers something else of the task.
    ///
    /// # Errors
    ///
    /// When it can't be written.
    pub fn remember(&self, memory: &Memory) -> Result<(), Error> {
        self.write_state(&memory_name(&self.id), memory)
    }

    /// Returns the last run as its supervisor reported it; `None` if nothing ran yet.
    pub(crate) fn reported_run(&self) -> Result<Option<Run>, Error> {
        read_json(&self.state, &run_name(&self.id), MAX_MEMORY_BYTES)
    }

    pub(crate) fn report_run(&self, run: &Run) -> Result<(), Error> {
        self.write_state(&run_name(&self.id), run)
    }

    /// Opens the file that a supervisor locks while it runs.
    pub(crate) fn open_run_lock(&self) -> Result<fs::File, Error> {
        let name = format!("{}.run.lock", self.id);
        let file = self.state.open_lock(&name);
        file.map_err(Error::system(&self.state.path_of(&name)))
    }

    /// Returns whether a supervisor has the lock of the task.
    pub(crate) fn has_supervisor(&self) -> Result<bool, Error> {
        let lock = self.open_run_lock()?;
        Ok(flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err())
    }

    fn write_state(&self, name: &str, value: &impl Serialize) -> Result<(), Error> {
        let written = self
            .state
            .replace(name, &format!("{name}.new"), &to_json(value)?);
        written.map_err(Error::system(&self.state.path_of(name)))
    }
}

fn memory_name(id: &TaskId) -> String {
    format!("{id}.json")
}

fn run_name(id: &TaskId) -> String {
    format!("{id}.run.json")
}

fn to_json(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    let mut text = serde_json::to_vec(value)
        .map_err(|error| Error::new(ErrorKind::System, error.to_string()))?;
    text.push(b'\n');
    Ok(text)
}

/// Reads a file of JSON; `None` if it does not exist.
pub(crate) fn read_json<T: DeserializeOwned>(
    folder: &Folder,
    name: &str,
    max_bytes: u64,
) -> Result<Option<T>, Error> {
    let path = folder.path_of(name);
    let read = folder.read(name, max_bytes);
    let Some(read) = read.map_err(Error::system(&path))? else {
        return Ok(None);
    };
    serde_json::from_slice(&read.content)
        .map(Some)
        .map_err(|error| {
            let message = format!("`{}`: {error}", path.display());
            Error::new(ErrorKind::Damaged, message)
        })
}
