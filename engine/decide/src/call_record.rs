//! The record of the decision on a call: every check in order, with its outcome and its denials.

use crate::locked_policy::{LockedDenial, PolicyMismatch};
use crate::trace::{CheckOutcome, SkipCause};
use agent_json_schema::{ArgumentProblem, Unusable};

/// A reason to deny a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallDenial<'a> {
    /// The catalogue has no such server.
    UnknownServer {
        /// Similar ids.
        nearest: Vec<&'a str>,
    },
    /// The server has no such tool.
    UnknownTool {
        /// Similar names among its tools.
        nearest: Vec<&'a str>,
    },
    /// There is no lock.
    LockMissing,
    /// The lock has neither the tool for a capability nor its server with the tool for a category.
    NotLocked {
        /// The versions of the server that the lock has instead of the required one.
        versions: Vec<&'a str>,
        /// The tools of the server that the lock has alone, sorted; empty if it does not have the server
        /// for a category.
        only: Vec<&'a str>,
    },
    /// The index has no entry with the locked integrity.
    EntryChanged {
        /// The locked version.
        version: &'a str,
        /// The locked integrity.
        integrity: &'a str,
    },
    /// A label of the lock forbids the tool.
    Forbidden {
        /// The label.
        label: &'a str,
    },
    /// The tool's definition has a character that people do not see.
    Concealed {
        /// The character.
        character: char,
        /// The JSON pointer to its string.
        pointer: String,
    },
    /// The tool may write.
    NotReadonly(MayWrite<'a>),
    /// The tool's definition is not the locked one.
    DefinitionChanged {
        /// The digest in the lock, or that of the index.
        locked: String,
        /// The present digest.
        present: String,
    },
    /// The lock has a digest that the tool of its locked entry does not have, so it was edited.
    LockEdited {
        /// The digest in the lock.
        locked: String,
    },
    /// The input schema can't be used, or refuses the arguments of the plan.
    Arguments(ArgumentProblem),
    /// The output schema can't be used, so it accepts no output.
    Output(Unusable),
    /// The given policy is not the one that the lock was made under.
    OtherPolicy(PolicyMismatch),
    /// The policy denies the call.
    Policy(LockedDenial),
    /// No locked entry has the tool, so the policy can't be asked about it.
    PolicyNotAsked,
    /// The tenant decides calls by the calls before them, which are not known.
    HistoryUnknown,
}

/// The reason why a tool counts as one that writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MayWrite<'a> {
    /// It advertises nothing.
    NothingAdvertised,
    /// It advertises a pair without `readonly`.
    Pair(&'a str),
    /// It declares so by this annotation.
    Annotation(&'static str),
}

/// A check of a planned call, in order.
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
    /// The input schema accepts the arguments.
    Arguments,
    /// The policy allows the call. Without a policy there is no such check.
    Policy,
}

impl CallCheck {
    /// Every check.
    pub const ALL: [Self; 7] = [
        Self::Listed,
        Self::Locked,
        Self::Permitted,
        Self::ReadOnly,
        Self::Unchanged,
        Self::Arguments,
        Self::Policy,
    ];

    /// Returns whether other arguments may change the outcome.
    pub fn depends_on_arguments(self) -> bool {
        matches!(self, Self::Arguments | Self::Policy)
    }

    /// Returns the checks whose failure leaves this one without input.
    fn needs(self) -> &'static [Self] {
        match self {
            Self::Listed => &[],
            // An unknown tool is not in a lock either: that is one problem.
            Self::Locked => &[Self::Listed],
            Self::Permitted | Self::ReadOnly | Self::Policy => &[Self::Locked],
            Self::Unchanged => &[Self::Listed, Self::Locked],
            Self::Arguments => &[Self::Listed],
        }
    }
}

/// A check of a call, as it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRecord<'a> {
    /// The check.
    pub check: CallCheck,
    /// Its outcome.
    pub outcome: CheckOutcome<CallCheck>,
    /// The reasons of a failure; empty otherwise.
    pub denials: Vec<CallDenial<'a>>,
}

/// The checks of a call so far.
#[derive(Debug, Default)]
pub(super) struct CallTrace<'a> {
    pub(super) records: Vec<CallRecord<'a>>,
}

impl<'a> CallTrace<'a> {
    /// Records a check. Without denials it is skipped if a check that it needs failed, or was skipped
    /// itself.
    pub(super) fn record(&mut self, check: CallCheck, denials: Vec<CallDenial<'a>>) {
        let cause = check.needs().iter().find_map(|it| self.cause(*it));
        let outcome = match cause {
            _ if !denials.is_empty() => CheckOutcome::Failed,
            Some(cause) => CheckOutcome::Skipped(cause),
            None => CheckOutcome::Passed,
        };
        self.records.push(CallRecord {
            check,
            outcome,
            denials,
        });
    }

    /// Returns whether no check failed.
    pub(super) fn passed(&self) -> bool {
        self.records.iter().all(|it| it.denials.is_empty())
    }

    /// Returns why a check leaves those that need it without input, if it does.
    fn cause(&self, check: CallCheck) -> Option<SkipCause<CallCheck>> {
        let record = self.records.iter().find(|it| it.check == check)?;
        match record.outcome {
            CheckOutcome::Failed => Some(SkipCause::Failed(check)),
            CheckOutcome::Skipped(cause) => Some(cause),
            CheckOutcome::Passed | CheckOutcome::Deferred => None,
        }
    }
}
