//! The content of records.

use super::audit::{Record, Recorder, write_content};
use super::basis::{Basis, Digests};
use super::calling::Decided;
use super::calls::OpenCall;
use super::client::{Caller, Client, Generation};
use super::history::{Given, Traits};
use super::live::{Deviation, Drifted};
use super::messages::CallAction;
use super::refusal::write_reasons;
use super::session::Session;
use agent_api::diagnostic::Code;
use agent_api::lower::digest;
use agent_api::policy::HistoryFinding;
use agent_record::Clock;
use agent_syntax::json::{DEPTH_LIMIT, Writer};
use agent_syntax::{Node, Value};
use std::sync::Arc;

/// Number of objects that a line of a log may have around kept arguments.
const OUTER_OBJECTS: u32 = 4;

/// How a result is passed on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passing<'r> {
    pub(crate) outcome: &'r str,
    /// The number of keys that were removed from it.
    pub(crate) removed: u64,
    /// What a policy redacted in it.
    pub(crate) redacted: &'r [String],
    /// Why it was withheld, or would have been.
    pub(crate) codes: &'r [Code],
}

impl Session {
    pub(crate) fn opened(&mut self, kind: &str, now: Clock) -> Record {
        let basis = Arc::clone(&self.basis);
        let expansion = self.settings.expansion.name();
        let audit_arguments = self.settings.audit_arguments;
        self.record(kind, now, |w| {
            write_agent(w.key("agent"), &basis);
            w.key("audit_arguments").bool(audit_arguments);
            w.key("documents").object(|w| basis.digests.write(w));
            w.key("expansion").string(expansion);
            let servers = basis.servers.iter();
            w.key("servers").strings(servers.map(|it| &*it.name));
            w.key("tools").json(&basis.tools.len().to_string());
        })
    }

    pub(crate) fn record_decision(
        &mut self,
        id: u64,
        (caller, name): (&Caller<'_>, &str),
        decided: &Decided<'_>,
        now: Clock,
    ) -> Record {
        let basis = Arc::clone(&self.basis);
        let keeps = self.settings.audit_arguments;
        let server = decided.server.map(|number| &basis.servers[number]);
        let tool = decided.served_as.as_ref().unwrap_or(&decided.tool);
        let tool = basis.tool_number(tool).map(|it| &basis.tools[it]);
        let tool = tool.filter(|tool| Some(tool.server) == decided.server);
        let time = now.local_time();
        self.record("decision", now, |w| {
            w.key("action").string(match &decided.action {
                CallAction::Forward(_) | CallAction::ForwardRequest(_) => "forward",
                CallAction::AskApproval { .. } => "ask",
                CallAction::Error { .. } => "error",
                CallAction::Answer(_) if decided.reasons.is_empty() => "answer",
                CallAction::Answer(_) => "refuse",
            });
            if let Some(approval) = &decided.approval {
                w.key("approval").string(approval);
            }
            w.key("arguments").object(|w| {
                let form = decided.arguments.form();
                write_content(w, form.as_bytes());
                // A record holds them within other objects.
                let fits = || depth(decided.arguments.node()) + OUTER_OBJECTS <= DEPTH_LIMIT;
                if keeps && fits() {
                    w.key("value").json(form);
                }
            });
            w.key("call").json(&id.to_string());
            write_client(w, caller.client);
            w.key("context").object(|w| {
                w.key("hour").number(time.hour.into());
                w.key("time").string(&time.time);
                w.key("weekday").string(time.weekday);
            });
            if decided.continues {
                w.key("continues").bool(true);
            }
            w.key("definition").optional(tool.map(|it| &*it.digest));
            w.key("documents").object(|w| basis.digests.write(w));
            if let Some(server) = server {
                w.key("endpoint").string(&digest(&server.endpoint));
            }
            if let (Some(known), Some(server), CallAction::Forward(_)) =
                (&basis.remembered, server, &decided.action)
            {
                let what = (&*server.id, &*server.version, &*decided.tool);
                let given = known.given(Some(decided.arguments.node()));
                write_history(w, &known.traits_of(what), &given, &decided.findings);
            }
            w.key("name").string(name);
            w.key("phase").string(decided.phase);
            write_reasons(w.key("reasons"), &decided.reasons, false);
            if let Some(name) = &decided.served_as {
                w.key("served_as").string(name);
            }
            w.key("server").optional(server.map(|it| &*it.id));
            w.key("subject").json(&caller.subject.json);
            if let CallAction::Error { message, .. } = &decided.action {
                w.key("text").string(message);
            }
            w.key("tool").string(&decided.tool);
            w.key("version").optional(server.map(|it| &*it.version));
        })
    }

    pub(crate) fn effect(
        &mut self,
        id: u64,
        call: &OpenCall,
        outcome: &str,
        result: Option<&[u8]>,
        codes: &[Code],
        now: Clock,
    ) -> Record {
        let passing = Passing {
            outcome,
            removed: 0,
            redacted: &[],
            codes,
        };
        self.effect_of(id, call, passing, result, now)
    }

    /// Records the end of a call.
    pub(crate) fn effect_of(
        &mut self,
        id: u64,
        call: &OpenCall,
        passing: Passing<'_>,
        result: Option<&[u8]>,
        now: Clock,
    ) -> Record {
        let server = &call.basis.servers[call.server];
        self.record("effect", now, |w| {
            w.key("call").json(&id.to_string());
            let codes = passing.codes.iter();
            w.key("codes").strings(codes.map(|code| code.name()));
            w.key("outcome").string(passing.outcome);
            if !passing.redacted.is_empty() {
                let redacted = passing.redacted.iter().map(|it| &**it);
                w.key("redacted").strings(redacted);
            }
            if passing.removed > 0 {
                w.key("removed").json(&passing.removed.to_string());
            }
            if let Some(result) = result {
                w.key("result").object(|w| write_content(w, result));
            }
            w.key("server").string(&server.id);
            w.key("tool")
                .optional(call.tool().map(|tool| tool.own_name()));
            w.key("version").string(&server.version);
        })
    }

    pub(crate) fn unexpected(&mut self, id: u64, now: Clock) -> Record {
        self.record("effect", now, |w| {
            w.key("call").json(&id.to_string());
            w.key("outcome").string("unexpected");
        })
    }

    pub(crate) fn record(
        &mut self,
        kind: &str,
        now: Clock,
        content: impl FnOnce(&mut Writer),
    ) -> Record {
        let mut recorder = Recorder {
            chain: &mut self.state.chain,
            redactor: &self.redactor,
            observe: self.settings.observe,
            now,
        };
        let record = recorder.record(kind, content);
        if let Some(known) = &self.basis.remembered {
            // A history is derived from records alone, so that a log gives the same one.
            self.state
                .history
                .take_line(&record.line, kind, now.unix_ms, known);
        }
        record
    }
}

impl Digests {
    /// Writes the digests of the documents, with null for missing ones.
    pub(crate) fn write(&self, w: &mut Writer) {
        w.key("definitions").optional(self.definitions.as_deref());
        w.key("health").optional(self.health.as_deref());
        w.key("index").optional(self.index.as_deref());
        w.key("lock").optional(self.lock.as_deref());
        w.key("policy").optional(self.policy.as_deref());
        w.key("policy_context")
            .optional(self.policy_context.as_deref());
        w.key("task").optional(self.task.as_deref());
        w.key("tenant").optional(self.tenant.as_deref());
        w.key("tenant_id").optional(self.tenant_id.as_deref());
    }
}

/// Writes what histories keep of a call that is passed on, and what rules say that only record.
pub(crate) fn write_history(
    w: &mut Writer,
    traits: &Traits,
    given: &Given,
    findings: &[HistoryFinding],
) {
    w.key("history").object(|w| {
        traits.write_annotations(w);
        traits.write_capabilities(w);
        given.write_fields(w);
        w.key("findings").array(|w| {
            for finding in findings.iter().filter(|it| it.is_log_only) {
                w.object(|w| {
                    w.key("rule").string(&finding.rule);
                    w.key("text").string(&finding.text);
                });
            }
        });
        traits.write_labels(w);
        given.write_numbers(w);
        w.key("sends").bool(traits.sends);
        w.key("writes").bool(traits.writes);
    });
}

/// Returns the depth of a value. That of its text bounds the recursion.
fn depth(node: &Node<'_>) -> u32 {
    match &node.value {
        Value::Mapping(entries) => 1 + deepest(entries.iter().map(|it| &it.value)),
        Value::Sequence(items) => 1 + deepest(items.iter()),
        _ => 0,
    }
}

fn deepest<'n>(nodes: impl Iterator<Item = &'n Node<'n>>) -> u32 {
    nodes.map(depth).max().unwrap_or_default()
}

/// Writes the agent of the lock.
pub(crate) fn write_agent(w: &mut Writer, basis: &Basis) {
    match &basis.lock {
        Some(lock) => w.object(|w| {
            w.key("name").string(&lock.agent.name.to_string());
            w.key("version").string(&lock.agent.version.to_string());
        }),
        None => w.null(),
    }
}

pub(crate) fn write_client(w: &mut Writer, client: &Client) {
    w.key("client").object(|w| {
        w.key("generation").string(match client.generation {
            Generation::Sessions => "sessions",
            Generation::Stateless => "stateless",
        });
        w.key("id").string(&client.id);
        w.key("kind").string(&client.kind);
        w.key("session").optional(client.session.as_deref());
    });
}

pub(crate) fn write_drift(w: &mut Writer, drift: &Drifted) {
    w.key("changes")
        .strings(drift.changes.iter().map(|it| &**it));
    w.key("deviation").string(drift.deviation.name());
    if let Deviation::Changed { present, widens } = &drift.deviation {
        w.key("present").string(present);
        w.key("tool").string(&drift.tool);
        w.key("widens").bool(*widens);
    } else {
        w.key("tool").string(&drift.tool);
    }
}
