//! The engine, which decides on each request.

use super::refusal::{Answered, Refusal, broken};
use agent_host::{Engine, Failure, Instance, call};

/// The response of a verb if the engine fails.
const BROKEN: &str = r#"{"error":{"code":"E_RUNTIME","hints":[],"message":"the engine failed"},"ok":false,"version":"v1"}"#;

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
        ask(&mut self.instance()?).map_err(broken)
    }

    /// Asks the engine for a decision, which may be a no.
    pub(crate) fn decide<T>(
        &self,
        ask: impl FnOnce(&mut Instance) -> Result<Answered<T>, Failure>,
    ) -> Answered<T> {
        self.ask(ask)?
    }

    /// Returns the response of a verb that failed.
    pub(crate) fn failed(&self, refusal: &Refusal) -> String {
        let made = self.ask(|engine| call!(engine, daemon.failed(refusal)));
        made.unwrap_or_else(|_| BROKEN.to_owned())
    }

    /// Returns an instance of the engine.
    pub(crate) fn instance(&self) -> Answered<Instance> {
        self.0.instantiate().map_err(broken)
    }
}
