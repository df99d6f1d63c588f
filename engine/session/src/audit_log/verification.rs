//! Whether a log is the one that sessions wrote.

use super::chain::{Chain, Link, Start};
use super::kinds::{RECORD, record_kinds};
use super::lines::{At, LINE_MAX_BYTES, Line, Lines};
use super::shape::{RECORD_PATH, check, is_digest};
use crate::audit::VERSION;
use agent_api::diagnostic::{Code, Diagnostic, Problems, Severity};
use agent_record::Clock;
use agent_syntax::json::parse_strict;
use agent_syntax::members::{member, number, string};
use agent_syntax::{Node, Value};

/// A record, whose members are those of its kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recorded<'r, 't> {
    pub(crate) at: At,
    /// The text of the record.
    pub(crate) text: &'t str,
    pub(crate) kind: &'r str,
    pub(crate) content: &'r Node<'t>,
    /// Whether the session only observed.
    pub(crate) observe: bool,
    pub(crate) sequence: u64,
    /// Its time, in milliseconds since 1970.
    pub(crate) at_ms: u64,
}

/// The verification of a log, which is fed the bytes of its files in their order.
#[derive(Debug)]
pub struct Verification {
    lines: Lines,
    checked: Checked,
}

/// What was found.
#[derive(Debug)]
struct Checked {
    chain: Chain,
    records: u64,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

/// A log that was read to its end.
#[derive(Debug, Clone)]
pub struct Verified {
    /// The problems: first errors, then warnings, each in the order of the log, and at most
    /// [`Problems::LIMIT`] of both.
    pub problems: Vec<Diagnostic>,
    /// The number of records.
    pub records: u64,
    /// The number of chains: one more for each session that began anew.
    pub chains: u32,
    /// The number of the last record; 0 if there is none.
    pub sequence: u64,
    /// The digest of the last record.
    pub head: Option<String>,
}

impl Verified {
    /// Returns whether the log is the one that sessions wrote.
    pub fn is_valid(&self) -> bool {
        let mut problems = self.problems.iter();
        problems.all(|it| it.severity != Severity::Error)
    }
}

impl Verification {
    /// Begins with the first file. `after` is the digest of the record before it, for a log whose first
    /// parts are elsewhere; without it the log begins with a session.
    ///
    /// # Errors
    /// A sentence: `after` is not a digest.
    pub fn open(after: Option<String>) -> Result<Self, String> {
        let start = match after {
            None => Start::Session,
            Some(digest) => Start::After(known_digest(digest)?),
        };
        Ok(Self::new(start))
    }

    pub(crate) fn new(start: Start) -> Self {
        Self {
            lines: Lines::default(),
            checked: Checked {
                chain: Chain::new(start),
                records: 0,
                errors: Vec::new(),
                warnings: Vec::new(),
            },
        }
    }

    /// Takes the next bytes of the present file.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.feed_to(bytes, &mut |_| {});
    }

    /// As [`Verification::feed`], and passes each record on.
    pub(crate) fn feed_to(&mut self, bytes: &[u8], take: &mut dyn FnMut(Recorded<'_, '_>)) {
        let checked = &mut self.checked;
        self.lines.feed(bytes, |line| checked.line(line, take));
    }

    /// Ends the present file. The next bytes are those of the next one.
    pub fn end_file(&mut self) {
        let checked = &mut self.checked;
        self.lines.end_file(|line| {
            // If its end alone is missing, it still shows a change of the record before.
            let is_record = checked.take(line, &mut |_| {}).is_ok();
            let message = format!("line {} is cut off", line.at.line);
            let problem = line
                .at
                .problem(Code::AuditInterrupted, "without its end", message);
            checked.add(problem);
            if !is_record {
                checked.chain.pass_over();
            }
        });
    }

    /// Ends the log without a digest to compare, for those to whom a log that was changed says nothing.
    ///
    /// # Errors
    /// The problems of the log.
    pub(crate) fn end(self) -> Result<Verified, Vec<Diagnostic>> {
        // Only a digest can be refused.
        let verified = self.finish(None).map_err(|_| Vec::new())?;
        match verified.is_valid() {
            true => Ok(verified),
            false => Err(verified.problems),
        }
    }

    /// Ends the log, after the end of its last file. `head` is the digest that its last record should have.
    ///
    /// # Errors
    /// A sentence: `head` is not a digest.
    pub fn finish(mut self, head: Option<String>) -> Result<Verified, String> {
        let at = At { file: 0, line: 1 };
        let head = head.map(known_digest).transpose()?;
        let checked = &mut self.checked;
        let end = checked.chain.end();
        let found = end.map(|(sequence, digest)| (sequence, digest.to_owned()));
        if found.is_none() && checked.errors.is_empty() {
            let message = "the log contains no record".to_owned();
            checked.add(at.problem(Code::AuditMissing, "", message));
        }
        if let Some(head) = head
            && found.as_ref().is_none_or(|(_, digest)| *digest != head)
        {
            let message = match &found {
                Some((sequence, digest)) => {
                    format!("the log ends with record {sequence}, {digest}, and not with {head}")
                }
                None => format!("the log does not end with {head}"),
            };
            checked.add(at.problem(Code::AuditMissing, "", message));
        }
        let Checked {
            chain,
            records,
            errors,
            warnings,
        } = self.checked;
        Ok(Verified {
            problems: errors.into_iter().chain(warnings).collect(),
            records,
            chains: chain.count,
            sequence: found.as_ref().map_or(0, |(sequence, _)| *sequence),
            head: found.map(|(_, digest)| digest),
        })
    }

    /// Returns whether nothing but warnings was found yet.
    pub(crate) fn is_valid(&self) -> bool {
        self.checked.errors.is_empty()
    }
}

impl Checked {
    fn add(&mut self, problem: Diagnostic) {
        let list = match problem.severity {
            Severity::Error => &mut self.errors,
            _ => &mut self.warnings,
        };
        if list.len() < Problems::LIMIT {
            list.push(problem);
        }
    }

    fn line(&mut self, line: &Line<'_>, take: &mut dyn FnMut(Recorded<'_, '_>)) {
        if let Err(message) = self.take(line, take) {
            let message = format!("line {} is not a record: {message}", line.at.line);
            self.add(line.at.problem(Code::AuditInvalid, "not a record", message));
            self.chain.pass_over();
        }
    }

    /// Takes the record of a line.
    ///
    /// # Errors
    /// A sentence: the line is not a record.
    fn take(
        &mut self,
        line: &Line<'_>,
        take: &mut dyn FnMut(Recorded<'_, '_>),
    ) -> Result<(), String> {
        let (root, text, digest) = read(line)?;
        let record = record(&root, text, line.at)?;
        let link = Link {
            sequence: record.sequence,
            previous: member(&root, "previous").and_then(string),
            is_opening: record.kind == "opened",
        };
        self.records = self.records.saturating_add(1);
        let problem = self.chain.take(line.at, link, digest);
        if let Some(problem) = problem {
            self.add(problem);
        }
        take(record);
        Ok(())
    }
}

/// Parses a line.
///
/// # Errors
/// A sentence: it is not one strict JSON object.
fn read<'b>(line: &Line<'b>) -> Result<(Node<'b>, &'b str, String), String> {
    let Some(digest) = line.digest.clone() else {
        return Err(format!("it has more than {LINE_MAX_BYTES} bytes"));
    };
    let Some(text) = line.text else {
        return Err("it is not UTF-8".to_owned());
    };
    // No session writes blanks around a record.
    let is_object = text.starts_with('{') && text.ends_with('}');
    let root = parse_strict(text).filter(|_| is_object);
    match root {
        Some(root) => Ok((root, text, digest)),
        None => Err("it is not one strict JSON object".to_owned()),
    }
}

/// Reads a record.
///
/// # Errors
/// A sentence about the first member that no session writes.
fn record<'r, 't>(root: &'r Node<'t>, text: &'t str, at: At) -> Result<Recorded<'r, 't>, String> {
    check(RECORD, root, RECORD_PATH)?;
    let get = |name| member(root, name);
    let version = get("version").and_then(number);
    if version != Some(u64::from(VERSION)) {
        return Err(format!("its `version` is not {VERSION}"));
    }
    let kind = get("kind").and_then(string).unwrap_or_default();
    let kinds = record_kinds();
    let known = kinds.iter().find(|it| it.name == kind);
    let Some(known) = known else {
        let names: Vec<_> = kinds.iter().map(|it| it.name).collect();
        return Err(format!("its `kind` is not one of {}", names.join(", ")));
    };
    let missing = || "`content` is missing".to_owned();
    let content = get("content").ok_or_else(missing)?;
    // The last form is the usual one.
    let checked = known
        .forms
        .iter()
        .map(|form| check(form, content, "content"));
    let checked = checked.reduce(|first, next| first.or(next));
    checked.unwrap_or(Ok(()))?;
    Ok(Recorded {
        at,
        text,
        kind: known.name,
        content,
        observe: matches!(get("observe").map(|it| &it.value), Some(Value::Bool(true))),
        sequence: get("sequence").and_then(number).unwrap_or_default(),
        at_ms: get("time")
            .and_then(string)
            .and_then(Clock::read)
            .map_or(0, |it| it.unix_ms),
    })
}

fn known_digest(text: String) -> Result<String, String> {
    match is_digest(&text) {
        true => Ok(text),
        false => Err("a digest is `sha256-` and 44 characters of base64".to_owned()),
    }
}
