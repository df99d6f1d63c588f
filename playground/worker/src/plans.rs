//! A conversation with the page of plans.

mod call;
mod difference;
mod grounding;

use crate::inputs::Read;
use agent_engine::lower;
use agent_engine::model::{CallPlan, Index, Lock, Payload, Summary, ToolCatalogue};
use agent_protocol::Source;
use agent_protocol::plans::{About, Answer, Ask, Decided, Matter};

/// How many characters of a text are shown where it may be as long as a whole input.
const SHOWN: usize = 400;

/// Keeps the inputs from one question to the next.
#[derive(Default)]
pub struct Session {
    call: Read<CallPlan>,
    lock: Read<Lock>,
    index: Read<Index>,
    catalogue: Read<ToolCatalogue>,
    summary: Read<Summary>,
    payload: Read<Payload>,
}

impl Session {
    /// What is known before any question.
    pub fn about() -> About {
        About {
            version: agent_engine::VERSION.to_owned(),
        }
    }

    /// Answers a question.
    pub fn answer(&mut self, ask: Ask) -> Answer {
        for (source, text) in ask.texts.0 {
            self.read(source, text);
        }
        Answer {
            revision: ask.revision,
            milliseconds: 0.0,
            decided: match ask.matter {
                Matter::Plan => None,
                Matter::Call => Some(Decided::Call(call::decision(self))),
                Matter::Grounding => Some(Decided::Grounding(grounding::grounding(self))),
            },
        }
    }

    /// Reads a text, each when it changes.
    fn read(&mut self, source: Source, text: String) {
        match source {
            Source::Call => self.call = lower::call_plan(text.into_bytes()).into(),
            Source::Lock => self.lock = Read::optional(text, lower::lock),
            Source::Index => {
                // The index of before makes room: two large ones may be too many.
                self.index = Read::default();
                self.index = lower::index(text.into_bytes()).into();
            }
            Source::Catalogue => self.catalogue = Read::optional(text, lower::tool_catalogue),
            Source::Summary => self.summary = lower::summary(text.into_bytes()).into(),
            Source::Payload => self.payload = lower::payload(text.into_bytes()).into(),
            _ => {}
        }
    }
}

/// As much of a text as is shown.
fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
