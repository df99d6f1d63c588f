//! The session of the page of servers.

use crate::evaluator;
use crate::inputs::Inputs;
use agent_api::answer::{self, Rows};
use agent_api::decide::{Failures, Resolution};
use agent_api::model::{Residency, Sensitivity};
use agent_api::render;
use agent_worker_protocol::{About, Answer, Explained, Request, Texts};

/// Maximum number of entries of an explanation: some 30 MB of text.
const RESOLUTION_LIMIT: usize = 200_000;

/// Maximum number of tools, counted for each requirement, for which a policy is asked under every
/// constraint.
const TOOLS_UNDER_POLICY: usize = 1_000;

/// Keeps the inputs and the decision about them from one question to the next.
#[derive(Default)]
pub struct Session {
    inputs: Inputs,
    resolution: Option<Resolution>,
    rows: Option<Rows>,
    /// The counts under all constraints, and whether signatures are required.
    counts: Option<(bool, Vec<u32>)>,
    /// Whether an answer has contained the present verdict.
    reported: bool,
}

impl Session {
    /// Describes the engine.
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
            checks: Failures::CHECKS.to_vec(),
            policies: evaluator::PRESENT,
        }
    }

    /// Answers a question.
    pub fn answer(&mut self, texts: Texts, request: Request) -> Answer {
        if texts != Texts::default() {
            // Before the texts are read: memory holds one large index, not two.
            self.resolution = None;
            self.rows = None;
            self.counts = None;
            self.inputs.read(texts);
            self.resolution = self.inputs.resolve();
            self.reported = false;
        }
        let mut answer = Answer::default();
        if !std::mem::replace(&mut self.reported, true) {
            answer.verdict = Some(self.inputs.verdict(self.resolution.as_ref()));
            answer.is_partial = self.inputs.is_partial();
        }
        if request.report {
            answer.report = self.inputs.report(self.resolution.as_ref());
        }
        if let Some(resolution) = &self.resolution {
            answer.matrix = request.matrix.map(|it| {
                answer::matrix(resolution, it.filter, it.offset, it.limit, &mut self.rows)
            });
            answer.explanation = request.explanation.and_then(|it| {
                answer::explanation(resolution, it.requirement, &it.server, it.tool.as_deref())
            });
            answer.rejected = request
                .rejected
                .and_then(|it| answer::rejected(resolution, it.requirement, it.check, it.limit));
            answer.eligible = request
                .eligible
                .and_then(|it| answer::eligible(resolution, it.requirement, it.limit));
            if request.counts && !self.asks_policy_often(resolution) {
                let present = resolution.constraints().require_signed();
                let supposed = request.supposed.as_ref();
                let signed = supposed.map_or(present, |it| it.require_signed);
                let kept = self.counts.take().filter(|kept| kept.0 == signed);
                let counts =
                    kept.unwrap_or_else(|| (signed, answer::satisfied_counts(resolution, signed)));
                answer.counts = Some(counts.1.clone());
                self.counts = Some(counts);
            }
            answer.policy = request
                .policy
                .and_then(|it| self.inputs.policy_view(resolution, it, &request.tried));
            answer.supposed = request
                .supposed
                .map(|constraints| answer::supposed(resolution, &constraints));
            let asked = request.resolution;
            answer.resolution = asked.map(|limit| explanation_file(resolution, limit));
        }
        answer
    }

    /// Returns whether a policy would be asked about too many tools under every constraint.
    fn asks_policy_often(&self, resolution: &Resolution) -> bool {
        let asked = resolution.matching().len() * resolution.index().tool_count();
        self.inputs.policy.value.is_some() && asked > TOOLS_UNDER_POLICY
    }
}

/// Returns the text of `agents.resolution.json` or its beginning, or the reason why it is not written.
fn explanation_file(resolution: &Resolution, limit: u32) -> Result<Explained, String> {
    let index = resolution.index();
    let entries = index.len() * resolution.outcomes().len()
        + index.tool_count().max(index.len()) * resolution.matching().len();
    if limit == u32::MAX && entries > RESOLUTION_LIMIT {
        return Err(format!(
            "the explanation has {entries} entries, and at most {RESOLUTION_LIMIT} are written \
             here: use `agent resolve`"
        ));
    }
    let (text, is_whole) = render::resolution_beginning(resolution, limit as usize);
    Ok(Explained { text, is_whole })
}
