//! Records of a session: JSON objects, one line each, in which each holds the digest of the line before.
//!
//! Everything passes the redaction here. A decision and its effect are separate records, which have the id
//! of their call in common.

use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::lower::{bytes_digest, digest};
use agent_record::{Clock, Redactor};
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{member, number};

/// The format of records.
pub(crate) const VERSION: u32 = 1;

/// A record, which the host appends to its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number, from 1.
    pub sequence: u64,
    /// The line, without its end.
    pub line: String,
}

/// The end of the chain of records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chain {
    /// The digest of the last line.
    pub(crate) head: Option<String>,
    pub(crate) sequence: u64,
}

impl Chain {
    /// Returns the chain whose last record is a line of a log.
    ///
    /// # Errors
    /// The line is not a record, so nothing can follow it.
    pub(crate) fn after(line: &[u8]) -> Result<Self, Vec<Diagnostic>> {
        let text = core::str::from_utf8(line).ok();
        let root = text.and_then(parse_strict);
        let sequence = root.and_then(|root| number(member(&root, "sequence")?));
        let Some(sequence) = sequence else {
            let text = "the last line of the log is not a record";
            let problem = Diagnostic::new(Code::AuditInvalid, text);
            return Err(vec![
                problem.help("name another log, or move this one away"),
            ]);
        };
        Ok(Self {
            head: Some(bytes_digest(line)),
            sequence,
        })
    }
}

/// What writes a record.
#[derive(Debug)]
pub(crate) struct Recorder<'s> {
    pub(crate) chain: &'s mut Chain,
    pub(crate) redactor: &'s Redactor,
    pub(crate) observe: bool,
    pub(crate) now: Clock,
}

impl Recorder<'_> {
    /// Returns the next record, of a kind and with these members.
    pub(crate) fn record(&mut self, kind: &str, content: impl FnOnce(&mut Writer)) -> Record {
        self.chain.sequence = self.chain.sequence.saturating_add(1);
        let sequence = self.chain.sequence;
        let mut w = Writer::dense();
        w.object(|w| {
            w.key("content").object(content);
            w.key("kind").string(kind);
            w.key("observe").bool(self.observe);
            w.key("previous").optional(self.chain.head.as_deref());
            w.key("sequence").json(&sequence.to_string());
            w.key("time").string(&self.now.rfc3339());
            w.key("version").number(VERSION);
        });
        let mut line = w.finish();
        line.pop();
        // The writer writes JSON.
        let line = self.redactor.json(&line).unwrap_or_default();
        self.chain.head = Some(digest(&line));
        Record { sequence, line }
    }
}

/// Writes the size and the digest of content.
pub(crate) fn write_content(w: &mut Writer, bytes: &[u8]) {
    w.key("bytes").json(&bytes.len().to_string());
    w.key("digest").string(&bytes_digest(bytes));
}
