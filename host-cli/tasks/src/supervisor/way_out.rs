//! The way out of an app: the proxy of its network, with a line of `run.log` for each connection that was not made.

use super::output::{RunLog, locked};
use agent_way_out::Serving;
use std::sync::{Arc, Mutex};

/// The proxy of an app at work. Dropping it ends its connections.
pub(super) struct WayOut {
    serving: Serving,
    log: Arc<Mutex<RunLog>>,
    /// Number of the refusals that are in the log.
    logged: usize,
}

impl WayOut {
    pub(super) fn new(serving: Serving, log: Arc<Mutex<RunLog>>) -> Self {
        Self {
            serving,
            log,
            logged: 0,
        }
    }

    /// Writes why connections were refused or failed since the last time, each reason once.
    pub(super) fn log_refusals(&mut self) {
        let refusals = self.serving.refusals();
        for refusal in refusals.iter().skip(self.logged) {
            let kind = if refusal.is_denied {
                "denied"
            } else {
                "failed"
            };
            locked(&self.log).note(&format!("mcpd: egress {kind}: {}", refusal.message));
        }
        self.logged = refusals.len();
    }
}
