//! The one call of \[1\] as a sequential plan of one step, with a pool of one tool and a built-in profile.

use super::planning::{pool_ref, profile_ref};
use agent_api::decide::PlanPolicy;
use agent_api::model::{Cap, Driver, Input, Origin, Plan, ToolPool};
use agent_syntax::json::Writer;

/// The profile of queries, unless the caller gives one: 16 KiB of query, one step, 60 s, and a megabyte of
/// payload.
pub(crate) const PROFILE: &str = include_str!("ask_profile.json");

/// The pool and the version of the plans of one call.
const POOL: (&str, &str) = ("agent-ask", "1.0.0");

/// The name of the one step.
pub(crate) const STEP: &str = "call";

/// A call of a tool, as the planner wrote it, with the endpoint of the locked server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'c> {
    pub(crate) server: &'c str,
    pub(crate) tool: &'c str,
    /// The arguments, as JSON.
    pub(crate) arguments: &'c str,
    /// The version and the endpoint of the locked server, if the lock has one.
    pub(crate) locked: Option<(&'c str, &'c str)>,
}

/// Returns the pool before there is a call: without a tool.
pub(crate) fn empty_pool() -> String {
    pool_of(|_| {}, |_| {})
}

/// Returns the pool of a call. Its limits are the caps of the profile.
pub(crate) fn pool(call: Call<'_>, rules: &PlanPolicy) -> String {
    let connector = connector_id(call.server);
    let profile = rules.profile.value.as_ref();
    let cap = |cap| profile.and_then(|it| it.cap(cap)).map_or(1, |it| it.value);
    let (version, endpoint) = call.locked.unzip();
    let origin = endpoint.and_then(|it| Origin::of(it).ok());
    pool_of(
        |w| {
            w.object(|w| {
                w.key("connector_id").string(&connector);
                let origin = origin.map(|it| it.to_string());
                w.key("destinations").strings(origin.as_deref());
                w.key("driver_kind").string("mcp_proxy");
                w.key("limits").object(|w| {
                    for (name, cap_of) in [
                        ("max_input_bytes", Cap::InputBytes),
                        ("max_log_bytes", Cap::LogBytes),
                        ("max_output_bytes", Cap::OutputBytes),
                        ("timeout_ms", Cap::TimeoutMs),
                    ] {
                        w.key(name).json(&cap(cap_of).to_string());
                    }
                });
                w.key("server").string(call.server);
                if let Some(version) = version {
                    w.key("server_version").string(version);
                }
                w.key("tool").string(call.tool);
                w.key("tool_id").string(&escaped(call.tool));
            });
        },
        |w| {
            w.object(|w| {
                w.key("connector_id").string(&connector);
                w.key("protocol").string("mcp");
                w.key("provider").string(call.server);
                w.key("resource").string("tools");
            });
        },
    )
}

fn pool_of(bindings: impl FnOnce(&mut Writer), connectors: impl FnOnce(&mut Writer)) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("bindings").array(bindings);
        w.key("connectors").array(connectors);
        w.key("pool_id").string(POOL.0);
        w.key("pool_version").string(POOL.1);
        w.key("schema_id").string("ds.mova_agent_tool_pool_v1");
    });
    w.finish()
}

/// Returns the plan of a call.
pub(crate) fn plan(call: Call<'_>, request_id: &str, planner: &str, rules: &PlanPolicy) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("envelope_id").string("env.mova_agent_plan_v1");
        w.key("plan").object(|w| {
            if let Some(profile) = &rules.profile.value {
                w.key("instruction_profile_ref")
                    .object(|w| profile_ref(w, profile));
            }
            w.key("plan_id").string(&format!("{request_id}-call"));
            w.key("request_id").string(request_id);
            w.key("steps").array(|w| {
                w.object(|w| {
                    w.key("connector_id").string(&connector_id(call.server));
                    w.key("input").json(call.arguments);
                    w.key("step_id").string(STEP);
                    w.key("tool_id").string(&escaped(call.tool));
                });
            });
            if let Some(pool) = &rules.pool.value {
                w.key("tool_pool_ref").object(|w| pool_ref(w, pool));
            }
        });
        w.key("roles").object(|w| {
            w.key("executor").string("agent");
            w.key("planner").string(planner);
        });
        w.key("verb").string("create");
    });
    w.finish()
}

/// Returns the call of a plan that [`plan`] made, as a planner writes it. Returns `None` for another plan.
pub(crate) fn call_of(plan: &Plan, text: &str, pool: &ToolPool) -> Option<String> {
    let ([step], [binding]) = (&plan.steps[..], &pool.bindings[..]) else {
        return None;
    };
    let (Driver::McpProxy { server, tool, .. }, Input::Literal(input)) =
        (&binding.driver, &step.input)
    else {
        return None;
    };
    if pool.id != POOL.0 {
        return None;
    }
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("args").json(input.of(text));
        w.key("server").string(&server.value);
        w.key("tool").string(&tool.value);
        w.key("type").string("call_tool");
    });
    Some(w.finish())
}

/// Returns the connector of a server: rules of profiles name a tool as `mcp:SERVER/TOOL`.
fn connector_id(server: &str) -> String {
    format!("mcp:{}", escaped(server))
}

/// Returns a name in which `/` and `*`, which selectors of profiles reserve, are percent-encoded.
fn escaped(name: &str) -> String {
    name.replace('%', "%25")
        .replace('/', "%2F")
        .replace('*', "%2A")
}
