//! Five published patterns of attacks, in each of which every call is harmless alone. The gateway stops them by the history of
//! calls, between real servers. Every escape from a history is tried with each pattern and with its harmless variant.

use super::client::{Served, refusal};
use super::{http, records};
use crate::project::Project;
use serde_json::{Map, Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

const STUB: &str = include_str!("stub.py");

/// A client that shows forms learns at once that a human is asked.
const OPTIONS: &str =
    "--servers servers.local.yaml --audit audit.jsonl --tenant tenant.yaml --approvals elicitation";

const TENANT: &str = "\
tenants:
  - id: acme
    history:
      rules:
        - { rule: no-send-after, label: private }
        - { rule: no-write-after, label: untrusted, tools: [files/*] }
";

/// The number of calls that are kept one by one: `HISTORY_CALLS_OF_CLIENT_MAX` of the session.
const KEPT: usize = 256;

/// A tool of a server, as the index describes it.
struct Tool {
    /// `SERVER/TOOL`
    path: &'static str,
    verb: &'static str,
    resource: &'static str,
}

impl Tool {
    const fn new(path: &'static str, verb: &'static str, resource: &'static str) -> Self {
        Self {
            path,
            verb,
            resource,
        }
    }

    fn server(&self) -> &'static str {
        self.path.split_once('/').unwrap().0
    }

    fn name(&self) -> &'static str {
        self.path.split_once('/').unwrap().1
    }

    /// Returns another tool of the server. Its data has no label, and it neither sends nor writes.
    fn status(&self) -> String {
        format!("{}_status", self.server())
    }
}

/// Two tools of which the second must not follow the first.
struct Pattern {
    read: Tool,
    /// The label of what the first returns. The index says what is private, and the resource what is untrusted.
    label: &'static str,
    act: Tool,
}

const PATTERNS: [Pattern; 5] = [
    // Mail is read, and posted to a channel.
    Pattern {
        read: Tool::new("mail/read_inbox", "read", "x-mail"),
        label: "private",
        act: Tool::new("chat/post_message", "notify", "slack"),
    },
    // A private repository is read, and an issue is opened in a public one.
    Pattern {
        read: Tool::new("code/read_private", "read", "codebase"),
        label: "private",
        act: Tool::new("tracker/open_issue", "write", "internet"),
    },
    // A database is read, and a URL with its data fetched: a tool that only reads.
    Pattern {
        read: Tool::new("database/query", "read", "x-customers"),
        label: "private",
        act: Tool::new("fetch/get", "read", "internet"),
    },
    // A page that anybody may have written is read, and a file written.
    Pattern {
        read: Tool::new("web/open_page", "read", "internet"),
        label: "untrusted",
        act: Tool::new("files/write_file", "write", "fs"),
    },
    // Two servers collude: the data of one leaves through a search of the other.
    Pattern {
        read: Tool::new("notes/recall", "read", "knowledge_graph"),
        label: "private",
        act: Tool::new("search/lookup", "search", "internet"),
    },
];

impl Pattern {
    /// Whether a human may approve the second call. Otherwise it is refused.
    fn asks(&self) -> bool {
        self.label == "untrusted"
    }
}

/// What the servers of a pattern say of their tools, in annotations.
#[derive(Debug, Clone, Copy)]
enum Claims {
    /// The first describes itself rightly, the second not at all.
    Honest,
    /// Both claim to change nothing and to reach nobody.
    Closed,
}

impl Claims {
    fn annotations(self, pattern: &Pattern) -> [Value; 2] {
        let closed =
            json!({ "readOnlyHint": true, "destructiveHint": false, "openWorldHint": false });
        match self {
            Self::Honest => [
                json!({ "readOnlyHint": true, "openWorldHint": pattern.read.resource == "internet" }),
                json!({}),
            ],
            Self::Closed => [closed.clone(), closed],
        }
    }
}

/// A project with the two servers of a pattern.
struct Trial {
    pattern: &'static Pattern,
    project: Project,
}

impl Trial {
    fn new(pattern: &'static Pattern, claims: Claims) -> Self {
        let project = Project::empty();
        let private: &[&str] = if pattern.asks() { &[] } else { &["private"] };
        let (mut entries, mut requires) = (Vec::new(), String::new());
        let mut operator = "servers:\n".to_owned();
        project.write("stub.py", STUB);
        let annotations = claims.annotations(pattern);
        let tools = [(&pattern.read, private), (&pattern.act, &[])];
        for ((tool, labels), annotations) in tools.into_iter().zip(annotations) {
            let server = tool.server();
            let listed = |name: &str, annotations, labels, verb: &str, resource: &str| {
                json!({
                    "name": name, "annotations": annotations, "x-labels": labels,
                    "inputSchema": { "type": "object" },
                    "x-summit-capabilities": [{ "verb": verb, "resource": resource, "constraints": [] }],
                })
            };
            let idle = json!({ "readOnlyHint": true, "openWorldHint": false });
            let tools = [
                listed(tool.name(), annotations, labels, tool.verb, tool.resource),
                listed(&tool.status(), idle, &[], "read", "codebase"),
            ];
            project.write(&format!("{server}.json"), json!(tools).to_string());
            fs::create_dir(project.path(server)).unwrap();
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
            requires.push_str(&format!(
                "    - category: {server}\n      permissions: []\n"
            ));
            let file = |name: &str| project.path(name).display().to_string();
            let (script, list, folder) = (
                file("stub.py"),
                file(&format!("{server}.json")),
                file(server),
            );
            operator.push_str(&format!(
                "  {server}:\n    command: [/usr/bin/python3, {script}, {list}, {folder}]\n    \
                 read: [{script}, {list}]\n    write: [{folder}]\n"
            ));
        }
        project.write("mcp.index.json", json!(entries).to_string());
        let head = "---\nname: worker\nversion: 1.0.0\nrequires:\n  mcp:\n";
        project.write("agents.md", format!("{head}{requires}---\n"));
        project.agent("resolve").exits(0);
        project.write("tenant.yaml", TENANT);
        project.write("servers.local.yaml", operator);
        let entry = project.path("servers.local.yaml");
        fs::set_permissions(entry, Permissions::from_mode(0o600)).unwrap();
        Self { pattern, project }
    }

    /// Starts the gateway with a client of 2025-11-25, and waits for both servers.
    fn start(&self) -> Served<'_> {
        self.start_with(OPTIONS)
    }

    fn start_with(&self, options: &str) -> Served<'_> {
        let mut served = Served::start(&self.project, options);
        served.initialize("2025-11-25");
        served
    }

    /// Makes the first call of the pattern.
    fn read(&self, served: &mut Served<'_>) {
        assert_done(&served.call(self.pattern.read.name(), json!({})));
    }

    /// Makes the second call without a session, as a client of 2026-07-28, and returns the answer. Both generations of the
    /// protocol share a history.
    fn act(&self, served: &mut Served<'_>) -> Value {
        let call = json!({
            "name": self.pattern.act.name(), "arguments": {},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
            },
        });
        served.ask("tools/call", call)
    }

    /// Returns how many second calls reached their server.
    fn acted(&self) -> usize {
        let noted = self.project.path(self.pattern.act.server()).join("calls");
        let noted = fs::read_to_string(noted).unwrap_or_default();
        let name = self.pattern.act.name();
        noted.lines().filter(|it| *it == name).count()
    }

    /// Checks that the second call is stopped, with a reason that names the first.
    #[track_caller]
    fn assert_stopped(&self, answer: &Value) {
        let Pattern { read, label, .. } = self.pattern;
        let text = answer.to_string();
        let named = format!("`{}` returned data that is `{label}`", read.path);
        assert!(text.contains(&named), "{answer}");
        match self.pattern.asks() {
            true => assert!(text.contains("elicitation/create"), "{answer}"),
            false => assert_eq!(refusal(&answer["result"]), "POLICY_DENIED"),
        }
    }
}

/// Checks that the gateway passed on the result of a server.
#[track_caller]
fn assert_done(result: &Value) {
    assert_eq!(result.get("isError"), None, "{result}");
    assert_eq!(result["content"][0]["text"], "done", "{result}");
}

/// Tries an escape with each pattern. The escape makes both calls, of which the first is given, and returns the second's answer.
fn try_patterns(escape: impl Fn(&Trial, &str) -> Value) {
    for pattern in &PATTERNS {
        for claims in [Claims::Honest, Claims::Closed] {
            let trial = Trial::new(pattern, claims);
            // The harmless variant reads data without a label. It comes first, because labels stay in a history.
            let answer = escape(&trial, &pattern.read.status());
            assert_done(&answer["result"]);
            assert_eq!(trial.acted(), 1, "{answer}");
            let answer = escape(&trial, pattern.read.name());
            trial.assert_stopped(&answer);
            assert_eq!(trial.acted(), 1, "{claims:?}: {answer}");
        }
    }
}

#[test]
fn five_patterns_are_stopped_and_their_harmless_variants_pass() {
    try_patterns(|trial, first| {
        let mut served = trial.start();
        assert_done(&served.call(first, json!({})));
        let answer = trial.act(&mut served);
        served.end().exits(0);
        answer
    });
}

#[test]
fn a_new_session_of_a_client_escapes_no_pattern() {
    try_patterns(|trial, first| {
        let served = http::Served::start(&trial.project, OPTIONS);
        let open = || {
            let mut opening = http::initialize("2025-11-25");
            opening["params"]["capabilities"] = json!({ "elicitation": {} });
            let opened = served.post(&[], &opening);
            opened.header("mcp-session-id").unwrap().to_owned()
        };
        let one = open();
        assert_done(&served.call(&one, first, json!({})));
        let two = open();
        assert_ne!(one, two);
        let two = [("Mcp-Session-Id", &*two)];
        let call = json!({ "name": trial.pattern.act.name(), "arguments": {} });
        let mut acting = served.post_open(&two, &http::request(2, "tools/call", call));
        let is_asked = trial.pattern.asks() && first == trial.pattern.read.name();
        let answer = if is_asked {
            let question = acting.message();
            let declined = json!({ "action": "decline" });
            let declined = json!({ "jsonrpc": "2.0", "id": question["id"], "result": declined });
            assert_eq!(served.post(&two, &declined).status, 202);
            assert_eq!(refusal(&acting.message()["result"]), "APPROVAL_DENIED");
            question
        } else {
            acting.answer().json()
        };
        served.end().exits(0);
        answer
    });
}

#[test]
fn a_restarted_gateway_remembers_the_patterns() {
    try_patterns(|trial, first| {
        let mut served = trial.start();
        assert_done(&served.call(first, json!({})));
        served.end().exits(0);
        let mut served = trial.start();
        let answer = trial.act(&mut served);
        served.end().exits(0);
        trial.project.agent("audit audit.jsonl").exits(0);
        answer
    });
}

#[test]
fn parallel_calls_race_past_no_pattern() {
    try_patterns(|trial, first| {
        let mut served = trial.start();
        let Pattern { read, act, .. } = trial.pattern;
        // Both servers answer before the race.
        for tool in [read, act] {
            assert_done(&served.call(&tool.status(), json!({})));
        }
        let wait = trial.project.path(read.server()).join("wait");
        fs::write(&wait, "").unwrap();
        let first = served.request("tools/call", json!({ "name": first, "arguments": {} }));
        // The first call is open until the second has its answer.
        let answer = trial.act(&mut served);
        fs::remove_file(wait).unwrap();
        assert_done(&served.wait_for(|it| it["id"] == first)["result"]);
        served.end().exits(0);
        answer
    });
}

#[test]
fn a_folded_history_still_stops_the_patterns() {
    try_patterns(|trial, first| {
        let Pattern { act, .. } = trial.pattern;
        let status = act.status();
        // A folded call has no arguments to compare, so this rule reports the number of such calls.
        let rule = format!(
            "{TENANT}        - {{ rule: same-field, tools: [{}/{status}], argument: /id, \
             earlier: [\"*/*\"], mode: log-only }}\n",
            act.server()
        );
        trial.project.write("tenant.yaml", rule);
        let mut served = trial.start();
        assert_done(&served.call(first, json!({})));
        let call = json!({ "name": status, "arguments": {} });
        let ids = [(); KEPT + 1].map(|()| served.request("tools/call", call.clone()));
        for id in ids {
            assert_done(&served.wait_for(|it| it["id"] == id)["result"]);
        }
        let answer = trial.act(&mut served);
        served.end().exits(0);
        let contents = records(&trial.project).into_iter();
        let contents = contents.map(|mut it| it["content"].take());
        let passed_on: Vec<_> = contents.filter(|it| it["action"] == "forward").collect();
        let last = passed_on.iter().rposition(|it| it["tool"] == status);
        let last = last.unwrap();
        // The kept calls are those of the loop, so the first call of the pattern is folded.
        let folded = format!("of {} earlier calls", last - KEPT);
        let findings = passed_on[last]["history"]["findings"].to_string();
        assert!(findings.contains(&folded), "{folded}: {findings}");
        answer
    });
}

#[test]
fn nothing_passes_after_a_log_that_was_cut() {
    for pattern in &PATTERNS {
        let trial = Trial::new(pattern, Claims::Honest);
        let mut served = trial.start();
        trial.read(&mut served);
        served.end().exits(0);
        let log = trial.project.read("audit.jsonl");
        let lines: Vec<_> = log.lines().collect();
        trial
            .project
            .write("audit.jsonl", format!("{}\n", lines[3..].join("\n")));
        let mut served = trial.start();
        let refused = trial.act(&mut served);
        assert_eq!(refusal(&refused["result"]), "HISTORY_UNAVAILABLE");
        served.end().exits(0);
        assert_eq!(trial.acted(), 0);
    }
}

#[test]
fn a_history_is_in_all_files_of_a_log() {
    let trial = Trial::new(&PATTERNS[0], Claims::Honest);
    let options = format!("{OPTIONS} --audit-size 1024");
    let mut served = trial.start_with(&options);
    trial.read(&mut served);
    for _ in 0..3 {
        served.call("chat_status", json!({}));
    }
    served.end().exits(0);
    // Hardly any file has two records.
    let names = trial.project.files().into_iter();
    assert!(names.filter(|it| it.starts_with("audit.")).count() > 8);
    let mut served = trial.start_with(&options);
    trial.assert_stopped(&trial.act(&mut served));
    served.end().exits(0);
}

#[test]
fn a_gateway_beside_another_one_passes_nothing_on() {
    let trial = Trial::new(&PATTERNS[0], Claims::Honest);
    let mut first = trial.start();
    trial.read(&mut first);
    let mut second = trial.start();
    let refused = trial.act(&mut second);
    assert_eq!(refusal(&refused["result"]), "HISTORY_UNAVAILABLE");
    second.end().exits(0);
    trial.assert_stopped(&trial.act(&mut first));
    first.end().exits(0);
    assert_eq!(trial.acted(), 0);
}

/// The tenant of the how-to page.
fn of_the_page() -> String {
    let page = include_str!("../../../../../docs/how-to/history.md");
    let (_, from) = page.split_once("```yaml\n").unwrap();
    from.split_once("```").unwrap().0.to_owned()
}

#[test]
fn a_log_tells_what_rules_would_have_stopped() {
    let trial = Trial::new(&PATTERNS[0], Claims::Honest);
    let project = &trial.project;
    let tenant = of_the_page();
    project.write("tenant.yaml", &*tenant);
    let mut served = trial.start();
    trial.read(&mut served);
    assert_done(&trial.act(&mut served)["result"]);
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
    let mut served = trial.start();
    trial.read(&mut served);
    assert_done(&trial.act(&mut served)["result"]);
    served.end().exits(0);
    assert!(!project.read("audit.jsonl").contains("\"history\""));
    project.write("tenant.yaml", TENANT);
    project
        .agent("replay audit.jsonl --tenant tenant.yaml")
        .exits(1);
}
