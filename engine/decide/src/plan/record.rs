//! The record of a step: its checks in order, with their outcomes and the compared values.

use super::server::ServerUse;
use crate::trace::CheckOutcome;
use agent_model::{Binding, Rule, ServerView};
use agent_text::{Span, Spanned};
use std::sync::Arc;

/// A check of a step, in the order of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepCheck {
    /// The pool binds the tool.
    Pool,
    /// Rules allow the tool.
    Rules,
    /// The tool of an MCP server is as it was locked.
    Lock,
    /// The policy allows the call. Without a policy there is no such check.
    Policy,
    /// The step connects only to its destinations.
    Destination,
    /// No limit is above its cap.
    Limits,
    /// The input fits its schemas and limits.
    Input,
    /// The output fits its schemas and limits.
    Output,
}

impl StepCheck {
    /// Every check.
    pub const ALL: [Self; 8] = [
        Self::Pool,
        Self::Rules,
        Self::Lock,
        Self::Policy,
        Self::Destination,
        Self::Limits,
        Self::Input,
        Self::Output,
    ];

    /// Returns the name in a report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Rules => "rules",
            Self::Lock => "lock",
            Self::Policy => "policy",
            Self::Destination => "destination",
            Self::Limits => "limits",
            Self::Input => "input",
            Self::Output => "output",
        }
    }

    /// Returns the checks of the run that this one waits for.
    pub(super) fn waits_for(self) -> &'static [RunCheck] {
        match self {
            Self::Input => &[RunCheck::InputFrom, RunCheck::Input],
            Self::Destination => &[RunCheck::Destination, RunCheck::Addresses],
            Self::Output => &[RunCheck::Output],
            Self::Policy => &[RunCheck::Policy],
            Self::Pool | Self::Rules | Self::Lock | Self::Limits => &[],
        }
    }
}

/// A check of a step, as it was made.
#[derive(Debug, Clone)]
pub struct StepRecord<'a> {
    /// The check.
    pub check: StepCheck,
    /// Its outcome.
    pub outcome: CheckOutcome<StepCheck>,
    /// Its parts that are deferred to the run.
    pub deferred: Vec<RunCheck>,
    /// The compared values.
    pub compared: Vec<Compared<'a>>,
}

/// A value that a check compared.
#[derive(Debug, Clone)]
pub enum Compared<'a> {
    /// The binding of the step's tool.
    Binding(&'a Binding),
    /// A rule that allows the tool.
    Rule(&'a Rule),
    /// A tool of an MCP server, as it was locked, and the server's entry.
    Locked(Arc<ServerUse>, Option<ServerView<'a>>),
    /// The entry of the server that is connected to.
    Endpoint(ServerView<'a>),
    /// The binding with the allowed destinations.
    Destinations(&'a Binding),
    /// A limit of the binding and its cap.
    Limit {
        /// The name of the limit.
        name: &'static str,
        /// The limit.
        value: Spanned<u64>,
        /// The cap.
        most: u64,
    },
    /// The size of a literal input.
    InputSize {
        /// The place of the input in the plan.
        span: Span,
        /// The limit, in bytes as written.
        most: u64,
    },
}

/// A check that is made while a plan runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunCheck {
    /// The earlier output has the part that is the input.
    InputFrom,
    /// The input fits its schemas and limits.
    Input,
    /// The policy allows the call.
    Policy,
    /// The URL is at an allowed destination.
    Destination,
    /// The addresses of the host are allowed.
    Addresses,
    /// The output fits its schemas and limits.
    Output,
}

impl RunCheck {
    /// Returns the name in a report.
    pub fn name(self) -> &'static str {
        match self {
            Self::InputFrom => "input_from",
            Self::Input => "input",
            Self::Policy => "policy",
            Self::Destination => "destination",
            Self::Addresses => "addresses",
            Self::Output => "output",
        }
    }
}

/// The outcomes of one step while its checks are made.
#[derive(Debug, Default)]
pub(super) struct StepOutcomes {
    pub(super) failed: Vec<StepCheck>,
    pub(super) deferred: Vec<RunCheck>,
}
