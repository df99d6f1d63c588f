//! Writes runs as the engine on this machine makes them, to compare the browser with.
//!
//! `parity-runs FILE`: a JSON list of recorded runs, of the corpus of plans, with hosts that behave and hosts
//! that don't, of goals and of queries. `cargo xtask test` compiles it into `playground/worker/tests/run.rs`.

use agent_run::{Action, Documents, FailureKind, Goal, HandlerEvent, Mode, Options, Outcome};
use agent_tests::corpus::corpus;
use agent_tests::plan::{PlanInputs, plan_cases};
use agent_tests::recorded::{record, replay};
use agent_tests::run::{behave, failed, handled, options};
use serde_json::{Value, json};
use std::{env, fs};

/// Every so many refused plans of the corpus one is recorded.
const REFUSED: usize = 10;

fn main() {
    let path = env::args().nth(1).expect("the name of the file to write");
    let mut list = Vec::new();
    of_the_corpus(&mut list);
    of_goals_and_queries(&mut list);
    for run in &list {
        assert_eq!(replay(run), run["digest"], "{}", run["name"]);
    }
    fs::write(path, json!(list).to_string()).expect("the file can be written");
}

/// Records plans of the corpus: accepted ones with every host, some of the refused ones with one.
fn of_the_corpus(list: &mut Vec<Value>) {
    let mut refused = 0;
    for case in plan_cases() {
        let name = case.name();
        let inputs = PlanInputs::of(&case);
        let documents = Documents {
            plan: Some(inputs.plan),
            request: inputs.request,
            tool_pool: Some(inputs.tool_pool),
            profile: Some(inputs.profile),
            lock: inputs.lock,
            index: inputs.index,
            ..Documents::default()
        };
        if !is_text(&documents) {
            continue;
        }
        if !name.contains("/accept/") {
            refused += 1;
            if refused % REFUSED == 0 {
                list.push(record(&name, &documents, &options(), |it| Some(behave(it))));
            }
            continue;
        }
        list.push(record(&name, &documents, &options(), |it| Some(behave(it))));
        let preview = Options {
            mode: Mode::Preview,
            ..options()
        };
        list.push(record(&name, &documents, &preview, |it| Some(behave(it))));
        for (host, answer) in HOSTS {
            let name = format!("{name}, {host}");
            list.push(record(&name, &documents, &options(), *answer));
        }
    }
}

type Host = fn(&Action) -> Option<Outcome>;

/// Hosts that don't behave.
const HOSTS: &[(&str, Host)] = &[
    ("whose addresses are private", |action| match action {
        Action::Resolve(_) => Some(Outcome::Addresses(vec!["10.0.0.7".to_owned()])),
        action => Some(behave(action)),
    }),
    (
        "whose handlers return something else",
        |action| match action {
            Action::CallHandler(_) | Action::ResumeHandler(_) => {
                Some(handled(HandlerEvent::Returned(b"{\"other\":".to_vec())))
            }
            action => Some(behave(action)),
        },
    ),
    ("who cancels", |action| match action {
        Action::CallHandler(_) => Some(behave(action)),
        _ => None,
    }),
    (
        "who approves nothing and is too slow",
        |action| match action {
            Action::Approve(_) => Some(Outcome::Decision {
                approved: false,
                by: "terminal".to_owned(),
            }),
            _ => Some(failed(FailureKind::Timeout, "too slow")),
        },
    ),
    ("whose servers list nothing", |action| match action {
        Action::ListTools { .. } => Some(Outcome::Bytes(b"{\"tools\":[]}".to_vec())),
        action => Some(behave(action)),
    }),
];

fn of_goals_and_queries(list: &mut Vec<Value>) {
    let base = |name: &str| fs::read(corpus().join("plan/base").join(name)).ok();
    let documents = Documents {
        tool_pool: base("tool-pool.json"),
        profile: base("profile.json"),
        lock: base("agents.lock"),
        index: base("mcp.index.json"),
        goal: Some(Goal {
            text: "list audiences".to_owned(),
            context: Some(b"{\"at_most\": 2}".to_vec()),
            planner: "a-model".to_owned(),
        }),
        ..Documents::default()
    };
    let call = |tool: &str, args: Value| json!({ "type": "call_tool", "server": "acme-audiences", "tool": tool, "args": args });
    let step = json!({
        "envelope_id": "env.mova_agent_plan_v1",
        "verb": "create",
        "roles": { "planner": "p", "executor": "e" },
        "plan": {
            "plan_id": "p",
            "request_id": "run-1",
            "tool_pool_ref": { "pool_id": "pool", "pool_version": "1.0.0" },
            "instruction_profile_ref": { "profile_id": "profile" },
            "steps": [{
                "step_id": "keep",
                "connector_id": "connector_core:noop",
                "tool_id": "keep",
                "input": { "a": 1 },
            }],
        },
    });
    for (mode, planned) in [
        (
            Mode::Ask,
            call("list_audiences", json!({ "limit": 2 })).to_string(),
        ),
        (Mode::Ask, call("rename_audience", json!({})).to_string()),
        (Mode::Ask, "prose".to_owned()),
        (Mode::CarryOut, step.to_string()),
        (Mode::Decide, step.to_string()),
        (Mode::Decide, "prose".to_owned()),
    ] {
        let mut documents = documents.clone();
        if mode == Mode::Ask {
            documents.profile = None;
        }
        let options = Options { mode, ..options() };
        let name = format!("{mode:?}: {planned}");
        list.push(record(&name, &documents, &options, |action| match action {
            Action::Plan(_) => Some(Outcome::Bytes(planned.clone().into_bytes())),
            action => Some(behave(action)),
        }));
    }
}

/// Returns whether all documents are texts, which the page alone can hold.
fn is_text(documents: &Documents) -> bool {
    let all = [
        &documents.plan,
        &documents.request,
        &documents.tool_pool,
        &documents.profile,
        &documents.lock,
        &documents.index,
    ];
    let mut all = all.into_iter().flatten();
    all.all(|document| str::from_utf8(document).is_ok())
}
