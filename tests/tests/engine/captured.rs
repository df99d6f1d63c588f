//! Captured servers in an index: added, and compared with what they say now. No server runs here.

use agent_api::documents::{Imported, LiveServer, Overlay};
use agent_api::{Refreshed, add, refresh};
use agent_diagnostic::{Code, Diagnostic, Severity};
use agent_lower::Notation;
use serde_json::{Value, json};

/// A server that reports a version, with tools: names and descriptions.
fn live(version: &str, tools: &[(&str, &str)]) -> LiveServer {
    let tools: Vec<_> = tools
        .iter()
        .map(|(name, about)| {
            json!({ "name": name, "description": about, "inputSchema": { "type": "object" } })
        })
        .collect();
    LiveServer {
        id: "sums".to_owned(),
        version: None,
        endpoint: None,
        handshake: json!({ "serverInfo": { "name": "s", "version": version } })
            .to_string()
            .into_bytes(),
        tools: json!({ "tools": tools }).to_string().into_bytes(),
    }
}

/// A server whose entry is found by its version.
fn known(version: &str, server: LiveServer) -> LiveServer {
    LiveServer {
        version: Some(version.to_owned()),
        ..server
    }
}

fn overlay(rest: &str) -> Option<Overlay> {
    Some(Overlay {
        bytes: format!("servers: {{ sums: {{ {rest} }} }}\n").into_bytes(),
        notation: Notation::default(),
    })
}

fn added(server: &LiveServer, rest: &str, existing: Option<&str>) -> Imported {
    let existing = existing.map(|text| text.as_bytes().to_vec());
    let added = add(server, overlay(rest), existing);
    added.unwrap_or_else(|it| panic!("{it:#?}")).value
}

fn refused(server: &LiveServer, existing: &str) -> Vec<Diagnostic> {
    match add(server, None, Some(existing.as_bytes().to_vec())) {
        Ok(added) => panic!("{}", added.value.index),
        Err(problems) => problems,
    }
}

fn refreshed(servers: &[LiveServer], index: &str) -> Refreshed {
    let refreshed = refresh(servers, index.as_bytes().to_vec());
    refreshed.unwrap_or_else(|it| panic!("{it:#?}")).value
}

/// What the differences are: the subject, the code, and whether each widens.
fn differences(refreshed: &Refreshed) -> Vec<(String, Code, bool)> {
    let found = refreshed.differences.iter();
    found.map(|it| (it.subject(), it.code, it.widens)).collect()
}

fn entries(index: &str) -> Vec<Value> {
    let index: Value = serde_json::from_str(index).unwrap();
    index["servers"].as_array().unwrap().clone()
}

const DECLARED: &str = "categories: [math], scopes: [read:sums], tools: { add: { x-summit-capabilities: \
     [{ verb: read, resource: x-sums }] } }";

#[test]
fn an_added_server_has_its_own_version_and_the_cautious_rest() {
    let imported = added(
        &live("1.2.0", &[("add", "Adds.")]),
        "categories: [math]",
        None,
    );
    assert_eq!(imported.added, ["sums@1.2.0"]);
    let entries = entries(&imported.index);
    assert_eq!(entries[0]["endpoint"], "pkg:generic/sums@1.2.0");
    assert_eq!(
        entries[0]["data"],
        json!({ "maxSensitivity": "public", "residency": [] })
    );
    assert_eq!(
        entries[0]["trust"],
        json!({ "publisher": "unknown", "signed": false })
    );
    assert_eq!(
        entries[0]["capabilities"]["tools"]["add"]["description"],
        "Adds."
    );
    let pinned = LiveServer {
        endpoint: Some("https://sums.example/mcp".to_owned()),
        ..known("7", live("1.2.0", &[("add", "Adds.")]))
    };
    let second = added(&pinned, "categories: [math]", Some(&imported.index));
    assert_eq!(second.added, ["sums@7"]);
    let entries = self::entries(&second.index);
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[1]["endpoint"], "https://sums.example/mcp");
}

#[test]
fn a_tool_without_capabilities_names_the_option() {
    let server = live("1", &[("add", "Adds.")]);
    for given in [None, overlay("categories: [math]")] {
        let warnings = add(&server, given, None).unwrap().warnings;
        let [warning] = &warnings[..] else {
            panic!("{warnings:#?}");
        };
        assert_eq!(warning.code, Code::ImportNoCapability);
        let [help] = &warning.fixes[..] else {
            panic!("{warning:#?}");
        };
        assert!(
            help.title.contains("`--capability TOOL=VERB:RESOURCE`"),
            "{help:?}"
        );
        assert!(!help.title.contains("add to the overlay"), "{help:?}");
    }
    let warnings = add(&server, overlay(DECLARED), None).unwrap().warnings;
    assert!(warnings.is_empty(), "{warnings:#?}");
}

#[test]
fn a_version_is_added_once() {
    let server = live("1", &[("add", "Adds.")]);
    let index = added(&server, DECLARED, None).index;
    for again in [server, live("1", &[("add", "Adds otherwise.")])] {
        let problems = refused(&again, &index);
        assert_eq!(problems[0].code, Code::DuplicateServer);
        assert!(problems[0].message.contains("`sums@1`"), "{problems:#?}");
    }
}

#[test]
fn hidden_text_costs_its_tool_alone() {
    let server = live("1", &[("add", "Adds.\u{e0041}"), ("mul", "Multiplies.")]);
    let added = add(&server, overlay(DECLARED), None).unwrap();
    let found: Vec<_> = added
        .warnings
        .iter()
        .filter(|it| it.code == Code::InvisibleCharacter)
        .collect();
    assert_eq!(found.len(), 1, "{:#?}", added.warnings);
    assert_eq!(found[0].severity, Severity::Warning);
    assert!(
        found[0].message.contains("`add`") && found[0].message.contains("U+E0041"),
        "{found:#?}"
    );
}

#[test]
fn a_bad_tool_costs_itself_alone() {
    let listing = |tools: Value| LiveServer {
        tools: json!({ "tools": tools }).to_string().into_bytes(),
        ..live("1", &[])
    };
    let add_tool = json!({ "name": "add", "inputSchema": {} });
    let server = listing(json!([null, add_tool, { "name": "mul", "inputSchema": null }]));
    let added = add(&server, overlay(DECLARED), None).unwrap();
    let found = added.warnings.iter();
    let codes: Vec<_> = found.map(|it| (it.code, it.severity)).collect();
    assert_eq!(
        codes,
        [(Code::WrongType, Severity::Warning); 2],
        "{:#?}",
        added.warnings
    );
    let index = added.value.index;
    let tools = &entries(&index)[0]["capabilities"]["tools"];
    assert_eq!(
        tools.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["add"]
    );
    // It was never in the entry.
    let same = refreshed(&[known("1", server)], &index);
    assert!(same.is_complete && same.differences.is_empty(), "{same:#?}");
    // A tool of the entry that is bad now is named once, with its defect.
    let bad = listing(json!([{ "name": "add", "inputSchema": 7 }]));
    let changed = refreshed(&[known("1", bad)], &index);
    let expected = [("sums@1/add".to_owned(), Code::WrongType, false)];
    assert_eq!(differences(&changed), expected);
    assert!(changed.is_complete);
    let text = &changed.differences[0].text;
    assert!(text.contains("`inputSchema` is a number"), "{text}");
    let tools = &entries(&changed.index)[0]["capabilities"]["tools"];
    assert_eq!(tools, &json!({}));
}

#[test]
fn what_is_no_answer_of_a_server_is_not_added() {
    for (handshake, tools) in [
        ("{}", r#"{"tools": 1}"#),
        ("{}", "no JSON"),
        ("{}", r#"{"tools": [{"name": "a", "name": "b"}]}"#),
    ] {
        let server = LiveServer {
            handshake: handshake.into(),
            tools: tools.into(),
            ..known("1", live("1", &[]))
        };
        let problems = refused(&server, "[]");
        assert!(!problems.is_empty(), "{handshake} {tools}");
    }
}

#[test]
fn an_entry_that_says_the_same_stays() {
    let server = live("1", &[("add", "Adds.")]);
    let index = added(&server, DECLARED, None).index;
    let same = refreshed(&[known("1", server)], &index);
    assert!(same.is_complete && same.differences.is_empty(), "{same:#?}");
    assert_eq!(same.index, index);
    // A server without an entry is no difference.
    let stranger = refreshed(&[known("2", live("2", &[]))], &index);
    assert_eq!((stranger.index, stranger.differences.len()), (index, 0));
}

#[test]
fn every_difference_is_reported_and_put_into_the_entry() {
    let before = live("1", &[("add", "Adds."), ("old", "Goes.")]);
    let index = added(&before, DECLARED, None).index;
    let now = live(
        "2",
        &[("add", "Adds, and reads your mail."), ("new", "Comes.")],
    );
    let found = refreshed(&[known("1", now)], &index);
    assert_eq!(
        differences(&found),
        [
            ("sums@1".to_owned(), Code::VersionChanged, false),
            ("sums@1/add".to_owned(), Code::DefinitionChanged, false),
            ("sums@1/new".to_owned(), Code::ToolsWidened, true),
            ("sums@1/old".to_owned(), Code::ToolMissing, false),
        ]
    );
    assert!(found.is_complete);
    let entries = entries(&found.index);
    assert_eq!(entries.len(), 1);
    let entry = &entries[0];
    assert_eq!(entry["version"], "2");
    assert_eq!(entry["endpoint"], "pkg:generic/sums@2");
    let tools = &entry["capabilities"]["tools"];
    let names: Vec<_> = tools.as_object().unwrap().keys().collect();
    assert_eq!(names, ["add", "new"]);
    assert_eq!(tools["add"]["description"], "Adds, and reads your mail.");
    // What no server says stays.
    assert_eq!(entry["scopes"], json!(["read:sums"]));
    assert_eq!(
        tools["add"]["x-summit-capabilities"][0]["resource"],
        "x-sums"
    );
    // The newer text has no differences.
    let now = live(
        "2",
        &[("add", "Adds, and reads your mail."), ("new", "Comes.")],
    );
    let again = refreshed(&[known("2", now)], &found.index);
    assert!(again.differences.is_empty(), "{again:#?}");
    assert_eq!(again.index, found.index);
}

#[test]
fn a_version_that_is_in_the_index_already_is_not_taken() {
    let index = added(&live("1", &[("add", "Adds.")]), DECLARED, None).index;
    let index = added(&live("2", &[("add", "Adds more.")]), DECLARED, Some(&index)).index;
    let found = refreshed(&[known("1", live("2", &[("add", "Adds more.")]))], &index);
    assert!(!found.is_complete);
    let last = found.differences.last().unwrap();
    assert_eq!(last.code, Code::DuplicateServer);
    assert_eq!(found.index, index);
}

#[test]
fn a_refused_answer_leaves_its_entry_and_not_the_others() {
    let index = added(&live("1", &[("add", "Adds.")]), DECLARED, None).index;
    let other = LiveServer {
        id: "times".to_owned(),
        ..live("1", &[("mul", "Multiplies.")])
    };
    let more = Some(Overlay {
        bytes: b"servers: { times: { categories: [math] } }\n".to_vec(),
        notation: Notation::default(),
    });
    let index = add(&other, more, Some(index.into_bytes()))
        .unwrap()
        .value
        .index;
    let hidden = known("1", live("1", &[("add", "Adds.\u{202e}")]));
    let changed = LiveServer {
        id: "times".to_owned(),
        ..known("1", live("1", &[("mul", "Multiplies twice.")]))
    };
    let found = refreshed(&[hidden, changed], &index);
    assert!(found.is_complete);
    let subjects = differences(&found);
    let expected = [
        ("sums@1/add", Code::DefinitionChanged),
        ("sums@1/add", Code::InvisibleCharacter),
        ("times@1/mul", Code::DefinitionChanged),
    ];
    assert_eq!(
        subjects,
        expected.map(|(subject, code)| (subject.to_owned(), code, false))
    );
    assert!(
        found.differences[1].text.contains("U+202E"),
        "{:#?}",
        found.differences
    );
    let entries = entries(&found.index);
    assert_eq!(
        entries[0]["capabilities"]["tools"]["add"]["description"],
        "Adds.\u{202e}"
    );
    assert_eq!(
        entries[1]["capabilities"]["tools"]["mul"]["description"],
        "Multiplies twice."
    );
}
