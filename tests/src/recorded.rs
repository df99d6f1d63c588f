//! Recorded runs: documents, options and outcomes as JSON, and the digest of all that the run asked for.
//!
//! A test of the browser's module includes this file. It uses nothing of this package.

use agent_api::lower::digest;
use agent_run::{
    Aborted, Action, Clock, Documents, Exited, Failure, FailureKind, Goal, Handled, HandlerEvent,
    HandlerRequest, Mode, Opened, Options, Outcome, Response, Run, StoreMode,
};
use serde_json::{Value, json};

/// More turns than any run takes.
const TURNS_MAX: u64 = 10_000;

/// The reading of the clock after a number of turns: each takes a millisecond.
fn clock(turn: u64) -> Clock {
    Clock {
        unix_ms: 1_795_467_208_000 + turn,
        monotonic_ms: turn,
        utc_offset_minutes: 0,
    }
}

/// Runs documents to their end. `answer` returns the outcome of each effect; `None` cancels the run. Returns
/// the digest of a transcript: every action with its facts, every file as it was stored, and the end.
///
/// # Panics
/// If the run refuses an answer, or does not end.
pub fn transcript(
    documents: Documents,
    options: Options,
    mut answer: impl FnMut(&Action) -> Option<Outcome>,
) -> String {
    let mut run = Run::start(documents, options, clock(0)).expect("a run id");
    let mut transcript = String::new();
    for turn in 1..TURNS_MAX {
        let action = run.next_action();
        let outcome = match &action {
            Action::Store(store) => {
                let content = String::from_utf8_lossy(&store.content);
                let appends = store.mode == StoreMode::Append;
                transcript += &format!("store {} {appends}\n{content}\n", store.path);
                Some(Outcome::Stored)
            }
            action => {
                transcript += &format!("{action:?}\n{:?}\n", action.words());
                if let Action::Finished(_) = action {
                    transcript += &format!("{:?}\n", run.progress());
                    return digest(&transcript);
                }
                answer(action)
            }
        };
        match outcome {
            Some(outcome) => run.complete(outcome, clock(turn)).expect("in turn"),
            None => run.cancel(clock(turn)),
        }
    }
    panic!("the run does not end");
}

/// Records a run: everything that [`replay`] needs, and the digest of the transcript.
pub fn record(
    name: &str,
    documents: &Documents,
    options: &Options,
    mut answer: impl FnMut(&Action) -> Option<Outcome>,
) -> Value {
    let mut outcomes = Vec::new();
    let digest = transcript(documents.clone(), options.clone(), |action| {
        let outcome = answer(action);
        outcomes.push(outcome.as_ref().map_or(Value::Null, written));
        outcome
    });
    let text = |document: &Option<Vec<u8>>| {
        let text = document.clone().map(String::from_utf8);
        text.map(|it| it.expect("UTF-8"))
    };
    let goal = documents.goal.as_ref();
    json!({
        "name": name,
        "plan": text(&documents.plan),
        "request": text(&documents.request),
        "tool_pool": text(&documents.tool_pool),
        "profile": text(&documents.profile),
        "lock": text(&documents.lock),
        "index": text(&documents.index),
        "goal": goal.map(|it| json!([it.text, text(&it.context), it.planner])),
        "run_id": options.run_id,
        "random": options.random,
        "mode": MODES.iter().position(|mode| *mode == options.mode),
        "outcomes": outcomes,
        "digest": digest,
    })
}

/// Replays a recorded run, and returns the digest of its transcript.
///
/// # Panics
/// If it is no record, or wants more outcomes than were recorded.
#[must_use]
pub fn replay(record: &Value) -> String {
    let document = |name: &str| record[name].as_str().map(|it| it.as_bytes().to_vec());
    let goal = record["goal"].as_array();
    let documents = Documents {
        plan: document("plan"),
        request: document("request"),
        tool_pool: document("tool_pool"),
        profile: document("profile"),
        lock: document("lock"),
        index: document("index"),
        goal: goal.map(|it| Goal {
            text: string(&it[0]),
            context: it[1].as_str().map(|it| it.as_bytes().to_vec()),
            planner: string(&it[2]),
        }),
        ..Documents::default()
    };
    let random = record["random"].as_array().expect("random bytes").iter();
    let random: Vec<_> = random.map(|it| number(it) as u8).collect();
    let options = Options {
        run_id: string(&record["run_id"]),
        random: random.try_into().expect("32 bytes"),
        sandbox_tier: "none".to_owned(),
        mode: MODES[number(&record["mode"]) as usize],
        ..Options::default()
    };
    let mut outcomes = record["outcomes"].as_array().expect("outcomes").iter();
    transcript(documents, options, |_| {
        let outcome = outcomes.next().expect("a recorded outcome");
        (!outcome.is_null()).then(|| read(outcome))
    })
}

const MODES: [Mode; 4] = [Mode::CarryOut, Mode::Decide, Mode::Preview, Mode::Ask];

const FAILURES: [FailureKind; 4] = [
    FailureKind::Timeout,
    FailureKind::LimitExceeded,
    FailureKind::Unavailable,
    FailureKind::Failed,
];

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("UTF-8")
}

fn string(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn bytes(value: &Value) -> Vec<u8> {
    string(value).into_bytes()
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

fn flag(value: &Value) -> bool {
    value.as_bool().expect("a yes or no")
}

fn strings(value: &Value) -> Vec<String> {
    let items = value.as_array().expect("texts").iter();
    items.map(string).collect()
}

fn written_failure(failure: &Failure) -> Value {
    let kind = FAILURES.iter().position(|kind| *kind == failure.kind);
    json!([kind, failure.message])
}

fn read_failure(value: &Value) -> Failure {
    Failure {
        kind: FAILURES[number(&value[0]) as usize],
        message: string(&value[1]),
    }
}

fn written(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Stored => panic!("evidence is not recorded"),
        Outcome::Failed(failure) => json!(["failed", written_failure(failure)]),
        Outcome::Aborted(aborted) => json!([
            "aborted",
            written_failure(&aborted.failure),
            text(&aborted.stderr),
            aborted.stderr_truncated
        ]),
        Outcome::Decision { approved, by } => json!(["decision", approved, by]),
        Outcome::Addresses(addresses) => json!(["addresses", addresses]),
        Outcome::Handler(Handled {
            event,
            log,
            log_truncated,
        }) => {
            let event = match event {
                HandlerEvent::Returned(output) => json!(["returned", text(output)]),
                HandlerEvent::Failed(failure) => json!(["failed", written_failure(failure)]),
                HandlerEvent::Request(request) => json!([
                    "request",
                    request.method,
                    request.url,
                    request.headers,
                    request.body.as_deref().map(text)
                ]),
                HandlerEvent::Program {
                    path,
                    arguments,
                    stdin,
                } => json!(["program", path, arguments, text(stdin)]),
                HandlerEvent::Tool { arguments } => json!(["tool", text(arguments)]),
            };
            json!(["handler", event, text(log), log_truncated])
        }
        Outcome::Response(response) => json!([
            "response",
            response.status,
            response.content_type,
            text(&response.body)
        ]),
        Outcome::Exited(exited) => json!([
            "exited",
            exited.code,
            text(&exited.stdout),
            text(&exited.stderr),
            exited.stderr_truncated
        ]),
        Outcome::Opened(opened) => json!([
            "opened",
            opened.protocol,
            opened.is_unsandboxed,
            opened.has_host_network,
            opened.package
        ]),
        Outcome::Bytes(received) => json!(["bytes", text(received)]),
    }
}

fn read(value: &Value) -> Outcome {
    match &*string(&value[0]) {
        "failed" => Outcome::Failed(read_failure(&value[1])),
        "aborted" => Outcome::Aborted(Aborted {
            failure: read_failure(&value[1]),
            stderr: bytes(&value[2]),
            stderr_truncated: flag(&value[3]),
        }),
        "decision" => Outcome::Decision {
            approved: flag(&value[1]),
            by: string(&value[2]),
        },
        "addresses" => Outcome::Addresses(strings(&value[1])),
        "handler" => Outcome::Handler(Handled {
            event: read_event(&value[1]),
            log: bytes(&value[2]),
            log_truncated: flag(&value[3]),
        }),
        "response" => Outcome::Response(Response {
            status: number(&value[1]) as u16,
            content_type: string(&value[2]),
            body: bytes(&value[3]),
        }),
        "exited" => Outcome::Exited(Exited {
            code: value[1].as_i64().expect("a code") as i32,
            stdout: bytes(&value[2]),
            stderr: bytes(&value[3]),
            stderr_truncated: flag(&value[4]),
        }),
        "opened" => Outcome::Opened(Opened {
            protocol: string(&value[1]),
            is_unsandboxed: flag(&value[2]),
            has_host_network: flag(&value[3]),
            package: value[4].as_str().map(str::to_owned),
        }),
        "bytes" => Outcome::Bytes(bytes(&value[1])),
        other => panic!("{other}"),
    }
}

fn read_event(value: &Value) -> HandlerEvent {
    match &*string(&value[0]) {
        "returned" => HandlerEvent::Returned(bytes(&value[1])),
        "failed" => HandlerEvent::Failed(read_failure(&value[1])),
        "request" => {
            let headers = value[3].as_array().expect("headers").iter();
            HandlerEvent::Request(HandlerRequest {
                method: string(&value[1]),
                url: string(&value[2]),
                headers: headers.map(|it| (string(&it[0]), string(&it[1]))).collect(),
                body: (!value[4].is_null()).then(|| bytes(&value[4])),
            })
        }
        "program" => HandlerEvent::Program {
            path: string(&value[1]),
            arguments: strings(&value[2]),
            stdin: bytes(&value[3]),
        },
        "tool" => HandlerEvent::Tool {
            arguments: bytes(&value[1]),
        },
        other => panic!("{other}"),
    }
}
