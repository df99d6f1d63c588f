//! Approvals that clients ask their humans for.

use super::client::{Served as Stdio, refusal};
use super::http::{Served, request};
use super::operating::project_with_approval;
use super::{OPTIONS, records};
use crate::project::Project;
use serde_json::{Value, json};

const ASKS: &str = "--approvals elicitation";

fn capabilities() -> Value {
    json!({ "elicitation": { "form": {} } })
}

fn add() -> Value {
    json!({ "name": "add", "arguments": { "a": 1, "b": 2 } })
}

/// Opens a session of a client that shows forms.
fn opening() -> Value {
    json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities(),
        "clientInfo": { "name": "test", "version": "1" },
    })
}

#[track_caller]
fn assert_recorded(project: &Project, answer: bool) {
    let records = records(project);
    let approval = records.iter().find(|it| it["kind"] == "approval");
    let content = &approval.expect("a record")["content"];
    assert_eq!(content["by"], "elicitation");
    assert_eq!(content["answer"], answer);
}

#[test]
fn a_client_on_standard_input_asks_its_human() {
    for (answer, code) in [
        (
            json!({ "action": "accept", "content": { "approve": true } }),
            None,
        ),
        (json!({ "action": "decline" }), Some("APPROVAL_DENIED")),
    ] {
        let project = project_with_approval();
        let mut served = Stdio::start(&project, &format!("{OPTIONS} {ASKS}"));
        served.ask("initialize", opening());
        let call = served.request("tools/call", add());
        let question = served.wait_for(|it| it["method"] == "elicitation/create");
        let text = question["params"]["message"].as_str().expect("a message");
        assert!(text.contains("`add` of `calculator`"), "{text}");
        served.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
        let answered = served.wait_for(|it| it["id"] == call);
        match code {
            None => assert_eq!(answered["result"]["structuredContent"], json!({ "sum": 3 })),
            Some(code) => assert_eq!(refusal(&answered["result"]), code),
        }
        served.end().exits(0);
        assert_recorded(&project, code.is_none());
    }
}

#[test]
fn a_question_ends_with_its_call() {
    let project = project_with_approval();
    let mut served = Stdio::start(&project, &format!("{OPTIONS} {ASKS}"));
    served.ask("initialize", opening());
    let call = served.request("tools/call", add());
    let question = served.wait_for(|it| it["method"] == "elicitation/create");
    let params = json!({ "requestId": call });
    served
        .send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    let ended = served.wait_for(|it| it["method"] == "notifications/cancelled");
    assert_eq!(ended["params"]["requestId"], question["id"]);
    // An answer that comes too late approves nothing.
    let accepted = json!({ "action": "accept", "content": { "approve": true } });
    served.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": accepted }));
    served.request("tools/call", add());
    served.wait_for(|it| it["method"] == "elicitation/create");
    served.end().exits(0);
}

#[test]
fn a_client_over_http_asks_its_human() {
    let project = project_with_approval();
    let served = Served::start(&project, &format!("{OPTIONS} {ASKS}"));
    let opened = served.post(&[], &request(1, "initialize", opening()));
    let session = opened
        .header("mcp-session-id")
        .expect("a session")
        .to_owned();
    let session = [("Mcp-Session-Id", &*session)];
    let mut call = served.post_open(&session, &request(2, "tools/call", add()));
    let question = call.message();
    assert_eq!(question["method"], "elicitation/create");
    let accepted = json!({ "action": "accept", "content": { "approve": true } });
    let response = json!({ "jsonrpc": "2.0", "id": question["id"], "result": accepted });
    assert_eq!(served.post(&session, &response).status, 202);
    let answered = call.message();
    assert_eq!(answered["result"]["structuredContent"], json!({ "sum": 3 }));
    served.end().exits(0);
    assert_recorded(&project, true);
}

#[test]
fn a_client_without_sessions_gets_the_form_with_the_result() {
    let project = project_with_approval();
    let served = Served::start(&project, &format!("{OPTIONS} {ASKS}"));
    let mut params = add();
    params["_meta"] = json!({ "io.modelcontextprotocol/clientCapabilities": capabilities() });
    let asked = served
        .alone(1, "tools/call", params.clone())
        .answer()
        .json();
    let asked = &asked["result"];
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(
        asked["inputRequests"]["approval"]["method"],
        "elicitation/create"
    );
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] =
        json!({ "approval": { "action": "accept", "content": { "approve": true } } });
    let answered = served.alone(2, "tools/call", params).answer().json();
    assert_eq!(
        answered["result"]["structuredContent"],
        json!({ "sum": 3 }),
        "{answered}"
    );
    served.end().exits(0);
    assert_recorded(&project, true);
}
