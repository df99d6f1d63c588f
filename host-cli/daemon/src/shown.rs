//! The tasks as the app gateway sees them.

use agent_app_proxy::{Log, TaskState, TaskSummary, Tasks};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The tasks, which the daemon writes and the threads of the gateway read.
#[derive(Debug, Default)]
pub(crate) struct Shown(Mutex<BTreeMap<String, ShownTask>>);

/// A task as it is shown.
#[derive(Debug, Clone)]
pub(crate) struct ShownTask {
    pub(crate) folder: PathBuf,
    /// Its Unix socket, once its app has one.
    pub(crate) socket: Option<Arc<Path>>,
    pub(crate) is_ended: bool,
    pub(crate) summary: TaskSummary,
}

impl Shown {
    fn tasks(&self) -> MutexGuard<'_, BTreeMap<String, ShownTask>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows a task as it is now.
    pub(crate) fn show(&self, task: ShownTask) {
        self.tasks().insert(task.summary.task_id.clone(), task);
    }
}

impl Tasks for Shown {
    fn state(&self, task_id: &str) -> TaskState {
        match self.tasks().get(task_id) {
            None => TaskState::Unknown,
            Some(task) if task.is_ended => TaskState::Ended,
            Some(ShownTask {
                socket: Some(socket),
                ..
            }) if agent_tasks::is_abstract(socket) => TaskState::Leased(Arc::clone(socket)),
            Some(ShownTask {
                socket: Some(socket),
                ..
            }) => TaskState::Running(Arc::clone(socket)),
            Some(_) => TaskState::Waiting,
        }
    }

    fn list(&self) -> Vec<TaskSummary> {
        let tasks = self.tasks();
        tasks.values().map(|task| task.summary.clone()).collect()
    }

    fn log(&self, task_id: &str, log: Log) -> Option<Vec<u8>> {
        let folder = self.tasks().get(task_id)?.folder.clone();
        let name = match log {
            Log::Run => "run.log",
            Log::Probes => "probes.log",
        };
        end(&folder.join(name)).ok()
    }
}

/// Returns the end of a file, as much as is shown.
fn end(path: &Path) -> io::Result<Vec<u8>> {
    let shown = agent_app_proxy::limits::LOG_BYTES as u64;
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(shown)))?;
    let mut bytes = Vec::new();
    file.take(shown).read_to_end(&mut bytes)?;
    Ok(bytes)
}
