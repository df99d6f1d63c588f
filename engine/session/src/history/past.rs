//! The calls of one agent and client.

use super::Event;
use super::sorted::Sorted;
use super::terms::Remembered;
use super::traits::Traits;
use crate::client::Key;
use agent_syntax::json::Writer;
use agent_syntax::members::{member, number, string};
use agent_syntax::{Node, Value};
use std::collections::VecDeque;
use std::sync::Arc;

/// The size that a call has in a state at most, but for its names and arguments, in bytes.
const CALL_BYTES: usize = 704;

/// The size that a group has in a state at most, but for its names, in bytes.
const GROUP_BYTES: usize = 320;

/// What a history keeps of the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Given {
    /// The digests of values, by JSON pointer.
    pub(crate) fields: Vec<(String, String)>,
    /// Numbers as they were written, by JSON pointer.
    pub(crate) numbers: Vec<(String, String)>,
    /// Whether the documents of now would keep more, and the arguments were not recorded.
    pub(crate) is_lost: bool,
}

/// A call that was allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PastCall {
    /// The number of the record of its decision.
    pub(crate) record: u64,
    /// The id of the call, until its effect is recorded.
    pub(crate) open: Option<u64>,
    pub(crate) at_ms: u64,
    pub(crate) traits: Arc<Traits>,
    /// Names the session of the client.
    pub(crate) session: Option<Key>,
    /// The digest of the arguments; empty for a request.
    pub(crate) arguments: String,
    pub(crate) given: Given,
    pub(crate) outcome: Option<String>,
    /// The digest of the result.
    pub(crate) result: Option<String>,
    /// The size that it has in a state at most, in bytes.
    pub(crate) bytes: usize,
}

/// When a call was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) record: u64,
    pub(crate) at_ms: u64,
}

/// Names the calls of a group: the server, the tool, and the label of their data. Without a label it has all calls.
pub(crate) type GroupKey = (String, String, Option<String>);

/// Calls that were folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) count: u64,
    /// How many of them were answered when they were folded.
    pub(crate) delivered: u64,
    pub(crate) first: Moment,
    pub(crate) last: Moment,
}

/// The history of one agent and client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    /// In the order of their records.
    pub(crate) calls: VecDeque<PastCall>,
    pub(crate) folded: Sorted<GroupKey, Group>,
    /// The size of the calls, in bytes.
    calls_bytes: usize,
    /// How many of the calls have a label.
    labels: Sorted<String, usize>,
}

impl PastCall {
    /// Reads the record of a decision that passed a call on.
    pub(super) fn read(event: Event<'_, '_>, known: &Remembered) -> Option<Self> {
        let content = event.content;
        let text = |name| member(content, name).and_then(string);
        // A request names its method in place of a tool.
        let tool = text("tool").or_else(|| text("method"))?;
        let (server, version) = (text("server")?, text("version").unwrap_or_default());
        let recorded = member(content, "history");
        let what = (server, version, tool);
        let is_revised = event.is_revised && known.knows(what);
        let recorded_traits = recorded.and_then(|it| Traits::read(it, what));
        let traits = match recorded_traits.filter(|_| !is_revised) {
            Some(traits) => known.shared(traits),
            None => known.traits_of(what),
        };
        let client = member(content, "client")?;
        let of_client = |name| member(client, name).and_then(string);
        let session = of_client("session").zip(of_client("kind").zip(of_client("id")));
        let arguments = member(content, "arguments");
        let digest = arguments
            .and_then(|it| member(it, "digest"))
            .and_then(string);
        let call = Self {
            record: event.record,
            open: member(content, "call").and_then(number),
            at_ms: event.at_ms,
            traits,
            session: session.map(|(session, (kind, id))| Key::of(&[kind, id, session])),
            arguments: digest.unwrap_or_default().to_owned(),
            given: known.given_of(recorded, arguments, event.is_revised),
            outcome: None,
            result: None,
            bytes: 0,
        };
        Some(call.sized())
    }

    /// Returns the call with its size.
    pub(super) fn sized(mut self) -> Self {
        let of = |pairs: &[(String, String)]| {
            let pairs = pairs.iter();
            pairs
                .map(|(at, value)| at.len() + value.len() + 32)
                .sum::<usize>()
        };
        let traits = &self.traits;
        let names = traits.server.len() + traits.tool.len() + traits.version.len();
        let texts = traits.labels.iter().chain(&traits.capabilities);
        let texts: usize = texts.map(|it| it.len() + 8).sum();
        let given = of(&self.given.fields) + of(&self.given.numbers);
        self.bytes = CALL_BYTES + names + texts + given;
        self
    }

    pub(super) fn moment(&self) -> Moment {
        Moment {
            record: self.record,
            at_ms: self.at_ms,
        }
    }
}

impl Given {
    /// Reads `fields` and `numbers` of a record or a state.
    pub(super) fn read(node: &Node<'_>) -> Self {
        let pairs = |name, value_of: fn(&Node<'_>) -> Option<String>| {
            let pairs = match member(node, name).map(|it| &it.value) {
                Some(Value::Mapping(entries)) => entries.iter(),
                _ => [].iter(),
            };
            let pairs = pairs.filter_map(|it| Some((it.key.to_string(), value_of(&it.value)?)));
            pairs.collect()
        };
        Self {
            fields: pairs("fields", |it| Some(string(it)?.to_owned())),
            numbers: pairs("numbers", |it| match &it.value {
                Value::Number(digits) => Some(digits.to_string()),
                _ => None,
            }),
            is_lost: false,
        }
    }

    /// Writes `fields`.
    pub(crate) fn write_fields(&self, w: &mut Writer) {
        w.key("fields").object(|w| {
            for (pointer, digest) in &self.fields {
                w.key(pointer).string(digest);
            }
        });
    }

    /// Writes `numbers`.
    pub(crate) fn write_numbers(&self, w: &mut Writer) {
        w.key("numbers").object(|w| {
            for (pointer, digits) in &self.numbers {
                w.key(pointer).json(digits);
            }
        });
    }
}

impl Group {
    /// Returns how many of its calls were answered after a moment, and of how many that is not known.
    pub(super) fn answered_after(&self, start_ms: u64) -> (u64, u64) {
        match (self.first.at_ms > start_ms, self.delivered) {
            (_, 0) => (0, 0),
            (true, delivered) => (delivered, 0),
            // The last call is after the moment, and was answered as all others.
            (false, delivered) if delivered == self.count => (1, 0),
            (false, _) => (0, self.count),
        }
    }

    fn add(&mut self, call: &PastCall) {
        self.count += 1;
        self.delivered += u64::from(call.outcome.as_deref() == Some("delivered"));
        self.last = call.moment();
    }
}

impl Scope {
    pub(super) fn push(&mut self, call: PastCall) {
        self.calls_bytes += call.bytes;
        for label in &call.traits.labels {
            match self.labels.get_mut(label) {
                Some(count) => *count += 1,
                None => *self.labels.or_insert(label.clone(), 0) += 1,
            }
        }
        self.calls.push_back(call);
    }

    fn pop(&mut self) -> Option<PastCall> {
        let call = self.calls.pop_front()?;
        self.calls_bytes -= call.bytes;
        for label in &call.traits.labels {
            if let Some(count) = self.labels.get_mut(label) {
                *count -= 1;
            }
        }
        self.labels.retain(|count| *count > 0);
        Some(call)
    }

    /// Takes what was done since.
    pub(super) fn append(&mut self, since: Self) {
        for (key, group) in since.folded.into_all() {
            let empty = Group {
                count: 0,
                delivered: 0,
                ..group
            };
            let known = self.folded.or_insert(key, empty);
            known.count += group.count;
            known.delivered += group.delivered;
            known.last = group.last;
        }
        since.calls.into_iter().for_each(|call| self.push(call));
    }

    /// Takes the repetition of a call that its server asked for, which has another id.
    pub(super) fn repeat(&mut self, id: u64, arguments: &str) {
        let mut calls = self.calls.iter_mut().rev();
        let is_it = |it: &&mut PastCall| {
            it.outcome.as_deref() == Some("input_required") && it.arguments == arguments
        };
        if let Some(call) = calls.find(is_it) {
            call.open = Some(id);
        }
    }

    /// Takes the effect of a call, if it is one of these.
    pub(super) fn end(&mut self, id: u64, outcome: &str, result: Option<&str>) -> bool {
        let mut calls = self.calls.iter_mut().rev();
        let Some(call) = calls.find(|it| it.open == Some(id)) else {
            return false;
        };
        call.open = None;
        call.outcome = Some(outcome.to_owned());
        call.result = result.map(str::to_owned);
        true
    }

    /// Takes that no other open calls are answered any more than those that stay open.
    pub(super) fn close(&mut self, stays: impl Fn(u64) -> bool) {
        for call in &mut self.calls {
            call.open = call.open.filter(|id| stays(*id));
        }
    }

    /// Folds the oldest call.
    pub(super) fn fold(&mut self) {
        let Some(call) = self.pop() else {
            return;
        };
        let labels = call.traits.labels.iter().cloned().map(Some);
        for label in labels.chain([None]) {
            let key = (call.traits.server.clone(), call.traits.tool.clone(), label);
            let empty = Group {
                count: 0,
                delivered: 0,
                first: call.moment(),
                last: call.moment(),
            };
            let group = self.folded.or_insert(key, empty);
            group.add(&call);
        }
    }

    /// Forgets what is not after a moment. A group stays whole until its last call is older.
    pub(super) fn forget(&mut self, start_ms: u64) {
        while self.calls.front().is_some_and(|it| it.at_ms <= start_ms) {
            self.pop();
        }
        self.folded.retain(|it| it.last.at_ms > start_ms);
    }

    /// Returns how many calls it has, also folded ones.
    pub(super) fn count(&self) -> u64 {
        let folded = self
            .folded
            .iter()
            .filter(|((_, _, label), _)| label.is_none());
        let folded: u64 = folded.map(|(_, group)| group.count).sum();
        folded + self.calls.len() as u64
    }

    /// Returns whether some data in it has one of these labels.
    pub(super) fn has_label(&self, is_it: impl Fn(&str) -> bool) -> bool {
        let folded = self
            .folded
            .keys()
            .filter_map(|(_, _, label)| label.as_ref());
        self.labels.keys().chain(folded).any(|label| is_it(label))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.folded.is_empty()
    }

    /// Returns whether something in it is after a moment.
    pub(super) fn is_after(&self, start_ms: u64) -> bool {
        let mut groups = self.folded.values();
        let last = self.calls.back();
        last.is_some_and(|it| it.at_ms > start_ms) || groups.any(|it| it.last.at_ms > start_ms)
    }

    pub(super) fn folded_bytes(&self) -> usize {
        let names = self.folded.keys().map(|(server, tool, label)| {
            server.len() + tool.len() + label.as_ref().map_or(0, String::len)
        });
        names.map(|it| it + GROUP_BYTES).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        self.calls_bytes + self.folded_bytes()
    }
}
