//! The calls of a log under two sets of documents: what one decides otherwise than the other.

use super::chain::Start;
use super::recorded_call::{RecordedCall, Verdict};
use super::replay::{Again, decide_again, decider};
use super::second_decision::{Decider, Second};
use super::verification::{Recorded, Verification};
use crate::documents::Documents;
use agent_api::decide::Drift;
use agent_api::diagnostic::{Code, Diagnostic};
use std::collections::BTreeMap;

/// Maximum number of tools that an answer lists.
const LISTED_MAX: usize = 1_000;

/// The calls of a log, decided under an older and a newer set of documents. It is fed the bytes of the log's files in their
/// order. Each side follows the history that it would have allowed.
#[derive(Debug)]
pub struct Comparison {
    verification: Verification,
    sides: [Decider; 2],
    found: Found,
}

/// A log whose calls were decided under two sets of documents.
#[derive(Debug, Clone)]
pub struct Compared {
    /// One for each tool and code, with the first such call: newly allowed tools first, then newly denied ones, then those
    /// that are decided for other reasons. At most 1,000.
    pub drifts: Vec<Drift>,
    /// Number of calls that both sides decided.
    pub decided: u64,
    /// Number of calls that a side can't decide.
    pub undecidable: u64,
    /// The warnings of the log.
    pub warnings: Vec<Diagnostic>,
}

/// Why a call is not simply allowed, if a human must approve it.
const ASKED: &str = "a human is asked";

#[derive(Debug, Default)]
struct Found {
    /// By the rank of the code, and the tool.
    changes: BTreeMap<(u8, String), Change>,
    decided: u64,
    undecidable: u64,
}

/// The calls of a tool that are decided otherwise.
#[derive(Debug)]
struct Change {
    code: Code,
    before: Option<String>,
    after: Option<String>,
    calls: u64,
    /// The number of the first record.
    first: u64,
}

impl Comparison {
    /// Begins with the first file. A policy may be another one than the lock's: the tools stay those of the lock.
    ///
    /// # Errors
    /// The documents of a side can't be obeyed.
    pub fn open(before: Documents, after: Documents) -> Result<Self, Vec<Diagnostic>> {
        Ok(Self {
            verification: Verification::new(Start::Any),
            sides: [decider(before, true)?, decider(after, true)?],
            found: Found::default(),
        })
    }

    /// Takes the next bytes of the present file. Nothing is decided after a fault of the log.
    pub fn feed(&mut self, bytes: &[u8]) {
        let Self {
            verification,
            sides,
            found,
        } = self;
        if verification.is_valid() {
            verification.feed_to(bytes, &mut |record| found.take(sides, &record));
        } else {
            verification.feed(bytes);
        }
    }

    /// Ends the present file. The next bytes are those of the next one.
    pub fn end_file(&mut self) {
        self.verification.end_file();
    }

    /// Ends the log, after the end of its last file.
    ///
    /// # Errors
    /// The problems of the log. Nothing can be said about decisions in a log that was changed.
    pub fn finish(self) -> Result<Compared, Vec<Diagnostic>> {
        let verified = self.verification.end()?;
        let changes = self.found.changes.into_iter().take(LISTED_MAX);
        Ok(Compared {
            drifts: changes
                .map(|((_, tool), change)| change.drift(tool))
                .collect(),
            decided: self.found.decided,
            undecidable: self.found.undecidable,
            warnings: verified.problems,
        })
    }
}

impl Found {
    fn take(&mut self, [older, newer]: &mut [Decider; 2], record: &Recorded<'_, '_>) {
        // Both take every record, so that each has its history.
        let (before, after) = (decide_again(older, record), decide_again(newer, record));
        let (call, before, after) = match (before, after) {
            (Some(Again::Call(call, before)), Some(Again::Call(_, after))) => (call, before, after),
            (Some(Again::Unreadable), _) => {
                self.decided += 1;
                return;
            }
            _ => return,
        };
        let (Ok(before), Ok(after)) = (before, after) else {
            self.undecidable += 1;
            return;
        };
        self.decided += 1;
        let (rank, code) = match (access(&before), access(&after)) {
            (older, newer) if older < newer => (0, Code::PolicyWidened),
            (older, newer) if older > newer => (1, Code::PolicyNarrowed),
            _ if reason(&before) != reason(&after) => (2, Code::PolicyReasonChanged),
            _ => return,
        };
        let change = self.changes.entry((rank, tool(&call))).or_insert(Change {
            code,
            before: reason(&before),
            after: reason(&after),
            calls: 0,
            first: record.sequence,
        });
        change.calls += 1;
    }
}

impl Change {
    fn drift(self, tool: String) -> Drift {
        let calls = match self.calls {
            1 => format!("the call of record {}", self.first),
            more => format!("{more} calls of the log, record {} first", self.first),
        };
        let asks = self.code == Code::PolicyWidened && self.after.is_some();
        let asks = asks.then(|| ASKED.to_owned());
        Drift {
            code: self.code,
            category: None,
            capability: None,
            tool: Some(tool),
            before: self.before,
            after: self.after,
            details: [calls].into_iter().chain(asks).collect(),
            places: Vec::new(),
        }
    }
}

/// Returns how much a decision allows.
fn access(second: &Second) -> u8 {
    match second.verdict {
        Verdict::Refused => 0,
        Verdict::Asked => 1,
        Verdict::Allowed => 2,
    }
}

/// Returns why a call is not simply allowed.
fn reason(second: &Second) -> Option<String> {
    let reasons = second
        .reasons
        .iter()
        .map(|it| format!("{}: {}", it.code, it.text));
    let reasons: Vec<_> = reasons.collect();
    match second.verdict {
        Verdict::Allowed => None,
        Verdict::Asked => Some(ASKED.to_owned()),
        Verdict::Refused => Some(reasons.join("; ")),
    }
}

/// Names the tool of a call as policies do, without the version of its server.
fn tool(call: &RecordedCall) -> String {
    match &call.server {
        Some(server) => format!("{server}/{}", call.tool),
        None => call.tool.clone(),
    }
}
