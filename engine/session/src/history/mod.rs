//! The history of calls \[4\]: what an agent and a client did within a window, derived from records alone.
//!
//! A call counts from when it is allowed, so that parallel calls can't race past a rule. It stands under the agent and
//! the authenticated client, not under a session. Old calls are folded into counts and times, so that a history stays
//! within its limits; what it can't hold is refused, never forgotten.
//!
//! | module | content |
//! |---|---|
//! | `traits` | what the calls of a tool are: labels, and whether they send or write |
//! | `terms` | what a session needs to know to keep a history and to ask about it |
//! | `past` | the calls and groups of one agent and client |
//! | `rebuilding` | a history from the records of a log |
//! | `shown` | a history as people see it |
//! | `sorted` | few values by key |
//! | `view` | a history as policies see it |
//! | `exported` | a history in an exported state |

mod exported;
mod past;
mod rebuilding;
mod shown;
mod sorted;
mod terms;
mod traits;
mod view;

pub(crate) use past::{Given, PastCall};
pub(crate) use rebuilding::Rebuilding;
pub(crate) use shown::Earlier;
pub use shown::records_in;
pub(crate) use terms::Remembered;
pub(crate) use traits::Traits;
pub(crate) use view::{Present, view, view_of_rules};

use super::client::Key;
use super::limits::{HISTORY_BYTES_MAX, HISTORY_CALLS_OF_CLIENT_MAX, HISTORY_CLIENTS_MAX};
use agent_api::text::sort::set_of;
use agent_syntax::Node;
use agent_syntax::json::parse_strict;
use agent_syntax::members::{member, number, string};
use past::Scope;
use sorted::Sorted;

/// The histories of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    /// The name of the agent in the last record that names one.
    agent: String,
    /// By agent and client.
    scopes: Sorted<Key, Scope>,
    /// The id of the last call that was decided.
    last_id: u64,
    /// The end of the records before the session, until they were taken: without them nothing is decided.
    pub(crate) missing: Option<String>,
}

/// A record, as far as a history needs it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event<'r, 't> {
    pub(crate) kind: &'r str,
    pub(crate) content: &'r Node<'t>,
    pub(crate) record: u64,
    /// Milliseconds since 1970.
    pub(crate) at_ms: u64,
    /// Whether the call was passed on.
    pub(crate) is_allowed: bool,
    /// Whether the call is taken for what the documents of now say, not for what was recorded.
    pub(crate) is_revised: bool,
}

/// Returns whether a recorded decision passed a call on.
pub(crate) fn was_allowed(content: &Node<'_>) -> bool {
    member(content, "action").and_then(string) == Some("forward")
}

impl History {
    /// Takes the line of a record that was just written.
    pub(crate) fn take_line(&mut self, line: &str, kind: &str, at_ms: u64, known: &Remembered) {
        let kinds = ["decision", "effect", "opened", "reloaded", "request"];
        let Some(root) = parse_strict(line).filter(|_| kinds.contains(&kind)) else {
            return;
        };
        let record = member(&root, "sequence").and_then(number);
        if let (Some(content), Some(record)) = (member(&root, "content"), record) {
            let event = Event {
                kind,
                content,
                record,
                at_ms,
                is_allowed: was_allowed(content),
                is_revised: false,
            };
            self.take(event, known);
        }
    }

    /// Returns the history of a session that lacks the records up to one of a digest.
    pub(crate) fn since(missing: Option<String>) -> Self {
        Self {
            missing,
            ..Self::default()
        }
    }

    /// Returns the history of an agent that has called nothing.
    pub(crate) fn of_agent(agent: String) -> Self {
        Self {
            agent,
            ..Self::default()
        }
    }

    /// Returns how many calls it has, also folded ones.
    pub(crate) fn count(&self) -> u64 {
        self.scopes.values().map(Scope::count).sum()
    }

    /// Returns the key of the history of a client.
    pub(crate) fn key(&self, client: &Key) -> Key {
        Key::of(&[&self.agent, client.as_str()])
    }

    /// Takes a record.
    pub(crate) fn take(&mut self, event: Event<'_, '_>, known: &Remembered) {
        let text = |name| member(event.content, name).and_then(string);
        match event.kind {
            "opened" | "reloaded" => {
                let agent = member(event.content, "agent");
                let name = agent.and_then(|it| member(it, "name")).and_then(string);
                self.agent = name.unwrap_or_default().to_owned();
            }
            "decision" | "request" => {
                let id = member(event.content, "call").and_then(number);
                self.number(id.unwrap_or_default());
                let client = member(event.content, "client").filter(|_| event.is_allowed);
                let Some(client) = client else {
                    return;
                };
                let of_client = |name| member(client, name).and_then(string).unwrap_or_default();
                let client = Key::of(&[of_client("kind"), of_client("id")]);
                let key = self.key(&client);
                let Some(call) = PastCall::read(event, known) else {
                    return;
                };
                if member(event.content, "continues").is_some() {
                    let scope = self.scopes.get_mut(&key);
                    if let (Some(scope), Some(id)) = (scope, call.open) {
                        scope.repeat(id, &call.arguments);
                    }
                    return;
                }
                self.forget(event.at_ms, known);
                if !self.has_room(&key, event.at_ms, known) {
                    // Rules that only record pass such a call on.
                    self.scopes.clear();
                    self.missing.get_or_insert_default();
                    return;
                }
                self.scopes.or_insert(key, Scope::default()).push(call);
                self.fold();
            }
            "effect" => {
                let outcome = text("outcome").unwrap_or_default();
                let result = member(event.content, "result");
                let digest = result.and_then(|it| member(it, "digest")).and_then(string);
                let Some(id) = member(event.content, "call").and_then(number) else {
                    return;
                };
                let mut scopes = self.scopes.values_mut();
                scopes.any(|scope| scope.end(id, outcome, digest));
            }
            _ => {}
        }
    }

    /// Takes the id of a call. A gateway that starts numbers its calls from 1, and answers none of the one before it.
    fn number(&mut self, id: u64) {
        if id <= self.last_id {
            let scopes = self.scopes.values_mut();
            scopes.for_each(|it| it.close(|_| false));
        }
        self.last_id = id;
    }

    /// Returns the history of a client.
    pub(crate) fn of(&self, key: &Key) -> Option<&Scope> {
        self.scopes.get(key)
    }

    /// Returns whether a further call of a client can be kept.
    pub(crate) fn has_room(&self, key: &Key, now_ms: u64, known: &Remembered) -> bool {
        let start = now_ms.saturating_sub(known.terms.window_ms);
        let others = self.scopes.iter();
        let others = others.filter(|(it, scope)| *it != key && scope.is_after(start));
        let mut number = 0;
        let mut bytes = 0;
        for (_, scope) in others {
            number += 1;
            bytes += scope.folded_bytes();
        }
        let own = self.of(key).map_or(0, Scope::folded_bytes);
        number < HISTORY_CLIENTS_MAX && bytes + own < HISTORY_BYTES_MAX / 2
    }

    /// Forgets what is older than the window.
    pub(crate) fn forget(&mut self, now_ms: u64, known: &Remembered) {
        let start = now_ms.saturating_sub(known.terms.window_ms);
        self.scopes.retain(|scope| {
            scope.forget(start);
            !scope.is_empty()
        });
    }

    /// Takes what was done since, which rules that only record passed on. `is_open` says whether a call of the session has no
    /// answer yet.
    fn append(&mut self, since: Self, is_open: impl Fn(u64) -> bool) {
        let of_since = since.scopes.values().flat_map(|it| &it.calls);
        let of_since = set_of(of_since.filter_map(|it| it.open));
        for scope in self.scopes.values_mut() {
            // The others are calls of an earlier gateway, which answers none.
            scope.close(|id| is_open(id) && !of_since.contains(&id));
        }
        (self.agent, self.last_id) = (since.agent, since.last_id);
        for (key, scope) in since.scopes.into_all() {
            let known = self.scopes.or_insert(key, Scope::default());
            known.append(scope);
        }
        self.fold();
    }

    /// Folds the oldest calls until the limits hold.
    fn fold(&mut self) {
        for scope in self.scopes.values_mut() {
            while scope.calls.len() > HISTORY_CALLS_OF_CLIENT_MAX {
                scope.fold();
            }
        }
        while self.scopes.values().map(Scope::bytes).sum::<usize>() > HISTORY_BYTES_MAX {
            let scopes = self.scopes.values_mut();
            let oldest = scopes.filter_map(|scope| Some((scope.calls.front()?.record, scope)));
            match oldest.min_by_key(|(record, _)| *record) {
                Some((_, scope)) => scope.fold(),
                None => return,
            }
        }
    }
}
