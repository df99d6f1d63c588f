//! Fallbacks: served while health vetoes the server of their first.

use super::{
    World, answered, at, call, call_at, capability, is_passed_on, listed, new_client, refused,
    server, through,
};
use agent_lower as lower;
use agent_model::Load;
use agent_session::health::{Observation, REST_MS};
use agent_session::{Called, Documents, Options, REFUSAL_KEY, Session};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn named(server: &str, tool: &str) -> (String, String) {
    (server.to_owned(), tool.to_owned())
}

/// A search of `brave` whose fallback is that of `acme`.
fn world(load: Load) -> World {
    let servers = vec![
        server("acme", json!({ "find": {}, "more": {} })),
        server("brave", json!({ "search": {} })),
    ];
    World {
        fallbacks: vec![[named("brave", "search"), named("acme", "find")]],
        ..World::new(servers, &[("brave", "search", load)])
    }
}

fn fail(session: &mut Session, server: &str, ms: u64) -> bool {
    let found = session.observe(server, Observation::Exited, at(ms));
    assert_eq!(found.status, Some("UNHEALTHY"));
    found.list_changed
}

fn instead(called: &Called) -> Value {
    answered(called)["_meta"][REFUSAL_KEY]["instead"].clone()
}

#[test]
fn a_fallback_is_served_while_its_first_is_vetoed() {
    let mut session = world(Load::Essential).session(Options::default());
    assert_eq!(listed(&mut session, &new_client()), ["search"]);
    assert!(is_passed_on(&call(
        &mut session,
        &new_client(),
        "search",
        json!({})
    )));
    let called = call(&mut session, &new_client(), "find", json!({}));
    assert_eq!(refused(&called), ["HEALTH_VETO"]);
    assert_eq!(instead(&called), json!(["search"]));

    assert!(fail(&mut session, "brave", 0));
    assert_eq!(listed(&mut session, &new_client()), ["find"]);
    let called = call(&mut session, &new_client(), "find", json!({}));
    assert!(is_passed_on(&called));
    let called = call(&mut session, &new_client(), "search", json!({}));
    assert_eq!(refused(&called), ["HEALTH_VETO"]);
    assert_eq!(instead(&called), json!(["find"]));
    // What the lock does not have stays so.
    let called = call(&mut session, &new_client(), "more", json!({}));
    assert_eq!(refused(&called), ["TOOL_NOT_LOCKED"]);
}

#[test]
fn the_host_is_told_of_a_list_that_time_changed() {
    let mut session = world(Load::Essential).session(Options::default());
    fail(&mut session, "brave", 0);
    let list = |session: &mut Session, ms| {
        String::from_utf8(session.list(&new_client(), at(ms)).result).expect("UTF-8")
    };
    assert!(list(&mut session, REST_MS - 1).contains("find"));
    assert!(list(&mut session, REST_MS).contains("search"));
    let answered = Observation::Answered { latency_ms: 1 };
    let found = session.observe("acme", answered, at(REST_MS));
    assert!(found.list_changed && found.status.is_none() && found.records.is_empty());
    assert!(!session.observe("acme", answered, at(REST_MS)).list_changed);
    let called = call_at(&mut session, &new_client(), "find", json!({}), REST_MS);
    assert_eq!(refused(&called), ["HEALTH_VETO"]);
}

#[test]
fn a_server_that_has_not_listed_its_tools_is_replaced_too() {
    let world = world(Load::Essential);
    let mut session = world.opened(Options::default());
    assert_eq!(listed(&mut session, &new_client()), ["find"]);
    world.start(&mut session);
    assert_eq!(listed(&mut session, &new_client()), ["search"]);
}

#[test]
fn a_fallback_on_demand_is_behind_its_own_stub() {
    let mut session = world(Load::OnDemand).session(Options {
        budget: Some(10_000),
        ..Options::default()
    });
    let expand = |session: &mut Session, stub: &str, tool: &str| {
        let arguments = json!({ "operation": "expand", "tools": [tool] });
        call(session, &new_client(), stub, arguments)
    };
    let reaches = |session: &mut Session, stub: &str, tool: &str| {
        let called = through(session, &new_client(), stub, tool, json!({}));
        let expanded = expand(session, stub, tool);
        let is_expanded = answered(&expanded)["isError"] != true;
        assert_eq!(is_passed_on(&called), is_expanded);
        if !is_expanded {
            assert_eq!(refused(&called), ["HEALTH_VETO"]);
            assert_eq!(refused(&expanded), ["HEALTH_VETO"]);
            assert_eq!(instead(&called), instead(&expanded));
        }
        is_expanded
    };
    assert_eq!(listed(&mut session, &new_client()), ["brave_helper"]);
    assert!(reaches(&mut session, "brave_helper", "search"));
    assert!(!reaches(&mut session, "acme_helper", "find"));
    fail(&mut session, "brave", 0);
    assert_eq!(listed(&mut session, &new_client()), ["acme_helper"]);
    assert!(!reaches(&mut session, "brave_helper", "search"));
    assert!(reaches(&mut session, "acme_helper", "find"));
    let services = json!({ "operation": "list_services" });
    for (stub, tools) in [
        ("brave_helper", json!([])),
        ("acme_helper", json!(["find"])),
    ] {
        let called = call(&mut session, &new_client(), stub, services.clone());
        let text = answered(&called)["content"][0]["text"].clone();
        let found: Value = serde_json::from_str(text.as_str().expect("a text")).expect("JSON");
        let names = found["tools"].as_array().expect("tools").iter();
        let names: Vec<_> = names.map(|it| it["name"].clone()).collect();
        assert_eq!(json!(names), tools);
    }
}

#[test]
fn a_quarantined_fallback_is_not_named() {
    let mut session = world(Load::Essential).session(Options::default());
    session.tools("acme", br#"{"tools":[]}"#, at(1));
    fail(&mut session, "brave", 1);
    let called = call_at(&mut session, &new_client(), "search", json!({}), 1);
    assert_eq!(instead(&called), json!([]));
    assert_eq!(listed(&mut session, &new_client()), [] as [&str; 0]);
}

#[test]
fn a_reload_and_a_state_keep_what_the_host_was_told() {
    let world = world(Load::Essential);
    let mut session = world.session(Options::default());
    fail(&mut session, "brave", 0);
    let options = Options {
        state: Some(session.export().into()),
        ..Options::default()
    };
    let (mut other, _) = Session::open(world.documents(), options, at(REST_MS)).expect("a session");
    let reloaded = other
        .reload(world.documents(), at(REST_MS))
        .expect("documents");
    assert!(reloaded.list_changed);
    let reloaded = other
        .reload(world.documents(), at(REST_MS))
        .expect("documents");
    assert!(!reloaded.list_changed);
}

/// The list is what the engine exposes under the same vetoes.
#[test]
fn the_list_is_what_the_lock_exposes_under_the_same_vetoes() {
    let ids = ["a", "b", "c"];
    let servers = ids.map(|id| {
        let tools = [1, 2, 3].map(|number| (format!("{id}{number}"), json!({})));
        let mut server = server(id, Value::Object(tools.into_iter().collect()));
        server["capabilities"]["tools"][format!("{id}3")]["x-summit-capabilities"] =
            capability(&["readonly"]);
        server
    });
    let of = |tool: &str| named(&tool[..1], tool);
    let world = World {
        fallbacks: vec![
            [of("a1"), of("b1")],
            // A fallback is itself locked, and has one.
            [of("b1"), of("c1")],
            [of("a2"), of("c2")],
            [of("a3"), of("b3")],
        ],
        ..World::new(
            servers.to_vec(),
            &[
                ("a", "a1", Load::Essential),
                ("b", "b1", Load::Essential),
                ("a", "a2", Load::OnDemand),
                ("a", "a3", Load::OnDemand),
                ("c", "c3", Load::Essential),
            ],
        )
    };
    let mut lists = BTreeSet::new();
    for vetoes in 0..8_usize {
        let vetoed = ids.iter().enumerate();
        let vetoed = vetoed.filter(|(number, _)| vetoes >> number & 1 == 1);
        let vetoed: BTreeSet<&str> = vetoed.map(|(_, id)| *id).collect();
        let line = |id: &&str| {
            let is_vetoed = vetoed.contains(id);
            format!(
                "{id}: {}\n",
                if is_vetoed { "UNHEALTHY" } else { "HEALTHY" }
            )
        };
        let health: String = ids.iter().map(line).collect();
        let world = World {
            documents: Documents {
                health: Some(health.into_bytes()),
                ..Documents::default()
            },
            ..world.clone()
        };
        let documents = world.documents();
        let lock = lower::lock(documents.lock.expect("a lock"))
            .expect("a lock")
            .value;
        let index = lower::index(documents.index.expect("an index"))
            .expect("an index")
            .value;
        let exposed = agent_decide::exposed_under(&lock, &index, &vetoed).expect("exposed");
        let expected: Vec<_> = exposed.entries.iter().map(|it| &*it.name).collect();
        let mut session = world.session(Options::default());
        let found = listed(&mut session, &new_client());
        assert_eq!(found, expected, "{vetoed:?}");
        lists.insert(found);
    }
    assert_eq!(lists.len(), 4);
}
