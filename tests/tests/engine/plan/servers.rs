//! Steps that call tools of MCP servers: the checks of their definitions before any call.

use super::corpus::{Case, sound};
use agent_decide::{PlanPolicy, Resolution};
use agent_lower as lower;
use agent_model::{Index, Lock};
use serde_json::{Value, json};
use std::sync::Arc;

/// Servers of one id, each with a distinct version and scope.
const SERVERS: [(&str, &str); 2] = [("1.0.0", "read:a"), ("2.0.0", "read:b")];

/// Versions of a server, each locked for another scope.
fn locked(count: usize) -> (Index, Lock) {
    let servers = &SERVERS[..count];
    let entry = |(version, scope): &(&str, &str)| {
        json!({
            "id": "files",
            "version": version,
            "endpoint": "https://tools.example",
            "categories": ["files"],
            "scopes": [scope],
            "data": { "residency": "any", "maxSensitivity": "pii.high" },
            "trust": { "signed": true, "publisher": "p" },
        })
    };
    let index = json!({ "servers": servers.iter().map(entry).collect::<Value>() });
    let index = || sound(lower::index(index.to_string().into_bytes()));
    let required = servers.iter();
    let required =
        required.map(|(_, scope)| format!("    - category: files\n      permissions: [{scope}]\n"));
    let required: String = required.collect();
    let manifest = format!("---\nname: a\nversion: 1.0.0\nrequires:\n  mcp:\n{required}---\n");
    let manifest = sound(lower::manifest(manifest.into_bytes()));
    let resolution = Resolution::new(Arc::new(manifest), Arc::new(index()));
    (index(), resolution.lock().expect("a server for each"))
}

/// The outcome of a plan whose first step keeps a value and whose second passes it to a tool.
struct Given {
    /// How many versions of the server are locked.
    versions: usize,
    /// The one that the binding names.
    version: Option<&'static str>,
    /// The tool, as its server lists it.
    tool: Value,
    /// What the first step keeps.
    kept: Value,
    /// Whether the plan writes what is kept into the second step itself.
    literal: bool,
}

impl Given {
    fn new(tool: Value, kept: Value) -> Self {
        Self {
            versions: 1,
            version: Some("1.0.0"),
            tool,
            kept,
            literal: false,
        }
    }

    /// What speaks against it: lines as those of the corpus, and the report with the changes.
    fn told(&self) -> (Vec<String>, Value) {
        let limits = json!({
            "timeout_ms": 1, "max_input_bytes": 999, "max_output_bytes": 999, "max_log_bytes": 9,
        });
        let connector = |id: &str| json!({ "connector_id": id, "provider": "p", "resource": "r", "protocol": "x" });
        let mut call = json!({
            "connector_id": "files", "tool_id": "call", "driver_kind": "mcp_proxy",
            "destinations": ["https://tools.example"], "limits": limits,
            "server": "files", "tool": "call",
        });
        if let Some(version) = self.version {
            call["server_version"] = json!(version);
        }
        let keep = json!({
            "connector_id": "noop", "tool_id": "keep", "driver_kind": "noop",
            "destinations": [], "limits": limits,
        });
        let pool = json!({
            "schema_id": "ds.mova_agent_tool_pool_v1", "pool_id": "pool", "pool_version": "1",
            "connectors": [connector("files"), connector("noop")], "bindings": [call, keep],
        });
        let profile = json!({
            "schema_id": "ds.instruction_profile_core_v1", "profile_id": "profile",
            "profile_version": "1.0.0", "security_model_version": "1.0.0", "status": "active",
            "caps": {
                "max_steps": 9, "max_timeout_ms": 9, "max_input_bytes": 999,
                "max_output_bytes": 999, "max_log_bytes": 99,
            },
            "rules": [{
                "rule_id": "all", "effect": "allow", "target": { "kind": "tool", "selector": "*" },
            }],
        });
        let mut steps = vec![
            json!({ "step_id": "keep", "connector_id": "noop", "tool_id": "keep", "input": self.kept }),
            json!({ "step_id": "call", "connector_id": "files", "tool_id": "call" }),
        ];
        if self.literal {
            steps[1]["input"] = self.kept.clone();
        } else {
            steps[1]["input_from"] = json!({ "step": "keep", "pointer": "" });
        }
        let plan = json!({
            "envelope_id": "env.mova_agent_plan_v1", "verb": "create",
            "roles": { "planner": "p", "executor": "agent" },
            "plan": {
                "plan_id": "p", "request_id": "r",
                "tool_pool_ref": { "pool_id": "pool", "pool_version": "1" },
                "instruction_profile_ref": { "profile_id": "profile", "profile_version": "1.0.0" },
                "steps": steps,
            },
        });
        let catalogue = json!({ "files": { "tools": [self.tool] } });
        let bytes = |value: &Value| value.to_string().into_bytes();
        let (index, lock) = locked(self.versions);
        let case = Case {
            plan: Arc::new(lower::plan(bytes(&plan))),
            rules: Arc::new(PlanPolicy::new(bytes(&pool), bytes(&profile), None)),
            request: None,
            index: Some(index),
            lock: Some(lock),
            catalogue: Some(sound(lower::tools_snapshot(bytes(&catalogue)))),
        };
        let outcome = case.decide_with_fixes();
        let report = serde_json::from_str(&outcome.report).expect("a report");
        (outcome.problems, report)
    }

    fn problems(&self) -> Vec<String> {
        self.told().0
    }
}

const TOOL: &str = "policy_denied plan /plan/steps/1/tool_id";
const UNUSABLE: &str = "validation_failed plan /plan/steps/1/tool_id";

/// A tool that takes every object.
fn sound_tool() -> Value {
    json!({ "name": "call", "inputSchema": { "type": "object", "additionalProperties": true } })
}

#[test]
fn a_tool_that_could_never_succeed_is_not_called() {
    let kept = json!({});
    assert!(Given::new(sound_tool(), kept.clone()).problems().is_empty());
    let broken = json!({ "type": 7 });
    for literal in [false, true] {
        let missing = json!({ "name": "call" });
        let unusable = json!({ "name": "call", "inputSchema": broken });
        for tool in [missing, unusable] {
            let mut given = Given::new(tool, kept.clone());
            given.literal = literal;
            assert_eq!(given.problems(), [UNUSABLE], "{literal}");
        }
        let mut tool = sound_tool();
        tool["outputSchema"] = broken.clone();
        let mut given = Given::new(tool, kept.clone());
        given.literal = literal;
        assert_eq!(given.problems(), [TOOL], "{literal}");
    }
}

#[test]
fn arguments_are_an_object_whatever_their_schema_says() {
    let silent = json!({ "name": "call", "inputSchema": {} });
    for kept in [json!([1]), json!(5), json!(null), json!("text")] {
        let mut given = Given::new(silent.clone(), kept.clone());
        let from = "validation_failed plan /plan/steps/1/input_from";
        assert_eq!(given.problems(), [from], "{kept}");
        given.literal = true;
        let literal = "validation_failed plan /plan/steps/1/input";
        assert_eq!(given.problems(), [literal], "{kept}");
    }
    let mut given = Given::new(silent, json!({}));
    assert!(given.problems().is_empty());
    given.literal = true;
    assert!(given.problems().is_empty());
}

#[test]
fn a_binding_says_which_of_several_locked_versions_it_means() {
    let mut given = Given::new(sound_tool(), json!({}));
    given.version = None;
    assert!(given.problems().is_empty());
    given.versions = 2;
    let (problems, report) = given.told();
    assert_eq!(problems, [TOOL]);
    let change = json!([{
        "document": "tool_pool", "op": "add", "pointer": "/bindings/0/server_version",
        "value": "1.0.0", "widens": false,
    }]);
    assert_eq!(report["problems"][0]["changes"], change);
    for (version, _) in SERVERS {
        given.version = Some(version);
        assert!(given.problems().is_empty(), "{version}");
    }
}
