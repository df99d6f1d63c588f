//! The tools that the calls of a log were passed on to.

use super::chain::Start;
use super::recorded_call::RecordedCall;
use super::verification::{Recorded, Verification};
use crate::history::was_allowed;
use agent_api::diagnostic::Diagnostic;
use std::collections::BTreeMap;

/// Maximum number of tools that are kept of a log.
pub const CALLED_TOOLS_MAX: usize = 10_000;

/// The tools that the calls of a log were passed on to. It is fed the bytes of the log's files in their order.
#[derive(Debug)]
pub struct CalledTools {
    verification: Verification,
    found: BTreeMap<(String, String), u64>,
}

impl CalledTools {
    /// Begins with the first file.
    pub fn open() -> Self {
        Self {
            verification: Verification::new(Start::Any),
            found: BTreeMap::new(),
        }
    }

    /// Takes the next bytes of the present file.
    pub fn feed(&mut self, bytes: &[u8]) {
        let found = &mut self.found;
        self.verification.feed_to(bytes, &mut |record| {
            take(found, &record);
        });
    }

    /// Ends the present file. The next bytes are those of the next one.
    pub fn end_file(&mut self) {
        self.verification.end_file();
    }

    /// Ends the log, after the end of its last file. Returns the number of calls by the id of the server and the name of
    /// the tool: of the first [`CALLED_TOOLS_MAX`] tools that were called.
    ///
    /// # Errors
    /// The problems of the log.
    pub fn finish(self) -> Result<BTreeMap<(String, String), u64>, Vec<Diagnostic>> {
        self.verification.end()?;
        Ok(self.found)
    }
}

fn take(found: &mut BTreeMap<(String, String), u64>, record: &Recorded<'_, '_>) {
    if record.kind != "decision" || !was_allowed(record.content) {
        return;
    }
    let Some(call) = RecordedCall::read(record) else {
        return;
    };
    let Some(server) = call.server else {
        return;
    };
    let key = (server, call.tool);
    if let Some(calls) = found.get_mut(&key) {
        *calls += 1;
    } else if found.len() < CALLED_TOOLS_MAX {
        found.insert(key, 1);
    }
}
