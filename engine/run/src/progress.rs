//! How far a run has come in its lifecycle \[3, 4.2\].

use super::stop::Stop;
use agent_api::diagnostic::Code;

/// A part of the lifecycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// 1: validate the plan.
    Plan,
    /// 2: validate the tool pool.
    ToolPool,
    /// 3: validate the instruction profile.
    Profile,
    /// 4: store the documents, the report and the verdict.
    Decision,
    /// 5: a part of the step at this place in the plan.
    Step(usize, StepStage),
    /// 6: record the run and write its summary.
    Summary,
}

/// A part of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepStage {
    /// a: resolve the input.
    Resolve,
    /// b: validate the input.
    Validate,
    /// c: check policy, approval and limits.
    Check,
    /// d: choose the handler.
    Dispatch,
    /// e: execute the handler and the effect that it asks for.
    Execute,
    /// f: validate the output.
    Output,
    /// g: write the log.
    Log,
    /// h: record the step.
    Record,
}

impl Stage {
    /// The parts before the steps.
    pub const BEFORE_STEPS: [Self; 4] = [Self::Plan, Self::ToolPool, Self::Profile, Self::Decision];

    /// Returns the number of the specification, such as `5a`.
    #[must_use]
    pub fn number(self) -> &'static str {
        match self {
            Self::Plan => "1",
            Self::ToolPool => "2",
            Self::Profile => "3",
            Self::Decision => "4",
            Self::Step(_, stage) => stage.number(),
            Self::Summary => "6",
        }
    }

    /// Returns what happens there, in a few words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Plan => "validate the plan",
            Self::ToolPool => "validate the tool pool",
            Self::Profile => "validate the instruction profile",
            Self::Decision => "store the documents, the report and the verdict",
            Self::Step(_, stage) => stage.title(),
            Self::Summary => "record the run and write its summary",
        }
    }
}

impl StepStage {
    /// All parts, in order.
    pub const ALL: [Self; 8] = [
        Self::Resolve,
        Self::Validate,
        Self::Check,
        Self::Dispatch,
        Self::Execute,
        Self::Output,
        Self::Log,
        Self::Record,
    ];

    fn number(self) -> &'static str {
        match self {
            Self::Resolve => "5a",
            Self::Validate => "5b",
            Self::Check => "5c",
            Self::Dispatch => "5d",
            Self::Execute => "5e",
            Self::Output => "5f",
            Self::Log => "5g",
            Self::Record => "5h",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Resolve => "resolve the input",
            Self::Validate => "validate the input",
            Self::Check => "check policy, approval and limits",
            Self::Dispatch => "choose the handler",
            Self::Execute => "execute",
            Self::Output => "validate the output",
            Self::Log => "write the log",
            Self::Record => "record the step",
        }
    }
}

/// How far a part came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StageOutcome {
    /// It has begun.
    Begun,
    /// Nothing was found against the run.
    Passed,
    /// The run ends because of it.
    Failed(Code),
}

/// How far a run has come: the parts that it reached, in order, and its evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// The parts.
    pub stages: Vec<(Stage, StageOutcome)>,
    /// The number of episodes.
    pub episodes: u32,
    /// The digest of the last line of the chain.
    pub head: Option<String>,
}

impl Progress {
    /// Begins a part, once. The part before, unless it failed, is passed. Returns whether the part is new.
    pub(crate) fn reach(&mut self, stage: Stage) -> bool {
        let is_new = self.stages.iter().all(|(reached, _)| *reached != stage);
        if is_new {
            self.end(StageOutcome::Passed);
            self.stages.push((stage, StageOutcome::Begun));
        }
        is_new
    }

    /// Ends the present part, if there is one.
    pub(crate) fn pass(&mut self) {
        self.end(StageOutcome::Passed);
    }

    /// Ends the present part, if there is one, because of a stop.
    pub(crate) fn fail(&mut self, stop: &Stop) {
        self.end(StageOutcome::Failed(stop.code));
    }

    fn end(&mut self, outcome: StageOutcome) {
        if let Some((_, last)) = self.stages.last_mut()
            && *last == StageOutcome::Begun
        {
            *last = outcome;
        }
    }
}
