//! Tools of MCP servers: by the lock, and at the destinations of their bindings.

use super::authorized::{ServerUse, ToolSchemas};
use super::{Decision, PlanReason};
use crate::call::unusable_output;
use crate::locked_tool::{LockedTool, Target};
use crate::{CallContext, CallDenial};
use agent_lower::integrity;
use agent_model::{Binding, Driver, Origin};
use std::sync::Arc;

/// What is known of the tool of a server, for all steps that call it.
#[derive(Debug)]
pub(super) struct KnownTool<'a> {
    denials: Vec<CallDenial<'a>>,
    /// Of each entry that was locked.
    versions: Vec<&'a str>,
    /// The same.
    endpoints: Vec<&'a str>,
    server: Option<Arc<ServerUse>>,
    schemas: Arc<ToolSchemas>,
}

impl<'a> Decision<'a> {
    /// What is known of the server that a binding is for, if it is for one and the server is as it
    /// was locked, and the schemas of the tool.
    pub(super) fn server(
        &mut self,
        number: usize,
        binding: &'a Binding,
    ) -> (Option<Arc<ServerUse>>, Arc<ToolSchemas>) {
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
        // Its entry and its definition are read once, however many steps call it.
        let key = (&**server, version.as_deref(), &**tool);
        let known = match self.tools.remove(&key) {
            Some(known) => known,
            None => self.known_tool(target, context),
        };
        for denial in &known.denials {
            self.deny(number, PlanReason::Server(denial.clone()));
        }
        if let [_, _, ..] = &*known.versions {
            let reason = PlanReason::SeveralVersions {
                binding: binding.number,
                versions: known.versions.clone(),
            };
            self.deny(number, reason);
        }
        for endpoint in &known.endpoints {
            let origin = Origin::of(endpoint);
            if !origin.is_ok_and(|origin| binding.destinations.contains(&origin)) {
                self.deny(number, PlanReason::ServerElsewhere { endpoint });
            }
        }
        let found = (known.server.clone(), Arc::clone(&known.schemas));
        self.tools.insert(key, known);
        found
    }

    fn known_tool(&mut self, target: Target<'a>, context: CallContext<'a>) -> KnownTool<'a> {
        let mut denials = Vec::new();
        let mut found = LockedTool::find(target, context, self.budget.likeness(), &mut denials);
        denials.extend(found.changed.take());
        let listed = found.listed.as_ref();
        let output = listed.and_then(|it| it.output_schema());
        denials.extend(unusable_output(output, &mut self.budget));
        let schemas = ToolSchemas {
            listed: listed.is_some(),
            input: listed.and_then(|it| it.input_schema()).map(str::to_owned),
            output: output.map(str::to_owned),
        };
        let needs_approval = found.needs_approval();
        let server = found.entries.first().zip(found.definition);
        let server = server.map(|(entry, definition)| ServerUse {
            id: entry.id().to_owned(),
            version: entry.version().to_owned(),
            endpoint: entry.endpoint().to_owned(),
            tool: target.tool.to_owned(),
            integrity: integrity(*entry),
            definition,
            needs_approval,
        });
        KnownTool {
            denials,
            versions: found.entries.iter().map(|entry| entry.version()).collect(),
            endpoints: found.entries.iter().map(|entry| entry.endpoint()).collect(),
            server: server.map(Arc::new),
            schemas: Arc::new(schemas),
        }
    }
}
