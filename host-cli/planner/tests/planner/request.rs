//! The requests of the tests.

use agent_planner::{Limits, PlannerRequest};
use serde_json::{Value, json};
use std::time::Duration;

/// Limits that no test reaches by accident.
pub(crate) const AMPLE: Limits = Limits {
    time: Duration::from_secs(120),
    plan_bytes: 64 << 10,
};

/// The request of the documentation's tool pool.
pub(crate) fn content() -> Value {
    json!({
        "task": "steps",
        "goal": "Which audiences are the largest?",
        "context": {"at_most": 2},
        "tools": [
            {
                "connector_id": "connector_core:http_generic", "tool_id": "get-report",
                "description": "Get a report.", "driver_kind": "http",
            },
            {
                "connector_id": "connector_acme:audiences", "tool_id": "list",
                "description": "List audiences, largest first.", "driver_kind": "mcp_proxy",
                "input_schema": {
                    "type": "object",
                    "properties": {"limit": {"type": "integer", "minimum": 1, "maximum": 100}},
                    "required": ["limit"],
                    "additionalProperties": false,
                },
            },
            {"connector_id": "connector_core:noop", "tool_id": "keep", "driver_kind": "noop"},
            {"connector_id": "connector_core:noop", "tool_id": "largest", "driver_kind": "noop"},
        ],
        "tool_pool_ref": {"pool_id": "hello-plans", "pool_version": "1.0.0"},
        "instruction_profile_ref": {"profile_id": "hello-plans"},
        "request_id": "hello-1",
        "schema": {"type": "object", "title": "schema of a plan"},
    })
}

/// Returns the content as a request.
pub(crate) fn request(content: &Value) -> PlannerRequest {
    PlannerRequest::from_json(content.to_string().as_bytes()).unwrap()
}
