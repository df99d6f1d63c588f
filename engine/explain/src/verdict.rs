//! What became of a candidate.

use agent_decide::{NearMiss, NearTool, Preference, TieBreak};

/// What became of a candidate for a requirement: the rule on which it lost, or why it will not do.
#[derive(Debug, Clone)]
pub enum Verdict<L, N> {
    /// It was selected.
    Selected,
    /// It would have done, and lost on this rule.
    Eligible(L),
    /// It will not do.
    Rejected(N),
}

/// What became of a server.
pub type ServerVerdict<'r> = Verdict<TieBreak, NearMiss<'r>>;

/// What became of a tool.
pub type ToolVerdict<'r> = Verdict<Preference, NearTool<'r>>;

impl<L: Copy, N> Verdict<L, N> {
    /// The word for it in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Selected => "selected",
            Self::Eligible(_) => "eligible",
            Self::Rejected(_) => "rejected",
        }
    }

    /// The rule on which it lost, if it lost on one.
    pub fn lost_on(&self) -> Option<L> {
        match self {
            Self::Eligible(rule) => Some(*rule),
            Self::Selected | Self::Rejected(_) => None,
        }
    }

    /// Why it will not do, if it won't.
    pub fn rejected(&self) -> Option<&N> {
        match self {
            Self::Rejected(near) => Some(near),
            Self::Selected | Self::Eligible(_) => None,
        }
    }
}
