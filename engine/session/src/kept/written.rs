//! What a store keeps of a client, as JSON.

use super::AskedApproval;
use crate::basis::{Basis, Tool};
use crate::calls::tool_key;
use crate::client::Key;
use crate::history::{History, Remembered};
use crate::quota::Quotas;
use crate::session::Session;
use agent_api::diagnostic::Code;
use agent_api::model::HistoryTerms;
use agent_record::Clock;
use agent_syntax::Node;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{boolean, items, member, number, string};

/// The format of what is kept.
const VERSION: u64 = 1;

/// Separates the key of a client from the rest of the id of an approval.
const AFTER_KEY: char = '-';

/// What is kept of a client.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The last moment of a decision, in milliseconds since 1970. Clocks of hosts differ, and no window ends because one
    /// is behind.
    pub(super) latest_ms: u64,
    /// How many calls were allowed.
    pub(super) calls: u64,
    /// How many approvals were asked for.
    pub(super) minted: u64,
    pub(super) quotas: Quotas,
    pub(super) approvals: Vec<Pending>,
    history: Option<KeptHistory>,
}

/// An approval that is asked for, or was given and is not used yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pending {
    /// The rest of its id.
    pub(super) id: String,
    /// Names the tool and its definition.
    pub(super) tool: Key,
    /// The digest of the arguments.
    pub(super) arguments: String,
    pub(super) answer: Option<bool>,
    pub(super) expires_ms: u64,
    text: String,
}

/// A history, and how far it reaches.
#[derive(Debug, Clone)]
pub(super) struct KeptHistory {
    /// The text of it. Documents that ask for no history pass it on.
    text: String,
    /// No call after this moment is missing, in milliseconds since 1970.
    since_ms: u64,
    /// The pointers into arguments whose values each call was kept with.
    fields: Vec<String>,
    numbers: Vec<String>,
}

impl Kept {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let root = parse_strict(core::str::from_utf8(bytes).ok()?)?;
        if number(member(&root, "version")?)? != VERSION {
            return None;
        }
        let count = |name| number(member(&root, name)?);
        let approvals = items(member(&root, "approvals")?)?.iter();
        Some(Self {
            latest_ms: count("latest")?,
            calls: count("calls")?,
            minted: count("minted")?,
            quotas: Quotas::read(member(&root, "quotas")?)?,
            approvals: approvals.map(Pending::read).collect::<Option<_>>()?,
            history: match member(&root, "history") {
                None => None,
                Some(node) => Some(KeptHistory::read(node, bytes)?),
            },
        })
    }

    pub(super) fn written(&self) -> Vec<u8> {
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("approvals").array(|w| {
                for approval in &self.approvals {
                    w.object(|w| approval.write(w));
                }
            });
            w.key("calls").json(&self.calls.to_string());
            if let Some(history) = &self.history {
                w.key("history").object(|w| history.write(w));
            }
            w.key("latest").json(&self.latest_ms.to_string());
            w.key("minted").json(&self.minted.to_string());
            self.quotas.write(w.key("quotas"));
            w.key("version").json(&VERSION.to_string());
        });
        w.finish().into_bytes()
    }

    /// Returns what is kept after a session decided on a call. `asked` is the approval that it asked for.
    pub(super) fn next(&self, session: &Session, asked: Option<(&str, &str)>, now: Clock) -> Self {
        let Session { state, basis, .. } = session;
        let text = |id: &str| {
            let known = self.approvals.iter().find(|it| it.id == id);
            let known = known.map(|it| &*it.text);
            let asked = asked.filter(|(it, _)| *it == id).map(|(_, text)| text);
            known.or(asked).unwrap_or_default().to_owned()
        };
        let pending = state.approvals.pending.iter().map(|it| Pending {
            tool: tool_of(basis, &basis.tools[it.tool]),
            text: text(&it.id),
            id: it.id.clone(),
            arguments: it.arguments.clone(),
            answer: it.answer,
            expires_ms: it.expires_ms,
        });
        // Another lock may have the tools of these.
        let is_other = |it: &&Pending| {
            let mut tools = basis.tools.iter();
            now.unix_ms < it.expires_ms && tools.all(|tool| tool_of(basis, tool) != it.tool)
        };
        let others = self.approvals.iter().filter(is_other).cloned();
        let is_allowed = state.calls.last > self.calls;
        Self {
            latest_ms: now.unix_ms,
            calls: state.calls.last,
            minted: state.approvals.minted,
            quotas: state.quotas.clone(),
            approvals: pending.chain(others).collect(),
            history: match &basis.remembered {
                Some(known) => {
                    let earlier = state.history.count() > u64::from(is_allowed);
                    Some(self.next_history((&state.history, earlier), known, now))
                }
                None => self.history.as_ref().map(|it| KeptHistory {
                    since_ms: if is_allowed { now.unix_ms } else { it.since_ms },
                    ..it.clone()
                }),
            },
        }
    }

    pub(super) fn asked(&self, key: &str, id: &str) -> Option<AskedApproval> {
        let approval = self.approvals.iter().find(|it| it.id == id)?;
        Some(approval.asked(key))
    }

    /// Returns the moment after which no call is missing in a history. A client of whom nothing is kept has called nothing.
    fn since_ms(&self) -> u64 {
        match &self.history {
            Some(history) => history.since_ms,
            None if self.calls > 0 => self.latest_ms,
            None => 0,
        }
    }

    /// Returns the history as documents ask for it.
    pub(super) fn history(&self, known: &Remembered, basis: &Basis, now: Clock) -> Option<History> {
        let mut history = match &self.history {
            None => {
                let agent = basis.lock.as_ref().map(|it| it.agent.name.to_string());
                History::of_agent(agent.unwrap_or_default())
            }
            Some(kept) => History::read(&parse_strict(&kept.text)?, known)?,
        };
        history.forget(now.unix_ms, known);
        let is_late = self.since_ms() > now.unix_ms.saturating_sub(known.terms.window_ms);
        let lacks_arguments = history.count() > 0
            && self
                .history
                .as_ref()
                .is_some_and(|kept| !kept.has(&known.terms));
        if is_late || lacks_arguments {
            history.missing = Some(String::new());
        }
        Some(history)
    }

    /// Returns the history that is kept next. `earlier` says whether it has calls that were kept before.
    fn next_history(
        &self,
        (history, earlier): (&History, bool),
        known: &Remembered,
        now: Clock,
    ) -> KeptHistory {
        let mut w = Writer::dense();
        history.write(&mut w);
        let start_ms = now.unix_ms.saturating_sub(known.terms.window_ms);
        let earlier = self.history.as_ref().filter(|_| earlier);
        let kept_with = |wanted: &[String], kept: Option<&Vec<String>>| {
            let is_kept = |it: &&String| kept.is_none_or(|kept| kept.contains(it));
            wanted.iter().filter(is_kept).cloned().collect()
        };
        KeptHistory {
            text: w.finish(),
            since_ms: self.since_ms().max(start_ms),
            fields: kept_with(&known.terms.fields, earlier.map(|it| &it.fields)),
            numbers: kept_with(&known.terms.numbers, earlier.map(|it| &it.numbers)),
        }
    }
}

impl Pending {
    fn read(node: &Node<'_>) -> Option<Self> {
        let text = |name| Some(string(member(node, name)?)?.to_owned());
        Some(Self {
            id: text("id")?,
            tool: Key::read(&text("tool")?)?,
            arguments: text("arguments")?,
            answer: match member(node, "answer") {
                None => None,
                Some(answer) => Some(boolean(answer)?),
            },
            expires_ms: number(member(node, "expires")?)?,
            text: text("text")?,
        })
    }

    fn write(&self, w: &mut Writer) {
        if let Some(answer) = self.answer {
            w.key("answer").bool(answer);
        }
        w.key("arguments").string(&self.arguments);
        w.key("expires").json(&self.expires_ms.to_string());
        w.key("id").string(&self.id);
        w.key("text").string(&self.text);
        w.key("tool").string(self.tool.as_str());
    }

    /// Returns whether it has an id, under the key of its client.
    pub(super) fn is_named(&self, key: &str, id: &str) -> bool {
        let rest = id.strip_prefix(key);
        rest.and_then(|it| it.strip_prefix(AFTER_KEY)) == Some(&*self.id)
    }

    /// Returns what a human sees of it.
    pub(super) fn asked(&self, key: &str) -> AskedApproval {
        AskedApproval {
            id: format!("{key}{AFTER_KEY}{}", self.id),
            text: self.text.clone(),
            expires_unix_ms: self.expires_ms,
            answer: self.answer,
        }
    }
}

impl KeptHistory {
    fn read(node: &Node<'_>, bytes: &[u8]) -> Option<Self> {
        let pointer = |node: &Node<'_>| Some(string(node)?.to_owned());
        let pointers = |name| -> Option<Vec<_>> {
            let pointers = items(member(node, name)?)?.iter();
            pointers.map(pointer).collect()
        };
        let text = core::str::from_utf8(bytes).ok()?;
        Some(Self {
            fields: pointers("fields")?,
            numbers: pointers("numbers")?,
            since_ms: number(member(node, "since")?)?,
            text: member(node, "of")?.span.of(text).to_owned(),
        })
    }

    /// Returns whether its calls were kept with everything that terms name.
    fn has(&self, terms: &HistoryTerms) -> bool {
        let mut fields = terms.fields.iter();
        let mut numbers = terms.numbers.iter();
        fields.all(|it| self.fields.contains(it)) && numbers.all(|it| self.numbers.contains(it))
    }

    fn write(&self, w: &mut Writer) {
        w.key("fields").strings(self.fields.iter().map(|it| &**it));
        w.key("numbers")
            .strings(self.numbers.iter().map(|it| &**it));
        w.key("of").json(self.text.trim_end());
        w.key("since").json(&self.since_ms.to_string());
    }
}

/// Names a tool and its definition, which another bundle may have too.
pub(super) fn tool_of(basis: &Basis, tool: &Tool) -> Key {
    let server = &basis.servers[tool.server];
    Key::of(&[tool_key(server, tool).as_str(), &tool.digest])
}

pub(super) fn unreadable() -> (Code, String) {
    let text = "what the store keeps of the client is not from a decision point";
    (Code::WrongDocument, text.to_owned())
}
