//! Servers of 2026-07-28 that want a call repeated with their `requestState`, or ask for input.

use super::client::{Served as Stdio, refusal};
use super::http::Served;
use super::operating::project_with_approval_of;
use super::{OPTIONS, project_of, records};
use crate::project::Project;
use serde_json::{Value, json};

fn add() -> Value {
    json!({ "name": "add", "arguments": { "a": 1, "b": 2 } })
}

/// Returns the contents of the records of a kind.
fn of_kind(records: &[Value], kind: &str) -> Vec<Value> {
    let found = records.iter().filter(|it| it["kind"] == kind);
    found.map(|it| it["content"].clone()).collect()
}

/// Returns the actions of all decisions, each with whether it continues a call.
fn decisions(project: &Project) -> Vec<(String, bool)> {
    let decisions = of_kind(&records(project), "decision");
    let shown = decisions.iter().map(|it| {
        let action = it["action"].as_str().unwrap().to_owned();
        (action, it["continues"] == true)
    });
    shown.collect()
}

fn outcomes(project: &Project) -> Vec<String> {
    let effects = of_kind(&records(project), "effect");
    let outcomes = effects.iter().map(|it| it["outcome"].as_str().unwrap());
    outcomes.map(str::to_owned).collect()
}

/// The server is as healthy as after its start.
#[track_caller]
fn assert_healthy(project: &Project) {
    let health = of_kind(&records(project), "health");
    let after: Vec<_> = health.iter().map(|it| it["after"].clone()).collect();
    assert_eq!(after, ["HEALTHY"]);
}

#[test]
fn a_client_of_the_same_generation_gets_a_state_and_the_server_its_own() {
    let project = project_of("asks 2", "");
    let served = Served::start(&project, OPTIONS);
    let mut params = add();
    for id in 1..3 {
        let asked = served.alone(id, "tools/call", params.clone()).answer();
        let asked = asked.json()["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let state = asked["requestState"].as_str().unwrap();
        assert!(!state.contains("round"), "{state}");
        params["requestState"] = json!(state);
    }
    let sum = served.alone(3, "tools/call", params.clone()).answer();
    let sum = sum.json();
    assert_eq!(
        sum["result"]["structuredContent"],
        json!({ "sum": 3 }),
        "{sum}"
    );
    // A state is used once.
    let again = served.alone(4, "tools/call", params).answer().json();
    assert_eq!(again["error"]["code"], -32602, "{again}");
    served.end().exits(0);
    let forward = |continues| ("forward".to_owned(), continues);
    assert_eq!(
        decisions(&project),
        [
            forward(false),
            forward(true),
            forward(true),
            ("error".to_owned(), false)
        ]
    );
    let expected = ["input_required", "input_required", "delivered"];
    assert_eq!(outcomes(&project), expected);
    assert_healthy(&project);
}

#[test]
fn a_client_with_a_session_has_its_call_repeated() {
    let project = project_of("asks 2", "");
    let mut served = Stdio::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    let sum = served.call("add", json!({ "a": 1, "b": 2 }));
    assert_eq!(sum["structuredContent"], json!({ "sum": 3 }), "{sum}");
    assert_eq!(sum.get("resultType"), None);
    served.end().exits(0);
    let continues: Vec<_> = decisions(&project).into_iter().map(|it| it.1).collect();
    assert_eq!(continues, [false, true, true]);
    let expected = ["input_required", "input_required", "delivered"];
    assert_eq!(outcomes(&project), expected);
    assert_healthy(&project);
}

#[test]
fn a_call_is_repeated_five_times_and_no_more() {
    let project = project_of("asks 100", "");
    let mut served = Stdio::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    let refused = served.call("add", json!({ "a": 1, "b": 2 }));
    assert_eq!(refusal(&refused), "SESSION_LIMIT");
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("more than 5 times"), "{text}");
    let slow = served.call("slow", json!({ "seconds": 0 }));
    assert_eq!(slow["content"][0]["text"], "woke up", "{slow}");
    served.end().exits(0);
    assert_eq!(decisions(&project).len(), 7);
    let asked = outcomes(&project);
    assert_eq!(asked[..5], ["input_required"; 5]);
    assert_eq!(asked[5..], ["withheld", "delivered"]);
    assert_healthy(&project);
}

#[test]
fn a_request_for_input_is_withheld_and_does_not_count_against_health() {
    let project = project_of("asks input", "");
    let mut served = Stdio::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    // So many errors in a row would make a server unhealthy.
    for _ in 0..6 {
        let refused = served.call("add", json!({ "a": 1, "b": 2 }));
        assert_eq!(refusal(&refused), "OUTPUT_INVALID");
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert!(
            text.contains("it asks for sampling, roots or elicitation"),
            "{text}"
        );
    }
    served.end().exits(0);
    assert_eq!(outcomes(&project), ["withheld"; 6]);
    assert_healthy(&project);

    let project = project_of("asks input", "");
    let served = Served::start(&project, OPTIONS);
    let refused = served.alone(1, "tools/call", add()).answer().json();
    assert_eq!(refusal(&refused["result"]), "OUTPUT_INVALID");
    served.end().exits(0);
    assert_healthy(&project);
}

#[test]
fn a_human_approves_each_call_whose_server_wants_repetitions() {
    let project = project_with_approval_of("asks 2");
    let mut served = Stdio::start(&project, &format!("{OPTIONS} --approvals elicitation"));
    served.ask(
        "initialize",
        json!({
            "protocolVersion": "2025-11-25", "capabilities": { "elicitation": { "form": {} } },
            "clientInfo": { "name": "test", "version": "1" },
        }),
    );
    for is_approved in [true, false] {
        let call = served.request("tools/call", add());
        let question = served.wait_for(|it| it["method"] == "elicitation/create");
        let answer = json!({ "action": if is_approved { "accept" } else { "decline" },
            "content": { "approve": is_approved } });
        served.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
        let answered = served.wait_for(|it| it["id"] == call);
        match is_approved {
            true => assert_eq!(answered["result"]["structuredContent"], json!({ "sum": 3 })),
            false => assert_eq!(refusal(&answered["result"]), "APPROVAL_DENIED"),
        }
    }
    served.end().exits(0);
    // Every call that a server got was decided with the approval that was given for it.
    let records = records(&project);
    let approvals = of_kind(&records, "approval");
    let [given, denied] = &approvals[..] else {
        panic!("{approvals:?}");
    };
    assert_ne!(given["approval"], denied["approval"]);
    let decisions = of_kind(&records, "decision");
    let shown: Vec<_> = decisions
        .iter()
        .map(|it| (it["action"].as_str().unwrap(), &it["approval"]))
        .collect();
    let (given, denied) = (&given["approval"], &denied["approval"]);
    assert_eq!(
        shown,
        [
            ("ask", given),
            ("forward", given),
            ("forward", given),
            ("forward", given),
            ("ask", denied),
            ("refuse", denied),
        ]
    );
}
