//! `agent:engine/audit`

use crate::Component;
use crate::bindings::exports::agent::engine::audit::{
    self, CalledTool, Diagnostic, Documents, Guest, GuestLogCalledTools, GuestLogComparison,
    GuestLogReplay, GuestLogVerification, LogCompared, LogReplayed, Verified,
};
use crate::convert::all;
use agent_session::audit_log::{CalledTools, Comparison, Replay, Verification};
use core::cell::RefCell;

/// The verification of a log, until it ends.
pub(crate) struct LogVerification(RefCell<Option<Verification>>);

/// A log that is decided again, until it ends.
pub(crate) struct LogReplay(RefCell<Option<Replay>>);

/// A log whose calls are decided under two sets of documents, until it ends.
pub(crate) struct LogComparison(RefCell<Option<Comparison>>);

/// The tools that the calls of a log were passed on to, until it ends.
pub(crate) struct LogCalledTools(RefCell<Option<CalledTools>>);

impl Guest for Component {
    type LogCalledTools = LogCalledTools;
    type LogComparison = LogComparison;
    type LogVerification = LogVerification;
    type LogReplay = LogReplay;
}

/// The methods by which a log is fed, until it ends.
macro_rules! takes_files {
    () => {
        fn feed(&self, bytes: Vec<u8>) {
            if let Some(log) = &mut *self.0.borrow_mut() {
                log.feed(&bytes);
            }
        }

        fn end_file(&self) {
            if let Some(log) = &mut *self.0.borrow_mut() {
                log.end_file();
            }
        }
    };
}

impl GuestLogVerification for LogVerification {
    fn open(after: Option<String>) -> Result<audit::LogVerification, String> {
        let opened = Some(Verification::open(after)?);
        Ok(audit::LogVerification::new(Self(RefCell::new(opened))))
    }

    takes_files!();

    fn finish(&self, head: Option<String>) -> Result<Verified, String> {
        let ended = || "the log has ended already".to_owned();
        let verification = self.0.take().ok_or_else(ended)?;
        Ok(verification.finish(head)?.into())
    }
}

impl GuestLogReplay for LogReplay {
    fn open(documents: Documents) -> Result<audit::LogReplay, Vec<Diagnostic>> {
        let opened = Replay::open(documents.into()).map_err(all)?;
        Ok(audit::LogReplay::new(Self(RefCell::new(Some(opened)))))
    }

    takes_files!();

    fn finish(&self) -> Result<LogReplayed, Vec<Diagnostic>> {
        let replay = self.0.take().ok_or_else(Vec::new)?;
        Ok(replay.finish().map_err(all)?.into())
    }
}

impl GuestLogComparison for LogComparison {
    fn open(before: Documents, after: Documents) -> Result<audit::LogComparison, Vec<Diagnostic>> {
        let opened = Comparison::open(before.into(), after.into()).map_err(all)?;
        Ok(audit::LogComparison::new(Self(RefCell::new(Some(opened)))))
    }

    takes_files!();

    fn finish(&self) -> Result<LogCompared, Vec<Diagnostic>> {
        let comparison = self.0.take().ok_or_else(Vec::new)?;
        Ok(comparison.finish().map_err(all)?.into())
    }
}

impl GuestLogCalledTools for LogCalledTools {
    fn open() -> audit::LogCalledTools {
        audit::LogCalledTools::new(Self(RefCell::new(Some(CalledTools::open()))))
    }

    takes_files!();

    fn finish(&self) -> Result<Vec<CalledTool>, Vec<Diagnostic>> {
        let called = self.0.take().ok_or_else(Vec::new)?;
        let found = called.finish().map_err(all)?.into_iter();
        let tools = found.map(|((server, tool), calls)| CalledTool {
            server,
            tool,
            calls,
        });
        Ok(tools.collect())
    }
}

impl From<agent_session::audit_log::Compared> for LogCompared {
    fn from(compared: agent_session::audit_log::Compared) -> Self {
        Self {
            drifts: compared.drifts.iter().map(Into::into).collect(),
            decided: compared.decided,
            undecidable: compared.undecidable,
            warnings: all(compared.warnings),
        }
    }
}

impl From<agent_session::audit_log::Verified> for Verified {
    fn from(verified: agent_session::audit_log::Verified) -> Self {
        Self {
            problems: all(verified.problems),
            records: verified.records,
            chains: verified.chains,
            sequence: verified.sequence,
            head: verified.head,
        }
    }
}

impl From<agent_session::audit_log::Replayed> for LogReplayed {
    fn from(replayed: agent_session::audit_log::Replayed) -> Self {
        Self {
            differences: all(replayed.differences),
            warnings: all(replayed.warnings),
            differing: replayed.differing,
            undecidable: replayed.undecidable,
            json: replayed.json,
            text: all(replayed.text),
        }
    }
}
