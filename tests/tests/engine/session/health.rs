//! Health decides on calls.

use super::{World, answered, at, call, call_at, is_passed_on, listed, new_client, refused};
use agent_session::health::{ERRORS_UNTIL_UNHEALTHY, Observation, REST_MS};
use agent_session::{Documents, Options, REFUSAL_KEY, Session};
use serde_json::{Value, json};

#[test]
fn a_server_is_called_once_it_has_listed_its_tools() {
    let world = World::usual();
    let mut session = world.opened(Options::default());
    let called = call(&mut session, &new_client(), "ec2_run", json!({}));
    assert_eq!(refused(&called), ["HEALTH_VETO"]);
    session.observe("aws", Observation::Started, at(0));
    let transition = session.observe("aws", Observation::Answered { latency_ms: 1 }, at(0));
    assert_eq!(transition.status, Some("HEALTHY"));
    assert_eq!(transition.records.len(), 1);
    // What it has now is not known yet.
    let called = call(&mut session, &new_client(), "ec2_run", json!({}));
    assert_eq!(refused(&called), ["HEALTH_VETO"]);
    session.tools("aws", world.live("aws").as_bytes(), at(0));
    assert!(is_passed_on(&call(
        &mut session,
        &new_client(),
        "ec2_run",
        json!({})
    )));
}

#[test]
fn an_unhealthy_server_is_not_called_and_its_list_stays() {
    let mut session = World::usual().session(Options::default());
    let before = listed(&mut session, &new_client());
    for number in 1..=ERRORS_UNTIL_UNHEALTHY {
        let transition = session.observe("aws", Observation::Failed, at(1000));
        let is_last = number == ERRORS_UNTIL_UNHEALTHY;
        assert_eq!(transition.status, is_last.then_some("UNHEALTHY"));
        assert!(!transition.list_changed);
    }
    let called = call_at(&mut session, &new_client(), "ec2_run", json!({}), 2000);
    assert_eq!(refused(&called), ["HEALTH_VETO"]);
    let refusal = &answered(&called)["_meta"][REFUSAL_KEY];
    // A server may be connected again at any time.
    assert_eq!(refusal.get("retryAfterMs"), None);
    assert_eq!(listed(&mut session, &new_client()), before);
    // Others are called, and it is tried again after its rest.
    assert!(is_passed_on(&call(
        &mut session,
        &new_client(),
        "count",
        json!({})
    )));
    let called = call_at(
        &mut session,
        &new_client(),
        "ec2_run",
        json!({}),
        1000 + REST_MS,
    );
    assert!(is_passed_on(&called));
    assert_eq!(
        session.observe("nobody", Observation::Exited, at(0)),
        Default::default()
    );
}

#[test]
fn a_snapshot_takes_the_place_of_what_is_observed() {
    let world = World {
        documents: Documents {
            health: Some(b"aws: PROBATION\nfiles: QUARANTINE\n".to_vec()),
            ..Documents::default()
        },
        ..World::usual()
    };
    let mut session = world.session(Options::default());
    assert!(is_passed_on(&call(
        &mut session,
        &new_client(),
        "ec2_run",
        json!({})
    )));
    session.observe("aws", Observation::Exited, at(0));
    assert!(is_passed_on(&call(
        &mut session,
        &new_client(),
        "ec2_run",
        json!({})
    )));
    let called = call(&mut session, &new_client(), "read", json!({ "path": "a" }));
    assert_eq!(refused(&called), ["HEALTH_VETO"]);
    // An unlisted server is unhealthy.
    let called = call(&mut session, &new_client(), "count", json!({}));
    assert_eq!(refused(&called), ["HEALTH_VETO"]);
    // A snapshot does not say what a server lists.
    let mut session = world.opened(Options::default());
    let called = call(&mut session, &new_client(), "ec2_run", json!({}));
    assert_eq!(refused(&called), ["HEALTH_VETO"]);
}

#[test]
fn the_reason_of_a_server_that_cannot_be_reached_holds_until_it_lists_its_tools() {
    let world = World::usual();
    let mut session = world.opened(Options::default());
    session.observe("aws", Observation::Exited, at(0));
    session.unreachable("aws", "its program is missing\u{202e}");
    session.unreachable("nobody", "no server of the lock");
    let text = |session: &mut Session| {
        let called = call(session, &new_client(), "ec2_run", json!({}));
        assert_eq!(refused(&called), ["HEALTH_VETO"]);
        answered(&called)["_meta"][REFUSAL_KEY]["reasons"][0].clone()
    };
    let reason = text(&mut session);
    let why = reason["text"].as_str().unwrap();
    assert_eq!(
        why,
        "the server `aws` is UNHEALTHY: its program is missing<U+202E>"
    );
    let help = reason["help"].as_str().unwrap();
    assert!(!help.contains("Wait"), "{help}");
    let status: Value = serde_json::from_str(&session.status(at(0))).unwrap();
    let servers = status["servers"].as_array().unwrap();
    let failures: Vec<_> = servers
        .iter()
        .filter(|it| !it["failure"].is_null())
        .collect();
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert_eq!(failures[0]["name"], "aws");
    // It lists its tools, and ends again for a reason that is not known.
    session.tools("aws", world.live("aws").as_bytes(), at(1));
    session.observe("aws", Observation::Exited, at(1));
    let reason = text(&mut session);
    assert!(
        !reason["text"].as_str().unwrap().contains("missing"),
        "{reason}"
    );
}
