//! The tools of real servers, called as they may be called and as they may not: by the captures of
//! `tools/list`, which are no part of the repository, and by a catalogue that has what they lack.
//! Every verdict is compared with that of the crate `jsonschema`.

// How many calls were decided is for documentation.
#![allow(clippy::print_stdout)]

mod calls;

use agent_decide::{CallContext, CallDenial, CallVerdict, MayWrite, Resolution, authorize_call};
use agent_json_schema::{ArgumentProblem, Budget, JsonText, ToolSchema, arguments};
use agent_lower as lower;
use agent_model::{Index, Lock};
use calls::{Call, Expected, calls};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Where the captures are.
const CAPTURES: Option<&str> = option_env!("AGENT_MCP_CAPTURES");

/// The version of MCP that was spoken in them.
const VERSION: &str = "2025-11-25";

/// Tools with what those of the captures lack: draft 2020-12, patterns, lengths, whole numbers,
/// closed and open objects.
fn typical() -> BTreeMap<String, Value> {
    let tools = json!([
        {
            "name": "book",
            "inputSchema": {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {
                    "guests": { "type": "integer", "minimum": 1, "maximum": 12 },
                    "names": {
                        "type": "array",
                        "items": { "type": "string", "minLength": 2, "maxLength": 5 },
                        "minItems": 1,
                        "maxItems": 3,
                    },
                    "night": {
                        "type": "string",
                        "pattern": "^[0-9]{4}-[0-9]{2}$",
                        "examples": ["2026-11", "1999-01"],
                    },
                },
                "required": ["guests", "night"],
            },
        },
        {
            "name": "label",
            "inputSchema": {
                "type": "object",
                "properties": { "id": { "type": "integer" } },
                "required": ["id"],
                "additionalProperties": { "type": "string", "maxLength": 3 },
            },
        },
        {
            "name": "log",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "level": { "type": "string", "enum": ["debug", "error"] },
                    "where": {
                        "type": "object",
                        "properties": { "line": { "type": "integer", "minimum": 1 } },
                        "additionalProperties": false,
                    },
                },
                "additionalProperties": true,
            },
        },
    ]);
    BTreeMap::from([("typical".to_owned(), json!({ "tools": tools }))])
}

/// The results of `tools/list` of the captures, by the name of the file.
fn captures() -> BTreeMap<String, Value> {
    let folder = Path::new(CAPTURES.expect("the folder that build.rs found"));
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy();
            let text = fs::read_to_string(&path).expect("a text");
            let mut capture: Value = serde_json::from_str(&text).expect("JSON");
            let list = capture[VERSION]["tools/list"].take();
            assert!(list["tools"].is_array(), "{name} has no tools");
            (name.into_owned(), list)
        })
        .collect()
}

fn tools(list: &Value) -> &[Value] {
    list["tools"].as_array().expect("tools")
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().expect("a text")
}

/// Decide a call. The places of problems are places in the arguments.
fn decide(schema: &Value, call: &Call) {
    let (schema_text, arguments_text) = (schema.to_string(), call.arguments.to_string());
    let read = JsonText::read(&arguments_text).expect("JSON");
    let problems = arguments(
        Some(ToolSchema::Text(&schema_text)),
        read.root(),
        0,
        &mut Budget::new(),
    );
    let about = format!("{}: {schema}\n{arguments_text}\n{problems:#?}", call.what);
    match &call.expected {
        Expected::Fits => assert!(problems.is_empty(), "{about}"),
        Expected::Undeclared => {
            let [ArgumentProblem::Unknown { name, span, .. }] = &problems[..] else {
                panic!("{about}");
            };
            assert_eq!(span.of(&arguments_text), format!("\"{name}\""), "{about}");
            assert!(call.arguments[name].is_number(), "{about}");
        }
        Expected::Violates(expected) => {
            assert!(!problems.is_empty(), "{about}");
            for problem in &problems {
                let ArgumentProblem::Invalid { pointer, rule, .. } = problem else {
                    panic!("{about}");
                };
                assert_eq!(pointer, expected, "{about}");
                assert!(schema.pointer(rule).is_some(), "{about}");
            }
        }
    }
    // `format` is an annotation here, and decides there if nothing is said.
    let theirs = jsonschema::options().should_validate_formats(false);
    let theirs = theirs.build(schema).expect("a schema");
    let fits = !matches!(call.expected, Expected::Violates(_));
    assert_eq!(theirs.is_valid(&call.arguments), fits, "{about}");
}

/// How many tools and calls were decided.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    tools: usize,
    fitting: usize,
    violating: usize,
    undeclared: usize,
}

/// Decides every call of every tool, by its unchanged schema and by the default draft.
fn decide_all(catalogue: &BTreeMap<String, Value>) -> Count {
    let mut count = Count::default();
    for tool in catalogue.values().flat_map(tools) {
        count.tools += 1;
        let mut schema = tool["inputSchema"].clone();
        for call in calls(&schema) {
            decide(&schema, &call);
            match call.expected {
                Expected::Fits => count.fitting += 1,
                Expected::Violates(_) => count.violating += 1,
                Expected::Undeclared => count.undeclared += 1,
            }
        }
        let named = schema.as_object_mut().expect("a schema").remove("$schema");
        if named.is_some() {
            calls(&schema).iter().for_each(|call| decide(&schema, call));
        }
    }
    println!("{count:?}");
    count
}

#[test]
fn calls_of_typical_tools_have_their_verdicts() {
    let count = decide_all(&typical());
    let expected = Count {
        tools: 3,
        fitting: 30,
        violating: 100,
        undeclared: 1,
    };
    assert_eq!(count, expected);
}

#[test]
#[cfg_attr(
    not(mcp_captures),
    ignore = "the captures of MCP servers are not here: set AGENT_REFERENCE, see tests/README.md"
)]
fn calls_of_real_tools_have_their_verdicts() {
    let captures = captures();
    assert!(captures.len() >= 3, "{:?}", captures.keys());
    let count = decide_all(&captures);
    let enough = count.tools >= 36 && count.fitting >= 250 && count.violating >= 800;
    assert!(enough && count.undeclared >= 36, "{count:?}");
}

/// The servers of the captures as an index has them. Each tool advertises that it only reads,
/// whatever it says itself.
fn servers(captures: &BTreeMap<String, Value>) -> Value {
    let servers = captures.iter().map(|(id, list)| {
        let tools: serde_json::Map<_, _> = tools(list)
            .iter()
            .map(|tool| {
                let mut entry = tool.clone();
                entry["x-summit-capabilities"] =
                    json!([{ "verb": "read", "resource": "x-any", "constraints": ["readonly"] }]);
                (text(tool, "name").to_owned(), entry)
            })
            .collect();
        json!({
            "id": id, "version": "1", "categories": [id], "scopes": [],
            "endpoint": format!("https://{id}.example/"),
            "trust": { "signed": true, "publisher": "P" },
            "data": { "residency": "any", "maxSensitivity": "public" },
            "capabilities": { "tools": tools },
        })
    });
    servers.collect()
}

/// The lock of an agent that requires each of the servers.
fn lock<'c>(ids: impl Iterator<Item = &'c String>, index: &Arc<Index>) -> Lock {
    let required: String = ids
        .map(|id| format!("    - category: {id}\n      permissions: []\n"))
        .collect();
    let manifest = format!("---\nname: a\nversion: 1\nrequires:\n  mcp:\n{required}---\n");
    let manifest = lower::manifest(manifest.into_bytes()).expect("a manifest");
    let resolution = Resolution::new(Arc::new(manifest.value), index.clone());
    resolution.lock().expect("every requirement has a server")
}

#[test]
#[cfg_attr(
    not(mcp_captures),
    ignore = "the captures of MCP servers are not here: set AGENT_REFERENCE, see tests/README.md"
)]
fn calls_of_real_tools_are_authorised_by_index_lock_and_catalogue() {
    let captures = captures();
    let index = lower::index(servers(&captures).to_string().into_bytes());
    let index = Arc::new(index.expect("an index").value);
    let lock = lock(captures.keys(), &index);
    let catalogue = json!(captures).to_string().into_bytes();
    let catalogue = lower::tools_snapshot(catalogue).expect("a catalogue").value;
    let context = CallContext {
        evaluation_context: None,
        index: &index,
        lock: Some(&lock),
        catalogue: Some(&catalogue),
    };
    let (mut reading, mut writing) = (0, 0);
    for (id, list) in &captures {
        for tool in tools(list) {
            let hints = &tool["annotations"];
            let writes = hints["readOnlyHint"] == false || hints["destructiveHint"] == true;
            *(if writes { &mut writing } else { &mut reading }) += 1;
            for call in calls(&tool["inputSchema"]) {
                let name = text(tool, "name");
                let plan = json!({
                    "type": "call_tool", "server": id, "tool": name, "args": call.arguments,
                });
                let plan = lower::call_plan(plan.to_string().into_bytes());
                if !call.arguments.is_object() {
                    assert!(plan.is_err(), "{name}: {}", call.what);
                    continue;
                }
                let plan = plan.expect("a plan").value;
                let verdict = authorize_call(&plan, context);
                let about = format!("{name}: {}: {verdict:#?}", call.what);
                let denials: Vec<_> = verdict.denials().collect();
                match &verdict {
                    CallVerdict::Allowed(call) => {
                        assert_eq!((call.server().id(), call.tool()), (id.as_str(), name));
                        assert!(denials.is_empty(), "{about}");
                    }
                    CallVerdict::Denied(_) => assert!(!denials.is_empty(), "{about}"),
                    CallVerdict::NeedsMoreInfo(_) => panic!("{about}"),
                }
                let of_hints = denials
                    .iter()
                    .filter(|it| matches!(it, CallDenial::NotReadonly(MayWrite::Annotation(_))));
                assert_eq!(of_hints.count(), usize::from(writes), "{about}");
                let of_arguments = denials
                    .iter()
                    .filter(|it| matches!(it, CallDenial::Arguments(_)));
                let of_arguments = of_arguments.count();
                assert_eq!(
                    of_arguments == 0,
                    call.expected == Expected::Fits,
                    "{about}"
                );
                assert_eq!(denials.len(), of_arguments + usize::from(writes), "{about}");
            }
        }
    }
    println!("{reading} tools read, {writing} write");
    assert!(
        reading >= 20 && writing >= 12,
        "{reading} read, {writing} write"
    );
}
