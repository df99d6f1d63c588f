//! What is written about plans: reports that fit their schema, and the examples, which do what
//! their README says.

use super::corpus::{Case, Outcome, cases, sound};
use super::worlds::Maker;
use agent_decide::{CallContext, CallVerdict, PlanPolicy, Resolution, authorize_call};
use agent_json_schema::Library;
use agent_lower as lower;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many plans are made up.
const WORLDS: usize = 200;

fn fits(outcome: &Outcome, about: &str) {
    let report = outcome.report.clone().into_bytes();
    let found = lower::conformity("ds.mova_agent_validation_report_v1", report, Library::own());
    assert!(found.is_empty(), "{about}\n{}\n{found:#?}", outcome.report);
}

#[test]
fn every_report_fits_its_schema() {
    let mut with_changes = 0;
    for folder in cases("accept").into_iter().chain(cases("reject")) {
        let outcome = Case::read(&folder).decide_with_fixes();
        fits(&outcome, &folder.name());
        with_changes += usize::from(outcome.report.contains("\"changes\""));
    }
    assert!(with_changes >= 100, "{with_changes}");
    let mut maker = Maker::new(7);
    for _ in 0..WORLDS {
        let world = maker.world();
        fits(&world.case().decide_with_fixes(), &world.to_string());
    }
}

fn examples(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples/plans")
        .join(name)
}

fn example(name: &str) -> Value {
    let text = fs::read(examples(name)).expect(name);
    serde_json::from_slice(&text).expect("JSON")
}

/// The tools of the examples' index, as their server would list them.
fn catalogue() -> Value {
    let index = example("mcp.index.json");
    let server = &index["servers"][0];
    let tools = server["capabilities"]["tools"].as_object().expect("tools");
    let tools = tools.iter().map(|(name, tool)| {
        json!({
            "name": name,
            "description": tool["description"],
            "inputSchema": tool["inputSchema"],
            "outputSchema": tool["outputSchema"],
        })
    });
    let id = server["id"].as_str().expect("an id");
    json!({ id: { "tools": tools.collect::<Value>() } })
}

/// A plan of the examples, and what it is decided against.
struct Example {
    plan: Value,
    pool: Value,
    profile: Value,
    request: Option<Value>,
    /// The folder whose manifest and index are locked, if one is.
    locked: Option<&'static str>,
    catalogue: Option<Value>,
}

/// Where the examples of locks are, from here.
const HELLO_AGENT: &str = "../hello-agent";

impl Example {
    fn http() -> Self {
        Self {
            plan: example("http.plan.json"),
            pool: example("tool-pool.json"),
            profile: example("profile.json"),
            request: None,
            locked: None,
            catalogue: None,
        }
    }

    fn mcp() -> Self {
        Self {
            plan: example("mcp.plan.json"),
            request: Some(example("request.json")),
            locked: Some("."),
            ..Self::http()
        }
    }

    fn case(&self) -> Case {
        let bytes = |value: &Value| value.to_string().into_bytes();
        let read = |folder: &str, name: &str| fs::read(examples(folder).join(name)).expect(name);
        let index = |folder: &str| sound(lower::index(read(folder, "mcp.index.json")));
        let lock = self.locked.map(|folder| {
            let manifest = sound(lower::manifest(read(folder, "agents.md")));
            let resolution = Resolution::new(Arc::new(manifest), Arc::new(index(folder)));
            resolution.lock().expect("every requirement has a server")
        });
        let catalogue = self.catalogue.as_ref();
        Case {
            plan: Arc::new(lower::plan(bytes(&self.plan))),
            rules: Arc::new(PlanPolicy::new(
                bytes(&self.pool),
                bytes(&self.profile),
                None,
            )),
            request: self.request.as_ref().map(|it| lower::request(bytes(it))),
            index: self.locked.map(index),
            lock,
            catalogue: catalogue.map(|it| sound(lower::tools_snapshot(bytes(it)))),
        }
    }

    /// The outcome, in the form of the corpus's `expected.txt`.
    fn lines(&self) -> (bool, Vec<String>) {
        let outcome = self.case().decide();
        let lines = outcome.lines().into_iter().map(str::to_owned);
        (outcome.is_allowed(), lines.collect())
    }
}

fn lines(allowed: bool, lines: &[&str]) -> (bool, Vec<String>) {
    (allowed, lines.iter().map(|it| (*it).to_owned()).collect())
}

#[test]
fn the_examples_may_run() {
    let waiting = [
        "at_run_time addresses report",
        "at_run_time input visits",
        "at_run_time input_from visits",
        "at_run_time output report",
        "at_run_time output visits",
    ];
    assert_eq!(Example::http().lines(), lines(true, &waiting));
    let waiting = [
        "at_run_time addresses list",
        "at_run_time input keep",
        "at_run_time input_from keep",
        "at_run_time output keep",
        "at_run_time output list",
    ];
    assert_eq!(Example::mcp().lines(), lines(true, &waiting));
    // The index of the other lock has the server, and not its tools.
    let mut other = Example {
        locked: Some(HELLO_AGENT),
        catalogue: Some(catalogue()),
        ..Example::mcp()
    };
    assert_eq!(other.lines(), lines(true, &waiting));
    other.catalogue = None;
    let unknown = ["policy_denied plan /plan/steps/0/tool_id"];
    assert_eq!(other.lines(), lines(false, &unknown));
}

#[test]
fn the_examples_may_not_run_once_they_are_changed() {
    let mut keep_first = Example::mcp();
    let steps = keep_first.plan["plan"]["steps"].as_array_mut();
    steps.expect("steps").reverse();
    let later = ["validation_failed plan /plan/steps/0/input_from/step"];
    assert_eq!(keep_first.lines(), lines(false, &later));
    let mut capless = Example::mcp();
    let caps = capless.profile["caps"].as_object_mut();
    caps.expect("caps").remove("max_log_bytes");
    let missing = ["policy_denied instruction_profile /caps"];
    assert_eq!(capless.lines(), lines(false, &missing));
    for (number, rule) in ["read-audiences", "keep"].into_iter().enumerate() {
        let mut ruleless = Example::mcp();
        let rules = ruleless.profile["rules"].as_array_mut().expect("rules");
        rules.retain(|it| it["rule_id"] != rule);
        let denied = format!("policy_denied plan /plan/steps/{number}/tool_id");
        assert_eq!(ruleless.lines(), lines(false, &[&denied]));
    }
    let mut elsewhere = Example::http();
    let url = &mut elsewhere.plan["plan"]["steps"][0]["input"]["url"];
    *url = json!("https://reports.example:8443/2026/01.json");
    let denied = ["destination_denied plan /plan/steps/0/input/url"];
    assert_eq!(elsewhere.lines(), lines(false, &denied));
}

#[test]
fn the_one_call_of_the_examples_needs_an_index_with_its_tools() {
    let plan = fs::read(examples("call.json")).expect("a plan");
    let plan = sound(lower::call_plan(plan));
    for (locked, allowed) in [(".", true), (HELLO_AGENT, false)] {
        let case = Example {
            locked: Some(locked),
            ..Example::mcp()
        }
        .case();
        let verdict = authorize_call(
            &plan,
            CallContext {
                evaluation_context: None,
                index: case.index.as_ref().expect("an index"),
                lock: case.lock.as_ref(),
                catalogue: None,
            },
        );
        let is_allowed = matches!(verdict, CallVerdict::Allowed(_));
        assert_eq!(is_allowed, allowed, "{locked}: {verdict:#?}");
    }
}

#[test]
fn a_report_of_more_problems_than_are_told_fits_its_schema() {
    let mut example = Example::http();
    for number in 0..2_000 {
        example.plan[format!("a{number:04}")] = json!(null);
    }
    example.plan["plan"]["steps"][0]["step_id"] = json!("No id");
    let outcome = example.case().decide();
    assert_eq!(outcome.problems.len(), 1_000);
    fits(
        &outcome,
        "so many unknown members that a bad name is not told",
    );
}
