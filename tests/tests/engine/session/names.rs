//! Names that several locked tools have.

use super::{
    World, answered, at, call, codes, forwarded, is_passed_on, listed, new_client, refused, server,
    through,
};
use agent_diagnostic::Code;
use agent_model::Load;
use agent_session::{CallAction, Expansion, Options, Session};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn world() -> World {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "number" } } });
    World::new(
        vec![
            server(
                "files",
                json!({ "read": { "inputSchema": schema }, "wipe": {} }),
            ),
            server("no.tes", json!({ "read": {}, "write": {} })),
            server("mail", json!({ "read": {} })),
        ],
        &[
            ("files", "read", Load::Essential),
            ("no.tes", "read", Load::OnDemand),
            ("no.tes", "write", Load::OnDemand),
        ],
    )
}

fn record(called: &agent_session::Called) -> Value {
    let line: Value = serde_json::from_str(&called.records[0].line).expect("JSON");
    line["content"].clone()
}

#[test]
fn every_surface_has_the_same_name() {
    let mut session = world().session(Options {
        budget: Some(10_000),
        ..Options::default()
    });
    let names = listed(&mut session, &new_client());
    assert_eq!(names, ["files__read", "no_tes_helper"]);
    let list = session.list(&new_client(), at(0)).result;
    let list: Value = serde_json::from_slice(&list).expect("JSON");
    let stub = list["tools"][1]["description"].as_str().expect("a text");
    assert!(stub.contains("`no_tes__read`, `write`"), "{stub}");

    let called = call(
        &mut session,
        &new_client(),
        "files__read",
        json!({ "n": 1 }),
    );
    let (to, params) = forwarded(&called);
    assert_eq!((&*to, &params["name"]), ("files", &json!("read")));
    let content = record(&called);
    assert_eq!(content["tool"], "read");
    assert_eq!(content["served_as"], "files__read");
    let called = call(
        &mut session,
        &new_client(),
        "files__read",
        json!({ "n": "" }),
    );
    assert_eq!(refused(&called), ["ARGUMENT_INVALID"]);
    let text = answered(&called)["content"][0]["text"].to_string();
    assert!(
        text.contains("The call of `files__read` is refused"),
        "{text}"
    );

    let expand = |session: &mut Session, tool: &str| {
        let arguments = json!({ "operation": "expand", "tools": [tool] });
        answered(&call(session, &new_client(), "no_tes_helper", arguments))
    };
    let expanded = expand(&mut session, "no_tes__read");
    let text = expanded["content"][0]["text"].as_str().expect("a text");
    let expanded: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(expanded["tools"][0]["name"], "no_tes__read");
    assert_eq!(codes(&expand(&mut session, "read")), ["EXPANSION_DENIED"]);
    let called = through(
        &mut session,
        &new_client(),
        "no_tes_helper",
        "no_tes__read",
        json!({}),
    );
    let (to, params) = forwarded(&called);
    assert_eq!((&*to, &params["name"]), ("no.tes", &json!("read")));
    let called = through(
        &mut session,
        &new_client(),
        "no_tes_helper",
        "read",
        json!({}),
    );
    assert_eq!(refused(&called), ["TOOL_NOT_LOCKED"]);
    // Which of them is meant nobody knows.
    let called = call(&mut session, &new_client(), "read", json!({}));
    let CallAction::Error {
        code,
        message,
        data,
    } = &called.action
    else {
        panic!("{:?}", called.action);
    };
    assert_eq!(
        (*code, &**message),
        (-32602, "several tools have the name `read`")
    );
    let data: Value = serde_json::from_slice(data.as_ref().expect("data")).expect("JSON");
    assert_eq!(data, json!({ "instead": ["files__read", "no_tes__read"] }));
    let status: Value = serde_json::from_str(&session.status(at(0))).expect("JSON");
    assert_eq!(status["tools"][0]["name"], "files__read");
}

#[test]
fn a_live_list_has_the_names_of_the_server() {
    let world = world();
    let mut session = world.session(Options::default());
    let list = world.live("files").replace("\"number\"", "\"string\"");
    let found = session.tools("files", list.as_bytes(), at(1));
    assert_eq!(found.drifted[0].tool, "files__read");
    let found = session.tools("files", world.live("files").as_bytes(), at(2));
    assert_eq!(found.exposed, ["files__read"]);
    assert!(found.drifted.is_empty());
}

#[test]
fn versions_of_a_server_are_told_apart() {
    let mut world = world();
    let mut older = server("files", json!({ "read": {} }));
    older["version"] = json!("0.9");
    older["endpoint"] = json!("https://old.example/mcp");
    world.servers.push(older);
    world.locked = ["files@1", "files@0.9", "mail"]
        .map(|server| (server.to_owned(), "read".to_owned(), Load::Essential))
        .to_vec();
    let mut session = world.session(Options::default());
    let names = listed(&mut session, &new_client());
    assert_eq!(names, ["files_0_9__read", "files_1__read", "mail__read"]);
    for (name, server) in [
        ("files_0_9__read", "files@0.9"),
        ("files_1__read", "files@1"),
    ] {
        let called = call(&mut session, &new_client(), name, json!({}));
        assert_eq!(forwarded(&called).0, server);
    }
}

#[test]
fn servers_that_cleaning_makes_equal_are_refused() {
    let world = World::new(
        vec![
            server("a.b", json!({ "x": {} })),
            server("a/b", json!({ "x": {} })),
        ],
        &[("a.b", "x", Load::Essential), ("a/b", "x", Load::Essential)],
    );
    let found = Session::open(world.documents(), Options::default(), at(0)).map(|_| ());
    let found = found.expect_err("refused");
    let codes: Vec<_> = found.iter().map(|it| it.code).collect();
    assert_eq!(codes, [Code::StubCollision]);
}

/// Ids and names of which many collide, before or after the cleaning.
fn id() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "a.b", "a_b", "a__b", "b__a"]).prop_map(str::to_owned)
}

fn tool() -> impl Strategy<Value = String> {
    let names = vec![
        "a",
        "b",
        "a__a",
        "a__b",
        "b__a",
        "a__a__a",
        "b__a__a",
        "a_b__a",
        "a_helper",
        "a_b_helper",
        "a__b__a",
        "é",
    ];
    prop::sample::select(names).prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_served_name_is_that_of_one_tool(
        tools in prop::collection::btree_set((id(), tool()), 1..14),
        on_demand in prop::collection::vec(prop::bool::weighted(0.2), 14),
    ) {
        let mut own: BTreeMap<String, serde_json::Map<String, Value>> = BTreeMap::new();
        for (id, name) in &tools {
            own.entry(id.clone()).or_default().insert(name.clone(), json!({}));
        }
        let servers = own.into_iter().map(|(id, tools)| server_of(&id, tools)).collect();
        let loads = on_demand.iter().map(|it| if *it { Load::OnDemand } else { Load::Essential });
        let locked: Vec<_> = tools.iter().zip(loads).collect();
        let locked: Vec<_> = locked.iter().map(|((id, name), load)| (&**id, &**name, *load)).collect();
        let world = World::new(servers, &locked);
        let options = Options { expansion: Expansion::None, ..Options::default() };
        let mut session = match Session::open(world.documents(), options, at(0)) {
            Ok((session, _)) => session,
            Err(found) => {
                prop_assert!(found.iter().all(|it| it.code == Code::StubCollision), "{:?}", found);
                prop_assert!(may_collide(&tools), "{:?} {:?}", tools, found);
                return Ok(());
            }
        };
        world.start(&mut session);
        let names = listed(&mut session, &new_client());
        prop_assert_eq!(names.len(), tools.len());
        let mut reached = std::collections::BTreeSet::new();
        for name in &names {
            let called = call(&mut session, &new_client(), name, json!({}));
            prop_assert!(is_passed_on(&called), "{}", name);
            let (server, params) = forwarded(&called);
            let own = params["name"].as_str().expect("a name").to_owned();
            // A tool keeps its name unless another one has it.
            let shares = tools.iter().filter(|(_, it)| *it == own).count() > 1;
            prop_assert!(!(shares && *name == own), "{} is shared", own);
            reached.insert((server, own));
        }
        prop_assert_eq!(reached, tools);
    }
}

fn server_of(id: &str, tools: serde_json::Map<String, Value>) -> Value {
    let mut found = server(id, Value::Object(tools));
    found["endpoint"] = json!("https://x.example/mcp");
    found
}

/// Whether two names can be equal after every move: those of servers, or the name of a stub.
fn may_collide(tools: &std::collections::BTreeSet<(String, String)>) -> bool {
    let moved = |id: &str, tool: &str| format!("{}__{tool}", id.replace('.', "_"));
    let moved: Vec<_> = tools.iter().map(|(id, tool)| moved(id, tool)).collect();
    let is_twice = |name: &String| moved.iter().filter(|it| *it == name).count() > 1;
    let has_helper = tools.iter().any(|(_, tool)| tool.ends_with("_helper"));
    let ids: std::collections::BTreeSet<_> = tools.iter().map(|(id, _)| id).collect();
    let stubs = ids.iter().map(|id| id.replace('.', "_"));
    let stubs: std::collections::BTreeSet<_> = stubs.collect();
    moved.iter().any(is_twice) || has_helper || stubs.len() < ids.len()
}
