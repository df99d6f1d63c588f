//! Whether the one call of a plan may be made \[1\].
//!
//! Every check that can be made is made, in this order: the tool is in the catalogue; the lock has
//! it; nothing forbids it; it only reads; it is as it was locked; its arguments are what it takes.

use super::locked_tool::{LockedTool, Target};
use super::trace::{CheckOutcome, SkipCause};
use agent_json_schema::{self, ArgumentProblem, Budget, JsonText, Unusable};
use agent_lower::ToolEntry;
use agent_model::{
    CallPlan, Index, Lock, Name, NonEmpty, Planned, PlannedCall, ServerView, ToolView,
    ToolsSnapshot,
};

/// The tag without which a tool may write.
const READONLY: &str = "readonly";

/// What a plan is decided against.
#[derive(Debug, Clone, Copy)]
pub struct CallContext<'a> {
    /// The index of servers.
    pub index: &'a Index,
    /// What was locked. None: nothing may be called.
    pub lock: Option<&'a Lock>,
    /// The tools that servers have at the moment. None: those of the index.
    pub catalogue: Option<&'a ToolsSnapshot>,
}

/// Why a call may not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallDenial<'a> {
    /// The catalogue has no such server.
    UnknownServer {
        /// Ids that are spelled nearly so.
        nearest: Vec<&'a str>,
    },
    /// The server has no such tool.
    UnknownTool {
        /// Names of its tools that are spelled nearly so.
        nearest: Vec<&'a str>,
    },
    /// There is no lock.
    LockMissing,
    /// The lock has neither the tool for a capability nor its server for a category.
    NotLocked,
    /// The index has no entry with the integrity that was locked.
    EntryChanged {
        /// The version that was locked.
        version: &'a str,
        /// The integrity that was locked.
        integrity: &'a str,
    },
    /// A label of the lock forbids it.
    Forbidden {
        /// The label.
        label: &'a str,
    },
    /// It does not say of everything it can do that it only reads.
    NotReadonly(MayWrite<'a>),
    /// It is not defined as it was locked.
    DefinitionChanged {
        /// The digest that was locked, or that of the index.
        locked: String,
        /// The present one.
        present: String,
    },
    /// Its input schema or the arguments of the plan.
    Arguments(ArgumentProblem),
    /// Its output schema: nothing that it could return would be taken.
    Output(Unusable),
}

/// Why a tool is taken to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MayWrite<'a> {
    /// It advertises nothing.
    NothingAdvertised,
    /// It advertises a pair without `readonly`.
    Pair(&'a str),
    /// It says so itself, by this annotation.
    Annotation(&'static str),
}

/// A call that may be made. There is no other way to one than [`authorize_call`].
#[derive(Debug, Clone)]
pub struct AuthorizedCall<'a> {
    plan: &'a CallPlan,
    call: &'a PlannedCall,
    lock: &'a Lock,
    server: ServerView<'a>,
    definition: String,
    output_schema: Option<&'a str>,
    needs_approval: bool,
}

impl<'a> AuthorizedCall<'a> {
    /// The server, as it was locked.
    pub fn server(&self) -> ServerView<'a> {
        self.server
    }

    /// The name of the tool.
    pub fn tool(&self) -> &'a str {
        self.call.tool.value.as_str()
    }

    /// The arguments, as JSON.
    pub fn arguments(&self) -> &'a str {
        self.call.args.of(self.plan.text.as_str())
    }

    /// What it was decided against.
    pub fn lock(&self) -> &'a Lock {
        self.lock
    }

    /// The digest of the tool's present definition.
    pub fn definition(&self) -> &str {
        &self.definition
    }

    /// The JSON text of the tool's `outputSchema`, if it has one.
    pub fn output_schema(&self) -> Option<&'a str> {
        self.output_schema
    }

    /// Whether a human has to approve of it.
    pub fn needs_approval(&self) -> bool {
        self.needs_approval
    }
}

/// The answer to a one-call plan.
#[derive(Debug, Clone)]
pub enum CallVerdict<'a> {
    /// It may be made.
    Allowed(AuthorizedCall<'a>),
    /// Nothing is to be called: the user is to be asked.
    NeedsMoreInfo(&'a str),
    /// It may not be made, for every one of these reasons.
    Denied(NonEmpty<CallDenial<'a>>),
}

/// A check of a planned call, in the order in which they are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallCheck {
    /// The server lists the tool.
    Listed,
    /// The lock has the tool, and the index the locked entry.
    Locked,
    /// No label of the lock forbids the tool.
    Permitted,
    /// The tool only reads.
    ReadOnly,
    /// The tool's definition is the locked one.
    Unchanged,
    /// The tool takes the arguments.
    Arguments,
}

impl CallCheck {
    /// Every check.
    pub const ALL: [Self; 6] = [
        Self::Listed,
        Self::Locked,
        Self::Permitted,
        Self::ReadOnly,
        Self::Unchanged,
        Self::Arguments,
    ];

    /// The checks without which it has nothing to look at.
    fn needs(self) -> &'static [Self] {
        match self {
            Self::Listed | Self::Locked => &[],
            Self::Permitted | Self::ReadOnly => &[Self::Locked],
            Self::Unchanged => &[Self::Listed, Self::Locked],
            Self::Arguments => &[Self::Listed],
        }
    }
}

impl CallDenial<'_> {
    /// Returns the check that this reason fails.
    pub fn check(&self) -> CallCheck {
        match self {
            Self::UnknownServer { .. } | Self::UnknownTool { .. } => CallCheck::Listed,
            Self::LockMissing | Self::NotLocked | Self::EntryChanged { .. } => CallCheck::Locked,
            Self::Forbidden { .. } => CallCheck::Permitted,
            Self::NotReadonly(_) => CallCheck::ReadOnly,
            Self::DefinitionChanged { .. } => CallCheck::Unchanged,
            Self::Arguments(_) | Self::Output(_) => CallCheck::Arguments,
        }
    }
}

impl CallVerdict<'_> {
    /// Returns the record of the checks, in the order of [`CallCheck::ALL`]. It is empty if no call
    /// is planned.
    pub fn checks(&self) -> Vec<(CallCheck, CheckOutcome<CallCheck>)> {
        let denials = match self {
            Self::Allowed(_) => &[][..],
            Self::NeedsMoreInfo(_) => return Vec::new(),
            Self::Denied(denials) => denials.as_slice(),
        };
        let failed = |check: CallCheck| denials.iter().any(|it| it.check() == check);
        let outcome = |check: CallCheck| {
            let needed = check.needs().iter().find(|it| failed(**it));
            match needed {
                _ if failed(check) => CheckOutcome::Failed,
                Some(needed) => CheckOutcome::Skipped(SkipCause::Failed(*needed)),
                None => CheckOutcome::Passed,
            }
        };
        CallCheck::ALL.map(|check| (check, outcome(check))).into()
    }
}

/// Decide whether the call of a plan may be made.
pub fn authorize_call<'a>(plan: &'a CallPlan, context: CallContext<'a>) -> CallVerdict<'a> {
    let call = match &plan.planned {
        Planned::NeedsMoreInfo { answer } => return CallVerdict::NeedsMoreInfo(answer),
        Planned::Call(call) => call,
    };
    let mut denials = Vec::new();
    let target = Target {
        server: call.server.value.as_str(),
        version: None,
        tool: call.tool.value.as_str(),
    };
    let mut budget = Budget::new();
    let found = LockedTool::find(target, context, budget.likeness(), &mut denials);
    denials.extend(may_write(&found.tools, found.listed.as_ref()).map(CallDenial::NotReadonly));
    let needs_approval = found.needs_approval();
    denials.extend(found.changed);
    let (Some(listed), Some(definition)) = (found.listed, found.definition) else {
        return denied(denials);
    };
    // The arguments were read with their document.
    let Some(arguments) = JsonText::read(call.args.of(plan.text.as_str())) else {
        return denied(denials);
    };
    let (schema, offset) = (listed.input_schema(), call.args.start);
    let wrong = agent_json_schema::arguments(schema, arguments.root(), offset, &mut budget);
    denials.extend(wrong.into_iter().map(CallDenial::Arguments));
    let output_schema = listed.output_schema();
    denials.extend(unusable_output(output_schema, &mut budget));
    match (found.entries.first(), context.lock) {
        (Some(server), Some(lock)) if denials.is_empty() => CallVerdict::Allowed(AuthorizedCall {
            plan,
            call,
            lock,
            server: *server,
            definition,
            output_schema,
            needs_approval,
        }),
        _ => denied(denials),
    }
}

/// Why no output would be taken, if the tool has a schema for it.
pub(super) fn unusable_output<'a>(
    schema: Option<&str>,
    budget: &mut Budget,
) -> impl Iterator<Item = CallDenial<'a>> {
    let problems = schema.map(|schema| agent_json_schema::unusable(Some(schema), budget));
    problems.into_iter().flatten().map(CallDenial::Output)
}

fn denied(denials: Vec<CallDenial<'_>>) -> CallVerdict<'_> {
    // Without a reason nothing is denied: that nothing is there to call is one.
    let reasons = NonEmpty::new(denials);
    CallVerdict::Denied(reasons.unwrap_or_else(|| NonEmpty::one(CallDenial::NotLocked)))
}

/// Why a tool is taken to write. None: it only reads.
fn may_write<'a>(tools: &[ToolView<'a>], listed: Option<&ToolEntry<'_>>) -> Option<MayWrite<'a>> {
    let of_index = tools.iter().map(|tool| ToolEntry::read(tool.entry()));
    let mut annotations = of_index.filter_map(|tool| writes_by_annotation(&tool));
    let listed = || listed.and_then(writes_by_annotation);
    if let Some(annotation) = annotations.next().or_else(listed) {
        return Some(MayWrite::Annotation(annotation));
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
