//! The verbs as tools of the Model Context Protocol.

use super::daemon::Daemon;
use super::decider::Decider;
use super::refusal::Answered;
use super::tools::tools;
use agent_host::contract::daemon::{Addressed, VersionedVerb};
use agent_host::{Failure, call};
use agent_mcp_protocol::message::RpcError;
use agent_mcp_protocol::{Generation, Id, Json, MirroredHeaders};
use agent_mcp_server::{Announcements, Answer, Client, ClientList, Service};
use agent_syntax::json_string;
use agent_telemetry::TraceContext;
use std::rc::Rc;

/// JSON-RPC: the parameters are invalid.
const INVALID_PARAMS: i64 = -32602;

/// The end of results since 2026-07-28.
const COMPLETE: &str = r#","resultType":"complete""#;

/// Who performs the verbs that clients call: a daemon, here or in another process.
pub(crate) trait Performer: 'static {
    fn decider(&self) -> &Decider;

    fn lists(&self) -> &Announcements;

    /// Performs a verb. Returns its envelope, and whether it failed.
    async fn performed(
        &self,
        client: &Client,
        verb: VersionedVerb,
        addressed: Addressed,
        parent: Option<TraceContext>,
    ) -> (String, bool);

    /// Returns the counters of the daemon, if it has them here.
    fn metrics(&self, sessions: usize) -> Result<String, Failure>;
}

/// The verbs as tools.
pub(crate) struct Tools<P>(pub(crate) P);

impl<P: Performer> Service for Tools<P> {
    type Trace = ();

    const NAME: &'static str = "assertlang-mcpd";

    fn passes(&self, list: ClientList) -> bool {
        list == ClientList::Tools
    }

    fn lists(&self) -> &Announcements {
        self.0.lists()
    }

    fn mirrored_headers(&self, _: &Client) -> Rc<MirroredHeaders> {
        // No argument of a tool is repeated in a header.
        Rc::default()
    }

    fn begin(&self, _: &Id, _: &str, _: Option<&Json>, _: &Client) {}

    async fn tools(&self, client: &Client) -> Answer {
        tool_list(self.0.decider(), client)
    }

    async fn call(
        &self,
        client: &Client,
        params: &Json,
        (): &(),
        _: impl FnMut(Json),
        _: impl AsyncFn(&[u8]) -> Option<Json>,
    ) -> Answer {
        let params = params.bytes();
        let (verb, addressed) = match called(self.0.decider(), params) {
            Ok(called) => called,
            Err(answer) => return answer,
        };
        let (envelope, is_error) = match addressed {
            Ok(addressed) => {
                let parent = parent(params);
                self.0.performed(client, verb, addressed, parent).await
            }
            Err(refusal) => (self.0.decider().failed(&refusal), true),
        };
        result(&envelope, is_error, client.generation)
    }

    async fn other(&self, _: &Client, _: &str, _: &Json) -> Option<Answer> {
        None
    }

    fn metrics(&self, sessions: usize) -> Result<String, Failure> {
        self.0.metrics(sessions)
    }
}

impl Performer for Rc<Daemon> {
    fn decider(&self) -> &Decider {
        &self.decider
    }

    fn lists(&self) -> &Announcements {
        &self.lists
    }

    async fn performed(
        &self,
        client: &Client,
        verb: VersionedVerb,
        addressed: Addressed,
        parent: Option<TraceContext>,
    ) -> (String, bool) {
        let answered = self.perform(&client.id, verb, addressed, parent).await;
        match answered {
            Ok(response) => (response, false),
            Err(refusal) => (self.decider.failed(&refusal), true),
        }
    }

    fn metrics(&self, sessions: usize) -> Result<String, Failure> {
        let tasks = self.tasks.borrow();
        let states = tasks.values().map(|task| task.state.get());
        Ok(self.counts.text(sessions, states, self.spans.as_ref()))
    }
}

/// Returns the list of tools.
fn tool_list(decider: &Decider, client: &Client) -> Answer {
    match decider.ask(tools) {
        Ok(tools) => {
            let end = match client.generation {
                Generation::Stateless => {
                    format!(r#"{COMPLETE},"ttlMs":0,"cacheScope":"private""#)
                }
                Generation::Sessions => String::new(),
            };
            Answer::own(format!(r#"{{"tools":{tools}{end}}}"#).into())
        }
        Err(refusal) => Answer::failed(Failure::new(refusal.message)),
    }
}

/// Returns the span that the parameters of a call name.
fn parent(params: &[u8]) -> Option<TraceContext> {
    let meta = Json::new(params.to_vec()).ok()?.member("_meta");
    let parent = meta?.member("traceparent");
    TraceContext::parse(&parent?.string()?)
}

/// Reads the parameters of a call: the verb, and its input with the task that the arguments name, or why they can't be
/// read. The error is the answer to a call of no tool: JSON-RPC has its own for that.
fn called(
    decider: &Decider,
    params: &[u8],
) -> Result<(VersionedVerb, Answered<Addressed>), Answer> {
    let read = Json::new(params.to_vec());
    let read = read.ok().and_then(|it| it.members(["name", "arguments"]));
    let name = |name: &Option<Json>| name.as_ref().and_then(Json::string);
    let Some((name, arguments)) = read.and_then(|[it, arguments]| Some((name(&it)?, arguments)))
    else {
        return Err(invalid(
            "`name` of the parameters is not a string".to_owned(),
        ));
    };
    let arguments = arguments.map_or_else(|| b"{}".to_vec(), |it| it.bytes().to_vec());
    let called = decider.decide(|engine| {
        let verb = match call!(engine, daemon.verb_named(&name))? {
            Ok(verb) => verb,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let addressed = call!(engine, daemon.addressed_by_argument(&arguments))?;
        Ok(Ok((verb, addressed)))
    });
    called.map_err(|refusal| invalid(refusal.message))
}

fn invalid(message: String) -> Answer {
    Answer::Error(RpcError {
        code: INVALID_PARAMS,
        message,
        data: None,
    })
}

/// Returns the result of a tool: the envelope, as structured content and as text.
fn result(envelope: &str, is_error: bool, generation: Generation) -> Answer {
    let envelope = envelope.trim_end();
    let text = json_string(envelope);
    let end = match generation {
        Generation::Stateless => COMPLETE,
        Generation::Sessions => "",
    };
    let result = format!(
        r#"{{"content":[{{"text":{text},"type":"text"}}],"isError":{is_error},"structuredContent":{envelope}{end}}}"#
    );
    Answer::own(result.into())
}
