//! The checks that a planned call is put to, and what came of each.

use crate::decide::{CallDenial, CallVerdict};

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

    /// What it is about, in a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Listed => "catalogue",
            Self::Locked => "lock",
            Self::Permitted => "labels",
            Self::ReadOnly => "read-only",
            Self::Unchanged => "definition",
            Self::Arguments => "arguments",
        }
    }

    /// What holds if it is passed, as a sentence.
    pub fn passed(self) -> &'static str {
        match self {
            Self::Listed => "The server lists the tool.",
            Self::Locked => "The lock has it, and the index what was locked.",
            Self::Permitted => "No label of the lock forbids it.",
            Self::ReadOnly => "It only reads, by all that it advertises and says of itself.",
            Self::Unchanged => "It is defined as it was locked.",
            Self::Arguments => "Its input schema takes the arguments.",
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
            CallDenial::Arguments(_) => Self::Arguments,
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

/// Whether a call passed each check. None: it could not be made, because another one was failed.
/// Empty where no call is planned.
pub fn call_checks(verdict: &CallVerdict<'_>) -> Vec<(CallCheck, Option<bool>)> {
    let denials = match verdict {
        CallVerdict::Allowed(_) => &[],
        CallVerdict::NeedsMoreInfo(_) => return Vec::new(),
        CallVerdict::Denied(denials) => denials.as_slice(),
    };
    let failed = |check: CallCheck| denials.iter().any(|it| CallCheck::of(it) == check);
    let outcome = |check: CallCheck| match failed(check) {
        true => Some(false),
        false if check.needs().iter().any(|it| failed(*it)) => None,
        false => Some(true),
    };
    let checks = CallCheck::ALL.into_iter();
    checks.map(|check| (check, outcome(check))).collect()
}
