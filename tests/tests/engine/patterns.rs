//! Tools whose unusable patterns are ignored, because an overlay says so \[4\].

use super::session::{World, at, call, capability, new_client, server};
use agent_decide::{Resolution, compare, verify};
use agent_diagnostic::{Code, Diagnostic};
use agent_import::{Imported, Overlay, import};
use agent_lower as lower;
use agent_lower::Checked;
use agent_model::{Index, Load, Lock};
use agent_session::{CallAction, Options, Session};
use serde_json::{Value, json};
use std::sync::Arc;

/// A server's capture: `send` has a back-reference, and `count` has a mark that only an overlay may give.
const CAPTURE: &str = r#"{"package": "mail", "version": "1", "tools/list": {"tools": [
    {"name": "send", "description": "Sends.", "inputSchema": {"type": "object", "properties":
        {"to": {"type": "string", "pattern": "^(a)\\1$", "maxLength": 4}}}},
    {"name": "count", "description": "Counts.", "patterns": "ignore", "inputSchema": {"type": "object",
        "patternProperties": {"^(b)\\1$": {}}, "additionalProperties": false}}]}}"#;

fn overlay(tools: &str) -> Overlay {
    let text = format!(
        "version: v0.1\nservers:\n  mail:\n    endpoint: https://mail.example/mcp\n    categories: [mail]\n    \
         scopes: []\n    data: {{ residency: any, maxSensitivity: public }}\n    trust: {{ signed: true, publisher: P }}\n    \
         tools:\n{tools}"
    );
    Overlay {
        bytes: text.into_bytes(),
        notation: lower::Notation::default(),
    }
}

/// The overlay's line of a tool with its capability.
fn tool(name: &str, resource: &str, more: &str) -> String {
    let block = format!("[{{ verb: write, resource: {resource} }}]");
    format!("      {name}: {{ x-summit-capabilities: {block}{more} }}\n")
}

fn imported(tools: &str) -> Result<Checked<Imported>, Vec<Diagnostic>> {
    import(vec![CAPTURE.into()], Some(overlay(tools)), None)
}

/// An index in which both tools have the mark, or none as someone may write it.
fn index(is_marked: bool) -> Index {
    let tools = tool("send", "x-mail", IGNORED) + &tool("count", "x-count", IGNORED);
    let read = imported(&tools).unwrap_or_else(|found| panic!("{found:#?}"));
    let mut index: Value = serde_json::from_str(&read.value.index).expect("JSON");
    let tools = &mut index["servers"][0]["capabilities"]["tools"];
    for name in ["send", "count"] {
        let tool = tools[name].as_object_mut().expect("a tool");
        if !is_marked {
            assert_eq!(tool.remove("patterns"), Some(json!("ignore")));
        }
    }
    let index = lower::index(index.to_string().into_bytes());
    index.expect("an index").value
}

fn lock(requires: &str, index: Index) -> Lock {
    let text = format!("---\nname: a\nversion: 1\nrequires:\n{requires}---\n");
    let manifest = lower::manifest(text.into_bytes()).expect("a manifest");
    let resolution = Resolution::new(Arc::new(manifest.value), Arc::new(index));
    resolution.lock().expect("a lock")
}

const IGNORED: &str = ", patterns: ignore";

#[test]
fn only_an_overlay_ignores_patterns() {
    let tools = tool("send", "x-mail", IGNORED) + &tool("count", "x-count", "");
    let read = imported(&tools).unwrap_or_else(|found| panic!("{found:#?}"));
    let entry: Value = serde_json::from_str(&read.value.index).expect("JSON");
    let tools = &entry["servers"][0]["capabilities"]["tools"];
    assert_eq!(tools["send"]["patterns"], "ignore");
    // What the server says of its own tool is not heard.
    assert_eq!(tools.get("count"), None);
    let left_out: Vec<_> = read.value.left_out.iter().map(|it| &*it.tool).collect();
    assert_eq!(left_out, ["count"]);
    let warnings = read.warnings.iter();
    let found: Vec<_> = warnings
        .filter(|it| it.code == Code::SchemaInvalid)
        .collect();
    let [warning] = &found[..] else {
        panic!("{:#?}", read.warnings);
    };
    let helps: Vec<_> = warning.fixes.iter().map(|it| &*it.title).collect();
    assert!(helps.concat().contains("patterns: ignore"), "{warning:#?}");

    // An index that was written by hand may have such a tool, and then nobody can call it.
    let uncallable = |index: &Index| index.tools().filter_map(lower::uncallable).count();
    assert_eq!(uncallable(&index(true)), 0);
    assert_eq!(uncallable(&index(false)), 2);
    // The mark is of the entry, and not of the definition.
    let send = |index: &Index| {
        let server = index.versions("mail").next().expect("the server");
        let tool = server.tool("send").expect("the tool");
        (
            lower::integrity(server).to_owned(),
            lower::definition_digest(tool),
        )
    };
    let (with, without) = (send(&index(true)), send(&index(false)));
    assert_ne!(with.0, without.0);
    assert_eq!(with.1, without.1);

    let Err(problems) = imported(&tool("send", "x-mail", ", patterns: drop")) else {
        panic!("another word is accepted");
    };
    let codes: Vec<_> = problems.iter().map(|it| it.code).collect();
    assert!(codes.contains(&Code::UnknownValue), "{problems:#?}");
}

#[test]
fn a_lock_names_what_is_ignored_and_its_growth_is_a_widening() {
    for (requires, written) in [
        (
            "  mcp:\n    - { category: mail, permissions: [] }\n",
            json!({ "count": "ignore", "send": "ignore" }),
        ),
        (
            "  capabilities:\n    - { verb: write, resource: x-mail }\n",
            json!("ignore"),
        ),
    ] {
        let older = lock(requires, index(false));
        let newer = lock(requires, index(true));
        let text = agent_render::lock(&newer);
        let file: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(file["selections"][0]["patterns"], written);
        assert_eq!(lower::lock(text.into_bytes()).expect("a lock").value, newer);
        assert!(!agent_render::lock(&older).contains("patterns"));
        let found = |state: agent_decide::LockState| -> Vec<_> {
            let of_patterns = state
                .drifts()
                .iter()
                .filter(|it| matches!(it.code, Code::PatternsWidened | Code::PatternsNarrowed));
            of_patterns.map(|it| (it.code, it.widening())).collect()
        };
        let count = newer.selections[0].patterns.len();
        let widened = vec![(Code::PatternsWidened, true); count];
        assert_eq!(found(compare(Some(&older), &newer)), widened);
        assert_eq!(found(verify(&older, &index(true))), widened);
        let narrowed = vec![(Code::PatternsNarrowed, false); count];
        assert_eq!(found(compare(Some(&newer), &older)), narrowed);
        assert_eq!(found(verify(&newer, &index(true))), []);
    }
}

#[test]
fn a_session_obeys_it_if_the_operator_agrees() {
    let send = json!({
        "description": "Sends.", "patterns": "ignore", "x-summit-capabilities": capability(&[]),
        "inputSchema": { "type": "object", "properties":
            { "to": { "type": "string", "pattern": "^(a)\\1$", "maxLength": 4 } } },
    });
    let harmless = json!({ "patterns": "ignore" });
    let tools = json!({ "send": send, "ping": harmless });
    let world = World::new(
        vec![server("mail", tools)],
        &[
            ("mail", "ping", Load::Essential),
            ("mail", "send", Load::Essential),
        ],
    );
    let listed = |session: &mut Session| {
        let list = session.list(&new_client(), at(0)).result;
        let list: Value = serde_json::from_slice(&list).expect("JSON");
        let tools = list["tools"].as_array().expect("tools").iter();
        let names = tools.map(|it| it["name"].as_str().expect("a name").to_owned());
        names.collect::<Vec<_>>()
    };
    let mut refused = world.session(Options::default());
    assert_eq!(listed(&mut refused), ["ping"]);
    let status = refused.status(at(0));
    assert!(
        status.contains("tools: { send: { patterns: ignore } }"),
        "{status}"
    );

    let agreed = [("mail".to_owned(), "send".to_owned())];
    let mut session = world.session(Options {
        ignoring: Some(agreed.into_iter().collect()),
        ..Options::default()
    });
    assert_eq!(listed(&mut session), ["ping", "send"]);
    let mut is_passed_on = |to: &str| {
        let called = call(&mut session, &new_client(), "send", json!({ "to": to }));
        matches!(called.action, CallAction::Forward(_))
    };
    assert!(is_passed_on("aa") && is_passed_on("b"));
    // What can be checked still is.
    assert!(!is_passed_on("bbbbb"));
}
