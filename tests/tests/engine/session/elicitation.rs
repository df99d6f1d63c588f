//! Approvals that clients ask their humans for.

use super::{World, at, call, forwarded, is_passed_on, new_client, refused};
use agent_session::limits::{APPROVAL_LIFETIME_MS, APPROVAL_WAIT_MS};
use agent_session::{ApprovalMode, CallAction, Called, Client, Options, REFUSAL_KEY, Session};
use serde_json::{Value, json};

fn eliciting() -> Session {
    World::usual().session(Options {
        approval_mode: ApprovalMode::Elicitation,
        ..Options::default()
    })
}

/// Calls the tool that a human must approve, as a client of 2026-07-28 that shows forms.
fn remove(session: &mut Session, more: &Value, ms: u64) -> Called {
    let offers = json!({ "elicitation": { "form": {} } });
    let mut params = json!({ "name": "remove", "arguments": { "path": "a" },
        "_meta": { "io.modelcontextprotocol/clientCapabilities": offers } });
    let members = more.as_object().expect("an object").clone();
    params.as_object_mut().expect("an object").extend(members);
    session.call(&new_client(), params.to_string().as_bytes(), at(ms))
}

/// Returns the form that a client shows, and the state with which it repeats the call.
fn form(called: &Called) -> (Value, Value) {
    let CallAction::AskApproval {
        answer: Some(answer),
        elicitation: None,
        ..
    } = &called.action
    else {
        panic!("{:?}", called.action);
    };
    let mut answer: Value = serde_json::from_slice(answer).expect("JSON");
    assert_eq!(answer["resultType"], "input_required");
    assert_eq!(answer["_meta"][REFUSAL_KEY]["code"], "APPROVAL_REQUIRED");
    let requests = answer["inputRequests"].take();
    assert_eq!(requests.as_object().expect("requests").len(), 1);
    assert_eq!(requests["approval"]["method"], "elicitation/create");
    (
        requests["approval"]["params"].clone(),
        answer["requestState"].take(),
    )
}

fn answered(state: &Value, response: &Value) -> Value {
    json!({ "requestState": state, "inputResponses": { "approval": response } })
}

/// Returns a client with a session that shows forms.
fn old_client() -> Client {
    Client {
        capabilities: Some(br#"{"elicitation":{}}"#.to_vec()),
        ..super::old_client()
    }
}

fn accepted(approve: bool) -> Value {
    json!({ "action": "accept", "content": { "approve": approve } })
}

#[test]
fn a_client_without_sessions_asks_and_repeats_the_call() {
    let mut session = eliciting();
    let (form_shown, state) = form(&remove(&mut session, &json!({}), 0));
    let message = form_shown["message"].as_str().expect("a message");
    assert!(message.contains("`remove` of `files`"), "{message}");
    assert_eq!(
        form_shown["requestedSchema"]["required"],
        json!(["approve"])
    );
    let called = remove(&mut session, &answered(&state, &accepted(true)), 1);
    let (_, params) = forwarded(&called);
    assert_eq!(params.get("inputResponses"), None);
    let [approval, decision] = &called.records[..] else {
        panic!("{:?}", called.records);
    };
    assert!(
        approval.line.contains("\"kind\":\"approval\""),
        "{}",
        approval.line
    );
    assert!(
        approval.line.contains("\"by\":\"elicitation\""),
        "{}",
        approval.line
    );
    assert!(
        decision.line.contains("\"action\":\"forward\""),
        "{}",
        decision.line
    );
    // It is used up, and so is the state.
    form(&remove(&mut session, &json!({}), 2));
    let called = remove(&mut session, &answered(&state, &accepted(true)), 3);
    assert!(matches!(
        called.action,
        CallAction::Error { code: -32602, .. }
    ));
}

#[test]
fn a_denial_refuses_and_a_dismissed_form_leaves_it_to_the_host() {
    for denial in [accepted(false), json!({ "action": "decline" })] {
        let mut session = eliciting();
        let (_, state) = form(&remove(&mut session, &json!({}), 0));
        let called = remove(&mut session, &answered(&state, &denial), 1);
        assert_eq!(refused(&called), ["APPROVAL_DENIED"]);
    }
    let mut session = eliciting();
    let (_, state) = form(&remove(&mut session, &json!({}), 0));
    let called = remove(
        &mut session,
        &answered(&state, &json!({ "action": "cancel" })),
        1,
    );
    let CallAction::AskApproval {
        approval,
        answer: None,
        ..
    } = &called.action
    else {
        panic!("{:?}", called.action);
    };
    assert_eq!(
        session.approve(approval, true, "page", at(2)).waiting,
        [called.id]
    );
}

#[test]
fn an_answer_without_its_state_is_none() {
    let mut session = eliciting();
    let asked = form(&remove(&mut session, &json!({}), 0));
    let unasked = json!({ "inputResponses": { "approval": accepted(true) } });
    let called = remove(&mut session, &unasked, 1);
    assert!(!is_passed_on(&called));
    let forged = answered(&json!("AAAA"), &accepted(true));
    let called = remove(&mut session, &forged, 2);
    assert!(matches!(
        called.action,
        CallAction::Error { code: -32602, .. }
    ));
    // One that expired is none either.
    let late = APPROVAL_LIFETIME_MS + 1;
    let called = remove(&mut session, &answered(&asked.1, &accepted(true)), late);
    assert!(!is_passed_on(&called));
}

#[test]
fn a_client_with_a_session_is_asked_while_the_call_waits() {
    let ask = |session: &mut Session| {
        let called = call(session, &old_client(), "remove", json!({ "path": "a" }));
        let CallAction::AskApproval {
            approval,
            expires_unix_ms,
            answer: None,
            elicitation: Some(question),
            ..
        } = called.action
        else {
            panic!("{:?}", called.action);
        };
        assert_eq!(expires_unix_ms, at(APPROVAL_WAIT_MS).unix_ms);
        let question: Value = serde_json::from_slice(&question).expect("JSON");
        assert_eq!(question["requestedSchema"]["type"], "object");
        (called.id, approval)
    };
    let mut session = eliciting();
    let (id, approval) = ask(&mut session);
    let dismissed = session.elicited(&approval, br#"{"action":"cancel"}"#, at(1));
    assert!(!dismissed.is_known && dismissed.records.is_empty());
    let accepted = accepted(true).to_string();
    let approved = session.elicited(&approval, accepted.as_bytes(), at(2));
    assert_eq!((approved.is_known, approved.waiting), (true, vec![id]));
    assert!(is_passed_on(&call(
        &mut session,
        &old_client(),
        "remove",
        json!({ "path": "a" })
    )));
}

#[test]
fn only_a_host_that_chose_it_lets_clients_answer() {
    for mode in [ApprovalMode::Host, ApprovalMode::Retry] {
        let mut session = World::usual().session(Options {
            approval_mode: mode,
            ..Options::default()
        });
        let called = call(
            &mut session,
            &old_client(),
            "remove",
            json!({ "path": "a" }),
        );
        let CallAction::AskApproval {
            approval,
            elicitation: None,
            ..
        } = called.action
        else {
            panic!("{:?}", called.action);
        };
        let accepted = accepted(true).to_string();
        assert!(
            !session
                .elicited(&approval, accepted.as_bytes(), at(1))
                .is_known
        );
        let CallAction::AskApproval { answer, .. } = remove(&mut session, &json!({}), 2).action
        else {
            panic!("not asked");
        };
        let Some(answer) = answer else { continue };
        let answer: Value = serde_json::from_slice(&answer).expect("JSON");
        assert_eq!(answer.get("inputRequests"), None);
        let called = remove(
            &mut session,
            &answered(
                &answer["requestState"],
                &json!({ "action": "accept", "content": { "approve": true } }),
            ),
            3,
        );
        assert!(!is_passed_on(&called));
    }
}

#[test]
fn a_client_that_shows_no_forms_waits_for_the_host() {
    let mut session = eliciting();
    let urls = Client {
        capabilities: Some(br#"{"elicitation":{"url":{}}}"#.to_vec()),
        ..super::old_client()
    };
    for client in [new_client(), super::old_client(), urls] {
        let called = call(&mut session, &client, "remove", json!({ "path": "a" }));
        assert!(matches!(
            called.action,
            CallAction::AskApproval {
                answer: None,
                elicitation: None,
                ..
            }
        ));
    }
}
