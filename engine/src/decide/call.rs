//! Whether the one call of a plan may be made \[1\].
//!
//! Every check that can be made is made, in this order: the tool is in the catalogue; the lock has
//! it; nothing forbids it; it only reads; it is as it was locked; its arguments are what it takes.

use crate::lower::{definition_of, digest, hint, input_schema};
use crate::model::{
    CallPlan, Grant, HUMAN_IN_THE_LOOP, Index, Lock, Name, NonEmpty, Planned, PlannedCall,
    Selection, ServerView, ToolCatalogue, ToolView,
};
use crate::schema::{self, ArgumentProblem};
use crate::text::nearest;

/// How many near names are told.
const NEAR: usize = 3;

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
    pub catalogue: Option<&'a ToolCatalogue>,
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

/// Decide whether the call of a plan may be made.
pub fn authorize_call<'a>(plan: &'a CallPlan, context: CallContext<'a>) -> CallVerdict<'a> {
    let call = match &plan.planned {
        Planned::NeedsMoreInfo { answer } => return CallVerdict::NeedsMoreInfo(answer),
        Planned::Call(call) => call,
    };
    let mut denials = Vec::new();
    let listed = listed(call, context, &mut denials);
    let selections = context
        .lock
        .map(|lock| locked(call, lock, &mut denials))
        .unwrap_or_else(|| {
            denials.push(CallDenial::LockMissing);
            Vec::new()
        });
    let entries = entries(&selections, context.index, &mut denials);
    let tools: Vec<_> = entries
        .iter()
        .filter_map(|server| server.tool(call.tool.value.as_str()))
        .collect();
    if let Some(lock) = context.lock {
        denials.extend(forbidden(call, lock, &tools));
    }
    denials.extend(may_write(&tools, listed).map(CallDenial::NotReadonly));
    let Some(listed) = listed else {
        return denied(denials);
    };
    let definition = digest(&definition_of(call.tool.value.as_str(), listed));
    denials.extend(changed(&definition, &selections, &tools));
    let schema = input_schema(listed);
    let found = schema::arguments(schema, call.args.of(plan.text.as_str()), call.args);
    denials.extend(found.into_iter().map(CallDenial::Arguments));
    match (entries.first(), context.lock) {
        (Some(server), Some(lock)) if denials.is_empty() => CallVerdict::Allowed(AuthorizedCall {
            plan,
            call,
            lock,
            server: *server,
            definition,
            needs_approval: tools.iter().any(|tool| needs_approval(*tool)),
        }),
        _ => denied(denials),
    }
}

fn denied(denials: Vec<CallDenial<'_>>) -> CallVerdict<'_> {
    // Without a reason nothing is denied: that nothing is there to call is one.
    let reasons = NonEmpty::new(denials);
    CallVerdict::Denied(reasons.unwrap_or_else(|| NonEmpty::one(CallDenial::NotLocked)))
}

/// The tool as its server lists it, as JSON.
fn listed<'a>(
    call: &'a PlannedCall,
    context: CallContext<'a>,
    denials: &mut Vec<CallDenial<'a>>,
) -> Option<&'a str> {
    let (id, name) = (call.server.value.as_str(), call.tool.value.as_str());
    let near = |names: Vec<&'a str>, word: &str| nearest(word, names, NEAR);
    let (tool, tools) = match context.catalogue {
        Some(catalogue) => {
            let Some(server) = catalogue.server(id) else {
                let ids = catalogue.servers.iter().map(|it| it.id.as_str());
                let nearest = near(ids.collect(), id);
                denials.push(CallDenial::UnknownServer { nearest });
                return None;
            };
            let text = catalogue.text.as_str();
            let tool = server.tool(name).map(|tool| tool.span.of(text));
            let names = server.tools.iter().map(|it| it.name.as_str());
            (tool, names.collect())
        }
        None => {
            let mut versions = context.index.versions(id).peekable();
            if versions.peek().is_none() {
                let ids = context.index.servers().map(ServerView::id);
                let nearest = near(ids.collect(), id);
                denials.push(CallDenial::UnknownServer { nearest });
                return None;
            }
            let tools: Vec<_> = versions.flat_map(ServerView::tools).collect();
            let tool = tools.iter().find(|tool| tool.name() == name);
            let names = tools.iter().map(|tool| tool.name());
            (tool.map(|tool| tool.entry()), names.collect())
        }
    };
    if tool.is_none() {
        let nearest = near(tools, name);
        denials.push(CallDenial::UnknownTool { nearest });
    }
    tool
}

/// The selections of the lock that the call may be made under.
fn locked<'a>(
    call: &PlannedCall,
    lock: &'a Lock,
    denials: &mut Vec<CallDenial<'a>>,
) -> Vec<&'a Selection> {
    let selections: Vec<_> = lock
        .selections
        .iter()
        .filter(|it| it.id == call.server.value)
        .filter(|it| match &it.grant {
            Grant::Category(_) => true,
            Grant::Capability { tool, .. } => *tool == call.tool.value,
        })
        .collect();
    if selections.is_empty() {
        denials.push(CallDenial::NotLocked);
    }
    selections
}

/// The entries of the index that were locked.
fn entries<'a>(
    selections: &[&'a Selection],
    index: &'a Index,
    denials: &mut Vec<CallDenial<'a>>,
) -> Vec<ServerView<'a>> {
    let mut entries: Vec<ServerView<'a>> = Vec::new();
    for selection in selections {
        let (version, integrity) = (selection.version.as_str(), &*selection.integrity);
        let entry = index
            .versions(selection.id.as_str())
            .find(|server| server.version() == version)
            .filter(|server| crate::lower::integrity(*server) == integrity);
        match entry {
            Some(entry) if entries.iter().all(|it| it.rank() != entry.rank()) => {
                entries.push(entry);
            }
            Some(_) => {}
            None => {
                let denial = CallDenial::EntryChanged { version, integrity };
                if !denials.contains(&denial) {
                    denials.push(denial);
                }
            }
        }
    }
    entries
}

/// The labels of the lock that forbid the tool, what it can do, or what it was granted with.
fn forbidden<'a>(
    call: &PlannedCall,
    lock: &'a Lock,
    tools: &[ToolView<'a>],
) -> Vec<CallDenial<'a>> {
    let forbids = |label: &str| {
        let pairs = || tools.iter().flat_map(|tool| tool.advertised());
        label == call.tool.value.as_str()
            || pairs().any(|block| block.pair() == label || block.verb_and_resource().0 == label)
    };
    let labels = lock.forbid.iter().map(|label| label.as_str());
    labels
        .filter(|label| forbids(label))
        .map(|label| CallDenial::Forbidden { label })
        .collect()
}

/// Why a tool is taken to write. None: it only reads.
fn may_write<'a>(tools: &[ToolView<'a>], listed: Option<&str>) -> Option<MayWrite<'a>> {
    let texts = tools.iter().map(|tool| tool.entry()).chain(listed);
    if let Some(annotation) = texts.filter_map(writes_by_annotation).next() {
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

fn writes_by_annotation(tool: &str) -> Option<&'static str> {
    match (hint(tool, "readOnlyHint"), hint(tool, "destructiveHint")) {
        (Some(false), _) => Some("readOnlyHint"),
        (_, Some(true)) => Some("destructiveHint"),
        _ => None,
    }
}

/// That the tool is not defined as it was locked: for a capability by its digest, for a category
/// by that of the index's entry, whose integrity was checked.
fn changed<'a>(
    present: &str,
    selections: &[&'a Selection],
    tools: &[ToolView<'a>],
) -> Option<CallDenial<'a>> {
    let of_capability = selections.iter().filter_map(|it| match &it.grant {
        Grant::Capability { definition, .. } => Some(definition.clone()),
        Grant::Category(_) => None,
    });
    let of_entry = tools
        .iter()
        .map(|tool| crate::lower::definition_digest(*tool));
    of_capability
        .chain(of_entry)
        .find(|locked| locked != present)
        .map(|locked| CallDenial::DefinitionChanged {
            locked,
            present: present.to_owned(),
        })
}

fn needs_approval(tool: ToolView<'_>) -> bool {
    tool.advertised()
        .any(|block| block.tags().any(|tag| tag == HUMAN_IN_THE_LOOP))
}
