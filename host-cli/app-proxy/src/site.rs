//! What connections share.

use crate::limits::Limits;
use crate::pool::Pools;
use crate::tasks::Tasks;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) tasks: Arc<dyn Tasks>,
    pub(crate) limits: Limits,
    pub(crate) pools: Pools,
    /// A permit for each open connection.
    pub(crate) connections: Arc<Semaphore>,
}

impl Shared {
    /// Returns the time for which a client may be idle now.
    pub(crate) fn idle_time(&self) -> Duration {
        let is_pressed = self.connections.available_permits() < self.limits.connections / 8;
        match is_pressed {
            true => self.limits.pressed_idle_time,
            false => self.limits.idle_time,
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// What the connections to one listener share.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) shared: Arc<Shared>,
    /// The task that a leased port serves. The gateway's own port serves all.
    pub(crate) task: Option<Box<str>>,
    /// The names of the listener.
    hosts: [String; 3],
}

impl Site {
    pub(crate) fn new(shared: Arc<Shared>, port: u16, task: Option<&str>) -> Self {
        Self {
            shared,
            task: task.map(Box::from),
            hosts: ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")),
        }
    }

    /// Returns whether a request was made to this listener by its own name. A name that another site lets point to
    /// loopback is not one: its pages would read what the apps answer.
    pub(crate) fn has_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }
}
