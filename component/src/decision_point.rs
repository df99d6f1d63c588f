//! `agent:engine/decision-point`

use crate::Component;
use crate::bindings::exports::agent::engine::decision_point::{
    self, AskedCall, AskedRequest, CallDecision, Clock, Diagnostic, Digests, Documents, Enforced,
    Generation, Guest, GuestPoint, KeptApproval, KeptAt, KeptDecision, KeptEnforced,
    ReceivedResult, RpcError, Unanswerable, Verdict,
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
        decided.map(decision).map_err(unanswerable)
    }

    fn request(&self, request: AskedRequest, now: Clock) -> Result<Enforced, Unanswerable> {
        let enforced = self.0.request(&request.into(), now.into());
        enforced.map(enforce).map_err(unanswerable)
    }

    fn result(&self, received: ReceivedResult, now: Clock) -> Result<Enforced, Unanswerable> {
        let enforced = self.0.result(&received.into(), now.into());
        enforced.map(enforce).map_err(unanswerable)
    }

    fn list(&self, server: String, generation: Generation) -> Result<Vec<u8>, Unanswerable> {
        let list = self.0.list(&server, generation.into());
        list.map_err(unanswerable)
    }

    fn kept_at(&self, call: AskedCall) -> Result<Option<KeptAt>, Unanswerable> {
        let kept = self.0.kept_at(&call.into()).map_err(unanswerable)?;
        Ok(kept.map(Into::into))
    }

    fn decide_after(
        &self,
        call: AskedCall,
        kept: Option<Vec<u8>>,
        now: Clock,
    ) -> Result<KeptDecision, Unanswerable> {
        let decided = self
            .0
            .decide_after(&call.into(), kept.as_deref(), now.into());
        let decided = decided.map_err(unanswerable)?;
        Ok(KeptDecision {
            decision: decision(decided.decision),
            approval: decided.approval.map(Into::into),
            kept: decided.kept,
        })
    }

    fn request_kept_at(&self, request: AskedRequest) -> Result<Option<KeptAt>, Unanswerable> {
        let kept = self.0.request_kept_at(&request.into());
        Ok(kept.map_err(unanswerable)?.map(Into::into))
    }

    fn request_after(
        &self,
        request: AskedRequest,
        kept: Option<Vec<u8>>,
        now: Clock,
    ) -> Result<KeptEnforced, Unanswerable> {
        let enforced = self
            .0
            .request_after(&request.into(), kept.as_deref(), now.into());
        let enforced = enforced.map_err(unanswerable)?;
        Ok(KeptEnforced {
            enforced: enforce(enforced.enforced),
            kept: enforced.kept,
        })
    }

    fn approval(
        &self,
        key: String,
        kept: Vec<u8>,
        id: String,
        answer: Option<bool>,
        now: Clock,
    ) -> Result<KeptApproval, Unanswerable> {
        let found = self.0.approval((&kept, &key), &id, answer, now.into());
        let found = found.map_err(unanswerable)?;
        Ok(KeptApproval {
            approval: found.approval.map(Into::into),
            kept: found.kept,
        })
    }
}

fn decision(decided: agent_session::CallDecision) -> CallDecision {
    CallDecision {
        verdict: match decided.reasons.is_empty() {
            true => Verdict::Allowed,
            false => Verdict::Refused(all(decided.reasons)),
        },
        documents: decided.documents.into(),
    }
}

fn unanswerable((code, text): (agent_session::Code, String)) -> Unanswerable {
    Unanswerable {
        code: code.into(),
        text,
    }
}

fn enforce(enforced: agent_session::Enforced) -> Enforced {
    match enforced {
        agent_session::Enforced::Passed => Enforced::Passed,
        agent_session::Enforced::Answered(result) => Enforced::Answered(result),
        agent_session::Enforced::Failed {
            code,
            message,
            data,
        } => Enforced::Failed(RpcError {
            code,
            message,
            data,
        }),
    }
}
