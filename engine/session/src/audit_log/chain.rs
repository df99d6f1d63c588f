//! The order of the records of a log: each holds the number and the digest that follow those of the record
//! before.

use super::lines::At;
use agent_api::diagnostic::{Code, Diagnostic};

/// Where a log begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    /// With the first record of a session.
    Session,
    /// After the record of this digest.
    After(String),
    /// With any record.
    Any,
}

/// What a record says of its place in the chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link<'r> {
    pub(crate) sequence: u64,
    pub(crate) previous: Option<&'r str>,
    /// Whether it is the record of a session that begins.
    pub(crate) is_opening: bool,
}

/// A record of the chain.
#[derive(Debug, Clone)]
struct Known {
    at: At,
    sequence: u64,
    digest: String,
}

/// The chain, as far as it was read.
#[derive(Debug)]
pub(crate) struct Chain {
    start: Start,
    last: Option<Known>,
    /// The lines since that can't be read.
    unread: u64,
    /// How many chains there are.
    pub(crate) count: u32,
}

impl Chain {
    pub(crate) fn new(start: Start) -> Self {
        Self {
            start,
            last: None,
            unread: 0,
            count: 0,
        }
    }

    /// Returns the number and the digest of the last record.
    pub(crate) fn end(&self) -> Option<(u64, &str)> {
        let last = self.last.as_ref()?;
        Some((last.sequence, &last.digest))
    }

    /// Notes a line that is not a record.
    pub(crate) fn pass_over(&mut self) {
        self.unread = self.unread.saturating_add(1);
    }

    /// Takes the next record. Returns the problem of its place, if it has one.
    pub(crate) fn take(&mut self, at: At, link: Link<'_>, digest: String) -> Option<Diagnostic> {
        let unread = core::mem::take(&mut self.unread);
        let begins = link.sequence == 1 && link.previous.is_none() && link.is_opening;
        let problem = match &self.last {
            None => self.first(at, link, unread),
            Some(_) if begins => Some(restarted(at)),
            Some(last) => match follows(last, at, link, unread) {
                // The chain goes on after the record before.
                Some(problem) if link.sequence <= last.sequence => return Some(problem),
                problem => problem,
            },
        };
        if begins || self.count == 0 {
            self.count = self.count.saturating_add(1);
        }
        self.last = Some(Known {
            at,
            sequence: link.sequence,
            digest,
        });
        problem
    }

    /// Returns the problem of the first record.
    fn first(&self, at: At, link: Link<'_>, unread: u64) -> Option<Diagnostic> {
        match &self.start {
            Start::Any => None,
            Start::After(digest) if link.previous == Some(digest) => None,
            Start::After(digest) => {
                let message = format!(
                    "the log begins with record {}, which does not follow {digest}",
                    link.sequence
                );
                Some(at.problem(
                    Code::AuditMissing,
                    "holds the digest of another record",
                    message,
                ))
            }
            // What can't be read may have been the records before.
            Start::Session if link.sequence == unread.saturating_add(1) && unread > 0 => None,
            Start::Session => match (link.sequence, link.previous, link.is_opening) {
                (1, None, true) => None,
                (1, _, _) => {
                    let message = "record 1 is not that of a session that begins".to_owned();
                    Some(at.problem(Code::AuditChanged, "changed", message))
                }
                (0, _, _) => {
                    let message =
                        "the log begins with record 0, and sessions count from 1".to_owned();
                    Some(at.problem(Code::AuditOutOfOrder, "the first record", message))
                }
                (sequence, _, _) => {
                    let message = format!(
                        "the log begins with record {sequence}: {} missing",
                        numbers(1, sequence)
                    );
                    Some(at.problem(Code::AuditMissing, "the first record", message))
                }
            },
        }
    }
}

/// Returns the problem of a record that does not follow another one, between which so many lines can't be read.
fn follows(last: &Known, at: At, link: Link<'_>, unread: u64) -> Option<Diagnostic> {
    let expected = last.sequence.saturating_add(1);
    let is_next = link.sequence == expected;
    // A line that can't be read was reported. It counts as a record, or as nothing.
    if unread > 0 && link.sequence == expected.saturating_add(unread) {
        return None;
    }
    if is_next && link.previous == Some(&last.digest) {
        return None;
    }
    if link.sequence < expected {
        let message = match link.sequence == last.sequence {
            true => format!("record {} comes again", link.sequence),
            false => format!(
                "record {} comes after record {}",
                link.sequence, last.sequence
            ),
        };
        let problem = at.problem(Code::AuditOutOfOrder, "not where it belongs", message);
        return Some(problem.label(last.at.place(), "the record before"));
    }
    if !is_next {
        let missing = numbers(expected, link.sequence);
        let message = format!(
            "record {} comes after record {}: {missing} missing",
            link.sequence, last.sequence
        );
        let problem = at.problem(Code::AuditMissing, "the next record", message);
        return Some(problem.label(last.at.place(), "the record before"));
    }
    let message = format!(
        "record {} was changed: record {} holds another digest",
        last.sequence, link.sequence
    );
    let problem = last.at.problem(Code::AuditChanged, "changed", message);
    Some(problem.label(at.place(), "holds the digest of another line"))
}

/// Names the records from one to before another one, with their verb.
fn numbers(from: u64, before: u64) -> String {
    match before.saturating_sub(1) {
        last if last == from => format!("record {from} is"),
        last => format!("records {from} to {last} are"),
    }
}

fn restarted(at: At) -> Diagnostic {
    let message = "a session begins with record 1, and nothing binds it to the records before";
    at.problem(Code::AuditRestarted, "a new chain", message.to_owned())
}
