//! What the module exports for the playground's page.

use crate::{ask, session};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

/// What the playground's worker talks to: keeps the inputs from one question to the next.
#[wasm_bindgen]
#[derive(Default)]
pub struct Session(session::Session);

#[wasm_bindgen]
impl Session {
    /// Without any input.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the engine says of itself.
    ///
    /// # Errors
    /// Never.
    pub fn about() -> Result<JsValue, JsError> {
        object(&session::Session::about())
    }

    /// Answers a question of the page, in the form of the same version.
    ///
    /// # Errors
    /// When the question is not of that form.
    pub fn answer(&mut self, ask: JsValue) -> Result<JsValue, JsError> {
        object(&self.0.answer(ask::read(&ask)?))
    }
}

fn object(value: &impl Serialize) -> Result<JsValue, JsError> {
    Ok(value.serialize(&Serializer::json_compatible())?)
}
