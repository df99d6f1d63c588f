//! The engine as the judge of runners.

use agent_host::contract::daemon::Failure;
use agent_host::{Engine, call};
use agent_runners::conformance::{Judge, Refusal};

/// The embedded engine, with an instance for each question.
pub(crate) struct ByEngine(Engine);

impl ByEngine {
    pub(crate) fn new() -> Self {
        Self(Engine::embedded().expect("the embedded engine"))
    }
}

/// The code is that of the engine, such as `Plan`.
fn refusal(failure: Failure) -> Refusal {
    Refusal {
        code: format!("E_{:?}", failure.code)
            .replace("ErrorCode::", "")
            .to_uppercase(),
        message: failure.message,
    }
}

impl Judge for ByEngine {
    fn answer(&self, stdout: &[u8], stderr: &[u8], exit_code: i32) -> Result<String, Refusal> {
        let mut engine = self.0.instantiate().expect("an instance");
        let answer = call!(engine, daemon.runner_answer(stdout, stderr, exit_code));
        answer.expect("the engine answers").map_err(refusal)
    }

    fn manifest(&self, text: &[u8], task_id: &str) -> Result<(), Refusal> {
        let mut engine = self.0.instantiate().expect("an instance");
        let read = call!(engine, daemon.read_manifest(text, task_id));
        read.expect("the engine answers").map(drop).map_err(refusal)
    }
}
