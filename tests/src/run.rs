//! A host of runs for tests: it stores evidence in memory and answers everything else as a test says.

use crate::corpus::corpus;
use agent_audit::{EvidenceFile, Folder, verify};
use agent_run::{
    Action, Clock, Documents, DriverKind, Exited, Failure, FailureKind, Finished, Handled,
    HandlerEvent, HandlerRequest, Opened, Options, Outcome, Reply, Response, Run, Secret,
    StoreMode,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// More actions than any run of a test needs.
const ACTIONS_MAX: usize = 10_000;

/// What a run of a test did.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub finished: Finished,
    /// The evidence, by path below the run's folder.
    pub files: BTreeMap<String, String>,
    /// The names of the actions, evidence aside.
    pub effects: Vec<&'static str>,
}

/// The options of most runs of tests.
#[must_use]
pub fn options() -> Options {
    Options {
        run_id: "run-1".to_owned(),
        random: [7; 32],
        sandbox_tier: "none".to_owned(),
        ..Options::default()
    }
}

/// The secret that every run of tests has, and that its host puts into what peers say.
const CANARY: &str = "canary/9b1e \"of\" every+run";

/// The forms in which no part of it may be anywhere: as it is, escaped, percent-encoded, in base64 at each
/// offset.
const CANARY_FORMS: [&str; 7] = [
    "canary/9b1e",
    "canary\\/9b1e",
    "canary%2F9b1e",
    "canary%2f9b1e",
    "Y2FuYXJ5Lzli",
    "NhbmFyeS85Yj",
    "jYW5hcnkvOWIx",
];

/// Returns options with the secret of every run.
#[must_use]
pub fn with_canary(mut options: Options) -> Options {
    options.secrets.push(Secret {
        name: "EVERY_RUN".to_owned(),
        value: CANARY.to_owned(),
    });
    options
}

/// Returns an outcome in which a peer quotes the secret, where peers say something beside their answer.
#[must_use]
pub fn with_leak(mut outcome: Outcome) -> Outcome {
    let quote = format!("got {CANARY} and Y2FuYXJ5LzliMWUgIm9mIiBldmVyeStydW4=");
    match &mut outcome {
        Outcome::Response(response) => response.content_type.push_str(&format!("; k={quote}")),
        Outcome::Handler(handled) if !handled.log.is_empty() => {
            handled.log.extend(format!("{quote}\n").into_bytes());
        }
        _ => {}
    }
    outcome
}

/// Asserts that nothing of the secret of every run is in a text.
///
/// # Panics
/// If it is.
pub fn assert_no_canary(name: &str, text: &str) {
    for form in CANARY_FORMS {
        assert!(!text.contains(form), "{form} in {name}: {text}");
    }
}

/// The clock of tests after a number of readings: each takes a millisecond.
#[must_use]
pub fn clock(reading: u64) -> Clock {
    Clock {
        unix_ms: 1_795_467_208_000 + reading,
        monotonic_ms: reading,
        utc_offset_minutes: 0,
    }
}

impl Ended {
    /// Returns `run_summary.json`.
    ///
    /// # Panics
    /// If the run has no summary.
    #[must_use]
    pub fn summary(&self) -> Value {
        serde_json::from_str(&self.files["run_summary.json"]).expect("JSON")
    }

    /// Returns the episodes in order.
    ///
    /// # Panics
    /// If one is no JSON.
    #[must_use]
    pub fn episodes(&self) -> Vec<Value> {
        let index = self.files.get("episodes/index.jsonl");
        let lines = index.into_iter().flat_map(|index| index.lines());
        let parse = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        lines
            .map(|line| {
                let id = parse(line)["episode_id"]
                    .as_str()
                    .expect("an id")
                    .to_owned();
                parse(&self.files[&format!("episodes/{id}.json")])
            })
            .collect()
    }

    /// Returns the types of the events about security.
    #[must_use]
    pub fn security_events(&self) -> Vec<String> {
        let events = self.episodes().into_iter();
        let types = events.filter_map(|it| Some(it["security_event_type"].as_str()?.to_owned()));
        types.collect()
    }

    /// Returns how the run ended: its code and its reason.
    #[must_use]
    pub fn code(&self) -> (Option<&'static str>, Option<String>) {
        let reason = self.summary()["reason"].as_str().map(str::to_owned);
        (self.finished.code.map(|code| code.name()), reason)
    }
}

/// Runs documents to their end. `answer` gets every action except evidence.
///
/// # Panics
/// If the run needs more than 10,000 actions, refuses an answer, or leaves evidence with problems.
pub fn run(
    documents: Documents,
    options: Options,
    answer: impl FnMut(&Action) -> Outcome,
) -> Ended {
    run_at(clock, documents, options, answer)
}

/// As [`run`], with another clock: a reading for each number of readings.
///
/// # Panics
/// As [`run`].
pub fn run_at(
    clock: impl Fn(u64) -> Clock,
    documents: Documents,
    options: Options,
    mut answer: impl FnMut(&Action) -> Outcome,
) -> Ended {
    let mut run = Run::start(documents, with_canary(options), clock(0)).expect("a run id");
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut effects = Vec::new();
    for reading in 1..=ACTIONS_MAX as u64 {
        let outcome = match run.next_action() {
            Action::Finished(finished) => {
                let folder = format!("{}/", finished.directory);
                let named = files.into_iter().map(|(path, content)| {
                    let name = path.strip_prefix(&folder).expect("in the run's folder");
                    (name.to_owned(), String::from_utf8(content).expect("UTF-8"))
                });
                let files = named.collect();
                assert_verifies(&files);
                assert_no_canary("the end", &format!("{finished:?}"));
                return Ended {
                    files,
                    finished,
                    effects,
                };
            }
            Action::Store(store) => {
                match store.mode {
                    StoreMode::Replace => drop(files.insert(store.path, store.content)),
                    StoreMode::Append => {
                        files.entry(store.path).or_default().extend(store.content);
                    }
                }
                Outcome::Stored
            }
            action => {
                effects.push(action.name());
                with_leak(answer(&action))
            }
        };
        run.complete(outcome, clock(reading)).expect("in turn");
    }
    panic!("the run does not end");
}

/// Verifies the evidence of a run, if it left some: whatever happened, its evidence is whole, and without the
/// secret.
fn assert_verifies(files: &BTreeMap<String, String>) {
    for (name, text) in files {
        assert_no_canary(name, text);
    }
    if files.is_empty() {
        return;
    }
    let named = files.iter().map(|(path, text)| EvidenceFile {
        path: path.clone(),
        content: text.clone().into_bytes(),
    });
    let problems = verify(&Folder::new(named.collect()), None);
    assert!(problems.is_empty(), "{problems:#?}");
}

/// A handler's event without a log.
#[must_use]
pub fn handled(event: HandlerEvent) -> Outcome {
    Outcome::Handler(Handled {
        event,
        log: Vec::new(),
        log_truncated: false,
    })
}

/// A failed effect.
#[must_use]
pub fn failed(kind: FailureKind, message: &str) -> Outcome {
    Outcome::Failed(Failure {
        kind,
        message: message.to_owned(),
    })
}

/// Returns a value of JSON, or any other bytes as a text: hosts may answer with anything.
fn json_or_text(bytes: &[u8]) -> Value {
    let text = || Value::String(String::from_utf8_lossy(bytes).into_owned());
    serde_json::from_slice(bytes).unwrap_or_else(|_| text())
}

/// Answers an action as a host does whose handlers, servers and programs all behave. The server of
/// the MCP tools lists `tools`, the tools of the index.
///
/// # Panics
/// If the action does not belong to a step.
#[must_use]
pub fn behave(action: &Action) -> Outcome {
    match action {
        Action::CallHandler(call) => handled(match call.driver_kind {
            DriverKind::Noop => HandlerEvent::Returned(call.input.clone().into_bytes()),
            DriverKind::Http => {
                let input: Value = serde_json::from_str(&call.input).expect("JSON");
                let body = input.get("body").map(|body| body.to_string().into_bytes());
                HandlerEvent::Request(HandlerRequest {
                    method: input["method"].as_str().expect("a method").to_owned(),
                    url: input["url"].as_str().expect("a URL").to_owned(),
                    headers: vec![("Accept".to_owned(), "application/json".to_owned())],
                    body,
                })
            }
            DriverKind::McpProxy => HandlerEvent::Tool {
                arguments: call.input.clone().into_bytes(),
            },
            DriverKind::RestrictedShell => {
                let input: Value = serde_json::from_str(&call.input).expect("JSON");
                let arguments = input["arguments"].as_array().expect("arguments").iter();
                let arguments = arguments.map(|it| it.as_str().expect("a string").to_owned());
                HandlerEvent::Program {
                    path: input["program"].as_str().expect("a path").to_owned(),
                    arguments: arguments.collect(),
                    stdin: Vec::new(),
                }
            }
        }),
        Action::ResumeHandler(reply) => {
            let output = match reply {
                Reply::Response(response) => {
                    json!({ "status": response.status, "body": json_or_text(&response.body) })
                }
                Reply::Exited(exited) => json!({
                    "exit_code": exited.code,
                    "stdout": String::from_utf8_lossy(&exited.stdout),
                }),
                Reply::Payload(payload) => json_or_text(payload)["structuredContent"].clone(),
            };
            handled(HandlerEvent::Returned(output.to_string().into_bytes()))
        }
        Action::Resolve(_) => Outcome::Addresses(vec!["93.184.215.14".to_owned()]),
        Action::Request(_) => Outcome::Response(Response {
            status: 200,
            content_type: "application/json".to_owned(),
            body: br#"{"visits":3}"#.to_vec(),
        }),
        Action::RunProgram(_) => Outcome::Exited(Exited {
            code: 0,
            stdout: b"total 0\n".to_vec(),
            stderr: Vec::new(),
            stderr_truncated: false,
        }),
        Action::OpenServer(_) => Outcome::Opened(Opened {
            protocol: "2025-11-25".to_owned(),
            ..Opened::default()
        }),
        Action::ListTools { .. } => Outcome::Bytes(listed().to_string().into_bytes()),
        Action::CallTool(call) => {
            let audience = json!({ "id": "a", "members": 1, "name": "A" });
            let content = match &*call.tool {
                "list_audiences" => json!({ "audiences": [audience] }),
                _ => audience,
            };
            let payload = json!({ "content": [], "structuredContent": content });
            Outcome::Bytes(payload.to_string().into_bytes())
        }
        Action::Approve(_) => Outcome::Decision {
            approved: true,
            by: "terminal".to_owned(),
        },
        other => panic!("{other:?} has no usual answer"),
    }
}

/// Returns the result of `tools/list` of the server in the base index of plans.
///
/// # Panics
/// If the index can't be read.
#[must_use]
pub fn listed() -> Value {
    let index = std::fs::read(corpus().join("plan/base/mcp.index.json")).expect("the index");
    let index: Value = serde_json::from_slice(&index).expect("JSON");
    let tools = &index["servers"][0]["capabilities"]["tools"];
    let tools = tools
        .as_object()
        .expect("tools")
        .iter()
        .map(|(name, tool)| {
            let mut tool = tool.clone();
            tool["name"] = json!(name);
            tool
        });
    json!({ "tools": tools.collect::<Vec<_>>() })
}
