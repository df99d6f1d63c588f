//! What clients refuse of tools that keep to MCP.

use agent_diagnostic::{Code, Severity};
use agent_explain::{CLIENT_LIMITS, ClientLimits, client_limits};
use serde_json::{Value, json};

fn of(name: &str) -> ClientLimits {
    let mut known = CLIENT_LIMITS.into_iter();
    known.find(|it| it.name == name).expect("a known client")
}

/// The messages about tools.
fn found(client: &str, tools: &[Value]) -> Vec<String> {
    let list = json!({ "tools": tools }).to_string();
    let warnings = client_limits(&of(client), &list).expect("a list");
    for warning in &warnings {
        assert_eq!(
            (warning.code, warning.severity),
            (Code::ClientLimit, Severity::Warning)
        );
        assert!(!warning.fixes.is_empty());
    }
    warnings.into_iter().map(|it| it.message).collect()
}

fn tool(name: &str, schema: &Value) -> Value {
    json!({ "name": name, "description": "Finds.", "inputSchema": schema })
}

#[test]
fn a_tool_within_the_limits_is_taken_by_all() {
    let schema = json!({ "type": "object", "properties": { "a.b-c_1": { "anyOf": [{}] } } });
    for limits in CLIENT_LIMITS {
        assert_eq!(found(limits.name, &[tool("find_it-1", &schema)]), [""; 0]);
        assert!(!limits.source.is_empty() && !limits.seen.is_empty());
        let page = include_str!("../../../docs/reference/expansion.md");
        let row = format!("| `{}` | {} | {} |", limits.name, limits.title, limits.seen);
        assert!(page.contains(&row), "the page lacks {row}");
    }
}

#[test]
fn each_limit_is_named_with_the_tools_beyond_it() {
    let object = json!({ "type": "object" });
    let long = "a".repeat(65);
    let described = json!({ "name": "a", "description": "ä".repeat(1_025), "inputSchema": object });
    for (client, tools, expected) in [
        (
            "openai",
            vec![tool(&long, &object)],
            "the name has more than 64 characters",
        ),
        (
            "gemini",
            vec![tool(&long, &object)],
            "the name has more than 64 characters",
        ),
        (
            "openai",
            vec![tool("a.b", &object)],
            "characters other than letters, digits and `_-`",
        ),
        (
            "gemini",
            vec![tool("1a", &object)],
            "does not begin with a letter",
        ),
        (
            "openai",
            vec![described],
            "the description has more than 1024 characters",
        ),
        (
            "anthropic",
            vec![tool("a", &json!({ "$ref": "#/$defs/a" }))],
            "no `\"type\": \"object\"`",
        ),
        (
            "anthropic",
            vec![tool("a", &json!({ "type": "object", "anyOf": [{}] }))],
            "has `anyOf`",
        ),
        (
            "openai",
            vec![tool("a", &json!({ "type": "object", "not": {} }))],
            "has `not`",
        ),
        (
            "anthropic",
            vec![tool(
                "a",
                &json!({ "type": "object", "properties": { "a b": {} } }),
            )],
            "a property's name",
        ),
    ] {
        let messages = found(client, &tools);
        assert_eq!(messages.len(), 1, "{messages:#?}");
        assert!(messages[0].contains(expected), "{messages:?}");
    }
    let bound = |count: usize| {
        (0..count)
            .map(|n| tool(&format!("t{n}"), &object))
            .collect::<Vec<_>>()
    };
    assert_eq!(found("cursor", &bound(40)), [""; 0]);
    assert_eq!(
        found("cursor", &bound(41)),
        ["Cursor takes 40 tools, and these are 41"]
    );
    // Many tools are one message.
    let many: Vec<_> = (0..9).map(|n| tool(&format!("a.{n}"), &object)).collect();
    let messages = found("openai", &many);
    assert!(messages[0].contains("and 4 more"), "{messages:?}");
    assert!(client_limits(&of("openai"), "{").is_none());
}
