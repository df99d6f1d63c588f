//! What the module exports for a page of the playground.

#[cfg(feature = "plans")]
use crate::plans::Session as Conversation;
#[cfg(not(feature = "plans"))]
use crate::session::Session as Conversation;
#[cfg(feature = "plans")]
use agent_protocol::plans::{Request, Texts};
#[cfg(not(feature = "plans"))]
use agent_protocol::{Request, Texts};
use agent_protocol::{from_bytes, to_bytes};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

/// What a worker of the playground talks to: keeps the inputs from one question to the next.
#[wasm_bindgen]
#[derive(Default)]
pub struct Session {
    conversation: Conversation,
    /// Those of the next question.
    texts: Texts,
}

#[wasm_bindgen]
impl Session {
    /// Without any input.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the engine says of itself.
    pub fn about() -> Vec<u8> {
        to_bytes(&Conversation::about())
    }

    /// Takes the text of a number, which was changed, for the next question.
    pub fn tell(&mut self, number: u32, text: String) {
        self.texts.set(number, text);
    }

    /// Answers a question of the page of the same version.
    ///
    /// # Errors
    /// When it is of another one.
    pub fn answer(&mut self, ask: &[u8]) -> Result<Vec<u8>, JsError> {
        let ask: Request =
            from_bytes(ask).ok_or_else(|| JsError::new("what is asked is nonsense"))?;
        let texts = std::mem::take(&mut self.texts);
        Ok(to_bytes(
            &self.conversation.answer(Request { texts, ..ask }),
        ))
    }
}
