//! `agent:engine/diagnostic`

use crate::Component;
use crate::bindings::exports::agent::engine::diagnostic::{Guest, Position};
use agent_api::text::LineIndex;

impl Guest for Component {
    fn position_at(text: String, offset: u32) -> Position {
        LineIndex::new(&text)
            .position(&text, offset as usize)
            .into()
    }
}
