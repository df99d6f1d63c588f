//! Sessions that only observe.

use super::{World, answered, at, call, is_passed_on, new_client, refused, through};
use agent_session::{CallAction, Delivered, OBSERVED_KEY, Options, Session};
use serde_json::{Value, json};

fn observing(world: &World) -> Session {
    world.session(Options {
        observe: true,
        ..Options::default()
    })
}

fn content(line: &str) -> Value {
    let record: Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(record["observe"], true);
    record["content"].clone()
}

#[test]
fn what_would_be_refused_is_passed_on_and_recorded() {
    let world = World {
        policy: Some("package switchboard\nallowed_tools := set()\n".to_owned()),
        ..World::usual()
    };
    let mut session = observing(&world);
    for (name, arguments, expected) in [
        (
            "read",
            json!({ "path": 1 }),
            &["ARGUMENT_INVALID", "POLICY_DENIED"][..],
        ),
        ("remove", json!({}), &["POLICY_DENIED", "APPROVAL_REQUIRED"]),
        ("wipe", json!({}), &["TOOL_NOT_LOCKED"]),
    ] {
        let called = call(&mut session, &new_client(), name, arguments);
        assert!(is_passed_on(&called), "{name}");
        let content = content(&called.records[0].line);
        let reasons = content["reasons"].as_array().expect("reasons").iter();
        let codes: Vec<_> = reasons.map(|it| it["code"].as_str().unwrap()).collect();
        assert_eq!(codes, expected);
        let result = r#"{"content":[],"structuredContent":{"text":"t"},"_meta":{"a":1},"resultType":"complete"}"#;
        let Delivered::Changed(result, _) = session.result(called.id, result.as_bytes(), at(1))
        else {
            panic!("not marked");
        };
        let result: Value = serde_json::from_slice(&result).expect("JSON");
        assert_eq!(result["_meta"]["a"], 1);
        let mut marked: Vec<_> = expected.to_vec();
        marked.sort_unstable();
        assert_eq!(result["_meta"][OBSERVED_KEY]["codes"], json!(marked));
    }
}

#[test]
fn what_the_lock_allows_is_not_marked() {
    let mut session = observing(&World::usual());
    let called = call(&mut session, &new_client(), "ec2_run", json!({}));
    assert!(is_passed_on(&called));
    let result = br#"{"content":[],"resultType":"complete"}"#;
    let delivered = session.result(called.id, result, at(1));
    assert!(matches!(delivered, Delivered::AsReceived(_)));
}

#[test]
fn drift_stays_withheld() {
    let mut session = observing(&World::usual());
    session.tools("files", br#"{"tools":[]}"#, at(1));
    let called = call(&mut session, &new_client(), "read", json!({ "path": "a" }));
    assert_eq!(refused(&called), ["TOOL_UNKNOWN"]);
}

#[test]
fn a_tool_that_a_server_lists_is_called_without_a_lock_of_it() {
    let world = World::usual();
    let mut session = observing(&world);
    let list = r#"{"tools":[{"name":"new","inputSchema":{"type":"object"}}]}"#;
    session.tools("numbers", list.as_bytes(), at(1));
    let called = call(&mut session, &new_client(), "new", json!({ "a": 1 }));
    assert!(is_passed_on(&called));
    let result = br#"{"content":[],"resultType":"complete"}"#;
    let delivered = session.result(called.id, result, at(1));
    assert!(matches!(delivered, Delivered::Changed(..)));
    // Nobody lists it any more.
    session.tools("numbers", br#"{"tools":[]}"#, at(2));
    let called = call(&mut session, &new_client(), "new", json!({}));
    assert!(matches!(
        called.action,
        CallAction::Error { code: -32602, .. }
    ));
}

#[test]
fn expansions_are_not_refused() {
    let world = World {
        policy: Some("package switchboard\nallowed_tools := set()\n".to_owned()),
        ..World::usual()
    };
    let mut session = observing(&world);
    let expand = json!({ "operation": "expand", "tools": ["s3_list"] });
    let called = call(&mut session, &new_client(), "aws_helper", expand);
    assert_ne!(answered(&called)["isError"], true);
    assert!(content(&called.records[0].line)["reasons"][0]["code"] == "EXPANSION_DENIED");
    let called = through(
        &mut session,
        &new_client(),
        "aws_helper",
        "s3_list",
        json!({}),
    );
    assert!(is_passed_on(&called));
    let status: Value = serde_json::from_str(&session.status(at(0))).expect("JSON");
    assert_eq!(status["observe"], true);
}
