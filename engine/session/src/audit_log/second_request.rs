//! A recorded request for a resource or a prompt, decided again.
//!
//! Of the servers' lists a log contains digests alone. What would need the list of another server than the
//! recorded one can't be decided.

use super::recorded_call::{Reason, RecordedCall, Verdict};
use super::second_decision::{Decider, Second, Undecidable};
use crate::client::Caller;
use crate::method::Method;
use agent_api::diagnostic::Code;

/// The reasons that are not kept as recorded.
const DECIDED_AGAIN: [Code; 3] = [Code::PolicyDenied, Code::PolicyError, Code::ServeWidened];

/// The reasons that come last.
const OF_TIME: [Code; 2] = [Code::HealthVeto, Code::SessionLimit];

impl Decider {
    /// Decides on a recorded request again.
    ///
    /// # Errors
    /// The record lacks what the decision needs.
    pub(crate) fn decide_request(
        &mut self,
        call: &RecordedCall,
        method: Method,
    ) -> Result<Second, Undecidable> {
        if let Some(second) = self.follow(call)? {
            return Ok(second);
        }
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
        let is_kept = |it: &&Reason| !it.known().is_some_and(|it| DECIDED_AGAIN.contains(&it));
        let kept = call.reasons.iter().filter(is_kept).cloned();
        let of_time = |it: &Reason| it.known().is_some_and(|it| OF_TIME.contains(&it));
        let (last, mut kept): (Vec<_>, Vec<_>) = kept.partition(of_time);
        let codes = kept.iter().chain(&last);
        let codes: Vec<_> = codes.filter_map(|it| Some(it.known()?.name())).collect();
        kept.extend(self.by_rules(call, method));
        kept.extend(last);
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
        Ok(Second {
            verdict,
            moved: Vec::new(),
            depends_on: Vec::new(),
            kept: codes,
            earlier: Vec::new(),
            reasons,
        })
    }

    /// Returns what the built-in rules of now say about a recorded request: those of policies decide about none.
    fn by_rules(&self, call: &RecordedCall, method: Method) -> Vec<Reason> {
        let (Ok(caller), Some(server)) = (Caller::read(&call.client), self.server(call)) else {
            return Vec::new();
        };
        let (found, _) = self.session().by_history(&caller, method, server, call.now);
        let found = found.iter().filter(|it| DECIDED_AGAIN.contains(&it.code));
        let found = found.map(|it| Reason {
            code: it.code.name().to_owned(),
            pointer: it.pointer.clone(),
            text: it.text.clone(),
        });
        found.collect()
    }
}
