//! The quality suites of [3, 7], through the program: `cargo xtask quality-pos` and `quality-neg`.
//!
//! `tests/quality/README.md` describes the cases.

use crate::canary::SECRETS;
use crate::project::{Project, Run};
use crate::run_plan::server::{Request, Response, Server};
use crate::validity::Validity;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The origin of the server in the cases.
const ORIGIN: &str = "http://127.0.0.1:8000";

mod pos {
    #[test]
    fn every_plan_runs() {
        super::suite("pos", 3);
    }

    #[test]
    fn a_goal_becomes_a_valid_plan_and_nothing_runs() {
        super::plan_only();
    }

    #[test]
    fn every_plan_is_valid() {
        super::plans_are_valid("pos");
    }
}

mod neg {
    #[test]
    fn every_plan_ends_in_its_code() {
        super::suite("neg", 8);
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/quality")
}

/// The cases of a suite.
fn cases(suite: &str) -> Vec<PathBuf> {
    let cases = fs::read_dir(folder().join(suite)).expect("a suite");
    let mut cases: Vec<_> = cases.map(|it| it.unwrap().path()).collect();
    cases.sort();
    cases
}

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Runs the cases of a suite, all of them, and reports every one that fails.
fn suite(name: &str, least: usize) {
    let cases = cases(name);
    assert!(cases.len() >= least, "{cases:?}");
    let validity = Validity::of_the_project();
    let failed = cases.iter().filter(|case| {
        let checked =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(case, &validity)));
        checked.is_err()
    });
    let failed: Vec<_> = failed.map(|case| case.display().to_string()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

/// The plans of a suite are valid by a validator that is not ours.
fn plans_are_valid(suite: &str) {
    let validity = Validity::of_the_project();
    for case in cases(suite) {
        validity.assert("env.mova_agent_plan_v1", &json(&case.join("plan.json")));
    }
}

/// `agent plan --goal` makes a valid plan, and does not carry it out. The planner is a program of the operator,
/// which sees no secret.
fn plan_only() {
    let validity = Validity::of_the_project();
    let project = Project::empty();
    for file in ["tool-pool.json", "profile.json"] {
        let text = fs::read(folder().join("base").join(file)).expect("a document");
        project.write(file, text);
    }
    let options = [
        "--goal",
        "keep a note",
        "--tool-pool",
        "tool-pool.json",
        "--profile",
        "profile.json",
    ];
    let template = project.command(["plan"].into_iter().chain(options));
    let template = Run::of(template).exits(0);
    assert!(template.stdout.contains("may run"), "{template:#?}");
    let requests: Vec<_> = fs::read_dir(project.path("artifacts/mova_agent"))
        .expect("evidence")
        .map(|it| it.unwrap().path())
        .collect();
    let [request] = &requests[..] else {
        panic!("one request, not {requests:?}");
    };
    let run = fs::read_dir(request.join("runs")).expect("a run").next();
    let evidence = Evidence {
        folder: run.expect("a run").unwrap().path(),
    };
    validity.assert(
        "env.mova_agent_plan_v1",
        &evidence.json("plan.envelope.json"),
    );
    let report = evidence.json("validation_report.json");
    validity.assert("ds.mova_agent_validation_report_v1", &report);
    assert_eq!(report["verdict"], "allow");
    let episodes = evidence.episodes();
    assert!(
        episodes
            .iter()
            .all(|it| it["result_details"]["record"] != "step"),
        "{episodes:#?}"
    );
    for episode in &episodes {
        validity.assert("ds.mova_episode_core_v1", episode);
    }
    // A planner that keeps what it was given.
    let seen = project.path("seen");
    let script = format!(
        "/bin/cat > {0}; /usr/bin/env >> {0}; echo no plan",
        seen.display()
    );
    let program = [
        "plan",
        "--planner",
        "command",
        "--planner-command",
        "/bin/sh",
    ];
    let program =
        program
            .into_iter()
            .chain(["--planner-argument", "-c", "--planner-argument", &script]);
    let refused = Run::of(project.command(program.chain(options))).exits(1);
    assert!(refused.stderr.contains("validation_failed"), "{refused:#?}");
    let seen = fs::read_to_string(seen).expect("the planner ran");
    assert!(seen.contains("keep a note"), "{seen}");
    for (name, secret) in SECRETS {
        assert!(!seen.contains(secret), "{name} in {seen}");
    }
}

fn answer(request: &Request) -> Response {
    if request.head.starts_with("POST /slow ") {
        thread::sleep(Duration::from_secs(5));
    }
    ("200 OK", "application/json", request.body.clone())
}

fn run(case: &Path, validity: &Validity) {
    let expected = json(&case.join("expected.json"));
    let server = Server::start(answer);
    let project = Project::empty();
    for file in ["plan.json", "tool-pool.json", "profile.json"] {
        let own = case.join(file);
        let path = if own.exists() {
            own
        } else {
            folder().join("base").join(file)
        };
        let text = fs::read_to_string(&path).expect("a document");
        project.write(file, text.replace(ORIGIN, &server.origin()));
    }
    let ended = project.agent("run-plan --plan plan.json");
    assert_eq!(
        ended.code.map(Value::from),
        Some(expected["exit"].clone()),
        "{ended:#?}"
    );
    if let Some(code) = expected["code"].as_str() {
        let shown = format!("{}{}", ended.stdout, ended.stderr);
        assert!(shown.contains(code), "no {code} in {ended:#?}");
    }
    let runs = project.path("artifacts/mova_agent/req/runs");
    let mut runs = fs::read_dir(runs)
        .expect("evidence")
        .map(|it| it.unwrap().path());
    let evidence = Evidence {
        folder: runs.next().expect("a run"),
    };
    assert_eq!(runs.next(), None, "one run");
    let summary = evidence.json("run_summary.json");
    for member in ["status", "code"] {
        assert_eq!(summary[member], expected[member], "{summary:#}");
    }
    let episodes = evidence.episodes();
    let types: Vec<_> = episodes.iter().map(type_and_status).collect();
    assert_eq!(Value::from(types), expected["episodes"], "{summary:#}");
    let events = episodes
        .iter()
        .filter_map(|it| it.get("security_event_type"));
    let events: Vec<_> = events.cloned().collect();
    let none = Value::Array(Vec::new());
    assert_eq!(
        Value::from(events),
        *expected.get("events").unwrap_or(&none)
    );
    for (step, output) in expected["outputs"].as_object().into_iter().flatten() {
        let details = episodes.iter().map(|it| &it["result_details"]);
        let mut ends = details.filter(|it| it["record"] == "step" && it["step_id"] == **step);
        assert_eq!(ends.next().expect("the step")["output"]["value"], *output);
    }
    evidence.assert_whole(&episodes);
    evidence.assert_valid(&episodes, validity);
    let requests = server.requests();
    assert_eq!(Value::from(requests.len()), expected["requests"]);
    for request in requests {
        // The secrets arrive where they belong; the driver of these tests looks for them elsewhere.
        for (name, secret) in SECRETS {
            let line = format!("\r\nx-{}: {secret}\r\n", name.to_lowercase());
            assert!(request.head.contains(&line), "{}", request.head);
        }
    }
}

/// Returns the type and the status of an episode.
fn type_and_status(episode: &Value) -> String {
    let text = |member: &str| episode[member].as_str().expect("a text").to_owned();
    format!("{} {}", text("episode_type"), text("result_status"))
}

/// The folder of a run.
struct Evidence {
    folder: PathBuf,
}

impl Evidence {
    fn json(&self, name: &str) -> Value {
        json(&self.folder.join(name))
    }

    /// Returns the episodes in the order of the index.
    fn episodes(&self) -> Vec<Value> {
        let index =
            fs::read_to_string(self.folder.join("episodes/index.jsonl")).expect("the index");
        let lines = index
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let ids = lines.map(|line| line["episode_id"].as_str().expect("an id").to_owned());
        ids.map(|id| self.json(&format!("episodes/{id}.json")))
            .collect()
    }

    /// Asserts that the folder has exactly the files of [3, 6].
    fn assert_whole(&self, episodes: &[Value]) {
        let mut expected: BTreeSet<String> = [
            "episodes/index.jsonl",
            "instruction_profile.json",
            "plan.envelope.json",
            "request.envelope.json",
            "run_summary.json",
            "tool_pool.json",
            "validation_report.json",
        ]
        .map(str::to_owned)
        .into();
        for episode in episodes {
            let id = episode["episode_id"].as_str().expect("an id");
            expected.insert(format!("episodes/{id}.json"));
            let details = &episode["result_details"];
            if details["record"] == "step" {
                let step = details["step_id"].as_str().expect("a step");
                expected.insert(format!("logs/{step}.log"));
            }
        }
        let mut found = BTreeSet::new();
        for folder in ["", "episodes", "logs"] {
            for entry in fs::read_dir(self.folder.join(folder)).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    let name = path.strip_prefix(&self.folder).expect("below");
                    found.insert(name.to_str().expect("UTF-8").to_owned());
                }
            }
        }
        assert_eq!(found, expected);
    }

    /// Asserts that every file fits its schema.
    fn assert_valid(&self, episodes: &[Value], validity: &Validity) {
        for episode in episodes {
            let schema = match episode.get("security_event_type") {
                Some(_) => "ds.security_event_episode_core_v1",
                None => "ds.mova_episode_core_v1",
            };
            validity.assert(schema, episode);
        }
        for (file, schema) in [
            ("run_summary.json", "ds.mova_agent_run_summary_v1"),
            (
                "validation_report.json",
                "ds.mova_agent_validation_report_v1",
            ),
            ("tool_pool.json", "ds.mova_agent_tool_pool_v1"),
        ] {
            validity.assert(schema, &self.json(file));
        }
    }
}
