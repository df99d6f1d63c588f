//! Approvals by a human.

use super::{World, at, call_at, codes, is_passed_on, new_client, refused};
use agent_session::limits::{APPROVAL_LIFETIME_MS, APPROVAL_WAIT_MS};
use agent_session::{
    CallAction, Called, Client, Delivered, Failure, Generation, Options, REFUSAL_KEY, Session,
};
use serde_json::{Value, json};

fn remove(session: &mut Session, client: &Client, path: &str, ms: u64) -> Called {
    call_at(session, client, "remove", json!({ "path": path }), ms)
}

#[track_caller]
fn asked(called: &Called) -> String {
    match &called.action {
        CallAction::AskApproval { approval, .. } => approval.clone(),
        other => panic!("not asked: {}", super::shown(other)),
    }
}

#[test]
fn a_call_is_passed_on_once_after_a_human_approved_it() {
    let mut session = World::usual().session(Options::default());
    let called = remove(&mut session, &new_client(), "/tmp/a", 0);
    let CallAction::AskApproval {
        approval,
        text,
        expires_unix_ms,
        answer: None,
        elicitation: None,
    } = &called.action
    else {
        panic!("not asked");
    };
    assert!(
        text.contains("`remove` of `files`") && text.contains(r#"{"path":"/tmp/a"}"#),
        "{text}"
    );
    assert_eq!(*expires_unix_ms, at(APPROVAL_WAIT_MS).unix_ms);
    let approved = session.approve(approval, true, "terminal", at(1));
    assert_eq!(
        (approved.is_known, approved.waiting),
        (true, vec![called.id])
    );
    assert!(is_passed_on(&remove(
        &mut session,
        &new_client(),
        "/tmp/a",
        2
    )));
    // The approval is used up.
    let again = asked(&remove(&mut session, &new_client(), "/tmp/a", 3));
    assert_ne!(again, *approval);
}

#[test]
fn an_approval_belongs_to_one_client_one_tool_and_its_arguments() {
    let mut session = World::usual().session(Options::default());
    let client = new_client();
    let approval = asked(&remove(&mut session, &client, "/tmp/a", 0));
    assert_eq!(asked(&remove(&mut session, &client, "/tmp/a", 1)), approval);
    session.approve(&approval, true, "terminal", at(2));
    let others = [
        (super::client("d", Generation::Stateless), "/tmp/a"),
        (
            Client {
                kind: "oauth".to_owned(),
                ..new_client()
            },
            "/tmp/a",
        ),
        (client.clone(), "/tmp/b"),
    ];
    for (client, path) in others {
        assert_ne!(asked(&remove(&mut session, &client, path, 3)), approval);
    }
    // The same value, written otherwise.
    let params = r#"{"name":"remove","arguments":{ "path" : "\/tmp\/\u0061" }}"#;
    let called = session.call(&client, params.as_bytes(), at(4));
    assert!(is_passed_on(&called));
}

#[test]
fn numbers_that_a_digest_would_make_equal_are_approved_apart() {
    let mut session = World::usual().session(Options::default());
    let mut of = |number: &str| {
        let params = format!(r#"{{"name":"remove","arguments":{{"path":{number}}}}}"#);
        asked(&session.call(&new_client(), params.as_bytes(), at(0)))
    };
    assert_ne!(of("9007199254740993"), of("9007199254740992"));
}

#[test]
fn without_an_answer_the_call_is_refused_and_can_be_repeated() {
    let mut session = World::usual().session(Options::default());
    let called = remove(&mut session, &new_client(), "a", 0);
    let approval = asked(&called);
    let late = session.failed(called.id, &Failure::TimedOut, at(APPROVAL_WAIT_MS));
    let Delivered::Refused(result, _) = late else {
        panic!("{late:?}");
    };
    let result: Value = serde_json::from_slice(&result).expect("JSON");
    assert_eq!(codes(&result), ["APPROVAL_REQUIRED"]);
    assert_eq!(result["_meta"][REFUSAL_KEY]["approval"], json!(approval));
    // Code::ApprovalRequired; nobody waits any more when the human approves.
    let approved = session.approve(&approval, true, "page", at(APPROVAL_WAIT_MS + 1));
    assert_eq!((approved.is_known, approved.waiting.len()), (true, 0));
    let last = APPROVAL_WAIT_MS + APPROVAL_LIFETIME_MS;
    assert!(is_passed_on(&remove(
        &mut session,
        &new_client(),
        "a",
        last
    )));
}

#[test]
fn approvals_expire() {
    let mut session = World::usual().session(Options::default());
    let approval = asked(&remove(&mut session, &new_client(), "a", 0));
    assert!(
        !session
            .approve(&approval, true, "t", at(APPROVAL_LIFETIME_MS))
            .is_known
    );
    let approval = asked(&remove(&mut session, &new_client(), "a", 0));
    session.approve(&approval, true, "t", at(1));
    let called = remove(&mut session, &new_client(), "a", APPROVAL_LIFETIME_MS + 1);
    assert_ne!(asked(&called), approval);
}

#[test]
fn a_denial_counts_once() {
    let mut session = World::usual().session(Options::default());
    let approval = asked(&remove(&mut session, &new_client(), "a", 0));
    session.approve(&approval, false, "terminal", at(1));
    let called = remove(&mut session, &new_client(), "a", 2);
    assert_eq!(refused(&called), ["APPROVAL_DENIED"]);
    asked(&remove(&mut session, &new_client(), "a", 3));
    // Code::ApprovalDenied is final for that call: a second answer is none.
    assert!(!session.approve(&approval, true, "terminal", at(4)).is_known);
}

#[test]
fn an_answer_to_nothing_changes_nothing() {
    let mut session = World::usual().session(Options::default());
    let approval = asked(&remove(&mut session, &new_client(), "a", 0));
    for unknown in ["", "x", &approval.to_uppercase()] {
        assert!(!session.approve(unknown, true, "t", at(1)).is_known);
    }
    assert!(session.approve(&approval, true, "t", at(1)).is_known);
    assert!(!session.approve(&approval, false, "t", at(2)).is_known);
    assert!(is_passed_on(&remove(&mut session, &new_client(), "a", 3)));
}

#[test]
fn a_server_does_not_answer_for_the_human() {
    let mut session = World::usual().session(Options::default());
    let called = remove(&mut session, &new_client(), "a", 0);
    let result = br#"{"content":[],"resultType":"complete"}"#;
    let delivered = session.result(called.id, result, at(1));
    assert!(matches!(delivered, Delivered::Nothing(_)));
    let approval = asked(&called);
    assert_eq!(
        session.approve(&approval, true, "t", at(2)).waiting,
        [called.id]
    );
}

#[test]
fn an_approved_call_is_decided_anew() {
    let world = World::usual();
    let mut session = world.session(Options::default());
    let approval = asked(&remove(&mut session, &new_client(), "a", 0));
    session.approve(&approval, true, "t", at(1));
    session.tools("files", br#"{"tools":[]}"#, at(2));
    let called = remove(&mut session, &new_client(), "a", 3);
    assert_eq!(refused(&called), ["TOOL_UNKNOWN"]);
    session.tools("files", world.live("files").as_bytes(), at(4));
    assert!(is_passed_on(&remove(&mut session, &new_client(), "a", 5)));
}

#[test]
fn a_cancelled_call_asks_nobody_any_more() {
    let mut session = World::usual().session(Options::default());
    let called = remove(&mut session, &new_client(), "a", 0);
    session.failed(called.id, &Failure::Cancelled, at(1));
    assert!(!session.approve(&asked(&called), true, "t", at(2)).is_known);
    // Unless another call of the same kind waits for it.
    let first = remove(&mut session, &new_client(), "a", 3);
    let second = remove(&mut session, &new_client(), "a", 3);
    session.failed(first.id, &Failure::Cancelled, at(4));
    let approved = session.approve(&asked(&second), true, "t", at(5));
    assert_eq!(approved.waiting, [second.id]);
}

#[test]
fn ids_are_made_of_the_seed() {
    let id = |seed: u8| {
        let options = Options {
            seed: vec![seed; 32],
            ..Options::default()
        };
        asked(&remove(
            &mut World::usual().session(options),
            &new_client(),
            "a",
            0,
        ))
    };
    assert_eq!(id(1), id(1));
    assert_ne!(id(1), id(2));
    let called = remove(
        &mut World::usual().session(Options::default()),
        &new_client(),
        "a",
        0,
    );
    assert!(matches!(called.action, CallAction::AskApproval { .. }));
}
