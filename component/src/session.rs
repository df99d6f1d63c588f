//! `agent:engine/session`

use crate::Component;
use crate::bindings::exports::agent::engine::session::{
    self, Approved, CallFailure, Called, Client, Clock, Delivered, Delivery, Destination,
    Diagnostic, Documents, Guest, GuestAgentSession, ListKind, Listed, LockedServer, Method,
    Observation, Observed, ObservedEntries, Opened, Options, RpcError, Transition,
};
use crate::convert::all;
use core::cell::RefCell;

/// An agent's session.
pub(crate) struct AgentSession(RefCell<agent_session::Session>);

impl Guest for Component {
    type AgentSession = AgentSession;
}

impl GuestAgentSession for AgentSession {
    fn open(documents: Documents, options: Options, now: Clock) -> Result<Opened, Vec<Diagnostic>> {
        Self::open_ignoring(documents, options, Vec::new(), now)
    }

    fn open_ignoring(
        documents: Documents,
        options: Options,
        tools: Vec<(String, String)>,
        now: Clock,
    ) -> Result<Opened, Vec<Diagnostic>> {
        let options = agent_session::Options {
            ignoring: Some(tools.into_iter().collect()),
            ..options.into()
        };
        let opened = agent_session::Session::open(documents.into(), options, now.into());
        let (opened, records) = opened.map_err(all)?;
        Ok(Opened {
            session: session::AgentSession::new(Self(RefCell::new(opened))),
            records: all(records),
        })
    }

    fn reload(&self, documents: Documents, now: Clock) -> Result<Transition, Vec<Diagnostic>> {
        let reloaded = self.0.borrow_mut().reload(documents.into(), now.into());
        let reloaded = reloaded.map_err(all)?;
        Ok(Transition {
            status: None,
            list_changed: reloaded.list_changed,
            records: all(reloaded.records),
        })
    }

    fn servers(&self) -> Vec<LockedServer> {
        all(self.0.borrow().servers())
    }

    fn destination(&self, server: String) -> Result<Option<Destination>, String> {
        let found = self.0.borrow().destination(&server);
        found.map(|it| it.map(Into::into))
    }

    fn authorize(&self, server: String, addresses: Vec<String>) -> Result<Vec<String>, String> {
        self.0.borrow().authorize(&server, &addresses)
    }

    fn tools(&self, server: String, result: Vec<u8>, now: Clock) -> Observed {
        let observed = self.0.borrow_mut().tools(&server, &result, now.into());
        observed.into()
    }

    fn list(&self, client: Client, now: Clock) -> Listed {
        let listed = self.0.borrow_mut().list(&client.into(), now.into());
        Listed {
            result: listed.result,
            records: all(listed.records),
        }
    }

    fn call(&self, client: Client, params: Vec<u8>, now: Clock) -> Called {
        let called = self
            .0
            .borrow_mut()
            .call(&client.into(), &params, now.into());
        called.into()
    }

    fn repeat(&self, client: Client, params: Vec<u8>, state: String, now: Clock) -> Called {
        let mut session = self.0.borrow_mut();
        let called = session.repeat(&client.into(), &params, &state, now.into());
        called.into()
    }

    fn entries(
        &self,
        server: String,
        kind: ListKind,
        result: Vec<u8>,
        now: Clock,
    ) -> ObservedEntries {
        let mut session = self.0.borrow_mut();
        let observed = session.entries(&server, kind.into(), &result, now.into());
        ObservedEntries {
            entries: observed.entries,
            withheld: all(observed.withheld),
            withheld_count: observed.withheld_count,
            list_changed: observed.list_changed,
            records: all(observed.records),
        }
    }

    fn request(&self, client: Client, method: Method, params: Vec<u8>, now: Clock) -> Called {
        let mut session = self.0.borrow_mut();
        let called = session.request(&client.into(), method.into(), &params, now.into());
        called.into()
    }

    fn result(&self, id: u64, result: Vec<u8>, now: Clock) -> Delivered {
        self.0.borrow_mut().result(id, &result, now.into()).into()
    }

    fn failed(&self, id: u64, failure: CallFailure, now: Clock) -> Delivered {
        let failure = failure.into();
        self.0.borrow_mut().failed(id, &failure, now.into()).into()
    }

    fn timed_out(&self, id: u64, limit_ms: u64, since_progress: bool, now: Clock) -> Delivered {
        let late = agent_session::Failure::Late {
            limit_ms,
            since_progress,
        };
        self.0.borrow_mut().failed(id, &late, now.into()).into()
    }

    fn approve(&self, approval: String, answer: bool, by: String, now: Clock) -> Approved {
        let mut session = self.0.borrow_mut();
        session.approve(&approval, answer, &by, now.into()).into()
    }

    fn elicited(&self, approval: String, result: Vec<u8>, now: Clock) -> Approved {
        let mut session = self.0.borrow_mut();
        session.elicited(&approval, &result, now.into()).into()
    }

    fn unreachable(&self, server: String, why: String) {
        self.0.borrow_mut().unreachable(&server, &why);
    }

    fn observe(&self, server: String, observation: Observation, now: Clock) -> Transition {
        let mut session = self.0.borrow_mut();
        let transition = session.observe(&server, observation.into(), now.into());
        Transition {
            status: transition.status.map(str::to_owned),
            list_changed: transition.list_changed,
            records: all(transition.records),
        }
    }

    fn status(&self, now: Clock) -> String {
        self.0.borrow().status(now.into())
    }

    fn history_wanted(&self) -> Option<u64> {
        self.0.borrow().history_wanted()
    }

    fn remember(&self, records: Vec<u8>, last: bool, now: Clock) -> bool {
        self.0.borrow_mut().remember(&records, last, now.into())
    }

    fn split_history(&self) {
        self.0.borrow_mut().split_history();
    }

    fn export(&self) -> Vec<u8> {
        self.0.borrow().export()
    }
}

impl From<agent_session::Called> for Called {
    fn from(called: agent_session::Called) -> Self {
        Self {
            id: called.id,
            action: called.action.into(),
            list_changed: called.list_changed,
            records: all(called.records),
        }
    }
}

impl From<agent_session::Delivered> for Delivered {
    fn from(delivered: agent_session::Delivered) -> Self {
        use agent_session::Delivered as Ours;
        let (delivery, records) = match delivered {
            Ours::AsReceived(records) => (Delivery::AsReceived, records),
            Ours::Changed(result, records) => (Delivery::Changed(result), records),
            Ours::Refused(result, records) => (Delivery::Refused(result), records),
            Ours::Repeat(state, records) => (Delivery::Repeat(state), records),
            Ours::Error {
                code,
                message,
                data,
                records,
            } => {
                let error = RpcError {
                    code,
                    message,
                    data,
                };
                (Delivery::Error(error), records)
            }
            Ours::Nothing(records) => (Delivery::Nothing, records),
        };
        Self {
            delivery,
            records: all(records),
        }
    }
}
