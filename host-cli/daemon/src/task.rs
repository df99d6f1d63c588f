//! A task as the daemon knows it.

use agent_host::contract::daemon::{Found, Language, NewTask, Plans, ResolvedPackage, TaskState};
use std::cell::{Cell, RefCell};
use std::mem::Discriminant;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, Notify};
use tokio::time::timeout;

/// How often to look whether the task has ended.
const LOOK: Duration = Duration::from_secs(1);

/// A task.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) id: String,
    /// The client that opened it.
    pub(crate) client: String,
    /// What the app should do.
    pub(crate) prompt: String,
    pub(crate) language: Language,
    /// When it was opened, in milliseconds since 1970.
    pub(crate) created_ms: u64,
    /// The packages that the call which opened it may install.
    pub(crate) deps_allowlist: Option<Vec<String>>,
    /// The packages that its plans ask for.
    pub(crate) plans: RefCell<Plans>,
    /// The packages of its last start, which the next one gets again.
    pub(crate) locked: RefCell<Vec<ResolvedPackage>>,
    /// Held by what changes the files or the app: one after the other.
    pub(crate) work: Arc<Mutex<()>>,
    /// Says that the task is ended to what is at work on its start.
    pub(crate) killed: Notify,
    /// Held while the task is ended: an app that this ends has not ended by itself.
    pub(crate) ending: Arc<Mutex<()>>,
    /// Held while the task is remembered: what was written last is how it is.
    pub(crate) remembering: Mutex<()>,
    pub(crate) state: Cell<TaskState>,
    /// What the engine heard last of the app, and in which state.
    pub(crate) seen: Cell<Option<(TaskState, Discriminant<Found>)>>,
    /// The leased port, while the app runs.
    pub(crate) port: Cell<Option<u16>>,
    /// The socket of the app, while it runs.
    pub(crate) socket: RefCell<Option<Arc<Path>>>,
    /// The command line of the plan, or of the last start.
    pub(crate) started: RefCell<Option<String>>,
    /// The outcome of the last probes, such as `3 of 3 passed`.
    pub(crate) probes: RefCell<String>,
    /// Why its app failed or ended.
    pub(crate) reason: RefCell<Option<String>>,
}

impl Task {
    /// Waits until somebody ends the task.
    pub(crate) async fn is_killed(&self) {
        // It may have been ended between two waits.
        while !self.has_ended() {
            if timeout(LOOK, self.killed.notified()).await.is_ok() {
                return;
            }
        }
    }

    /// Returns whether the gateway serves the app.
    pub(crate) fn is_registered(&self) -> bool {
        let socket = self.socket.borrow();
        !socket.as_deref().is_some_and(agent_tasks::is_abstract)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.state.get() == TaskState::Ended
    }

    /// Returns a task with a plan, whose id is not known yet.
    pub(crate) fn new(client: String, new: NewTask, created_ms: u64) -> Self {
        Self {
            id: String::new(),
            client,
            prompt: new.prompt,
            language: new.language,
            created_ms,
            deps_allowlist: new.deps_allowlist,
            plans: RefCell::new(Plans {
                present: new.requirements,
                change: None,
                before: None,
            }),
            locked: RefCell::default(),
            work: Arc::default(),
            killed: Notify::new(),
            ending: Arc::default(),
            remembering: Mutex::default(),
            state: Cell::new(TaskState::Planned),
            seen: Cell::new(None),
            port: Cell::new(None),
            socket: RefCell::default(),
            started: RefCell::new(Some(new.start)),
            probes: RefCell::default(),
            reason: RefCell::default(),
        }
    }
}
