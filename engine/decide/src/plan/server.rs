//! The tools of MCP servers that steps call.

use crate::call::unusable_output;
use crate::call_record::{CallDenial, CallTrace};
use crate::locked_policy::CallPolicy;
use crate::locked_tool::{CallContext, LockedTool, Target};
use crate::lookups::Lookups;
use agent_json_schema::Budget;
use agent_lower::integrity;
use std::borrow::Cow;
use std::sync::Arc;

/// The locked tool of an MCP server that a step calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerUse {
    /// The server's id.
    pub id: String,
    /// The server's version.
    pub version: String,
    /// The server's endpoint.
    pub endpoint: String,
    /// The tool's name.
    pub tool: String,
    /// The integrity of the server's entry in the index.
    pub integrity: String,
    /// The digest of the tool's definition.
    pub definition: String,
    /// Whether a human must approve the call.
    pub needs_approval: bool,
}

/// The own schemas of the tool of an MCP server, as JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolSchemas {
    /// Whether the server lists the tool. A listed tool without an input schema can't be called.
    pub(super) listed: bool,
    pub(super) input: Option<String>,
    pub(super) output: Option<String>,
}

/// The tool of an MCP server that a step calls; nothing if it calls none.
#[derive(Debug, Default)]
pub(super) struct CalledTool {
    /// The server, if its entry is the locked one.
    pub(super) server: Option<Arc<ServerUse>>,
    pub(super) schemas: Arc<ToolSchemas>,
    /// The policy on its calls, if one decides.
    pub(super) policy: Option<Arc<CallPolicy>>,
}

/// A tool of a server, for all steps that call it.
#[derive(Debug)]
pub(super) struct KnownTool<'a> {
    pub(super) denials: Vec<CallDenial<'a>>,
    /// The version of each locked entry.
    pub(super) versions: Vec<&'a str>,
    /// The endpoint of each locked entry.
    pub(super) endpoints: Vec<&'a str>,
    pub(super) server: Option<Arc<ServerUse>>,
    pub(super) schemas: Arc<ToolSchemas>,
    /// The policy on its calls, if one decides.
    pub(super) policy: Option<Arc<CallPolicy>>,
}

impl<'a> KnownTool<'a> {
    pub(super) fn find(target: Target<'a>, context: CallContext<'a>, budget: &mut Budget) -> Self {
        let mut trace = CallTrace::default();
        let found = LockedTool::find(
            target,
            context,
            (budget.likeness(), &mut Lookups::default()),
            &mut trace,
        );
        let needs_approval = found.needs_approval();
        let records = trace.records.into_iter();
        let mut denials: Vec<_> = records.flat_map(|it| it.denials).collect();
        denials.extend(found.changed);
        let listed = found.listed.as_ref();
        let output = listed.and_then(|it| it.output_schema());
        denials.extend(unusable_output(output.as_deref(), budget));
        let schemas = ToolSchemas {
            listed: listed.is_some(),
            input: listed.and_then(|it| it.input_schema()).map(Cow::into_owned),
            output: output.map(Cow::into_owned),
        };
        let server = found.entries.first().zip(found.definition);
        let server = server.map(|(entry, definition)| ServerUse {
            id: entry.id().to_owned(),
            version: entry.version().to_owned(),
            endpoint: entry.endpoint().to_owned(),
            tool: target.tool.to_owned(),
            integrity: integrity(*entry).to_owned(),
            definition,
            needs_approval,
        });
        Self {
            denials,
            versions: found.entries.iter().map(|entry| entry.version()).collect(),
            endpoints: found.entries.iter().map(|entry| entry.endpoint()).collect(),
            server: server.map(Arc::new),
            schemas: Arc::new(schemas),
            policy: found.policy.map(Arc::new),
        }
    }
}
