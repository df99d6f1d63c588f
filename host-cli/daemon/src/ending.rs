//! How and why apps end, in words.

use super::refusal::refused;
use agent_host::contract::daemon::{ErrorCode, Failure};
use agent_tasks::Cause;

/// The exit code of the shell for a program that it does not find.
const NOT_FOUND: i32 = 127;

/// Number of bytes of `run.log` in a message.
const QUOTED: usize = 400;

/// The reason of a task whose daemon ended before its app was started.
pub(crate) const BEFORE_START: &str = "its daemon ended before the app was started";

/// Returns whether an app failed, and did not end because somebody or its time wanted it.
pub(crate) fn is_failure(cause: &Cause) -> bool {
    match cause {
        Cause::Exited { code } => *code != 0,
        // Its time was known before.
        Cause::Limit { limit } => limit != "wall_sec",
        Cause::Signal { .. } | Cause::Gone | Cause::NotStarted { .. } => true,
        Cause::Stopped | Cause::Idle | Cause::Lost => false,
    }
}

/// Returns the failure of an app that ended before it was ready.
pub(crate) fn ended(cause: Option<&Cause>, program: Option<&str>, log: &[u8]) -> Failure {
    let message = match (cause, program) {
        (Some(Cause::Exited { code: NOT_FOUND }), Some(program)) => {
            format!("the program `{program}` is not in the sandbox")
        }
        (Some(Cause::Stopped | Cause::Idle | Cause::Lost) | None, _) => {
            "the app was ended before it was ready".to_owned()
        }
        (Some(cause), _) => how(cause),
    };
    let mut refusal = refused(
        ErrorCode::Runtime,
        message,
        "read `run.log`, correct the files and call `run.start`",
    );
    let log = tail(log);
    if !log.is_empty() {
        refusal.hints.push(format!("the log ends with: {log}"));
    }
    refusal
}

/// Returns how an app ended.
pub(crate) fn how(cause: &Cause) -> String {
    match cause {
        Cause::Exited { code } => format!("the app exited with code {code}"),
        Cause::Signal { signal } => format!("the app was ended by signal {signal}"),
        Cause::Limit { limit } => format!("the app reached its limit `{limit}`"),
        Cause::Gone => "the app ended by itself".to_owned(),
        Cause::NotStarted { reason } => format!("the app was not started: {reason}"),
        Cause::Stopped => "the app was ended".to_owned(),
        Cause::Idle => "the app had no connection for too long".to_owned(),
        Cause::Lost => "its supervisor was killed, or the machine was restarted".to_owned(),
    }
}

/// Returns the last whole lines of a log, as many as are quoted.
fn tail(log: &[u8]) -> String {
    let text = String::from_utf8_lossy(log);
    let mut tail = text.trim();
    while tail.len() > QUOTED {
        match tail.split_once('\n') {
            Some((_, rest)) => tail = rest,
            None => break,
        }
    }
    tail.chars().take(QUOTED).collect()
}
