//! Tools of MCP servers: by the lock, and at the destinations of their bindings.

use super::authorized::{ServerUse, ToolSchemas};
use super::{Decision, PlanReason};
use crate::decide::call::unusable_output;
use crate::decide::locked_tool::{LockedTool, Target};
use crate::decide::{CallContext, CallDenial};
use crate::lower::{input_schema, integrity, output_schema};
use crate::model::{Binding, Driver, Origin};
use std::rc::Rc;

/// What is known of the server that a binding is for, whichever step names it.
#[derive(Debug, Default)]
pub(super) struct OfServer<'a> {
    /// What speaks against every step that calls the tool.
    reasons: Vec<PlanReason<'a>>,
    /// The server, if the binding is for one and it is as it was locked.
    pub(super) server: Option<ServerUse>,
    /// The schemas of the tool.
    pub(super) schemas: ToolSchemas,
}

impl<'a> Decision<'a> {
    /// What is known of the server that the binding of a step is for.
    pub(super) fn server(&mut self, number: usize, binding: &'a Binding) -> Rc<OfServer<'a>> {
        let found = match self.servers.get(&binding.number) {
            Some(known) => Rc::clone(known),
            None => {
                let found = Rc::new(self.find_server(binding));
                self.servers.insert(binding.number, Rc::clone(&found));
                found
            }
        };
        for reason in &found.reasons {
            self.deny(number, reason.clone());
        }
        found
    }

    fn find_server(&mut self, binding: &'a Binding) -> OfServer<'a> {
        let Driver::McpProxy {
            server,
            version,
            tool,
            ..
        } = &binding.driver
        else {
            return OfServer::default();
        };
        let Some(index) = self.context.index else {
            let lock_missing = PlanReason::Server(CallDenial::LockMissing);
            let lock_missing = self.context.lock.is_none().then_some(lock_missing);
            return OfServer {
                reasons: lock_missing
                    .into_iter()
                    .chain([PlanReason::NoIndex])
                    .collect(),
                ..OfServer::default()
            };
        };
        let target = Target {
            server,
            version: version.as_deref(),
            tool,
        };
        let context = CallContext {
            index,
            lock: self.context.lock,
            catalogue: self.context.catalogue,
        };
        let mut denials = Vec::new();
        let mut found = LockedTool::find(target, context, self.budget.likeness(), &mut denials);
        denials.extend(found.changed.take());
        let output = found.listed.and_then(output_schema);
        denials.extend(unusable_output(output, &mut self.budget));
        let mut reasons: Vec<_> = denials.into_iter().map(PlanReason::Server).collect();
        if let [_, _, ..] = &*found.entries {
            let versions = found.entries.iter().map(|entry| entry.version());
            reasons.push(PlanReason::SeveralVersions {
                binding: binding.number,
                versions: versions.collect(),
            });
        }
        for entry in &found.entries {
            let endpoint = entry.endpoint();
            let origin = Origin::of(endpoint);
            if !origin.is_ok_and(|origin| binding.destinations.contains(&origin)) {
                reasons.push(PlanReason::ServerElsewhere { endpoint });
            }
        }
        let needs_approval = found.needs_approval();
        let schemas = ToolSchemas {
            listed: found.listed.is_some(),
            input: found.listed.and_then(input_schema).map(str::to_owned),
            output: output.map(str::to_owned),
        };
        let server = found.entries.first().zip(found.definition);
        let server = server.map(|(entry, definition)| ServerUse {
            id: entry.id().to_owned(),
            version: entry.version().to_owned(),
            endpoint: entry.endpoint().to_owned(),
            tool: tool.clone(),
            integrity: integrity(*entry),
            definition,
            needs_approval,
        });
        OfServer {
            reasons,
            server,
            schemas,
        }
    }
}
