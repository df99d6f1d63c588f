//! A conversation with a page.

use crate::inputs::Inputs;
use crate::view::Rows;
use crate::{evaluator, verdict, view};
use agent_api::decide::{Failures, Resolution};
use agent_api::explain;
use agent_api::model::{Residency, Sensitivity};
use agent_protocol::{About, Answer, CheckName, Request, Texts};

/// Keeps the inputs and the decision about them from one question to the next.
#[derive(Default)]
pub struct Session {
    inputs: Inputs,
    resolution: Option<Resolution>,
    rows: Option<Rows>,
    /// Whether an answer has held the verdict as it is.
    told: bool,
}

impl Session {
    /// What is known before any question.
    pub fn about() -> About {
        About {
            version: agent_api::VERSION.to_owned(),
            residencies: Residency::ALL
                .iter()
                .map(|r| r.as_str().to_owned())
                .collect(),
            sensitivities: Sensitivity::ALL
                .iter()
                .map(|level| level.as_str().to_owned())
                .collect(),
            checks: Failures::CHECKS
                .iter()
                .map(|code| CheckName {
                    code: code.name().to_owned(),
                    name: explain::check_name(*code).to_owned(),
                    title: code.title().to_owned(),
                    help: code.help().to_owned(),
                })
                .collect(),
            policies: evaluator::PRESENT,
        }
    }

    /// Answers a question.
    pub fn answer(&mut self, ask: Request) -> Answer {
        if ask.texts != Texts::default() {
            // Before the texts are read: a large index is to be kept once, not twice.
            self.resolution = None;
            self.rows = None;
            self.inputs.read(ask.texts);
            self.resolution = self.inputs.resolve();
            self.told = false;
        }
        let mut answer = Answer {
            revision: ask.revision,
            ..Answer::default()
        };
        if !std::mem::replace(&mut self.told, true) {
            answer.verdict = Some(verdict::verdict(&self.inputs, self.resolution.as_ref()));
        }
        let wanted = ask.wanted;
        if let Some(resolution) = &self.resolution {
            answer.matrix = wanted
                .matrix
                .map(|ask| view::matrix(resolution, ask, &mut self.rows));
            answer.explanation = wanted
                .explanation
                .and_then(|ask| view::story(resolution, &ask));
            answer.rejected = wanted
                .rejected
                .and_then(|ask| view::fallen(resolution, ask));
            answer.eligible = wanted
                .eligible
                .and_then(|ask| view::eligible(resolution, ask));
            answer.supposed = wanted
                .supposed
                .map(|constraints| view::supposed(resolution, &constraints));
            answer.resolution = wanted.resolution.then(|| view::resolution(resolution));
        }
        answer
    }
}
