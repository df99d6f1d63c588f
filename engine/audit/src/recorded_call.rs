//! The recorded decision on a query, made again.

use super::members::{at, string};
use super::recorded::{REQUEST, Record, Recorded};
use super::replay::contains_redaction;
use agent_run::{CallBasis, Decided, Documents, Goal, decide_call_again};
use agent_syntax::Node;

/// A recorded decision on a query.
pub(crate) struct RecordedCall<'r, 'f> {
    record: &'r Record<'f>,
    call: &'r Node<'f>,
}

impl<'r, 'f> RecordedCall<'r, 'f> {
    /// Returns the call of a verdict, if it is one on a query.
    pub(crate) fn of(verdict: &'r Record<'f>) -> Option<Self> {
        let call = at(&verdict.root, "/result_details/call")?;
        Some(Self {
            record: verdict,
            call,
        })
    }

    /// Decides on the query and its call again.
    ///
    /// # Errors
    /// The reason why that can't be done.
    pub(crate) fn decide(
        &self,
        recorded: &Recorded<'_>,
        documents: Documents,
        policy_context: Option<String>,
    ) -> Result<Decided, &'static str> {
        let request = recorded.record(REQUEST);
        let of_request = |pointer| request.and_then(|it| at(&it.root, pointer));
        let query = of_request("/request/goal");
        let Some((query, text)) = query.and_then(|it| Some((it, string(it, "")?))) else {
            return Err("evidence does not contain the query, or it is redacted");
        };
        if contains_redaction(query) {
            return Err("the query is redacted");
        }
        let goal = Goal {
            text: text.to_owned(),
            context: None,
            planner: of_request("/roles/planner")
                .and_then(|it| string(it, ""))
                .unwrap_or_default()
                .to_owned(),
        };
        let basis = CallBasis {
            catalogue: self.content("catalogue")?,
            planned: self.content("planned")?.map(String::into_bytes),
        };
        let documents = Documents {
            goal: Some(goal),
            ..documents
        };
        let decided = decide_call_again(documents, policy_context, basis);
        decided.ok_or("the run ended before the decision on the call")
    }

    /// Returns a part of the basis, if the decision had it.
    fn content(&self, member: &str) -> Result<Option<String>, &'static str> {
        let Some(content) = at(self.call, &format!("/{member}")) else {
            return Ok(None);
        };
        match (self.record.content(content), member) {
            (Some(text), _) => Ok(Some(text)),
            (None, "catalogue") => {
                Err("the live catalogue is redacted, or recorded by its digest only")
            }
            (None, _) => Err("the planner's answer is redacted, or is not UTF-8"),
        }
    }
}
