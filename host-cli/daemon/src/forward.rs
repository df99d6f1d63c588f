//! A client over standard streams whose folder another daemon serves: its calls are passed on to that one.

use super::client::Client;
use super::decider::Decider;
use super::refusal::refused;
use super::running::Place;
use super::service::{Performer, Tools};
use agent_host::contract::daemon::{Addressed, ErrorCode, VersionedVerb};
use agent_host::{Engine, Failure, Signals};
use agent_mcp_server::{Announcements, Client as McpClient, serve_stdio};
use agent_syntax::json::parse_strict;
use agent_syntax::json_string;
use agent_syntax::members::{boolean, member};
use agent_telemetry::TraceContext;
use std::rc::Rc;
use tokio::select;
use tokio::task::LocalSet;

/// The name of the client at the daemon.
const CLIENT: &str = "stdio";

/// Serves a client over standard input and output with the verbs of a running daemon, until its input ends, or the user
/// or the system ends the program.
///
/// # Errors
///
/// When the standard streams can't be used.
pub async fn forward(engine: Engine, place: Place, mut signals: Signals) -> Result<(), Failure> {
    let service = Rc::new(Tools(Forward {
        decider: Decider::new(engine),
        daemon: Client::new(place).named(CLIENT),
        lists: Announcements::default(),
    }));
    let tasks = LocalSet::new();
    let served = tasks.run_until(async {
        select! {
            served = serve_stdio(service) => served,
            () = signals.cancelled() => Ok(()),
        }
    });
    served.await
}

/// The verbs of a daemon that is another process.
struct Forward {
    decider: Decider,
    daemon: Client,
    lists: Announcements,
}

impl Forward {
    /// Returns the response of a verb, and whether it failed.
    async fn perform(&self, verb: &VersionedVerb, addressed: &Addressed) -> (String, bool) {
        let task = addressed.task_id.as_deref();
        let task = task.map_or_else(String::new, |id| {
            format!(r#""task_id":{},"#, json_string(id))
        });
        let body = format!(r#"{{{task}"input":{}}}"#, addressed.input);
        let path = format!("/verbs/{}@v{}", verb.name, verb.version);
        match self.daemon.post(&path, body).await {
            Ok(envelope) => {
                let is_ok = parse_strict(&envelope).and_then(|it| boolean(member(&it, "ok")?));
                (envelope, is_ok != Some(true))
            }
            Err(failure) => {
                let hint = "start the client again: it then gets a daemon of its own";
                let refusal = refused(ErrorCode::Network, failure.message, hint);
                (self.decider.failed(&refusal), true)
            }
        }
    }
}

impl Performer for Forward {
    fn decider(&self) -> &Decider {
        &self.decider
    }

    fn lists(&self) -> &Announcements {
        &self.lists
    }

    async fn performed(
        &self,
        _: &McpClient,
        verb: VersionedVerb,
        addressed: Addressed,
        _: Option<TraceContext>,
    ) -> (String, bool) {
        self.perform(&verb, &addressed).await
    }

    fn metrics(&self, _: usize) -> Result<String, Failure> {
        // Standard streams have no request for metrics.
        Ok(String::new())
    }
}
