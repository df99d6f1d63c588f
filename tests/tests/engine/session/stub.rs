//! Tools on demand: listing, expanding and calling them through the stub of their server.

use super::{
    World, answered, at, call, codes, forwarded, is_passed_on, listed, new_client, old_client,
    refused, through,
};
use agent_session::{Called, Client, Expansion, Generation, Options, Session};
use serde_json::{Value, json};

fn options(budget: u64) -> Options {
    Options {
        budget: Some(budget),
        ..Options::default()
    }
}

fn expand(session: &mut Session, client: &Client, tools: &[&str]) -> Called {
    let arguments = json!({ "operation": "expand", "tools": tools });
    call(session, client, "aws_helper", arguments)
}

fn text(called: &Called) -> Value {
    let result = answered(called);
    assert_ne!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().expect("a text");
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_stub_lists_its_tools() {
    let mut session = World::usual().session(Options::default());
    let arguments = json!({ "operation": "list_services" });
    let found = text(&call(&mut session, &new_client(), "aws_helper", arguments));
    let names = found["tools"].as_array().expect("tools").iter();
    let names: Vec<_> = names.map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["s3_list", "s3_put"]);
}

#[test]
fn a_stub_expands_its_tools_within_the_budget() {
    let world = World::usual();
    let mut session = world.session(options(10_000));
    let found = text(&expand(&mut session, &new_client(), &["s3_list"]));
    assert_eq!(found["tools"][0]["name"], "s3_list");
    let (used, needed) = (
        &found["tokenEstimate"]["used"],
        &found["tokenEstimate"]["needed"],
    );
    let least = used.as_u64().unwrap() + needed.as_u64().unwrap();
    let mut exact = world.session(options(least));
    text(&expand(&mut exact, &new_client(), &["s3_list"]));
    let mut short = world.session(options(least - 1));
    let called = expand(&mut short, &new_client(), &["s3_list"]);
    assert_eq!(refused(&called), ["TOKEN_BUDGET_EXCEEDED"]);
    // Without a budget nothing is expanded.
    let mut none = world.session(Options::default());
    let called = expand(&mut none, &new_client(), &["s3_list"]);
    assert_eq!(refused(&called), ["TOKEN_BUDGET_EXCEEDED"]);
}

#[test]
fn what_a_session_was_given_counts_as_used() {
    let world = World::usual();
    let mut session = world.session(options(10_000));
    let used = |called: &Called| text(called)["tokenEstimate"]["used"].as_u64().unwrap();
    let first = used(&expand(&mut session, &old_client(), &["s3_list"]));
    let second = used(&expand(&mut session, &old_client(), &["s3_put"]));
    assert!(second > first);
    // Another session, and the stateless generation, begin anew.
    let other = Client {
        session: Some("t".to_owned()),
        ..old_client()
    };
    assert_eq!(used(&expand(&mut session, &other, &["s3_put"])), first);
    expand(&mut session, &new_client(), &["s3_list"]);
    assert_eq!(
        used(&expand(&mut session, &new_client(), &["s3_put"])),
        first
    );
}

#[test]
fn an_expansion_is_all_or_nothing() {
    let mut session = World::usual().session(options(10_000));
    for (tools, code) in [
        (&["s3_list", "ec2_run"][..], "EXPANSION_DENIED"),
        (&["s3_list", "none"], "EXPANSION_DENIED"),
        (&["read"], "EXPANSION_DENIED"),
    ] {
        let called = expand(&mut session, &new_client(), tools);
        assert_eq!(refused(&called), [code], "{tools:?}");
    }
}

#[test]
fn a_tool_is_called_through_its_stub() {
    let mut session = World::usual().session(Options::default());
    let arguments = json!({ "key": "k" });
    let called = through(
        &mut session,
        &new_client(),
        "aws_helper",
        "s3_list",
        arguments,
    );
    let (server, params) = forwarded(&called);
    assert_eq!(server, "aws");
    assert_eq!(
        params,
        json!({ "name": "s3_list", "arguments": { "key": "k" } })
    );
    let called = call(&mut session, &new_client(), "s3_list", json!({}));
    assert_eq!(refused(&called), ["EXPANSION_DENIED"]);
    let refusal = &answered(&called)["_meta"][agent_session::REFUSAL_KEY];
    assert_eq!(refusal["instead"], json!(["aws_helper"]));
    for (tool, code) in [
        ("ec2_run", "EXPANSION_DENIED"),
        ("read", "TOOL_NOT_LOCKED"),
        ("none", "TOOL_NOT_LOCKED"),
        ("aws_helper", "TOOL_NOT_LOCKED"),
    ] {
        let called = through(&mut session, &new_client(), "aws_helper", tool, json!({}));
        assert_eq!(refused(&called), [code], "{tool}");
    }
}

#[test]
fn invalid_arguments_are_answered_with_the_definition() {
    let world = World::usual();
    let wrong = json!({ "key": 1 });
    let mut session = world.session(options(10_000));
    let called = through(
        &mut session,
        &new_client(),
        "aws_helper",
        "s3_list",
        wrong.clone(),
    );
    let result = answered(&called);
    assert_eq!(codes(&result), ["ARGUMENT_INVALID"]);
    let definition = result["content"][1]["text"].as_str().expect("a definition");
    assert!(definition.contains("Lists buckets."));
    // Only within the budget.
    let mut short = world.session(options(10));
    let called = through(&mut short, &new_client(), "aws_helper", "s3_list", wrong);
    assert_eq!(
        answered(&called)["content"]
            .as_array()
            .expect("blocks")
            .len(),
        1
    );
    // Those of the stub itself too.
    let called = call(
        &mut session,
        &new_client(),
        "aws_helper",
        json!({ "operation": "x" }),
    );
    let result = answered(&called);
    assert_eq!(codes(&result), ["ARGUMENT_INVALID"]);
    assert!(
        result["content"][1]["text"]
            .as_str()
            .expect("a text")
            .contains("list_services")
    );
}

#[test]
fn the_policy_is_asked_with_both_phases() {
    let policy = |phases: &str| {
        format!(
            "package switchboard\nallowed_tools contains tool.id if {{\n some tool in \
             input.candidate_tools\n input.phase in {phases}\n input.subject.id == \"c\"\n \
             input.context.weekday == \"tuesday\"\n}}\n"
        )
    };
    for (phases, expands, calls) in [
        (r#"{"expand", "call"}"#, true, true),
        (r#"{"expand"}"#, true, false),
        (r#"{"call"}"#, false, false),
    ] {
        let world = World {
            policy: Some(policy(phases)),
            ..World::usual()
        };
        let mut session = world.session(options(10_000));
        let called = expand(&mut session, &new_client(), &["s3_list"]);
        assert_eq!(answered(&called)["isError"] != true, expands, "{phases}");
        let called = through(
            &mut session,
            &new_client(),
            "aws_helper",
            "s3_list",
            json!({}),
        );
        assert_eq!(is_passed_on(&called), calls, "{phases}");
        let other = super::client("d", Generation::Stateless);
        let called = expand(&mut session, &other, &["s3_list"]);
        assert_eq!(answered(&called)["isError"], true);
    }
}

#[test]
fn an_expansion_joins_the_list_of_a_session_that_wants_it() {
    let world = World::usual();
    let mut session = world.session(Options {
        expansion: Expansion::List,
        ..options(10_000)
    });
    let called = expand(&mut session, &old_client(), &["s3_list"]);
    assert!(called.list_changed);
    assert!(!expand(&mut session, &old_client(), &["s3_list"]).list_changed);
    let names = listed(&mut session, &old_client());
    assert!(names.contains(&"s3_list".to_owned()), "{names:?}");
    assert!(is_passed_on(&call(
        &mut session,
        &old_client(),
        "s3_list",
        json!({})
    )));
    // The stateless generation has one list for everybody.
    let called = expand(&mut session, &new_client(), &["s3_put"]);
    assert!(!called.list_changed);
    assert!(!listed(&mut session, &new_client()).contains(&"s3_put".to_owned()));
    let called = call(&mut session, &new_client(), "s3_list", json!({}));
    assert_eq!(refused(&called), ["EXPANSION_DENIED"]);
    // By default no list changes.
    let mut session = world.session(options(10_000));
    assert!(!expand(&mut session, &old_client(), &["s3_list"]).list_changed);
    session.list(&old_client(), at(0));
}

#[test]
fn without_stubs_every_tool_is_called_by_its_name() {
    let mut session = World::usual().session(Options {
        expansion: Expansion::None,
        ..Options::default()
    });
    assert!(is_passed_on(&call(
        &mut session,
        &new_client(),
        "s3_list",
        json!({})
    )));
    let params = r#"{"name":"aws_helper","arguments":{"operation":"list_services"}}"#;
    let called = session.call(&new_client(), params.as_bytes(), at(0));
    assert!(matches!(
        called.action,
        agent_session::CallAction::Error { code: -32602, .. }
    ));
}
