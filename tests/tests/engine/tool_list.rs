//! The tools that an agent sees are a result of `tools/list` by the schemas of MCP, and the
//! description of a stub's arguments is a schema.
//!
//! `build.rs` finds the schemas.

use agent_decide::{
    EvaluationContext, Expand, LockState, Matching, NotExposed, expand, exposed, verify,
};
use agent_lower as lower;
use agent_lower::Notation;
use agent_model::{Agent, AgentName, AgentVersion, Index, Load, Lock, Name};
use agent_render::{expanded_json, exposed_json};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Where the schemas are.
const WIRE: Option<&str> = option_env!("AGENT_MCP_WIRE");

/// The versions of MCP that are spoken.
const VERSIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// The required form of a type in a version.
fn validator(version: &str, name: &str) -> jsonschema::Validator {
    let folder = WIRE.expect("the folder that build.rs found");
    let path = Path::new(folder).join(format!("schema.{version}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
    assert!(schema["$defs"][name].is_object(), "{version} has {name}");
    schema["$ref"] = json!(format!("#/$defs/{name}"));
    jsonschema::validator_for(&schema).expect("a schema")
}

fn check(version: &str, name: &str, value: &Value) {
    let errors: Vec<_> = validator(version, name)
        .iter_errors(value)
        .map(|error| format!("{error} at {}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{version} {name}: {errors:?}\n{value:#}");
}

/// A server whose tools advertise `read` on the resource `x-NAME`, NAME being that of the tool.
fn server(id: &str, tools: &[(&str, Value)]) -> Value {
    let tools: serde_json::Map<_, _> = tools
        .iter()
        .map(|(name, definition)| {
            let mut entry = definition.clone();
            entry["x-summit-capabilities"] =
                json!([{ "verb": "read", "resource": format!("x-{name}") }]);
            ((*name).to_owned(), entry)
        })
        .collect();
    json!({
        "id": id, "version": "1", "categories": [], "scopes": [],
        "endpoint": "https://x.example/", "trust": { "signed": true, "publisher": "P" },
        "data": { "residency": "any", "maxSensitivity": "public" },
        "capabilities": { "tools": tools },
    })
}

/// The index, and what a task that requires these tools has locked.
fn locked(servers: &[Value], tools: &[(&str, Load)]) -> (Arc<Index>, Lock) {
    let index = json!({ "servers": servers }).to_string();
    let index = Arc::new(lower::index(index.into_bytes()).expect("an index").value);
    let required: Vec<_> = tools
        .iter()
        .map(|(tool, load)| {
            json!({ "verb": "read", "resource": format!("x-{tool}"), "load": load.as_str() })
        })
        .collect();
    let task = json!({ "task_id": "t", "required_capabilities": required }).to_string();
    let task = lower::task(task.into_bytes(), Notation::Json).expect("a task");
    let evaluation_context = EvaluationContext {
        task: Some(Arc::new(task.value)),
        ..EvaluationContext::default()
    };
    let matching = Matching::new(None, index.clone(), evaluation_context);
    let mut selections: Vec<_> = (0..matching.len())
        .flat_map(|number| matching.selections(number).expect("a tool"))
        .collect();
    selections.sort_by(|a, b| a.order().cmp(&b.order()));
    let lock = Lock {
        agent: Agent {
            name: AgentName::new("a").expect("a name"),
            version: AgentVersion::new("1").expect("a version"),
        },
        forbid: Vec::new(),
        policy: None,
        selections,
    };
    assert_eq!(verify(&lock, &index), LockState::Fresh);
    (index, lock)
}

/// Servers whose tools have all that a definition may have, and nothing of it.
fn servers() -> [Value; 2] {
    [
        server(
            "aws/cloud",
            &[
                ("bare", json!({})),
                (
                    "full",
                    json!({
                        "description": "Line one.\nLine \"two\": ü😀.",
                        "inputSchema": {
                            "$schema": "https://json-schema.org/draft/2020-12/schema",
                            "type": "object",
                            "properties": { "n": { "type": "number", "maximum": 1.5e300 } },
                            "required": ["n"],
                        },
                        "outputSchema": { "type": "object" },
                        "annotations": { "title": "T", "readOnlyHint": true },
                    }),
                ),
            ],
        ),
        server(
            "brave",
            &[(
                "untyped",
                json!({ "inputSchema": { "properties": { "q": {} } } }),
            )],
        ),
    ]
}

#[test]
#[cfg_attr(
    not(mcp_wire),
    ignore = "the schemas of MCP are not here: set AGENT_REFERENCE, see tests/README.md"
)]
fn what_is_exposed_is_a_result_of_tools_list() {
    for load in [Load::Essential, Load::OnDemand] {
        let tools = [("bare", load), ("full", load), ("untyped", Load::Essential)];
        let (index, lock) = locked(&servers(), &tools);
        let list = exposed(&lock, &index).expect("exposed");
        let list: Value = serde_json::from_str(&exposed_json(&list)).expect("JSON");
        let names = list["tools"].as_array().expect("tools").iter();
        let names: Vec<_> = names.map(|tool| tool["name"].as_str()).collect();
        let expected = match load {
            Load::Essential => vec![Some("bare"), Some("full"), Some("untyped")],
            Load::OnDemand => vec![Some("aws_cloud_helper"), Some("untyped")],
        };
        assert_eq!(names, expected);
        for version in VERSIONS {
            check(version, "ListToolsResult", &list);
        }
        for tool in list["tools"].as_array().expect("tools") {
            jsonschema::draft202012::meta::validate(&tool["inputSchema"]).expect("a schema");
        }
        // The schema must reject a list whose tool lacks a member that MCP requires.
        let mut broken = list.clone();
        broken["tools"][0]
            .as_object_mut()
            .expect("a tool")
            .remove("inputSchema");
        for version in VERSIONS {
            assert!(!validator(version, "ListToolsResult").is_valid(&broken));
        }
    }
}

#[test]
#[cfg_attr(
    not(mcp_wire),
    ignore = "the schemas of MCP are not here: set AGENT_REFERENCE, see tests/README.md"
)]
fn what_is_expanded_are_tools() {
    let tools = [("bare", Load::OnDemand), ("full", Load::OnDemand)];
    let (index, lock) = locked(&servers(), &tools);
    let asked = Expand {
        server: "aws/cloud",
        tools: &["full".to_owned(), "bare".to_owned()],
        used: 0,
        budget: Some(1_000),
    };
    let found = expand(&lock, &index, &EvaluationContext::default(), asked).expect("expanded");
    let found: Value = serde_json::from_str(&expanded_json(&found)).expect("JSON");
    let found = found["tools"].as_array().expect("tools");
    assert_eq!(found.len(), 2);
    for tool in found {
        for version in VERSIONS {
            check(version, "Tool", tool);
        }
    }
}

#[test]
fn the_arguments_of_a_stub_are_what_its_schema_says() {
    let (index, lock) = locked(&servers(), &[("bare", Load::OnDemand)]);
    let list = exposed(&lock, &index).expect("exposed");
    let list: Value = serde_json::from_str(&exposed_json(&list)).expect("JSON");
    let schema = jsonschema::draft202012::new(&list["tools"][0]["inputSchema"]).expect("a schema");
    for (arguments, valid) in [
        (json!({ "operation": "list_services" }), true),
        (json!({ "operation": "expand", "tools": ["bare"] }), true),
        (
            json!({ "operation": "call", "tool": "bare", "arguments": {} }),
            true,
        ),
        (json!({ "operation": "call", "tool": 1 }), false),
        (json!({}), false),
        (json!({ "operation": "other" }), false),
        (json!({ "operation": "expand", "tools": [] }), false),
        (json!({ "operation": "expand", "tools": "bare" }), false),
        (json!({ "operation": "expand", "budget": 1 }), false),
    ] {
        assert_eq!(schema.is_valid(&arguments), valid, "{arguments}");
    }
}

#[test]
fn a_lock_that_does_not_hold_exposes_nothing() {
    let (_, lock) = locked(&servers(), &[("bare", Load::Essential)]);
    let (other, _) = locked(&servers()[1..], &[("untyped", Load::Essential)]);
    assert!(matches!(
        exposed(&lock, &other),
        Err(NotExposed::Drifted(_))
    ));
}
