//! `agents.definitions.json`: the definitions of locked tools, beside the lock \[0, 3.1\].

use agent_api::verify_definitions;
use agent_decide::{Resolution, token_estimate};
use agent_diagnostic::Code;
use agent_explain::{Former, detailed};
use agent_lower as lower;
use agent_lower::{ToolEntry, digest};
use agent_model::{Grant, Index, Lock, Name, ToolName};
use agent_render::definitions;
use agent_syntax::canonical;
use serde_json::{Value, json};
use std::sync::Arc;

fn index(description: &str) -> Index {
    let text = format!(
        r#"[{{"id": "files", "version": "1", "categories": ["files"], "scopes": ["read:files"],
        "endpoint": "https://tools.acme.example/", "trust": {{"signed": true, "publisher": "P"}},
        "data": {{"residency": "any", "maxSensitivity": "internal"}},
        "capabilities": {{"tools": {{
          "read": {{"description": "{description}",
            "inputSchema": {{"type": "object", "maxProperties": 1.0, "\ufb33": 1, "\ud83d\ude00": 2}},
            "x-summit-capabilities": [{{"verb": "read", "resource": "fs"}}]}},
          "write": {{"description": "Writes."}}}}}}}}]"#
    );
    lower::index(text.into_bytes()).expect("an index").value
}

fn lock(requires: &str, index: Index) -> (Lock, Arc<Index>) {
    let text = format!("---\nname: a\nversion: 1\nrequires:\n{requires}---\n");
    let manifest = lower::manifest(text.into_bytes())
        .expect("a manifest")
        .value;
    let index = Arc::new(index);
    let resolution = Resolution::new(Arc::new(manifest), Arc::clone(&index));
    (resolution.lock().expect("a lock"), index)
}

const CAPABILITY: &str = "  capabilities:\n    - {verb: read, resource: fs}\n";
const CATEGORY: &str = "  mcp:\n    - {category: files, permissions: []}\n";

#[test]
fn the_file_has_the_definition_of_each_locked_tool_by_its_digest() {
    for (requires, names) in [(CAPABILITY, &["read"][..]), (CATEGORY, &["read", "write"])] {
        let (lock, index) = lock(requires, index("Reads."));
        let text = definitions(&lock, &index).expect("a file");
        assert!(
            text.ends_with("}\n") && text.starts_with("{\n  \"sha256-"),
            "{text}"
        );
        let file: serde_json::Map<String, Value> = serde_json::from_str(&text).expect("JSON");
        assert!(file.keys().is_sorted());
        let mut found = Vec::new();
        for (key, value) in &file {
            assert_eq!(*key, digest(&canonical(&value.to_string()).expect("JSON")));
            found.push(value["name"].as_str().expect("a name"));
        }
        found.sort_unstable();
        assert_eq!(found, names);
    }
}

#[test]
fn a_definition_has_what_mcp_gives_its_type() {
    let icon = |src: &str| json!({ "src": src, "sizes": ["48x48"] });
    let large = format!("data:image/png;base64,{}", "A".repeat(16 << 10));
    let kept = [
        icon("https://a.example/i.png"),
        icon("data:image/webp;base64,AAAA"),
    ];
    let left_out = [
        icon("http://a.example/i.png"),
        icon("data:image/svg+xml,<svg/>"),
        icon("data:image/pngx,"),
        icon(&large),
        json!({ "sizes": [] }),
        json!(5),
    ];
    let execution = json!({ "taskSupport": "optional" });
    let definition = |entry: Value| -> Value {
        let text = ToolEntry::read(&entry.to_string()).definition("read");
        assert_eq!(canonical(&text).as_deref(), Some(&*text));
        serde_json::from_str(&text).expect("JSON")
    };
    let entry = json!({
        "title": "Read", "name": "other", "x": 1, "execution": execution,
        "icons": ([kept.as_slice(), left_out.as_slice()].concat()),
    });
    let expected =
        json!({ "name": "read", "title": "Read", "execution": execution, "icons": kept });
    assert_eq!(definition(entry), expected);
    let malformed = json!({ "title": 5, "execution": [], "icons": left_out });
    assert_eq!(definition(malformed), json!({ "name": "read" }));
    let plain = json!({ "name": "read", "title": "Read", "execution": execution });
    let [with, without] = [expected, plain].map(|it| canonical(&it.to_string()).expect("JSON"));
    assert_eq!(token_estimate(&with), token_estimate(&without));
    assert_eq!(token_estimate(&without), (without.len() as u64).div_ceil(4));
}

#[test]
fn keys_are_in_the_order_of_code_points_and_numbers_as_in_rfc_8785() {
    let (lock, index) = lock(CAPABILITY, index("Reads."));
    let text = definitions(&lock, &index).expect("a file");
    let schema = "    \"inputSchema\": {\n      \"maxProperties\": 1,\n      \"type\": \"object\",\n      \
                  \"\u{fb33}\": 1,\n      \"\u{1f600}\": 2\n    },";
    assert!(text.contains(schema), "{text}");
}

#[test]
fn a_lock_without_tools_has_no_file() {
    let (mut lock, index) = lock(CATEGORY, index("Reads."));
    lock.selections.clear();
    assert_eq!(definitions(&lock, &index), None);
    assert_eq!(verify_definitions(&lock, &index, None), None);
    assert_eq!(verify_definitions(&lock, &index, Some(b"{}")), None);
    let surplus = verify_definitions(&lock, &index, Some(br#"{"sha256-x": {}}"#));
    assert!(surplus.is_some());
}

#[test]
fn missing_surplus_and_wrong_entries_are_a_drift() {
    let (lock, index) = lock(CATEGORY, index("Reads."));
    let text = definitions(&lock, &index).expect("a file");
    let details = |text: Option<&str>| {
        let drift = verify_definitions(&lock, &index, text.map(str::as_bytes))?;
        assert_eq!(drift.code, Code::DefinitionsChanged);
        Some(drift.details)
    };
    assert_eq!(details(Some(&text)), None);
    let missing = [
        "`read` of `files` is missing",
        "`write` of `files` is missing",
    ];
    for unreadable in [None, Some("[]"), Some("{"), Some("{}")] {
        let mut found = details(unreadable).expect("a drift");
        found.sort();
        assert_eq!(found, missing, "{unreadable:?}");
    }
    let wrong = text.replace("Writes.", "Deletes.");
    let found = details(Some(&wrong)).expect("a drift");
    assert_eq!(found, ["`write` of `files` does not have its digest"]);
    let other = r#"{"name":"other"}"#;
    let surplus = text.replacen('{', &format!("{{\"{}\": {other},", digest(other)), 1);
    let found = details(Some(&surplus)).expect("a drift");
    assert_eq!(
        found,
        [format!("`{}` belongs to no locked tool", digest(other))]
    );
}

#[test]
fn an_edited_lock_is_not_blamed_on_the_definitions() {
    let (lock, index) = lock(CAPABILITY, index("Reads."));
    let text = definitions(&lock, &index).expect("a file");
    let other = digest(r#"{"name":"other"}"#);
    let edits: [fn(&mut Grant, &str); 2] = [
        |grant, other| {
            if let Grant::Capability { definition, .. } = grant {
                other.clone_into(definition);
            }
        },
        |grant, _| {
            if let Grant::Capability { tool, .. } = grant {
                *tool = ToolName::new("write").expect("a name");
            }
        },
    ];
    for edit in edits {
        let mut edited = lock.clone();
        edit(&mut edited.selections[0].grant, &other);
        let drifts = agent_decide::verify(&edited, &index);
        let codes: Vec<_> = drifts.drifts().iter().map(|it| it.code).collect();
        assert!(codes.contains(&Code::HashChanged), "{codes:?}");
        assert!(!codes.contains(&Code::DefinitionChanged), "{codes:?}");
        let file = verify_definitions(&edited, &index, Some(text.as_bytes()));
        assert_eq!(file, None);
    }
    // Edited definitions are, beside an edited lock too.
    let wrong = text.replace("Reads.", "Deletes.");
    let found = verify_definitions(&lock, &index, Some(wrong.as_bytes())).expect("a drift");
    assert_eq!(
        found.details,
        ["`read` of `files` does not have its digest"]
    );
    let message = agent_explain::drift(&found);
    assert!(message.contains("`agents.definitions.json`"), "{message}");
    let mut edited = lock.clone();
    edits[0](&mut edited.selections[0].grant, &other);
    assert!(verify_definitions(&edited, &index, Some(wrong.as_bytes())).is_some());
}

#[test]
fn the_file_shows_what_changed_in_a_definition() {
    let (older, before) = lock(CAPABILITY, index("Reads."));
    let stored = definitions(&older, &before).expect("a file");
    let (newer, after) = lock(CAPABILITY, index("Reads and deletes."));
    let state = agent_decide::compare(Some(&older), &newer);
    let former = Former::Definitions(&older, stored.as_bytes());
    let drifts = detailed(state.drifts(), former, (&newer, &after));
    let changed = drifts.iter().find(|it| it.code == Code::DefinitionChanged);
    let details = &changed.expect("a drift").details;
    assert_eq!(
        details,
        &["`/description` was `\"Reads.\"` and is `\"Reads and deletes.\"`"]
    );
}
