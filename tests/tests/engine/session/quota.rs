//! Quotas of tools with `rate_limited`.

use super::{World, answered, call_at, capability, is_passed_on, new_client, refused, server};
use agent_model::Load;
use agent_session::limits::{QUOTA_WINDOW_MS, QUOTAS_MAX};
use agent_session::{Generation, Options, REFUSAL_KEY};
use serde_json::{Value, json};

fn world(limit: Option<Value>) -> World {
    let limited = json!({ "x-summit-capabilities": capability(&["rate_limited"]) });
    let mut web = server(
        "web",
        json!({ "find": limited, "look": limited, "free": {} }),
    );
    if let Some(limit) = limit {
        web["policy"] = json!({ "rateLimitPerMin": limit });
    }
    let tools = ["find", "look", "free"].map(|tool| ("web", tool, Load::Essential));
    World::new(vec![web], &tools)
}

#[test]
fn calls_are_counted_for_each_client_and_server() {
    let mut session = world(Some(json!(2))).session(Options::default());
    let client = new_client();
    assert!(is_passed_on(&call_at(
        &mut session,
        &client,
        "find",
        json!({}),
        0
    )));
    assert!(is_passed_on(&call_at(
        &mut session,
        &client,
        "look",
        json!({}),
        1
    )));
    let called = call_at(&mut session, &client, "find", json!({}), 1_500);
    assert_eq!(refused(&called), ["QUOTA_EXCEEDED"]);
    let refusal = &answered(&called)["_meta"][REFUSAL_KEY];
    assert_eq!(refusal["retryAfterMs"], QUOTA_WINDOW_MS - 1_500);
    let text = answered(&called)["content"][0]["text"].to_string();
    assert!(text.contains("Try again in 59 s."), "{text}");
    // Refused calls do not count, nor others than the limited.
    assert!(is_passed_on(&call_at(
        &mut session,
        &client,
        "free",
        json!({}),
        1_500
    )));
    let other = super::client("d", Generation::Stateless);
    assert!(is_passed_on(&call_at(
        &mut session,
        &other,
        "find",
        json!({}),
        1_500
    )));
    let last = QUOTA_WINDOW_MS - 1;
    let called = call_at(&mut session, &client, "find", json!({}), last);
    assert_eq!(refused(&called), ["QUOTA_EXCEEDED"]);
    assert!(is_passed_on(&call_at(
        &mut session,
        &client,
        "find",
        json!({}),
        last + 1
    )));
}

#[test]
fn a_call_that_is_refused_is_not_counted() {
    let mut session = world(Some(json!(1))).session(Options::default());
    let called = call_at(&mut session, &new_client(), "find", json!({ "x": 1 }), 0);
    assert_eq!(refused(&called), ["ARGUMENT_UNKNOWN"]);
    assert!(is_passed_on(&call_at(
        &mut session,
        &new_client(),
        "find",
        json!({}),
        0
    )));
    // A wrong argument is not mended by time.
    let called = call_at(&mut session, &new_client(), "find", json!({ "x": 1 }), 0);
    assert_eq!(refused(&called), ["ARGUMENT_UNKNOWN", "QUOTA_EXCEEDED"]);
    let refusal = &answered(&called)["_meta"][REFUSAL_KEY];
    assert_eq!(refusal.get("retryAfterMs"), None);
}

#[test]
fn an_entry_without_a_limit_refuses() {
    for limit in [None, Some(json!(1.5)), Some(json!(-1))] {
        let mut session = world(limit).session(Options::default());
        let called = call_at(&mut session, &new_client(), "find", json!({}), 0);
        assert_eq!(refused(&called), ["QUOTA_MISSING"]);
        assert!(is_passed_on(&call_at(
            &mut session,
            &new_client(),
            "free",
            json!({}),
            0
        )));
    }
    let mut session = world(Some(json!(0))).session(Options::default());
    let called = call_at(&mut session, &new_client(), "find", json!({}), 0);
    assert_eq!(refused(&called), ["QUOTA_EXCEEDED"]);
}

#[test]
fn so_many_clients_are_counted() {
    let mut session = world(Some(json!(1))).session(Options::default());
    for number in 0..QUOTAS_MAX {
        let client = super::client(&format!("c{number}"), Generation::Stateless);
        let called = call_at(&mut session, &client, "find", json!({}), 0);
        assert!(is_passed_on(&called), "{number}");
        let result = br#"{"content":[],"resultType":"complete"}"#;
        session.result(called.id, result, super::at(0));
    }
    let called = call_at(&mut session, &new_client(), "find", json!({}), 1);
    assert_eq!(refused(&called), ["SESSION_LIMIT"]);
    assert!(is_passed_on(&call_at(
        &mut session,
        &new_client(),
        "find",
        json!({}),
        QUOTA_WINDOW_MS
    )));
}
