//! What clients of both transports have in common.

use crate::request::{Kind, Request};
use crate::tally::Tally;
use agent_load::message::Generation;
use agent_load::random::Random;
use serde_json::Value;
use std::time::Duration;

/// The time in which every request is answered: a call of a server may take two minutes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(150);

/// A client: its number, its choices and its requests.
pub(crate) struct Client<'t> {
    number: u64,
    pub(crate) generation: Generation,
    pub(crate) random: Random,
    pub(crate) next_id: u64,
    tally: &'t Tally,
}

impl<'t> Client<'t> {
    pub(crate) fn new(number: u64, seed: u64, tally: &'t Tally) -> Self {
        Self {
            number,
            generation: match number % 2 {
                0 => Generation::Sessions,
                _ => Generation::Stateless,
            },
            random: Random::new(seed, number + 1),
            next_id: 0,
            tally,
        }
    }

    /// Returns the next request with its id.
    pub(crate) fn request(&mut self) -> (u64, Request) {
        self.next_id += 1;
        (self.next_id, Request::random(&mut self.random))
    }

    /// Takes the answer to a request.
    pub(crate) fn answered(&self, id: u64, request: &Request, answer: &[u8]) {
        let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
        match request.outcome(id, &answer) {
            Ok(outcome) => {
                let is_call = request.kind != Kind::List;
                self.tally.count(request.name(), &outcome, is_call);
            }
            Err(why) => self.fail(id, request, &why),
        }
    }

    /// Counts a request that this client has cancelled.
    pub(crate) fn cancelled(&self, request: &Request) {
        self.tally.count(request.name(), "cancelled", false);
    }

    /// Says what is wrong with the answer to a request.
    pub(crate) fn fail(&self, id: u64, request: &Request, why: &str) {
        self.wrong(&format!(
            "request {id}, {} of {}: {why}",
            request.name(),
            request.tool.as_deref().unwrap_or("tools")
        ));
    }

    /// Says what is wrong otherwise.
    pub(crate) fn wrong(&self, why: &str) {
        let (number, generation) = (self.number, self.generation);
        self.tally
            .fail(format!("client {number} ({generation:?}): {why}"));
    }

    /// Counts a request that has the answer that it has to have.
    pub(crate) fn count(&self, kind: &'static str, outcome: &str) {
        self.tally.count(kind, outcome, false);
    }
}
