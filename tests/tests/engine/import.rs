//! Small documents of each form into an index.

use agent_diagnostic::{Code, Diagnostic, Severity};
use agent_import::{Imported, Overlay, import};
use agent_lower as lower;
use agent_lower::{Checked, Notation};
use agent_render::{File, Format, report};
use agent_text::DocumentKind;

/// What an overlay has to say of a server besides its names.
const REST: &str = "    categories: [reporting]
    scopes: [read:reports]
    data: { residency: any, maxSensitivity: public }
    trust: { signed: false, publisher: Acme }
";

fn yaml(text: impl Into<String>) -> Option<Overlay> {
    let bytes = text.into().into_bytes();
    let notation = Notation::default();
    Some(Overlay { bytes, notation })
}

/// An overlay about one server, with more lines about it.
fn about(key: &str, more: &str) -> Option<Overlay> {
    yaml(format!(
        "version: v0.1\nservers:\n  {key}:\n{REST}{}",
        indented(more)
    ))
}

fn indented(lines: &str) -> String {
    lines.lines().map(|line| format!("    {line}\n")).collect()
}

fn run(document: &str, overlay: Option<Overlay>, existing: Option<&str>) -> Checked<Imported> {
    let existing = existing.map(|text| text.as_bytes().to_vec());
    but_unrated(import(
        vec![document.as_bytes().to_vec()],
        overlay,
        existing,
    ))
}

/// What was imported, without the warning that nothing rates the data of a server.
fn but_unrated(imported: Result<Checked<Imported>, Vec<Diagnostic>>) -> Checked<Imported> {
    let mut imported = imported.unwrap_or_else(|problems| panic!("{problems:#?}"));
    let is_other = |it: &Diagnostic| it.code != Code::ImportUnrated;
    imported.warnings.retain(is_other);
    imported
}

fn refuse(document: &str, overlay: Option<Overlay>, existing: Option<&str>) -> Vec<Diagnostic> {
    let existing = existing.map(|text| text.as_bytes().to_vec());
    match import(vec![document.as_bytes().to_vec()], overlay, existing) {
        Ok(imported) => panic!("{}", imported.value.index),
        Err(problems) => problems,
    }
}

/// The codes, each with where it is and the text that it points at.
fn places<'t>(
    problems: &[Diagnostic],
    texts: &[(DocumentKind, &'t str)],
) -> Vec<(Code, DocumentKind, &'t str)> {
    let place = |problem: &Diagnostic| {
        let place = problem.labels[0].place;
        let text = texts.iter().find(|(source, _)| *source == place.source);
        (
            problem.code,
            place.source,
            text.map_or("", |(_, text)| place.span.of(text)),
        )
    };
    problems.iter().map(place).collect()
}

const SERVER_JSON: &str = r#"{
  "$schema": "https://schemas.example/2025-12-11/server.schema.json",
  "name": "com.acme/reports",
  "description": "Reports",
  "version": "1.2.0",
  "packages": [
    {
      "registryType": "npm",
      "identifier": "@acme/reports",
      "version": "1.2.0",
      "transport": { "type": "stdio" },
      "environmentVariables": [{ "name": "KEY", "isSecret": true, "value": "sk-abcdefgh12345678" }]
    }
  ]
}"#;

const OLDER: &str = r#"{
  "name": "com.acme/reports",
  "version": "1.2.0",
  "status": "active",
  "packages": [
    {
      "registry_type": "npm",
      "identifier": "@acme/reports",
      "version": "1.2.0",
      "environment_variables": []
    }
  ]
}"#;

const INDEX: &str = r#"{
  "servers": [
    {
      "categories": [
        "reporting"
      ],
      "data": {
        "maxSensitivity": "public",
        "residency": "any"
      },
      "endpoint": "pkg:npm/%40acme/reports@1.2.0",
      "id": "com.acme/reports",
      "scopes": [
        "read:reports"
      ],
      "trust": {
        "publisher": "Acme",
        "signed": false
      },
      "version": "1.2.0"
    }
  ]
}
"#;

#[test]
fn a_server_json_of_either_schema_and_in_any_envelope_is_an_entry() {
    let envelope = format!("{{\"server\": {SERVER_JSON}, \"_meta\": {{\"a\": 1}}}}");
    let list = format!("{{\"servers\": [{{\"server\": {OLDER}}}], \"metadata\": {{}}}}");
    for document in [SERVER_JSON, OLDER, &envelope, &list] {
        let imported = run(document, about("com.acme/reports", ""), None);
        assert_eq!(imported.value.index, INDEX);
        assert_eq!(imported.value.added, ["com.acme/reports@1.2.0"]);
        assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    }
}

#[test]
fn an_imported_tool_that_nobody_can_call_is_left_out_and_named_where_it_stands() {
    let document = r#"{"package": "reports", "version": "1", "endpoint": "https://reports.example/mcp", "tools/list":
        {"tools": [
          {"name": "mail", "inputSchema": {"type": "object", "properties": {"to": {"pattern": "a(?!x)"}}}},
          {"name": "print", "inputSchema": {"type": "object"}}
        ]}}"#;
    let imported = run(document, about("reports", ""), None);
    let uncallable = |imported: &Checked<Imported>| {
        let warnings = imported.warnings.iter();
        let found = warnings.filter(|it| it.code == Code::SchemaInvalid);
        found.cloned().collect::<Vec<_>>()
    };
    let [warning] = &uncallable(&imported)[..] else {
        panic!("{:#?}", imported.warnings);
    };
    assert_eq!(warning.severity, Severity::Warning);
    let place = warning.labels[0].place;
    assert_eq!(place.source, DocumentKind::Import);
    assert!(place.span.of(document).contains("mail"), "{warning:#?}");
    assert!(
        warning
            .message
            .contains("the tool `mail` of `reports` is left out:"),
        "{warning:#?}"
    );
    assert!(!imported.value.index.contains("mail"));
    assert!(imported.value.index.contains("print"));
    assert!(warning.message.contains("look-around"), "{warning:#?}");
    // An import of another document says nothing about it again.
    let other = document.replace("reports", "others").replace("(?!x)", "");
    let merged = run(&other, about("others", ""), Some(&imported.value.index));
    assert_eq!(uncallable(&merged), []);
}

#[test]
fn imported_again_it_is_unchanged_and_keeps_the_form() {
    let again = run(SERVER_JSON, None, Some(INDEX));
    assert_eq!(again.value.index, INDEX);
    assert_eq!(again.value.unchanged, ["com.acme/reports@1.2.0"]);

    let list = "[\n  {\"id\": \"b\", \"version\": \"1\", \"endpoint\": \"pkg:generic/e\", \"categories\": [],
        \"scopes\": [], \"x\": [1.50, 1e2, {\"z\": {}, \"a\": \"\\u00e9\"}],
        \"data\": {\"residency\": [\"any\"], \"maxSensitivity\": \"public\"},
        \"trust\": {\"signed\": true, \"publisher\": \"B\"}}]";
    let first = run(SERVER_JSON, about("com.acme/reports", "id: a"), Some(list));
    let index = first.value.index;
    assert!(
        index.starts_with("[\n  {\n    \"categories\": ["),
        "{index}"
    );
    assert!(
        index.contains("\"x\": [\n      1.50,\n      1e2,\n      {\n        \"a\": \"é\",\n        \"z\": {}\n      }\n    ]"),
        "{index}"
    );
    assert_eq!(first.value.added, ["a@1.2.0"]);
    let again = run(
        SERVER_JSON,
        about("com.acme/reports", "id: a"),
        Some(&index),
    );
    assert_eq!(again.value.index, index);
    assert_eq!(again.value.unchanged, ["a@1.2.0"]);
}

#[test]
fn servers_are_sorted_by_id_and_version_and_what_stands_beside_them_stays() {
    let entry = |id: &str, version: &str| {
        INDEX[INDEX.find("    {").unwrap()..INDEX.rfind("  ]").unwrap()]
            .replace("com.acme/reports", id)
            .replace(
                "\"version\": \"1.2.0\"",
                &format!("\"version\": \"{version}\""),
            )
    };
    let existing = format!(
        "{{\"zone\": {{\"b\": 1, \"a\": 2}}, \"servers\": [{}, {}, {}], \"at\": 1.0}}",
        entry("z", "1"),
        entry("b", "2"),
        entry("b", "10"),
    );
    let imported = run(
        SERVER_JSON,
        about("com.acme/reports", "id: c"),
        Some(&existing),
    );
    let index = &imported.value.index;
    let order: Vec<_> = index
        .lines()
        .filter_map(|line| {
            line.strip_prefix("      \"id\": ")
                .or(line.strip_prefix("      \"version\": "))
        })
        .collect();
    assert_eq!(
        order,
        [
            "\"b\",",
            "\"10\"",
            "\"b\",",
            "\"2\"",
            "\"c\",",
            "\"1.2.0\"",
            "\"z\",",
            "\"1\""
        ]
    );
    assert!(
        index.starts_with("{\n  \"at\": 1.0,\n  \"servers\": ["),
        "{index}"
    );
    assert!(
        index.ends_with("],\n  \"zone\": {\n    \"a\": 2,\n    \"b\": 1\n  }\n}\n"),
        "{index}"
    );
}

#[test]
fn fields_that_are_given_win_and_others_stay() {
    let existing = INDEX
        .replace("\"signed\": false", "\"since\": 2.50, \"signed\": true")
        .replace(
            "\"endpoint\": \"pkg:npm/%40acme/reports@1.2.0\"",
            "\"endpoint\": \"pkg:generic/old\", \"note\": null",
        );
    let overlay = yaml(
        "servers: {com.acme/reports: {class: local, policy: {rateLimitPerMin: 60}, data: {residency: [eu-only]}}}",
    );
    let imported = run(SERVER_JSON, overlay, Some(&existing));
    let index = &imported.value.index;
    assert_eq!(imported.value.changed, ["com.acme/reports@1.2.0"]);
    for kept in [
        "\"class\": \"local\"",
        "\"endpoint\": \"pkg:npm/%40acme/reports@1.2.0\"",
        "\"maxSensitivity\": \"public\"",
        "\"note\": null",
        "\"rateLimitPerMin\": 60\n",
        "\"residency\": [\n          \"eu-only\"\n        ]",
        "\"signed\": true",
        "\"since\": 2.50",
    ] {
        assert!(index.contains(kept), "{kept} in {index}");
    }
}

#[test]
fn defaults_give_way_to_everything() {
    let overlay = yaml(
        "version: v0.1
defaults:
  categories: [other]
  scopes: []
  data: { residency: us-only, maxSensitivity: internal }
  trust: { signed: true, publisher: Default }
servers:
  com.acme/reports:
    scopes: [write:reports]
",
    );
    let fresh = run(SERVER_JSON, overlay.clone(), None).value.index;
    assert!(fresh.contains("\"publisher\": \"Default\""), "{fresh}");
    assert!(fresh.contains("write:reports"), "{fresh}");
    let over = run(SERVER_JSON, overlay, Some(INDEX)).value.index;
    assert_eq!(over, INDEX.replace("read:reports", "write:reports"));
}

/// A document that lacks what only its author knows.
const NAMED: &str = r#"{"name": "com.acme/reports", "remotes": []}"#;

#[test]
fn everything_that_is_missing_is_named_at_once_with_what_to_paste() {
    let problems = refuse(NAMED, None, None);
    let missing = (
        Code::MissingField,
        DocumentKind::Import,
        "\"com.acme/reports\"",
    );
    assert_eq!(
        places(&problems, &[(DocumentKind::Import, NAMED)]),
        [missing; 2]
    );
    let titles = |number: usize| {
        let fixes = problems[number].fixes.iter();
        fixes.map(|it| &*it.title).collect::<Vec<_>>()
    };
    let paste = "add to the overlay, a file that `--overlay` names:\nversion: v0.1\nservers:\n  com.acme/reports:\n    ";
    assert_eq!(titles(1), [format!("{paste}endpoint: \"<endpoint>\"")]);
    let [own, all] = titles(0)[..] else {
        panic!("{problems:#?}");
    };
    assert_eq!(own, format!("{paste}version: \"<version>\""));
    // What is pasted is an overlay that leaves nothing to be said but its placeholders.
    let (_, overlay) = all.split_once(":\n").expect("lines");
    let problems = refuse(NAMED, yaml(overlay), None);
    assert_eq!(problems.len(), 2, "{problems:#?}");
    for problem in &problems {
        assert_eq!(problem.code, Code::ImportValue);
        assert_eq!(problem.labels[0].place.source, DocumentKind::Overlay);
    }
    let overlay = overlay.replace("<version>", "1.0.0");
    let overlay = overlay.replace("<endpoint>", "pkg:generic/reports");
    let imported = run(NAMED, yaml(overlay), None);
    assert!(imported.warnings.is_empty());
    assert_eq!(imported.value.added, ["com.acme/reports@1.0.0"]);
}

#[test]
fn what_is_missing_is_missed_in_the_overlay_where_it_speaks_of_the_server() {
    let overlay = "{\"servers\": {\"com.acme/reports\": {\"categories\": [], \"scopes\": []}}}";
    let problems = refuse(NAMED, yaml(overlay), None);
    let missing = (
        Code::MissingField,
        DocumentKind::Overlay,
        "\"com.acme/reports\"",
    );
    assert_eq!(
        places(&problems, &[(DocumentKind::Overlay, overlay)]),
        [missing; 2]
    );
    assert_eq!(
        problems[1].fixes[0].title,
        "add to the overlay:\n\"servers\": { \"com.acme/reports\": { \"endpoint\": \"<endpoint>\" } }"
    );
}

#[test]
fn what_nothing_rates_promises_nothing_and_is_listed_once() {
    let documents = [SERVER_JSON, &capture_of("one", "a")].map(|it| it.as_bytes().to_vec());
    let overlay = |more: &str| {
        yaml(format!(
            "servers: {{ one: {{ endpoint: pkg:generic/e, tools: {{ a: {{ x-summit-capabilities: [] }} }} }} }}\n{more}"
        ))
    };
    let imported = import(documents.to_vec(), overlay(""), None).expect("an index");
    let [warning] = &imported.warnings[..] else {
        panic!("{:#?}", imported.warnings);
    };
    assert_eq!(warning.code, Code::ImportUnrated);
    assert!(
        warning
            .message
            .ends_with("the servers `com.acme/reports`, `one`"),
        "{warning:#?}"
    );
    assert!(
        warning.fixes[0]
            .title
            .contains("defaults:\n  data:\n    residency:")
    );
    let index = imported.value.index;
    let entries: serde_json::Value = serde_json::from_str(&index).expect("an index");
    for entry in entries["servers"].as_array().expect("servers") {
        assert_eq!(
            entry["data"],
            serde_json::json!({ "residency": [], "maxSensitivity": "public" })
        );
        assert_eq!(
            entry["trust"],
            serde_json::json!({ "signed": false, "publisher": "unknown" })
        );
        assert_eq!(entry["categories"], serde_json::json!([entry["id"]]));
        assert_eq!(entry["x-unrated"], serde_json::json!(["data"]));
    }
    // A rating takes the mark away, and an import without one leaves the rating.
    let rating = overlay("defaults: { data: { residency: eu-only } }\n");
    let new = import(documents.to_vec(), rating.clone(), None).expect("an index");
    assert!(new.warnings.is_empty() && !new.value.index.contains("x-unrated"));
    let own = yaml(
        "servers: { one: { data: { residency: any } }, com.acme/reports: { data: { residency: any } } }",
    );
    let rated = import(documents.to_vec(), own, Some(index.into_bytes())).expect("an index");
    assert!(
        !rated.value.index.contains("x-unrated"),
        "{}",
        rated.value.index
    );
    let kept = import(
        documents.to_vec(),
        overlay(""),
        Some(rated.value.index.clone().into_bytes()),
    );
    let kept = kept.expect("an index");
    assert!(kept.warnings.is_empty(), "{:#?}", kept.warnings);
    assert_eq!(kept.value.index, rated.value.index);
}

#[test]
fn placeholders_are_no_values() {
    let document = SERVER_JSON.replace("1.2.0", "${VERSION}");
    let problems = refuse(&document, about("com.acme/reports", ""), None);
    assert_eq!(
        places(&problems, &[(DocumentKind::Import, &document)]),
        [
            (Code::ImportValue, DocumentKind::Import, "\"${VERSION}\""),
            (Code::ImportValue, DocumentKind::Import, "\"@acme/reports\""),
        ]
    );
    let overlay = about(
        "com.acme/reports",
        "version: 1.2.0\nendpoint: pkg:generic/reports@1",
    );
    let imported = run(&document, overlay, None).value;
    assert_eq!(imported.added, ["com.acme/reports@1.2.0"]);
    let overlay = about(
        "com.acme/reports",
        "version: 2025.4.25 (with mcp<2, httpx>1)\nendpoint: pkg:generic/reports@1",
    );
    let imported = run(&document, overlay, None).value;
    assert_eq!(
        imported.added,
        ["com.acme/reports@2025.4.25 (with mcp<2, httpx>1)"]
    );
    let overlay = about("com.acme/reports", "version: <the version>");
    refuse(&document, overlay, None);
    let overlay =
        "servers: {com.acme/reports: {version: \"{v}\", endpoint: \"https://a@b.example\"}}";
    let problems = refuse(&document, yaml(overlay), Some(INDEX));
    let found = places(&problems, &[(DocumentKind::Overlay, overlay)]);
    assert!(
        found.contains(&(Code::ImportValue, DocumentKind::Overlay, "\"{v}\"")),
        "{found:?}"
    );
    assert!(
        found.contains(&(
            Code::ImportValue,
            DocumentKind::Overlay,
            "\"https://a@b.example\""
        )),
        "{found:?}"
    );
}

#[test]
fn of_several_ways_to_reach_a_server_none_is_guessed() {
    let document = SERVER_JSON.replace(
        "\"packages\"",
        "\"remotes\": [{\"type\": \"sse\", \"url\": \"https://mcp.acme.example/\"}], \"packages\"",
    );
    let problems = refuse(&document, about("com.acme/reports", ""), None);
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert_eq!(problems[0].code, Code::ImportValue);
    assert!(
        problems[0].fixes[0]
            .title
            .ends_with("    endpoint: \"https://mcp.acme.example/\"")
    );
    assert!(
        problems[0].fixes[1]
            .title
            .ends_with("    endpoint: \"pkg:npm/%40acme/reports@1.2.0\"")
    );
    // One URL for two transports is one.
    let document = r#"{"name": "r", "version": "1", "remotes": [
        {"type": "sse", "url": "https://mcp.acme.example/"},
        {"type": "streamable-http", "url": "https://mcp.acme.example/"}]}"#;
    let index = run(document, about("r", ""), None).value.index;
    assert!(index.contains("\"endpoint\": \"https://mcp.acme.example/\""));
}

const CLIENT: &str = r#"{
  "inputs": [{ "type": "promptString", "id": "key", "password": true }],
  "mcpServers": {
    "reports": {
      "type": "http",
      "url": "https://mcp.acme.example/reports",
      "headers": { "Authorization": "Bearer sk-hunter2-0123456789" }
    },
    "local": {
      "command": "npx",
      "args": ["-y", "@acme/local@1.0.0", "--key=sk-hunter2-0123456789"],
      "env": { "API_KEY": "sk-hunter2-0123456789" }
    }
  }
}"#;

#[test]
fn the_configuration_of_a_client_gives_urls_and_no_secrets() {
    let overlay = yaml(format!(
        "servers:\n  reports:\n    version: 1\n{REST}  local:\n    version: 1.0.0\n    endpoint: pkg:npm/%40acme/local@1.0.0\n{REST}"
    ));
    for document in [CLIENT.to_owned(), CLIENT.replace("mcpServers", "servers")] {
        let imported = run(&document, overlay.clone(), None).value;
        assert_eq!(imported.added, ["local@1.0.0", "reports@1"]);
        assert!(
            imported
                .index
                .contains("\"https://mcp.acme.example/reports\"")
        );
        assert!(!imported.index.contains("hunter2") && !imported.index.contains("KEY"));
    }
    let secret = CLIENT.replace("/reports\"", "/reports?key=sk-hunter2-0123456789\"");
    let broken = CLIENT.replace("\"API_KEY\": ", "\"API_KEY\" ");
    let user = CLIENT.replace("https://mcp", "https://hunter2:hunter2@mcp");
    let path = CLIENT.replace("example/reports", "example/sk-hunter2-0123456789");
    for document in [CLIENT, &secret, &broken, &user, &path] {
        let problems = refuse(document, None, None);
        let said = format!("{problems:?}");
        assert!(!said.contains("hunter2"), "{said}");
        assert!(
            problems.iter().all(|problem| !problem.fixes.is_empty()),
            "{problems:#?}"
        );
    }
    // A missing colon hides no missing field.
    let found = refuse(&broken, None, None);
    for code in [Code::JsonSyntax, Code::MissingField] {
        assert!(found.iter().any(|it| it.code == code), "{found:#?}");
    }
    // A URL that may hold a secret is not taken, and that is all that is wrong.
    for document in [&secret, &user, &path] {
        let problems = refuse(document, overlay.clone(), None);
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert_eq!(problems[0].code, Code::ImportValue);
        assert!(!DocumentKind::Import.may_be_shown());
        let given = yaml(format!(
            "servers:\n  reports:\n    version: 1\n    endpoint: https://mcp.acme.example/\n{REST}  local:\n    version: 1\n    endpoint: pkg:generic/e\n{REST}"
        ));
        let index = run(document, given, None).value.index;
        assert!(!index.contains("hunter2"), "{index}");
    }
}

#[test]
fn comments_are_read_where_a_client_reads_them() {
    for document in ["{ // servers\n  \"servers\": {} }", "{ \"servers\": {}, }"] {
        assert!(run(document, None, None).value.added.is_empty());
    }
    for document in [
        "{ // tools\n  \"tools/list\": {} }",
        "{ \"name\": \"a\", \"remotes\": [], }",
    ] {
        let problems = refuse(document, None, None);
        let syntax = problems.iter().find(|it| it.code == Code::JsonSyntax);
        let syntax = syntax.unwrap_or_else(|| panic!("{problems:#?}"));
        assert!(
            syntax.fixes[1]
                .title
                .contains("comments and trailing commas")
        );
    }
}

const CAPTURE: &str = r#"{
  "package": "com.acme/reports",
  "version": "1.2.0",
  "command": ["node", "--token=sk-hunter2-0123456789"],
  "2025-06-18": { "tools/list": { "tools": [{ "name": "old" }] } },
  "2025-11-25": {
    "initialize": {
      "protocolVersion": "2025-11-25",
      "capabilities": { "tools": { "listChanged": true } },
      "serverInfo": { "name": "reports", "version": "0.1" }
    },
    "tools/list": {
      "tools": [
        {
          "name": "search",
          "title": "Search",
          "description": "Searches \u00e9",
          "inputSchema": { "type": "object", "properties": { "b": { "default": 1.50 }, "a": {} } },
          "annotations": { "readOnlyHint": true }
        },
        { "name": "count", "inputSchema": { "type": "object" } }
      ]
    }
  },
  "2026-07-28": { "discover": { "error": { "code": -32601 } } }
}"#;

const CAPTURED: &str = "version: v0.1
servers:
  com.acme/reports:
    tools:
      search:
        x-summit-capabilities:
          - { verb: search, resource: codebase, constraints: [readonly] }
      count:
        x-summit-capabilities: []
";

#[test]
fn a_capture_merges_its_tools_into_the_entry() {
    let imported = run(CAPTURE, yaml(CAPTURED), Some(INDEX));
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    assert_eq!(imported.value.changed, ["com.acme/reports@1.2.0"]);
    let tools = r#"{
      "capabilities": {
        "tools": {
          "count": {
            "inputSchema": {
              "type": "object"
            },
            "x-summit-capabilities": []
          },
          "listChanged": true,
          "search": {
            "annotations": {
              "readOnlyHint": true
            },
            "description": "Searches é",
            "inputSchema": {
              "properties": {
                "a": {},
                "b": {
                  "default": 1.50
                }
              },
              "type": "object"
            },
            "title": "Search",
            "x-summit-capabilities": [
              {
                "constraints": [
                  "readonly"
                ],
                "resource": "codebase",
                "verb": "search"
              }
            ]
          }
        }
      },
      "categories": ["#;
    let index = imported.value.index;
    assert_eq!(
        index,
        INDEX.replacen("{\n      \"categories\": [", tools, 1)
    );
    // Neither order nor repetition matters.
    let both = run(SERVER_JSON, None, Some(&index)).value.index;
    assert_eq!(both, index);
    assert_eq!(run(CAPTURE, None, Some(&index)).value.index, index);
    assert_eq!(
        run(CAPTURE, yaml(CAPTURED), Some(&index)).value.index,
        index
    );
    let first = about(
        "com.acme/reports",
        "endpoint: pkg:npm/%40acme/reports@1.2.0",
    );
    let first = run(CAPTURE, first, None);
    let [silent] = &first.warnings[..] else {
        panic!("{:#?}", first.warnings);
    };
    assert_eq!(silent.code, Code::ImportNoCapability);
    assert!(silent.message.contains("`count`, `search`"), "{silent:#?}");
    let then = run(SERVER_JSON, yaml(CAPTURED), Some(&first.value.index));
    assert_eq!(then.value.index, index);
}

#[test]
fn messages_may_stand_in_their_envelopes() {
    let plain = r#"{
      "initialize": { "jsonrpc": "2.0", "id": 1, "result": { "serverInfo": { "name": "r", "version": "2" } } },
      "tools/list": { "jsonrpc": "2.0", "id": 2, "result": { "tools": [{ "name": "t", "inputSchema": {} }] } }
    }"#;
    let imported = run(plain, about("r", "endpoint: pkg:generic/e"), None);
    assert_eq!(imported.value.added, ["r@2"]);
    assert_eq!(imported.warnings.len(), 1);
    let warning = &imported.warnings[0];
    assert_eq!(warning.code, Code::ImportNoCapability);
    assert_eq!(warning.severity, Severity::Warning);
    assert_eq!(warning.labels[0].place.span.of(plain), "\"t\"");
    assert_eq!(
        warning.fixes[0].title,
        "add to the overlay:\nservers:\n  r:\n    tools:\n      t:\n        x-summit-capabilities: [{ \"verb\": \"<verb>\", \"resource\": \"<resource>\" }]"
    );
    for (from, to) in [
        ("\"tools\": [{", "\"nextCursor\": \"x\", \"tools\": [{"),
        (
            "\"result\": { \"tools\"",
            "\"error\": {}, \"x\": { \"tools\"",
        ),
    ] {
        let document = plain.replacen(from, to, 1);
        let problems = refuse(&document, about("r", "endpoint: pkg:generic/e"), None);
        assert!(
            problems.iter().any(|p| p.code == Code::ImportFormat),
            "{problems:#?}"
        );
    }
}

#[test]
fn a_captured_server_needs_nothing_invented() {
    let captured = r#"{
  "servers": [
    {
      "capabilities": {
        "tools": {
          "a": {
            "inputSchema": {}
          }
        }
      },
      "categories": [
        "r"
      ],
      "data": {
        "maxSensitivity": "public",
        "residency": []
      },
      "endpoint": "pkg:generic/e",
      "id": "r",
      "scopes": [],
      "trust": {
        "publisher": "unknown",
        "signed": false
      },
      "version": "1",
      "x-unrated": [
        "data"
      ]
    }
  ]
}
"#;
    let document = capture_of("one", "a");
    let overlay = "servers: { one: { id: r, endpoint: pkg:generic/e } }\n";
    let imported = run(&document, yaml(overlay), None).value;
    assert_eq!(imported.index, captured);
    // Defaults, the server's entry and the index say more.
    let more = format!("{overlay}defaults: {{ data: {{ residency: any }}, categories: [x] }}\n");
    let more = run(&document, yaml(more), None).value.index;
    assert!(more.contains("\"residency\": \"any\""), "{more}");
    assert!(
        more.contains("\"x\"") && !more.contains("[\n        \"r\""),
        "{more}"
    );
    let kept = run(&document, yaml(overlay), Some(&more)).value.index;
    assert_eq!(kept, more);
}

/// The overlay of a server of which only the endpoint is missing.
const REACHED: &str = "servers: { r: { endpoint: pkg:generic/e } }\n";

const BLOCKS: &str = r#"[{"verb": "search", "resource": "internet", "constraints": ["readonly"]}]"#;

/// A capture with the blocks of `initialize`, and more members of its tool `find` in `tools/list`.
fn claiming(initialize: &str, tool: &str) -> String {
    format!(
        r#"{{
  "initialize": {{
    "serverInfo": {{ "name": "r", "version": "1" }},
    "capabilities": {{ "tools": {{ "listChanged": true, "find": {{ "x-summit-capabilities": {initialize} }} }} }}
  }},
  "tools/list": {{ "tools": [{{ "name": "find", "inputSchema": {{}}{tool} }}] }}
}}"#
    )
}

fn find(index: &str) -> serde_json::Value {
    let mut index: serde_json::Value = serde_json::from_str(index).expect("JSON");
    index["servers"][0]["capabilities"]["tools"]["find"]["x-summit-capabilities"].take()
}

#[test]
fn capabilities_are_taken_wherever_a_server_claims_them() {
    let listed = |members: &str| {
        format!(
            r#"{{"package": "r", "version": "1", "tools/list": {{"tools": [{{"name": "find", "inputSchema": {{}}{members}}}]}}}}"#
        )
    };
    let key = format!(r#""x-summit-capabilities": {BLOCKS}"#);
    let initialize = format!(
        r#"{{"initialize": {{"serverInfo": {{"name": "r", "version": "1"}}, "capabilities": {{"tools": {{"find": {{{key}}}}}}}}}}}"#
    );
    let manifest = format!(
        r#"{{"name": "r", "version": "1", "capabilities": {{"tools": {{"find": {{{key}}}}}}}}}"#
    );
    for document in [
        claiming(BLOCKS, ""),
        claiming(BLOCKS, &format!(", {key}")),
        listed(&format!(", {key}")),
        listed(&format!(r#", "_meta": {{{key}}}"#)),
        initialize,
        manifest,
    ] {
        let imported = run(&document, yaml(REACHED), None);
        assert!(
            imported.warnings.is_empty(),
            "{document}: {:#?}",
            imported.warnings
        );
        let imported = imported.value;
        let expected: serde_json::Value = serde_json::from_str(BLOCKS).expect("JSON");
        assert_eq!(find(&imported.index), expected, "{document}");
        assert_eq!(imported.claims, ["r@1/find: search:internet + readonly"]);
        let again = run(&document, None, Some(&imported.index)).value;
        assert_eq!(again.index, imported.index);
        assert_eq!(again.unchanged, ["r@1"]);
    }
}

#[test]
fn a_manifest_of_the_specification_is_imported_and_adds_to_a_capture() {
    let manifest = r#"{
  "name": "brave-search",
  "version": "1.0.0",
  "capabilities": {
    "tools": {
      "search_web": {
        "description": "Search the public internet via Brave.",
        "x-summit-capabilities": [
          {
            "verb": "search",
            "resource": "internet",
            "constraints": ["readonly"]
          }
        ]
      }
    }
  }
}"#;
    let overlay = "servers: { brave-search: { endpoint: pkg:generic/brave-search@1.0.0 } }";
    let imported = run(manifest, yaml(overlay), None);
    assert!(imported.warnings.is_empty(), "{:#?}", imported.warnings);
    let index = imported.value.index;
    assert!(
        index.contains("Search the public internet via Brave."),
        "{index}"
    );
    let capture = capture_of("brave-search", "other").replace("\"1\"", "\"1.0.0\"");
    let both = run_all(&[&capture, manifest], yaml(overlay)).value.index;
    assert!(
        both.contains("\"other\"") && both.contains("\"search_web\""),
        "{both}"
    );
}

#[test]
fn of_sources_that_disagree_only_what_all_say_is_kept() {
    let index = run(&claiming("[]", ""), yaml(REACHED), None)
        .value
        .index
        .replace(
            "\"x-summit-capabilities\": []",
            r#""x-summit-capabilities": [
            {"verb": "search", "resource": "internet", "constraints": ["readonly", "rate_limited"]},
            {"verb": "read", "resource": "fs"}]"#,
        );
    let document = claiming(
        r#"[{"verb": "search", "resource": "internet", "constraints": ["rate_limited", "readonly", "human_in_the_loop"]},
            {"verb": "write", "resource": "fs"}]"#,
        r#", "_meta": {"x-summit-capabilities": [
            {"verb": "search", "resource": "internet", "constraints": ["readonly", "pii_safe"]},
            {"verb": "search", "resource": "internet", "constraints": ["readonly"]}]}"#,
    );
    let imported = run(&document, None, Some(&index));
    let kept = serde_json::json!([
        {"verb": "search", "resource": "internet", "constraints": ["human_in_the_loop", "readonly"]}
    ]);
    assert_eq!(find(&imported.value.index), kept);
    assert_eq!(
        imported.value.claims,
        ["r@1/find: search:internet + human_in_the_loop, readonly"]
    );
    let [warning] = &imported.warnings[..] else {
        panic!("{:#?}", imported.warnings);
    };
    assert_eq!(warning.code, Code::ImportClaims);
    assert_eq!(warning.labels[0].place.source, DocumentKind::Import);
    assert!(
        warning.fixes[0].title.contains("human_in_the_loop"),
        "{warning:#?}"
    );
    let again = run(&document, None, Some(&imported.value.index)).value;
    assert_eq!(again.index, imported.value.index);
    assert_eq!(again.unchanged, ["r@1"]);
    // Sources that say the same in another order agree.
    let turned = r#", "x-summit-capabilities": [{"resource": "internet", "constraints": ["readonly"], "verb": "search"}]"#;
    assert!(
        run(&claiming(BLOCKS, turned), yaml(REACHED), None)
            .warnings
            .is_empty()
    );
}

#[test]
fn an_overlay_replaces_all_claims() {
    let document = claiming(BLOCKS, r#", "x-summit-capabilities": [{"verb": "erase"}]"#);
    for own in ["[]", "[{ verb: read, resource: fs }]"] {
        let overlay = format!(
            "servers: {{ r: {{ endpoint: pkg:generic/e, tools: {{ find: {{ x-summit-capabilities: {own} }} }} }} }}\n"
        );
        let imported = run(&document, yaml(overlay), None);
        assert!(imported.warnings.is_empty(), "{:#?}", imported.warnings);
        let blocks = find(&imported.value.index);
        assert_eq!(
            blocks.as_array().expect("a list").len(),
            own.matches("verb").count()
        );
        assert!(imported.value.claims.is_empty());
    }
}

/// The warnings about tools that are left out: codes, texts of their places, and messages.
fn left_out<'d>(imported: &Checked<Imported>, document: &'d str) -> Vec<(Code, &'d str, String)> {
    let warnings = imported.warnings.iter();
    let found = warnings.filter(|it| it.message.contains(" left out"));
    found
        .map(|it| {
            assert_eq!(it.severity, Severity::Warning, "{it:#?}");
            let place = it.labels[0].place;
            assert_eq!(place.source, DocumentKind::Import, "{it:#?}");
            (it.code, place.span.of(document), it.message.clone())
        })
        .collect()
}

/// The names of the tools of the only server.
fn tools(index: &str) -> Vec<String> {
    let index: serde_json::Value = serde_json::from_str(index).expect("JSON");
    let tools = index["servers"][0]["capabilities"]["tools"].as_object();
    tools.expect("tools").keys().cloned().collect()
}

#[test]
fn a_tool_of_which_a_claim_is_none_is_left_out_unless_the_overlay_declares_its_capabilities() {
    for (claim, code, place) in [
        (
            r#"[{"verb": "serach", "resource": "fs"}]"#,
            Code::UnknownValue,
            "\"serach\"",
        ),
        (
            r#"[{"verb": "search", "resource": "fs", "constraints": ["read-only"]}]"#,
            Code::UnknownValue,
            "\"read-only\"",
        ),
        (
            r#"[{"verb": "search"}]"#,
            Code::MissingField,
            r#"[{"verb": "search"}]"#,
        ),
        (r#""search""#, Code::WrongType, "\"search\""),
    ] {
        let document = claiming("[]", &format!(r#", "x-summit-capabilities": {claim}"#));
        let imported = run(&document, yaml(REACHED), None);
        let [(found, at, message)] = &left_out(&imported, &document)[..] else {
            panic!("{:#?}", imported.warnings);
        };
        assert_eq!((*found, *at), (code, place), "{message}");
        assert!(message.contains("`find`"), "{message}");
        assert_eq!(tools(&imported.value.index), ["listChanged"]);
        let mended = "servers: { r: { endpoint: pkg:generic/e, tools: { find: { x-summit-capabilities: [] } } } }\n";
        let mended = run(&document, yaml(mended), None);
        assert!(mended.warnings.is_empty(), "{:#?}", mended.warnings);
        assert_eq!(tools(&mended.value.index), ["find", "listChanged"]);
    }
}

#[test]
fn one_bad_tool_never_costs_its_server() {
    let good = r#"{"name": "print", "inputSchema": {"type": "object"}}"#;
    for (bad, code, place, words) in [
        (
            "null",
            Code::WrongType,
            "null",
            "`tools/list.tools[0]` of `reports` is left out: the tool is null",
        ),
        (
            "[]",
            Code::WrongType,
            "[]",
            "`tools/list.tools[0]` of `reports` is left out: the tool is a list",
        ),
        (
            r#"{"inputSchema": {}}"#,
            Code::MissingField,
            "{",
            "`tools/list.tools[0]` of `reports` is left out: `name` is missing",
        ),
        (r#"{"name": 7}"#, Code::WrongType, "7", "`name` is a number"),
        (
            r#"{"name": "", "inputSchema": {}}"#,
            Code::InvalidName,
            "\"\"",
            "the name is empty",
        ),
        (
            r#"{"name": "a/b", "inputSchema": {}}"#,
            Code::InvalidName,
            "\"a/b\"",
            "`a/b` of `reports` is left out: the name can't be used: it contains `/`",
        ),
        (
            r#"{"name": "a\tb", "inputSchema": {}}"#,
            Code::InvalidName,
            r#""a\tb""#,
            "U+0009",
        ),
        (
            "{\"name\": \"a\u{200b}b\", \"inputSchema\": {}}",
            Code::InvisibleCharacter,
            "\"a\u{200b}b\"",
            "`a<U+200B>b` of `reports` is left out: the name contains U+200B",
        ),
        (
            r#"{"name": "bad"}"#,
            Code::MissingField,
            "{",
            "`bad` of `reports` is left out: `inputSchema` is missing",
        ),
        (
            r#"{"name": "bad", "inputSchema": null}"#,
            Code::WrongType,
            "null",
            "`bad` of `reports` is left out: `inputSchema` is null",
        ),
        (
            r#"{"name": "bad", "inputSchema": "{}"}"#,
            Code::WrongType,
            "\"{}\"",
            "`inputSchema` is a string",
        ),
        (
            r#"{"name": "bad", "inputSchema": {}, "outputSchema": true}"#,
            Code::WrongType,
            "true",
            "`outputSchema` is a boolean",
        ),
        (
            r#"{"name": "bad", "inputSchema": {}, "annotations": []}"#,
            Code::WrongType,
            "[]",
            "`annotations` is a list",
        ),
        (
            r#"{"name": "bad", "inputSchema": {}, "description": 7}"#,
            Code::WrongType,
            "7",
            "`description` is a number",
        ),
        (
            r#"{"name": "bad", "inputSchema": {}}, {"name": "bad", "inputSchema": {}, "title": "x"}"#,
            Code::ImportValue,
            "\"bad\"",
            "`bad` of `reports` is left out: several tools have this name",
        ),
        (
            r#"{"name": "bad", "inputSchema": {}}, {"name": "bad"}"#,
            Code::MissingField,
            "{",
            "`bad` of `reports` is left out: `inputSchema` is missing",
        ),
    ] {
        let document = format!(
            r#"{{"package": "reports", "version": "1", "endpoint": "https://reports.example/mcp", "tools/list": {{"tools": [{bad}, {good}]}}}}"#
        );
        let imported = run(&document, about("reports", ""), None);
        let [(found, at, message)] = &left_out(&imported, &document)[..] else {
            panic!("{bad}: {:#?}", imported.warnings);
        };
        assert_eq!((*found, *at), (code, place), "{message}");
        assert!(
            message.contains(words) && message.contains("`reports`"),
            "{message}"
        );
        assert_eq!(tools(&imported.value.index), ["print"]);
        assert_eq!(imported.value.left_out.len(), 1, "{bad}");
        // The last tool of a server may be a bad one.
        let alone = document.replace(&format!(", {good}"), "");
        let alone = run(&alone, about("reports", ""), None).value;
        assert_eq!((tools(&alone.index).len(), alone.added.len()), (0, 1));
    }
}

#[test]
fn tools_of_one_defect_are_counted_in_one_warning() {
    let tools: Vec<_> = (0..20_000)
        .map(|n| format!(r#"{{"name": "t{n}", "inputSchema": null}}, null"#))
        .collect();
    let document = format!(
        r#"{{"package": "reports", "version": "1", "endpoint": "https://reports.example/mcp", "tools/list": {{"tools": [{}]}}}}"#,
        tools.join(",")
    );
    let imported = run(&document, about("reports", ""), None);
    let messages: Vec<_> = left_out(&imported, &document)
        .into_iter()
        .map(|(.., it)| it)
        .collect();
    assert_eq!(
        messages,
        [
            "20000 tools of `reports` are left out, `t0`, `t1`, `t2`, `t3`, `t4` and 19995 more: `inputSchema` is null, not an object",
            "20000 tools of `reports` are left out, `tools/list.tools[1]`, `tools/list.tools[3]`, `tools/list.tools[5]`, \
             `tools/list.tools[7]`, `tools/list.tools[9]` and 19995 more: the tool is null, not an object",
        ]
    );
    assert_eq!(imported.value.left_out.len(), 40_000);
}

#[test]
fn a_tool_that_is_left_out_is_named_once() {
    let document = |list: &str| {
        format!(
            r#"{{"package": "reports", "version": "1", "endpoint": "https://reports.example/mcp",
                "initialize": {{"capabilities": {{"tools": {{"a/b": {{}}, "flag": 1}}}}}},
                "tools/list": {{"tools": [{list}]}}}}"#
        )
    };
    let good = document(r#"{"name": "mail", "inputSchema": {}}"#);
    let before = run(&good, about("reports", ""), None);
    assert_eq!(left_out(&before, &good).len(), 2, "{:#?}", before.warnings);
    // Neither is it missing in the capture, nor unknown to an overlay.
    let bad = document(r#"{"name": "mail", "inputSchema": 1}, {"name": "a/b", "inputSchema": {}}"#);
    let overlay = "tools: { mail: { x-summit-capabilities: [] } }";
    let after = run(&bad, about("reports", overlay), Some(&before.value.index));
    let found = left_out(&after, &bad);
    let codes: Vec<_> = found.iter().map(|(code, ..)| *code).collect();
    assert_eq!(
        codes,
        [Code::WrongType, Code::WrongType, Code::InvalidName],
        "{found:#?}"
    );
    assert_eq!(after.warnings.len(), 3, "{:#?}", after.warnings);
    assert_eq!(tools(&after.value.index), [""; 0]);
}

#[test]
fn no_tool_that_declares_that_it_writes_is_readonly() {
    let overlay = |own: &str| {
        yaml(format!(
            "servers: {{ r: {{ endpoint: pkg:generic/e, tools: {{ find: {{ x-summit-capabilities: {own} }} }} }} }}\n"
        ))
    };
    for hint in [
        r#""readOnlyHint": false"#,
        r#""readOnlyHint": true, "destructiveHint": true"#,
    ] {
        let annotated = format!(r#", "annotations": {{{hint}}}"#);
        let document = claiming(BLOCKS, &annotated);
        let problems = refuse(&document, yaml(REACHED), None);
        assert_eq!(
            places(&problems, &[(DocumentKind::Import, &document)]),
            [(Code::ImportValue, DocumentKind::Import, "\"readonly\"")]
        );
        let help = &problems[0].fixes[0].title;
        assert!(
            help.contains("internet") && !help.contains("readonly"),
            "{help}"
        );
        run(
            &document,
            overlay("[{ verb: search, resource: internet }]"),
            None,
        );
        let claimed = "[{ verb: search, resource: internet, constraints: [readonly] }]";
        let problems = refuse(&document, overlay(claimed), None);
        assert_eq!(problems[0].code, Code::ImportValue, "{problems:#?}");
        assert_eq!(problems[0].labels[0].place.source, DocumentKind::Overlay);
        // Without claims, nothing suggests it.
        let silent = document.replace(
            ", \"find\": { \"x-summit-capabilities\": ",
            ", \"other\": { \"y\": ",
        );
        let warnings = run(&silent, yaml(REACHED), None).warnings;
        assert_eq!(warnings.len(), 1, "{warnings:#?}");
        assert_eq!(warnings[0].code, Code::ImportNoCapability);
        assert!(
            !warnings[0].fixes[0].title.contains("readonly"),
            "{warnings:#?}"
        );
    }
    let harmless = claiming(BLOCKS, r#", "annotations": {"readOnlyHint": true}"#);
    run(&harmless, yaml(REACHED), None);
}

#[test]
fn a_tool_that_is_gone_is_removed_with_a_warning() {
    let index = run(CAPTURE, yaml(CAPTURED), Some(INDEX)).value.index;
    let fewer = CAPTURE.replace(r#","name": "count""#, "").replace(
        ",\n        { \"name\": \"count\", \"inputSchema\": { \"type\": \"object\" } }",
        "",
    );
    let imported = run(&fewer, None, Some(&index));
    assert_eq!(
        places(&imported.warnings, &[(DocumentKind::Index, &index)]),
        [(Code::ImportToolRemoved, DocumentKind::Index, "\"count\"")]
    );
    assert!(!imported.value.index.contains("count"));
    assert!(imported.value.index.contains("\"verb\": \"search\""));
}

#[test]
fn the_definition_of_a_tool_is_that_of_the_capture_and_the_rest_stays() {
    let index = run(CAPTURE, yaml(CAPTURED), Some(INDEX)).value.index;
    let own = index.replace(
        "\"count\": {",
        "\"count\": {\n\"description\": \"by hand\", \"outputSchema\": {}, \"x-note\": 1.0,",
    );
    let imported = run(CAPTURE, None, Some(&own)).value;
    let kept = index.replace(
        "\"x-summit-capabilities\": []",
        "\"x-note\": 1.0,\n            \"x-summit-capabilities\": []",
    );
    assert_eq!(imported.index, kept);
}

#[test]
fn names_that_are_no_ids_are_given_another_one() {
    let document = CAPTURE.replace("\"package\": \"com", "\"package\": \"@com");
    let problems = refuse(&document, yaml("version: v0.1\n"), Some(INDEX));
    let bad = problems
        .iter()
        .find(|p| p.code == Code::ImportValue)
        .expect("a bad id");
    assert_eq!(
        bad.fixes[0].title,
        "add to the overlay:\nservers:\n  \"@com.acme/reports\":\n    id: \"com.acme/reports\""
    );
    for key in ["\"@com.acme/reports\"", "reports"] {
        let overlay = format!("servers: {{ {key}: {{ id: com.acme/reports }} }}");
        let imported = run(&document, yaml(overlay), Some(INDEX)).value;
        assert_eq!(imported.changed, ["com.acme/reports@1.2.0"]);
    }
}

#[test]
fn parts_of_an_overlay_are_found_by_name_id_and_version() {
    let overlay = format!(
        "servers:
  com.acme/reports: {{ id: r, version: 3 }}
  r:
{REST}    class: free
  r@3: {{ class: local, id: other }}
"
    );
    let imported = run(SERVER_JSON, yaml(overlay.clone()), None);
    assert_eq!(imported.value.added, ["r@3"]);
    assert!(imported.value.index.contains("\"class\": \"local\""));
    assert_eq!(
        places(&imported.warnings, &[(DocumentKind::Overlay, &overlay)]),
        [(Code::ImportUnused, DocumentKind::Overlay, "other")]
    );
}

#[test]
fn an_unknown_field_of_an_overlay_is_refused() {
    let overlay = "version: v0.1
server: {}
servers:
  com.acme/reports:
    categoris: []
    categories: []
    data: { residency: any, maxSensitivity: public, x: 1, x-y: 1 }
    tools:
      search: { x-summit-capabilities: [], y: 1 }
";
    let found = refuse(CAPTURE, yaml(overlay), Some(INDEX));
    let found: Vec<_> = places(&found, &[(DocumentKind::Overlay, overlay)])
        .into_iter()
        .filter(|(_, source, _)| *source == DocumentKind::Overlay)
        .map(|(code, _, text)| (code, text))
        .collect();
    let unknown = ["server", "categoris", "x", "y"].map(|text| (Code::UnknownKey, text));
    assert_eq!(found, unknown);
}

#[test]
fn what_of_an_overlay_has_no_effect_is_warned_of() {
    let overlay = format!(
        "version: v0.1
servers:
  com.acme/report: {{}}
  com.acme/reports:
    data: {{ residency: any, maxSensitivity: public }}
    tools:
      serach: {{ x-summit-capabilities: [] }}
{}",
        REST.replace("    data: { residency: any, maxSensitivity: public }\n", "")
    );
    let imported = run(CAPTURE, yaml(overlay.clone()), Some(INDEX));
    let found = places(&imported.warnings, &[(DocumentKind::Overlay, &overlay)]);
    let found: Vec<_> = found
        .into_iter()
        .filter(|(_, source, _)| *source == DocumentKind::Overlay)
        .map(|(code, _, text)| (code, text))
        .collect();
    assert_eq!(
        found,
        [
            (Code::ImportUnused, "com.acme/report"),
            (Code::ImportUnused, "serach"),
        ]
    );
    let helps: Vec<_> = imported
        .warnings
        .iter()
        .flat_map(|w| w.fixes.iter().map(|fix| &fix.title))
        .collect();
    for meant in ["com.acme/reports", "search"] {
        let help = format!("did you mean `{meant}`?");
        assert!(helps.contains(&&help), "{help} in {helps:?}");
    }
    let early = run(SERVER_JSON, yaml(CAPTURED), Some(INDEX));
    assert_eq!(
        places(&early.warnings, &[(DocumentKind::Overlay, CAPTURED)]),
        [(Code::ImportUnused, DocumentKind::Overlay, "tools")]
    );
}

#[test]
fn what_the_loader_refuses_is_refused_where_it_was_written() {
    let overlay = "servers:
  com.acme/reports:
    categories: [ok, \"a\\tb\"]
    scopes: [\"a,b\"]
    data: { residency: [any, mars-only], maxSensitivity: publik }
    trust: { signed: maybe, publisher: \"\" }
    policy: { rateLimitPerMin: many }
    endpoint: a|b
";
    let problems = refuse(SERVER_JSON, yaml(overlay), None);
    assert_eq!(
        places(&problems, &[(DocumentKind::Overlay, overlay)]),
        [
            (Code::InvalidName, DocumentKind::Overlay, "\"a\\tb\""),
            (Code::InvalidName, DocumentKind::Overlay, "\"a,b\""),
            (Code::UnknownValue, DocumentKind::Overlay, "mars-only"),
            (Code::UnknownValue, DocumentKind::Overlay, "publik"),
            (Code::WrongType, DocumentKind::Overlay, "maybe"),
            (Code::EmptyValue, DocumentKind::Overlay, "\"\""),
            (Code::WrongType, DocumentKind::Overlay, "many"),
            (Code::InvalidName, DocumentKind::Overlay, "a|b"),
        ]
    );
    let overlay = "servers: { com.acme/reports: { data: 1, trust: [], scopes: , version: [] } }";
    let problems = refuse(SERVER_JSON, yaml(overlay), Some(INDEX));
    let found = places(&problems, &[(DocumentKind::Overlay, overlay)]);
    for wrong in ["1", "[]"] {
        assert!(
            found.contains(&(Code::WrongType, DocumentKind::Overlay, wrong)),
            "{found:?}"
        );
    }
    let document = SERVER_JSON.replace(
        "\"version\": \"1.2.0\",\n  \"pack",
        "\"version\": \"1|2\",\n  \"pack",
    );
    let problems = refuse(&document, about("com.acme/reports", ""), None);
    assert_eq!(
        places(&problems, &[(DocumentKind::Import, &document)]),
        [(Code::InvalidName, DocumentKind::Import, "\"1|2\"")]
    );
}

#[test]
fn what_a_tool_can_t_be_said_to_do_is_refused_in_the_overlay() {
    let overlay = "---
servers:
  com.acme/reports:
    tools:
      search:
        x-summit-capabilities:
          - { verb: serach, resource: codebase, constraints: [readonly] }
          - { verb: search, resource: internets, constraints: [readonli, x-own] }
          - { verb: search }
          - { verb: [read], resource: x-crm, constraints: readonly }
      count:
        x-summit-capabilities: { verb: read, resource: fs }
";
    let problems = refuse(CAPTURE, yaml(overlay), Some(INDEX));
    assert_eq!(
        places(&problems, &[(DocumentKind::Overlay, overlay)]),
        [
            (Code::UnknownValue, DocumentKind::Overlay, "serach"),
            (Code::UnknownValue, DocumentKind::Overlay, "internets"),
            (Code::UnknownValue, DocumentKind::Overlay, "readonli"),
            (Code::MissingField, DocumentKind::Overlay, "search"),
            (Code::WrongType, DocumentKind::Overlay, "[read]"),
            (Code::WrongType, DocumentKind::Overlay, "readonly"),
            (
                Code::WrongType,
                DocumentKind::Overlay,
                "{ verb: read, resource: fs }"
            ),
        ]
    );
    for (problem, meant) in problems.iter().zip(["search", "internet", "readonly"]) {
        let help = format!("write `{meant}`");
        assert!(
            problem.fixes.iter().any(|fix| fix.title == help),
            "{problem:#?}"
        );
    }
}

#[test]
fn one_server_twice_in_a_document_is_refused_at_both_places() {
    let document = format!("{{\"servers\": [{SERVER_JSON}, {{\"server\": {OLDER}}}]}}");
    for existing in [None, Some(INDEX)] {
        let problems = refuse(&document, about("com.acme/reports", ""), existing);
        assert_eq!(problems.len(), 1, "{problems:#?}");
        assert_eq!(problems[0].code, Code::DuplicateServer);
        let places: Vec<_> = problems[0].labels.iter().map(|l| l.place).collect();
        assert_eq!(places.len(), 2);
        for place in &places {
            assert_eq!(place.source, DocumentKind::Import);
            assert_eq!(place.span.of(&document), "\"com.acme/reports\"");
        }
        assert_ne!(places[0], places[1]);
    }
}

#[test]
fn an_id_that_looks_like_another_is_warned_of_where_both_stand() {
    let document = SERVER_JSON.replace("com.acme", "c\u{43e}m.acme");
    let imported = run(&document, about("c\u{43e}m.acme/reports", ""), Some(INDEX));
    let warning = &imported.warnings[0];
    assert_eq!(warning.code, Code::LookalikeId);
    let texts = [
        (DocumentKind::Index, INDEX),
        (DocumentKind::Import, &*document),
    ];
    for label in &warning.labels {
        let (_, text) = texts
            .iter()
            .find(|(s, _)| *s == label.place.source)
            .expect("a text");
        let text = label.place.span.of(text);
        assert!(
            text.starts_with("\"c") && text.ends_with("m.acme/reports\""),
            "{text}"
        );
    }
    assert_ne!(
        warning.labels[0].place.source,
        warning.labels[1].place.source
    );
}

fn run_all(documents: &[&str], overlay: Option<Overlay>) -> Checked<Imported> {
    but_unrated(import(bytes(documents), overlay, None))
}

fn refuse_all(documents: &[&str], overlay: Option<Overlay>) -> Vec<Diagnostic> {
    import(bytes(documents), overlay, None).expect_err("problems")
}

fn bytes(documents: &[&str]) -> Vec<Vec<u8>> {
    documents
        .iter()
        .map(|document| document.as_bytes().to_vec())
        .collect()
}

/// A capture of a server with one tool.
fn capture_of(package: &str, tool: &str) -> String {
    format!(
        r#"{{"package": "{package}", "version": "1", "tools/list": {{"tools": [{{"name": "{tool}", "inputSchema": {{}}}}]}}}}"#
    )
}

#[test]
fn every_format_names_the_document_of_a_warning() {
    let [first, second] = [capture_of("one", "a"), capture_of("two", "b")];
    let overlay = yaml(format!(
        "servers:\n  one:\n    endpoint: pkg:generic/e\n{REST}  two:\n    endpoint: pkg:generic/e\n{REST}"
    ));
    let warnings = run_all(&[&first, &second], overlay).warnings;
    let files: Vec<_> = ["first.json", "second.json"]
        .into_iter()
        .zip(0..)
        .map(|(path, number)| File {
            source: DocumentKind::Import,
            number,
            path: path.to_owned(),
        })
        .collect();
    assert_eq!(warnings.len(), 2);
    for (warning, (document, file)) in warnings.iter().zip([&first, &second].iter().zip(&files)) {
        let place = warning.labels[0].place;
        assert_eq!(place.number, file.number);
        assert!(["\"a\"", "\"b\""].contains(&place.span.of(document)));
        for format in [Format::Json, Format::Sarif, Format::Github] {
            let report = report(format, std::slice::from_ref(warning), &files);
            for other in &files {
                assert_eq!(report.contains(&other.path), other == file, "{report}");
            }
        }
    }
}

#[test]
fn every_document_s_problems_are_reported_in_one_run() {
    let [first, third] = [capture_of("one", "a"), capture_of("three", "c")];
    let numbers = |problems: &[Diagnostic]| {
        let mut numbers: Vec<_> = problems
            .iter()
            .map(|problem| problem.labels[0].place.number)
            .collect();
        numbers.dedup();
        numbers
    };
    assert_eq!(
        numbers(&refuse_all(&[&first, CLIENT, &third], None)),
        [0, 1, 2]
    );
    assert_eq!(numbers(&refuse_all(&[&first, "{", "{}"], None)), [1, 2]);
    let undecoded = vec![b"{}".to_vec(), b"\xff".to_vec(), b"\xff".to_vec()];
    let problems = import(undecoded, None, None).expect_err("no UTF-8");
    assert_eq!(numbers(&problems), [1, 2]);
}

#[test]
fn one_overlay_completes_all_documents_once_it_is_filled_in() {
    let documents = [&*capture_of("@one", "a"), CLIENT, SERVER_JSON];
    let fill = |title: &str| {
        let (_, lines) = title.split_once(":\n").expect("lines");
        [
            ("<version>", "1"),
            ("<endpoint>", "pkg:generic/e"),
            ("pkg:npm/<package>@<version>", "pkg:generic/e"),
            ("pkg:npm/<package>@1", "pkg:generic/e"),
            ("<category>", "x"),
            ("<scope>", "x"),
            ("<any, eu-only or us-only>", "any"),
            (
                "<public, internal, confidential, pii.low, pii.moderate or pii.high>",
                "public",
            ),
            ("\"<true or false>\"", "true"),
            ("<true or false>", "true"),
            ("<publisher>", "Acme"),
        ]
        .iter()
        .fold(lines.to_owned(), |text, (from, to)| text.replace(from, to))
    };
    let whole = |problems: &[Diagnostic]| {
        let last = problems[0].fixes.last().expect("a fix");
        last.title.clone()
    };
    let title = whole(&refuse_all(&documents, None));
    assert!(
        title.contains("`--overlay`") && title.contains("\n    id: \"one\""),
        "{title}"
    );
    let imported = run_all(&documents, yaml(fill(&title)));
    assert_eq!(imported.value.added.len(), 4, "{:#?}", imported.value.added);
    // An overlay in JSON is completed in JSON.
    let title = whole(&refuse_all(&documents, yaml("{\"version\": \"v0.1\"}")));
    let overlay = format!("{{\"version\": \"v0.1\", {}}}", fill(&title));
    let again = run_all(&documents, yaml(overlay));
    assert_eq!(again.value, imported.value);
}

#[test]
fn documents_of_one_server_complete_each_other_in_any_order() {
    let overlay = about(
        "com.acme/reports",
        "tools: { search: { x-summit-capabilities: [] }, count: { x-summit-capabilities: [] } }",
    );
    let expected = run_all(&[SERVER_JSON, CAPTURE], overlay.clone());
    assert!(expected.warnings.is_empty(), "{:?}", expected.warnings);
    assert_eq!(expected.value.added, ["com.acme/reports@1.2.0"]);
    assert!(expected.value.index.contains("\"search\": {"));
    // The capture alone lacks the endpoint.
    refuse(CAPTURE, overlay.clone(), None);
    let reversed = run_all(&[CAPTURE, SERVER_JSON], overlay.clone());
    assert_eq!(reversed.value, expected.value);
    // A key of the overlay is reported once for all documents.
    let mut unknown = overlay.expect("an overlay");
    unknown.bytes.extend(b"zzz: 1\n");
    let problems = refuse_all(&[CAPTURE, SERVER_JSON, CAPTURE], Some(unknown));
    assert_eq!(problems.len(), 1, "{problems:#?}");
}

#[test]
fn documents_of_no_form_or_of_two_are_refused() {
    for (document, code) in [
        ("{}", Code::ImportFormat),
        ("[]", Code::ImportFormat),
        ("\"x\"", Code::ImportFormat),
        (INDEX, Code::ImportFormat),
        (
            r#"{"name": "x", "version": "1", "description": "a package.json"}"#,
            Code::ImportFormat,
        ),
        (
            r#"{"mcpServers": {}, "tools/list": {"tools": []}}"#,
            Code::ImportFormat,
        ),
        (
            r#"{"tools/list": {"tools": []}, "2025-11-25": {"tools/list": {"tools": []}}}"#,
            Code::ImportFormat,
        ),
        (r#"{"tools/list": {"tools": []}}"#, Code::MissingField),
        (r#"{"server": {}}"#, Code::MissingField),
        (r#"{"mcpServers": {"a": 1}}"#, Code::WrongType),
        ("", Code::EmptyDocument),
        ("{\"mcpServers\": {}} {}", Code::JsonSyntax),
    ] {
        let problems = refuse(document, None, None);
        assert_eq!(problems[0].code, code, "{document}: {problems:#?}");
        assert!(problems.iter().any(|p| !p.fixes.is_empty()) || code == Code::WrongType);
    }
    for document in [
        r#"{"mcpServers": {}}"#,
        r#"{"mcpServers": {}, "servers": {}}"#,
    ] {
        let none = run(document, None, None).value;
        assert_eq!(none.index, "{\n  \"servers\": []\n}\n");
    }
}

#[test]
fn an_index_that_is_not_valid_is_not_written_to() {
    let problems = refuse(SERVER_JSON, about("com.acme/reports", ""), Some("[{}]"));
    assert!(
        problems
            .iter()
            .all(|p| p.labels[0].place.source == DocumentKind::Index)
    );
    assert!(lower::index(b"[{}]".to_vec()).is_err());
}

#[test]
fn an_overlay_is_json_by_its_name_or_its_beginning() {
    let json = r#"{"servers": {"com.acme/reports": {"categories": [], "scopes": [],
        "data": {"residency": "any", "maxSensitivity": "public"},
        "trust": {"signed": true, "publisher": "1"}, "policy": {"rateLimitPerMin": 1.0}}}}"#;
    let index = run(SERVER_JSON, yaml(json), None).value.index;
    assert!(index.contains("\"rateLimitPerMin\": 1.0"));
    let overlay = about("com.acme/reports", "").map(|o| Overlay {
        notation: Notation::of_file("o.json"),
        ..o
    });
    assert_eq!(refuse(SERVER_JSON, overlay, None)[0].code, Code::JsonSyntax);
    let unread = refuse(SERVER_JSON, yaml("a: &b c"), None);
    assert!(
        unread
            .iter()
            .any(|p| p.message == "the file uses an anchor")
    );
}

#[test]
fn damaged_inputs_are_answered_without_a_panic_and_what_is_accepted_is_an_index() {
    let overlay = format!(
        "servers:\n  reports:\n    version: 1\n{REST}  local:\n    version: 1.0.0\n    endpoint: pkg:generic/e\n{REST}  com.acme/reports:\n{REST}    tools: {{ search: {{ x-summit-capabilities: [] }} }}\n"
    );
    let mut accepted = 0;
    for document in [SERVER_JSON, OLDER, CLIENT, CAPTURE] {
        let inputs = [document, &*overlay, INDEX];
        for (place, input) in inputs.iter().enumerate() {
            // Each byte away, each doubled, each another one, in turn.
            for at in 0..input.len() {
                let (before, rest) = (&input[..at], &input[at + 1..]);
                let damaged = match at % 4 {
                    0 => format!("{before}{rest}"),
                    1 => format!("{before}{0}{0}{rest}", &input[at..=at]),
                    2 => format!("{before}\"{rest}"),
                    _ => format!("{before}]{rest}"),
                };
                let mut texts = inputs.map(str::to_owned);
                texts[place] = damaged;
                let [document, overlay, index] = texts;
                let existing = Some(index.into_bytes());
                let imported = import(
                    vec![document.clone().into_bytes()],
                    yaml(&*overlay),
                    existing,
                );
                if let Ok(imported) = imported {
                    accepted += 1;
                    let index = imported.value.index;
                    let again = run(&document, yaml(overlay), Some(&index)).value;
                    assert_eq!(again.index, index);
                }
            }
        }
    }
    assert!(accepted > 100, "{accepted}");
}

#[test]
fn hostile_inputs_end() {
    // As deep as a document may be is deeper than an index may be.
    let deep = |levels: usize| {
        let schema = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        format!(
            "{{\"package\": \"r\", \"version\": \"1\", \"tools/list\": {{\"tools\": [{{\"name\": \"t\", \"inputSchema\": {{\"x\": {schema}}}}}]}}}}"
        )
    };
    let overlay = || about("r", "endpoint: pkg:generic/e");
    run(&deep(110), overlay(), None);
    for (levels, code) in [(123, Code::NestingTooDeep), (200, Code::NestingTooDeep)] {
        let problems = refuse(&deep(levels), overlay(), None);
        assert!(problems.iter().any(|p| p.code == code), "{problems:#?}");
    }
    let twice = deep(2).replace("\"x\":", "\"x\": 1, \"\": 2, \"\": 3, \"x\":");
    let problems = refuse(&twice, overlay(), None);
    assert_eq!(problems.len(), 2 + 1, "{problems:#?}");
    assert_eq!(problems[1].code, Code::DuplicateKey);
    let remotes: Vec<_> = (0..100_000)
        .map(|n| format!("{{\"url\": \"https://a{n}.example\"}}"))
        .collect();
    let remotes = format!(
        "{{\"name\": \"r\", \"version\": \"1\", \"remotes\": [{}]}}",
        remotes.join(",")
    );
    assert_eq!(refuse(&remotes, about("r", ""), None)[0].fixes.len(), 8);
    let tools: Vec<_> = (0..20_000)
        .map(|n| format!("{{\"name\": \"tool_{n}\", \"inputSchema\": {{}}}}"))
        .collect();
    let tools = format!(
        "{{\"package\": \"r\", \"version\": \"1\", \"tools/list\": {{\"tools\": [{}]}}}}",
        tools.join(",")
    );
    let others: String = (0..20_000)
        .map(|n| format!("      tool-{n}: {{}}\n"))
        .collect();
    let others = yaml(format!(
        "servers:\n  r:\n    endpoint: pkg:generic/e\n{REST}    tools:\n{others}"
    ));
    // Unknown tools of the overlay, and one warning for all tools without capabilities.
    let found = run(&tools, others, None).warnings;
    assert_eq!(found.len(), 1_001);
    let silent: Vec<_> = found
        .iter()
        .filter(|it| it.code == Code::ImportNoCapability)
        .collect();
    assert_eq!(
        silent[0].message,
        "the tools `tool_0`, `tool_1`, `tool_10`, `tool_100`, `tool_1000` and 19995 more declare no capabilities"
    );
    // Indented, few bytes are many.
    let ones = vec!["0"; 2_500_000].join(",");
    let problems = refuse(
        &deep(100).replace("[1]", &format!("[{ones}]")),
        overlay(),
        None,
    );
    assert_eq!(
        problems[0].code,
        Code::InputTooLarge,
        "{:#?}",
        &problems[..1]
    );
    let large = " ".repeat((16 << 20) + 1);
    assert_eq!(refuse(&large, None, None)[0].code, Code::InputTooLarge);
    assert_eq!(
        refuse(SERVER_JSON, yaml(large), None)[0].code,
        Code::InputTooLarge
    );
    let many: Vec<_> = (0..20_000)
        .map(|n| format!("\"s{n}\": {{\"url\": \"x\"}}"))
        .collect();
    let many = format!("{{\"mcpServers\": {{{}}}}}", many.join(","));
    let problems = refuse(&many, None, None);
    assert!(
        (1_000..4_000).contains(&problems.len()),
        "{}",
        problems.len()
    );
    let unused: String = (0..20_000).map(|n| format!("  s{n}x: {{}}\n")).collect();
    let problems = refuse(&many, yaml(format!("servers:\n{unused}")), None);
    assert!(
        (1_000..4_000).contains(&problems.len()),
        "{}",
        problems.len()
    );
}

#[test]
fn the_example_of_the_documentation_is_what_is_written() {
    let page = include_str!("../../../docs/reference/index-import.md");
    let blocks: Vec<_> = page
        .split("\n```")
        .filter_map(|part| part.strip_prefix("json\n").or(part.strip_prefix("yaml\n")))
        .map(|block| format!("{block}\n"))
        .collect();
    let [document, overlay, index, another] = &blocks[..] else {
        panic!("{} blocks", blocks.len());
    };
    let imported = run(document, yaml(overlay), None);
    assert!(imported.warnings.is_empty(), "{:?}", imported.warnings);
    assert_eq!(&imported.value.index, index);
    // The other overlay is one as well: only that its servers are not here is said of it.
    let imported = run("{\"mcpServers\": {}}", yaml(another), Some(index));
    assert_eq!(&imported.value.index, index);
    let codes: Vec<_> = imported.warnings.iter().map(|w| w.code).collect();
    assert_eq!(codes, [Code::ImportUnused]);
}
