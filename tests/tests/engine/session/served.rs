//! Resources and prompts: passed on only where the lock says so.

use super::audit_log::{replayed, text_of, verified};
use super::{World, at, new_client, old_client, server};
use agent_model::{Load, Serve};
use agent_session::health::Observation;
use agent_session::limits::{ENTRIES_MAX, URI_MAX_BYTES, WITHHELD_ENTRIES_MAX};
use agent_session::{
    CallAction, Called, Client, Delivered, Failure, ListKind, Method, OBSERVED_KEY, Options,
    REFUSAL_KEY, Record, Secret, Session,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const BOTH: [Serve; 2] = [Serve::Prompts, Serve::Resources];

/// Three servers: of the first the lock passes on everything, of the second resources, of the third nothing.
fn world() -> World {
    let servers = ["alpha", "beta", "gamma"];
    let tool = || json!({ "t": {} });
    World {
        serving: vec![
            ("alpha".to_owned(), BOTH.to_vec()),
            ("beta".to_owned(), vec![Serve::Resources]),
        ],
        ..World::new(
            servers.map(|id| server(id, tool())).to_vec(),
            &servers.map(|id| (id, "t", Load::Essential)),
        )
    }
}

fn resource(uri: &str) -> Value {
    json!({
        "uri": uri, "name": "N", "title": "TITLE", "description": "D", "mimeType": "text/plain", "size": 7,
        "annotations": { "priority": 1 }, "icons": [{ "src": "https://icons.example/" }], "_meta": { "of": "META" },
    })
}

fn template(text: &str) -> Value {
    json!({ "uriTemplate": text, "name": "N", "title": "TITLE", "description": "D", "mimeType": "text/plain" })
}

fn prompt(name: &str) -> Value {
    json!({
        "name": name, "title": "TITLE", "description": "D", "_meta": { "of": "META" },
        "arguments": [{ "name": "a", "title": "TITLE", "required": true, "description": "A" }, { "name": "b" }],
    })
}

fn give(session: &mut Session, server: &str, kind: ListKind, entries: &[Value]) -> Vec<String> {
    let member = match kind {
        ListKind::Resources => "resources",
        ListKind::Templates => "resourceTemplates",
        ListKind::Prompts => "prompts",
    };
    let list = json!({ member: entries, "_meta": { "of": "META" } }).to_string();
    let found = session.entries(server, kind, list.as_bytes(), at(0));
    let withheld = found.withheld.iter();
    withheld
        .map(|it| format!("{}: {}", it.name, it.code.name()))
        .collect()
}

/// A session whose servers have listed everything.
fn started(options: Options) -> Session {
    let mut session = world().session(options);
    fill(&mut session);
    session
}

fn fill(session: &mut Session) {
    for (server, uris) in [
        ("alpha", &["x://alpha", "x://both"][..]),
        ("beta", &["x://beta", "x://both"]),
        ("gamma", &["x://gamma"]),
    ] {
        let resources: Vec<_> = uris.iter().map(|uri| resource(uri)).collect();
        assert_eq!(
            give(session, server, ListKind::Resources, &resources),
            [""; 0]
        );
        let templates = [
            template(&format!("t://{server}/{{id}}")),
            template("t://all/{id}"),
        ];
        assert_eq!(
            give(session, server, ListKind::Templates, &templates),
            [""; 0]
        );
        assert_eq!(
            give(session, server, ListKind::Prompts, &[prompt("greet")]),
            [""; 0]
        );
    }
}

fn ask(session: &mut Session, client: &Client, method: Method, params: &Value) -> Called {
    session.request(client, method, params.to_string().as_bytes(), at(0))
}

fn read(session: &mut Session, client: &Client, uri: &str) -> Called {
    ask(
        session,
        client,
        Method::ReadResource,
        &json!({ "uri": uri }),
    )
}

#[track_caller]
fn answer(called: &Called) -> Value {
    match &called.action {
        CallAction::Answer(result) => serde_json::from_slice(result).expect("JSON"),
        other => panic!("no answer: {other:?}"),
    }
}

#[track_caller]
fn forwarded(called: &Called) -> (String, Value) {
    super::forwarded(called)
}

#[track_caller]
fn error(called: &Called) -> (i64, Value) {
    match &called.action {
        CallAction::Error { code, data, .. } => {
            let data = data.as_deref().unwrap_or(b"null");
            (*code, serde_json::from_slice(data).expect("JSON"))
        }
        other => panic!("no error: {other:?}"),
    }
}

/// Returns the code of a refusal.
#[track_caller]
fn refusal((code, data): (i64, Value)) -> String {
    assert_eq!(code, -32603, "{data}");
    data[REFUSAL_KEY]["code"]
        .as_str()
        .expect("a code")
        .to_owned()
}

fn keys(list: &Value, member: &str, key: &str) -> Vec<String> {
    let entries = list[member].as_array().expect("a list").iter();
    entries
        .map(|it| it[key].as_str().expect("a key").to_owned())
        .collect()
}

#[test]
fn lists_have_what_the_lock_passes_on_and_nothing_else_of_a_server() {
    let mut session = started(Options::default());
    let none = json!({});
    for (method, member, key, expected) in [
        (
            Method::ListResources,
            "resources",
            "uri",
            &["x://alpha", "x://beta"][..],
        ),
        (
            Method::ListTemplates,
            "resourceTemplates",
            "uriTemplate",
            &["t://alpha/{id}", "t://beta/{id}"],
        ),
        (Method::ListPrompts, "prompts", "name", &["greet"]),
    ] {
        let old = answer(&ask(&mut session, &old_client(), method, &none));
        assert_eq!(keys(&old, member, key), expected);
        assert_eq!(old.as_object().expect("an object").len(), 1, "{old}");
        let text = old.to_string();
        for dropped in ["TITLE", "META", "icons", "annotations"] {
            assert!(!text.contains(dropped), "{text}");
        }
        let new = answer(&ask(&mut session, &new_client(), method, &none));
        assert_eq!(new[member], old[member]);
        assert_eq!(
            (&new["resultType"], &new["cacheScope"], &new["ttlMs"]),
            (&json!("complete"), &json!("private"), &json!(0))
        );
        let paged = ask(
            &mut session,
            &new_client(),
            method,
            &json!({ "cursor": "c" }),
        );
        assert_eq!(error(&paged).0, -32602);
    }
    let list = answer(&ask(
        &mut session,
        &old_client(),
        Method::ListResources,
        &none,
    ));
    let expected = json!({ "description": "D", "mimeType": "text/plain", "name": "N", "size": 7, "uri": "x://alpha" });
    assert_eq!(list["resources"][0], expected);
    let list = answer(&ask(
        &mut session,
        &old_client(),
        Method::ListPrompts,
        &none,
    ));
    let expected = json!({ "description": "D", "name": "greet", "arguments":
        [{ "description": "A", "name": "a", "required": true }, { "name": "b" }] });
    assert_eq!(list["prompts"][0], expected);
}

#[test]
fn a_lock_without_serve_offers_no_method() {
    let mut session = World::usual().session(Options::default());
    let servers = session.servers();
    assert!(servers.iter().all(|it| !it.resources && !it.prompts));
    for method in Method::ALL {
        let called = ask(&mut session, &new_client(), method, &json!({}));
        assert_eq!(error(&called), (-32601, Value::Null));
    }
    // What a host gives all the same has no effect, and no record.
    let list = json!({ "resources": [resource("x://a")] }).to_string();
    let found = session.entries("files", ListKind::Resources, list.as_bytes(), at(0));
    assert_eq!(found, agent_session::ObservedEntries::default());
    assert_eq!(error(&read(&mut session, &new_client(), "x://a")).0, -32601);
}

#[test]
fn only_a_listed_uri_or_one_of_a_listed_template_reaches_its_server() {
    let mut session = started(Options::default());
    for (uri, expected) in [
        ("x://alpha", "alpha"),
        ("x://beta", "beta"),
        ("t://beta/1", "beta"),
        ("t://alpha/a.b", "alpha"),
    ] {
        let params = json!({ "uri": uri, "_meta": { "a": 1 }, "other": 2 });
        let called = ask(&mut session, &new_client(), Method::ReadResource, &params);
        assert_eq!(
            forwarded(&called),
            (expected.to_owned(), json!({ "uri": uri }))
        );
    }
    for uri in [
        "x://gamma",
        "t://gamma/1",
        "x://alpha/",
        "X://alpha",
        "x://alpha?q",
        "x://alpha/../beta",
        "t://alpha/1/2",
        "t://alpha/..",
        "t://alpha/%2e%2e",
        "t://alpha/..%2fetc",
        "t://alpha/a%2fb",
        "t://alpha/%252e",
        "t://alpha/a\u{0}",
        "t://alpha/a\u{202e}",
        "",
        "x://both",
        "t://all/1",
    ] {
        let (code, data) = error(&read(&mut session, &new_client(), uri));
        assert_eq!((code, &data["uri"]), (-32602, &json!(uri)), "{uri}");
        let (code, data) = error(&read(&mut session, &old_client(), uri));
        assert_eq!((code, &data["uri"]), (-32002, &json!(uri)), "{uri}");
    }
    for wrong in [json!({}), json!({ "uri": 1 }), json!([])] {
        let called = ask(&mut session, &new_client(), Method::ReadResource, &wrong);
        assert_eq!(error(&called), (-32602, Value::Null));
    }
}

#[test]
fn what_several_servers_list_belongs_to_none_and_both_are_named() {
    let mut session = started(Options::default());
    let CallAction::Error { message, .. } = read(&mut session, &new_client(), "x://both").action
    else {
        panic!("it was read");
    };
    assert!(message.contains("`alpha`, `beta`"), "{message}");
    let status: Value = serde_json::from_str(&session.status(at(0))).expect("JSON");
    let shared = json!([
        { "method": "resources/list", "name": "x://both", "servers": ["alpha", "beta"] },
        { "method": "resources/templates/list", "name": "t://all/{id}", "servers": ["alpha", "beta"] },
    ]);
    assert_eq!(status["shared"], shared);
    // When one of them takes it away, it is the other's.
    give(&mut session, "beta", ListKind::Resources, &[]);
    assert_eq!(
        forwarded(&read(&mut session, &new_client(), "x://both")).0,
        "alpha"
    );
    // A template of one server takes nothing of what another one lists.
    give(
        &mut session,
        "beta",
        ListKind::Templates,
        &[template("x:{+rest}")],
    );
    assert_eq!(
        forwarded(&read(&mut session, &new_client(), "x://alpha")).0,
        "alpha"
    );
    assert_eq!(
        forwarded(&read(&mut session, &new_client(), "x://other")).0,
        "beta"
    );
}

#[test]
fn prompts_of_one_name_are_called_by_their_server() {
    let mut world = world();
    world.serving[1].1 = BOTH.to_vec();
    let mut session = world.session(Options::default());
    give(
        &mut session,
        "alpha",
        ListKind::Prompts,
        &[prompt("greet"), prompt("a")],
    );
    give(&mut session, "beta", ListKind::Prompts, &[prompt("greet")]);
    let list = answer(&ask(
        &mut session,
        &old_client(),
        Method::ListPrompts,
        &json!({}),
    ));
    assert_eq!(
        keys(&list, "prompts", "name"),
        ["alpha__greet", "a", "beta__greet"]
    );
    let params = json!({ "name": "beta__greet", "arguments": { "a": "1" }, "_meta": {} });
    let called = ask(&mut session, &new_client(), Method::GetPrompt, &params);
    let expected = json!({ "name": "greet", "arguments": { "a": "1" } });
    assert_eq!(forwarded(&called), ("beta".to_owned(), expected));
    for wrong in [
        json!({ "name": "greet" }),
        json!({ "name": "other" }),
        json!({ "name": "a", "arguments": { "a": 1 } }),
        json!({ "name": "a", "arguments": [] }),
        json!({}),
    ] {
        let called = ask(&mut session, &new_client(), Method::GetPrompt, &wrong);
        assert_eq!(error(&called).0, -32602, "{wrong}");
    }
}

#[test]
fn an_entry_that_is_wrong_is_withheld_alone() {
    let mut session = world().session(Options {
        secrets: vec![Secret {
            name: "KEY".to_owned(),
            value: "hunter2hunter2".to_owned(),
        }],
        ..Options::default()
    });
    let with = |mut entry: Value, member: &str, value: Value| {
        entry[member] = value;
        entry
    };
    let long = format!("x://{}", "a".repeat(URI_MAX_BYTES));
    let resources = [
        resource("x://right"),
        with(resource("x://1"), "description", json!("D\u{200b}")),
        with(resource("x://2"), "name", json!("N\u{e0041}")),
        with(resource("x://3"), "name", Value::Null),
        with(resource("x://4"), "mimeType", json!(1)),
        with(resource("x://5"), "description", json!("hunter2hunter2")),
        resource("x://6/../y"),
        resource("x://u@7"),
        resource("x://\u{202e}8"),
        resource("9"),
        resource(&long),
        resource("x://twice"),
        resource("x://twice"),
        with(json!({}), "uri", json!(1)),
        json!("x://text"),
    ];
    let withheld = give(&mut session, "alpha", ListKind::Resources, &resources);
    let expected = [
        "x://1: INVISIBLE_CHARACTER",
        "x://2: INVISIBLE_CHARACTER",
        "x://3: OUTPUT_INVALID",
        "x://4: OUTPUT_INVALID",
        ": OUTPUT_INVALID",
        "x://6/../y: OUTPUT_INVALID",
        "x://u@7: OUTPUT_INVALID",
        "x://<U+202E>8: INVISIBLE_CHARACTER",
        "9: OUTPUT_INVALID",
    ];
    assert_eq!(withheld[..9], expected);
    assert_eq!(withheld.len(), 14);
    let list = answer(&ask(
        &mut session,
        &old_client(),
        Method::ListResources,
        &json!({}),
    ));
    assert_eq!(keys(&list, "resources", "uri"), ["x://right"]);
    let wrong = [
        template("{s}://a"),
        template("x://{a*}"),
        template("x://a/../{b}"),
        template("x://a\u{200b}/{b}"),
    ];
    assert_eq!(
        give(&mut session, "alpha", ListKind::Templates, &wrong).len(),
        4
    );
    let wrong = [
        prompt(""),
        prompt("a\nb"),
        prompt(&"a".repeat(600)),
        with(prompt("p"), "arguments", json!({})),
        with(prompt("q"), "arguments", json!([{ "name": "a\u{200d}" }])),
    ];
    assert_eq!(
        give(&mut session, "alpha", ListKind::Prompts, &wrong).len(),
        5
    );
    for list in [
        "",
        "{}",
        r#"{"resources":{}}"#,
        r#"{"resources":[],"resources":[]}"#,
    ] {
        let found = session.entries("alpha", ListKind::Resources, list.as_bytes(), at(0));
        assert_eq!((found.entries, found.withheld_count), (0, 1), "{list}");
    }
}

#[test]
fn a_flood_leaves_room_for_other_servers() {
    let mut session = world().session(Options::default());
    let flood: Vec<_> = (0..ENTRIES_MAX * 2)
        .map(|it| resource(&format!("x://{it}")))
        .collect();
    let list = json!({ "resources": flood }).to_string();
    let found = session.entries("alpha", ListKind::Resources, list.as_bytes(), at(0));
    assert_eq!(found.entries, ENTRIES_MAX as u64 / 2);
    assert_eq!(found.withheld_count, (ENTRIES_MAX + ENTRIES_MAX / 2) as u64);
    assert_eq!(found.withheld.len(), WITHHELD_ENTRIES_MAX);
    assert_eq!(found.withheld[0].code.name(), "SESSION_LIMIT");
    give(
        &mut session,
        "beta",
        ListKind::Resources,
        &[resource("x://beta")],
    );
    assert_eq!(
        forwarded(&read(&mut session, &new_client(), "x://beta")).0,
        "beta"
    );
    let long = json!({ "uri": "x://long", "name": "n", "description": "d".repeat(3 << 20) });
    let withheld = give(&mut session, "beta", ListKind::Resources, &[long]);
    assert_eq!(withheld, ["x://long: SESSION_LIMIT"]);
}

#[test]
fn a_list_that_changes_is_announced_if_it_is_passed_on() {
    let mut session = world().session(Options::default());
    let mut changes = |server, uris: &[&str]| {
        let resources: Vec<_> = uris.iter().map(|uri| resource(uri)).collect();
        let list = json!({ "resources": resources }).to_string();
        let found = session.entries(server, ListKind::Resources, list.as_bytes(), at(0));
        found.list_changed
    };
    assert!(changes("alpha", &["x://a"]));
    assert!(!changes("alpha", &["x://a"]));
    assert!(!changes("gamma", &["x://g"]));
    // The name of both servers is that of none.
    assert!(changes("beta", &["x://a"]));
    assert!(changes("alpha", &[]));
}

#[test]
fn health_vetoes_a_server_and_a_quarantine_of_all_tools_too() {
    let mut session = started(Options::default());
    session.observe("alpha", Observation::Exited, at(1));
    let called = read(&mut session, &new_client(), "x://alpha");
    assert_eq!(refusal(error(&called)), "HEALTH_VETO");
    forwarded(&read(&mut session, &new_client(), "x://beta"));
    // The list stays: it is the last one.
    let list = answer(&ask(
        &mut session,
        &old_client(),
        Method::ListPrompts,
        &json!({}),
    ));
    assert_eq!(keys(&list, "prompts", "name"), ["greet"]);
    session.tools("beta", b"no list", at(2));
    let called = read(&mut session, &new_client(), "x://beta");
    assert_eq!(refusal(error(&called)), "DEFINITION_CHANGED");

    let mut observing = started(Options {
        observe: true,
        ..Options::default()
    });
    observing.observe("alpha", Observation::Exited, at(1));
    forwarded(&read(&mut observing, &new_client(), "x://alpha"));
    observing.tools("alpha", b"no list", at(2));
    let called = read(&mut observing, &new_client(), "x://alpha");
    assert_eq!(refusal(error(&called)), "DEFINITION_CHANGED");
}

#[test]
fn an_observing_session_passes_on_what_no_lock_does_and_marks_it() {
    let mut session = started(Options {
        observe: true,
        ..Options::default()
    });
    assert!(
        session
            .servers()
            .iter()
            .all(|it| it.resources && it.prompts)
    );
    let called = read(&mut session, &new_client(), "x://gamma");
    assert_eq!(forwarded(&called).0, "gamma");
    let record: Value = serde_json::from_str(&called.records[0].line).expect("JSON");
    assert_eq!(record["content"]["reasons"][0]["code"], "SERVE_WIDENED");
    let result = r#"{"contents":[{"uri":"x://gamma","text":"t"}]}"#;
    let Delivered::Changed(result, _) = session.result(called.id, result.as_bytes(), at(1)) else {
        panic!("it is not marked");
    };
    let result: Value = serde_json::from_slice(&result).expect("JSON");
    assert_eq!(
        result["_meta"][OBSERVED_KEY]["codes"],
        json!(["SERVE_WIDENED"])
    );
    // What nobody lists has no server to go to.
    assert_eq!(
        error(&read(&mut session, &new_client(), "x://other")).0,
        -32602
    );
}

#[test]
fn results_are_checked_and_get_the_form_of_the_client() {
    let mut session = started(Options {
        payload_max_bytes: 2_000,
        secrets: vec![Secret {
            name: "KEY".to_owned(),
            value: "hunter2hunter2".to_owned(),
        }],
        ..Options::default()
    });
    let mut of = |client: &Client, method: Method, result: &str| {
        let params = json!({ "uri": "x://alpha", "name": "greet" });
        let called = ask(&mut session, client, method, &params);
        forwarded(&called);
        match session.result(called.id, result.as_bytes(), at(1)) {
            Delivered::AsReceived(_) => Ok("as received".to_owned()),
            Delivered::Changed(result, _) => Ok(String::from_utf8(result).expect("UTF-8")),
            Delivered::Error { code, data, .. } => {
                let data = serde_json::from_slice(data.as_deref().unwrap_or(b"null"));
                Err(refusal((code, data.expect("JSON"))))
            }
            other => panic!("{other:?}"),
        }
    };
    let (read, get) = (Method::ReadResource, Method::GetPrompt);
    let text = r#"{"contents":[{"uri":"x://alpha","text":"t"}]}"#;
    assert_eq!(of(&old_client(), read, text), Ok("as received".to_owned()));
    let new = r#"{"cacheScope":"private","contents":[{"uri":"x://alpha","text":"t"}],"resultType":"complete","ttlMs":0}"#;
    assert_eq!(of(&new_client(), read, text), Ok(new.to_owned()));
    let of_server = r#"{"ttlMs":9,"cacheScope":"public","contents":[{"uri":"x://alpha","text":"t"}],"_meta":{"a":1},"x":1}"#;
    assert_eq!(of(&new_client(), read, of_server), Ok(new.to_owned()));
    assert_eq!(of(&old_client(), read, of_server), Ok(text.to_owned()));
    let messages = r#"{"messages":[{"role":"user","content":{"type":"text","text":"t"}}]}"#;
    assert_eq!(
        of(&old_client(), get, messages),
        Ok("as received".to_owned())
    );
    let new = r#"{"messages":[{"role":"user","content":{"type":"text","text":"t"}}],"resultType":"complete"}"#;
    assert_eq!(of(&new_client(), get, messages), Ok(new.to_owned()));
    of(
        &old_client(),
        read,
        r#"{"contents":[{"uri":"x:a","blob":"aGk=","mimeType":"a/b"}]}"#,
    )
    .expect("a blob");
    for wrong in [
        "",
        "[]",
        "{}",
        r#"{"contents":{}}"#,
        r#"{"contents":[1]}"#,
        r#"{"contents":[{"uri":"x:a"}]}"#,
        r#"{"contents":[{"text":"t"}]}"#,
        r#"{"contents":[{"uri":"x:a","text":1}]}"#,
        r#"{"contents":[{"uri":"x:a","text":"t","blob":"aGk="}]}"#,
        r#"{"contents":[{"uri":"x:a","blob":"?"}]}"#,
        r#"{"contents":[{"uri":"x:a","text":"t","mimeType":1}]}"#,
        r#"{"contents":[{"uri":"x:a","text":"hunter2hunter2"}]}"#,
        r#"{"contents":[],"resultType":"input_required"}"#,
        r#"{"contents":[],"contents":[]}"#,
        &format!(
            r#"{{"contents":[{{"uri":"x:a","text":"{}"}}]}}"#,
            "t".repeat(2_000)
        ),
    ] {
        assert_eq!(
            of(&old_client(), read, wrong),
            Err("OUTPUT_INVALID".to_owned()),
            "{wrong}"
        );
    }
    for wrong in [
        r#"{"messages":{}}"#,
        r#"{"messages":[{"role":"system","content":{"type":"text","text":"t"}}]}"#,
        r#"{"messages":[{"role":"user"}]}"#,
        r#"{"messages":[{"role":"user","content":{"type":"text"}}]}"#,
        r#"{"messages":[{"role":"user","content":{"type":"other"}}]}"#,
        r#"{"messages":[],"description":1}"#,
    ] {
        assert_eq!(
            of(&old_client(), get, wrong),
            Err("OUTPUT_INVALID".to_owned()),
            "{wrong}"
        );
    }
}

#[test]
fn a_request_without_a_result_has_an_error() {
    let mut session = started(Options::default());
    let mut of = |client: &Client, method: Method, failure: &Failure| {
        let params = json!({ "uri": "x://alpha", "name": "greet" });
        let called = ask(&mut session, client, method, &params);
        match session.failed(called.id, failure, at(1)) {
            Delivered::Error { code, data, .. } => {
                let data = data.as_deref().unwrap_or(b"null");
                Some((code, serde_json::from_slice::<Value>(data).expect("JSON")))
            }
            Delivered::Nothing(_) => None,
            other => panic!("{other:?}"),
        }
    };
    let (read, get) = (Method::ReadResource, Method::GetPrompt);
    let server_error = |code| Failure::ServerError {
        code,
        message: "no\u{200b}".to_owned(),
        data: None,
    };
    let uri = json!({ "uri": "x://alpha" });
    for code in [-32002, -32602] {
        let found = of(&new_client(), read, &server_error(code));
        assert_eq!(found, Some((-32602, uri.clone())));
        let found = of(&old_client(), read, &server_error(code));
        assert_eq!(found, Some((-32002, uri.clone())));
    }
    let found = of(&old_client(), get, &server_error(-32602));
    assert_eq!(found, Some((-32602, Value::Null)));
    for failure in [Failure::TimedOut, Failure::Closed, server_error(-32000)] {
        let found = of(&old_client(), get, &failure).expect("an error");
        assert_eq!(refusal(found), "SERVER_FAILED");
    }
    let found = of(&old_client(), read, &Failure::TooLarge).expect("an error");
    assert_eq!(refusal(found), "OUTPUT_INVALID");
    assert_eq!(of(&old_client(), read, &Failure::Cancelled), None);
}

#[test]
fn a_state_has_open_requests_and_no_lists() {
    let mut session = started(Options::default());
    let called = read(&mut session, &new_client(), "x://alpha");
    let state = Some(session.export());
    let options = Options {
        state: state.map(Into::into),
        ..Options::default()
    };
    let opened = Session::open(world().documents(), options, at(1));
    let mut session = opened.expect("a session").0;
    assert_eq!(
        error(&read(&mut session, &new_client(), "x://alpha")).0,
        -32602
    );
    let result = r#"{"contents":[{"uri":"x://alpha","text":"t"}]}"#;
    let delivered = session.result(called.id, result.as_bytes(), at(1));
    assert!(matches!(delivered, Delivered::Changed(..)), "{delivered:?}");
    fill(&mut session);
    forwarded(&read(&mut session, &new_client(), "x://alpha"));
}

#[test]
fn another_lock_needs_the_lists_anew() {
    let mut session = started(Options::default());
    session
        .reload(world().documents(), at(1))
        .expect("the same lock");
    forwarded(&read(&mut session, &new_client(), "x://alpha"));
    let mut other = world();
    other.serving.remove(0);
    session
        .reload(other.documents(), at(2))
        .expect("another lock");
    assert_eq!(
        error(&read(&mut session, &new_client(), "x://alpha")).0,
        -32602
    );
    let called = ask(&mut session, &new_client(), Method::ListPrompts, &json!({}));
    assert_eq!(error(&called).0, -32601);
}

/// Returns the log of a session with requests of each outcome.
pub(super) fn logged(observe: bool) -> Vec<u8> {
    let options = Options {
        observe,
        ..Options::default()
    };
    let (mut session, mut records) =
        Session::open(world().documents(), options, at(0)).expect("a session");
    let mut keep = |more: Vec<Record>| records.extend(more);
    for server in ["alpha", "beta", "gamma"] {
        keep(session.observe(server, Observation::Started, at(0)).records);
        keep(
            session
                .tools(server, world().live(server).as_bytes(), at(0))
                .records,
        );
        let answered = Observation::Answered { latency_ms: 1 };
        keep(session.observe(server, answered, at(0)).records);
    }
    for (server, uri) in [("alpha", "x://alpha"), ("beta", "x://beta\u{200b}")] {
        let list = json!({ "resources": [resource(uri)] }).to_string();
        keep(
            session
                .entries(server, ListKind::Resources, list.as_bytes(), at(0))
                .records,
        );
    }
    keep(
        ask(
            &mut session,
            &old_client(),
            Method::ListResources,
            &json!({}),
        )
        .records,
    );
    keep(
        ask(
            &mut session,
            &old_client(),
            Method::ListPrompts,
            &json!({ "cursor": "c" }),
        )
        .records,
    );
    keep(read(&mut session, &old_client(), "x://other").records);
    for (result, client) in [(r#"{"contents":[]}"#, old_client()), ("{}", new_client())] {
        let called = read(&mut session, &client, "x://alpha");
        keep(called.records);
        keep(match session.result(called.id, result.as_bytes(), at(1)) {
            Delivered::AsReceived(records) | Delivered::Error { records, .. } => records,
            other => panic!("{other:?}"),
        });
    }
    session.observe("alpha", Observation::Exited, at(2));
    text_of(&records).into_bytes()
}

#[test]
fn records_are_verified_and_requests_are_decided_again() {
    let log = logged(false);
    let found = verified(&log);
    assert!(found.is_valid(), "{:?}", found.problems);
    let outcomes = |documents| -> Vec<(String, String)> {
        let answer = replayed(&log, documents);
        let calls = answer["calls"].as_array().expect("calls").iter();
        let text = |it: &Value| it.as_str().expect("a text").to_owned();
        calls
            .map(|it| (text(&it["tool"]), text(&it["outcome"])))
            .collect()
    };
    // Calls of the same decision are counted, not listed.
    assert_eq!(outcomes(world().documents()), []);
    let mut without = world();
    without.serving.clear();
    let differs = ("x://alpha".to_owned(), "differs".to_owned());
    assert_eq!(outcomes(without.documents()), [differs.clone(), differs]);
    let mut other = world();
    other.serving[1].0 = "gamma".to_owned();
    let all = outcomes(other.documents());
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|(_, it)| it == "undecidable"), "{all:?}");
    let observed = logged(true);
    assert!(verified(&observed).is_valid());
}

/// A step of a sequence: a server lists, or a client asks.
#[derive(Debug, Clone)]
enum Step {
    Lists(usize, ListKind, Vec<usize>),
    Reads(usize),
    Gets(usize),
    Health(usize, bool),
}

const URIS: [&str; 6] = [
    "x://a",
    "x://b",
    "t://a/1",
    "t://b/2",
    "x://a/../b",
    "t://a/%2e%2e",
];
const TEMPLATES: [&str; 4] = ["t://a/{id}", "t://b/{id}", "t:{+all}", "x://{id}"];
const PROMPTS: [&str; 3] = ["p", "q", "alpha__p"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind = prop_oneof![
        Just(ListKind::Resources),
        Just(ListKind::Templates),
        Just(ListKind::Prompts)
    ];
    let lists = (0..3_usize, kind, prop::collection::vec(0..6_usize, 0..4));
    let step = prop_oneof![
        4 => lists.prop_map(|(server, kind, entries)| Step::Lists(server, kind, entries)),
        3 => (0..URIS.len()).prop_map(Step::Reads),
        2 => (0..PROMPTS.len()).prop_map(Step::Gets),
        1 => (0..3_usize, any::<bool>()).prop_map(|(server, up)| Step::Health(server, up)),
    ];
    prop::collection::vec(step, 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_sequence_asks_a_server_that_the_lock_does_not_pass_on(steps in steps()) {
        let servers = ["alpha", "beta", "gamma"];
        let mut session = world().session(Options::default());
        // What each server listed last, by kind.
        let mut listed = vec![[const { Vec::<String>::new() }; 3]; 3];
        for step in steps {
            match step {
                Step::Lists(server, kind, entries) => {
                    let of = |all: &[&str]| -> Vec<String> {
                        entries.iter().filter_map(|it| Some((*all.get(*it)?).to_owned())).collect()
                    };
                    let (keys, place): (_, usize) = match kind {
                        ListKind::Resources => (of(&URIS), 0),
                        ListKind::Templates => (of(&TEMPLATES), 1),
                        ListKind::Prompts => (of(&PROMPTS), 2),
                    };
                    let entries: Vec<_> = keys.iter().map(|key| match kind {
                        ListKind::Resources => resource(key),
                        ListKind::Templates => template(key),
                        ListKind::Prompts => prompt(key),
                    }).collect();
                    give(&mut session, servers[server], kind, &entries);
                    listed[server][place] = keys;
                }
                Step::Health(server, is_up) => {
                    let how = if is_up { Observation::Started } else { Observation::Exited };
                    session.observe(servers[server], how, at(1));
                }
                Step::Reads(uri) => {
                    let uri = URIS[uri];
                    let called = read(&mut session, &new_client(), uri);
                    if let CallAction::ForwardRequest(to) = called.action {
                        let server = to.server;
                        prop_assert!(server == "alpha" || server == "beta");
                        let params: Value = serde_json::from_slice(&to.params).expect("JSON");
                        prop_assert_eq!(params, json!({ "uri": uri }));
                        prop_assert_eq!(to.name, uri);
                        prop_assert!(!uri.contains("..") && !uri.contains("%2e"));
                        let number = servers.iter().position(|it| *it == server).expect("a server");
                        let times = |of: usize| listed[of][0].iter().filter(|it| *it == uri).count();
                        let is_listed = times(number) == 1;
                        let may_match = !listed[number][1].is_empty();
                        prop_assert!(is_listed || may_match);
                        let other = 1 - number;
                        prop_assert!(times(other) != 1);
                    }
                }
                Step::Gets(name) => {
                    let params = json!({ "name": PROMPTS[name] });
                    let called = ask(&mut session, &new_client(), Method::GetPrompt, &params);
                    if let CallAction::ForwardRequest(to) = called.action {
                        prop_assert_eq!(to.server, "alpha");
                        prop_assert!(listed[0][2].iter().any(|it| it == PROMPTS[name]));
                    }
                }
            }
        }
    }
}
