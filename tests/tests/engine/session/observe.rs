//! Sessions that only observe.

use super::{
    World, answered, at, call, forwarded, is_passed_on, listed, new_client, old_client, refused,
    through,
};
use agent_diagnostic::Code;
use agent_session::{
    CallAction, Delivered, Deviation, Documents, OBSERVED_KEY, ObservedServer, Options, Secret,
    Session,
};
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
    assert!(matches!(delivered, Delivered::Changed(..)));
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

/// A session without a lock, whose servers have listed nothing.
fn without_lock(options: Options) -> Session {
    let server = |name: &str| ObservedServer {
        name: name.to_owned(),
        endpoint: format!("https://{name}.example/mcp"),
    };
    let options = Options {
        observe: true,
        servers: vec![server("b"), server("a")],
        ..options
    };
    let opened = Session::open(Documents::default(), options, at(0));
    opened.unwrap_or_else(|found| panic!("{found:#?}")).0
}

fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "title": "TITLE",
        "inputSchema": { "type": "object" }, "_meta": { "x": 1 } })
}

fn list(session: &mut Session, server: &str, tools: &[Value]) -> agent_session::Observed {
    let list = json!({ "tools": tools }).to_string();
    session.tools(server, list.as_bytes(), at(0))
}

#[test]
fn without_a_lock_every_listed_tool_is_exposed_and_recorded() {
    let mut session = without_lock(Options::default());
    let servers = session.servers();
    let names: Vec<_> = servers.iter().map(|it| (&*it.name, &*it.version)).collect();
    assert_eq!(names, [("a", ""), ("b", "")]);
    assert!(session.destination("a").expect("a destination").is_some());
    let found = list(&mut session, "a", &[tool("x", "X"), tool("y", "Y")]);
    assert_eq!(found.exposed, ["x", "y"]);
    assert!(found.withheld.is_empty() && found.list_changed);
    assert!(!list(&mut session, "a", &[tool("y", "Y"), tool("x", "X")]).list_changed);

    let text = session.list(&new_client(), at(0)).result;
    let shown: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(
        shown["tools"][0],
        json!({ "name": "x", "title": "TITLE", "description": "X", "inputSchema": { "type": "object" },
            "_meta": { OBSERVED_KEY: { "codes": ["TOOL_NOT_LOCKED"] } } })
    );
    let called = call(&mut session, &new_client(), "x", json!({ "a": 1 }));
    let (server, params) = forwarded(&called);
    assert_eq!((&*server, &params["name"]), ("a", &json!("x")));
    let content = content(&called.records[0].line);
    assert_eq!(content["reasons"][0]["code"], "TOOL_NOT_LOCKED");
    assert_eq!(content["documents"]["lock"], Value::Null);
    let result = br#"{"content":[],"resultType":"complete"}"#;
    let delivered = session.result(called.id, result, at(1));
    assert!(matches!(delivered, Delivered::Changed(..)));
    let unknown = call(&mut session, &new_client(), "z", json!({}));
    assert!(matches!(
        unknown.action,
        CallAction::Error { code: -32602, .. }
    ));
    let status: Value = serde_json::from_str(&session.status(at(0))).expect("JSON");
    assert_eq!(status["agent"], Value::Null);
    assert_eq!(status["tools"][1]["name"], "y");
    assert_eq!(status["tools"][1]["state"], "observed");
}

#[test]
fn a_tool_that_changes_after_its_first_listing_is_quarantined() {
    let mut session = without_lock(Options::default());
    list(&mut session, "a", &[tool("x", "X"), tool("y", "Y")]);
    let found = list(&mut session, "a", &[tool("x", "other"), tool("y", "Y")]);
    assert_eq!(found.exposed, ["y"]);
    assert!(found.list_changed);
    assert!(matches!(
        found.drifted[0].deviation,
        Deviation::Changed { .. }
    ));
    assert!(found.drifted[0].changes[0].contains("/description"));
    assert_eq!(listed(&mut session, &new_client()), ["y"]);
    let called = call(&mut session, &new_client(), "x", json!({}));
    assert_eq!(refused(&called), ["DEFINITION_CHANGED"]);
    let text = answered(&called)["content"][0]["text"].to_string();
    assert!(text.contains("was first listed with"), "{text}");
    assert!(!text.contains("locked with"), "{text}");
    // To take it away for a while changes nothing.
    list(&mut session, "a", &[]);
    let called = call(&mut session, &new_client(), "x", json!({}));
    assert!(matches!(
        called.action,
        CallAction::Error { code: -32602, .. }
    ));
    list(&mut session, "a", &[tool("x", "other")]);
    let called = call(&mut session, &new_client(), "x", json!({}));
    assert_eq!(refused(&called), ["DEFINITION_CHANGED"]);
    list(&mut session, "a", &[tool("x", "X")]);
    assert!(is_passed_on(&call(
        &mut session,
        &new_client(),
        "x",
        json!({})
    )));
    list(&mut session, "a", &[tool("x", "X"), tool("x", "X")]);
    let called = call(&mut session, &new_client(), "x", json!({}));
    assert_eq!(refused(&called), ["DEFINITION_CHANGED"]);
}

#[test]
fn a_state_keeps_the_first_listing() {
    let mut session = without_lock(Options::default());
    list(&mut session, "a", &[tool("x", "X"), tool("y", "Y")]);
    let mut session = without_lock(Options {
        state: Some(session.export().into()),
        ..Options::default()
    });
    // Definitions are payloads: the server must list them again.
    assert_eq!(listed(&mut session, &new_client()), [] as [&str; 0]);
    list(&mut session, "a", &[tool("x", "other"), tool("y", "Y")]);
    assert_eq!(listed(&mut session, &new_client()), ["y"]);
    let called = call(&mut session, &new_client(), "x", json!({}));
    assert_eq!(refused(&called), ["DEFINITION_CHANGED"]);
}

#[test]
fn a_definition_with_concealed_characters_is_withheld() {
    let mut session = without_lock(Options::default());
    let tools = [
        tool("x", "X\u{200b}"),
        tool("z\u{202e}", "Z"),
        tool("y", "Y"),
    ];
    let found = list(&mut session, "a", &tools);
    assert_eq!(found.exposed, ["y"]);
    let codes: Vec<_> = found.withheld.iter().map(|it| it.code).collect();
    assert_eq!(codes, [Code::InvisibleCharacter; 2]);
    assert!(
        found.withheld[0].text.contains("U+200B at `/description`"),
        "{}",
        found.withheld[0].text
    );
    let called = call(&mut session, &new_client(), "x", json!({}));
    assert!(matches!(
        called.action,
        CallAction::Error { code: -32602, .. }
    ));
    // Without them it is another tool, which the server may list.
    let found = list(&mut session, "a", &[tool("x", "X"), tool("y", "Y")]);
    assert_eq!(found.exposed, ["x", "y"]);
}

#[test]
fn a_definition_with_a_secret_is_withheld() {
    let secret = Secret {
        name: "token".to_owned(),
        value: "hunter2hunter2".to_owned(),
    };
    let mut session = without_lock(Options {
        secrets: vec![secret],
        ..Options::default()
    });
    let found = list(
        &mut session,
        "a",
        &[tool("x", "say hunter2hunter2"), tool("y", "Y")],
    );
    assert_eq!(found.exposed, ["y"]);
    assert_eq!(found.withheld[0].code, Code::OutputInvalid);
    assert_eq!(listed(&mut session, &old_client()), ["y"]);
}

#[test]
fn tools_that_share_a_name_are_called_by_their_servers() {
    let mut session = without_lock(Options::default());
    list(&mut session, "a", &[tool("x", "A")]);
    list(&mut session, "b", &[tool("x", "B"), tool("a__x", "C")]);
    assert_eq!(
        listed(&mut session, &new_client()),
        ["a__x", "b__a__x", "b__x"]
    );
    for (name, server, own) in [
        ("a__x", "a", "x"),
        ("b__a__x", "b", "a__x"),
        ("b__x", "b", "x"),
    ] {
        let called = call(&mut session, &new_client(), name, json!({}));
        let (found, params) = forwarded(&called);
        assert_eq!((&*found, &params["name"]), (server, &json!(own)));
    }
    let called = call(&mut session, &new_client(), "x", json!({}));
    let CallAction::Error { data, .. } = called.action else {
        panic!("{:?}", called.action);
    };
    let data: Value = serde_json::from_slice(&data.expect("data")).expect("JSON");
    assert_eq!(data, json!({ "instead": ["a__x", "b__x"] }));
}

#[test]
fn beside_a_lock_the_tools_of_the_lock_keep_their_names() {
    let world = World::usual();
    let mut session = observing(&world);
    let names = ["aws_helper", "count", "ec2_run", "read", "remove", "wipe"];
    assert_eq!(listed(&mut session, &new_client()), names);
    let shadow = [tool("read", "Read me instead."), tool("aws_helper", "?")];
    let mut live: Value = serde_json::from_str(&world.live("numbers")).expect("JSON");
    live["tools"].as_array_mut().expect("tools").extend(shadow);
    session.tools("numbers", live.to_string().as_bytes(), at(1));
    let names = [
        "aws_helper",
        "count",
        "ec2_run",
        "numbers__aws_helper",
        "numbers__read",
        "read",
        "remove",
        "wipe",
    ];
    assert_eq!(listed(&mut session, &new_client()), names);
    let called = call(&mut session, &new_client(), "read", json!({ "path": "a" }));
    assert_eq!(forwarded(&called).0, "files");
    let called = call(&mut session, &new_client(), "numbers__read", json!({}));
    assert_eq!(forwarded(&called).0, "numbers");
}

#[test]
fn a_session_that_enforces_needs_a_lock() {
    let codes = |documents: Documents, observe: bool| {
        let options = Options {
            observe,
            ..Options::default()
        };
        let opened = Session::open(documents, options, at(0)).map(|_| ());
        let found = opened.err().unwrap_or_default();
        found.iter().map(|it| it.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(Documents::default(), false), [Code::LockMissing]);
    assert_eq!(codes(Documents::default(), true), []);
    let alone = Documents {
        index: None,
        ..World::usual().documents()
    };
    assert_eq!(codes(alone, true), [Code::LockMissing]);
    let server = ObservedServer {
        name: "a".to_owned(),
        endpoint: "https://a.example/".to_owned(),
    };
    let options = Options {
        observe: true,
        servers: vec![server.clone(), server],
        ..Options::default()
    };
    let found = Session::open(Documents::default(), options, at(0)).map(|_| ());
    assert_eq!(found.expect_err("refused")[0].code, Code::DuplicateServer);
}
