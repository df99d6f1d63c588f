//! The checks that a planned call was put to.

use super::checks::{CheckFact, CheckOutcome, Checked, NOT_MADE};
use super::wording::quoted;
use agent_decide::{AuthorizedCall, CallDenial, CallVerdict};
use agent_lower::integrity;
use agent_model::{CallPlan, Name, Planned, ToolView};

/// A check of a planned call, in the order in which they are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallCheck {
    /// Its server lists the tool.
    Listed,
    /// The lock has it, and the index what was locked.
    Locked,
    /// No label of the lock forbids it.
    Permitted,
    /// It only reads.
    ReadOnly,
    /// It is defined as it was locked.
    Unchanged,
    /// It takes the arguments.
    Arguments,
}

impl CallCheck {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Listed,
        Self::Locked,
        Self::Permitted,
        Self::ReadOnly,
        Self::Unchanged,
        Self::Arguments,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Listed => "catalogue",
            Self::Locked => "lock",
            Self::Permitted => "labels",
            Self::ReadOnly => "read-only",
            Self::Unchanged => "definition",
            Self::Arguments => "arguments",
        }
    }

    /// What holds if it is passed.
    fn passed(self) -> &'static str {
        match self {
            Self::Listed => "The server lists the tool.",
            Self::Locked => "The lock has it, and the index what was locked.",
            Self::Permitted => "No label of the lock forbids it.",
            Self::ReadOnly => "It only reads, by all that it advertises and says of itself.",
            Self::Unchanged => "It is defined as it was locked.",
            Self::Arguments => {
                "Its input schema takes the arguments, and its output schema can be used."
            }
        }
    }

    /// The one that was failed for this reason.
    pub fn of(denial: &CallDenial<'_>) -> Self {
        match denial {
            CallDenial::UnknownServer { .. } | CallDenial::UnknownTool { .. } => Self::Listed,
            CallDenial::LockMissing | CallDenial::NotLocked | CallDenial::EntryChanged { .. } => {
                Self::Locked
            }
            CallDenial::Forbidden { .. } => Self::Permitted,
            CallDenial::NotReadonly(_) => Self::ReadOnly,
            CallDenial::DefinitionChanged { .. } => Self::Unchanged,
            CallDenial::Arguments(_) | CallDenial::Output(_) => Self::Arguments,
        }
    }

    /// Those without which it has nothing to look at.
    fn needs(self) -> &'static [Self] {
        match self {
            Self::Listed | Self::Locked => &[],
            Self::Permitted | Self::ReadOnly => &[Self::Locked],
            Self::Unchanged => &[Self::Listed, Self::Locked],
            Self::Arguments => &[Self::Listed],
        }
    }
}

/// The checks of a call, in the order of [`CallCheck::ALL`]. None: no call is planned.
pub fn call_checks(plan: &CallPlan, verdict: &CallVerdict<'_>) -> Vec<Checked> {
    let (denials, authorized) = match verdict {
        CallVerdict::Allowed(call) => (&[][..], Some(call)),
        CallVerdict::NeedsMoreInfo(_) => return Vec::new(),
        CallVerdict::Denied(denials) => (denials.as_slice(), None),
    };
    let failed = |check: CallCheck| denials.iter().any(|it| CallCheck::of(it) == check);
    let checked = |check: CallCheck| {
        let unmade = check.needs().iter().any(|it| failed(*it));
        let (outcome, facts) = if failed(check) {
            (CheckOutcome::Failed, Vec::new())
        } else if unmade {
            (CheckOutcome::NotMade, vec![CheckFact::said(NOT_MADE)])
        } else {
            let mut facts = vec![CheckFact::said(check.passed())];
            facts.extend(authorized.iter().flat_map(|it| shown(plan, check, it)));
            (CheckOutcome::Passed, facts)
        };
        Checked {
            name: check.name(),
            outcome,
            facts,
        }
    };
    CallCheck::ALL.into_iter().map(checked).collect()
}

/// What shows that a check is passed.
fn shown(plan: &CallPlan, check: CallCheck, call: &AuthorizedCall<'_>) -> Vec<CheckFact> {
    let server = call.server();
    let tool = server.tool(call.tool());
    let of_tool = |text: String| CheckFact {
        text,
        place: tool.map(|tool| tool.place()),
    };
    let labels = call.lock().forbid.as_slice();
    match check {
        CallCheck::Listed => vec![of_tool(format!("`{}` of `{}`", call.tool(), server.id()))],
        CallCheck::Locked => {
            let (id, version) = (server.id(), server.version());
            let text = format!("`{id} {version}`: {}", integrity(server));
            vec![CheckFact::at(text, server.place())]
        }
        CallCheck::Permitted if labels.is_empty() => vec![CheckFact::said("It has none.")],
        CallCheck::Permitted => {
            let labels = quoted(labels.iter().map(|label| label.as_str()));
            vec![CheckFact::said(format!("It forbids {labels}."))]
        }
        CallCheck::ReadOnly => tool.into_iter().flat_map(advertised).map(of_tool).collect(),
        CallCheck::Unchanged => vec![CheckFact::said(call.definition())],
        CallCheck::Arguments => match &plan.planned {
            Planned::Call(planned) => {
                let place = plan.text.place(planned.args);
                vec![CheckFact::at(format!("`{}`", call.arguments()), place)]
            }
            Planned::NeedsMoreInfo { .. } => Vec::new(),
        },
    }
}

/// What a tool says that it can do.
fn advertised(tool: ToolView<'_>) -> impl Iterator<Item = String> {
    tool.advertised().map(|block| {
        let tags: Vec<_> = block.tags().collect();
        format!("`{}` + {}", block.pair(), tags.join(", "))
    })
}
