//! Outcomes from the fields that a person filled in.

use agent_run::{
    Aborted, Exited, Failure, FailureKind, Handled, HandlerEvent, HandlerRequest, Opened, Outcome,
    Response,
};
use agent_worker_protocol::run::OutcomeKind;

/// The end of a run by its user, instead of an outcome.
pub(super) const CANCELLED: OutcomeKind = OutcomeKind::Cancelled;

/// The kinds of failures, by the words of evidence.
pub(super) const FAILURES: [(&str, FailureKind); 4] = [
    ("timeout", FailureKind::Timeout),
    ("limit_exceeded", FailureKind::LimitExceeded),
    ("unavailable", FailureKind::Unavailable),
    ("failed", FailureKind::Failed),
];

/// The words of a decision.
pub(super) const DECISIONS: [&str; 2] = ["yes", "no"];

/// Returns the outcome of fields; `None` if the run is cancelled instead.
///
/// # Errors
/// What is wrong with a field.
pub(super) fn of(kind: OutcomeKind, fields: &[String]) -> Result<Option<Outcome>, String> {
    let fields: Vec<_> = fields.iter().map(String::as_str).collect();
    let bytes = |text: &str| text.as_bytes().to_vec();
    let handled = |event, log: &str| {
        Outcome::Handler(Handled {
            event,
            log: bytes(log),
            log_truncated: false,
        })
    };
    Ok(Some(match (kind, &*fields) {
        (OutcomeKind::Cancelled, []) => return Ok(None),
        (OutcomeKind::Failed, [kind, message]) => Outcome::Failed(failure(kind, message)?),
        (OutcomeKind::Aborted, [kind, message, stderr]) => Outcome::Aborted(Aborted {
            failure: failure(kind, message)?,
            stderr: bytes(stderr),
            stderr_truncated: false,
        }),
        (OutcomeKind::Decided, [approved, by]) => Outcome::Decision {
            approved: *approved == DECISIONS[0],
            by: (*by).to_owned(),
        },
        (OutcomeKind::Addresses, [addresses]) => Outcome::Addresses(lines(addresses)),
        (OutcomeKind::Returned, [output, log]) => {
            handled(HandlerEvent::Returned(bytes(output)), log)
        }
        (OutcomeKind::HandlerFailed, [kind, message, log]) => {
            handled(HandlerEvent::Failed(failure(kind, message)?), log)
        }
        (OutcomeKind::WantsRequest, [method, url, headers, body, log]) => {
            let request = HandlerRequest {
                method: (*method).to_owned(),
                url: (*url).to_owned(),
                headers: lines(headers)
                    .iter()
                    .map(|line| header(line))
                    .collect::<Result<_, _>>()?,
                body: (!body.is_empty()).then(|| bytes(body)),
            };
            handled(HandlerEvent::Request(request), log)
        }
        (OutcomeKind::WantsProgram, [path, arguments, stdin, log]) => {
            let program = HandlerEvent::Program {
                path: (*path).to_owned(),
                arguments: lines(arguments),
                stdin: bytes(stdin),
            };
            handled(program, log)
        }
        (OutcomeKind::WantsTool, [arguments, log]) => {
            let arguments = bytes(arguments);
            handled(HandlerEvent::Tool { arguments }, log)
        }
        (OutcomeKind::Response, [status, content_type, body]) => Outcome::Response(Response {
            status: number("the status", status)?,
            content_type: (*content_type).to_owned(),
            body: bytes(body),
        }),
        (OutcomeKind::Exited, [code, stdout, stderr]) => Outcome::Exited(Exited {
            code: number("the exit code", code)?,
            stdout: bytes(stdout),
            stderr: bytes(stderr),
            stderr_truncated: false,
        }),
        (OutcomeKind::Opened, [protocol]) => Outcome::Opened(Opened {
            protocol: (*protocol).to_owned(),
            ..Opened::default()
        }),
        (OutcomeKind::Received, [text]) => Outcome::Bytes(bytes(text)),
        _ => return Err("the answer has another number of fields".to_owned()),
    }))
}

/// Returns an outcome in words.
pub(super) fn words(kind: OutcomeKind, fields: &[String]) -> String {
    let first = fields.first().map_or("", String::as_str);
    let second = fields.get(1).map_or("", String::as_str);
    match kind {
        OutcomeKind::Cancelled => "the run is cancelled".to_owned(),
        OutcomeKind::Failed | OutcomeKind::Aborted => format!("{first}: {second}"),
        OutcomeKind::HandlerFailed => format!("the handler failed, {first}: {second}"),
        OutcomeKind::Decided if first == DECISIONS[0] => format!("approved by `{second}`"),
        OutcomeKind::Decided => format!("refused by `{second}`"),
        OutcomeKind::Addresses => match lines(first).join(", ") {
            none if none.is_empty() => "no address".to_owned(),
            addresses => addresses,
        },
        OutcomeKind::Returned => format!("the handler returns `{}`", start(first)),
        OutcomeKind::WantsRequest => format!("the handler asks for `{first} {}`", start(second)),
        OutcomeKind::WantsProgram => {
            let arguments = lines(second).join(" ");
            format!("the handler asks for `{first} {}`", start(&arguments))
        }
        OutcomeKind::WantsTool => format!("the handler asks for its tool with `{}`", start(first)),
        OutcomeKind::Response => format!("status {first}"),
        OutcomeKind::Exited => format!("exit code {first}"),
        OutcomeKind::Opened => format!("ready, with the protocol {first}"),
        OutcomeKind::Received => format!("`{}`", start(first)),
    }
}

/// Number of characters of a text that is quoted in a line.
const QUOTED: usize = 60;

/// Returns the start of a text in one line.
fn start(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn failure(kind: &str, message: &str) -> Result<Failure, String> {
    let named = FAILURES.iter().find(|(name, _)| *name == kind);
    let (_, kind) = named.ok_or_else(|| format!("`{kind}` is not a kind of failure"))?;
    Ok(Failure {
        kind: *kind,
        message: message.to_owned(),
    })
}

fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

fn header(line: &str) -> Result<(String, String), String> {
    let (name, value) = line
        .split_once(':')
        .ok_or_else(|| format!("the header `{line}` has no colon"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn number<N: core::str::FromStr>(name: &str, text: &str) -> Result<N, String> {
    let parsed = text.trim().parse();
    parsed.map_err(|_| format!("{name} must be a whole number in its range; `{text}` is not one"))
}
