//! The decision on a call.

use super::{
    World, answered, at, call, call_at, codes, forwarded, is_passed_on, new_client, old_client,
    refused, shown,
};
use agent_session::limits::{CLIENT_NAME_MAX_BYTES, PARAMS_MAX_BYTES};
use agent_session::{CallAction, Client, Documents, Options, REFUSAL_KEY, Session};
use serde_json::{Value, json};

fn raw(session: &mut Session, params: &str) -> CallAction {
    session.call(&new_client(), params.as_bytes(), at(0)).action
}

#[test]
fn a_server_gets_name_and_arguments_as_the_client_wrote_them() {
    let mut session = World::usual().session(Options::default());
    let params = r#"{"arguments" : { "path" : "\u0061" } , "name":"read",
        "_meta":{"progressToken":"p","io.modelcontextprotocol/clientInfo":{"name":"x"}},"task":{}}"#;
    let CallAction::Forward(to) = raw(&mut session, params) else {
        panic!("not passed on");
    };
    assert_eq!((&*to.server, &*to.tool), ("files", "read"));
    assert_eq!(to.arguments.as_deref(), Some(r#"{ "path" : "\u0061" }"#));
    assert_eq!(to.progress_token.as_deref(), Some("\"p\""));
    assert_eq!(to.request_state, None);
    assert_eq!(
        to.params(),
        r#"{"_meta":{"progressToken":"p"},"arguments":{ "path" : "\u0061" },"name":"read"}"#
    );
    assert_eq!((to.timeout_ms, to.max_bytes), (120_000, 4 << 20));
    let CallAction::Forward(to) = raw(&mut session, r#"{"name":"ec2_run"}"#) else {
        panic!("not passed on");
    };
    assert_eq!(to.arguments, None);
    assert_eq!(to.params(), r#"{"name":"ec2_run"}"#);
}

#[test]
fn a_name_that_no_locked_server_has_is_an_error_of_the_protocol() {
    let mut session = World::usual().session(Options::default());
    let CallAction::Error {
        code,
        message,
        data,
    } = raw(&mut session, r#"{"name":"raed"}"#)
    else {
        panic!("no error");
    };
    assert_eq!(code, -32602);
    assert_eq!(message, "no locked server has a tool `raed`");
    assert_eq!(data.expect("data"), br#"{"instead":["read"]}"#);
}

#[test]
fn a_tool_of_a_locked_server_that_is_not_locked_is_refused() {
    let world = World::usual();
    let mut session = world.session(Options::default());
    // One of the index, and one that only the server lists.
    let mut list: Value = serde_json::from_str(&world.live("files")).expect("JSON");
    let tools = list["tools"].as_array_mut().expect("tools");
    tools.push(json!({ "name": "new", "inputSchema": {} }));
    session.tools("files", list.to_string().as_bytes(), at(0));
    for name in ["wipe", "new"] {
        let called = call(&mut session, &new_client(), name, json!({}));
        assert_eq!(refused(&called), ["TOOL_NOT_LOCKED"], "{name}");
    }
}

#[test]
fn malformed_parameters_are_an_error_of_the_protocol() {
    let mut session = World::usual().session(Options::default());
    for params in [
        "",
        "[]",
        "{}",
        r#"{"name":7}"#,
        r#"{"name":"read","name":"ec2_run"}"#,
        r#"{"name":"read","arguments":[]}"#,
        r#"{"name":"read","arguments":{"path":1,"path":"a"}}"#,
        r#"{"name":"read"} "#.repeat(2).trim_end(),
    ] {
        let action = raw(&mut session, params);
        let is_error = matches!(action, CallAction::Error { code: -32602, .. });
        assert!(is_error, "{params}: {}", shown(&action));
    }
    let large = |size: usize| {
        let rest = r#"{"name":"ec2_run","arguments":{}}"#;
        format!("{rest}{}", " ".repeat(size - rest.len()))
    };
    let fits = raw(&mut session, &large(PARAMS_MAX_BYTES));
    assert!(matches!(fits, CallAction::Forward(_)));
    let action = raw(&mut session, &large(PARAMS_MAX_BYTES + 1));
    assert!(matches!(action, CallAction::Error { code: -32602, .. }));
}

#[test]
fn arguments_are_checked_by_the_locked_schema() {
    let mut session = World::usual().session(Options::default());
    for (arguments, expected) in [
        (json!({}), vec![("ARGUMENT_INVALID", "")]),
        (json!({ "path": 1 }), vec![("ARGUMENT_INVALID", "/path")]),
        (
            json!({ "path": "a", "url": "b" }),
            vec![("ARGUMENT_INVALID", "/url")],
        ),
    ] {
        let called = call(&mut session, &new_client(), "read", arguments);
        let result = answered(&called);
        let reasons = &result["_meta"][REFUSAL_KEY]["reasons"];
        let found = reasons.as_array().expect("reasons").iter();
        let found: Vec<_> = found
            .map(|it| {
                (
                    it["code"].as_str().unwrap(),
                    it["pointer"].as_str().unwrap(),
                )
            })
            .collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn the_reason_of_an_alternative_names_what_the_caller_wrote() {
    let mut world = World::usual();
    let tool = world.servers[0].pointer_mut("/capabilities/tools/read");
    tool.expect("the tool")["inputSchema"] = json!({
        "type": "object", "properties": { "path": {}, "url": {}, "at": { "anyOf": [
            { "required": ["line"], "maxProperties": 9 }, { "required": ["byte"], "maxProperties": 9 }
        ] } },
        "anyOf": [{ "required": ["path"] }, { "required": ["url"] }]
    });
    let mut session = world.session(Options::default());
    for (arguments, expected) in [
        (
            json!({}),
            "`arguments` has none of `path` and `url`, and needs one of them",
        ),
        (
            json!({ "path": "a", "at": {} }),
            "`arguments/at` must match one of 2 schemas, and matches none; the nearest is that at 0; in the nearest \
             alternative, `/at` must have the property `line`",
        ),
    ] {
        let called = call(&mut session, &new_client(), "read", arguments);
        let result = answered(&called);
        assert_eq!(result["_meta"][REFUSAL_KEY]["reasons"][0]["text"], expected);
    }
}

const SMALL: &str = r#"package switchboard
allowed_tools contains tool.id if {
    some tool in input.candidate_tools
    input.phase == "call"
    input.arguments.path == "a"
    input.context.hour == 9
    input.context.weekday == "tuesday"
    input.context.site == "x"
    input.subject.id == "c"
    input.subject.type == "local"
    input.subject.properties.team == "t"
}
deny_reasons[tool.id] := sprintf("not for %v", [input.subject.id]) if some tool in input.candidate_tools
"#;

#[test]
fn the_policy_sees_arguments_context_and_subject() {
    let world = World {
        policy: Some(SMALL.to_owned()),
        documents: Documents {
            policy_context: Some(br#"{"site":"x","hour":3}"#.to_vec()),
            ..Documents::default()
        },
        ..World::usual()
    };
    let mut session = world.session(Options::default());
    let allowed = Client {
        properties: Some(br#"{"team":"t"}"#.to_vec()),
        ..new_client()
    };
    let path = |path: &str| json!({ "path": path });
    assert!(is_passed_on(&call(
        &mut session,
        &allowed,
        "read",
        path("a")
    )));
    let others = [
        (allowed.clone(), "b", 0),
        (allowed.clone(), "a", 3_600_000),
        (new_client(), "a", 0),
        (
            Client {
                id: "d".to_owned(),
                ..allowed.clone()
            },
            "a",
            0,
        ),
        (
            Client {
                kind: "oauth".to_owned(),
                ..allowed.clone()
            },
            "a",
            0,
        ),
    ];
    for (client, file, ms) in others {
        let called = call_at(&mut session, &client, "read", path(file), ms);
        assert_eq!(
            refused(&called),
            ["POLICY_DENIED"],
            "{client:?} {file} {ms}"
        );
        let text = answered(&called)["content"][0]["text"].to_string();
        assert!(text.contains(&format!("not for {}", client.id)), "{text}");
    }
}

#[test]
fn every_reason_is_told_at_once() {
    let world = World {
        policy: Some(SMALL.to_owned()),
        documents: Documents {
            health: Some(b"files: UNHEALTHY".to_vec()),
            ..Documents::default()
        },
        ..World::usual()
    };
    let mut session = world.session(Options::default());
    let called = call(&mut session, &new_client(), "read", json!({ "path": 1 }));
    let codes = refused(&called);
    assert_eq!(codes, ["ARGUMENT_INVALID", "POLICY_DENIED", "HEALTH_VETO"]);
}

#[test]
fn a_refusal_is_a_result_of_the_clients_generation() {
    let mut session = World::usual().session(Options::default());
    for (client, has_type) in [(new_client(), true), (old_client(), false)] {
        let called = call(&mut session, &client, "read", json!({}));
        let result = answered(&called);
        assert_eq!(result.get("resultType").is_some(), has_type);
        codes(&result);
    }
}

#[test]
fn a_client_that_policies_would_not_see_as_it_is_calls_nothing() {
    let mut session = World::usual().session(Options::default());
    let with = |properties: &str| Client {
        properties: Some(properties.as_bytes().to_vec()),
        ..new_client()
    };
    let deep = format!(
        "{}{}",
        r#"{"a":"#.repeat(127),
        "1".to_owned() + &"}".repeat(127)
    );
    let long = |size| Client {
        id: "x".repeat(size),
        ..new_client()
    };
    let broken = [
        with("{"),
        with("[]"),
        with("null"),
        with(&deep),
        long(CLIENT_NAME_MAX_BYTES + 1),
    ];
    for client in broken {
        let called = call(&mut session, &client, "ec2_run", json!({}));
        let is_error = matches!(called.action, CallAction::Error { code: -32603, .. });
        assert!(is_error, "{:?}", called.action);
        assert!(!called.records[0].line.is_empty());
    }
    let longest = long(CLIENT_NAME_MAX_BYTES);
    assert!(is_passed_on(&call(
        &mut session,
        &longest,
        "ec2_run",
        json!({})
    )));
}

#[test]
fn a_tool_of_two_versions_belongs_to_one() {
    let mut world = World::usual();
    let mut older = super::server(
        "files",
        json!({ "old": { "description": "0" }, "read": {} }),
    );
    older["version"] = json!("0");
    world.servers.insert(0, older);
    // The helper locks the first version that the index has, which is the older one.
    world.locked.retain(|(server, _, _)| server != "files");
    world.locked.push((
        "files".to_owned(),
        "old".to_owned(),
        agent_model::Load::Essential,
    ));
    let mut session = world.session(Options::default());
    let (server, params) = forwarded(&call(&mut session, &new_client(), "old", json!({})));
    assert_eq!((&*server, &params["name"]), ("files", &json!("old")));
}
