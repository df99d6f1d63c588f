//! The host of a session: a gateway whose servers answer as the page's user says.

use super::json;
use agent_api::answer::Diagnostic;
use agent_api::lower::definition;
use agent_api::model::Index;
use agent_session::health::Observation;
use agent_session::{
    CallAction, Called, Client, Clock, Delivered as Delivery, Documents, EFFECT_KEY, Failure,
    Generation, Options, Record, Session,
};
use agent_worker_protocol::session::{
    Arguments, Caller, Decided, Delivered, EVENTS_MAX, Event, Expansion, Past, Refusal,
};
use std::collections::BTreeSet;

/// 2026-01-05T09:00:00Z, a Monday.
const START_MS: u64 = 1_767_603_600_000;

/// Time between two events, in milliseconds.
const STEP_MS: u64 = 1_000;

/// Longest time of [`Event::Wait`], in milliseconds: a day.
const WAIT_MAX_MS: u64 = 86_400_000;

/// The seed of ids. Only the page's user sees them.
const SEED: [u8; 32] = [7; 32];

/// Who answers a question to a human.
const HUMAN: &str = "playground";

/// A call that waits for a server.
pub(super) struct Forwarded {
    pub(super) call: u64,
    /// The parameters of the client.
    pub(super) params: String,
    pub(super) tool: String,
    pub(super) server: String,
}

/// A call that waits for a human.
pub(super) struct Waiting {
    pub(super) call: u64,
    pub(super) params: String,
    pub(super) approval: String,
    pub(super) text: String,
    pub(super) expires_ms: u64,
}

pub(super) struct Host {
    pub(super) session: Session,
    pub(super) client: Client,
    pub(super) records: Vec<Record>,
    pub(super) past: Vec<Past>,
    pub(super) forwarded: Vec<Forwarded>,
    pub(super) waiting: Vec<Waiting>,
    pub(super) exited: BTreeSet<String>,
    pub(super) elapsed_ms: u64,
}

fn options(caller: &Caller) -> Options {
    Options {
        seed: SEED.to_vec(),
        expansion: match caller.expansion {
            Expansion::Stub => agent_session::Expansion::Stub,
            Expansion::List => agent_session::Expansion::List,
            Expansion::None => agent_session::Expansion::None,
        },
        budget: caller.budget,
        // Otherwise a policy on arguments could not decide the log again.
        audit_arguments: true,
        ..Options::default()
    }
}

fn clock(elapsed_ms: u64) -> Clock {
    Clock {
        unix_ms: START_MS.saturating_add(elapsed_ms),
        monotonic_ms: elapsed_ms,
        utc_offset_minutes: 0,
    }
}

/// Returns the name of parameters of `tools/call`; empty if they have no name.
fn tool_of(params: &[u8]) -> String {
    let root: serde_json::Value = serde_json::from_slice(params).unwrap_or_default();
    json::text(&root["name"])
}

/// Returns what a server lists: its tools as the index has them.
fn live_list(index: Option<&Index>, id: &str, version: &str) -> String {
    let server = index.and_then(|index| index.find(id, version));
    let tools = server.into_iter().flat_map(|server| server.tools());
    let tools: Vec<_> = tools.map(definition).collect();
    format!(r#"{{"tools":[{}]}}"#, tools.join(","))
}

impl Host {
    /// Opens a session with its servers not yet started.
    pub(super) fn open(documents: Documents, caller: &Caller) -> Result<Self, Vec<Diagnostic>> {
        let (session, records) = Session::open(documents, options(caller), clock(0))?;
        let properties = caller.properties.trim();
        Ok(Self {
            session,
            records,
            client: Client {
                id: caller.id.clone(),
                kind: caller.kind.clone(),
                properties: (!properties.is_empty()).then(|| properties.as_bytes().to_vec()),
                generation: match caller.is_stateless {
                    true => Generation::Stateless,
                    false => Generation::Sessions,
                },
                session: (!caller.is_stateless).then(|| "session-1".to_owned()),
                capabilities: None,
            },
            past: Vec::new(),
            forwarded: Vec::new(),
            waiting: Vec::new(),
            exited: BTreeSet::new(),
            elapsed_ms: 0,
        })
    }

    pub(super) fn now(&self) -> Clock {
        clock(self.elapsed_ms)
    }

    /// Starts the servers, and goes through the events.
    pub(super) fn replay(&mut self, events: &[Event], index: Option<&Index>) {
        for server in self.session.servers() {
            self.start(&server.name, index);
        }
        let now = self.now();
        let listed = self.session.list(&self.client, now);
        self.records.extend(listed.records);
        for event in events.iter().take(EVENTS_MAX) {
            self.elapsed_ms += STEP_MS;
            let past = self.take(event, index);
            self.past.push(past);
        }
        self.elapsed_ms += STEP_MS;
    }

    fn start(&mut self, name: &str, index: Option<&Index>) {
        let servers = self.session.servers();
        let Some(server) = servers.iter().find(|server| server.name == name) else {
            return;
        };
        self.exited.remove(name);
        let now = self.now();
        let list = live_list(index, &server.id, &server.version);
        for observation in [
            Observation::Started,
            Observation::Answered { latency_ms: 20 },
        ] {
            let transition = self.session.observe(name, observation, now);
            self.records.extend(transition.records);
        }
        let observed = self.session.tools(name, list.as_bytes(), now);
        self.records.extend(observed.records);
    }

    fn take(&mut self, event: &Event, index: Option<&Index>) -> Past {
        match event {
            Event::Call(params) => {
                let (call, decided) = self.call(params);
                Past::Called {
                    call,
                    tool: tool_of(params.as_bytes()),
                    // The view has the schemas.
                    arguments: Arguments::default(),
                    decided,
                }
            }
            Event::Answer { call, result } => Past::Answered {
                call: *call,
                delivered: self.answer(*call, result),
            },
            Event::Decide { approval, yes } => self.approve(approval, *yes),
            Event::Wait(ms) => {
                self.elapsed_ms += (*ms).min(WAIT_MAX_MS);
                Past::Waited(*ms, self.expire())
            }
            Event::Exit(server) => {
                let now = self.now();
                let transition = self.session.observe(server, Observation::Exited, now);
                self.records.extend(transition.records);
                if self.session.servers().iter().any(|it| it.name == *server) {
                    self.exited.insert(server.clone());
                }
                Past::Exited(server.clone())
            }
            Event::Start(server) => {
                self.start(server, index);
                Past::Started(server.clone())
            }
        }
    }

    /// Makes a call, and keeps it if it is open.
    fn call(&mut self, params: &str) -> (u64, Decided) {
        let now = self.now();
        let called = self.session.call(&self.client, params.as_bytes(), now);
        self.keep(params, called)
    }

    /// Keeps a decided call if it is open.
    fn keep(&mut self, params: &str, called: Called) -> (u64, Decided) {
        self.records.extend(called.records.iter().cloned());
        match &called.action {
            CallAction::Forward(to) => self.forwarded.push(Forwarded {
                call: called.id,
                params: params.to_owned(),
                tool: to.tool.clone(),
                server: to.server.clone(),
            }),
            CallAction::AskApproval {
                approval,
                text,
                expires_unix_ms,
                answer: None,
                ..
            } => self.waiting.push(Waiting {
                call: called.id,
                params: params.to_owned(),
                approval: approval.clone(),
                text: text.clone(),
                expires_ms: expires_unix_ms.saturating_sub(START_MS),
            }),
            _ => {}
        }
        (called.id, self.decided(called))
    }

    /// Decides on a call that is not made. The session can't be used afterwards.
    pub(super) fn decide(&mut self, params: &str) -> Decided {
        let now = self.now();
        let called = self.session.call(&self.client, params.as_bytes(), now);
        self.decided(called)
    }

    fn decided(&self, called: Called) -> Decided {
        match called.action {
            CallAction::Forward(to) => Decided::Forward {
                params: to.params(),
                server: to.server,
                timeout_ms: to.timeout_ms,
            },
            CallAction::ForwardRequest(to) => Decided::Forward {
                params: String::from_utf8_lossy(&to.params).into_owned(),
                server: to.server,
                timeout_ms: to.timeout_ms,
            },
            CallAction::Answer(bytes) => match json::result(&bytes) {
                (_, Some(refusal)) => Decided::Refuse(refusal),
                (texts, None) => Decided::Answer {
                    texts,
                    result: String::from_utf8_lossy(&bytes).into_owned(),
                },
            },
            CallAction::AskApproval {
                approval,
                text,
                expires_unix_ms,
                ..
            } => Decided::Ask {
                approval,
                text,
                wait_ms: expires_unix_ms.saturating_sub(self.now().unix_ms),
            },
            CallAction::Error {
                code,
                message,
                data,
            } => {
                let data = data.unwrap_or_default();
                let data: serde_json::Value = serde_json::from_slice(&data).unwrap_or_default();
                Decided::Error {
                    code,
                    message,
                    instead: json::texts(&data["instead"]),
                }
            }
        }
    }

    fn answer(&mut self, call: u64, result: &str) -> Delivered {
        let place = self.forwarded.iter().position(|it| it.call == call);
        let answered = place.map(|place| self.forwarded.remove(place));
        let now = self.now();
        let (delivered, records) = match self.session.result(call, result.as_bytes(), now) {
            Delivery::AsReceived(records) => (Delivered::AsReceived, records),
            Delivery::Changed(changed, records) => {
                let changed = String::from_utf8_lossy(&changed).into_owned();
                let delivered = match is_marked_only(result, &changed) {
                    true => Delivered::AsReceived,
                    false => Delivered::Changed {
                        result: changed,
                        redacted: redacted(&records),
                    },
                };
                (delivered, records)
            }
            Delivery::Refused(refused, records) => (Delivered::Refused(refusal(&refused)), records),
            Delivery::Repeat(state, records) => {
                self.records.extend(records);
                let params = answered.map(|it| it.params).unwrap_or_default();
                let called = (self.session).repeat(&self.client, params.as_bytes(), &state, now);
                let (call, decided) = self.keep(&params, called);
                return Delivered::Repeated { call, decided };
            }
            // Calls do not end so, but requests for resources and prompts, which the page does not make.
            Delivery::Error { records, .. } | Delivery::Nothing(records) => {
                (Delivered::Nothing, records)
            }
        };
        self.records.extend(records);
        delivered
    }

    /// Takes the answer of a human, and makes the calls that waited for it.
    fn approve(&mut self, approval: &str, yes: bool) -> Past {
        let now = self.now();
        let approved = self.session.approve(approval, yes, HUMAN, now);
        self.records.extend(approved.records);
        let (freed, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|it| approved.waiting.contains(&it.call));
        self.waiting = waiting;
        let again = freed.iter().map(|it| self.call(&it.params)).collect();
        Past::Decided {
            yes,
            is_known: approved.is_known,
            again,
        }
    }

    /// Ends the calls that no human approved in time, and returns their numbers.
    fn expire(&mut self) -> Vec<u64> {
        let now = self.now();
        let elapsed_ms = self.elapsed_ms;
        let (expired, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|it| it.expires_ms <= elapsed_ms);
        self.waiting = waiting;
        for it in &expired {
            let delivery = self.session.failed(it.call, &Failure::TimedOut, now);
            self.records.extend(match delivery {
                Delivery::AsReceived(records)
                | Delivery::Changed(_, records)
                | Delivery::Refused(_, records)
                | Delivery::Repeat(_, records)
                | Delivery::Error { records, .. }
                | Delivery::Nothing(records) => records,
            });
        }
        expired.iter().map(|it| it.call).collect()
    }
}

/// Returns what a policy redacted in the result whose effect was recorded.
fn redacted(records: &[Record]) -> Vec<String> {
    let contents = records.iter().map(|it| {
        let root: serde_json::Value = serde_json::from_str(&it.line).unwrap_or_default();
        json::texts(&root["content"]["redacted"])
    });
    contents.flatten().collect()
}

fn refusal(result: &[u8]) -> Refusal {
    let (texts, refusal) = json::result(result);
    refusal.unwrap_or(Refusal {
        texts,
        result: String::from_utf8_lossy(result).into_owned(),
        ..Refusal::default()
    })
}

/// Returns whether a result differs from the received one by the mark of its effect alone.
fn is_marked_only(received: &str, changed: &str) -> bool {
    ["done", "unknown"].iter().any(|effect| {
        let mark = format!("\"{EFFECT_KEY}\":\"{effect}\"");
        let forms = [format!("\"_meta\":{{{mark}}},"), format!("{mark},"), mark];
        let mut forms = forms.iter();
        forms.any(|form| changed.replacen(form, "", 1) == received)
    })
}
