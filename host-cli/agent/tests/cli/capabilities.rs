//! Tasks, tenants, policies and health: `match`, `tools`, `expand`, `policy check`, `index import`.

use crate::project::Project;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const INDEX: &str = r#"[
  {
    "id": "brave", "version": "1.0.0", "endpoint": "https://brave.example", "class": "paid",
    "categories": ["audiences"], "scopes": ["read:audiences"],
    "data": { "residency": "us-only", "maxSensitivity": "internal" },
    "trust": { "signed": true, "publisher": "Brave" },
    "capabilities": { "tools": {
      "search_web": {
        "description": "Search the web.", "inputSchema": { "type": "object" },
        "x-summit-capabilities": [{ "verb": "search", "resource": "internet" }]
      },
      "read_page": {
        "description": "Read a page.", "inputSchema": { "type": "object" },
        "x-summit-capabilities": [{ "verb": "read", "resource": "internet" }]
      }
    } }
  },
  {
    "id": "local", "version": "1.0.0", "endpoint": "https://local.example", "class": "local",
    "categories": [], "scopes": [],
    "data": { "residency": "any", "maxSensitivity": "internal" },
    "trust": { "signed": true, "publisher": "Us" },
    "capabilities": { "tools": {
      "find": { "x-summit-capabilities": [{ "verb": "search", "resource": "internet" }] }
    } }
  }
]
"#;

const TASK: &str = "\
task_id: find-out
required_capabilities:
  - { verb: search, resource: internet }
  - { verb: read, resource: internet, load: on_demand }
";

const TENANT: &str = "\
version: v0.1
tenants:
  - id: acme
    tier: gold
    policy: rules/policy.rego
    token_budget: 1000
    priorities:
      classes: { local: 30 }
";

const POLICY: &str = "\
package switchboard

allowed_tools contains tool.id if {
\tsome tool in input.candidate_tools
\ttool.publisher != \"Us\"
}

deny_reasons[tool.id] := \"not from us\" if {
\tsome tool in input.candidate_tools
\ttool.publisher == \"Us\"
}
";

/// A project whose index has tools, with a task.
fn project() -> Project {
    let project = Project::new();
    project.write("mcp.index.json", INDEX);
    project.write("task.yaml", TASK);
    project
}

/// Like [`project`], with a tenant and its policy.
fn governed() -> Project {
    let project = project();
    project.write("tenant.yaml", TENANT);
    std::fs::create_dir(project.path("rules")).unwrap();
    project.write("rules/policy.rego", POLICY);
    project
}

#[test]
fn a_task_is_matched_without_a_manifest() {
    let project = project();
    project
        .agent("match --task task.yaml")
        .exits(0)
        .notes_nothing()
        .answers("search:internet")
        .answers("search_web");
    let run = project
        .agent("match --task task.yaml --format json")
        .exits(0);
    let json = run.json();
    assert_eq!(json["task"]["id"], "find-out");
    assert_eq!(json["requirements"][0]["selected"]["id"], "brave");
    assert_eq!(json["requirements"][0]["eligible"][0]["lostOn"], "id");
    // It writes nothing.
    assert!(!project.has("agents.lock"));
}

#[test]
fn a_requirement_without_a_tool_is_a_no() {
    let project = project();
    project.write(
        "task.json",
        r#"{"task_id": "t", "required_capabilities": [{"verb": "write", "resource": "fs"}]}"#,
    );
    project
        .agent("match --task task.json")
        .exits(1)
        .notes("UNSATISFIED");
    let run = project
        .agent("match --task task.json --format sarif")
        .exits(1);
    assert_eq!(run.json()["runs"][0]["results"][0]["ruleId"], "UNSATISFIED");
}

#[test]
fn a_json_file_is_strict_json() {
    let project = project();
    project.write("task.json", TASK);
    project
        .agent("match --task task.json")
        .exits(1)
        .notes("JSON_SYNTAX")
        .notes("task.json:1:1");
    project
        .agent_reading("match --task -", TASK)
        .exits(0)
        .notes_nothing();
}

#[test]
fn a_task_may_not_require_what_the_manifest_forbids() {
    let project = project();
    let manifest = crate::project::MANIFEST.replace(
        "constraints:\n",
        "constraints:\n  actions:\n    forbid: [search]\n",
    );
    project.write("agents.md", manifest);
    for command in ["resolve", "match agents.md"] {
        project
            .agent(&format!("{command} --task task.yaml"))
            .exits(1)
            .notes("FORBIDDEN_ACTION")
            .notes("task.yaml:3:")
            .notes("agents.md:");
    }
    assert!(!project.has("agents.lock"));
}

#[test]
fn the_tenants_policy_is_beside_the_tenant() {
    let project = governed();
    let run = project
        .agent("match --task task.yaml --tenant tenant.yaml --format json")
        .exits(0);
    let rejected = &run.json()["requirements"][0]["rejected"];
    assert_eq!(
        rejected[1]["reasons"][0]["code"], "POLICY_DENIED",
        "{rejected:#}"
    );
    assert_eq!(rejected[1]["reasons"][0]["reason"], "not from us");

    // `--policy` replaces it.
    project.write("open.rego", "package switchboard\n\nallowed_tools contains tool.id if some tool in input.candidate_tools\n");
    let run = project
        .agent("match --task task.yaml --tenant tenant.yaml --policy open.rego --format json")
        .exits(0);
    assert_eq!(run.json()["requirements"][0]["selected"]["id"], "local");

    // An unreadable policy is not the same as none.
    std::fs::remove_file(project.path("rules/policy.rego")).unwrap();
    project
        .agent("match --task task.yaml --tenant tenant.yaml")
        .exits(2)
        .answers_nothing()
        .notes("policy.rego");
}

#[test]
fn a_policy_that_does_not_compile_changes_nothing() {
    let project = project();
    project.agent("resolve --task task.yaml --explain").exits(0);
    let before = project.read("agents.lock");
    project.write("broken.rego", "package switchboard\n\nallowed_tools := {");
    project
        .agent("resolve --task task.yaml --explain --policy broken.rego")
        .exits(1)
        .notes("POLICY_SYNTAX")
        .notes("broken.rego:3:");
    assert_eq!(project.read("agents.lock"), before);
}

#[test]
fn a_policy_that_fails_denies_everything() {
    let project = project();
    project.write(
        "p.rego",
        "package switchboard\n\nallowed_tools := [\"brave@1.0.0/search_web\"]\n",
    );
    project
        .agent("match --task task.yaml --policy p.rego")
        .exits(1)
        .answers("POLICY_ERROR")
        .notes("is not a set");
    project.write(
        "p.rego",
        "package switchboard\n\nallowed_tools contains x if x := time.now_ns()\n",
    );
    project
        .agent("match --task task.yaml --policy p.rego")
        .exits(1)
        .notes("time.now_ns");
}

#[test]
fn health_is_checked_last() {
    let project = project();
    project.write("health.yaml", "brave: UNHEALTHY\nlocal: PROBATION\n");
    project
        .agent("match --task task.yaml --health health.yaml")
        .exits(1)
        .answers("local 1.0.0 find")
        .answers("HEALTH_VETO");
    project.write("health.yaml", "brave: FINE\n");
    project
        .agent("match --task task.yaml --health health.yaml")
        .exits(1)
        .notes("UNKNOWN_VALUE")
        .notes("health.yaml:1:8");
}

#[test]
fn of_several_tenants_one_is_named() {
    let project = project();
    project.write("tenants.yaml", "tenants:\n  - id: a\n  - id: b\n");
    let line = "match --task task.yaml --tenant tenants.yaml";
    project.agent(line).exits(1).notes("TENANT_UNKNOWN");
    project.agent(&format!("{line} --tenant-id b")).exits(0);
    project
        .agent(&format!("{line} --tenant-id bb"))
        .exits(1)
        .notes("did you mean `b`?");
    project
        .agent("match --task task.yaml --tenant-id b")
        .exits(2);
}

#[test]
fn exposed_tools_have_the_form_of_mcp() {
    let project = project();
    project.agent("resolve --task task.yaml").exits(0);
    let tools = project.agent("tools --format json").exits(0).json();
    let names: Vec<_> = tools["tools"]
        .as_array()
        .expect("a list of tools")
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["brave_helper", "search_web"]);
    project.agent("tools").exits(0).answers("by an estimate");
    project.agent("expand brave").exits(0).answers("read_page");
}

#[test]
fn an_expansion_needs_a_budget() {
    let project = project();
    project.agent("resolve --task task.yaml").exits(0);
    let run = project
        .agent("expand brave read_page --format json")
        .exits(1);
    assert_eq!(run.json()["code"], "TOKEN_BUDGET_EXCEEDED");
    project
        .agent("expand brave read_page --used 10 --budget 1000")
        .exits(0)
        .answers("read_page");
    project
        .agent("expand brave search_web --budget 1000")
        .exits(1)
        .notes("EXPANSION_DENIED");

    project.write(
        "closed.rego",
        "package switchboard\n\nallowed_tools := set()\n",
    );
    let run = project
        .agent("expand brave read_page --budget 1000 --policy closed.rego --format json")
        .exits(1);
    assert_eq!(run.json()["code"], "EXPANSION_DENIED");
}

#[test]
fn a_changed_definition_is_reported_in_detail() {
    let project = project();
    project.agent("resolve --task task.yaml").exits(0);
    project.write("before.json", INDEX);
    project.write(
        "mcp.index.json",
        INDEX.replace("Search the web.", "Search."),
    );
    project
        .agent("verify")
        .exits(1)
        .answers("DEFINITION_CHANGED");
    for command in [
        "verify",
        "diff --task task.yaml",
        "resolve --locked --task task.yaml",
    ] {
        project
            .agent(&format!("{command} --old-index before.json"))
            .exits(1)
            .answers("`/description` was `\"Search the web.\"` and is `\"Search.\"`");
    }
}

#[test]
fn a_policy_is_checked_with_its_tests() {
    let project = governed();
    let check = "policy check rules/policy.rego";
    project.agent(check).exits(0).notes("no tests");
    let test = "package switchboard_test\n\nimport data.switchboard\n\n\
                test_us if not \"x\" in switchboard.allowed_tools with input as {\"candidate_tools\": []}\n\n\
                test_wrong if 1 == 2\n";
    project.write("rules/policy_test.rego", test);
    project
        .agent(check)
        .exits(1)
        .notes("POLICY_TEST_FAILED")
        .notes("1 passed, 1 failed, 0 skipped; 4 lines held in no test");
    project
        .agent(&format!("{check} --verbose"))
        .exits(1)
        .notes("lines 4 to 5 of the rule `allowed_tools` held in no test");
    let run = project.agent(&format!("{check} --format json")).exits(1);
    assert_eq!(run.json()["diagnostics"][0]["code"], "POLICY_TEST_FAILED");

    // No publisher of the index has this name.
    project.write("rules/policy.rego", POLICY.replace("\"Us\"", "\"Ussr\""));
    project
        .agent(&format!("{check} --test rules/none.rego"))
        .exits(2);
    project.write("rules/policy_test.rego", "package switchboard_test\n");
    project.agent(check).exits(0).notes("POLICY_DEAD_RULE");
}

#[test]
fn two_policies_are_compared_over_the_index() {
    let project = governed();
    project.write("rules/newer.rego", POLICY.replace("\"Us\"", "\"Ussr\""));
    let diff = "policy diff rules/policy.rego rules/newer.rego";
    project
        .agent(diff)
        .exits(1)
        .answers("newly allowed (was denied: not from us): in every phase")
        .notes("asked both policies 8 questions");
    let json = project
        .agent(&format!("{diff} --format json"))
        .exits(1)
        .json();
    let first = &json["drifts"][0];
    assert_eq!(
        (&first["code"], &first["widening"]),
        (&json!("POLICY_WIDENED"), &json!(true))
    );
    project.agent(&format!("{diff} --deny-widening")).exits(1);
    project
        .agent(&format!("{diff} --format markdown"))
        .exits(1)
        .answers("newly allowed");
    project
        .agent(&format!("{diff} --format sarif"))
        .exits(1)
        .answers("POLICY_WIDENED");
    // The other way round, the agent loses access.
    let back = "policy diff rules/newer.rego rules/policy.rego";
    project
        .agent(back)
        .exits(1)
        .answers("newly denied (not from us)");
    project.agent(&format!("{back} --deny-widening")).exits(0);
    let same = "policy diff rules/policy.rego rules/policy.rego";
    project.agent(same).exits(0).notes("no differences");

    project.write(
        "rules/broken.rego",
        "package switchboard\nallowed_tools contains",
    );
    project
        .agent("policy diff rules/broken.rego rules/newer.rego")
        .exits(1)
        .notes("rules/broken.rego:2");
    project
        .agent("policy diff rules/policy.rego rules/newer.rego --tenant tenant.yaml --old-tenant tenant.yaml")
        .exits(1)
        .answers("for the tenant");
}

#[test]
fn all_tools_are_listed_with_their_capabilities() {
    let project = Project::empty();
    let search = json!({
        "verb": "search", "resource": "internet", "constraints": ["readonly", "pii_safe"]
    });
    let read = json!({ "verb": "read", "resource": "fs" });
    let server = |id: &str, version: &str, signed: bool, tools: Value| {
        json!({
            "id": id, "version": version, "endpoint": "https://a.example",
            "categories": [], "scopes": [],
            "data": { "residency": "any", "maxSensitivity": "internal" },
            "trust": { "signed": signed, "publisher": "A" },
            "capabilities": { "tools": tools }
        })
    };
    let index = json!([
        server(
            "local",
            "1.0.0",
            false,
            json!({
                "find": { "x-summit-capabilities": [search, read] }, "a": {}
            })
        ),
        server("local", "0.9.0", false, json!({})),
        server(
            "brave",
            "1.0.0",
            true,
            json!({ "page": { "x-summit-capabilities": [read] } })
        ),
    ]);
    project.write("mcp.index.json", index.to_string());
    let run = project.agent("discover --tools").exits(0);
    assert_eq!(
        run.stdout,
        "\
3 tools in 3 servers

brave 1.0.0  signed
  page  read:fs

local 0.9.0  unsigned
  lists no tools

local 1.0.0  unsigned
  a     no capability
  find  read:fs; search:internet + pii_safe, readonly
"
    );
    let answer = project
        .agent("discover --tools --format json")
        .exits(0)
        .json();
    assert_eq!(answer["servers"], 3);
    let names: Vec<_> = answer["tools"].as_array().unwrap().iter().collect();
    let names: Vec<_> = names
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["page", "a", "find"]);
    let find = &answer["tools"][2];
    assert_eq!(find["server"], "local");
    assert_eq!(find["signed"], false);
    assert_eq!(
        find["capabilities"],
        json!([
            { "constraints": [], "resource": "fs", "verb": "read" },
            { "constraints": ["pii_safe", "readonly"], "resource": "internet", "verb": "search" },
        ])
    );
    assert_eq!(
        answer["withoutTools"],
        json!([{ "id": "local", "version": "0.9.0" }])
    );
}

const OVERLAY: &str = "\
version: v0.1
servers:
  weather:
    version: 1.0.0
    categories: [weather]
    scopes: []
    data: { residency: any, maxSensitivity: public }
    trust: { signed: false, publisher: Weather }
";

const CLIENT: &str = r#"{"mcpServers": {"weather": {
  "url": "https://weather.example/mcp", "headers": {"Authorization": "Bearer sk-123456789"}
}}}"#;

#[test]
fn an_import_is_idempotent_and_keeps_secrets_out() {
    let project = Project::empty();
    project.write(".mcp.json", CLIENT);
    project.write("overlay.yaml", OVERLAY);
    let import = "index import .mcp.json --overlay overlay.yaml";
    project
        .agent(&format!("{import} --dry-run"))
        .exits(0)
        .notes("would write");
    assert!(!project.has("mcp.index.json"));
    project.agent(import).exits(0).notes("added weather@1.0.0");
    let index = project.read("mcp.index.json");
    assert!(!index.contains("sk-123456789"), "{index}");
    project.agent(import).exits(0).notes("up to date");
    assert_eq!(project.read("mcp.index.json"), index);
    project.agent("discover").exits(0).answers("weather");
}

#[test]
fn missing_fields_are_reported_and_nothing_is_written() {
    let project = project();
    // The faulty line contains the secret.
    project.write(".mcp.json", CLIENT.replace('\n', ""));
    let run = project
        .agent("index import .mcp.json")
        .exits(1)
        .notes("MISSING_FIELD")
        .notes("add to the overlay");
    assert!(!run.stderr.contains("sk-123456789"), "{run:#?}");
    assert_eq!(project.read("mcp.index.json"), INDEX);
    project.write("x.json", "{}");
    project
        .agent("index import x.json")
        .exits(1)
        .notes("IMPORT_FORMAT");
    project.agent("index import nothing.json").exits(2);
}

#[test]
fn why_takes_tools_by_name_and_what_no_requirement_names() {
    let project = project();
    // A tool needs no server in front of it.
    project
        .agent("why find")
        .exits(0)
        .answers("find of local 1.0.0");
    // It is advertised, and nothing requires it.
    project
        .agent("why read:internet")
        .exits(0)
        .answers("read_page of brave 1.0.0");
    project
        .agent("why read:intranet")
        .exits(2)
        .notes("did you mean `read:internet`?");
    // A server without tools has no tool for a required capability.
    project.write("mcp.index.json", INDEX.replace(TOOL, ""));
    project
        .agent("why local --task task.yaml")
        .exits(0)
        .answers("search:internet  the server lists no tools");
}

/// The tool of the server `local`.
const TOOL: &str =
    r#""find": { "x-summit-capabilities": [{ "verb": "search", "resource": "internet" }] }"#;

#[test]
fn a_lock_may_have_the_digest_of_its_policys_bytes() {
    let project = governed();
    let digest = |text: &str| format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)));
    let resolve = "resolve --task task.yaml --tenant tenant.yaml";
    project.agent(resolve).exits(0);
    let crlf = POLICY.replace('\n', "\r\n");
    project.write("rules/policy.rego", &crlf);
    // As an earlier version wrote it.
    let lock = project.read("agents.lock");
    let older = lock.replace(&digest(POLICY), &digest(&crlf));
    assert_ne!(older, lock);
    project.write("agents.lock", &older);
    project.agent("verify --policy rules/policy.rego").exits(0);
    project.agent(&format!("{resolve} --locked")).exits(0);
    assert_eq!(project.read("agents.lock"), older);
    project.agent(resolve).exits(0);
    assert_eq!(project.read("agents.lock"), lock);
}

#[test]
fn a_lock_names_its_policy_and_definitions_stand_beside_it() {
    let project = governed();
    let resolve = "resolve --task task.yaml --tenant tenant.yaml";
    project
        .agent(resolve)
        .exits(0)
        .notes("wrote agents.definitions.json");
    assert!(
        project
            .read("agents.lock")
            .contains("\"policy\": \"sha256-")
    );
    let definitions = project.read("agents.definitions.json");
    assert!(definitions.contains("\"name\": \"read_page\""));
    project.agent("verify").exits(0);
    project.agent("verify --policy rules/policy.rego").exits(0);
    project
        .agent("expand brave read_page --budget 1000")
        .exits(1)
        .notes("POLICY_MISSING");
    project
        .agent("expand brave read_page --tenant tenant.yaml")
        .exits(0);
    project.write("rules/policy.rego", format!("{POLICY}# changed\n"));
    project
        .agent("expand brave read_page --tenant tenant.yaml")
        .exits(1)
        .notes("POLICY_CHANGED");
    project
        .agent("verify --policy rules/policy.rego")
        .exits(1)
        .answers("POLICY_CHANGED");
    project
        .agent(&format!("{resolve} --locked"))
        .exits(1)
        .answers("POLICY_CHANGED");
    project.agent(resolve).exits(0);
    project.write("agents.definitions.json", "{}\n");
    project
        .agent(&format!("{resolve} --locked"))
        .exits(1)
        .answers("DEFINITIONS_CHANGED");
    project
        .agent("verify")
        .exits(1)
        .answers("`read_page` of `brave` is missing");
    project.agent(resolve).exits(0);
    assert_eq!(project.read("agents.definitions.json"), definitions);
}

#[test]
fn definitions_that_belong_to_no_tool_any_more_are_removed() {
    let project = project();
    project.agent("resolve --task task.yaml").exits(0);
    assert!(project.has("agents.definitions.json"));
    let without = INDEX.replace("\"capabilities\"", "\"x-capabilities\"");
    project.write("mcp.index.json", without);
    project.agent("resolve --dry-run").exits(0);
    assert!(project.has("agents.definitions.json"));
    project.agent("resolve").exits(0);
    assert!(!project.has("agents.definitions.json"));
}

#[test]
fn why_says_whether_a_tool_of_a_category_is_locked() {
    let project = Project::empty();
    let index = r#"[{"id": "mail", "version": "1", "endpoint": "https://mail.example/mcp", "categories": ["mail"],
        "scopes": [], "data": {"residency": "any", "maxSensitivity": "public"},
        "trust": {"signed": true, "publisher": "Acme"},
        "capabilities": {"tools": {"find": {}, "send": {}, "delete": {}}}}]"#;
    project.write("mcp.index.json", index);
    let manifest = |more: &str, constraints: &str| {
        let text = format!(
            "---\nname: a\nversion: 1.0.0\nrequires:\n  mcp:\n    - {{ category: mail, permissions: []{more} }}\n{constraints}---\n"
        );
        project.write("agents.md", text);
    };
    let forbid = "constraints: { actions: { forbid: [send] } }\n";
    for (more, constraints, locked, line) in [
        ("", "", true, "✓ send: locked with its server"),
        (", only: [find]", "", false, "✗ send: not named in `only`"),
        (
            "",
            forbid,
            false,
            "✗ send: forbidden by a label of `forbid`",
        ),
    ] {
        manifest(more, constraints);
        project.agent("why send").exits(0).answers(line);
        let json = project.agent("why send --format json").exits(0).json();
        let tool = &json["tools"][0];
        assert_eq!(tool["locked"], locked, "{json:#}");
        assert_eq!(tool["categories"].as_array().unwrap().len(), 1, "{json:#}");
    }
}

#[test]
fn questions_that_were_left_out_deny_a_widening() {
    let project = Project::empty();
    let tools = (0..330).map(|number| {
        let schema = json!({ "type": "object", "properties": { "a": {} } });
        let tool = json!({
            "inputSchema": schema,
            "x-summit-capabilities": [{ "verb": "read", "resource": "fs", "constraints": [] }],
        });
        (format!("t{number:03}"), tool)
    });
    let tools: serde_json::Map<_, _> = tools.collect();
    let index = json!([{
        "id": "s", "version": "1", "endpoint": "https://a.example", "categories": ["files"], "scopes": [],
        "data": { "residency": "any", "maxSensitivity": "public" },
        "trust": { "signed": true, "publisher": "P" }, "capabilities": { "tools": tools },
    }]);
    project.write("mcp.index.json", index.to_string());
    let values: Vec<_> = (0..60).map(|it| format!("\"v{it}\"")).collect();
    let policy = format!(
        "package switchboard\nallowed_tools contains t.id if {{ some t in input.candidate_tools; not input.arguments.a in {{{}}} }}\n",
        values.join(", ")
    );
    project.write("policy.rego", policy);
    let diff = "policy diff policy.rego policy.rego --deny-widening";
    project.agent(diff).exits(1).notes("and left out");
}

#[test]
fn a_policy_explains_its_answer_to_a_call() {
    let project = governed();
    let explain = "policy explain --policy rules/policy.rego";
    let tool = |project: &Project| {
        let index: Value = serde_json::from_str(&project.read("mcp.index.json")).unwrap();
        let server = &index[0];
        let tools = server["capabilities"]["tools"].as_object().unwrap();
        let (id, tool) = (server["id"].as_str().unwrap(), tools.keys().next().unwrap());
        format!("{id}/{tool}")
    };
    let tool = tool(&project);
    let shown = project.agent(&format!("{explain} {tool} --format json"));
    let allowed = shown.json()["allowed"] == true;
    project
        .agent(&format!("{explain} {tool}"))
        .exits(if allowed { 0 } else { 1 })
        .answers("allowed_tools");
    project
        .agent(&format!("{explain} nothing/here"))
        .exits(1)
        .notes("the index has no server `nothing`");
    project.write("arguments.json", "[1]");
    project
        .agent(&format!("{explain} {tool} --arguments arguments.json"))
        .exits(1)
        .notes("the arguments must be one strict JSON object");
}

#[test]
fn answers_make_a_first_policy() {
    let project = project();
    let run = project
        .agent_reading("policy new", "what\ny\nn\nn\n")
        .exits(0);
    for shown in [
        "brave/read_page: Read a page.",
        "May the agent use it? [y]es, [n]o; [Y], [N] for the rest of brave: ",
        "brave/search_web: Search the web.",
    ] {
        assert!(run.stderr.contains(shown), "{}", run.stderr);
    }
    let policy = project.read("policy.rego");
    assert!(policy.contains("\"brave\": {\"read_page\"},\n"), "{policy}");
    assert!(
        policy.contains("answers about the tools of mcp.index.json"),
        "{policy}"
    );
    project
        .agent("policy check policy.rego")
        .exits(0)
        .notes("3 passed, 0 failed, 0 skipped\n");
    project
        .agent("policy explain brave/read_page --policy policy.rego")
        .exits(0);
    project
        .agent("policy explain brave/search_web --policy policy.rego")
        .exits(1)
        .answers("it is none of the tools that an agent may use");
}

#[test]
fn an_answer_may_be_for_the_rest_of_a_server() {
    for (answers, allowed) in [
        ("Y\nn\n", "{\"read_page\", \"search_web\"}"),
        ("y\nN\nno\n", "{\"read_page\"}"),
    ] {
        let project = project();
        project
            .agent_reading("policy new other.rego", answers)
            .exits(0);
        let policy = project.read("other.rego");
        assert!(policy.contains(allowed), "{policy}");
        assert!(project.path("other_test.rego").exists());
    }
    for (answers, exits, note) in [
        (&b""[..], 2, "the answers ended before `brave/read_page`"),
        (b"y\n", 2, "the answers ended before `brave/search_web`"),
        (b"N\nN\n", 1, "no tool is allowed, and nothing is written"),
        (b"\xff\n", 2, "standard input can't be read"),
    ] {
        let project = project();
        project
            .agent_reading("policy new", answers)
            .exits(exits)
            .notes(note);
        assert!(
            !project.path("policy.rego").exists() && !project.path("policy_test.rego").exists()
        );
    }
}
