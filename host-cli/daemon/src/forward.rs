//! A client over standard streams whose folder another daemon serves: its calls are passed on to that one.

use super::client::Client;
use super::daemon::Daemon;
use super::decider::Decider;
use super::refusal::refused;
use super::running::Place;
use super::service::{Verbs, called, no_headers, result, tool_list};
use agent_effects::Signals;
use agent_host::contract::daemon::{Addressed, ErrorCode, Failure as Refusal, VersionedVerb};
use agent_host::{Engine, Failure, call};
use agent_mcp::{Id, Json, MirroredHeaders};
use agent_serving::{Announcements, Answer, Client as McpClient, ClientList, Service, serve_stdio};
use agent_syntax::json::parse_strict;
use agent_syntax::json_string;
use agent_syntax::members::{boolean, member};
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
    let service = Rc::new(Forward {
        decider: Decider::new(engine),
        daemon: Client::new(place).named(CLIENT),
        lists: Announcements::default(),
    });
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
    async fn perform(
        &self,
        verb: &VersionedVerb,
        name: &str,
        addressed: &Addressed,
    ) -> (String, bool) {
        let task = addressed.task_id.as_deref();
        let task = task.map_or_else(String::new, |id| {
            format!(r#""task_id":{},"#, json_string(id))
        });
        let body = format!(r#"{{{task}"input":{}}}"#, addressed.input);
        let path = format!("/verbs/{name}@v{}", verb.version);
        match self.daemon.post(&path, body).await {
            Ok(envelope) => {
                let is_ok = parse_strict(&envelope).and_then(|it| boolean(member(&it, "ok")?));
                (envelope, is_ok != Some(true))
            }
            Err(failure) => {
                let hint = "start the client again: it then gets a daemon of its own";
                (
                    self.failed(&refused(ErrorCode::Network, failure.message, hint)),
                    true,
                )
            }
        }
    }

    fn failed(&self, refusal: &Refusal) -> String {
        let made = self
            .decider
            .ask(|engine| call!(engine, daemon.call_failed(refusal)));
        made.unwrap_or_else(|_| Daemon::BROKEN.to_owned())
    }
}

impl Service for Forward {
    type Trace = ();

    const NAME: &'static str = Verbs::NAME;

    fn passes(&self, list: ClientList) -> bool {
        list == ClientList::Tools
    }

    fn lists(&self) -> &Announcements {
        &self.lists
    }

    fn mirrored_headers(&self, _: &McpClient) -> Rc<MirroredHeaders> {
        no_headers()
    }

    fn begin(&self, _: &Id, _: &str, _: Option<&Json>, _: &McpClient) {}

    async fn tools(&self, client: &McpClient) -> Answer {
        tool_list(&self.decider, client)
    }

    async fn call(
        &self,
        client: &McpClient,
        params: &[u8],
        (): &(),
        _: impl FnMut(Json),
        _: impl AsyncFn(&[u8]) -> Option<Json>,
    ) -> Answer {
        let (verb, addressed) = match called(&self.decider, params) {
            Ok(called) => called,
            Err(answer) => return answer,
        };
        let (envelope, is_error) = match addressed {
            Ok(addressed) => {
                let name = super::tools::name(verb.verb);
                self.perform(&verb, name, &addressed).await
            }
            Err(refusal) => (self.failed(&refusal), true),
        };
        result(&envelope, is_error, client.generation)
    }

    async fn other(&self, _: &McpClient, _: &str, _: &[u8]) -> Option<Answer> {
        None
    }

    fn metrics(&self, _: usize) -> Result<String, Failure> {
        // Nobody asks over standard streams.
        Ok(String::new())
    }
}
