//! The exported state: what outlives a message, without payloads.
//!
//! Servers, clients and sessions stand in it by keys of fixed size, tools by their number in the lock. What
//! names tools is taken only by a session with the same lock.

use super::approval::{Approval, AskedResult};
use super::basis::Basis;
use super::calls::OpenCall;
use super::client::{Generation, Key};
use super::continuation::Outstanding;
use super::entries::Lists;
use super::health::ServerHealth;
use super::history::History;
use super::limits::STATE_MAX_BYTES;
use super::live::{Deviation, Live};
use super::method::Method;
use super::offered::Offered;
use super::quota::Quotas;
use super::session::{Session, State};
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::model::{HealthStatus, Keyword};
use agent_api::text::sort::map_of;
use agent_record::Clock;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{boolean, items, member, number, string};
use agent_syntax::{Node, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The format of states.
const VERSION: u64 = 2;

impl State {
    /// Returns the state of a session that begins.
    pub(crate) fn new(basis: &Basis, now: Clock) -> Self {
        let count = basis.servers.len();
        Self {
            lives: vec![Live::default(); count],
            lists: vec![Lists::default(); count],
            health: vec![ServerHealth::new(now.unix_ms); count],
            vetoes: vec![true; count],
            ..Self::default()
        }
    }

    /// Returns a state in which every server is healthy and has listed its tools.
    pub(crate) fn ready(basis: &Basis, now: Clock) -> Self {
        let mut state = Self::new(basis, now);
        for live in &mut state.lives {
            live.is_listed = true;
        }
        for health in &mut state.health {
            *health = ServerHealth {
                status: HealthStatus::Healthy,
                ..*health
            };
        }
        state
    }

    /// Reads an exported state.
    ///
    /// # Errors
    /// No session exported it.
    fn import(bytes: &[u8], basis: &Arc<Basis>, now: Clock) -> Result<Self, Vec<Diagnostic>> {
        let refused = |message: String| vec![Diagnostic::new(Code::WrongDocument, message)];
        if bytes.len() > STATE_MAX_BYTES {
            let size = bytes.len();
            return Err(refused(format!(
                "the state has {size} bytes; the limit is {STATE_MAX_BYTES}"
            )));
        }
        let text = core::str::from_utf8(bytes).ok();
        let root = text.and_then(parse_strict);
        let state = root.and_then(|root| read(&root, basis, now));
        state.ok_or_else(|| refused("the state is not one that a session exported".to_owned()))
    }
}

/// A state that a session exported. The page of sessions makes none, and has no code that reads one.
#[derive(Debug, Clone)]
pub struct ExportedState {
    bytes: Vec<u8>,
    read: Import,
}

type Import = fn(&[u8], &Arc<Basis>, Clock) -> Result<State, Vec<Diagnostic>>;

impl From<Vec<u8>> for ExportedState {
    fn from(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            read: State::import,
        }
    }
}

impl ExportedState {
    /// Reads the state.
    ///
    /// # Errors
    /// No session exported it.
    pub(crate) fn import(&self, basis: &Arc<Basis>, now: Clock) -> Result<State, Vec<Diagnostic>> {
        (self.read)(&self.bytes, basis, now)
    }
}

impl Session {
    /// Returns what outlives a message: health, quotas, quarantine, approvals, open calls, and the end of
    /// the chain of records. It holds no payload, and has at most [`STATE_MAX_BYTES`].
    pub fn export(&self) -> Vec<u8> {
        let (state, basis) = (&self.state, &self.basis);
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("approvals").array(|w| {
                for approval in &state.approvals.pending {
                    w.object(|w| write_approval(w, approval));
                }
            });
            if !state.approvals.results.is_empty() {
                w.key("asked_results").array(|w| {
                    for asked in &state.approvals.results {
                        let AskedResult {
                            client,
                            tool,
                            arguments,
                        } = asked;
                        w.strings([client, tool, arguments].map(Key::as_str));
                    }
                });
            }
            w.key("calls").array(|w| {
                let calls = state.calls.open.values();
                calls.for_each(|call| w.json(&call.exported));
            });
            w.key("chain").object(|w| {
                w.key("head").optional(state.chain.head.as_deref());
                count(w, "sequence", state.chain.sequence);
            });
            w.key("continuations").array(|w| {
                for (number, outstanding) in &state.continuations.outstanding {
                    w.object(|w| {
                        count(w, "expires", outstanding.expires_ms);
                        count(w, "number", *number);
                        w.key("of").string(outstanding.client.as_str());
                    });
                }
            });
            w.key("expanded").array(|w| {
                for (session, tools) in &state.expanded.sessions {
                    w.object(|w| {
                        w.key("session").string(session.as_str());
                        w.key("tools").array(|w| {
                            tools.iter().for_each(|tool| w.json(&tool.to_string()));
                        });
                    });
                }
            });
            if basis.remembered.is_some() {
                state.history.write(w.key("history"));
            }
            count(w, "last_call", state.calls.last);
            count(w, "last_continuation", state.continuations.last);
            w.key("lock").optional(basis.digests.lock.as_deref());
            count(w, "minted", state.approvals.minted);
            state.quotas.write(w.key("quotas"));
            w.key("servers").array(|w| {
                for (number, server) in basis.servers.iter().enumerate() {
                    w.object(|w| {
                        write_health(w, &state.health[number]);
                        w.key("live")
                            .object(|w| write_live(w, &state.lives[number]));
                        w.key("server").string(server.key.as_str());
                        w.key("vetoed").bool(state.vetoes[number]);
                    });
                }
            });
            count(w, "version", VERSION);
        });
        let mut text = w.finish();
        text.pop();
        text.into_bytes()
    }
}

fn count(w: &mut Writer, key: &str, value: u64) {
    w.key(key).json(&value.to_string());
}

fn write_approval(w: &mut Writer, approval: &Approval) {
    w.key("answer");
    match approval.answer {
        Some(answer) => w.bool(answer),
        None => w.null(),
    }
    w.key("arguments").string(&approval.arguments);
    w.key("client").string(approval.client.as_str());
    count(w, "expires", approval.expires_ms);
    w.key("id").string(&approval.id);
    count(w, "tool", approval.tool as u64);
}

/// Returns an open call as an exported state has it.
pub(crate) fn call_text(id: u64, call: &OpenCall) -> String {
    let mut w = Writer::dense();
    w.object(|w| write_call(w, id, call));
    let mut text = w.finish();
    text.pop();
    text
}

fn write_call(w: &mut Writer, id: u64, call: &OpenCall) {
    w.key("approval").optional(call.approval.as_deref());
    if let Some(approval) = &call.approved {
        w.key("approved").string(approval);
    }
    w.key("arguments").string(call.arguments.as_str());
    w.key("client").string(call.client.as_str());
    count(w, "id", id);
    w.key("lock").optional(call.basis.digests.lock.as_deref());
    w.key("observed")
        .strings(call.observed.iter().map(|code| code.name()));
    if call.repetition > 0 {
        count(w, "repetition", call.repetition.into());
    }
    count(w, "server", call.server as u64);
    w.key("stateless")
        .bool(call.generation == Generation::Stateless);
    w.key("tool");
    match (call.tool, call.method) {
        (Some(tool), _) => w.json(&tool.to_string()),
        (None, method) => w.optional(method.map(Method::name)),
    }
}

fn write_health(w: &mut Writer, health: &ServerHealth) {
    w.key("health").object(|w| {
        count(w, "answers", health.answers.into());
        count(w, "errors", health.errors.into());
        w.key("has_failed").bool(health.has_failed);
        count(w, "relapses", health.relapses.into());
        count(w, "since", health.since_ms);
        w.key("status").string(health.name());
    });
}

fn write_live(w: &mut Writer, live: &Live) {
    w.key("deviations").array(|w| {
        for (tool, deviation) in &live.deviations {
            w.object(|w| {
                write_deviation(w.key("deviation"), deviation);
                count(w, "tool", *tool as u64);
            });
        }
    });
    w.key("is_listed").bool(live.is_listed);
    w.key("offered").array(|w| {
        for (name, offered) in &live.offered {
            w.object(|w| {
                match &offered.deviation {
                    Some(deviation) => write_deviation(w.key("deviation"), deviation),
                    None => w.key("deviation").null(),
                }
                w.key("first").string(&offered.first);
                w.key("name").string(name);
            });
        }
    });
    w.key("unlocked")
        .strings(live.unlocked.iter().map(|it| &**it));
    match &live.whole {
        Some(deviation) => write_deviation(w.key("whole"), deviation),
        None => w.key("whole").null(),
    }
}

fn write_deviation(w: &mut Writer, deviation: &Deviation) {
    w.object(|w| {
        w.key("kind").string(deviation.name());
        if let Deviation::Changed { present, widens } = deviation {
            w.key("present").string(present);
            w.key("widens").bool(*widens);
        }
    });
}

fn read(root: &Node<'_>, basis: &Arc<Basis>, now: Clock) -> Option<State> {
    if number(member(root, "version")?)? != VERSION {
        return None;
    }
    let mut state = State::new(basis, now);
    let chain = member(root, "chain")?;
    state.chain.head = optional(member(chain, "head")?, |it| Some(string(it)?.to_owned()))?;
    state.chain.sequence = number(member(chain, "sequence")?)?;
    state.calls.last = number(member(root, "last_call")?)?;
    state.approvals.minted = number(member(root, "minted")?)?;
    state.continuations.last = number(member(root, "last_continuation")?)?;
    if let Some(known) = &basis.remembered {
        state.history = match member(root, "history") {
            Some(node) => History::read(node, known)?,
            // The session that exported it kept none.
            None => History::since(state.chain.head.clone()),
        };
    }
    for asked in member(root, "asked_results")
        .and_then(items)
        .into_iter()
        .flatten()
    {
        let [client, tool, arguments] = items(asked)? else {
            return None;
        };
        let key = |node| Key::read(string(node)?);
        state.approvals.results.push_back(AskedResult {
            client: key(client)?,
            tool: key(tool)?,
            arguments: key(arguments)?,
        });
    }
    state.quotas = Quotas::read(member(root, "quotas")?)?;
    let lock = optional(member(root, "lock")?, |it| Some(string(it)?.to_owned()))?;
    let is_same = lock == basis.digests.lock;
    let servers = map_of(basis.servers.iter().map(|it| &it.key).zip(0..));
    for node in items(member(root, "servers")?)? {
        let health = read_health(member(node, "health")?)?;
        let live = read_live(member(node, "live")?, basis)?;
        let key = Key::read(string(member(node, "server")?)?)?;
        let is_vetoed = boolean(member(node, "vetoed")?)?;
        let Some(number) = servers.get(&key).copied() else {
            continue;
        };
        state.health[number] = health;
        state.vetoes[number] = is_vetoed;
        if is_same {
            state.lives[number] = live;
        }
    }
    for node in items(member(root, "approvals")?)? {
        let approval = read_approval(node)?;
        if is_same && approval.tool < basis.tools.len() {
            state.approvals.pending.push(approval);
        }
    }
    for node in items(member(root, "continuations")?)? {
        let outstanding = Outstanding {
            client: Key::read(string(member(node, "of")?)?)?,
            expires_ms: number(member(node, "expires")?)?,
        };
        let issued = number(member(node, "number")?)?;
        if is_same {
            let all = &mut state.continuations.outstanding;
            all.insert(issued, outstanding);
        }
    }
    for node in items(member(root, "calls")?)? {
        let (id, call, lock) = read_call(node, basis)?;
        let exists = call.server < basis.servers.len()
            && call.tool.is_none_or(|tool| tool < basis.tools.len());
        if lock == basis.digests.lock && exists {
            state.calls.insert(id, call);
        }
    }
    for node in items(member(root, "expanded")?)? {
        let session = Key::read(string(member(node, "session")?)?)?;
        let tools = items(member(node, "tools")?)?.iter().map(place);
        let tools: Option<BTreeSet<_>> = tools.collect();
        if is_same {
            state.expanded.sessions.insert(session, tools?);
        }
    }
    Some(state)
}

fn read_approval(node: &Node<'_>) -> Option<Approval> {
    Some(Approval {
        id: string(member(node, "id")?)?.to_owned(),
        client: Key::read(string(member(node, "client")?)?)?,
        tool: place(member(node, "tool")?)?,
        arguments: string(member(node, "arguments")?)?.to_owned(),
        answer: optional(member(node, "answer")?, boolean)?,
        expires_ms: number(member(node, "expires")?)?,
    })
}

fn read_call(node: &Node<'_>, basis: &Arc<Basis>) -> Option<(u64, OpenCall, Option<String>)> {
    let code = |node: &Node<'_>| Code::named(string(node)?);
    let observed: Option<Vec<_>> = items(member(node, "observed")?)?.iter().map(code).collect();
    // In place of a tool stands the method of a request for something else.
    let of = member(node, "tool")?;
    let (tool, method) = match string(of) {
        Some(name) => (None, Some(Method::named(name)?)),
        None => (optional(of, place)?, None),
    };
    let call = OpenCall {
        basis: Arc::clone(basis),
        client: Key::read(string(member(node, "client")?)?)?,
        generation: match boolean(member(node, "stateless")?)? {
            true => Generation::Stateless,
            false => Generation::Sessions,
        },
        server: place(member(node, "server")?)?,
        arguments: Key::read(string(member(node, "arguments")?)?)?,
        tool,
        method,
        uri: None,
        approval: optional(member(node, "approval")?, |it| Some(string(it)?.to_owned()))?,
        approved: match member(node, "approved") {
            Some(id) => Some(string(id)?.to_owned()),
            None => None,
        },
        repetition: match member(node, "repetition") {
            Some(count) => small(count)?,
            None => 0,
        },
        observed: observed?,
        exported: String::new(),
    };
    let lock = optional(member(node, "lock")?, |it| Some(string(it)?.to_owned()))?;
    Some((number(member(node, "id")?)?, call, lock))
}

fn read_health(node: &Node<'_>) -> Option<ServerHealth> {
    Some(ServerHealth {
        status: HealthStatus::parse(string(member(node, "status")?)?)?,
        since_ms: number(member(node, "since")?)?,
        errors: small(member(node, "errors")?)?,
        answers: small(member(node, "answers")?)?,
        relapses: small(member(node, "relapses")?)?,
        has_failed: boolean(member(node, "has_failed")?)?,
    })
}

fn read_live(node: &Node<'_>, basis: &Basis) -> Option<Live> {
    let mut live = Live {
        is_listed: boolean(member(node, "is_listed")?)?,
        whole: optional(member(node, "whole")?, read_deviation)?,
        ..Live::default()
    };
    for node in items(member(node, "deviations")?)? {
        let tool = place(member(node, "tool")?)?;
        let deviation = read_deviation(member(node, "deviation")?)?;
        if tool < basis.tools.len() {
            live.deviations.insert(tool, deviation);
        }
    }
    for node in items(member(node, "offered")?)? {
        let offered = Offered {
            first: string(member(node, "first")?)?.to_owned(),
            deviation: optional(member(node, "deviation")?, read_deviation)?,
            definition: None,
        };
        let name = string(member(node, "name")?)?.to_owned();
        live.offered.insert(name, offered);
    }
    for name in items(member(node, "unlocked")?)? {
        live.unlocked.insert(string(name)?.to_owned());
    }
    Some(live)
}

fn read_deviation(node: &Node<'_>) -> Option<Deviation> {
    Some(match string(member(node, "kind")?)? {
        "changed" => Deviation::Changed {
            present: string(member(node, "present")?)?.to_owned(),
            widens: boolean(member(node, "widens")?)?,
        },
        "missing" => Deviation::Missing,
        "repeated" => Deviation::Repeated,
        "unreadable" => Deviation::Unreadable,
        "too_many" => Deviation::TooMany,
        _ => return None,
    })
}

/// Reads a value that may be null.
fn optional<T>(node: &Node<'_>, read: impl FnOnce(&Node<'_>) -> Option<T>) -> Option<Option<T>> {
    match node.value {
        Value::Null => Some(None),
        _ => read(node).map(Some),
    }
}

fn place(node: &Node<'_>) -> Option<usize> {
    usize::try_from(number(node)?).ok()
}

fn small(node: &Node<'_>) -> Option<u32> {
    u32::try_from(number(node)?).ok()
}
