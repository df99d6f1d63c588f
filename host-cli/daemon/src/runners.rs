//! The runners of apps, in the words of the contract.

use super::daemon::Daemon;
use super::refusal::refused;
use super::task::Task;
use agent_host::contract::daemon::{ErrorCode, Failure, Language};
use agent_runners::built_in;
use std::path::PathBuf;

impl Daemon {
    /// Returns the folder with the files of an app.
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

/// The codes of both contracts.
const CODES: [(ErrorCode, built_in::ErrorCode); 8] = [
    (ErrorCode::Plan, built_in::ErrorCode::Plan),
    (ErrorCode::Fs, built_in::ErrorCode::Fs),
    (ErrorCode::Policy, built_in::ErrorCode::Policy),
    (ErrorCode::Build, built_in::ErrorCode::Build),
    (ErrorCode::Runtime, built_in::ErrorCode::Runtime),
    (ErrorCode::Timeout, built_in::ErrorCode::Timeout),
    (ErrorCode::Network, built_in::ErrorCode::Network),
    (ErrorCode::Port, built_in::ErrorCode::Port),
];

/// Returns the failure of a runner as that of a verb.
pub(crate) fn failed(failure: built_in::Failure) -> Failure {
    let mut codes = CODES.into_iter();
    let found = codes.find(|(_, code)| *code == failure.code);
    let code = found.map_or(ErrorCode::Runtime, |(code, _)| code);
    Failure {
        hints: failure.hints,
        ..refused(code, failure.message, "")
    }
}

/// Returns the failure of a verb as a runner gets it.
pub(crate) fn told(failure: Failure) -> built_in::Failure {
    let mut codes = CODES.into_iter();
    let found = codes.find(|(code, _)| *code == failure.code);
    built_in::Failure {
        code: found.map_or(built_in::ErrorCode::Runtime, |(_, code)| code),
        message: failure.message,
        hints: failure.hints,
    }
}
