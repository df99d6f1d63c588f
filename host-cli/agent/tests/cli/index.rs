//! `index add` and `index refresh`: live servers in the sandbox and on loopback, and the index.

use crate::project::{Project, Run};
use crate::run_plan::operator;
use crate::run_plan::server::{Response, Server, mcp};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SERVER: &str = include_str!("index/server.py");

/// A folder with the server, and no index.
fn project() -> Project {
    let project = Project::empty();
    project.write("server.py", SERVER);
    project
}

/// Captures the server in a mode, as `sums`.
fn add(project: &Project, mode: &str, options: &str) -> Run {
    let script = project.path("server.py");
    let script = script.display();
    project.agent(&format!(
        "index add sums --read {script} {options} -- /usr/bin/python3 {script} {mode}"
    ))
}

/// Compares the index with the server in a mode, which the operator's configuration starts.
fn refresh(project: &Project, mode: &str, options: &str) -> Run {
    let script = project.path("server.py");
    let script = script.display();
    let entry = format!(
        "servers:\n  sums:\n    command: [/usr/bin/python3, {script}, {mode}]\n    read: [{script}]\n"
    );
    operator(project, &entry);
    project.agent(&format!(
        "index refresh --servers operator/servers.local.yaml {options}"
    ))
}

fn index(project: &Project) -> Value {
    serde_json::from_str(&project.read("mcp.index.json")).unwrap()
}

#[test]
fn a_started_server_becomes_an_entry_that_promises_nothing() {
    let project = project();
    let run = add(&project, "usual", "");
    let run = run.exits(0).answers_nothing().notes("in the sandbox");
    // The command is shown before it runs, and the operator gets the entry that `serve` needs.
    let run = run.notes("\"/usr/bin/python3\"").notes("added sums@1.0.0");
    run.notes("`agent serve` needs this entry")
        .notes("    read: [");
    let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"] });
    let tool =
        json!({ "description": "Adds numbers.", "inputSchema": schema, "title": "Of the server" });
    assert_eq!(
        index(&project),
        json!({ "servers": [{
            "id": "sums", "version": "1.0.0", "endpoint": "pkg:generic/sums@1.0.0",
            "categories": ["sums"], "scopes": [],
            "data": { "residency": [], "maxSensitivity": "public" },
            "trust": { "signed": false, "publisher": "unknown" },
            "capabilities": { "tools": { "add": tool, "subtract": tool } },
            "x-unrated": ["data"]
        }] })
    );
}

#[test]
fn a_server_of_the_latest_generation_is_captured_too() {
    let project = project();
    add(&project, "stateless", "").exits(0);
    let entry = &index(&project)["servers"][0];
    assert_eq!(entry["version"], "1.0.0", "{entry}");
    assert_eq!(entry["capabilities"]["tools"].as_object().unwrap().len(), 2);
}

#[test]
fn the_options_say_what_a_server_cannot() {
    let project = project();
    let options = "--category math --category sums --scope read:sums --residency eu-only \
        --max-sensitivity internal --signed --publisher Acme --server-version 7 \
        --capability add=read:x-sums+readonly";
    add(&project, "usual", options).exits(0);
    let entry = &index(&project)["servers"][0];
    assert_eq!(entry["version"], "7");
    assert_eq!(entry["endpoint"], "pkg:generic/sums@7");
    assert_eq!(entry["categories"], json!(["math", "sums"]));
    assert_eq!(entry["scopes"], json!(["read:sums"]));
    assert_eq!(
        entry["data"],
        json!({ "residency": ["eu-only"], "maxSensitivity": "internal" })
    );
    assert_eq!(
        entry["trust"],
        json!({ "signed": true, "publisher": "Acme" })
    );
    assert_eq!(
        entry["capabilities"]["tools"]["add"]["x-summit-capabilities"],
        json!([{ "verb": "read", "resource": "x-sums", "constraints": ["readonly"] }])
    );
    // What the options say wrong is refused by the same rules as an overlay.
    let project = self::project();
    for (option, code) in [
        ("--residency mars", "UNKNOWN_VALUE"),
        ("--capability add=eat:x-sums", "UNKNOWN_VALUE"),
    ] {
        add(&project, "usual", option).exits(1).notes(code);
        assert!(!project.has("mcp.index.json"), "{option}");
    }
    add(&project, "usual", "--capability add")
        .exits(2)
        .notes("TOOL=VERB:RESOURCE");
}

#[test]
fn claims_are_taken_as_the_importer_takes_them() {
    let project = project();
    add(&project, "claims", "")
        .exits(0)
        .notes("claimed sums@1.0.0/add: read:x-sums");
    let project = self::project();
    add(&project, "contradiction", "")
        .exits(1)
        .notes("IMPORT_VALUE");
    assert!(!project.has("mcp.index.json"));
}

#[test]
fn a_dry_run_prints_the_entry_and_writes_nothing() {
    let project = project();
    let run = add(&project, "usual", "--dry-run").exits(0);
    assert_eq!(run.json()["id"], "sums");
    run.notes("would write mcp.index.json");
    assert!(!project.has("mcp.index.json"));
}

#[test]
fn a_server_of_the_index_is_refused() {
    let project = project();
    add(&project, "usual", "").exits(0);
    let before = project.read("mcp.index.json");
    add(&project, "claims", "")
        .exits(1)
        .notes("DUPLICATE_SERVER")
        .notes("agent index refresh sums");
    assert_eq!(project.read("mcp.index.json"), before);
    // Another version is another entry.
    add(&project, "claims", "--server-version 2").exits(0);
    assert_eq!(index(&project)["servers"].as_array().unwrap().len(), 2);
}

#[test]
fn a_hostile_server_ends_at_a_limit_and_nothing_is_written() {
    let project = project();
    for (mode, options, says) in [
        ("endless", "", "100 pages"),
        ("flood", "", "4096 tools"),
        ("huge", "", "bytes"),
        ("no-tools", "", "SERVER_FAILED"),
        ("dies", "", "no reports today"),
    ] {
        let run = add(&project, mode, options).exits(1).answers_nothing();
        run.notes(says);
        assert!(!project.has("mcp.index.json"), "{mode}");
    }
    let began = Instant::now();
    add(&project, "silent", "--timeout 2")
        .exits(1)
        .notes("SERVER_FAILED");
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(project.files(), ["server.py"]);
}

#[test]
fn a_tool_that_a_server_has_twice_costs_only_itself() {
    let project = project();
    add(&project, "twice", "")
        .exits(0)
        .notes("IMPORT_VALUE")
        .notes("the tool `add` of `sums` is left out: several tools have this name");
    let tools = &index(&project)["servers"][0]["capabilities"]["tools"];
    assert_eq!(tools.get("add"), None, "{tools}");
}

#[test]
fn a_secret_that_a_server_repeats_reaches_no_index() {
    let project = project();
    let script = project.path("server.py");
    let script = script.display();
    let entry = format!(
        "servers:\n  sums:\n    command: [/usr/bin/python3, {script}, secret]\n    read: [{script}]\n    \
         env: {{ TOKEN: {{ secret: TOKEN }} }}\nsecrets:\n  TOKEN: {{ command: [/bin/echo, a long secret] }}\n"
    );
    operator(&project, &entry);
    project
        .agent("index add sums --servers operator/servers.local.yaml")
        .exits(1)
        .notes("contains the secret `TOKEN`")
        .notes_not("a long secret");
    assert!(!project.has("mcp.index.json"));
}

#[test]
fn a_server_over_http_is_captured_at_its_url() {
    let project = project();
    let server = Server::start(|request| mcp(request, "Searches."));
    let url = format!("{}/mcp", server.origin());
    project
        .agent(&format!("index add found {url}"))
        .exits(0)
        .notes("added found@1.0.0");
    let entry = &index(&project)["servers"][0];
    assert_eq!(entry["endpoint"], url);
    assert_eq!(
        entry["capabilities"]["tools"]["search"]["description"],
        "Searches."
    );
    project
        .agent("index refresh")
        .exits(0)
        .answers_nothing()
        .notes("up to date");
}

#[test]
fn no_connection_leaves_the_way_out() {
    let project = project();
    let inner = Server::start(|request| mcp(request, "Of the inside."));
    let target: &'static str = Box::leak(inner.origin().into_boxed_str());
    let redirects = Server::start(move |_| -> Response {
        let status = format!("307 Temporary Redirect\r\nlocation: {target}/mcp");
        (
            Box::leak(status.into_boxed_str()),
            "text/plain",
            String::new(),
        )
    });
    for (url, says) in [
        (redirects.origin(), "307"),
        // A name with an address that is not public.
        (
            inner.origin().replace("127.0.0.1", "localhost"),
            "not a public address",
        ),
        ("ftp://acme.example/".to_owned(), "scheme"),
        ("http://user:canary@127.0.0.1/".to_owned(), "not accepted"),
    ] {
        let run = project.agent(&format!("index add found {url}"));
        let run = run.exits(1).notes("SERVER_FAILED").notes(says);
        run.notes("wrote nothing to mcp.index.json");
        assert!(!project.has("mcp.index.json"), "{url}");
    }
    assert_eq!(inner.requests().len(), 0);
}

#[test]
fn a_changed_server_is_compared_with_its_entry() {
    let project = project();
    add(&project, "usual", "--category math --residency eu-only").exits(0);
    refresh(&project, "usual", "").exits(0).answers_nothing();
    let before = project.read("mcp.index.json");
    let run = refresh(&project, "changed", "").exits(1);
    let run = run.answers("DEFINITION_CHANGED sums@1.0.0/add");
    let run = run.answers("`/inputSchema/required` is missing");
    let run = run.answers("(gives the agent more access)");
    let run = run.answers("TOOLS_WIDENED sums@1.0.0/new");
    let run = run.answers("TOOL_MISSING sums@1.0.0/subtract");
    run.answers("VERSION_CHANGED sums@1.0.0: the version was `1.0.0` and is `2.0.0`");
    let found = refresh(&project, "changed", "--format json")
        .exits(1)
        .json();
    assert_eq!(found["fresh"], false);
    let found = found["differences"].as_array().unwrap();
    let codes: Vec<_> = found
        .iter()
        .map(|it| (it["code"].as_str().unwrap(), it["widening"] == true))
        .collect();
    assert_eq!(
        codes,
        [
            ("VERSION_CHANGED", false),
            ("DEFINITION_CHANGED", true),
            ("TOOLS_WIDENED", true),
            ("TOOL_MISSING", false),
        ]
    );
    let sarif = refresh(&project, "changed", "--format sarif").exits(1);
    assert_eq!(
        sarif.json()["runs"][0]["results"].as_array().unwrap().len(),
        4
    );
    refresh(&project, "changed", "--format github")
        .exits(1)
        .answers("DEFINITION_CHANGED");
    assert_eq!(project.read("mcp.index.json"), before);

    refresh(&project, "changed", "--write")
        .exits(0)
        .answers("DEFINITION_CHANGED")
        .notes("wrote mcp.index.json");
    let entry = &index(&project)["servers"][0];
    assert_eq!(entry["version"], "2.0.0");
    assert_eq!(entry["endpoint"], "pkg:generic/sums@2.0.0");
    // How the operator rates the server stays.
    assert_eq!(entry["categories"], json!(["math"]));
    assert_eq!(entry["data"]["residency"], json!(["eu-only"]));
    let tools = entry["capabilities"]["tools"].as_object().unwrap();
    assert_eq!(tools.keys().collect::<Vec<_>>(), ["add", "new"]);
    refresh(&project, "changed", "").exits(0).answers_nothing();
}

#[test]
fn a_server_that_cannot_be_reached_is_named() {
    let project = project();
    add(&project, "usual", "").exits(0);
    let found = refresh(&project, "dies", "--format json").exits(1).json();
    assert_eq!(found["differences"][0]["code"], "SERVER_FAILED");
    assert_eq!(found["differences"][0]["server"], "sums@1.0.0");
    refresh(&project, "usual", "nobody")
        .exits(2)
        .notes("no server `nobody`");
}

#[test]
fn hidden_text_costs_its_tool_and_not_its_server() {
    let project = project();
    add(&project, "invisible", "")
        .exits(0)
        .notes("INVISIBLE_CHARACTER")
        .notes_not("\u{200b}");
    let manifest = "---\nname: a\nversion: 1.0.0\nrequires:\n  mcp:\n    - { category: sums, permissions: [] }\n---\n";
    project.write("agents.md", manifest);
    project.agent("resolve").exits(0).notes("U+200B");
    let tools = project.agent("tools --format json").exits(0).json()["tools"].take();
    let names: Vec<_> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["add"]);
}

#[test]
fn a_package_is_started_as_it_is_installed() {
    let project = project();
    // Nothing is downloaded: the package has to be installed in a separate step.
    project
        .agent("index add reports -- npx -y @acme/reports@1.2.0 --root /srv")
        .exits(1)
        .notes("starting pkg:npm/%40acme/reports@1.2.0 \"--root\" \"/srv\" in the sandbox")
        .notes("agent install pkg:npm/%40acme/reports@1.2.0");
    project
        .agent("index add reports")
        .exits(2)
        .notes("neither a URL nor a command");
}
