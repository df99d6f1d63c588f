//! May an agent call a locked tool directly, and what does it get \[4, 6\]?

use agent_decide::{
    CallContext, LockedCall, NotExposed, PolicyError, ResultRuling, deliver_payload,
};
use agent_diagnostic::Diagnostic;
use agent_explain::{CallReason, call_reasons, definition_changes, not_exposed, payload_denial};
use agent_json_schema::Json;
use agent_lower::PolicyOccasion;
use agent_model::{NonEmpty, ToolView};

pub use agent_decide::{
    Collision as NameCollision, Definition, Holder, Lookups, ResultAction, locked_loads,
};
pub use agent_lower::{STUB_TOOLS_LIMIT, plain_name, stub_definition, stub_name};

/// A locked tool whose calls are decided.
#[derive(Debug, Clone)]
pub struct ServedTool {
    /// The id of its server.
    pub server: String,
    /// The locked version of its server.
    pub version: String,
    /// Its name.
    pub name: String,
    /// The reasons against any call of it, whatever the arguments are.
    pub refusals: Vec<CallReason>,
    call: LockedCall,
}

impl ServedTool {
    /// Prepares the calls of a tool in a locked version of its server. It has refusals if the lock does not
    /// have the tool.
    pub fn prepare(tool: ToolView<'_>, context: CallContext<'_>, lookups: &mut Lookups) -> Self {
        let server = tool.server();
        let (call, records) = LockedCall::prepare(tool, context, lookups);
        Self {
            server: server.id().to_owned(),
            version: server.version().to_owned(),
            name: tool.name().to_owned(),
            refusals: call_reasons(&records, server.id(), tool.name()),
            call,
        }
    }

    /// Returns the reasons against a call: those of the tool, of its input schema and of the policy. The occasion
    /// has the text of the parsed arguments.
    pub fn reasons(
        &self,
        arguments: Json<'_, '_>,
        occasion: PolicyOccasion<'_>,
    ) -> Vec<CallReason> {
        if !self.refusals.is_empty() {
            return self.refusals.clone();
        }
        let records = self.call.decide(arguments, occasion);
        call_reasons(&records, &self.server, &self.name)
    }

    /// Returns the reasons of the policy against an expansion of the tool.
    pub fn expansion_reasons(&self, occasion: PolicyOccasion<'_>) -> Vec<CallReason> {
        let records = self.call.decide_expansion(occasion);
        call_reasons(&records, &self.server, &self.name)
    }

    /// Returns the fate of a result by the policy. `None` if no policy decides about results.
    pub fn rule_result(
        &self,
        occasion: PolicyOccasion<'_>,
    ) -> Option<Result<ResultRuling, PolicyError>> {
        self.call.decide_result(occasion)
    }

    /// Returns whether a human must approve every call.
    pub fn needs_approval(&self) -> bool {
        self.call.needs_approval()
    }

    /// Returns whether a call may be made twice.
    pub fn is_repeatable(&self) -> bool {
        self.call.is_repeatable()
    }

    /// Returns whether calls are counted.
    pub fn is_rate_limited(&self) -> bool {
        self.call.is_rate_limited()
    }

    /// Decides whether an agent gets the payload of a call. Returns whether the tool reports an error
    /// with it.
    ///
    /// # Errors
    /// A sentence for each reason to withhold it.
    pub fn deliver(&self, payload: Vec<u8>) -> Result<bool, Vec<String>> {
        deliver_payload(self.call.output_schema(), payload)
            .map_err(|denials| denials.iter().map(payload_denial).collect())
    }
}

/// Decides whether an agent gets the payload of a tool that no lock has. Returns whether the tool reports an
/// error with it.
///
/// # Errors
/// A sentence for each reason to withhold it.
pub fn deliver_unlocked(payload: Vec<u8>) -> Result<bool, Vec<String>> {
    deliver_payload(None, payload).map_err(|it| it.iter().map(payload_denial).collect())
}

/// Returns the problems of names that would have several holders.
pub fn name_collisions(collisions: Vec<NameCollision<'_>>) -> Vec<Diagnostic> {
    match NonEmpty::new(collisions) {
        Some(collisions) => not_exposed(&NotExposed::Collisions(collisions)),
        None => Vec::new(),
    }
}

/// Returns the differences between two definitions of a tool, and whether the second gives an agent
/// more access.
pub fn drifted(before: &str, after: &str) -> (Vec<String>, bool) {
    let changes = definition_changes(before, after);
    (changes, agent_decide::widens(before, after))
}
