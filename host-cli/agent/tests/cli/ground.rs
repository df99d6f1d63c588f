//! `ground`: a summary against the result of a tool.

use crate::project::Project;

const PAYLOAD: &str = "{\"text\": \"The delivery was late by three days.\", \"days\": 3}\n";

fn project(evidence: &str) -> Project {
    let project = Project::empty();
    project.write("payload.json", PAYLOAD);
    project.write(
        "summary.json",
        format!("[{{\"claim\": \"It was late.\", \"evidence\": \"{evidence}\"}}]\n"),
    );
    project
}

#[test]
fn evidence_is_found_and_reported() {
    let project = project("delivery was late");
    project
        .agent("ground summary.json --payload payload.json")
        .exits(0)
        .notes_nothing()
        .answers("✓ grounded: each claim quotes the payload; whether it follows is for a reader to judge")
        .answers("/text");
    let json = project
        .agent("ground summary.json --payload payload.json --format json")
        .exits(0)
        .json();
    assert_eq!(json["grounded"], true);
    assert_eq!(json["items"][0]["found"]["first"]["pointer"], "/text");
}

#[test]
fn missing_evidence_is_a_no() {
    let project = project("The Delivery was late");
    project
        .agent("ground summary.json --payload payload.json")
        .exits(1)
        .answers("✗ not grounded: 1 of 1 claim")
        .notes("error[UNGROUNDED]")
        .notes("summary.json:1:")
        .notes("payload.json:1:")
        .notes("\"evidence\": \"The delivery was late\"");
    let json = project
        .agent("ground summary.json --payload payload.json --format json")
        .exits(1)
        .json();
    assert_eq!(json["items"][0]["reason"]["differences"][0], "case");
    project
        .agent("ground summary.json --payload payload.json --format github")
        .exits(1)
        .answers("::error file=summary.json,line=1");
    let sarif = project
        .agent("ground summary.json --payload payload.json --format sarif")
        .exits(1)
        .json();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "UNGROUNDED");
}

#[test]
fn either_text_comes_from_standard_input_and_not_both() {
    let project = project("delivery was late");
    project
        .agent_reading("ground summary.json --payload -", PAYLOAD)
        .exits(0)
        .answers("grounded");
    project
        .agent_reading("ground - --payload payload.json", "[]")
        .exits(1)
        .answers_nothing()
        .notes("error[EMPTY_VALUE]")
        .notes("<stdin>:1:1");
    project
        .agent_reading("ground - --payload -", "[]")
        .exits(2)
        .notes("standard input can be read only once");
}

#[test]
fn an_unreadable_text_is_no_answer() {
    let project = project("delivery was late");
    project
        .agent("ground summary.json --payload nothing.json")
        .exits(2)
        .answers_nothing()
        .notes("can't read `nothing.json`");
    project
        .agent("ground summary.json")
        .exits(2)
        .notes("--payload");
    project.write("payload.json", "{\"a\": 1, \"a\": 2}");
    project
        .agent("ground summary.json --payload payload.json")
        .exits(1)
        .answers_nothing()
        .notes("error[DUPLICATE_KEY]");
    let json = project
        .agent("ground summary.json --payload payload.json --format json")
        .exits(1)
        .json();
    assert_eq!(json["valid"], false);
}

/// The largest payload with many near misses ends within the limits of the engine.
#[test]
fn hostile_texts_end_within_the_limits_of_the_engine() {
    let project = Project::empty();
    let a = "a".repeat((16 << 20) - 4);
    project.write("payload.json", format!("[\"{a}\"]"));
    let items: Vec<_> = (0..64)
        .map(|number| {
            format!(
                "{{\"claim\":\"c\",\"evidence\":\"{}b{number}\"}}",
                &a[..1 << 15]
            )
        })
        .collect();
    project.write("summary.json", format!("[{}]", items.join(",")));
    project
        .agent("ground summary.json --payload payload.json")
        .exits(1)
        .answers("not grounded: 64 of 64 claims");
}
