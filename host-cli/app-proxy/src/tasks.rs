//! What a gateway asks about tasks. It decides nothing about them.

use std::path::Path;
use std::sync::Arc;

/// The tasks of a daemon.
///
/// The gateway calls `state` once for each request, in the thread that serves all requests: it must return at once.
/// The other functions may wait for files; they run in threads of their own.
pub trait Tasks: Send + Sync + 'static {
    /// Returns the state of a task.
    fn state(&self, task_id: &str) -> TaskState;

    /// Returns the tasks in the order in which the index page lists them.
    fn list(&self) -> Vec<TaskSummary>;

    /// Returns the end of a log of a task. At most [`LOG_BYTES`](crate::limits::LOG_BYTES) are shown.
    fn log(&self, task_id: &str, log: Log) -> Option<Vec<u8>>;
}

/// The state of a task, as far as requests need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskState {
    /// No task has this id: 404.
    Unknown,
    /// The task exists and its app was not started yet: 502.
    Waiting,
    /// The app listens on this Unix socket.
    Running(Arc<Path>),
    /// The app listens on this Unix socket, and is reached at its leased port alone: 404.
    Leased(Arc<Path>),
    /// The task has ended: 410.
    Ended,
}

/// A log of a task \[2, 9\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    /// `run.log`
    Run,
    /// `probes.log`
    Probes,
}

/// A task on the index page. Every text may come from a prompt or an app: the page escapes them.
#[derive(Debug, Clone, Default)]
pub struct TaskSummary {
    /// The id of the task.
    pub task_id: String,
    /// What the task is, such as its prompt.
    pub title: String,
    /// The language of the app, or nothing.
    pub lang: String,
    /// A word or two, such as `running` or `ended`.
    pub status: String,
    /// Whether the app can be opened.
    pub is_running: bool,
    /// The outcome of the probes, such as `3 of 3 passed`, or nothing.
    pub probes: String,
}
