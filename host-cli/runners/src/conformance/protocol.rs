//! What every invocation has to keep, whatever it is asked.

use super::{Judge, Refusal};
use crate::{Error, Reply};
use serde_json::{Map, Value};

/// The exit codes of the protocol.
const EXIT_CODES: [i32; 5] = [0, 10, 20, 30, 40];
/// Number of characters of an output in a sentence.
const QUOTED: usize = 120;

/// What an answer is to the check that asked.
#[derive(Debug)]
pub(super) enum Answer {
    /// The data of a success.
    Data(String),
    /// A failure that the runner reports.
    Refused(Refusal),
    /// The answer is missing, or breaks the protocol, which is a separate check: the reason.
    Unusable(String),
}

/// The first fault of each kind.
#[derive(Debug, Default)]
pub(super) struct Protocol {
    pub(super) ends: Option<String>,
    pub(super) one_object: Option<String>,
    pub(super) quiet: Option<String>,
    pub(super) envelope: Option<String>,
    pub(super) exit_code: Option<String>,
}

impl Protocol {
    /// Records the faults of an invocation, and returns what it means. `what` names the request.
    pub(super) fn read(
        &mut self,
        judge: &impl Judge,
        what: &str,
        reply: &Result<Reply, Error>,
    ) -> Answer {
        let reply = match reply {
            Ok(reply) => reply,
            Err(error) => {
                let place = match error {
                    Error::AnswerTooLarge => &mut self.one_object,
                    _ => &mut self.ends,
                };
                return fault(place, format!("{what}: {error}"));
            }
        };
        if !reply.stderr.is_empty() {
            let shown = quoted(&reply.stderr);
            fault(
                &mut self.quiet,
                format!("{what} wrote to standard error: {shown}"),
            );
        }
        let Ok(envelope) = serde_json::from_slice::<Map<String, Value>>(&reply.stdout) else {
            let shown = quoted(&reply.stdout);
            let sentence = format!(
                "{what} did not write one JSON object, but {shown}, and exited with {}",
                reply.exit_code
            );
            return fault(&mut self.one_object, sentence);
        };
        if lacks_message(&envelope) {
            let sentence = format!("{what} failed with an `error` that has no `message`");
            return fault(&mut self.envelope, sentence);
        }
        // Standard error is a separate check.
        let judged = |exit_code| judge.answer(&reply.stdout, b"", exit_code);
        match own(&envelope, judged(reply.exit_code)) {
            Ok(answer) => answer,
            Err(refusal) => {
                let agrees = |code: &i32| own(&envelope, judged(*code)).is_ok();
                match EXIT_CODES.iter().find(|code| agrees(code)) {
                    Some(code) => fault(
                        &mut self.exit_code,
                        format!(
                            "{what} exited with {}, and its answer needs {code}",
                            reply.exit_code
                        ),
                    ),
                    None => fault(&mut self.envelope, format!("{what}: {}", refusal.message)),
                }
            }
        }
    }
}

/// Returns an answer that keeps the protocol: a success, or a failure that is the runner's own. The error is the
/// judge's.
fn own(envelope: &Map<String, Value>, judged: Result<String, Refusal>) -> Result<Answer, Refusal> {
    let refusal = match judged {
        Ok(data) => return Ok(Answer::Data(data)),
        Err(refusal) => refusal,
    };
    let of_error = |name: &str| envelope.get("error")?.get(name)?.as_str();
    let is_own =
        of_error("code") == Some(&refusal.code) && of_error("message") == Some(&refusal.message);
    match is_own {
        true => Ok(Answer::Refused(refusal)),
        false => Err(refusal),
    }
}

/// Returns whether an answer has an `error` that says nothing. The engine lets it pass.
fn lacks_message(envelope: &Map<String, Value>) -> bool {
    let Some(error) = envelope.get("error") else {
        return false;
    };
    let message = error.get("message").and_then(Value::as_str);
    message.unwrap_or_default().is_empty()
}

/// Records the first fault of a kind.
fn fault(place: &mut Option<String>, sentence: String) -> Answer {
    place.get_or_insert_with(|| sentence.clone());
    Answer::Unusable(sentence)
}

/// Returns the beginning of an output, in which no character is invisible.
pub(super) fn quoted(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "nothing".to_owned();
    }
    let text = String::from_utf8_lossy(bytes);
    let mut shown: String = text.chars().take(QUOTED).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}
