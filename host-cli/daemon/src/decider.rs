//! The engine, which decides on each request.

use super::refusal::{Answered, broken};
use agent_host::{Engine, Failure, Instance};

/// Decides, with an instance of the engine for each question: decisions keep nothing, and a failure concerns one
/// request alone.
pub(crate) struct Decider(Engine);

impl Decider {
    pub(crate) fn new(engine: Engine) -> Self {
        Self(engine)
    }

    /// Returns the engine.
    pub(crate) fn engine(&self) -> Engine {
        self.0.clone()
    }

    /// Asks the engine.
    pub(crate) fn ask<T>(
        &self,
        ask: impl FnOnce(&mut Instance) -> Result<T, Failure>,
    ) -> Answered<T> {
        let mut instance = self.0.instantiate().map_err(broken)?;
        ask(&mut instance).map_err(broken)
    }

    /// Asks the engine for a decision, which may be a no.
    pub(crate) fn decide<T>(
        &self,
        ask: impl FnOnce(&mut Instance) -> Result<Answered<T>, Failure>,
    ) -> Answered<T> {
        self.ask(ask)?
    }
}
