//! Programs in the sandbox of the operating system.

use super::effects::{aborted, failed};
use agent_host::contract::run::{Exited, FailureKind, Outcome, Program};
use agent_sandbox::{Command, Exit, Limits, NoSandbox, RunError, Sandbox};
use std::future;
use std::time::Duration;

/// The word of evidence for a machine without a sandbox, which runs no program.
const NO_TIER: &str = "none";

/// Runs programs, if this machine has a sandbox.
pub(crate) struct Programs(Result<Sandbox, NoSandbox>);

impl Programs {
    /// Finds the strongest sandbox by a trial run.
    pub(crate) async fn find() -> Self {
        Self(Sandbox::best().await)
    }

    /// Returns the word of evidence for the sandbox.
    pub(crate) fn tier(&self) -> &'static str {
        match &self.0 {
            Ok(sandbox) => sandbox.tier().name(),
            Err(_) => NO_TIER,
        }
    }

    /// Returns the sandbox.
    ///
    /// # Errors
    ///
    /// The reason why this machine has none.
    pub(crate) fn sandbox(&self) -> Result<Sandbox, String> {
        self.0.as_ref().copied().map_err(ToString::to_string)
    }

    /// Runs a program to its end.
    pub(crate) async fn run(&self, program: Program) -> Outcome {
        let sandbox = match &self.0 {
            Ok(sandbox) => sandbox,
            Err(none) => return failed(FailureKind::Unavailable, none.to_string()),
        };
        let limits = Limits {
            wall_time: Some(Duration::from_millis(program.timeout_ms)),
            stdout_bytes: program.max_output_bytes,
            stderr_bytes: program.max_log_bytes,
            ..Limits::default()
        };
        let mut command = Command::new(program.path);
        command.arguments = program.arguments.into_iter().map(Into::into).collect();
        // A run that is cancelled drops this future, which ends the program.
        let ended = sandbox.run(command, program.stdin, limits, future::pending());
        match ended.await {
            Ok(finished) => Outcome::Exited(Exited {
                code: match finished.exit {
                    Exit::Code(code) => code,
                    Exit::Signal(signal) => -signal,
                },
                stdout: finished.stdout,
                stderr: finished.stderr.bytes,
                stderr_truncated: finished.stderr.truncated,
            }),
            Err(error) => {
                let kind = match &error {
                    RunError::Timeout(_) => FailureKind::Timeout,
                    RunError::LimitExceeded(..) => FailureKind::LimitExceeded,
                    _ => FailureKind::Failed,
                };
                let message = error.to_string();
                match error.log() {
                    Some(log) => aborted(kind, message, log.clone()),
                    None => failed(kind, message),
                }
            }
        }
    }
}
