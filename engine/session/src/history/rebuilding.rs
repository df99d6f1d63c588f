//! A history from the records of a log: after a restart, and when documents begin to ask for one.

use super::terms::Remembered;
use super::{Event, History, was_allowed};
use crate::audit_log::{Recorded, Start, Verification};
use crate::session::Session;
use agent_api::lower::bytes_digest;
use agent_record::Clock;

/// The history before a session, as far as the host gave its records.
#[derive(Debug)]
pub(crate) struct Rebuilding {
    verification: Verification,
    history: History,
    /// The number and the time of the first record that was given.
    first: Option<(u64, u64)>,
    /// Whether the record was among them from which the session goes on.
    is_joined: bool,
}

impl Session {
    /// Returns the window of the history whose records the session needs, in milliseconds. `None` if it lacks none.
    pub fn history_wanted(&self) -> Option<u64> {
        let known = self.basis.remembered.as_ref()?;
        self.state.history.missing.as_ref()?;
        Some(known.terms.window_ms)
    }

    /// Takes that another gateway records calls elsewhere, so that no log has the whole history.
    pub fn split_history(&mut self) {
        self.rebuilding = None;
        self.state.history.missing = Some(String::new());
    }

    /// Takes records of the log that the session goes on in: the oldest first, in parts of any size. They begin with
    /// the first of the log, or before the window. Returns after the last part whether the history is known.
    pub fn remember(&mut self, records: &[u8], is_last: bool, now: Clock) -> bool {
        let Some(known) = &self.basis.remembered else {
            return true;
        };
        let Some(missing) = &self.state.history.missing else {
            return true;
        };
        let agent = &self.state.history.agent;
        let rebuilding = self
            .rebuilding
            .get_or_insert_with(|| Rebuilding::new(agent));
        rebuilding.feed(records, missing, known);
        if !is_last {
            return false;
        }
        let start = now.unix_ms.saturating_sub(known.terms.window_ms);
        let history = self.rebuilding.take().and_then(|it| it.finish(start));
        let is_known = history.is_some();
        if let Some(history) = history {
            let since = core::mem::replace(&mut self.state.history, history);
            let open = &self.state.calls.open;
            let is_open = |id: u64| open.contains_key(&id);
            self.state.history.append(since, is_open);
        }
        is_known
    }
}

impl Rebuilding {
    /// Begins. Until a record names another agent, the records are taken for those of this one.
    fn new(agent: &str) -> Self {
        Self {
            verification: Verification::new(Start::Any),
            history: History {
                agent: agent.to_owned(),
                ..History::default()
            },
            first: None,
            is_joined: false,
        }
    }

    fn feed(&mut self, records: &[u8], missing: &str, known: &Remembered) {
        let Self {
            verification,
            history,
            first,
            is_joined,
        } = self;
        verification.feed_to(records, &mut |record: Recorded<'_, '_>| {
            first.get_or_insert((record.sequence, record.at_ms));
            *is_joined |= bytes_digest(record.text.as_bytes()) == missing;
            let event = Event {
                kind: record.kind,
                content: record.content,
                record: record.sequence,
                at_ms: record.at_ms,
                is_allowed: was_allowed(record.content),
                is_revised: false,
            };
            history.take(event, known);
        });
    }

    /// Returns the history, if nothing of it after a moment is missing, and every record is the one that was written.
    fn finish(self, start_ms: u64) -> Option<History> {
        let is_whole = self
            .first
            .is_some_and(|(number, at_ms)| number == 1 || at_ms <= start_ms);
        let is_whole = is_whole && self.history.missing.is_none();
        let is_known = is_whole && self.is_joined && self.verification.is_valid();
        is_known.then_some(self.history)
    }
}
