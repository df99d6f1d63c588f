//! Five published patterns of attacks, in each of which every call is harmless alone: stopped by the history of calls, through
//! the gateway and with real servers. Each is tried again in the ways in which a history could be escaped.

use super::client::{Served, refusal};
use crate::project::Project;
use serde_json::{Map, Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

const STUB: &str = include_str!("stub.py");

const OPTIONS: &str =
    "--servers servers.local.yaml --audit audit.jsonl --tenant tenant.yaml --approvals retry";

const TENANT: &str = "\
tenants:
  - id: acme
    history:
      rules:
        - { rule: no-send-after, label: private }
        - { rule: no-write-after, label: untrusted, tools: [files/*] }
";

/// Two tools of which the second must not follow the first.
struct Pattern {
    /// `SERVER/TOOL`, with its verb and resource, and whether its data is private.
    read: (&'static str, &'static str, &'static str, bool),
    act: (&'static str, &'static str, &'static str),
    /// What stops the second.
    code: &'static str,
}

const PATTERNS: [Pattern; 5] = [
    // Mail is read, and posted to a channel.
    Pattern {
        read: ("mail/read_inbox", "read", "x-mail", true),
        act: ("chat/post_message", "notify", "slack"),
        code: "POLICY_DENIED",
    },
    // A private repository is read, and an issue is opened in a public one.
    Pattern {
        read: ("code/read_private", "read", "codebase", true),
        act: ("tracker/open_issue", "write", "internet"),
        code: "POLICY_DENIED",
    },
    // A database is read, and a URL with its data fetched: a tool that only reads.
    Pattern {
        read: ("database/query", "read", "x-customers", true),
        act: ("fetch/get", "read", "internet"),
        code: "POLICY_DENIED",
    },
    // A page that anybody may have written is read, and a file written.
    Pattern {
        read: ("web/open_page", "read", "internet", false),
        act: ("files/write_file", "write", "fs"),
        code: "APPROVAL_REQUIRED",
    },
    // Two servers collude: the data of one leaves through a search of the other.
    Pattern {
        read: ("notes/recall", "read", "knowledge_graph", true),
        act: ("search/lookup", "search", "internet"),
        code: "POLICY_DENIED",
    },
];

impl Pattern {
    fn tool(path: &str) -> &str {
        path.split_once('/').unwrap().1
    }

    /// Returns a project with the two servers. `claims` are annotations of the second tool.
    fn project(&self, claims: &Value) -> Project {
        let project = Project::empty();
        let (read, act) = (self.read, self.act);
        let private = if read.3 {
            json!(["private"])
        } else {
            json!([])
        };
        let closed = json!({ "readOnlyHint": true, "openWorldHint": read.2 == "internet" });
        let mut entries = Vec::new();
        let mut operator = "servers:\n".to_owned();
        for (path, verb, resource, annotations, labels) in [
            (read.0, read.1, read.2, &closed, &private),
            (act.0, act.1, act.2, claims, &json!([])),
        ] {
            let (server, name) = path.split_once('/').unwrap();
            let tool = |name: &str, annotations: &Value, verb: &str, resource: &str| {
                json!({
                    "name": name, "annotations": annotations, "x-labels": labels,
                    "inputSchema": { "type": "object", "properties": { "seconds": { "type": "number" } } },
                    "x-summit-capabilities": [{ "verb": verb, "resource": resource, "constraints": [] }],
                })
            };
            let idle = json!({ "readOnlyHint": true, "openWorldHint": false });
            let mut idle = tool(&format!("{server}_status"), &idle, "read", "codebase");
            idle["x-labels"] = json!([]);
            let tools = [tool(name, annotations, verb, resource), idle];
            project.write(&format!("{server}.json"), json!(tools).to_string());
            let of_index = tools.into_iter().map(|mut tool| {
                let name = tool.as_object_mut().unwrap().remove("name").unwrap();
                (name.as_str().unwrap().to_owned(), tool)
            });
            let of_index: Map<_, _> = of_index.collect();
            entries.push(json!({
                "id": server, "version": "1.0.0", "endpoint": format!("pkg:generic/{server}@1.0.0"),
                "categories": [server], "scopes": [],
                "data": { "residency": "any", "maxSensitivity": "public" },
                "trust": { "signed": true, "publisher": "Acme" },
                "capabilities": { "tools": of_index },
            }));
            let file = |name: &str| project.path(name).display().to_string();
            let (script, list) = (file("stub.py"), file(&format!("{server}.json")));
            operator.push_str(&format!(
                "  {server}:\n    command: [/usr/bin/python3, {script}, {list}]\n    read: [{script}, {list}]\n"
            ));
        }
        project.write("stub.py", STUB);
        project.write("mcp.index.json", json!(entries).to_string());
        let categories = [read.0, act.0].map(|path| path.split_once('/').unwrap().0);
        let requires =
            categories.map(|it| format!("    - category: {it}\n      permissions: []\n"));
        project.write(
            "agents.md",
            format!(
                "---\nname: worker\nversion: 1.0.0\nrequires:\n  mcp:\n{}---\n",
                requires.concat()
            ),
        );
        project.agent("resolve").exits(0);
        project.write("tenant.yaml", TENANT);
        project.write("servers.local.yaml", operator);
        let entry = project.path("servers.local.yaml");
        fs::set_permissions(entry, Permissions::from_mode(0o600)).unwrap();
        project
    }

    /// Starts the gateway with a client of 2025-11-25, and waits for both servers.
    fn start<'p>(&self, project: &'p Project) -> Served<'p> {
        let mut served = Served::start(project, OPTIONS);
        served.initialize("2025-11-25");
        served
    }

    fn read(&self, served: &mut Served<'_>) {
        let result = served.call(Self::tool(self.read.0), json!({}));
        assert_eq!(result.get("isError"), None, "{result}");
    }

    /// The second tool is stopped, with a reason that names the earlier call. A client without sessions learns at
    /// once that a human is asked.
    fn is_stopped(&self, served: &mut Served<'_>) {
        let answer = served.ask("tools/call", stateless(Self::tool(self.act.0)));
        let result = &answer["result"];
        let text = result.to_string();
        let named = format!("`{}` returned data that is", self.read.0);
        assert!(text.contains(&named), "{answer}");
        match self.code {
            "APPROVAL_REQUIRED" => {
                assert_eq!(result["resultType"], "input_required", "{answer}");
                assert!(text.contains(self.code), "{answer}");
            }
            code => assert_eq!(refusal(result), code),
        }
    }
}

/// A call of a client of 2026-07-28, which has no session.
fn stateless(tool: &str) -> Value {
    json!({
        "name": tool, "arguments": {},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    })
}

/// The annotations of the second tool.
fn claims() -> [Value; 2] {
    [
        json!({}),
        json!({ "openWorldHint": false, "destructiveHint": false }),
    ]
}

#[test]
fn five_patterns_are_stopped_and_their_harmless_variants_pass() {
    for pattern in &PATTERNS {
        for claims in claims() {
            let project = pattern.project(&claims);
            let mut served = pattern.start(&project);
            // Alone, the second tool may be called.
            let alone = served.call(Pattern::tool(pattern.act.0), json!({}));
            assert_eq!(alone.get("isError"), None, "{alone}");
            pattern.read(&mut served);
            // Another generation of the protocol is no new session.
            pattern.is_stopped(&mut served);
            served.end().exits(0);
        }
    }
}

#[test]
fn a_restarted_gateway_remembers_the_patterns() {
    for pattern in &PATTERNS {
        let project = pattern.project(&json!({}));
        let mut served = pattern.start(&project);
        pattern.read(&mut served);
        served.end().exits(0);
        let mut served = pattern.start(&project);
        pattern.is_stopped(&mut served);
        served.end().exits(0);
        project.agent("audit audit.jsonl").exits(0);
        // Of a log that was cut, nothing is known, so nothing passes.
        let log = project.read("audit.jsonl");
        let lines: Vec<_> = log.lines().collect();
        project.write("audit.jsonl", format!("{}\n", lines[3..].join("\n")));
        let mut served = pattern.start(&project);
        let refused = served.call(Pattern::tool(pattern.act.0), json!({}));
        assert_eq!(refusal(&refused), "HISTORY_UNAVAILABLE");
        served.end().exits(0);
    }
}

#[test]
fn a_history_is_in_all_files_of_a_log() {
    let pattern = &PATTERNS[0];
    let project = pattern.project(&json!({}));
    let options = format!("{OPTIONS} --audit-size 1024");
    let mut served = Served::start(&project, &options);
    served.initialize("2025-11-25");
    pattern.read(&mut served);
    for _ in 0..3 {
        served.call("chat_status", json!({}));
    }
    served.end().exits(0);
    // Hardly any file has two records.
    let files = fs::read_dir(project.path("")).unwrap();
    let names = files.map(|it| it.unwrap().file_name().into_string().unwrap());
    assert!(names.filter(|it| it.starts_with("audit.")).count() > 8);
    let mut served = Served::start(&project, &options);
    served.initialize("2025-11-25");
    pattern.is_stopped(&mut served);
    served.end().exits(0);
}

#[test]
fn parallel_calls_race_past_no_pattern() {
    for pattern in &PATTERNS {
        let project = pattern.project(&json!({}));
        let mut served = pattern.start(&project);
        // Both servers answer before the race.
        for path in [pattern.read.0, pattern.act.0] {
            let server = path.split_once('/').unwrap().0;
            served.call(&format!("{server}_status"), json!({}));
        }
        let read = json!({ "name": Pattern::tool(pattern.read.0), "arguments": { "seconds": 1 } });
        let read = served.request("tools/call", read);
        pattern.is_stopped(&mut served);
        let answer = served.wait_for(|it| it["id"] == read);
        assert_eq!(answer["result"].get("isError"), None, "{answer}");
        served.end().exits(0);
    }
}

#[test]
fn a_folded_history_still_stops_the_patterns() {
    for pattern in &PATTERNS {
        let project = pattern.project(&json!({}));
        let mut served = pattern.start(&project);
        pattern.read(&mut served);
        let server = pattern.act.0.split_once('/').unwrap().0;
        let ids: Vec<_> = (0..300)
            .map(|_| {
                let call = json!({ "name": format!("{server}_status"), "arguments": {} });
                served.request("tools/call", call)
            })
            .collect();
        for id in ids {
            let answer = served.wait_for(|it| it["id"] == id);
            assert_eq!(answer["result"].get("isError"), None, "{answer}");
        }
        pattern.is_stopped(&mut served);
        served.end().exits(0);
    }
}

#[test]
fn a_gateway_beside_another_one_passes_nothing_on() {
    let pattern = &PATTERNS[0];
    let project = pattern.project(&json!({}));
    let mut first = pattern.start(&project);
    pattern.read(&mut first);
    let mut second = pattern.start(&project);
    let refused = second.call(Pattern::tool(pattern.act.0), json!({}));
    assert_eq!(refusal(&refused), "HISTORY_UNAVAILABLE");
    second.end().exits(0);
    pattern.is_stopped(&mut first);
    first.end().exits(0);
}

/// The tenant of the how-to page.
fn of_the_page() -> String {
    let page = include_str!("../../../../../docs/how-to/history.md");
    let (_, from) = page.split_once("```yaml\n").unwrap();
    from.split_once("```").unwrap().0.to_owned()
}

#[test]
fn a_log_tells_what_rules_would_have_stopped() {
    let pattern = &PATTERNS[0];
    let project = pattern.project(&json!({}));
    let tenant = of_the_page();
    project.write("tenant.yaml", &*tenant);
    let mut served = pattern.start(&project);
    pattern.read(&mut served);
    let sent = served.call(Pattern::tool(pattern.act.0), json!({}));
    assert_eq!(sent.get("isError"), None, "{sent}");
    served.end().exits(0);
    // What only records let the call pass.
    let log = project.read("audit.jsonl");
    let finding = r#""findings":[{"rule":"no-send-after""#;
    assert_eq!(log.matches(finding).count(), 1, "{log}");
    project
        .agent("replay audit.jsonl --tenant tenant.yaml")
        .exits(0);
    project.write("tenant.yaml", tenant.replace(", mode: log-only", ""));
    let replayed = project.agent("replay audit.jsonl --tenant tenant.yaml");
    let replayed = replayed.exits(1);
    let shown = &replayed.stdout;
    assert!(shown.contains("decided otherwise: 1 of 2 calls"), "{shown}");
    assert!(shown.contains("`mail/read_inbox` returned data"), "{shown}");
    // A log without histories is decided by what the index says now.
    project.write("audit.jsonl", "");
    project.write("tenant.yaml", "tenants: [{ id: acme }]\n");
    let mut served = pattern.start(&project);
    pattern.read(&mut served);
    served.call(Pattern::tool(pattern.act.0), json!({}));
    served.end().exits(0);
    assert!(!project.read("audit.jsonl").contains("\"history\""));
    project.write("tenant.yaml", TENANT);
    project
        .agent("replay audit.jsonl --tenant tenant.yaml")
        .exits(1);
}
