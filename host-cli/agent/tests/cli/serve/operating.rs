//! A gateway at work: approvals, its status and page, changed documents, and its end.

use super::client::{Served as Stdio, refusal};
use super::http::{Answer, Served, open, request};
use super::{OPTIONS, project_of, records};
use crate::project::Project;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// A project whose tool needs an approval for each call.
pub(super) fn project_with_approval() -> Project {
    project_with_approval_of("usual")
}

/// The same for a server in a mode.
pub(super) fn project_with_approval_of(mode: &str) -> Project {
    let project = project_of(mode, "");
    let mut index: Value = serde_json::from_str(&project.read("mcp.index.json")).unwrap();
    index[0]["capabilities"]["tools"]["add"]["x-summit-capabilities"] = json!([
        { "verb": "execute", "resource": "x-numbers", "constraints": ["human_in_the_loop"] }
    ]);
    project.write("mcp.index.json", index.to_string());
    project.write(
        "agents.md",
        "---\nname: accountant\nversion: 1.0.0\nrequires:\n  capabilities:\n    - verb: execute\n      \
         resource: x-numbers\n      constraints: [human_in_the_loop]\n---\n",
    );
    project.agent("resolve").exits(0);
    project
}

/// Waits until something is there.
#[track_caller]
pub(super) fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(25);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "nothing in time");
        thread::sleep(Duration::from_millis(50));
    }
}

fn status(project: &Project) -> Value {
    let shown = project.agent("status --format json");
    shown.json()["gateways"][0].clone()
}

/// The page of a gateway in the user's browser.
struct Browser {
    address: String,
    cookie: String,
}

impl Browser {
    fn open(project: &Project) -> Self {
        let folder = project.path("../state/agent/serve");
        let file = wait_for(|| {
            let mut files = fs::read_dir(&folder).ok()?.filter_map(Result::ok);
            files.find(|it| it.path().extension().is_some_and(|end| end == "page"))
        });
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let url = wait_for(|| {
            fs::read_to_string(file.path())
                .ok()
                .filter(|it| it.ends_with('\n'))
        });
        let rest = url.trim().strip_prefix("http://").unwrap();
        let (address, target) = rest.split_once('/').unwrap();
        let mut browser = Self {
            address: address.to_owned(),
            cookie: String::new(),
        };
        let wrong = browser.ask("GET", "/?token=0000", &[], "");
        assert_eq!(wrong.status, 401);
        assert_eq!(browser.ask("GET", "/", &[], "").status, 401);
        let opened = browser.ask("GET", &format!("/{target}"), &[], "");
        assert_eq!(opened.status, 303, "{opened:?}");
        let cookie = opened.header("set-cookie").unwrap();
        assert!(cookie.contains("HttpOnly; SameSite=Strict"), "{cookie}");
        cookie
            .split(';')
            .next()
            .unwrap()
            .clone_into(&mut browser.cookie);
        browser
    }

    fn ask(&self, method: &str, path: &str, more: &[(&str, &str)], body: &str) -> Answer {
        let mut headers = vec![("Cookie", &*self.cookie)];
        headers.extend(more);
        open(&self.address, (method, path), &headers, body).answer()
    }

    fn html(&self) -> String {
        let page = self.ask("GET", "/", &[], "");
        assert_eq!(page.status, 200);
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'"), "{policy}");
        page.body
    }

    fn answer(&self, html: &str, answer: &str) -> u16 {
        let value = |name: &str| {
            let rest = html
                .split_once(&format!("name=\"{name}\" value=\""))
                .unwrap()
                .1;
            rest.split('"').next().unwrap().to_owned()
        };
        let (form, approval) = (value("form"), value("approval"));
        let body = format!("form={form}&agent=0&approval={approval}&answer={answer}");
        let own = format!("http://{}", self.address);
        // Another page knows neither the form's secret nor has this origin.
        let forged = body.replace(&form, "0");
        assert_eq!(
            self.ask("POST", "/answer", &[("Origin", &own)], &forged)
                .status,
            403
        );
        let foreign = [("Origin", "http://evil.example")];
        assert_eq!(self.ask("POST", "/answer", &foreign, &body).status, 403);
        assert_eq!(self.ask("POST", "/answer", &[], &body).status, 403);
        self.ask("POST", "/answer", &[("Origin", &own)], &body)
            .status
    }
}

#[test]
fn a_call_waits_for_the_answer_of_a_human() {
    let project = project_with_approval();
    let served = Served::start(&project, &format!("--ui {OPTIONS}"));
    let browser = Browser::open(&project);
    let session = served.initialize("2025-11-25");
    let arguments = json!({ "a": 1, "b": 2 });
    thread::scope(|scope| {
        for (answer, a) in [("approve", 1), ("deny", 2)] {
            let (served, session) = (&served, &session);
            let call = scope.spawn(move || served.call(session, "add", json!({ "a": a, "b": 2 })));
            let html = wait_for(|| {
                let html = browser.html();
                html.contains("A call waits").then_some(html)
            });
            assert!(
                html.contains("calculator") && html.contains("exposed"),
                "{html}"
            );
            // The token of the client opens no page, and the page's none of the client's paths.
            let bearer = format!("Bearer {}", served.agents[0].1);
            let stranger = Browser {
                address: browser.address.clone(),
                cookie: format!("agent-page={}", served.agents[0].1),
            };
            let authorized = [("Authorization", &*bearer)];
            assert_eq!(stranger.ask("GET", "/", &authorized, "").status, 401);
            assert_eq!(browser.answer(&html, answer), 303);
            let result = call.join().unwrap();
            match answer {
                "approve" => {
                    assert_eq!(result["structuredContent"], json!({ "sum": 3 }), "{result}")
                }
                _ => assert_eq!(refusal(&result), "APPROVAL_DENIED", "{result}"),
            }
        }
    });
    // Without an answer the call is refused, and passes once when it is approved later.
    let refused = served.call(&session, "add", arguments.clone());
    assert_eq!(refusal(&refused), "APPROVAL_REQUIRED");
    assert_eq!(browser.answer(&browser.html(), "approve"), 303);
    let sum = served.call(&session, "add", arguments);
    assert_eq!(sum["structuredContent"], json!({ "sum": 3 }), "{sum}");
    assert!(!browser.html().contains("A call waits"));
    served.end().exits(0);
    let by: Vec<_> = records(&project)
        .iter()
        .filter(|it| it["kind"] == "approval")
        .map(|it| it["content"]["by"].clone())
        .collect();
    assert_eq!(by, ["page", "page", "page"]);
}

#[test]
fn a_client_without_a_session_repeats_a_call_that_was_approved() {
    let project = project_with_approval();
    let served = Served::start(&project, &format!("--ui --approvals retry {OPTIONS}"));
    let browser = Browser::open(&project);
    let params = json!({ "name": "add", "arguments": { "a": 1, "b": 2 } });
    let asked = thread::scope(|scope| {
        let call = scope.spawn(|| served.alone(1, "tools/call", params.clone()).answer());
        let html = wait_for(|| {
            let html = browser.html();
            html.contains("A call waits").then_some(html)
        });
        assert!(!call.is_finished());
        assert_eq!(browser.answer(&html, "approve"), 303);
        call.join().unwrap().json()["result"].clone()
    });
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let state = &asked["requestState"];
    let other = json!({ "name": "add", "arguments": { "a": 3, "b": 2 }, "requestState": state });
    let refused = served.alone(2, "tools/call", other).answer().json();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let mut again = params;
    again["requestState"] = state.clone();
    let sum = served.alone(3, "tools/call", again).answer().json();
    let sum = &sum["result"]["structuredContent"];
    assert_eq!(sum, &json!({ "sum": 3 }));
    served.end().exits(0);
}

#[test]
fn status_shows_servers_tools_and_what_is_withheld() {
    let project = project_of("drifted", "      only: [add, slow]\n");
    project.agent("status").exits(1).answers("no gateway runs");
    let operator = project.read("servers.local.yaml");
    project.write(
        "servers.local.yaml",
        format!("{operator}    sandbox: none\n"),
    );
    let mut served = Stdio::start(&project, &format!("{OPTIONS} --observe"));
    served.initialize("2025-11-25");
    served.wait_for(|it| it["method"] == "notifications/tools/list_changed");
    let shown = project.agent("status").exits(0);
    let shown = shown
        .answers("accountant 1.0.0 at standard input and output")
        .answers("observes")
        .answers("server calculator 1.0.0: ")
        .answers("exception: runs without a sandbox")
        .answers("tool add: quarantined: DEFINITION_CHANGED")
        .answers("tool slow: exposed")
        .answers("tool secret: withheld: not in the lock");
    assert!(
        shown
            .stdout
            .contains("roots, sampling, subscriptions to resources"),
        "{shown:?}"
    );
    let status = status(&project);
    assert_eq!(status["pid"], served.pid());
    assert_eq!(status["agents"][0]["session"]["observe"], true);
    let socket = project.path(format!("../state/agent/serve/{}.sock", served.pid()));
    let mode = fs::metadata(&socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    served.end().exits(0);
    assert!(!socket.exists());
    project.agent("status").exits(1);
}

fn names(served: &Served<'_>, session: &str) -> Vec<String> {
    let list = request(2, "tools/list", json!({}));
    let list = served.post(&[("Mcp-Session-Id", session)], &list).json();
    let tools = list["result"]["tools"].as_array().unwrap().iter();
    tools
        .map(|it| it["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn changed_documents_are_loaded_and_broken_ones_refused() {
    let project = project_of("usual", "");
    let served = Served::start(&project, OPTIONS);
    let session = served.initialize("2025-11-25");
    let sum = served.call(&session, "add", json!({ "a": 1, "b": 2 }));
    assert_eq!(sum["structuredContent"], json!({ "sum": 3 }), "{sum}");
    thread::scope(|scope| {
        // An open call keeps the lock under which it was decided.
        let open = scope.spawn(|| served.call(&session, "slow", json!({ "seconds": 4 })));
        thread::sleep(Duration::from_millis(300));
        let manifest = project.read("agents.md");
        let only = manifest.replace("permissions: []\n", "permissions: []\n      only: [add]\n");
        project.write("agents.md", only);
        project.agent("resolve").exits(0);
        wait_for(|| (names(&served, &session) == ["add"]).then_some(()));
        let result = open.join().unwrap();
        assert_eq!(result["content"][0]["text"], "woke up", "{result}");
    });
    let refused = served.call(&session, "slow", json!({ "seconds": 0 }));
    assert_eq!(refusal(&refused), "TOOL_NOT_LOCKED");
    let sum = wait_for(|| {
        let sum = served.call(&session, "add", json!({ "a": 2, "b": 2 }));
        sum.get("isError").is_none().then_some(sum)
    });
    assert_eq!(sum["structuredContent"], json!({ "sum": 4 }), "{sum}");
    // A broken lock changes nothing, also on a signal.
    project.write("agents.lock", "{}");
    thread::sleep(Duration::from_millis(2500));
    served.signal(libc::SIGHUP);
    thread::sleep(Duration::from_millis(500));
    assert_eq!(names(&served, &session), ["add"]);
    let ended = served.end().exits(0).notes("reloaded");
    let refusals = ended
        .stderr
        .matches("the changed documents are refused")
        .count();
    assert_eq!(refusals, 2, "{}", ended.stderr);
    let kinds: Vec<_> = records(&project)
        .iter()
        .map(|it| it["kind"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        kinds.iter().filter(|it| *it == "reloaded").count(),
        1,
        "{kinds:?}"
    );
}

#[test]
fn the_log_goes_on_in_another_file() {
    let project = project_of("usual", "");
    let served = Served::start(&project, &format!("{OPTIONS} --audit-size 4096"));
    let session = served.initialize("2025-11-25");
    for number in 0..20 {
        served.call(&session, "add", json!({ "a": number, "b": 2 }));
    }
    served.end().exits(0);
    let mut parts: Vec<(u64, String)> = project
        .files()
        .into_iter()
        .filter_map(|name| {
            let number = name.strip_prefix("audit.")?.strip_suffix(".jsonl")?;
            Some((number.parse().ok()?, name))
        })
        .collect();
    parts.sort();
    assert!(parts.len() > 3, "{parts:?}");
    let mut whole = String::new();
    for (first, name) in &parts {
        let part = project.read(name);
        assert!(part.len() <= 4096);
        let record: Value = serde_json::from_str(part.lines().next().unwrap()).unwrap();
        assert_eq!(record["sequence"], *first);
        whole.push_str(&part);
    }
    let whole = whole + &project.read("audit.jsonl");
    // Checks the chain of all parts.
    project.write("audit.jsonl", whole);
    assert!(records(&project).len() > 40);
}

#[test]
fn a_killed_gateway_leaves_no_child() {
    let project = project_of("usual", "");
    let served = Served::start(&project, OPTIONS);
    let session = served.initialize("2025-11-25");
    served.call(&session, "add", json!({ "a": 1, "b": 2 }));
    let script = project.path("server.py").display().to_string();
    let running = || {
        let found = Command::new("pgrep")
            .args(["-f", &script])
            .output()
            .unwrap();
        !found.stdout.is_empty()
    };
    assert!(running());
    served.signal(libc::SIGKILL);
    let mut child = served.child;
    child.wait().unwrap();
    wait_for(|| (!running()).then_some(()));
    // The first program that finds its socket removes it.
    project.agent("status").exits(1);
    let left = fs::read_dir(project.path("../state/agent/serve")).unwrap();
    let left: Vec<_> = left.map(|it| it.unwrap().path()).collect();
    assert!(
        left.iter()
            .all(|it| it.extension().is_some_and(|end| end == "token")),
        "{left:?}"
    );
}

/// The last line of a server is a text of a peer: it passes the redaction before anybody sees it.
#[test]
fn a_server_that_ends_shows_no_secret() {
    let project = project_of("usual", "");
    let operator = project.read("servers.local.yaml");
    let token = "a-token-of-the-operator";
    project.write("token", token);
    let file = project.path("token");
    let more = format!(
        "    env: {{TOKEN: {{secret: T}}}}\nsecrets:\n  T: {{file: {}}}\n",
        file.display()
    );
    project.write("servers.local.yaml", operator + &more);
    for name in ["servers.local.yaml", "token"] {
        fs::set_permissions(project.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let mut served = Stdio::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    refusal(&served.call("exit", json!({})));
    // The gateway says how the server ended when it is connected again.
    wait_for(|| {
        let ready = served.call("add", json!({ "a": 1, "b": 2 }));
        ready["structuredContent"].is_object().then_some(())
    });
    let ended = served.end().exits(0);
    assert!(ended.stderr.contains("ended with"), "{ended:#?}");
    assert!(!ended.stderr.contains(token), "{ended:#?}");
}

#[test]
fn a_server_that_cannot_start_says_why_to_its_clients_and_in_the_status() {
    let project = project_of("usual", "");
    let operator = project.read("servers.local.yaml");
    project.write(
        "servers.local.yaml",
        operator.replace("/usr/bin/python3", "/usr/bin/no-such-python"),
    );
    let mut served = Stdio::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    let refused = served.call("add", json!({ "a": 1, "b": 2 }));
    assert_eq!(refusal(&refused), "HEALTH_VETO");
    let why = refused["content"][0]["text"].as_str().unwrap();
    assert!(why.contains("no-such-python"), "{why}");
    assert!(!why.contains("Wait until"), "{why}");
    let shown = project.agent("status").exits(0);
    let shown = shown.answers("server calculator 1.0.0: UNHEALTHY");
    shown.answers("not reached: ").answers("no-such-python");
    // It is tried again after a second.
    thread::sleep(Duration::from_secs(3));
    let ended = served.end().exits(0);
    assert_eq!(
        ended.stderr.matches("no-such-python").count(),
        1,
        "{ended:#?}"
    );
}

#[test]
fn the_first_list_does_not_show_what_has_drifted() {
    let project = project_of("drifted", "      only: [add, slow]\n");
    let mut served = Stdio::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    let list = served.ask("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().unwrap().iter();
    let names: Vec<_> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["slow"]);
    served.end().exits(0);
}

#[test]
fn a_locked_tool_that_nobody_can_call_is_named_once() {
    let project = project_of("usual", "");
    let mut index: Value = serde_json::from_str(&project.read("mcp.index.json")).unwrap();
    let slow = &mut index[0]["capabilities"]["tools"]["slow"];
    slow["inputSchema"]["properties"]["seconds"]["pattern"] = json!("a(?!0)");
    project.write("mcp.index.json", index.to_string());
    project
        .agent("resolve")
        .exits(0)
        .notes("nobody can call `slow` of `calculator`");
    let mut served = Stdio::start(&project, OPTIONS);
    served.initialize("2025-11-25");
    served.ask("tools/list", json!({}));
    let ended = served.end().exits(0);
    let noted = ended.stderr.matches("no client gets the tool `slow`");
    assert_eq!(noted.count(), 1, "{ended:#?}");
}

#[test]
fn tools_that_a_client_refuses_are_named_once() {
    let project = project_of("usual", "");
    let mut index: Value = serde_json::from_str(&project.read("mcp.index.json")).unwrap();
    index[0]["capabilities"]["tools"]["slow"]["inputSchema"]["oneOf"] = json!([{}]);
    project.write("mcp.index.json", index.to_string());
    project.agent("resolve").exits(0);
    for (client, count) in [("anthropic", 1), ("cursor", 0)] {
        let mut served = Stdio::start(&project, &format!("{OPTIONS} --for {client}"));
        served.initialize("2025-11-25");
        served.ask("tools/list", json!({}));
        served.ask("tools/list", json!({}));
        let ended = served.end().exits(0);
        let noted = ended.stderr.matches("warning[CLIENT_LIMIT]");
        assert_eq!(noted.count(), count, "{client}: {ended:#?}");
    }
    let line = format!("serve {OPTIONS} --for nobody");
    project.agent(&line).exits(2).notes("name one of anthropic");
}

#[test]
fn patterns_are_ignored_if_the_operator_agrees() {
    let project = project_of("usual", "");
    let mut index: Value = serde_json::from_str(&project.read("mcp.index.json")).unwrap();
    let slow = &mut index[0]["capabilities"]["tools"]["slow"];
    slow["inputSchema"]["properties"]["seconds"]["pattern"] = json!("a(?!0)");
    slow["patterns"] = json!("ignore");
    project.write("mcp.index.json", index.to_string());
    project
        .agent("verify")
        .exits(1)
        .answers("unusable patterns of `slow` are newly ignored");
    let resolved = project.agent("resolve").exits(0);
    assert!(
        !resolved.stderr.contains("nobody can call"),
        "{resolved:#?}"
    );
    let noted = || {
        let mut served = Stdio::start(&project, OPTIONS);
        served.initialize("2025-11-25");
        served.ask("tools/list", json!({}));
        served.end().exits(0).stderr
    };
    let wanted = "the operator has not agreed";
    let before = noted();
    assert!(before.contains(wanted), "{before}");
    let operator = project.read("servers.local.yaml");
    let more = "    tools: { slow: { patterns: ignore } }\n";
    project.write("servers.local.yaml", operator + more);
    // The live definition still has no pattern, which is a drift.
    let after = noted();
    assert!(!after.contains(wanted), "{after}");
}

#[test]
fn a_secret_among_arguments_is_warned_of() {
    let project = project_of("usual", "");
    let operator = project.read("servers.local.yaml");
    let more = "    arguments: [{ secret: T }]\nsecrets:\n  T: { env: THE_TOKEN }\n";
    project.write("servers.local.yaml", operator + more);
    // The secret can't be had, which ends the command behind the warning.
    let run = project.agent(&format!("serve {OPTIONS}"));
    run.notes("the secret `T` is an argument of `calculator`")
        .notes("`env`");
}
