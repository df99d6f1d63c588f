//! The outcomes of requests.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of failures that are kept.
const FAILURES: usize = 40;

/// The outcomes of all requests, and the failures.
#[derive(Default)]
pub(crate) struct Tally(Mutex<Content>);

#[derive(Default)]
struct Content {
    /// Numbers of requests by their kind and outcome.
    outcomes: BTreeMap<(&'static str, String), u64>,
    calls: u64,
    failures: Vec<String>,
}

impl Tally {
    fn content(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request of a kind. `is_call` says that the audit log has a decision about it.
    pub(crate) fn count(&self, kind: &'static str, outcome: &str, is_call: bool) {
        let mut content = self.content();
        *content
            .outcomes
            .entry((kind, outcome.to_owned()))
            .or_default() += 1;
        content.calls += u64::from(is_call);
    }

    /// Adds a failure of the gateway.
    pub(crate) fn fail(&self, failure: String) {
        let mut content = self.content();
        if content.failures.len() < FAILURES {
            content.failures.push(failure);
        }
    }

    /// Returns the number of calls that were decided on.
    pub(crate) fn calls(&self) -> u64 {
        self.content().calls
    }

    pub(crate) fn failures(&self) -> Vec<String> {
        self.content().failures.clone()
    }

    /// Returns the number of requests, and a line for each kind and outcome.
    pub(crate) fn report(&self) -> String {
        let content = self.content();
        let number: u64 = content.outcomes.values().sum();
        let mut report = format!("{number} requests:");
        for ((kind, outcome), number) in &content.outcomes {
            report.push_str(&format!("\n  {kind}: {outcome}: {number}"));
        }
        report
    }

    /// Adds a failure for each kind of request that never had an outcome.
    pub(crate) fn require(&self, required: &[(&'static str, &str)]) {
        for (kind, outcome) in required {
            let key = (*kind, (*outcome).to_owned());
            if !self.content().outcomes.contains_key(&key) {
                self.fail(format!("no request `{kind}` had the outcome `{outcome}`"));
            }
        }
    }
}
