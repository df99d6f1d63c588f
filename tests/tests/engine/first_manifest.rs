//! A first manifest is accepted, resolves, and grants as little as is useful.

use agent_api::documents::{FirstManifest, NoFirstManifest, Offer};
use agent_api::lower::{self, Checked};
use agent_api::model::Name;
use agent_api::{diagnostic::Code, first_manifest};
use agent_tests::corpus::{Failures, cases};
use agent_tests::native;
use serde_json::{Value, json};

fn server(id: &str, more: Value) -> Value {
    let mut server = json!({
        "id": id, "version": "1.0.0", "endpoint": "https://a.example",
        "categories": [], "scopes": [],
        "data": { "residency": "any", "maxSensitivity": "internal" },
        "trust": { "signed": true, "publisher": "A" },
    });
    let Value::Object(more) = more else {
        panic!("the fields of a server");
    };
    for (key, value) in more {
        server[key] = value;
    }
    server
}

fn tools(pairs: &[(&str, &str)]) -> Value {
    let tools = pairs.iter().enumerate().map(|(number, (verb, resource))| {
        let capability = json!({ "verb": verb, "resource": resource });
        let tool = json!({ "x-summit-capabilities": [capability] });
        (format!("tool-{number}"), tool)
    });
    json!({ "tools": Value::Object(tools.collect()) })
}

fn from_index(name: &str, body: &str, index: &Value) -> Result<FirstManifest, NoFirstManifest> {
    let Checked { value, .. } = lower::index(index.to_string().into_bytes()).expect("an index");
    first_manifest(name, body.as_bytes().to_vec(), Offer::Index(&value))
}

fn from_client(client: &str) -> Result<FirstManifest, NoFirstManifest> {
    let client = Offer::Client(client.as_bytes().to_vec());
    first_manifest("a", Vec::new(), client)
}

/// Returns the categories and the capabilities that a manifest requires, which has no warnings and
/// grants no scope.
#[track_caller]
fn required(text: &str) -> (Vec<String>, Vec<String>) {
    let read = lower::manifest(text.as_bytes().to_vec());
    let Checked { value, warnings } = read.unwrap_or_else(|found| panic!("{found:#?}\n{text}"));
    assert!(warnings.is_empty(), "{warnings:#?}");
    assert!(
        value
            .requirements
            .iter()
            .all(|it| it.permissions.is_empty())
    );
    let categories = value
        .requirements
        .iter()
        .map(|it| it.category.value.as_str().to_owned());
    let capabilities = value
        .capabilities
        .iter()
        .map(|it| it.capability.to_string());
    (categories.collect(), capabilities.collect())
}

#[test]
fn the_first_manifest_of_any_index_resolves() {
    let mut failures = Failures::default();
    let mut made = 0;
    for area in ["resolve", "views", "match"] {
        for case in cases(area) {
            let Some(index) = case.input("mcp.index.json") else {
                continue;
            };
            let Ok(Checked { value, .. }) = lower::index(index.clone()) else {
                continue;
            };
            let first = first_manifest("a", Vec::new(), Offer::Index(&value));
            match first {
                Ok(first) => {
                    required(&first.text);
                    let resolution = native::resolution(first.text.as_bytes(), &index);
                    // `agent resolve` names the definition that may not be locked.
                    let mut tools = value.servers().flat_map(|server| server.tools());
                    let is_concealed = tools.any(|tool| lower::concealed(tool).is_some());
                    if resolution.lock().is_none() && !is_concealed {
                        failures.add(&case.name(), format!("no lock:\n{}", first.text));
                    }
                    made += 1;
                }
                Err(NoFirstManifest::NothingOffered) if value.category_names().len() == 0 => {}
                Err(refusal) => failures.add(&case.name(), format!("{refusal:?}")),
            }
        }
    }
    failures.finish();
    assert!(made > 50, "{made} manifests");
}

#[test]
fn only_what_reads_is_required() {
    let pairs = [
        ("write", "x-crm"),
        ("read", "fs"),
        ("execute", "aws"),
        ("search", "internet"),
    ];
    let fields = json!({
        "categories": ["crm"], "scopes": ["crm:write", "crm:read"], "capabilities": tools(&pairs)
    });
    let first = from_index("bot", "", &json!([server("a", fields)])).expect("a manifest");
    assert_eq!(
        first.text,
        "\
---
# Drafted by `agent init`. Check every line.
name: bot
version: 0.1.0
requires:
  mcp:
    # `permissions` lists the scopes that the agent gets: none so far.
    - category: crm
      permissions: []  # offered: crm:read, crm:write
  capabilities:
    - verb: read
      resource: fs
    - verb: search
      resource: internet
    # Also offered, and able to change something:
    # - verb: execute
    #   resource: aws
    # - verb: write
    #   resource: x-crm
constraints:
  trust:
    requireSigned: true  # each requirement has a signed server
---
"
    );
    let (categories, capabilities) = required(&first.text);
    assert_eq!(categories, ["crm"]);
    assert_eq!(capabilities, ["read:fs", "search:internet"]);
    assert_eq!(
        first.assumptions,
        [
            "the agent is named bot, as the folder, in version 0.1.0",
            "the agent needs the category of the index, without a scope: add what it needs to `permissions`",
            "the agent needs the capabilities that only read",
            "the agent needs no capability that can change something: these are in comments",
            "only signed servers may be selected",
            "any server may hold the agent's data: no `residency` and no `sensitivity` is set",
        ]
    );
}

#[test]
fn what_writes_is_required_only_if_nothing_else_is_offered() {
    let writing = tools(&[("write", "fs"), ("execute", "aws")]);
    let index = json!([server("a", json!({ "capabilities": writing }))]);
    let first = from_index("bot", "", &index).expect("a manifest");
    assert_eq!(
        required(&first.text),
        (vec![], vec!["execute:aws".to_owned()])
    );
    let assumption = "the agent needs execute:aws, though it can change something: \
                      no tool of the index only reads";
    assert!(
        first.assumptions.contains(&assumption.to_owned()),
        "{first:#?}"
    );

    let writing = tools(&[("write", "fs")]);
    let fields = json!({ "capabilities": writing, "categories": ["files"] });
    let first = from_index("bot", "", &json!([server("a", fields)])).expect("a manifest");
    assert_eq!(required(&first.text), (vec!["files".to_owned()], vec![]));
}

#[test]
fn unsigned_servers_are_accepted_only_where_no_other_is_there() {
    let fields = json!({
        "categories": ["a", "b"], "trust": { "signed": false, "publisher": "B" }
    });
    let mut index = json!([
        server("one", fields),
        server("two", json!({ "categories": ["a"] }))
    ]);
    let first = from_index("bot", "", &index).expect("a manifest");
    assert!(!first.text.contains("requireSigned"), "{}", first.text);
    assert!(
        first
            .assumptions
            .iter()
            .any(|it| it.starts_with("unsigned servers may"))
    );
    index[1]["categories"] = json!(["a", "b"]);
    let first = from_index("bot", "", &index).expect("a manifest");
    assert!(
        first.text.contains("    requireSigned: true"),
        "{}",
        first.text
    );
}

#[test]
fn names_are_quoted_where_they_must_be() {
    let names = [
        "null", "True", "- x", "a: b", "a #b", "a\"b", "it\'s", "\\", "#", "[a]", "{b}", "x:",
        "1.0", "ä", "\u{2028}", "&a", "*a", "!t", "|", "> x", "%", "@", "`", " pad ", "---", "...",
        "? x",
    ];
    let fields = json!({ "categories": &names[..20], "scopes": &["a\" # b"] });
    let rest = json!({ "categories": &names[20..] });
    for index in [json!([server("a", fields)]), json!([server("b", rest)])] {
        for name in names {
            let first = from_index(name, "", &index).expect("a manifest");
            let (mut found, _) = required(&first.text);
            let mut expected: Vec<_> = index[0]["categories"].as_array().unwrap().iter().collect();
            expected.sort_by_key(|it| it.as_str());
            found.sort();
            assert_eq!(
                found,
                expected
                    .iter()
                    .map(|it| it.as_str().unwrap())
                    .collect::<Vec<_>>()
            );
            let read = lower::manifest(first.text.into_bytes()).expect("a manifest");
            assert_eq!(read.value.agent.name.as_str(), name);
        }
    }
    // No agent can have this name.
    let index = json!([server("a", json!({ "categories": ["a"] }))]);
    let first = from_index("a\nb", "", &index).expect("a manifest");
    assert!(first.text.contains("\nname: agent\n"), "{}", first.text);
}

#[test]
fn long_lists_are_cut_and_say_so() {
    let names: Vec<_> = (0..25)
        .map(|number| format!("category-{number:02}"))
        .collect();
    let scopes: Vec<_> = (0..22).map(|number| format!("scope-{number:02}")).collect();
    let fields = json!({ "categories": names, "scopes": scopes });
    let first = from_index("bot", "", &json!([server("a", fields)])).expect("a manifest");
    assert_eq!(required(&first.text).0, &names[..20]);
    assert!(
        first.text.contains("scope-19 and 2 more\n"),
        "{}",
        first.text
    );
    assert!(
        first.text.contains("# And 5 more categories"),
        "{}",
        first.text
    );
    let cut = "5 categories are left out, behind the first 20";
    assert!(first.assumptions.contains(&cut.to_owned()), "{first:#?}");
}

#[test]
fn an_existing_text_stays_behind_the_frontmatter() {
    let index = json!([server("a", json!({ "categories": ["a"] }))]);
    for (body, mark, end) in [
        ("", "", "\n"),
        ("# Title\n\n---\nrule", "", "\n"),
        ("# Title\r\nmixed\n", "", "\r\n"),
        ("\u{feff}# Title\r\n", "\u{feff}", "\r\n"),
        ("\u{feff}", "\u{feff}", "\n"),
        ("   indented, no end", "", "\n"),
    ] {
        let text = from_index("bot", body, &index).expect("a manifest").text;
        let start = format!("{mark}---{end}");
        assert!(text.starts_with(&start), "{text:?}");
        let behind = body.strip_prefix(mark).unwrap();
        let close = format!("{end}---{end}{behind}");
        assert!(text.ends_with(&close), "{text:?}");
        let frontmatter = &text[start.len()..text.len() - close.len()];
        assert!(!frontmatter.replace(end, "").contains(['\r', '\n']));
        required(&text);
    }
}

#[test]
fn frontmatter_is_never_replaced() {
    let index = json!([server("a", json!({ "categories": ["a"] }))]);
    for body in [
        "---\nname: a\n---\n",
        "---\nnot closed",
        "\u{feff}--- \r\n",
        "\n\n---\nname: a\n---\n",
        "---",
    ] {
        let refused = from_index("bot", body, &index);
        assert_eq!(refused, Err(NoFirstManifest::HasFrontmatter), "{body:?}");
    }
    let Checked { value, .. } = lower::index(index.to_string().into_bytes()).expect("an index");
    let refused = first_manifest("bot", vec![b'a', 0xff], Offer::Index(&value));
    let Err(NoFirstManifest::Unreadable(problems)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(problems[0].code, Code::InvalidUtf8);
}

#[test]
fn a_client_has_servers_without_categories() {
    let client = r#"{"mcpServers": {
        "github": {"url": "https://x.example", "headers": {"Authorization": "Bearer sk-1"}},
        "a b": {"command": "npx"}, "": {}, "c\u0000": {}
    }}"#;
    let first = from_client(client).expect("a manifest");
    assert_eq!(required(&first.text).0, ["a b", "github"]);
    assert!(!first.text.contains("sk-1"));
    assert!(
        first
            .assumptions
            .iter()
            .any(|it| it.contains("a category of its own name"))
    );
    assert!(from_client(r#"{"servers": {"a": {}}}"#).is_ok());
    assert_eq!(
        from_client(r#"{"servers": {}}"#),
        Err(NoFirstManifest::NothingOffered)
    );
    for (text, code) in [
        ("{", Code::JsonSyntax),
        ("[]", Code::ImportFormat),
        (r#"{"servers": []}"#, Code::ImportFormat),
    ] {
        let Err(NoFirstManifest::Unreadable(problems)) = from_client(text) else {
            panic!("{text}");
        };
        assert_eq!(problems[0].code, code, "{text}");
    }
}
