//! Clients over HTTP.

use super::client::refusal;
use super::http::{Served, initialize, request, stateless};
use super::{OPTIONS, project_of, records};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::thread;
use std::time::{Duration, Instant};

fn listed() -> Value {
    request(2, "tools/list", json!({}))
}

#[test]
fn sessions_of_every_older_version_are_served() {
    let project = project_of("usual", "");
    let served = Served::start(&project, OPTIONS);
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = served.initialize(version);
        assert_eq!(session.len(), 32);
        let own = [
            ("Mcp-Session-Id", &*session),
            ("MCP-Protocol-Version", version),
        ];
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let answer = served.post(&own, &initialized);
        assert_eq!((answer.status, &*answer.body), (202, ""), "{answer:?}");
        let list = served.post(&own, &listed()).json();
        assert_eq!(
            list["result"]["tools"].as_array().unwrap().len(),
            4,
            "{list}"
        );
        let sum = served.call(&session, "add", json!({ "a": 1, "b": 2 }));
        assert_eq!(sum["structuredContent"], json!({ "sum": 3 }), "{sum}");
        let unlocked = served.call(&session, "unlocked", json!({}));
        assert_eq!(refusal(&unlocked), "TOOL_NOT_LOCKED");
    }
    let unknown = served.post(&[], &initialize("2030-01-01")).json();
    assert_eq!(unknown["result"]["protocolVersion"], "2025-11-25");
    served.end().exits(0).answers_nothing();
    let clients: Vec<_> = records(&project)
        .into_iter()
        .filter(|it| it["kind"] == "decision")
        .map(|it| it["content"]["client"]["id"].clone())
        .collect();
    assert!(
        clients.len() >= 8 && clients.iter().all(|it| it == "http"),
        "{clients:?}"
    );
}

#[test]
fn a_session_is_named_by_each_request_until_it_ends() {
    let project = project_of("usual", "");
    let served = Served::start(&project, OPTIONS);
    let session = served.initialize("2025-11-25");
    let own = ("Mcp-Session-Id", &*session);
    assert_eq!(served.post(&[], &listed()).status, 400);
    assert_eq!(
        served.post(&[("Mcp-Session-Id", "0123")], &listed()).status,
        404
    );
    let other = ("MCP-Protocol-Version", "2025-06-18");
    assert_eq!(served.post(&[own, other], &listed()).status, 400);
    let future = ("MCP-Protocol-Version", "2030-01-01");
    assert_eq!(served.post(&[own, future], &listed()).status, 400);
    assert_eq!(served.post(&[own], &listed()).status, 200);
    assert_eq!(
        served.post(&[own], &initialize("2025-11-25")).json()["error"]["code"],
        -32600
    );
    let unknown = served.post(&[own], &request(3, "resources/list", json!({})));
    assert_eq!(
        (unknown.status, unknown.json()["error"]["code"].clone()),
        (200, json!(-32601))
    );
    let authorization = format!("Bearer {}", served.agents[0].1);
    let end = [("Authorization", &*authorization), own];
    let path = &served.agents[0].0;
    assert_eq!(served.open("DELETE", path, &end, "").answer().status, 200);
    assert_eq!(served.open("DELETE", path, &end, "").answer().status, 404);
    assert_eq!(served.post(&[own], &listed()).status, 404);
    let stateless = [end[0], ("MCP-Protocol-Version", "2026-07-28")];
    for method in ["GET", "DELETE", "PUT"] {
        let answer = served.open(method, path, &stateless, "").answer();
        assert_eq!(answer.status, 405, "{method}");
    }
    served.end().exits(0);
}

#[test]
fn who_has_no_token_or_comes_from_another_page_is_refused() {
    let project = project_of("usual", "");
    let served = Served::start(&project, OPTIONS);
    let (path, token) = &served.agents[0].clone();
    let mode = fs::metadata(&served.token_files[0])
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let good = format!("Bearer {token}");
    let body = initialize("2025-11-25").to_string();
    let status = |headers: &[(&str, &str)], path: &str| {
        let mut all = vec![("Content-Type", "application/json")];
        all.extend(headers);
        served.open("POST", path, &all, &body).answer()
    };
    let token_of = |value| ("Authorization", value);
    for wrong in [&good[..good.len() - 1], "Bearer", "Bearer x", "Basic x", ""] {
        let answer = status(&[token_of(wrong)], path);
        assert_eq!(answer.status, 401, "{wrong}");
        assert!(
            answer
                .header("www-authenticate")
                .unwrap()
                .starts_with("Bearer")
        );
    }
    assert_eq!(status(&[], path).status, 401);
    assert_eq!(status(&[token_of(&good)], "/other/mcp").status, 404);
    let in_query = format!("{path}?access_token={token}");
    assert_eq!(status(&[], &in_query).status, 401);
    for foreign in [
        ("Host", "evil.example"),
        ("Host", "127.0.0.1:1"),
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
    ] {
        // A page may know the token and is refused all the same.
        assert_eq!(
            status(&[token_of(&good), foreign], path).status,
            403,
            "{foreign:?}"
        );
    }
    let own = format!("http://{}", served.address);
    assert_eq!(
        status(&[token_of(&good), ("Origin", &own)], path).status,
        200
    );
    // What a form of a page can send without asking is refused.
    let form = [token_of(&good), ("Content-Type", "text/plain")];
    assert_eq!(served.open("POST", path, &form, &body).answer().status, 415);
    let ended = served.end().exits(0);
    assert!(!ended.stderr.contains(token.as_str()) && !ended.stdout.contains(token.as_str()));
    for address in ["0.0.0.0:0", "192.0.2.1:80", "[::]:0", "localhost"] {
        project
            .agent(&format!("serve --http {address} {OPTIONS}"))
            .exits(2)
            .notes(address);
    }
}

#[test]
fn requests_without_sessions_repeat_their_body_in_headers() {
    let project = project_of("usual", "");
    let served = Served::start(&project, OPTIONS);
    let found = served.alone(1, "server/discover", json!({})).answer();
    assert_eq!(
        found.json()["result"]["supportedVersions"],
        json!(["2026-07-28"])
    );
    assert_eq!(found.header("mcp-session-id"), None);
    let list = served.alone(2, "tools/list", json!({})).answer().json();
    assert_eq!(list["result"]["cacheScope"], "private", "{list}");
    assert_eq!(list["result"]["resultType"], "complete", "{list}");
    let call = json!({ "name": "add", "arguments": { "a": 2, "b": 2 } });
    let sum = served.alone(3, "tools/call", call.clone()).answer();
    assert_eq!(
        sum.json()["result"]["structuredContent"],
        json!({ "sum": 4 }),
        "{sum:?}"
    );
    let unknown = served.alone(4, "resources/list", json!({})).answer();
    assert_eq!(
        (unknown.status, unknown.json()["error"]["code"].clone()),
        (404, json!(-32601))
    );

    let (message, _) = stateless(5, "tools/call", call);
    let all = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "add"),
    ];
    assert_eq!(served.post(&all, &message).status, 200);
    let mismatch = |headers: &[(&str, &str)]| {
        let answer = served.post(headers, &message);
        assert_eq!(answer.status, 400, "{headers:?}: {answer:?}");
        assert_eq!(answer.json()["id"], 5);
        answer.json()["error"]["code"].clone()
    };
    for place in 0..3 {
        let mut fewer = all.to_vec();
        fewer.remove(place);
        assert_eq!(mismatch(&fewer), -32020);
        let mut other = all;
        other[place].1 = ["2025-11-25", "tools/list", "secret"][place];
        assert_eq!(mismatch(&other), -32020);
    }
    let mut future = message.clone();
    future["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2030-01-01");
    let answer = served.post(
        &[("MCP-Protocol-Version", "2030-01-01"), all[1], all[2]],
        &future,
    );
    assert_eq!(
        (answer.status, answer.json()["error"]["code"].clone()),
        (400, json!(-32022))
    );
    let mut bare = message.clone();
    let meta = bare["params"]["_meta"].as_object_mut().unwrap();
    meta.remove("io.modelcontextprotocol/clientCapabilities");
    let answer = served.post(&all, &bare);
    assert_eq!(
        (answer.status, answer.json()["error"]["code"].clone()),
        (400, json!(-32602))
    );
    bare["params"]["_meta"] = json!({});
    let answer = served.post(&all, &bare);
    assert_eq!(
        (answer.status, answer.json()["error"]["code"].clone()),
        (400, json!(-32602))
    );
    served.end().exits(0);
}

#[test]
fn progress_and_changes_come_as_events() {
    let project = project_of("usual", "");
    let served = Served::start(&project, OPTIONS);
    let listen = json!({ "notifications": { "toolsListChanged": true } });
    let mut listening = served.alone(9, "subscriptions/listen", listen);
    let acknowledged = listening.message();
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    let session = served.initialize("2025-11-25");
    let call = |seconds| {
        let params = json!({
            "name": "slow", "arguments": { "seconds": seconds }, "_meta": { "progressToken": "mine" }
        });
        request(3, "tools/call", params)
    };
    let answer = served.post(&[("Mcp-Session-Id", &session)], &call(0.2));
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let events = answer.events();
    assert_eq!(events.len(), 2, "{events:?}");
    assert_eq!(events[0]["params"]["progressToken"], "mine");
    assert_eq!(events[1]["result"]["content"][0]["text"], "woke up");
    // A client that takes no events gets the response alone.
    let authorization = format!("Bearer {}", served.agents[0].1);
    let plain = [
        ("Authorization", &*authorization),
        ("Content-Type", "application/json"),
        ("Accept", "application/json"),
        ("Mcp-Session-Id", &session),
    ];
    let path = &served.agents[0].0;
    let body = call(0.1).to_string();
    let answer = served.open("POST", path, &plain, &body).answer();
    assert_eq!(answer.json()["result"]["content"][0]["text"], "woke up");
    // Another lock has another list.
    let streaming = [plain[0], ("Accept", "text/event-stream"), plain[3]];
    let mut stream = served.open("GET", path, &streaming, "");
    while stream.line() != ":" {}
    let manifest = project.read("agents.md");
    let only = manifest.replace("permissions: []\n", "permissions: []\n      only: [add]\n");
    project.write("agents.md", only);
    project.agent("resolve").exits(0);
    let changed = listening.message();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(
        changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        9
    );
    assert_eq!(
        stream.message()["method"],
        "notifications/tools/list_changed"
    );
    served.end().exits(0);
}

/// Waits for an effect in the audit log.
fn wait_for_outcome(project: &crate::project::Project, outcome: &str) {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let found = records(project)
            .iter()
            .any(|it| it["kind"] == "effect" && it["content"]["outcome"] == outcome);
        if found {
            return;
        }
        assert!(Instant::now() < end, "no effect `{outcome}`");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_closed_connection_cancels_a_request_without_a_session() {
    let project = project_of("usual", "");
    let served = Served::start(&project, OPTIONS);
    let slow = json!({ "name": "slow", "arguments": { "seconds": 50 } });
    let call = served.alone(1, "tools/call", slow.clone());
    thread::sleep(Duration::from_millis(700));
    drop(call);
    wait_for_outcome(&project, "cancelled");
    served.end().exits(0);
}

#[test]
fn a_session_cancels_by_a_notification_alone() {
    let project = project_of("usual", "");
    let served = Served::start(&project, OPTIONS);
    let session = served.initialize("2025-11-25");
    let own = [("Mcp-Session-Id", &*session)];
    let slow = |seconds: u64| json!({ "name": "slow", "arguments": { "seconds": seconds } });
    // The call goes on without its connection.
    let call = served.post_open(&own, &request(5, "tools/call", slow(1)));
    thread::sleep(Duration::from_millis(500));
    drop(call);
    thread::sleep(Duration::from_millis(1500));
    let outcomes = |project| {
        let effects = records(project);
        let effects = effects.into_iter().filter(|it| it["kind"] == "effect");
        let outcomes = effects.map(|it| it["content"]["outcome"].clone());
        outcomes.collect::<Vec<_>>()
    };
    assert_eq!(outcomes(&project).len(), 1);
    assert_ne!(outcomes(&project)[0], "cancelled");
    let call = served.post_open(&own, &request(6, "tools/call", slow(50)));
    thread::sleep(Duration::from_millis(500));
    let cancelled = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 6 }
    });
    assert_eq!(served.post(&own, &cancelled).status, 202);
    assert!(call.answer().events().is_empty());
    wait_for_outcome(&project, "cancelled");
    served.end().exits(0);
}

#[test]
fn large_malformed_and_slow_requests_are_refused() {
    let project = project_of("usual", "");
    let served = Served::start(&project, OPTIONS);
    // A head that does not end is waited for as long as other clients are served.
    let mut slow = TcpStream::connect(&served.address).unwrap();
    let began = Instant::now();
    slow.write_all(b"POST /mcp HTTP/1.1\r\nHost: x\r\n")
        .unwrap();

    let large = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": { "x": "x".repeat(5 << 20) } });
    assert_eq!(served.post(&[], &large).status, 413);
    let long = "x".repeat(40 << 10);
    assert_eq!(served.post(&[("X-Long", &long)], &listed()).status, 431);
    let own = served.headers();
    let own: Vec<(&str, &str)> = own.iter().map(|(n, v)| (&**n, &**v)).collect();
    for malformed in [
        "Hello",
        "[]",
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ] {
        let answer = served.open("POST", "/mcp", &own, malformed).answer();
        assert_eq!(answer.status, 400, "{malformed}");
    }
    slow.set_read_timeout(Some(Duration::from_secs(40)))
        .unwrap();
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest);
    assert!(began.elapsed() < Duration::from_secs(35));
    served.end().exits(0);
}

#[test]
fn several_agents_have_their_own_locks_and_tokens() {
    let project = project_of("usual", "");
    let lock = project.read("agents.lock");
    fs::create_dir(project.path("other")).unwrap();
    for name in ["agents.lock", "agents.definitions.json", "mcp.index.json"] {
        project.write(&format!("other/{name}"), project.read(name));
    }
    assert!(lock.contains("calculator"));
    // Its index is the usual one of the file's folder.
    fs::create_dir(project.path("alone")).unwrap();
    for name in ["agents.lock", "agents.definitions.json"] {
        project.write(&format!("alone/{name}"), project.read(name));
    }
    project.write("config.yaml", "agents:\n  first: {}\n  second: { lock: other/agents.lock, index: other/mcp.index.json, observe: true }\n  third: {}\n  fourth: { lock: alone/agents.lock }\n");
    let path = project.path("config.yaml");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    let served = Served::start_with(
        &project,
        "--config config.yaml --servers servers.local.yaml",
        8,
    );
    let paths: Vec<_> = served.agents.iter().map(|(path, _)| &**path).collect();
    let expected = ["/first/mcp", "/fourth/mcp", "/second/mcp", "/third/mcp"];
    assert_eq!(paths, expected);
    let (first, second, third) = (&served.agents[0], &served.agents[2], &served.agents[3]);
    assert_ne!(first.1, second.1);
    // The first and the third have one lock.
    assert_ne!(first.1, third.1);
    let session = served.initialize("2025-11-25");
    let sum = served.call(&session, "add", json!({ "a": 1, "b": 2 }));
    assert_eq!(sum["structuredContent"], json!({ "sum": 3 }), "{sum}");
    let post = |path: &str, token: &str, session: &str| {
        let authorization = format!("Bearer {token}");
        let headers = [
            ("Authorization", &*authorization),
            ("Content-Type", "application/json"),
            ("Mcp-Session-Id", session),
        ];
        served
            .open("POST", path, &headers, &listed().to_string())
            .answer()
            .status
    };
    assert_eq!(post(&first.0, &first.1, &session), 200);
    assert_eq!(post(&first.0, &second.1, &session), 401);
    assert_eq!(post(&first.0, &third.1, &session), 401);
    assert_eq!(post(&second.0, &second.1, &session), 404);
    assert_eq!(post("/mcp", &first.1, &session), 404);
    served.end().exits(0);
    assert!(project.has("first.audit.jsonl") && project.has("second.audit.jsonl"));

    project.write("config.yaml", "agents:\n  first: { lok: x }\n");
    project
        .agent("serve --http --config config.yaml")
        .exits(2)
        .notes("2:12: `lok` is unknown; the keys are");
}

#[test]
fn a_session_belongs_to_the_client_that_opened_it() {
    let project = project_of("usual", "");
    let config = "agents:\n  one:\n    tokens: { chat: chat.token, editor: editor.token }\n";
    project.write("config.yaml", config);
    let path = project.path("config.yaml");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    let options = "--config config.yaml --servers servers.local.yaml";
    let served = Served::start_with(&project, options, 3);
    let session = served.initialize("2025-11-25");
    let status = |file: usize, method: &str| {
        let token = fs::read_to_string(&served.token_files[file]).unwrap();
        let authorization = format!("Bearer {}", token.trim());
        let headers = [
            ("Authorization", &*authorization),
            ("Content-Type", "application/json"),
            ("Mcp-Session-Id", &session),
        ];
        let body = listed().to_string();
        let answer = served.open(method, &served.agents[0].0, &headers, &body);
        answer.answer().status
    };
    assert_eq!(status(0, "POST"), 200);
    for method in ["POST", "GET", "DELETE"] {
        assert_eq!(status(1, method), 404, "{method}");
    }
    assert_eq!(status(0, "POST"), 200);
    served.end().exits(0);
}

#[test]
fn hundreds_of_clients_are_served_at_the_same_time() {
    const CLIENTS: usize = 300;
    let project = project_of("usual", "");
    let served = Served::start(&project, OPTIONS);
    let session = served.initialize("2025-11-25");
    served.call(&session, "add", json!({ "a": 0, "b": 0 }));
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let served = &served;
                scope.spawn(move || {
                    let session = served.initialize("2025-11-25");
                    let sum = served.call(&session, "add", json!({ "a": number, "b": 1 }));
                    assert_eq!(sum["structuredContent"]["sum"], number + 1, "{sum}");
                    let call = json!({ "name": "add", "arguments": { "a": number, "b": 2 } });
                    let sum = served.alone(1, "tools/call", call).answer().json();
                    assert_eq!(
                        sum["result"]["structuredContent"]["sum"],
                        number + 2,
                        "{sum}"
                    );
                })
            })
            .collect();
        for client in clients {
            client.join().unwrap();
        }
    });
    served.end().exits(0);
    let calls = records(&project);
    let effects = calls.iter().filter(|it| it["kind"] == "effect").count();
    assert_eq!(effects, 2 * CLIENTS + 1);
}
