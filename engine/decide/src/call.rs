//! The decision on the one call of a plan \[1\].
//!
//! Every check is recorded, in the order of [`CallCheck::ALL`], and the denials are read off the
//! record.

use super::call_record::{CallCheck, CallDenial, CallRecord, CallTrace, MayWrite};
use super::locked_tool::{CallContext, LockedTool, Target};
use super::lookups::Lookups;
use agent_json_schema::{self, Budget, JsonText, ToolSchema};
use agent_lower::{PolicyOccasion, ToolEntry};
use agent_model::{CallPlan, Lock, Name, Planned, PlannedCall, ServerView, ToolView};
use std::borrow::Cow;

/// The tag without which a tool may write.
pub(crate) const READONLY: &str = "readonly";

/// A call that is allowed. Only [`authorize_call`] makes one.
#[derive(Debug, Clone)]
pub struct AuthorizedCall<'a> {
    plan: &'a CallPlan,
    call: &'a PlannedCall,
    lock: &'a Lock,
    server: ServerView<'a>,
    definition: String,
    output_schema: Option<Cow<'a, str>>,
    needs_approval: bool,
    checks: Vec<CallRecord<'a>>,
}

impl<'a> AuthorizedCall<'a> {
    /// Returns the locked entry of the server.
    pub fn server(&self) -> ServerView<'a> {
        self.server
    }

    /// Returns the name of the tool.
    pub fn tool(&self) -> &'a str {
        self.call.tool.value.as_str()
    }

    /// Returns the arguments, as JSON.
    pub fn arguments(&self) -> &'a str {
        self.call.args.of(self.plan.text.as_str())
    }

    /// Returns the lock that allows the call.
    pub fn lock(&self) -> &'a Lock {
        self.lock
    }

    /// Returns the digest of the tool's present definition.
    pub fn definition(&self) -> &str {
        &self.definition
    }

    /// Returns the JSON text of the tool's `outputSchema`, if any.
    pub fn output_schema(&self) -> Option<&str> {
        self.output_schema.as_deref()
    }

    /// Returns whether a human must approve the call.
    pub fn needs_approval(&self) -> bool {
        self.needs_approval
    }
}

/// The answer to a one-call plan.
#[derive(Debug, Clone)]
pub enum CallVerdict<'a> {
    /// The call is allowed.
    Allowed(AuthorizedCall<'a>),
    /// The plan contains no call, but this question to the user.
    NeedsMoreInfo(&'a str),
    /// The call is denied: a check of this record failed.
    Denied(Vec<CallRecord<'a>>),
}

impl<'a> CallVerdict<'a> {
    /// Returns the record of the checks, in the order of [`CallCheck::ALL`]. It is empty if no call
    /// is planned.
    pub fn checks(&self) -> &[CallRecord<'a>] {
        match self {
            Self::Allowed(call) => &call.checks,
            Self::NeedsMoreInfo(_) => &[],
            Self::Denied(checks) => checks,
        }
    }

    /// Returns the reasons to deny the call, in the order of the checks.
    pub fn denials(&self) -> impl Iterator<Item = &CallDenial<'a>> {
        self.checks().iter().flat_map(|it| &it.denials)
    }
}

/// Decides on the call of a plan.
pub fn authorize_call<'a>(plan: &'a CallPlan, context: CallContext<'a>) -> CallVerdict<'a> {
    let call = match &plan.planned {
        Planned::NeedsMoreInfo { answer } => return CallVerdict::NeedsMoreInfo(answer),
        Planned::Call(call) => call,
    };
    let target = Target {
        server: call.server.value.as_str(),
        version: None,
        tool: call.tool.value.as_str(),
    };
    let mut budget = Budget::new();
    let mut trace = CallTrace::default();
    let found = LockedTool::find(
        target,
        context,
        (budget.likeness(), &mut Lookups::default()),
        &mut trace,
    );
    let may_write = may_write(&advertising(target, context, &found), &found);
    let may_write = may_write.map(CallDenial::NotReadonly);
    trace.record(CallCheck::ReadOnly, Vec::from_iter(may_write));
    let needs_approval = found.needs_approval();
    let policy = found.policy.clone();
    trace.record(CallCheck::Unchanged, Vec::from_iter(found.changed));
    let mut problems = Vec::new();
    // Invalid JSON is refused with its document.
    let arguments = JsonText::read(call.args.of(plan.text.as_str()));
    let listed = found.listed.as_ref();
    if let Some((listed, arguments)) = listed.zip(arguments.as_ref()) {
        let (schema, offset) = (listed.input_schema(), call.args.start);
        let refused = agent_json_schema::arguments(
            schema.as_deref().map(ToolSchema::Text),
            arguments.root(),
            offset,
            &mut budget,
        );
        problems.extend(refused.into_iter().map(CallDenial::Arguments));
        problems.extend(unusable_output(
            listed.output_schema().as_deref(),
            &mut budget,
        ));
    }
    trace.record(CallCheck::Arguments, problems);
    let unknown = context.history_unknown();
    if policy.is_some() || unknown.is_some() {
        let asked = arguments.is_some() && !found.entries.is_empty();
        let occasion = PolicyOccasion::of_call(call.args.of(plan.text.as_str()));
        let denials = policy
            .filter(|_| asked)
            .map(|policy| policy.denials(occasion));
        let denials = denials.unwrap_or_default().into_iter().chain(unknown);
        trace.record(CallCheck::Policy, denials.collect());
    }
    let server = found.entries.first().zip(found.definition);
    match (server, context.lock) {
        (Some((server, definition)), Some(lock)) if trace.passed() && arguments.is_some() => {
            CallVerdict::Allowed(AuthorizedCall {
                plan,
                call,
                lock,
                server: *server,
                definition,
                output_schema: listed.and_then(ToolEntry::output_schema),
                needs_approval,
                checks: trace.records,
            })
        }
        _ => CallVerdict::Denied(trace.records),
    }
}

/// Returns the denial of a tool whose output schema can't be used.
pub(super) fn unusable_output<'a>(
    schema: Option<&str>,
    budget: &mut Budget,
) -> impl Iterator<Item = CallDenial<'a>> {
    let problems = schema.map(|schema| agent_json_schema::unusable(Some(schema), budget));
    problems.into_iter().flatten().map(CallDenial::Output)
}

/// Returns the tool in the entries whose capabilities count: the locked ones, or those of the index
/// without a lock, so that one answer reports everything.
fn advertising<'a>(
    target: Target<'a>,
    context: CallContext<'a>,
    found: &LockedTool<'a>,
) -> Vec<ToolView<'a>> {
    if !found.entries.is_empty() {
        return found.tools.clone();
    }
    let entries = context.index.versions(target.server);
    entries.filter_map(|it| it.tool(target.tool)).collect()
}

/// Returns the reason why a tool may write, or `None` if it only reads.
fn may_write<'a>(tools: &[ToolView<'a>], found: &LockedTool<'a>) -> Option<MayWrite<'a>> {
    let of_index = tools.iter().map(|tool| ToolEntry::read(tool.entry()));
    let mut annotations = of_index.filter_map(|tool| writes_by_annotation(&tool));
    let listed = || found.listed.as_ref().and_then(writes_by_annotation);
    if let Some(annotation) = annotations.next().or_else(listed) {
        return Some(MayWrite::Annotation(annotation));
    }
    // A tool that only the server lists advertises nothing that was locked.
    if tools.is_empty() && found.listed.is_some() && !found.entries.is_empty() {
        return Some(MayWrite::NothingAdvertised);
    }
    tools.iter().find_map(|tool| {
        let mut blocks = tool.advertised().peekable();
        if blocks.peek().is_none() {
            return Some(MayWrite::NothingAdvertised);
        }
        blocks
            .find(|block| !block.tags().any(|tag| tag == READONLY))
            .map(|block| MayWrite::Pair(block.pair()))
    })
}

fn writes_by_annotation(tool: &ToolEntry<'_>) -> Option<&'static str> {
    match (tool.hint("readOnlyHint"), tool.hint("destructiveHint")) {
        (Some(false), _) => Some("readOnlyHint"),
        (_, Some(true)) => Some("destructiveHint"),
        _ => None,
    }
}
