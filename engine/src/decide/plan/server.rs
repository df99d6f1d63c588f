//! Tools of MCP servers: by the lock, and at the destinations of their bindings.

use super::authorized::{ServerUse, ToolSchemas};
use super::{Decision, PlanReason};
use crate::decide::locked_tool::{LockedTool, Target};
use crate::decide::call::unusable_output;
use crate::decide::{CallContext, CallDenial};
use crate::lower::{input_schema, integrity, output_schema};
use crate::model::{Binding, Driver, Origin};

impl<'a> Decision<'a> {
    /// What is known of the server that a binding is for, if it is for one and the server is as it
    /// was locked, and the schemas of the tool.
    pub(super) fn server(
        &mut self,
        number: usize,
        binding: &'a Binding,
    ) -> (Option<ServerUse>, ToolSchemas) {
        let Driver::McpProxy {
            server,
            version,
            tool,
            ..
        } = &binding.driver
        else {
            return Default::default();
        };
        let Some(index) = self.context.index else {
            if self.context.lock.is_none() {
                self.deny(number, PlanReason::Server(CallDenial::LockMissing));
            }
            self.deny(number, PlanReason::NoIndex);
            return Default::default();
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
        for denial in denials {
            self.deny(number, PlanReason::Server(denial));
        }
        if let [_, _, ..] = &*found.entries {
            let versions = found.entries.iter().map(|entry| entry.version());
            let reason = PlanReason::SeveralVersions {
                binding: binding.number,
                versions: versions.collect(),
            };
            self.deny(number, reason);
        }
        for entry in &found.entries {
            let endpoint = entry.endpoint();
            let origin = Origin::of(endpoint);
            if !origin.is_ok_and(|origin| binding.destinations.contains(&origin)) {
                self.deny(number, PlanReason::ServerElsewhere { endpoint });
            }
        }
        let schemas = ToolSchemas {
            listed: found.listed.is_some(),
            input: found.listed.and_then(input_schema).map(str::to_owned),
            output: output.map(str::to_owned),
        };
        let needs_approval = found.needs_approval();
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
        (server, schemas)
    }
}
