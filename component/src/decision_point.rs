//! `agent:engine/decision-point`

use crate::Component;
use crate::bindings::exports::agent::engine::decision_point::{
    self, AskedCall, CallDecision, Clock, Diagnostic, Digests, Documents, Guest, GuestPoint,
    Unanswerable, Verdict,
};
use crate::convert::all;

/// What decides on calls by documents alone.
pub(crate) struct Point(agent_session::DecisionPoint);

impl Guest for Component {
    type Point = Point;
}

impl GuestPoint for Point {
    fn open(documents: Documents) -> Result<decision_point::Point, Vec<Diagnostic>> {
        let opened = agent_session::DecisionPoint::open(documents.into());
        let opened = opened.map_err(all)?;
        Ok(decision_point::Point::new(Self(opened)))
    }

    fn documents(&self) -> Digests {
        self.0.documents().clone().into()
    }

    fn tools(&self) -> Vec<String> {
        self.0.tools()
    }

    fn decide(&self, call: AskedCall, now: Clock) -> Result<CallDecision, Unanswerable> {
        let decided = self.0.decide(&call.into(), now.into());
        let decided = decided.map_err(|(code, text)| Unanswerable {
            code: code.into(),
            text,
        })?;
        Ok(CallDecision {
            verdict: match decided.reasons.is_empty() {
                true => Verdict::Allowed,
                false => Verdict::Refused(all(decided.reasons)),
            },
            documents: decided.documents.into(),
        })
    }
}
