//! Resources and prompts, which are passed on only where the lock says so.

use super::client::Served;
use super::http;
use super::{OPTIONS, project_of, records};
use crate::project::Project;
use serde_json::{Value, json};
use std::fs;

/// A project whose lock passes on resources and prompts.
fn serving() -> Project {
    project_of("usual", "      serve: [resources, prompts]\n")
}

fn status(project: &Project) -> Value {
    let shown = project.agent("status --format json").exits(0);
    shown.json()["gateways"][0].clone()
}

#[test]
fn a_client_gets_what_the_lock_passes_on() {
    let project = serving();
    let mut served = Served::start(&project, OPTIONS);
    let opened = served.initialize("2025-11-25");
    let expected = json!({
        "prompts": { "listChanged": true }, "resources": { "listChanged": true }, "tools": { "listChanged": true },
    });
    assert_eq!(opened["capabilities"], expected);
    let list = served.ask("resources/list", json!({}));
    let expected = json!({ "resources": [{
        "description": "A note.", "mimeType": "text/plain", "name": "a", "uri": "note://a"
    }] });
    assert_eq!(list["result"], expected);
    let list = served.ask("resources/templates/list", json!({}));
    let expected =
        json!({ "resourceTemplates": [{ "name": "notes", "uriTemplate": "note://of/{name}" }] });
    assert_eq!(list["result"], expected);
    let list = served.ask("prompts/list", json!({}));
    let expected = json!({ "prompts": [{ "arguments": [{ "name": "who", "required": true }], "name": "greet" }] });
    assert_eq!(list["result"], expected);

    for uri in ["note://a", "note://of/me"] {
        let params = json!({ "uri": uri, "_meta": { "progressToken": 1 }, "more": 1 });
        let read = served.ask("resources/read", params);
        let contents = &read["result"]["contents"][0];
        let given: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
        assert_eq!(given["params"], json!({ "uri": uri }));
        assert!(!read.to_string().contains("of the server"), "{read}");
    }
    let params = json!({ "name": "greet", "arguments": { "who": "you" } });
    let got = served.ask("prompts/get", params);
    assert_eq!(got["result"]["messages"][0]["content"]["text"], "Hello you");
    for uri in [
        "note://b",
        "note://u@b",
        "note://of/..",
        "note://of/%2e%2e",
        "note://of/nobody",
    ] {
        let error = served.ask("resources/read", json!({ "uri": uri }));
        assert_eq!(error["error"]["code"], -32002, "{error}");
        assert_eq!(error["error"]["data"]["uri"], uri);
    }
    let error = served.ask("prompts/get", json!({ "name": "other" }));
    assert_eq!(error["error"]["code"], -32602, "{error}");
    for withheld in ["resources/subscribe", "completion/complete"] {
        let error = served.ask(withheld, json!({ "uri": "note://a" }));
        assert_eq!(error["error"]["code"], -32601, "{error}");
    }
    // The gateway announces a change of the list.
    served.ask("resources/read", json!({ "uri": "note://of/change" }));
    // The first announcement may be that of the server's start.
    let mut asked = 0;
    loop {
        served.wait_for(|it| it["method"] == "notifications/resources/list_changed");
        let list = served.ask("resources/list", json!({}));
        asked += 1;
        if list["result"]["resources"][0]["description"] == "Another note." {
            break;
        }
    }

    let found = status(&project);
    let agent = &found["agents"][0];
    let withheld = agent["withheld"].as_array().unwrap();
    assert!(
        withheld.contains(&json!("subscriptions to resources")),
        "{withheld:?}"
    );
    assert!(
        !withheld
            .iter()
            .any(|it| it == "resources" || it == "prompts"),
        "{withheld:?}"
    );
    let lists = &agent["session"]["servers"][0]["lists"];
    assert_eq!(lists[0]["entries"], 1, "{lists}");
    assert_eq!(lists[0]["withheld"][0]["name"], "note://u@b", "{lists}");
    project
        .agent("status")
        .exits(0)
        .answers("resources/list: 1, 1 withheld");
    served.end().exits(0);

    let log = records(&project);
    let of = |kind: &str| log.iter().filter(|it| it["kind"] == kind).count();
    // Requests for what is not passed on at all are not the session's.
    assert_eq!(of("request"), 3 + 2 + 1 + 5 + 1 + 1 + asked);
    assert!(of("entries") >= 6, "{log:?}");
    let request = log
        .iter()
        .find(|it| it["content"]["name"] == "note://a")
        .unwrap();
    let call = &request["content"]["call"];
    let effect = log
        .iter()
        .find(|it| it["kind"] == "effect" && it["content"]["call"] == *call);
    assert_eq!(effect.unwrap()["content"]["outcome"], "delivered");
    project.agent("audit audit.jsonl").exits(0);
    project.agent("replay audit.jsonl").exits(0);
    let manifest = project.read("agents.md");
    project.write(
        "agents.md",
        manifest.replace("      serve: [resources, prompts]\n", ""),
    );
    project.agent("resolve").exits(0);
    project
        .agent("replay audit.jsonl")
        .exits(1)
        .answers("note://a");
}

#[test]
fn without_serve_nothing_beside_tools_is_offered_or_read() {
    let project = project_of("usual", "      serve: [prompts]\n");
    let mut served = Served::start(&project, OPTIONS);
    let opened = served.initialize("2025-11-25");
    assert_eq!(opened["capabilities"].get("resources"), None, "{opened}");
    for (method, params) in [
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "note://a" })),
    ] {
        let error = served.ask(method, params);
        assert_eq!(error["error"]["code"], -32601, "{error}");
    }
    assert!(
        served
            .ask("prompts/list", json!({}))
            .get("result")
            .is_some()
    );
    let shown = project.agent("status").exits(0);
    assert!(
        shown.stdout.contains("roots, sampling, resources"),
        "{shown:?}"
    );
    let ended = served.end().exits(0);
    assert!(!ended.stderr.contains("read note"), "{ended:?}");
}

#[test]
fn clients_over_http_of_both_generations_get_the_same() {
    let project = serving();
    let served = http::Served::start(&project, OPTIONS);
    let found = served
        .alone(1, "server/discover", json!({}))
        .answer()
        .json();
    let capabilities = &found["result"]["capabilities"];
    assert_eq!(
        capabilities["resources"],
        json!({ "listChanged": true }),
        "{found}"
    );
    let list = served.alone(2, "resources/list", json!({})).answer().json();
    let result = &list["result"];
    assert_eq!(result["resources"][0]["uri"], "note://a", "{list}");
    let hints = (
        &result["cacheScope"],
        &result["ttlMs"],
        &result["resultType"],
    );
    assert_eq!(hints, (&json!("private"), &json!(0), &json!("complete")));
    let read = served
        .alone(3, "resources/read", json!({ "uri": "note://a" }))
        .answer()
        .json();
    assert_eq!(read["result"]["cacheScope"], "private", "{read}");
    assert_eq!(read["result"]["contents"][0]["uri"], "note://a", "{read}");
    let unknown = served
        .alone(4, "resources/read", json!({ "uri": "note://../a" }))
        .answer();
    let error = unknown.json()["error"].clone();
    assert_eq!(
        (&error["code"], &error["data"]["uri"]),
        (&json!(-32602), &json!("note://../a"))
    );
    let params = json!({ "name": "greet", "arguments": { "who": "you" } });
    let got = served.alone(5, "prompts/get", params).answer().json();
    assert_eq!(
        got["result"]["messages"][0]["content"]["text"], "Hello you",
        "{got}"
    );

    let session = served.initialize("2025-11-25");
    let own = ("Mcp-Session-Id", &*session);
    let read = http::request(6, "resources/read", json!({ "uri": "note://of/me" }));
    let read = served.post(&[own], &read).json();
    assert_eq!(
        read["result"]["contents"][0]["uri"], "note://of/me",
        "{read}"
    );
    let unknown = http::request(7, "resources/read", json!({ "uri": "note://b" }));
    let unknown = served.post(&[own], &unknown).json();
    assert_eq!(unknown["error"]["code"], -32002, "{unknown}");
    served.end().exits(0);
    assert!(fs::exists(project.path("audit.jsonl")).unwrap());
}
