//! The forms of documents that people have, small, each with the entries that it becomes.

use agent_diagnostic::{Code, Diagnostic, Severity};
use agent_import::{
    CLIENT_FORMS, Imported, NoFirstManifest, Offer, Overlay, ServerStart, Setting, SettingPart,
    Variable, first_manifest, import, installed_servers,
};
use agent_lower::{Checked, Notation};
use proptest::prelude::*;
use serde_json::{Value, json};

fn imported(documents: &[&str], overlay: &str) -> Result<Checked<Imported>, Vec<Diagnostic>> {
    let documents = documents.iter().map(|it| it.as_bytes().to_vec()).collect();
    let overlay = Overlay {
        bytes: overlay.as_bytes().to_vec(),
        notation: Notation::default(),
    };
    import(documents, Some(overlay), None)
}

/// The ids, versions and endpoints of the entries that a document becomes, in a line each.
fn entries(document: &str, overlay: &str) -> Vec<String> {
    let imported = imported(&[document], overlay);
    let imported = imported.unwrap_or_else(|problems| panic!("{document}\n{problems:#?}"));
    let index: Value = serde_json::from_str(&imported.value.index).expect("an index");
    let servers = index["servers"].as_array().expect("servers").iter();
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let lines = servers.map(|it| {
        let [id, version, endpoint] = ["id", "version", "endpoint"].map(|key| text(it, key));
        format!("{id} {version} {endpoint}")
    });
    lines.collect()
}

/// The first error of a document, with the text that it points at.
fn refusal<'d>(document: &'d str, overlay: &str) -> (Code, &'d str, String) {
    let problems = imported(&[document], overlay).expect_err(document);
    let is_error = |it: &Diagnostic| it.severity == Severity::Error;
    let first = problems.into_iter().find(is_error).expect("an error");
    let place = first.labels[0].place;
    assert!(!first.fixes.is_empty(), "{first:#?}");
    (first.code, place.span.of(document), first.message)
}

/// The page about imports.
const PAGE: &str = include_str!("../../../docs/reference/index-import.md");

/// A form, a document in it, and the entries that it becomes in version 1.
type Case = (&'static str, &'static str, &'static [&'static str]);

const CLIENTS: [Case; 20] = [
    (
        "mcpServers",
        r#"{ "globalShortcut": "", "mcpServers": {
            "files": { "command": "npx", "args": ["-y", "@acme/files@1.2.3", "/home/me"], "env": { "KEY": "x" } },
            "own": { "command": "node", "args": ["C:\\own\\server.js"] }
        } }"#,
        &[
            "files 1.2.3 pkg:npm/%40acme/files@1.2.3",
            "own 1 pkg:generic/own@1",
        ],
    ),
    (
        "mcpServers",
        r#"{ "mcpServers": {
            "a": { "type": "http", "url": "https://a.example/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } },
            "b": { "type": "sse", "url": "https://b.example/sse" }
        } }"#,
        &["a 1 https://a.example/mcp", "b 1 https://b.example/sse"],
    ),
    (
        "mcpServers",
        "{\r\n  // Windsurf\r\n  \"mcpServers\": { \"a\": { \"serverUrl\": \"https://a.example/mcp\", \"disabledTools\": [], } }\r\n}",
        &["a 1 https://a.example/mcp"],
    ),
    (
        "mcpServers",
        r#"{ "name": "extension", "version": "3.0.0", "mcpServers": {
            "a": { "httpUrl": "https://a.example/mcp", "trust": true },
            "b": { "command": "uvx", "args": ["b-server"], "cwd": "${extensionPath}" }
        } }"#,
        &["a 1 https://a.example/mcp", "b 1 pkg:pypi/b-server@1"],
    ),
    (
        "mcpServers",
        "name: assistant\nversion: 0.0.1\nmcpServers:\n  - name: a\n    type: streamable-http\n    url: https://a.example/mcp\n  - name: b\n    command: npx\n    args:\n      - -y\n      - b-server\n",
        &["a 1 https://a.example/mcp", "b 1 pkg:npm/b-server@1"],
    ),
    (
        "projects.*.mcpServers",
        r#"{ "numStartups": 3, "mcpServers": { "a": { "url": "https://a.example/mcp" } },
            "projects": { "/home/me/x": { "mcpServers": { "b": { "command": "pipx", "args": ["run", "b"] } } },
                "/home/me/y": { "mcpServers": {} } } }"#,
        &["a 1 https://a.example/mcp", "b 1 pkg:pypi/b@1"],
    ),
    (
        "projects.*.mcpServers",
        r#"{ "mcpServers": { "a": { "url": "https://a.example/mcp" } },
            "projects": { "/home/me/x": { "mcpServers": { "a": { "url": "https://a.example/mcp" } } } } }"#,
        &["a 1 https://a.example/mcp"],
    ),
    (
        "servers",
        "\u{feff}{\n\t// servers\n\t\"inputs\": [ { \"type\": \"promptString\", \"id\": \"token\", \"password\": true, }, ],\n\t\"servers\": {\n\t\t\"a\": { \"type\": \"http\", \"url\": \"https://a.example/mcp\", \"headers\": { \"A\": \"${input:token}\" }, },\n\t\t\"b\": { \"command\": \"docker\", \"args\": [\"run\", \"-i\", \"--rm\", \"-e\", \"TOKEN\", \"oci.example/b:v2\"] }, /* end */\n\t},\n}\n",
        &[
            "a 1 https://a.example/mcp",
            "b v2 pkg:docker/b@v2?repository_url=oci.example",
        ],
    ),
    (
        "mcp.servers",
        r#"{ "editor.fontSize": 12, "mcp": { "inputs": [], "servers": { "a": { "url": "https://a.example/mcp" } } } }"#,
        &["a 1 https://a.example/mcp"],
    ),
    (
        "mcp.servers",
        r#"{ "mcp.servers": { "a": { "url": "https://a.example/mcp" } } }"#,
        &["a 1 https://a.example/mcp"],
    ),
    (
        "context_servers",
        r#"// Zed
        { "theme": "One", "context_servers": {
            "a": { "command": { "path": "npx", "args": ["-y", "a@2.0.0"], "env": { "TOKEN": "" } }, "settings": {} },
            "b": { "source": "custom", "command": "uvx", "args": ["b", "serve"], "env": {} },
            "c": { "url": "https://c.example/mcp" }
        } }"#,
        &[
            "a 2.0.0 pkg:npm/a@2.0.0",
            "b 1 pkg:pypi/b@1",
            "c 1 https://c.example/mcp",
        ],
    ),
    (
        "mcp_servers",
        "# Codex\nmodel = \"x\"\n\n[mcp_servers.a]\nurl = \"https://a.example/mcp\"\nbearer_token_env_var = \"TOKEN\"\n\n[mcp_servers.\"b c\"]\ncommand = \"npx\"\nargs = [\n  \"-y\",\n  \"b@2.1.0\", # fixed\n]\n\n[mcp_servers.\"b c\".env]\nKEY = \"x\"\n",
        &["a 1 https://a.example/mcp", "b c 2.1.0 pkg:npm/b@2.1.0"],
    ),
    (
        "mcp",
        r#"{ "$schema": "https://opencode.ai/config.json", "mcp": {
            "a": { "type": "remote", "url": "https://a.example/mcp", "enabled": true },
            "b": { "type": "local", "command": ["bunx", "b"], "environment": { "LOG": "error" } },
            "c": { "enabled": true }
        } }"#,
        &["a 1 https://a.example/mcp", "b 1 pkg:npm/b@1"],
    ),
    (
        "experimental.modelContextProtocolServers",
        r#"{ "models": [], "experimental": { "modelContextProtocolServers": [
            { "name": "a", "transport": { "type": "stdio", "command": "uvx", "args": ["a==3.0"] } },
            { "name": "b", "transport": { "type": "streamable-http", "url": "https://b.example/mcp" } }
        ] } }"#,
        &["a 3.0 pkg:pypi/a@3.0", "b 1 https://b.example/mcp"],
    ),
    (
        "amp.mcpServers",
        r#"{ "amp.mcpServers": { "a": { "command": "npx", "args": ["a"] } } }"#,
        &["a 1 pkg:npm/a@1"],
    ),
    (
        "extensions",
        "GOOSE_MODEL: x\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n  a:\n    enabled: true\n    type: stdio\n    cmd: npx\n    args: [-y, a]\n  b:\n    type: streamable_http\n    uri: https://b.example/mcp\n",
        &["a 1 pkg:npm/a@1", "b 1 https://b.example/mcp"],
    ),
    (
        "",
        r#"{ "a": { "command": "npx -y a@1.0.0" }, "b": { "url": "https://b.example/mcp" } }"#,
        &["a 1.0.0 pkg:npm/a@1.0.0", "b 1 https://b.example/mcp"],
    ),
    (
        "",
        r#""a": { "command": "cmd", "args": ["/c", "npx", "a"] }"#,
        &["a 1 pkg:npm/a@1"],
    ),
    (
        "",
        r#"{ "name": "a", "command": "npx", "args": ["a"] }"#,
        &["a 1 pkg:npm/a@1"],
    ),
    (
        "",
        r#"{ "mcpServers": { "a": { "command": "npx", "args": ["-y", "mcp-remote", "https://a.example"], "transport": "stdio" } } }"#,
        &["a 1 pkg:npm/mcp-remote@1"],
    ),
];

#[test]
fn every_form_of_a_client_is_read() {
    for (form, document, expected) in CLIENTS {
        assert_eq!(
            entries(document, "defaults: { version: \"1\" }"),
            expected,
            "{form}"
        );
        let draft = first_manifest(
            "bot",
            Vec::new(),
            Offer::Client(document.as_bytes().to_vec()),
        );
        let draft = draft.unwrap_or_else(|refused| panic!("{document}: {refused:?}"));
        for line in expected {
            let (id, _) = line
                .rsplit_once(' ')
                .and_then(|(it, _)| it.rsplit_once(' '))
                .expect("an id");
            let category = format!(
                "- category: {}\n",
                if id.contains(' ') {
                    json!(id).to_string()
                } else {
                    id.to_owned()
                }
            );
            assert!(draft.text.contains(&category), "{id}: {}", draft.text);
        }
    }
    for form in CLIENT_FORMS {
        let path = form.path.join(".");
        let mut cases = CLIENTS.iter().map(|(form, ..)| *form);
        assert!(cases.any(|it| it == path), "no case for `{path}`");
        let row = format!("\n| `{path}` | {} |\n", form.clients);
        assert!(PAGE.contains(&row), "the page lacks {row}");
    }
}

#[test]
fn what_a_person_has_to_give_is_named() {
    let remote = |url: &str| format!("{{ \"mcpServers\": {{ \"a\": {{ \"url\": \"{url}\" }} }} }}");
    for (url, name) in [
        (
            "${API_BASE:-https://sk-hunter2hunter2.example}/mcp",
            "API_BASE",
        ),
        ("https://a.example/${input:tenant}", "input:tenant"),
        ("https://{env:HOST}/mcp", "HOST"),
    ] {
        let document = remote(url);
        let (code, place, message) = refusal(&document, "defaults: { version: \"1\" }");
        assert_eq!((code, place), (Code::ImportValue, &*format!("\"{url}\"")));
        assert!(message.contains(&format!("`{name}`")), "{message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
    // A version that nothing fixes.
    let document = r#"{ "mcpServers": { "a": { "command": "npx", "args": ["a@latest"] }, "b": { "command": "./b" } } }"#;
    let problems = imported(&[document], "").expect_err("no version");
    let [only] = &problems[..] else {
        panic!("{problems:#?}");
    };
    assert_eq!(only.code, Code::MissingField);
    assert!(
        only.message.contains("`version` of the servers `a`, `b`"),
        "{only:#?}"
    );
    for (document, message) in [
        (
            r#"{ "mcpServers": { "a": {} } }"#,
            "neither a URL nor a command",
        ),
        (
            r#"{ "mcpServers": { "a": { "command": "x", "url": "https://a.example" } } }"#,
            "both a URL and a command",
        ),
    ] {
        let (code, _, found) = refusal(document, "defaults: { version: \"1\" }");
        assert_eq!(code, Code::ImportValue);
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn what_a_client_does_not_start_is_left_out() {
    for (document, place) in [
        (
            r#"{ "mcpServers": { "a": { "url": "https://a.example", "disabled": true } } }"#,
            "\"disabled\"",
        ),
        (
            "[mcp_servers.a]\ncommand = \"a\"\nenabled = false\n",
            "enabled",
        ),
        (
            "mcpServers:\n- { name: a, command: a, disabled: true }",
            "disabled",
        ),
    ] {
        let imported = imported(&[document], "").expect("an index");
        assert!(imported.value.added.is_empty());
        let [warning] = &imported.warnings[..] else {
            panic!("{:#?}", imported.warnings);
        };
        assert_eq!(warning.code, Code::ImportUnused);
        assert_eq!(warning.labels[0].place.span.of(document), place);
    }
}

const TOOLS: &str =
    r#"[{ "name": "find", "description": "Finds.", "inputSchema": { "type": "object" } }]"#;

/// The overlay of a list of tools, which names its server.
const OWNED: &str = "servers:\n  a:\n    version: \"1\"\n    endpoint: https://a.example/mcp\n";

#[test]
fn every_form_of_a_list_of_tools_is_read() {
    let of = |before: &str, after: &str| format!("{before}{TOOLS}{after}");
    let expected = "a 1 https://a.example/mcp";
    for document in [
        of(
            "{ \"jsonrpc\": \"2.0\", \"id\": 2, \"result\": { \"tools\": ",
            " } }",
        ),
        of("{ \"tools\": ", ", \"nextCursor\": \"\" }"),
        of("", ""),
        of(
            "event: message\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":",
            "}}\n\n",
        ),
        of(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"result\":{\"tools\":",
            "}}",
        ),
    ] {
        assert_eq!(entries(&document, OWNED), [expected], "{document}");
        let defaults = "defaults: { id: a, version: \"1\", endpoint: \"https://a.example/mcp\" }";
        assert_eq!(entries(&document, defaults), [expected], "{document}");
        let imported = imported(&[&document], OWNED).expect("an index").value;
        assert!(imported.index.contains("\"find\": {"), "{}", imported.index);
        let mut problems = self::imported(&[&document], "").expect_err("no name");
        problems.retain(|it| it.severity == Severity::Error);
        let [nameless] = &problems[..] else {
            panic!("{problems:#?}");
        };
        assert_eq!(nameless.code, Code::ImportValue);
        assert!(
            nameless.message.contains("does not name its server"),
            "{nameless:#?}"
        );
        let whole = nameless.fixes.last().expect("what to write");
        for field in ["id", "version", "endpoint"] {
            assert!(
                whole.title.contains(&format!("{field}: \"<{field}>\"")),
                "{whole:#?}"
            );
        }
    }
    for document in [
        of(
            "{ \"server\": { \"name\": \"a\", \"version\": \"1\" }, \"endpoint\": \"https://a.example/mcp\", \"tools\": ",
            " }",
        ),
        of(
            "{ \"serverInfo\": { \"name\": \"a\", \"version\": \"1\" }, \"url\": \"https://a.example/mcp\", \"tools\": ",
            " }",
        ),
        of(
            "{ \"server\": \"a\", \"version\": \"1\", \"endpoint\": \"https://a.example/mcp\", \"tools\": ",
            " }",
        ),
    ] {
        assert_eq!(entries(&document, ""), [expected], "{document}");
    }
    let package = of(
        "{ \"server\": \"a\", \"version\": \"1\", \"endpoint\": \"pkg:npm/a@1\", \"tools\": ",
        " }",
    );
    assert_eq!(entries(&package, ""), ["a 1 pkg:npm/a@1"]);
    let more = of("{ \"tools\": ", ", \"nextCursor\": \"x\" }");
    assert_eq!(refusal(&more, OWNED).0, Code::ImportFormat);
    let failed = r#"{ "jsonrpc": "2.0", "id": 1, "error": { "code": -32601, "message": "no" } }"#;
    assert_eq!(refusal(failed, OWNED).0, Code::ImportFormat);
}

#[test]
fn bundles_and_cards_are_read() {
    let bundle = r#"{ "manifest_version": "0.4", "name": "a", "version": "2.2.7",
        "server": { "type": "uv", "mcp_config": { "command": "uv", "args": ["run"], "env": { "KEY": "${user_config.key}" } } },
        "user_config": { "key": { "type": "string", "sensitive": true } },
        "tools": [{ "name": "find", "description": "Finds." }, { "name": "" }] }"#;
    assert_eq!(entries(bundle, ""), ["a 2.2.7 pkg:generic/a@2.2.7"]);
    let imported = imported(&[bundle], "").expect("an index");
    assert!(imported.value.index.contains("\"find\": {"));
    assert_eq!(imported.value.left_out.len(), 1);
    let old = bundle.replace("manifest_version", "dxt_version");
    assert_eq!(entries(&old, ""), ["a 2.2.7 pkg:generic/a@2.2.7"]);

    let card = |endpoint: &str, tools: &str| {
        format!(
            r#"{{ "$schema": "https://x.example/mcp-server-card/v1.json", "version": "1.0", "protocolVersion": "2025-06-18",
                "serverInfo": {{ "name": "a", "version": "3" }},
                "transport": {{ "type": "streamable-http", "endpoint": "{endpoint}" }},
                "capabilities": {{ "tools": {{}} }}, "tools": {tools} }}"#
        )
    };
    let whole = card("https://a.example/mcp", TOOLS);
    assert_eq!(entries(&whole, ""), ["a 3 https://a.example/mcp"]);
    let dynamic = card("/mcp", "[\"dynamic\"]");
    let (code, place, message) = refusal(&dynamic, "");
    assert_eq!((code, place), (Code::ImportValue, "\"/mcp\""));
    assert!(message.contains("a path on the host"), "{message}");
    assert_eq!(
        entries(
            &dynamic,
            "servers: { a: { endpoint: \"https://a.example/mcp\" } }"
        ),
        ["a 3 https://a.example/mcp"]
    );
    let newer = r#"{ "$schema": "https://x.example/schemas/v1/server-card.schema.json", "name": "a", "version": "3",
        "remotes": [{ "type": "streamable-http", "url": "https://a.example/mcp" }] }"#;
    assert_eq!(entries(newer, ""), ["a 3 https://a.example/mcp"]);
}

/// A registry's entry of a server.
fn listed(version: &str, url: &str, official: Value) -> Value {
    json!({
        "server": { "name": "x/a", "version": version, "remotes": [{ "type": "sse", "url": url }] },
        "_meta": { "io.modelcontextprotocol.registry/official": official }
    })
}

#[test]
fn what_a_registry_says_against_a_server_is_never_dropped() {
    let old = listed(
        "1",
        "https://a.example/1",
        json!({ "status": "active", "isLatest": false }),
    );
    let new = listed(
        "2",
        "https://a.example/2",
        json!({ "status": "deprecated", "statusMessage": "use\u{200b} b" }),
    );
    let page = json!({ "servers": [old, new], "metadata": { "nextCursor": "x" } }).to_string();
    let imported = imported(&[&page], "").expect("an index");
    assert_eq!(imported.value.added, ["x/a@1", "x/a@2"]);
    let found: Vec<_> = imported
        .warnings
        .iter()
        .map(|it| (it.code, &*it.message))
        .collect();
    let newer = "the registry has a newer version of the server `x/a@1`";
    let deprecated = "the registry calls the server `x/a@2` deprecated: use<U+200B> b";
    for expected in [
        (Code::ServerDeprecated, newer),
        (Code::ServerDeprecated, deprecated),
        (
            Code::ImportIncomplete,
            "the document is one page of a registry's servers",
        ),
    ] {
        assert!(found.contains(&expected), "{expected:?} in {found:#?}");
    }
    let last = page.replace("\"nextCursor\":\"x\"", "\"nextCursor\":\"\"");
    let codes = self::imported(&[&last], "").expect("an index").warnings;
    assert!(codes.iter().all(|it| it.code != Code::ImportIncomplete));

    let gone = listed(
        "3",
        "https://a.example/3",
        json!({ "status": "deleted", "statusMessage": "malware" }),
    );
    for document in [json!({ "servers": [gone] }), gone] {
        let document = document.to_string();
        let (code, place, message) = refusal(&document, "");
        assert_eq!((code, place), (Code::ServerDeleted, "\"deleted\""));
        assert_eq!(
            message,
            "the registry has deleted the server `x/a@3`: malware"
        );
    }
}

#[test]
fn descriptions_that_contradict_each_other_are_refused_at_both_places() {
    let server = |url: &str| listed("1", url, json!({}))["server"].to_string();
    let capture = |schema: &str, more: &str| {
        format!(
            r#"{{ "package": "x/a", "version": "1", "tools/list": {{ "tools": [{{ "name": "find", "inputSchema": {schema} }}{more}] }} }}"#
        )
    };
    let [one, other] = ["https://a.example/1", "https://a.example/2"].map(server);
    let [plain, spaced] = ["{\"a\":1,\"b\":2}", "{ \"b\": 2, \"a\": 1 }"].map(|it| capture(it, ""));
    let changed = capture("{}", "");
    let more = capture(
        "{\"a\":1,\"b\":2}",
        r#", { "name": "drop", "inputSchema": {} }"#,
    );
    let reached = "servers: { x/a: { endpoint: \"https://a.example/1\" } }";
    for (documents, overlay, what) in [
        ([&one, &other], "", Some("the endpoint")),
        ([&one, &other], reached, None),
        ([&one, &one], "", None),
        ([&one, &plain], "", None),
        ([&plain, &spaced], reached, None),
        ([&plain, &changed], reached, Some("the tool `find`")),
        ([&plain, &more], reached, Some("the tool `drop`")),
        ([&more, &plain], reached, Some("the tool `drop`")),
    ] {
        let imported = imported(&documents.map(|it| &**it), overlay);
        let Some(what) = what else {
            imported.unwrap_or_else(|problems| panic!("{problems:#?}"));
            continue;
        };
        let problems = imported.expect_err("a conflict");
        let conflict = problems.iter().find(|it| it.code == Code::ImportConflict);
        let conflict = conflict.unwrap_or_else(|| panic!("{problems:#?}"));
        assert!(
            conflict.message.ends_with(&format!("differ in {what}")),
            "{conflict:#?}"
        );
        let numbers: Vec<_> = conflict.labels.iter().map(|it| it.place.number).collect();
        assert_eq!(numbers, [1, 0]);
    }
    // Two installations in one file.
    let installed = r#"{ "mcpServers": { "a": { "url": "https://a.example/1" } },
        "projects": { "/x": { "mcpServers": { "a": { "url": "https://a.example/2" } } } } }"#;
    let (code, place, _) = refusal(installed, "defaults: { version: \"1\" }");
    assert_eq!(
        (code, place),
        (Code::ImportConflict, "\"https://a.example/2\"")
    );
}

#[test]
fn a_name_that_appears_twice_is_refused_everywhere() {
    let json =
        r#"{ "mcpServers": { "a": { "command": "a" }, "a": { "url": "https://a.example" } } }"#;
    let toml = "[mcp_servers.a]\ncommand = \"a\"\n[mcp_servers.a]\ncommand = \"b\"\n";
    let yaml = "mcpServers:\n  a: { command: a }\n  a: { command: b }\n";
    for (document, code) in [
        (json, Code::DuplicateKey),
        (toml, Code::ImportFormat),
        (yaml, Code::DuplicateKey),
    ] {
        assert_eq!(refusal(document, "defaults: { version: \"1\" }").0, code);
        let draft = first_manifest(
            "bot",
            Vec::new(),
            Offer::Client(document.as_bytes().to_vec()),
        );
        let Err(NoFirstManifest::Unreadable(problems)) = draft else {
            panic!("{draft:?}");
        };
        assert_eq!(problems[0].code, code);
    }
}

#[test]
fn what_is_not_read_names_the_change() {
    for (document, overlay, code, help) in [
        // A registry's file in the notation of an editor.
        (
            "{ // a\n \"tools\": [] }",
            OWNED,
            Code::JsonSyntax,
            "comments",
        ),
        ("tools:\n- name: a\n", OWNED, Code::ImportFormat, "as JSON"),
        (
            "[mcp_servers.a\n",
            "",
            Code::ImportFormat,
            "correct the TOML",
        ),
        ("[other]\na = 1\n", "", Code::ImportFormat, "import one of"),
        (
            "{ \"mcpServer\": {} }",
            "",
            Code::ImportFormat,
            "did you mean `mcpServers`",
        ),
        (
            "{ \"mcpServers\": { \"a\": { \"url\": \"https://a.example\" }, \"b\": { \"url\": \"https://b.example\" } } }",
            "defaults: { version: \"1\", endpoint: \"https://a.example\" }",
            Code::ImportValue,
            "below `servers`",
        ),
    ] {
        let problems = imported(&[document], overlay).expect_err(document);
        let fixes = problems
            .iter()
            .filter(|it| it.code == code)
            .flat_map(|it| &it.fixes);
        let fixes: Vec<_> = fixes.map(|it| &*it.title).collect();
        assert!(
            fixes.iter().any(|it| it.contains(help)),
            "{document}: {problems:#?}"
        );
    }
}

#[test]
fn hostile_configurations_end_and_show_no_secret() {
    let secret = "sk-hunter2hunter2hunter2";
    let many: String = (0..20_000)
        .map(|n| format!("[mcp_servers.s{n}]\ncommand = \"{secret}\"\n"))
        .collect();
    let deep = format!("{{ \"mcpServers\": {}", "{ \"a\": ".repeat(100_000));
    let comments = format!("{{ \"mcpServers\": {{}} {} }}", "/* a */".repeat(200_000));
    let streams = "data: {}\n\n".repeat(200_000);
    let args = format!(
        "{{ \"mcpServers\": {{ \"a\": {{ \"command\": \"npx\", \"args\": [\"-y\", \"{secret}\"], \"env\": {{ \"K\": \"{secret}\" }} }} }} }}"
    );
    let odd = format!(
        "{{ \"mcpServers\": {{ \"a\": {{ \"command\": \"npx\\n{secret}\", \"args\": [1, null, {{}}] }} }} }}"
    );
    for document in [&*many, &deep, &comments, &streams, &args, &odd] {
        let imported = imported(&[document], "defaults: { version: \"1\" }");
        let shown = format!("{imported:?}");
        assert!(!shown.contains("hunter2"), "{}", &document[..80]);
    }
}

#[test]
fn schemas_of_older_drafts_are_read_and_named() {
    let tool =
        |name: &str, schema: &str| format!("{{ \"name\": \"{name}\", \"inputSchema\": {schema} }}");
    let tools = [
        tool(
            "tuple",
            r#"{ "properties": { "a": { "items": [{}, {}] } } }"#,
        ),
        tool(
            "bound",
            r#"{ "properties": { "a": { "minimum": 0, "exclusiveMinimum": true } } }"#,
        ),
        tool("usual", "{}"),
        tool("none", r#"{ "type": "objekt" }"#),
    ];
    let document = format!("{{ \"tools\": [{}] }}", tools.join(", "));
    let imported = imported(&[&document], OWNED).expect("an index");
    let found: Vec<_> = imported
        .warnings
        .iter()
        .map(|it| (it.code, &*it.message))
        .collect();
    for expected in [
        (
            Code::SchemaDraft,
            "the schemas of the tool `tuple` of `a` are read as draft-07",
        ),
        (
            Code::SchemaDraft,
            "the schemas of the tool `bound` of `a` are read as draft-04",
        ),
    ] {
        assert!(found.contains(&expected), "{found:#?}");
    }
    let left_out: Vec<_> = imported.value.left_out.iter().map(|it| &*it.tool).collect();
    assert_eq!(left_out, ["none"]);
}

/// A value in a line: plain texts as they are, secrets in angles, variables in braces.
fn shown(setting: &Setting) -> String {
    let parts = setting.0.iter().map(|part| match part {
        SettingPart::Plain(text) => text.clone(),
        SettingPart::Secret(text) => format!("<{text}>"),
        SettingPart::Variable(Variable::Environment { name, .. }) => format!("{{{name}}}"),
        SettingPart::Variable(other) => format!("{other:?}"),
    });
    parts.collect()
}

/// How the servers of a configuration are started or reached, a line each.
fn installed(document: &str) -> Vec<String> {
    let servers = installed_servers(document.as_bytes().to_vec());
    let servers = servers.unwrap_or_else(|problems| panic!("{problems:#?}"));
    let keyed = |values: &[(String, Setting)]| {
        let values = values
            .iter()
            .map(|(key, value)| format!(" {key}={}", shown(value)));
        values.collect::<String>()
    };
    let lines = servers.iter().map(|server| {
        let start = match &server.start {
            ServerStart::Unknown => "unknown".to_owned(),
            ServerStart::Command(it) => {
                let words = it.arguments.iter().map(|it| format!(" {}", shown(it)));
                let words: String = words.collect();
                let package = it.package.as_ref().map(|it| {
                    let version = it.version.as_deref().unwrap_or("?");
                    format!(
                        " = {}{version}{} +{}",
                        it.url.0, it.url.1, it.arguments_from
                    )
                });
                let folder = it.folder.as_ref().map(|it| format!(" in {}", shown(it)));
                format!(
                    "{}{words};{}{}{}",
                    shown(&it.program),
                    keyed(&it.environment),
                    folder.unwrap_or_default(),
                    package.unwrap_or_default()
                )
            }
            ServerStart::Remote(it) => {
                let user_info = it.user_info.as_ref().map(|it| format!(" <{it}>"));
                format!(
                    "{}{};{} ?{}",
                    shown(&it.url),
                    user_info.unwrap_or_default(),
                    keyed(&it.headers),
                    keyed(&it.query)
                )
            }
        };
        let off = if server.is_enabled { "" } else { " off" };
        format!("{}: {start}{off}", server.path)
    });
    lines.collect()
}

#[test]
fn a_configuration_says_how_its_servers_are_started_and_with_what() {
    for (document, expected) in [
        (
            r#"{ "mcpServers": {
                "files": { "command": "npx", "args": ["-y", "@acme/files@1.0.0", "/home/me"], "cwd": "/srv",
                    "env": { "ACME_KEY": "hunter2hunter2", "NODE_ENV": "production", "PORT": 80 } },
                "db": { "command": "uvx", "args": ["db", "--password", "hunter2", "postgres://a:b@db.example/x"], "disabled": true },
                "remote": { "url": "https://me:hunter2@a.example/mcp?key=hunter2&v=%2B1#x", "headers": { "Authorization": "Bearer ${TOKEN}", "Accept": "*/*" } },
                "both": { "url": "https://a.example", "command": "a" }
            } }"#,
            &[
                "mcpServers.files: npx -y @acme/files@1.0.0 /home/me; ACME_KEY=<hunter2hunter2> NODE_ENV=production PORT=80 in /srv = pkg:npm/%40acme/files@1.0.0 +2",
                "mcpServers.db: uvx db --password <hunter2> <postgres://a:b@db.example/x>; = pkg:pypi/db@? +1 off",
                "mcpServers.remote: https://a.example/mcp <me:hunter2>; Authorization=Bearer {TOKEN} Accept=*/* ? key=<hunter2> v=<+1>",
                "mcpServers.both: unknown",
            ][..],
        ),
        (
            "[mcp_servers.a]\nurl = \"https://a.example/mcp\"\nbearer_token_env_var = \"TOKEN\"\nhttp_headers = { X-Region = \"eu\" }\nenv_http_headers = { X-Key = \"KEY\" }\n\n[mcp_servers.b]\ncommand = \"b\"\nenv_vars = [\"HOME_URL\"]\nenabled = false\n",
            &[
                "mcp_servers.a: https://a.example/mcp; X-Region=<eu> X-Key={KEY} Authorization=Bearer {TOKEN} ?",
                "mcp_servers.b: b; HOME_URL={HOME_URL} off",
            ],
        ),
        (
            r#"{ "mcp": { "a": { "type": "local", "command": ["bunx", "a", "-v"], "environment": { "A_TOKEN": "{env:A_TOKEN}" } } } }"#,
            &["mcp.a: bunx a -v; A_TOKEN={A_TOKEN} = pkg:npm/a@? +1"],
        ),
        (
            r#"{ "context_servers": { "a": { "command": { "path": "npx", "args": ["a"], "env": { "A_TOKEN": "abcdefgh" } } } } }"#,
            &["context_servers.a: npx a; A_TOKEN=<abcdefgh> = pkg:npm/a@? +1"],
        ),
        (
            "mcpServers:\n- name: a\n  url: https://a.example/mcp\n  requestOptions: { headers: { X-Key: abcdefgh } }\n",
            &["mcpServers[0]: https://a.example/mcp; X-Key=<abcdefgh> ?"],
        ),
    ] {
        assert_eq!(installed(document), expected, "{document}");
    }
    let problems = installed_servers(b"{ \"tools\": [] }".to_vec()).expect_err("no client");
    assert_eq!(problems[0].code, Code::ImportFormat);
    let twice = b"{ \"mcpServers\": { \"a\": {}, \"a\": {} } }".to_vec();
    assert_eq!(
        installed_servers(twice).expect_err("twice")[0].code,
        Code::DuplicateKey
    );
}

proptest! {
    #[test]
    fn no_configuration_panics(text in r#"([a-b=."'\[\]{},#\\\n u0-9:/*-]|\PC){0,80}"#) {
        for before in ["[mcp_servers.a]\n", "{ // a\n\"mcpServers\": {", "mcpServers:\n  a:\n    ", "data: ", ""] {
            let document = format!("{before}{text}");
            let _ = imported(&[&document], "defaults: { version: \"1\" }");
            let _ = installed_servers(document.into_bytes());
        }
    }

    #[test]
    fn texts_of_toml_come_back(text in "\\PC{0,20}") {
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
        let document = format!("[mcp_servers.a]\nurl = \"https://a.example\"\nhttp_headers = {{ Accept = \"{quoted}\" }}\n");
        let read = installed_servers(document.into_bytes());
        let [server] = &read.expect("a configuration")[..] else { panic!("one server") };
        let ServerStart::Remote(remote) = &server.start else { panic!("a URL") };
        let parts = remote.headers[0].1.0.iter().map(|part| match part {
            SettingPart::Plain(text) | SettingPart::Secret(text) => text.clone(),
            SettingPart::Variable(_) => String::new(),
        });
        let whole: String = parts.collect();
        prop_assert!(whole == text || text.contains(['$', '{', '%', '~']), "{whole:?} of {text:?}");
    }
}
