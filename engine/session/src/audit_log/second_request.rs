//! A recorded request for a resource or a prompt, decided again.
//!
//! Of the servers' lists a log contains digests alone. What would need the list of another server than the
//! recorded one can't be decided.

use super::recorded_call::{Reason, RecordedCall, Verdict};
use super::second_decision::{Decider, Second, Undecidable};
use crate::method::Method;
use agent_api::diagnostic::Code;

impl Decider {
    /// Decides on a recorded request again.
    ///
    /// # Errors
    /// The record lacks what the decision needs.
    pub(crate) fn decide_request(
        &self,
        call: &RecordedCall,
        method: Method,
    ) -> Result<Second, Undecidable> {
        let basis = self.basis();
        let is_same_lock = call.documents.lock == basis.digests.lock;
        let servers = basis.servers.iter();
        let passing: Vec<_> = servers
            .filter(|it| basis.serves(it, method.serve()))
            .collect();
        let is_own = |id: &str, version: &str| {
            call.server.as_deref() == Some(id) && call.version.as_deref() == Some(version)
        };
        let own = passing.iter().find(|it| is_own(&it.id, &it.version));
        let of_state = |it: &&Reason| it.known() != Some(Code::ServeWidened);
        let kept: Vec<Reason> = call.reasons.iter().filter(of_state).cloned().collect();
        let verdict = match own {
            _ if passing.is_empty() => Verdict::Refused,
            Some(_) if passing.len() == 1 || is_same_lock => match kept.is_empty() {
                true => Verdict::Allowed,
                false => Verdict::Refused,
            },
            None if is_same_lock => Verdict::Refused,
            _ => {
                let why = "the log does not contain the lists of resources and prompts";
                return Err(Undecidable(why.to_owned()));
            }
        };
        let reasons = match own {
            Some(_) => kept,
            None if is_same_lock => call.reasons.clone(),
            None => Vec::new(),
        };
        let codes = reasons.iter().filter_map(|it| Some(it.known()?.name()));
        Ok(Second {
            verdict,
            moved: Vec::new(),
            depends_on: Vec::new(),
            kept: codes.collect(),
            earlier: Vec::new(),
            reasons,
        })
    }
}
