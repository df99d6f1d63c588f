//! `agent:engine/diagnostic`

use crate::Component;
use crate::bindings::exports::agent::engine::diagnostic::{CodeEntry, Guest, Position};
use agent_engine::diagnostic::Code;
use agent_engine::text::LineIndex;

impl Guest for Component {
    fn catalogue() -> Vec<CodeEntry> {
        Code::ALL
            .iter()
            .map(|code| CodeEntry {
                code: (*code).into(),
                name: code.name().to_owned(),
                severity: code.severity().into(),
                title: code.title().to_owned(),
                help: code.help().to_owned(),
            })
            .collect()
    }

    fn position_at(text: String, offset: u32) -> Position {
        LineIndex::new(&text)
            .position(&text, offset as usize)
            .into()
    }
}
