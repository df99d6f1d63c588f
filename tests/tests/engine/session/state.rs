//! The exported state.

use super::{World, at, call, call_at, is_passed_on, listed, new_client, old_client, refused};
use agent_session::health::Observation;
use agent_session::{CallAction, Clock, Delivered, Expansion, Options, Session};
use serde_json::{Value, json};

/// Returns a session with the exported state of another.
fn imported(world: &World, session: &Session, options: Options, now: Clock) -> Session {
    let options = Options {
        state: Some(session.export().into()),
        ..options
    };
    Session::open(world.documents(), options, now)
        .expect("a session")
        .0
}

#[test]
fn a_session_goes_on_where_another_ended() {
    let world = World::usual();
    let options = || Options {
        budget: Some(10_000),
        expansion: Expansion::List,
        ..Options::default()
    };
    let mut session = world.session(options());
    session.tools("numbers", br#"{"tools":[{"name":"x"}]}"#, at(0));
    let open = call(&mut session, &new_client(), "read", json!({ "path": "a" }));
    let asked = call(&mut session, &new_client(), "remove", json!({}));
    let expand = json!({ "operation": "expand", "tools": ["s3_list"] });
    call(&mut session, &old_client(), "aws_helper", expand);
    let mut session = imported(&world, &session, options(), at(1));
    // Health, quarantine and unlocked names.
    let called = call(&mut session, &new_client(), "count", json!({}));
    assert_eq!(refused(&called), ["TOOL_UNKNOWN"]);
    let called = call(&mut session, &new_client(), "x", json!({}));
    assert_eq!(refused(&called), ["TOOL_NOT_LOCKED"]);
    assert!(is_passed_on(&call(
        &mut session,
        &new_client(),
        "ec2_run",
        json!({})
    )));
    // Expanded tools, approvals and open calls.
    assert!(listed(&mut session, &old_client()).contains(&"s3_list".to_owned()));
    let CallAction::AskApproval { approval, .. } = asked.action else {
        panic!("not asked");
    };
    assert_eq!(
        session.approve(&approval, true, "t", at(2)).waiting,
        [asked.id]
    );
    assert!(is_passed_on(&call(
        &mut session,
        &new_client(),
        "remove",
        json!({})
    )));
    let wrong = session.result(open.id, br#"{"content":[]}"#, at(3));
    assert!(matches!(wrong, Delivered::Refused(..)));
}

#[test]
fn a_state_holds_no_payload() {
    let mut session = World::usual().session(Options::default());
    let path = json!({ "path": "PAYLOAD" });
    call(&mut session, &new_client(), "read", path.clone());
    call(&mut session, &new_client(), "remove", path);
    let state = String::from_utf8(session.export()).expect("UTF-8");
    assert!(!state.contains("PAYLOAD"));
    assert!(state.len() < 4_000, "{}", state.len());
}

#[test]
fn of_another_lock_only_what_names_no_tool_is_taken() {
    let world = World::usual();
    let mut session = world.session(Options::default());
    let open = call(&mut session, &new_client(), "read", json!({ "path": "a" }));
    for _ in 0..3 {
        session.observe("aws", Observation::Failed, at(0));
    }
    let mut other = world.clone();
    other.locked.remove(0);
    let mut session = imported(&other, &session, Options::default(), at(1));
    let status: Value = serde_json::from_str(&session.status(at(1))).expect("JSON");
    assert_eq!(status["servers"][0]["health"], "UNHEALTHY");
    assert_eq!(status["servers"][0]["listed"], false);
    let late = session.result(open.id, br#"{"content":[]}"#, at(2));
    assert!(matches!(late, Delivered::Nothing(_)));
}

#[test]
fn an_open_call_keeps_its_lock_across_a_reload() {
    let world = World::usual();
    let mut session = world.session(Options::default());
    let open = call(&mut session, &new_client(), "read", json!({ "path": "a" }));
    let mut other = world.clone();
    other.servers[0]["capabilities"]["tools"]["read"]["outputSchema"] = json!({});
    let reloaded = session.reload(other.documents(), at(1)).expect("reloaded");
    assert!(reloaded.list_changed && reloaded.records.len() == 1);
    let delivered = session.result(open.id, br#"{"content":[],"structuredContent":1}"#, at(2));
    assert!(matches!(delivered, Delivered::Refused(..)), "{delivered:?}");
    // The servers stay healthy, and list their tools again.
    let called = call(&mut session, &new_client(), "ec2_run", json!({}));
    assert_eq!(refused(&called), ["HEALTH_VETO"]);
    other.start(&mut session);
    assert!(is_passed_on(&call(
        &mut session,
        &new_client(),
        "ec2_run",
        json!({})
    )));
    // The same lock changes nothing, and a quarantine stays.
    session.tools("files", br#"{"tools":[]}"#, at(3));
    let reloaded = session.reload(other.documents(), at(3)).expect("reloaded");
    assert!(!reloaded.list_changed);
    let called = call(&mut session, &new_client(), "read", json!({ "path": "a" }));
    assert_eq!(refused(&called), ["TOOL_UNKNOWN"]);
    // Documents that no session opens with change nothing.
    let mut broken = other.documents();
    broken.definitions = None;
    session.reload(broken, at(3)).expect_err("refused");
    assert!(is_passed_on(&call_at(
        &mut session,
        &new_client(),
        "ec2_run",
        json!({}),
        4
    )));
}
