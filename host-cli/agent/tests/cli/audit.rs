//! `audit`, and `replay` of an audit log, on logs that `serve` writes.

use crate::project::{Project, Run};
use crate::serve::client::{Served, refusal};
use crate::serve::{OPTIONS, digest, project_of};
use serde_json::{Value, json};
use std::fs;

const POLICY: &str = "package switchboard\n\nallowed_tools contains tool.id if {\n\t\
     some tool in input.candidate_tools\n\tinput.arguments.a != 1\n}\n";

/// A policy that allows every tool.
const ALL: &str =
    "package switchboard\n\nallowed_tools contains tool.id if some tool in input.candidate_tools\n";

/// A project whose log has three calls: one passed on, two refused.
fn served(options: &str) -> Project {
    let project = project_of("usual", "");
    let mut served = Served::start(&project, &format!("{OPTIONS} {options}"));
    served.initialize("2025-11-25");
    let sum = served.call("add", json!({ "a": 1, "b": 2 }));
    assert_eq!(sum["structuredContent"], json!({ "sum": 3 }), "{sum}");
    let invalid = served.call("add", json!({ "a": "1" }));
    assert_eq!(refusal(&invalid), "ARGUMENT_INVALID");
    let unlocked = served.call("unlocked", json!({}));
    assert_eq!(refusal(&unlocked), "TOOL_NOT_LOCKED");
    served.end().exits(0);
    project
}

fn lines(project: &Project) -> Vec<String> {
    let text = project.read("audit.jsonl");
    text.lines().map(|it| format!("{it}\n")).collect()
}

#[test]
fn a_log_is_verified_whole_in_parts_and_from_standard_input() {
    let project = served("");
    let lines = lines(&project);
    let head = digest(lines.last().unwrap().trim_end());
    project
        .agent("audit audit.jsonl")
        .exits(0)
        .answers(&format!("{} records", lines.len()))
        .answers(&head);
    let json = project.agent("audit audit.jsonl --format json");
    let json = json.exits(0).json();
    assert_eq!(json["head"], head);
    assert_eq!(json["records"], lines.len());
    assert_eq!(json["valid"], true);
    assert!(json["diagnostics"].is_array(), "{json}");
    project
        .agent(&format!("audit audit.jsonl --head {head}"))
        .exits(0);
    let (one, two) = lines.split_at(5);
    project.write("one.jsonl", one.concat());
    project.write("two.jsonl", two.concat());
    project.agent("audit one.jsonl two.jsonl").exits(0);
    project
        .agent_reading("audit one.jsonl -", two.concat())
        .exits(0);
    let before = digest(one[4].trim_end());
    project
        .agent(&format!("audit two.jsonl --after {before}"))
        .exits(0);
    project
        .agent("audit two.jsonl")
        .exits(1)
        .notes("AUDIT_MISSING")
        .notes("two.jsonl:1:1");
    project
        .agent("audit two.jsonl one.jsonl")
        .exits(1)
        .notes("AUDIT_RESTARTED");
    let shorter = lines[..lines.len() - 1].concat();
    project.write("audit.jsonl", shorter);
    project.agent("audit audit.jsonl").exits(0);
    project
        .agent(&format!("audit audit.jsonl --head {head}"))
        .exits(1)
        .notes("AUDIT_MISSING");
}

#[test]
fn each_fault_has_its_line_in_each_format() {
    let project = served("");
    let mut lines = lines(&project);
    let at = lines
        .iter()
        .position(|it| it.contains("\"refuse\""))
        .unwrap();
    lines[at] = lines[at].replace("\"refuse\"", "\"forward\"");
    let last = lines.len() - 1;
    let end = lines[last].len() - 1;
    lines[last].truncate(end);
    project.write("audit.jsonl", lines.concat());
    let report = project
        .agent("audit audit.jsonl --format json")
        .exits(1)
        .json();
    let found = report["diagnostics"].as_array().unwrap().iter();
    let found: Vec<_> = found
        .map(|it| {
            let label = &it["labels"][0];
            assert_eq!(label["path"], "audit.jsonl");
            assert!(!it["help"][0].as_str().unwrap().is_empty());
            (it["code"].clone(), label["place"]["line"].clone())
        })
        .collect();
    assert_eq!(
        found,
        [
            (json!("AUDIT_CHANGED"), json!(at + 1)),
            (json!("AUDIT_INTERRUPTED"), json!(last + 1)),
        ]
    );
    let github = project.agent("audit audit.jsonl --format github");
    let line = at + 1;
    github
        .exits(1)
        .answers(&format!("file=audit.jsonl,line={line}"));
    let sarif = project
        .agent("audit audit.jsonl --format sarif")
        .exits(1)
        .json();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "AUDIT_CHANGED");
    project
        .agent("audit audit.jsonl")
        .exits(1)
        .notes(&format!("audit.jsonl:{line}:1"));
}

#[test]
fn the_program_of_the_page_finds_the_head_and_a_changed_line() {
    const PAGE: &str = include_str!("../../../../docs/reference/audit.md");
    let (_, program) = PAGE.split_once("```python\n").expect("a program");
    let (program, _) = program.split_once("```\n").expect("its end");
    let project = served("");
    project.write("verify.py", program);
    let by_page = || {
        let mut python = project.command_of("/usr/bin/python3", ["verify.py"]);
        python.stdin(fs::File::open(project.path("audit.jsonl")).unwrap());
        Run::of(python)
    };
    let verified = project.agent("audit audit.jsonl").exits(0);
    let head = by_page().exits(0).stdout;
    assert!(verified.stdout.contains(head.trim_end()), "{verified:?}");
    let mut changed = lines(&project);
    changed.remove(1);
    project.write("audit.jsonl", changed.concat());
    by_page().exits(1).notes("record 2 is missing");
}

#[test]
fn what_is_no_log_has_no_answer_or_a_no() {
    let project = Project::empty();
    project.agent("audit audit.jsonl").exits(2);
    project.agent("audit .").exits(2);
    project.write("audit.jsonl", "");
    project
        .agent("audit audit.jsonl")
        .exits(1)
        .notes("AUDIT_MISSING");
    project
        .agent("audit audit.jsonl --head sha256-")
        .exits(2)
        .notes("--head");
    project
        .agent("audit audit.jsonl --after x")
        .exits(2)
        .notes("--after");
    project.agent_reading("audit - -", "").exits(2);
}

#[test]
fn a_gateway_goes_on_with_the_chain_of_an_existing_log() {
    let project = served("");
    let before = lines(&project);
    Served::start(&project, OPTIONS).end().exits(0);
    let after = lines(&project);
    assert!(after.len() > before.len());
    let all = format!("{} records", after.len());
    let verified = project.agent("audit audit.jsonl").exits(0).answers(&all);
    verified.exits(0).notes_not("AUDIT_RESTARTED");
    // Without the last record of the earlier session.
    let mut shorter = after.clone();
    shorter.remove(before.len() - 1);
    project.write("audit.jsonl", shorter.concat());
    project
        .agent("audit audit.jsonl")
        .exits(1)
        .notes("AUDIT_MISSING");
}

#[test]
fn sessions_of_other_logs_are_not_bound_to_the_records_before() {
    let project = served("");
    let lines = lines(&project);
    project.write("audit.jsonl", [lines.concat(), lines.concat()].concat());
    project
        .agent("audit audit.jsonl")
        .exits(0)
        .notes("AUDIT_RESTARTED")
        .notes(&format!("audit.jsonl:{}:1", lines.len() + 1));
}

#[test]
fn a_log_that_is_none_is_left_alone() {
    let project = served("");
    project.write("audit.jsonl", "notes of somebody\n");
    project
        .agent(&format!("serve {OPTIONS}"))
        .exits(1)
        .notes("AUDIT_INVALID");
    assert_eq!(project.read("audit.jsonl"), "notes of somebody\n");
}

#[test]
fn a_log_is_decided_as_recorded_under_the_same_documents() {
    for options in ["", "--audit-arguments"] {
        let project = served(options);
        let answer = project
            .agent("replay audit.jsonl --format json")
            .exits(0)
            .json();
        assert_eq!(answer["same"], true, "{answer}");
        assert_eq!(answer["counts"]["same"], 3, "{answer}");
        assert_eq!(answer["documents"], json!([]));
        project
            .agent("replay audit.jsonl")
            .exits(0)
            .answers("decided as recorded");
    }
}

#[test]
fn a_new_lock_shows_what_it_changes() {
    let project = served("");
    let manifest = project.read("agents.md");
    fs::create_dir(project.path("narrow")).unwrap();
    let narrow = manifest.replace("permissions: []\n", "permissions: []\n      only: [slow]\n");
    project.write("narrow/agents.md", narrow);
    project
        .agent("resolve narrow/agents.md --lock narrow/agents.lock")
        .exits(0);
    let replay = "replay audit.jsonl --lock narrow/agents.lock";
    let answer = project
        .agent(&format!("{replay} --format json"))
        .exits(1)
        .json();
    assert_eq!(answer["same"], false);
    assert_eq!(answer["counts"]["differs"], 1, "{answer}");
    let call = &answer["calls"][0];
    assert_eq!(call["outcome"], "differs", "{answer}");
    assert_eq!(call["recorded"]["verdict"], "allowed");
    assert_eq!(call["now"]["verdict"], "refused");
    assert_eq!(call["now"]["reasons"][0]["code"], "TOOL_NOT_LOCKED");
    let named: Vec<&Value> = answer["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["document"])
        .collect();
    assert_eq!(named, ["definitions", "lock"]);
    project
        .agent(replay)
        .exits(1)
        .answers("was allowed, now refused")
        .answers("TOOL_NOT_LOCKED");
    let line = call["line"].as_u64().unwrap();
    project
        .agent(&format!("{replay} --format github"))
        .exits(1)
        .answers(&format!("file=audit.jsonl,line={line}"));
    let sarif = project
        .agent(&format!("{replay} --format sarif"))
        .exits(1)
        .json();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "REPLAY_DIFFERS");
}

#[test]
fn a_policy_that_reads_arguments_needs_them() {
    for (options, exits) in [("", 2), ("--audit-arguments", 1)] {
        let project = served(options);
        project.write("policy.rego", POLICY);
        let answer = project
            .agent("replay audit.jsonl --policy policy.rego --format json")
            .exits(exits)
            .json();
        let call = &answer["calls"][0];
        match exits {
            2 => {
                assert_eq!(answer["same"], Value::Null, "{answer}");
                assert_eq!(call["outcome"], "undecidable");
            }
            _ => assert_eq!(
                call["now"]["reasons"][0]["code"], "POLICY_DENIED",
                "{answer}"
            ),
        }
    }
}

#[test]
fn nothing_is_decided_on_a_changed_log_or_without_a_lock() {
    let project = served("");
    let text = project.read("audit.jsonl");
    project.write("audit.jsonl", text.replacen("STARTING", "HEALTHY", 1));
    project
        .agent("replay audit.jsonl")
        .exits(2)
        .notes("AUDIT_CHANGED");
    project.write("audit.jsonl", text);
    project
        .agent("replay audit.jsonl --profile p.json")
        .exits(2)
        .notes("--profile");
    project
        .agent("replay . --health h.yaml")
        .exits(2)
        .notes("--health");
    project
        .agent("replay audit.jsonl --lock missing.lock")
        .exits(2);
}

#[test]
fn two_policies_decide_the_calls_of_a_log() {
    let project = served("--audit-arguments");
    project.write("older.rego", ALL);
    project.write("policy.rego", POLICY);
    let diff = "policy diff older.rego policy.rego --log audit.jsonl";
    let run = project.agent(&format!("{diff} --format json"));
    let answer = run.exits(1).json();
    let drifts = answer["drifts"].as_array().unwrap().iter();
    let of_log: Vec<_> = drifts
        .filter(|it| it["capability"] == Value::Null && it["category"] == Value::Null)
        .collect();
    let [drift] = &of_log[..] else {
        panic!("{answer:#}");
    };
    assert_eq!(drift["code"], "POLICY_NARROWED", "{answer:#}");
    assert!(
        drift["details"][0]
            .as_str()
            .unwrap()
            .starts_with("the call of record "),
        "{drift}"
    );
    project
        .agent(diff)
        .exits(1)
        .notes("both policies decided 3 calls of the log\n");
    project.agent(&format!("{diff} --deny-widening")).exits(0);
    project
        .agent("policy diff policy.rego older.rego --log audit.jsonl --deny-widening")
        .exits(1)
        .answers("newly allowed (was denied: POLICY_DENIED: ");
    // The arguments were not recorded.
    let project = served("");
    project.write("older.rego", ALL);
    project.write("policy.rego", POLICY);
    project
        .agent(&format!("{diff} --deny-widening"))
        .exits(1)
        .notes("could not decide ");
    let log = project
        .read("audit.jsonl")
        .replacen("STARTING", "UNHEALTHY", 1);
    project.write("audit.jsonl", log);
    project.agent(diff).exits(2).notes("AUDIT_CHANGED");
    project
        .agent("policy diff older.rego policy.rego --lock agents.lock")
        .exits(2);
}

#[test]
fn a_log_makes_a_first_policy() {
    let project = served("");
    project
        .agent("policy new --log audit.jsonl")
        .exits(0)
        .notes("wrote policy.rego and policy_test.rego: 1 of ")
        .notes("next: `agent policy check policy.rego`");
    project
        .agent("policy check policy.rego")
        .exits(0)
        .notes("3 passed, 0 failed, 0 skipped\n");
    // Under it the calls of the log are decided as they were.
    project
        .agent("replay audit.jsonl --policy policy.rego")
        .exits(0)
        .answers("decided as recorded");
    let policy = project.read("policy.rego");
    assert!(
        policy.starts_with("# The tools that an agent may use: calls of audit.jsonl.\n"),
        "{policy}"
    );
    for again in [
        "policy new --log audit.jsonl",
        "policy new policy_test.rego --log audit.jsonl",
    ] {
        project
            .agent(again)
            .exits(1)
            .notes("exists, and stays as it is");
    }
    assert_eq!(project.read("policy.rego"), policy);
    let log = project
        .read("audit.jsonl")
        .replacen("STARTING", "UNHEALTHY", 1);
    project.write("audit.jsonl", log);
    project
        .agent("policy new other.rego --log audit.jsonl")
        .exits(2)
        .notes("AUDIT_CHANGED");
    assert!(!project.path("other.rego").exists());
}
