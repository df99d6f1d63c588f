//! Why a run or a step ends early.

use agent_api::diagnostic::Code;
use agent_api::plan::RunProblem;

/// The reason why a run ends early: a stable code, a more exact reason where there is one, and a
/// sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stop {
    /// The stable code.
    pub(crate) code: Code,
    /// A more exact reason, such as `APPROVAL_REQUIRED`.
    pub(crate) reason: Option<Code>,
    /// A sentence, without a final stop.
    pub(crate) message: String,
}

impl Stop {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            reason: None,
            message: message.into(),
        }
    }

    pub(crate) fn because(self, reason: Code) -> Self {
        Self {
            reason: Some(reason),
            ..self
        }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::MovaInternal, message)
    }

    pub(crate) fn unexpected() -> Self {
        Self::internal("the host answered with something else")
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(Code::MovaHandlerFailed, "the run was cancelled").because(Code::Cancelled)
    }

    /// Returns whether nothing more can be wanted: the run is interrupted, or evidence can't be stored.
    pub(crate) fn is_final(&self) -> bool {
        self.is_cancelled() || self.code == Code::MovaInternal
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.reason == Some(Code::Cancelled)
    }

    /// Returns the first of several problems, which names the step's code.
    pub(crate) fn first(problems: Vec<RunProblem>) -> Result<(), Self> {
        match problems.into_iter().next() {
            Some(problem) => Err(problem.into()),
            None => Ok(()),
        }
    }
}

impl From<RunProblem> for Stop {
    fn from((code, message): RunProblem) -> Self {
        Self::new(code, message)
    }
}
