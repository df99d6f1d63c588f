//! Runs of plans: the lifecycle, the evidence, and hosts that misbehave.

mod any_plan;
pub(crate) mod ask;
mod attacks;
mod evidence;
pub(crate) mod goals;
mod lifecycle;
mod misbehaviour;
mod mova;
mod policy;
mod secrets;

use agent_run::Documents;
use agent_tests::corpus::{Case, corpus};
use agent_tests::plan::PlanInputs;
use serde_json::{Value, json};

/// Returns the documents of a case of plans.
pub(crate) fn documents(case: &Case) -> Documents {
    let inputs = PlanInputs::of(case);
    Documents {
        plan: Some(inputs.plan),
        request: inputs.request,
        tool_pool: Some(inputs.tool_pool),
        profile: Some(inputs.profile),
        lock: inputs.lock,
        index: inputs.index,
        ..Documents::default()
    }
}

/// Returns the documents of a case whose plan may run.
pub(crate) fn accepted(name: &str) -> Documents {
    let cases = agent_tests::plan::plan_cases();
    let wanted = format!("plan/accept/{name}");
    let case = cases.iter().find(|case| case.name() == wanted);
    documents(case.unwrap_or_else(|| panic!("no case {name}")))
}

/// Returns the documents of a plan with steps for the tools of the base pool.
pub(crate) fn plan_of(steps: Value) -> Documents {
    let plan = json!({
        "envelope_id": "env.mova_agent_plan_v1",
        "verb": "create",
        "roles": { "planner": "a-model", "executor": "agent" },
        "plan": {
            "plan_id": "p",
            "request_id": "r",
            "tool_pool_ref": { "pool_id": "pool", "pool_version": "1.0.0" },
            "instruction_profile_ref": { "profile_id": "profile" },
            "steps": steps,
        }
    });
    let base = |name: &str| {
        let path = corpus().join("plan/base").join(name);
        Some(std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
    };
    Documents {
        plan: Some(plan.to_string().into_bytes()),
        tool_pool: base("tool-pool.json"),
        profile: base("profile.json"),
        lock: base("agents.lock"),
        index: base("mcp.index.json"),
        ..Documents::default()
    }
}

/// Returns the documents of the base of plans, without a plan and a request.
pub(crate) fn documents_of_base() -> Documents {
    Documents {
        plan: None,
        ..plan_of(json!([]))
    }
}

/// Returns a lock for the base manifest and another index.
pub(crate) fn locked(index: &str) -> String {
    let manifest = std::fs::read(corpus().join("plan/base/agents.md")).expect("the manifest");
    let answers = agent_tests::native::resolve(&manifest, index.as_bytes());
    answers.get("agents.lock").expect("a lock").clone()
}

/// Returns documents with another tool pool, made from the base one.
pub(crate) fn with_pool(documents: Documents, change: impl FnOnce(&mut Value)) -> Documents {
    let pool = documents.tool_pool.as_deref().expect("a pool");
    let mut pool: Value = serde_json::from_slice(pool).expect("JSON");
    change(&mut pool);
    Documents {
        tool_pool: Some(pool.to_string().into_bytes()),
        ..documents
    }
}

/// A step that asks for a report over HTTP.
pub(crate) fn report() -> Value {
    json!([{
        "step_id": "report",
        "connector_id": "connector_core:http_generic",
        "tool_id": "get-report",
        "input": { "method": "GET", "url": "https://reports.example/2026?a=b#c" }
    }])
}

/// A step that lists audiences with a tool of an MCP server.
pub(crate) fn audiences() -> Value {
    json!([{
        "step_id": "list",
        "connector_id": "connector_acme:audiences",
        "tool_id": "list",
        "input": { "limit": 2 }
    }])
}

/// A step that renames an audience, which needs approval.
pub(crate) fn rename() -> Value {
    json!([{
        "step_id": "rename",
        "connector_id": "connector_acme:audiences",
        "tool_id": "rename",
        "input": { "id": "a", "name": "A" }
    }])
}

/// A step that runs a program.
pub(crate) fn files() -> Value {
    json!([{
        "step_id": "files",
        "connector_id": "connector_core:shell",
        "tool_id": "list-files",
        "input": { "program": "/usr/bin/ls", "arguments": ["-l", "/srv/data"] }
    }])
}

/// A step that does nothing.
pub(crate) fn keep() -> Value {
    json!([{
        "step_id": "keep",
        "connector_id": "connector_core:noop",
        "tool_id": "keep",
        "input": { "note": "hello" }
    }])
}
