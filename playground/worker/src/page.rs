//! The exports of the module for a page of the playground.

#[cfg(all(feature = "import", not(any(feature = "plans", feature = "session"))))]
use crate::imports::Session as Conversation;
#[cfg(all(feature = "plans", not(feature = "session")))]
use crate::plans::Session as Conversation;
#[cfg(not(any(feature = "import", feature = "plans", feature = "session")))]
use crate::session::Session as Conversation;
#[cfg(feature = "session")]
use crate::sessions::Session as Conversation;
use agent_worker_protocol::{Texts, from_bytes, to_bytes};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

macro_rules! exported {
    ($(#[$doc:meta])* $name:ident, $conversation:ty) => {
        $(#[$doc])*
        #[wasm_bindgen]
        #[derive(Default)]
        pub struct $name {
            conversation: $conversation,
            /// The texts of the next question.
            texts: Texts,
        }

        #[wasm_bindgen]
        impl $name {
            /// Returns a session without any input.
            #[wasm_bindgen(constructor)]
            pub fn new() -> Self {
                Self::default()
            }

            /// Describes the engine.
            pub fn about() -> Vec<u8> {
                to_bytes(&<$conversation>::about())
            }

            /// Sets a changed text, by its number, for the next question.
            #[wasm_bindgen(js_name = setText)]
            pub fn set_text(&mut self, number: u32, text: String) {
                self.texts.set(number, text);
            }

            /// Answers a question of the page of the same version.
            ///
            /// # Errors
            /// If it is a question of another version.
            pub fn answer(&mut self, request: &[u8]) -> Result<Vec<u8>, JsError> {
                let request = from_bytes(request)
                    .ok_or_else(|| JsError::new("the page has another version than the engine"))?;
                let texts = std::mem::take(&mut self.texts);
                Ok(to_bytes(&self.conversation.answer(texts, request)))
            }
        }
    };
}

exported! {
    /// The session of a worker of the playground. It keeps the inputs from one question to the next.
    Session, Conversation
}

#[cfg(feature = "review")]
exported! {
    /// The session of a worker that compares two locks.
    Review, crate::review::Session
}
