//! The decision on calls of a locked tool that no plan contains: an agent calls it directly \[4, 6\].
//!
//! What does not depend on the arguments is decided once, when the tool is prepared. A call of a plan
//! must also be read-only \[1\]; here the lock alone says what an agent may use.

use super::call::READONLY;
use super::call::unusable_output;
use super::call_record::{CallCheck, CallDenial, CallRecord, CallTrace};
use super::locked_policy::CallPolicy;
use super::locked_tool::{CallContext, LockedTool, Target};
use super::lookups::Lookups;
use super::policy_decision::{PolicyError, ResultRuling};
use agent_json_schema::{self, Budget, Json, KeptSchema, ToolSchema, unusable};
use agent_lower::{PolicyOccasion, PolicyPhase};
use agent_model::ToolView;
use std::borrow::Cow;

/// The tag of a tool whose calls are counted.
const RATE_LIMITED: &str = "rate_limited";

/// A locked tool, prepared for any number of calls.
#[derive(Debug, Clone)]
pub struct LockedCall {
    input_schema: Option<KeptSchema>,
    output_schema: Option<KeptSchema>,
    needs_approval: bool,
    is_rate_limited: bool,
    is_repeatable: bool,
    policy: Option<CallPolicy>,
    expansion: Option<CallPolicy>,
    /// The policy on results, if it decides about them.
    results: Option<CallPolicy>,
}

impl LockedCall {
    /// Prepares the calls of a tool in a locked version of its server. The record has the checks that
    /// do not depend on arguments; a denial in it denies every call.
    pub fn prepare<'a>(
        tool: ToolView<'a>,
        context: CallContext<'a>,
        lookups: &mut Lookups,
    ) -> (Self, Vec<CallRecord<'a>>) {
        let server = tool.server();
        let target = Target {
            server: server.id(),
            version: Some(server.version()),
            tool: tool.name(),
        };
        let mut budget = Budget::new();
        let mut trace = CallTrace::default();
        let room = lookups.schema_room().clone();
        let found = LockedTool::find(target, context, (budget.likeness(), lookups), &mut trace);
        let listed = found.listed.as_ref();
        let locked = (&*found.selections, &*found.tools);
        let kept = |text: Option<Cow<'_, str>>| Some(KeptSchema::new(&text?, &room));
        let prepared = Self {
            input_schema: kept(listed.and_then(|it| it.input_schema())),
            output_schema: kept(listed.and_then(|it| it.output_schema())),
            needs_approval: found.needs_approval(),
            is_rate_limited: found.has_tag(RATE_LIMITED),
            is_repeatable: found.has_tag(READONLY)
                || ["readOnlyHint", "idempotentHint"]
                    .iter()
                    .any(|hint| listed.is_some_and(|it| it.hint(hint) == Some(true))),
            expansion: CallPolicy::new(PolicyPhase::Expand, context, locked),
            results: CallPolicy::of_results(context, locked),
            policy: found.policy.clone(),
        };
        trace.record(CallCheck::Unchanged, Vec::from_iter(found.changed));
        let schema = prepared.input_schema.as_ref().map(KeptSchema::text);
        let mut problems: Vec<_> = unusable(schema, &mut budget)
            .into_iter()
            .map(|it| CallDenial::Arguments(agent_json_schema::ArgumentProblem::Unusable(it)))
            .collect();
        problems.extend(unusable_output(
            prepared.output_schema.as_ref().map(KeptSchema::text),
            &mut budget,
        ));
        trace.record(CallCheck::Arguments, problems);
        (prepared, trace.records)
    }

    /// Decides on the arguments of a call: by the input schema, then by the policy, which gets the text of the
    /// occasion. Denials of arguments have places in the text that the arguments were parsed from.
    pub fn decide(
        &self,
        arguments: Json<'_, '_>,
        occasion: PolicyOccasion<'_>,
    ) -> Vec<CallRecord<'static>> {
        let mut trace = CallTrace::default();
        let schema = self.input_schema.as_ref().map(ToolSchema::Kept);
        let refused = agent_json_schema::arguments(schema, arguments, 0, &mut Budget::new());
        let problems = refused.into_iter().map(CallDenial::Arguments).collect();
        trace.record(CallCheck::Arguments, problems);
        if let Some(policy) = &self.policy {
            trace.record(CallCheck::Policy, policy.denials(occasion));
        }
        trace.records
    }

    /// Decides whether the policy lets an agent have the tool's definition, without which it may not
    /// call a tool that is locked on demand.
    pub fn decide_expansion(&self, occasion: PolicyOccasion<'_>) -> Vec<CallRecord<'static>> {
        let mut trace = CallTrace::default();
        if let Some(policy) = &self.expansion {
            let occasion = PolicyOccasion {
                arguments: None,
                history: None,
                ..occasion
            };
            trace.record(CallCheck::Policy, policy.denials(occasion));
        }
        trace.records
    }

    /// Decides the fate of a result. `None` if no policy decides about results.
    pub fn decide_result(
        &self,
        occasion: PolicyOccasion<'_>,
    ) -> Option<Result<ResultRuling, PolicyError>> {
        Some(self.results.as_ref()?.result(occasion))
    }

    /// Returns the tool's `outputSchema`, if any.
    pub fn output_schema(&self) -> Option<ToolSchema<'_>> {
        self.output_schema.as_ref().map(ToolSchema::Kept)
    }

    /// Returns whether a human must approve every call \[4\].
    pub fn needs_approval(&self) -> bool {
        self.needs_approval
    }

    /// Returns whether a call may be made twice: the tool only reads, or its second call changes nothing more.
    pub fn is_repeatable(&self) -> bool {
        self.is_repeatable
    }

    /// Returns whether calls are counted \[4\].
    pub fn is_rate_limited(&self) -> bool {
        self.is_rate_limited
    }
}
