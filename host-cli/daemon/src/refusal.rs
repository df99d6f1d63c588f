//! Why a verb fails \[2, 8\].

use agent_host::Failure;
use agent_host::contract::daemon::ErrorCode;
pub(crate) use agent_host::contract::daemon::Failure as Refusal;

/// What a verb has, or why it fails.
pub(crate) type Answered<T> = Result<T, Refusal>;

/// Returns the failure of a verb.
pub(crate) fn refused(
    code: ErrorCode,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Refusal {
    Refusal {
        code,
        message: message.into(),
        hints: vec![hint.into()],
        task_id: None,
    }
}

/// Returns the failure of a verb for which this program could not do its part.
pub(crate) fn broken(failure: Failure) -> Refusal {
    let hint = failure
        .help
        .unwrap_or_else(|| "read the daemon's messages".to_owned());
    refused(ErrorCode::Runtime, failure.message, hint)
}

/// Why something could not be done to the files or the processes of a task.
pub(crate) type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// Returns the failure of a verb whose work on a task failed.
pub(crate) fn stored(code: ErrorCode, trouble: &dyn std::error::Error) -> Refusal {
    let hint = match code {
        ErrorCode::Fs => "correct the paths and the files of the task, and try again",
        _ => "read `run.log` in the folder of the task",
    };
    refused(code, trouble.to_string(), hint)
}

/// Returns the failure of a build whose task was ended.
pub(crate) fn was_ended() -> Refusal {
    let hint = "open another task with `plan.create`";
    refused(ErrorCode::Runtime, "the task was ended", hint)
}
