//! Faults while records are written: a crash, EIO, ENOSPC and an interrupt at the system calls that change
//! them, and files that end in the middle of a write. The record that is left is never torn, and claims nothing
//! that did not happen.
//!
//! The program is the real one. A filter of system calls stops it at each of those calls and lets the test
//! decide its effect, so nothing in the program knows of faults.

mod interception;

use crate::planned::options::counting;
use crate::planned::{ASK, CALL, GOAL, keeper, searcher};
use crate::project::{Project, Run};
use crate::run_plan::evidence;
use crate::run_plan::packages::{FOLDER, Registry, locked};
use crate::run_plan::server::Server;
use base64::prelude::{BASE64_STANDARD, Engine};
use interception::{Call, Verdict, intercepted};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of evidence.
const EVIDENCE: &str = "mova_agent";

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

/// A command whose evidence is disturbed.
struct Scene {
    project: Project,
    command: Command,
    /// Asserts that a record tells what happened so far, and nothing else.
    told: Box<dyn Fn(&Record)>,
}

/// A plan that makes a request and keeps the response.
fn plan() -> Scene {
    let server = Server::start(|_| ("200 OK", "application/json", r#"{"a":1}"#.to_owned()));
    let project = project(&server);
    let mut command = project.command(["run-plan", "--plan", "plan.json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Scene {
        command,
        project,
        told: Box::new(move |record| record.assert_true(&server)),
    }
}

/// A query, which a planner and a server answer.
fn query() -> Scene {
    let (project, server) = searcher(CALL);
    counting(&project, "");
    let mut command = project.command(ASK.split(' '));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let attempts = project.path("attempts");
    let told = move |record: &Record| {
        let episodes = record.assert_whole();
        let methods = server.methods();
        let of = |method: &str| methods.iter().filter(|it| *it == method).count();
        let asked = fs::read_to_string(&attempts).unwrap_or_default();
        for (action, times) in [
            ("list_tools", of("tools/list")),
            ("plan", asked.lines().count()),
            ("call_tool", of("tools/call")),
        ] {
            record.assert_told(&episodes, action, times);
        }
    };
    Scene {
        project,
        command,
        told: Box::new(told),
    }
}

/// A goal, for which the program plans by itself.
fn goal() -> Scene {
    let project = keeper();
    let mut command = project.command(format!("run {GOAL}").split(' '));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    Scene {
        project,
        command,
        told: Box::new(|record| drop(record.assert_whole())),
    }
}

/// The effect of the call at which a fault is.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The program is killed before the call.
    Crash,
    /// The call fails.
    Error(i32),
    /// The user interrupts the program before the call.
    Interrupt,
}

impl Fault {
    fn verdict(self) -> Verdict {
        match self {
            Self::Crash => Verdict::Kill,
            Self::Error(error) => Verdict::Fail(error),
            Self::Interrupt => Verdict::Interrupt,
        }
    }
}

/// Runs a command with a fault at the call of a number. Returns how the record says that it ended, or `None`
/// if there was no such call.
fn run_with(scene: fn() -> Scene, fault: Fault, at: usize) -> Option<Value> {
    let Scene {
        project,
        command,
        told,
    } = scene();
    let mut number = 0;
    let mut met = None;
    let output = intercepted(command, EVIDENCE, |call| {
        let is_met = number == at;
        number += 1;
        if !is_met {
            return Verdict::Continue;
        }
        met = Some(call);
        fault.verdict()
    });
    let run = Run::new(output, &project.path(""));
    let Some(call) = met else {
        assert_eq!(run.code, Some(0), "without a fault: {run:#?}");
        return None;
    };
    let place = format!("{fault:?} at call {at}, {call:?}");
    let record = Record::read(&project, &place);
    told(&record);
    let is_summarized = record.files.contains("run_summary.json");
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
            assert_eq!(run.stdout, "", "{place}: {run:#?}");
            assert!(!is_summarized, "{place}: a summary");
        }
        // The run is cancelled, unless nothing but its end was left.
        (Fault::Interrupt, Some(code @ (0 | 1))) => {
            let summary = record.summary();
            let status = ["completed", "cancelled"][usize::from(code == 1)];
            assert_eq!(summary["status"], status, "{place}: {summary}");
        }
        (_, code) => panic!("{place}: ends with {code:?}: {run:#?}"),
    }
    Some(match is_summarized {
        true => record.summary()["status"].clone(),
        false => Value::Null,
    })
}

/// Runs the plan with the fault at each call, or at each third one unless the tests run at length, until no call is
/// left. The faults of the three tests differ in the calls that they meet.
fn run_with_each(fault: Fault, first: usize) {
    let (first, stride) = match env::var_os("AGENT_TESTS_AT_LENGTH") {
        Some(_) => (0, 1),
        None => (first, 3),
    };
    let calls = (first..1000).step_by(stride);
    let calls = calls.take_while(|at| run_with(plan, fault, *at).is_some());
    // Some thirty files and lines, each written, synchronised and put in its place.
    let calls = calls.count() * stride;
    assert!((60..1000).contains(&calls), "{calls} calls");
}

#[test]
fn a_crash_at_each_call_leaves_a_true_record() {
    run_with_each(Fault::Crash, 0);
}

#[test]
fn eio_at_each_call_leaves_a_true_record() {
    run_with_each(Fault::Error(libc::EIO), 1);
}

#[test]
fn enospc_at_each_call_leaves_a_true_record() {
    run_with_each(Fault::Error(libc::ENOSPC), 2);
}

/// How far apart faults are that are not at each call. It is prime to the calls of a file and of a line, so that
/// every kind of them is met.
const STRIDE: usize = 7;

#[test]
fn an_interrupt_leaves_a_true_record_with_its_end() {
    let ends = (0..1000).step_by(STRIDE);
    let ends: Vec<_> = ends
        .map_while(|at| run_with(plan, Fault::Interrupt, at))
        .collect();
    // Before the first effect, and behind the last one.
    assert_eq!(ends.first(), Some(&json!("cancelled")));
    assert_eq!(ends.last(), Some(&json!("completed")));
}

/// Runs a command once and looks at its record before each call: that is what a crash there would leave. Then
/// runs it with errors.
fn disturb(scene: fn() -> Scene) {
    let Scene {
        project,
        command,
        told,
    } = scene();
    let mut calls = 0;
    let output = intercepted(command, EVIDENCE, |call| {
        let place = format!("before call {calls}, {call:?}");
        told(&Record::read(&project, &place));
        calls += 1;
        Verdict::Continue
    });
    assert_eq!(Run::new(output, &project.path("")).code, Some(0));
    assert!(calls > 60, "{calls} calls");
    for (number, at) in (0..calls).step_by(STRIDE).enumerate() {
        let error = [libc::EIO, libc::ENOSPC][number % 2];
        let ended = run_with(scene, Fault::Error(error), at);
        assert!(ended.is_some(), "call {at} of {calls}");
    }
}

#[test]
fn faults_of_a_query_leave_a_true_record() {
    disturb(query);
}

#[test]
fn faults_of_a_goal_leave_a_true_record() {
    disturb(goal);
}

#[test]
fn an_export_is_the_old_file_or_the_new_one() {
    let project = keeper();
    project.agent("run-plan --plan plan.json").exits(0);
    let folder = evidence(&project);
    let export = format!("evidence export --in-toto {}", folder.display());
    let whole = project.agent(&export).exits(0).stdout;
    fs::create_dir(project.path("export")).unwrap();
    for fault in [
        Fault::Crash,
        Fault::Error(libc::EIO),
        Fault::Error(libc::ENOSPC),
    ] {
        let mut calls = 0;
        loop {
            project.write("export/run.json", "old\n");
            let line = format!("{export} --out export/run.json");
            let mut command = project.command(line.split(' '));
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut number = 0;
            let mut met = None;
            let output = intercepted(command, "export", |call| {
                let is_met = number == calls;
                number += 1;
                if !is_met {
                    return Verdict::Continue;
                }
                met = Some(call);
                fault.verdict()
            });
            let run = Run::new(output, &project.path(""));
            let Some(call) = met else {
                assert_eq!(run.code, Some(0), "{run:#?}");
                break;
            };
            let found = project.read("export/run.json");
            let place = format!("{fault:?} at {call:?}: {run:?}");
            match (fault, run.code) {
                (_, Some(0)) => {
                    assert_eq!(call, Call::Sync { is_folder: true }, "{place}");
                    assert_eq!(found, whole, "{place}");
                }
                (Fault::Crash, None) => assert!(found == "old\n" || found == whole, "{place}"),
                (_, code) => {
                    assert_eq!(code, Some(2), "{place}");
                    assert!(run.stderr.contains("can't write"), "{place}");
                    assert_eq!(found, "old\n", "{place}");
                }
            }
            calls += 1;
        }
        // Written, synchronised, renamed, and the folder synchronised.
        assert!(calls >= 3, "{calls} calls");
    }
}

#[test]
fn the_record_of_an_installed_package_is_whole_or_absent() {
    let registry = Registry::start();
    let mut met = 0;
    for fault in [
        Fault::Crash,
        Fault::Error(libc::EIO),
        Fault::Error(libc::ENOSPC),
    ] {
        for at in [0, 1] {
            let project = locked();
            let mut number = 0;
            let mut call = None;
            let output = intercepted(registry.install(&project), "packages", |it| {
                let is_met = number == at;
                number += 1;
                if !is_met {
                    return Verdict::Continue;
                }
                call = Some(it);
                fault.verdict()
            });
            let run = Run::new(output, &project.path(""));
            let place = format!("{fault:?} at {call:?}: {run:?}");
            met += usize::from(call.is_some());
            let wanted = match fault {
                Fault::Crash => None,
                _ => Some(2),
            };
            assert_eq!(run.code, wanted, "{place}");
            assert!(!project.path(FOLDER).exists(), "{place}");
            // Its remains do not hinder the next run.
            if at == 1 {
                let again = Run::of(registry.install(&project)).exits(0);
                assert!(again.stdout.contains("acme@1.0.0"), "{place}");
                let record = project.read(&format!("{FOLDER}/installed.json"));
                let record: Value = serde_json::from_str(&record).expect("a record");
                assert_eq!(record["closure"][0]["path"], "node_modules/acme");
            }
        }
    }
    assert_eq!(met, 6, "the record and its folder");
}

#[test]
fn a_write_that_ends_in_the_middle_leaves_a_true_record() {
    let mut codes = BTreeSet::new();
    // The index has some 3,700 bytes at the end; other files are written before it is as long.
    for bytes in (1000..4200_u64).step_by(149) {
        let Scene {
            project,
            mut command,
            told,
        } = plan();
        limit_files(&mut command, bytes);
        let run = Run::of(command);
        let place = format!("files of {bytes} bytes");
        told(&Record::read(&project, &place));
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
        let requests = fs::read_dir(project.path("artifacts/mova_agent"));
        let runs = requests
            .into_iter()
            .flatten()
            .filter_map(|it| fs::read_dir(it.unwrap().path().join("runs")).ok());
        let folder = runs.flatten().next().map(|run| run.unwrap().path());
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

    /// Asserts that every file is whole, that the index is a chain over its episodes, and that the summary is
    /// about them. Returns the episodes.
    fn assert_whole(&self) -> Vec<Value> {
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
        if self.files.contains("run_summary.json") {
            let summary = self.summary();
            assert_eq!(summary["chain"]["head"], head, "{place}");
            assert_eq!(summary["chain"]["episodes"], episodes.len(), "{place}");
            let last = episodes.last().expect("an episode");
            assert_eq!(summary["status"], last["result_status"], "{place}");
            assert_eq!(last["result_details"]["record"], "run", "{place}");
        }
        episodes
    }

    /// Asserts that an action that took place so many times was decided before each, and has no outcome that
    /// did not happen.
    fn assert_told(&self, episodes: &[Value], action: &str, times: usize) {
        let count = |record: &str| {
            let details = episodes.iter().map(|it| &it["result_details"]);
            details
                .filter(|it| it["record"] == record && it["action"] == action)
                .count()
        };
        let (decided, took_place) = (count("decision"), count("effect"));
        assert!(
            took_place <= times && times <= decided,
            "{}: {action}: {decided} decisions, {times} times, {took_place} outcomes",
            self.place
        );
    }

    /// As [`Record::assert_whole`], for [`plan`]: nothing is claimed that did not happen.
    fn assert_true(&self, server: &Server) {
        let place = &self.place;
        let episodes = self.assert_whole();
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
    }
}

/// Returns the digest of a text, as evidence writes it.
fn digest(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}
