//! Counts of decisions and calls, in the text format of Prometheus.

use super::gateway::Shared;
use super::overview::{list, text};
use agent_host::Failure;
use agent_host::contract::session::AuditRecord;
use agent_mcp_protocol::Json;
use agent_syntax::Value;
use agent_syntax::json::parse_strict;
use agent_syntax::members::member;
use agent_telemetry::{Family, Metrics, client_sessions};
use std::collections::BTreeMap;
use std::time::Duration;

const DECISIONS: Family = Family {
    name: "agent_decisions_total",
    help: "Decisions on calls, by the code of the first reason.",
    labels: &["action", "code"],
};

const CALLS: Family = Family {
    name: "agent_calls_total",
    help: "Calls that were passed on to a server.",
    labels: &["server", "outcome"],
};

const TIMES: Family = Family {
    name: "agent_call_duration_seconds",
    help: "Time from the decision on a call to its outcome.",
    labels: &["server"],
};

const HEALTH: Family = Family {
    name: "agent_server_health",
    help: "1 for the present health of a server.",
    labels: &["server", "health"],
};

const TOOLS: Family = Family {
    name: "agent_tools",
    help: "Tools of the session, by state.",
    labels: &["state"],
};

/// Counts a decision.
pub(crate) fn decided(metrics: &Metrics, records: &[AuditRecord]) {
    for [action, reasons] in contents(records, "decision", ["action", "reasons"]) {
        let first = reasons.and_then(|it| it.elements()?.next()?.member("code"));
        metrics.count(DECISIONS, &[&*string(action), &*string(first)]);
    }
}

/// Counts the end of a call that was passed on to a server.
pub(crate) fn ended(metrics: &Metrics, server: &str, records: &[AuditRecord], time: Duration) {
    for [outcome] in contents(records, "effect", ["outcome"]) {
        metrics.count(CALLS, &[server, &*string(outcome)]);
        metrics.observe(TIMES, &[server], time);
    }
}

/// Returns members of the content of each record of a kind. Every call has records, so that no tree is made of them.
fn contents<'r, const N: usize>(
    records: &'r [AuditRecord],
    kind: &'r str,
    names: [&'r str; N],
) -> impl Iterator<Item = [Option<Json>; N]> + 'r {
    records.iter().filter_map(move |record| {
        let record = Json::of_engine(record.line.clone());
        let [of, content] = record.members(["kind", "content"])?;
        (string(of) == kind).then_some(())?;
        content?.members(names)
    })
}

/// Returns the text of a string; an empty one for anything else.
fn string(value: Option<Json>) -> String {
    value.and_then(|it| it.string()).unwrap_or_default()
}

/// Returns the counts of an agent.
pub(crate) fn exposition(shared: &Shared, sessions: usize) -> Result<String, Failure> {
    let status = shared.decider.status()?;
    let (mut health, mut tools) = (Vec::new(), BTreeMap::new());
    if let Some(session) = parse_strict(&status) {
        for server in list(&session, "servers") {
            let known = member(server, "health").filter(|it| it.value != Value::Null);
            let shown = known.map_or("UNKNOWN", |_| text(server, "health"));
            let labels = [text(server, "name"), shown].map(str::to_owned);
            health.push((labels.to_vec(), 1));
        }
        for tool in list(&session, "tools") {
            let state = vec![text(tool, "state").to_owned()];
            *tools.entry(state).or_insert(0_u64) += 1;
        }
    }
    let mut gauges = vec![
        (HEALTH, health),
        (TOOLS, tools.into_iter().collect()),
        client_sessions("agent_client_sessions", sessions),
    ];
    if let Some(spans) = &shared.spans {
        gauges.push(spans.report().gauge("agent_spans"));
    }
    Ok(shared.metrics.text(&gauges))
}
