//! Faults while evidence is written: a crash, EIO and ENOSPC at each system call that changes it, and files
//! that end in the middle of a write. The record that is left is never torn, and claims nothing that did
//! not happen.
//!
//! The program is the real one. A filter of system calls stops it at each of those calls and lets the test
//! decide what comes of it, so nothing in the program knows of faults.

mod interception;

use crate::project::{Project, Run};
use crate::run_plan::server::Server;
use base64::prelude::{BASE64_STANDARD, Engine};
use interception::{Call, Verdict, intercepted};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A project whose plan makes a request and keeps the response.
fn project(server: &Server) -> Project {
    let project = Project::empty();
    let limits = json!({
        "timeout_ms": 20_000, "max_input_bytes": 4096, "max_output_bytes": 4096, "max_log_bytes": 256
    });
    let pool = json!({
        "schema_id": "ds.mova_agent_tool_pool_v1", "pool_id": "pool", "pool_version": "1.0.0",
        "connectors": [{ "connector_id": "c", "provider": "p", "resource": "r", "protocol": "http" }],
        "bindings": [
            { "connector_id": "c", "tool_id": "get", "driver_kind": "http", "methods": ["GET"],
              "destinations": [server.origin()], "non_public_addresses": ["127.0.0.1"], "limits": limits },
            { "connector_id": "c", "tool_id": "keep", "driver_kind": "noop", "destinations": [],
              "limits": limits },
        ]
    });
    let rule = |tool: &str| json!({ "rule_id": tool, "effect": "allow", "target": { "kind": "tool", "selector": format!("c/{tool}") } });
    let profile = json!({
        "schema_id": "ds.instruction_profile_core_v1", "profile_id": "profile", "status": "active",
        "security_model_version": "1.0.0",
        "caps": {
            "max_steps": 2, "max_timeout_ms": 60_000, "max_input_bytes": 65_536,
            "max_output_bytes": 65_536, "max_log_bytes": 65_536
        },
        "rules": [rule("get"), rule("keep")],
    });
    let plan = json!({
        "envelope_id": "env.mova_agent_plan_v1", "verb": "create",
        "roles": { "planner": "a-model", "executor": "agent" },
        "plan": {
            "plan_id": "p", "request_id": "req",
            "tool_pool_ref": { "pool_id": "pool", "pool_version": "1.0.0" },
            "instruction_profile_ref": { "profile_id": "profile" },
            "steps": [
                { "step_id": "get", "connector_id": "c", "tool_id": "get",
                  "input": { "method": "GET", "url": server.origin() } },
                { "step_id": "keep", "connector_id": "c", "tool_id": "keep",
                  "input_from": { "step": "get", "pointer": "/body" } },
            ],
        }
    });
    for (name, document) in [
        ("tool-pool.json", pool),
        ("profile.json", profile),
        ("plan.json", plan),
    ] {
        project.write(name, document.to_string());
    }
    project
}

/// What comes of the call at which a fault is.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The program is killed before the call.
    Crash,
    /// The call fails.
    Error(i32),
}

/// Runs the plan with a fault at the call of a number. Returns whether there was such a call.
fn run_with(fault: Fault, at: usize) -> bool {
    let server = Server::start(|_| ("200 OK", "application/json", r#"{"a":1}"#.to_owned()));
    let project = project(&server);
    let mut command = project.command(["run-plan", "--plan", "plan.json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut number = 0;
    let mut met = None;
    let output = intercepted(command, |call| {
        let is_met = number == at;
        number += 1;
        match fault {
            _ if !is_met => Verdict::Continue,
            Fault::Crash => {
                met = Some(call);
                Verdict::Kill
            }
            Fault::Error(error) => {
                met = Some(call);
                Verdict::Fail(error)
            }
        }
    });
    let run = Run::new(output, &project.path(""));
    let Some(call) = met else {
        assert_eq!(run.code, Some(0), "without a fault: {run:#?}");
        return false;
    };
    let place = format!("{fault:?} at call {at}, {call:?}");
    let record = Record::read(&project, &place);
    record.assert_true(&server);
    match (fault, run.code) {
        (Fault::Crash, None) => {}
        // A folder need not support synchronisation, and may be there already.
        (Fault::Error(_), Some(0)) => {
            let is_needless = matches!(call, Call::Sync { is_folder: true } | Call::MakeFolder);
            assert!(is_needless, "{place} has no effect: {run:#?}");
            assert_eq!(record.summary()["status"], "completed", "{place}");
        }
        (Fault::Error(_), Some(2)) => {
            assert!(
                run.stderr.contains("evidence can't be stored"),
                "{place}: {run:#?}"
            );
            assert!(!run.stdout.contains("completed"), "{place}: {run:#?}");
            assert!(
                !record.files.contains("run_summary.json"),
                "{place}: a summary"
            );
        }
        (_, code) => panic!("{place}: ends with {code:?}: {run:#?}"),
    }
    true
}

/// Runs the plan with the fault at each call, until there is none left.
fn run_with_each(fault: Fault) {
    let calls = (0..1000).take_while(|at| run_with(fault, *at)).count();
    // Some thirty files and lines, each written, synchronised and put in its place.
    assert!((60..1000).contains(&calls), "{calls} calls");
}

#[test]
fn a_crash_at_each_call_leaves_a_true_record() {
    run_with_each(Fault::Crash);
}

#[test]
fn eio_at_each_call_leaves_a_true_record() {
    run_with_each(Fault::Error(libc::EIO));
}

#[test]
fn enospc_at_each_call_leaves_a_true_record() {
    run_with_each(Fault::Error(libc::ENOSPC));
}

#[test]
fn a_write_that_ends_in_the_middle_leaves_a_true_record() {
    let mut codes = BTreeSet::new();
    // The index has some 3,700 bytes at the end; other files are written before it is as long.
    for bytes in (1000..4200_u64).step_by(149) {
        let server = Server::start(|_| ("200 OK", "application/json", r#"{"a":1}"#.to_owned()));
        let project = project(&server);
        let mut command = project.command(["run-plan", "--plan", "plan.json"]);
        limit_files(&mut command, bytes);
        let run = Run::of(command);
        let place = format!("files of {bytes} bytes");
        Record::read(&project, &place).assert_true(&server);
        assert!(
            run.code == Some(0) || !run.stdout.contains("completed"),
            "{place}: {run:#?}"
        );
        codes.insert(run.code);
    }
    assert!(codes.contains(&Some(2)), "{codes:?}");
}

/// Lets every write of a program fail that would make a file longer than some bytes. What fits is written.
#[expect(unsafe_code, reason = "limits are set between fork and exec")]
fn limit_files(command: &mut Command, bytes: u64) {
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: bytes,
    };
    // SAFETY: both functions may be called between fork and exec, and have no other memory effects.
    unsafe {
        command.pre_exec(move || {
            // Otherwise the signal would end the program.
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            match libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
}

/// The evidence of the only run, if it got as far.
struct Record {
    folder: Option<PathBuf>,
    /// The names of its files.
    files: BTreeSet<String>,
    place: String,
}

impl Record {
    fn read(project: &Project, place: &str) -> Self {
        let runs = fs::read_dir(project.path("artifacts/mova_agent/req/runs"));
        let folder = runs
            .into_iter()
            .flatten()
            .next()
            .map(|run| run.unwrap().path());
        let mut files = BTreeSet::new();
        for name in ["", "episodes", "logs"] {
            let folder = folder
                .iter()
                .filter_map(|it| fs::read_dir(it.join(name)).ok());
            for entry in folder.flatten() {
                let path = entry.unwrap().path();
                let file = path.file_name().unwrap().to_str().unwrap();
                // What a killed program leaves of a file that is not in its place.
                if path.is_file() && !(file.starts_with('.') && file.ends_with(".tmp")) {
                    files.insert(Path::new(name).join(file).to_str().unwrap().to_owned());
                }
            }
        }
        Self {
            folder,
            files,
            place: place.to_owned(),
        }
    }

    fn text(&self, name: &str) -> String {
        let path = self.folder.as_ref().expect("a run").join(name);
        fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {name}: {e}", self.place))
    }

    fn parse(&self, text: &str) -> Value {
        serde_json::from_str(text).unwrap_or_else(|e| panic!("{}: {e}: {text:?}", self.place))
    }

    fn summary(&self) -> Value {
        self.parse(&self.text("run_summary.json"))
    }

    /// Asserts that every file is whole, that the index is a chain over its episodes, and that nothing is
    /// claimed that did not happen.
    fn assert_true(&self, server: &Server) {
        let place = &self.place;
        for name in self.files.iter().filter(|it| it.ends_with(".json")) {
            self.parse(&self.text(name));
        }
        let mut head = Value::Null;
        let mut episodes = Vec::new();
        let mut named = BTreeSet::new();
        if self.files.contains("episodes/index.jsonl") {
            let index = self.text("episodes/index.jsonl");
            assert!(
                index.is_empty() || index.ends_with('\n'),
                "{place}: {index}"
            );
            for line in index.lines() {
                let entry = self.parse(line);
                assert_eq!(entry["previous"], head, "{place}");
                let name = format!(
                    "episodes/{}.json",
                    entry["episode_id"].as_str().expect("an id")
                );
                let episode = self.text(&name);
                assert_eq!(entry["digest"], digest(&episode), "{place}: {name}");
                head = digest(line).into();
                episodes.push(self.parse(&episode));
                named.insert(name);
            }
        }
        let numbered = |it: &&String| it.starts_with("episodes/0");
        let unnamed = self
            .files
            .iter()
            .filter(numbered)
            .filter(|it| !named.contains(*it));
        assert!(
            unnamed.count() <= 1,
            "{place}: an episode comes before its line"
        );
        let has = |record: &str, member: &str, value: &str| {
            episodes.iter().any(|it| {
                let details = &it["result_details"];
                details["record"] == record && (details[member] == value || it[member] == value)
            })
        };
        // The decision is stored before the effect.
        if !server.requests().is_empty() {
            assert!(
                has("decision", "action", "request"),
                "{place}: an undecided request"
            );
        }
        // An effect or a step that is recorded took place.
        if has("effect", "action", "request") || has("step", "step_id", "keep") {
            assert_eq!(server.requests().len(), 1, "{place}");
        }
        if has("run", "result_status", "completed") {
            for step in ["get", "keep"] {
                assert!(has("step", "step_id", step), "{place}: {step} did not end");
                assert!(self.files.contains(&format!("logs/{step}.log")), "{place}");
            }
        }
        if self.files.contains("run_summary.json") {
            let summary = self.summary();
            assert_eq!(summary["chain"]["head"], head, "{place}");
            assert_eq!(summary["chain"]["episodes"], episodes.len(), "{place}");
            let last = episodes.last().expect("an episode");
            assert_eq!(summary["status"], last["result_status"], "{place}");
            assert_eq!(last["result_details"]["record"], "run", "{place}");
        }
    }
}

/// Returns the digest of a text, as evidence writes it.
fn digest(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}
