//! `agent:engine/audit`

use crate::Component;
use crate::bindings::exports::agent::engine::audit::{
    self, Diagnostic, Documents, Guest, GuestLogReplay, GuestLogVerification, LogReplayed, Verified,
};
use crate::convert::all;
use agent_session::audit_log::{Replay, Verification};
use core::cell::RefCell;

/// The verification of a log, until it ends.
pub(crate) struct LogVerification(RefCell<Option<Verification>>);

/// A log that is decided again, until it ends.
pub(crate) struct LogReplay(RefCell<Option<Replay>>);

impl Guest for Component {
    type LogVerification = LogVerification;
    type LogReplay = LogReplay;
}

impl GuestLogVerification for LogVerification {
    fn open(after: Option<String>) -> Result<audit::LogVerification, String> {
        let opened = Some(Verification::open(after)?);
        Ok(audit::LogVerification::new(Self(RefCell::new(opened))))
    }

    fn feed(&self, bytes: Vec<u8>) {
        if let Some(verification) = &mut *self.0.borrow_mut() {
            verification.feed(&bytes);
        }
    }

    fn end_file(&self) {
        if let Some(verification) = &mut *self.0.borrow_mut() {
            verification.end_file();
        }
    }

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

    fn feed(&self, bytes: Vec<u8>) {
        if let Some(replay) = &mut *self.0.borrow_mut() {
            replay.feed(&bytes);
        }
    }

    fn end_file(&self) {
        if let Some(replay) = &mut *self.0.borrow_mut() {
            replay.end_file();
        }
    }

    fn finish(&self) -> Result<LogReplayed, Vec<Diagnostic>> {
        let replay = self.0.take().ok_or_else(Vec::new)?;
        Ok(replay.finish().map_err(all)?.into())
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
