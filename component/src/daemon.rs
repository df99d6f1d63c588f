//! `agent:engine/daemon`

use crate::Component;
use crate::bindings::exports::agent::engine::daemon::{
    self, Action, Addressed, Call, Failure, Guest, GuestVerbRun, Manifest, Outcome, Transport,
    TurnError, Verb, VersionedVerb,
};
use crate::convert::all;
use core::cell::RefCell;

/// A verb, from its request to its response.
pub(crate) struct VerbRun(RefCell<agent_verbs::VerbRun>);

impl Guest for Component {
    type VerbRun = VerbRun;

    fn discovery() -> String {
        agent_verbs::discovery()
    }

    fn verbs() -> Vec<Verb> {
        all(agent_verbs::VersionedVerb::live())
    }

    fn verb_named(name: String) -> Result<VersionedVerb, Failure> {
        converted(agent_verbs::VersionedVerb::named(&name))
    }

    fn failed(failure: Failure) -> String {
        agent_verbs::envelope::failure(&failure.into())
    }

    fn addressed_by_argument(arguments: Vec<u8>) -> Result<Addressed, Failure> {
        converted(agent_verbs::addressed_by_argument(&arguments))
    }

    fn addressed_beside(request: Vec<u8>) -> Result<Addressed, Failure> {
        converted(agent_verbs::addressed_beside(&request))
    }

    fn transport_of_policy(text: Option<Vec<u8>>) -> Result<Transport, Failure> {
        converted(agent_verbs::Policy::read_transport(text.as_deref()))
    }

    fn read_manifest(text: Vec<u8>, task_id: String) -> Result<Manifest, Failure> {
        converted(agent_verbs::Manifest::read(&text, &task_id))
    }

    fn runner_answer(stdout: Vec<u8>, stderr: Vec<u8>, exit_code: i32) -> Result<String, Failure> {
        converted(agent_verbs::runner_answer(&stdout, &stderr, exit_code))
    }
}

impl GuestVerbRun for VerbRun {
    fn start(call: Call) -> daemon::VerbRun {
        daemon::VerbRun::new(Self(RefCell::new(agent_verbs::VerbRun::start(call.into()))))
    }

    fn next(&self) -> Action {
        self.0.borrow_mut().next_action().into()
    }

    fn complete(&self, outcome: Outcome) -> Result<(), TurnError> {
        let taken = self.0.borrow_mut().complete(outcome.into());
        taken.map_err(|agent_verbs::OutOfTurn| TurnError::OutOfTurn)
    }

    fn cancel(&self) {
        self.0.borrow_mut().cancel();
    }
}

fn converted<A, B: From<A>>(result: Result<A, agent_verbs::Failure>) -> Result<B, Failure> {
    match result {
        Ok(value) => Ok(value.into()),
        Err(failure) => Err(failure.into()),
    }
}
