//! The records of a session.

use super::{World, at, call, new_client};
use agent_diagnostic::Code;
use agent_lower::digest;
use agent_session::{Client, Delivered, Options, Record, Session};
use serde_json::{Value, json};

fn value(record: &Record) -> Value {
    assert!(!record.line.contains('\n'));
    serde_json::from_str(&record.line).expect("JSON")
}

#[test]
fn records_are_a_chain() {
    let world = World::usual();
    let (mut session, mut records) =
        Session::open(world.documents(), Options::default(), at(0)).expect("a session");
    for server in session.servers() {
        let live = world.live(&server.id);
        records.extend(session.tools(&server.name, live.as_bytes(), at(1)).records);
    }
    records.extend(session.list(&new_client(), at(2)).records);
    let called = call(&mut session, &new_client(), "read", json!({ "path": "a" }));
    records.extend(called.records);
    let (called, params) = (called.id, br#"{"name":"?"}"#);
    records.extend(session.call(&new_client(), params, at(3)).records);
    match session.result(called, b"{}", at(4)) {
        Delivered::Nothing(found) => records.extend(found),
        other => panic!("{other:?}"),
    }
    // A new instance goes on with the chain.
    let options = Options {
        state: Some(session.export().into()),
        ..Options::default()
    };
    records.extend(
        Session::open(world.documents(), options, at(5))
            .expect("a session")
            .1,
    );
    let mut previous = Value::Null;
    for (number, record) in records.iter().enumerate() {
        let found = value(record);
        assert_eq!(found["sequence"], number + 1);
        assert_eq!(record.sequence, number as u64 + 1);
        assert_eq!(found["previous"], previous);
        previous = json!(digest(&record.line));
    }
    assert!(records.len() > 7);
}

#[test]
fn a_session_goes_on_with_the_chain_of_a_log() {
    let world = World::usual();
    let open = |last_record: Option<Vec<u8>>| {
        let options = Options {
            last_record,
            ..Options::default()
        };
        Session::open(world.documents(), options, at(0))
    };
    let (mut session, first) = open(None).expect("a session");
    let listed = session.list(&new_client(), at(1)).records;
    let last = &listed[0].line;
    let (_, next) = open(Some(last.clone().into_bytes())).expect("a session");
    assert_eq!(next[0].sequence, 3);
    assert_eq!(value(&next[0])["previous"], json!(digest(last)));
    let log = super::audit_log::text_of(&[first, listed, next].concat());
    assert_eq!(super::audit_log::verified(log.as_bytes()).problems, []);
    for other in [
        "",
        "{}",
        "notes",
        "{\"sequence\":\"1\"}",
        "{\"sequence\":1}{}",
    ] {
        let found = open(Some(other.into())).expect_err(other);
        assert_eq!(found[0].code, Code::AuditInvalid, "{other}");
    }
}

#[test]
fn a_decision_holds_what_a_replay_needs() {
    let world = World::usual();
    let client = Client {
        properties: Some(br#"{"team":"t","password":"p"}"#.to_vec()),
        ..new_client()
    };
    let decide = |audit_arguments: bool| {
        let mut session = world.session(Options {
            audit_arguments,
            ..Options::default()
        });
        let arguments = json!({ "path": "a", "token": "SECRET" });
        let called = call(&mut session, &client, "read", arguments);
        let record = value(&called.records[0]);
        assert_eq!(record["kind"], "decision");
        record["content"].clone()
    };
    let content = decide(false);
    for (member, expected) in [
        ("action", json!("refuse")),
        ("phase", json!("call")),
        ("server", json!("files")),
        ("version", json!("1")),
        ("tool", json!("read")),
        (
            "subject",
            json!({ "id": "c", "type": "local",
            "properties": { "team": "t", "password": { "len": 1, "present": true } } }),
        ),
        (
            "context",
            json!({ "hour": 9, "time": "2026-11-24T09:00:00.000Z",
            "weekday": "tuesday" }),
        ),
    ] {
        assert_eq!(content[member], expected, "{member}");
    }
    assert_eq!(content["reasons"][0]["code"], "ARGUMENT_INVALID");
    let documents = world.documents();
    let digests = &content["documents"];
    assert_eq!(
        digests["lock"],
        agent_lower::bytes_digest(documents.lock.as_ref().expect("a lock"))
    );
    assert_eq!(
        digests["index"],
        agent_lower::bytes_digest(documents.index.as_ref().expect("an index"))
    );
    assert_eq!(digests["policy"], Value::Null);
    let arguments = r#"{"path":"a","token":"SECRET"}"#;
    assert_eq!(content["arguments"]["digest"], digest(arguments));
    assert_eq!(content["arguments"].get("value"), None);
    assert_eq!(
        decide(true)["arguments"]["value"],
        json!({ "path": "a", "token": "SECRET" })
    );
}

#[test]
fn a_decision_and_its_effect_are_two_records() {
    let mut session = World::usual().session(Options::default());
    let called = call(&mut session, &new_client(), "read", json!({ "path": "a" }));
    let decision = value(&called.records[0]);
    assert_eq!(decision["content"]["action"], "forward");
    let result = br#"{"content":[]}"#;
    let Delivered::Refused(_, records) = session.result(called.id, result, at(1)) else {
        panic!("not withheld");
    };
    let effect = value(&records[0]);
    assert_eq!(effect["kind"], "effect");
    assert_eq!(effect["content"]["call"], decision["content"]["call"]);
    assert_eq!(effect["content"]["outcome"], "withheld");
    assert_eq!(effect["content"]["codes"], json!(["OUTPUT_INVALID"]));
    // What was withheld is kept as its digest.
    let digest = agent_lower::bytes_digest(result);
    assert_eq!(
        effect["content"]["result"],
        json!({ "bytes": 14, "digest": digest })
    );
}

#[test]
fn arguments_as_deep_as_json_may_be_are_recorded() {
    let mut session = World::usual().session(Options {
        audit_arguments: true,
        ..Options::default()
    });
    for depth in [100, 120, 124, 126] {
        let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let params = format!(r#"{{"name":"remove","arguments":{{"path":{deep}}}}}"#);
        let called = session.call(&new_client(), params.as_bytes(), at(0));
        let record = value(&called.records[0]);
        assert!(
            record["content"]["arguments"]["digest"].is_string(),
            "{depth}"
        );
    }
}
