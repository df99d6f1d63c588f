//! The runners of apps, in the words of the contract.

use super::daemon::Daemon;
use super::refusal::refused;
use super::task::Task;
use agent_host::contract::daemon::{ErrorCode, Failure, Language};
use agent_runners::built_in;
use std::path::PathBuf;

impl Daemon {
    /// Returns the folder with the files of an app, as batches wrote them.
    pub(crate) fn source(&self, task: &Task) -> PathBuf {
        self.root.join(&task.id).join("source")
    }
}

/// Returns the language of the runner of an app.
pub(crate) fn runner_of(language: Language) -> built_in::Language {
    match language {
        Language::Python => built_in::Language::Python,
        Language::Node => built_in::Language::Node,
        Language::Go => built_in::Language::Go,
        Language::Rust => built_in::Language::Rust,
    }
}

/// Returns the failure of a runner as that of a verb.
pub(crate) fn failed(failure: built_in::Failure) -> Failure {
    let code = ErrorCode::named(failure.code.name()).unwrap_or(ErrorCode::Runtime);
    Failure {
        hints: failure.hints,
        ..refused(code, failure.message, "")
    }
}

/// Returns the failure of a verb as a runner gets it.
pub(crate) fn told(failure: Failure) -> built_in::Failure {
    let code = built_in::ErrorCode::named(failure.code.name());
    built_in::Failure {
        code: code.unwrap_or(built_in::ErrorCode::Runtime),
        message: failure.message,
        hints: failure.hints,
    }
}
