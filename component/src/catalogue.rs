//! `agent:engine/catalogue`

use crate::Component;
use crate::bindings::exports::agent::engine::catalogue::{CodeEntry, Guest};
use agent_api::diagnostic::Code;

impl Guest for Component {
    fn codes() -> Vec<CodeEntry> {
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
}
