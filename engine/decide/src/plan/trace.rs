//! The record of a decision: every check of every step, with its outcome and the values that it
//! compared.

use super::authorized::{AuthorizedStep, ServerUse};
use super::{Decision, InputDenial, PlanReason, RunCheck};
use crate::trace::{CheckOutcome, SkipCause};
use agent_model::{Binding, Driver, Input, PlanStep, Rule, ServerView};
use agent_text::{DocumentKind, Span, Spanned};
use std::sync::Arc;

/// Maximum number of allowing rules to record: each of them suffices.
const RULES_RECORDED: usize = 10;

/// A check of a step, in the order of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepCheck {
    /// The pool binds the tool.
    Pool,
    /// Rules allow the tool.
    Rules,
    /// The tool of an MCP server is as it was locked.
    Lock,
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
    pub const ALL: [Self; 7] = [
        Self::Pool,
        Self::Rules,
        Self::Lock,
        Self::Destination,
        Self::Limits,
        Self::Input,
        Self::Output,
    ];

    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Rules => "rules",
            Self::Lock => "lock",
            Self::Destination => "destination",
            Self::Limits => "limits",
            Self::Input => "input",
            Self::Output => "output",
        }
    }

    /// The checks that wait for the same events as this one.
    fn waits_for(self) -> &'static [RunCheck] {
        match self {
            Self::Input => &[RunCheck::InputFrom, RunCheck::Input],
            Self::Destination => &[RunCheck::Destination, RunCheck::Addresses],
            Self::Output => &[RunCheck::Output],
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
    /// The parts of it that wait for the run.
    pub deferred: Vec<RunCheck>,
    /// The values that were compared.
    pub compared: Vec<Compared<'a>>,
}

/// A value that a check looked at.
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
    /// The binding whose destinations count.
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
        /// The limit, in bytes of the RFC 8785 form.
        most: u64,
    },
}

impl PlanReason<'_> {
    /// Returns the check of a step that this reason fails.
    pub fn check(&self) -> Option<StepCheck> {
        Some(match self {
            Self::NoConnector { .. } | Self::NoTool { .. } => StepCheck::Pool,
            Self::NoRule | Self::RuleDenies(_) => StepCheck::Rules,
            Self::NoIndex | Self::Server(_) | Self::SeveralVersions { .. } => StepCheck::Lock,
            Self::ServerElsewhere { .. } | Self::Input(InputDenial::Destination { .. }) => {
                StepCheck::Destination
            }
            Self::AboveCap { .. } => StepCheck::Limits,
            Self::Input(_) | Self::Flow(_) | Self::NoSchema { .. } => StepCheck::Input,
            Self::OtherDocument(_)
            | Self::Inactive(_)
            | Self::OtherEnvelopes
            | Self::CapMissing(_)
            | Self::TooManySteps { .. } => return None,
        })
    }
}

/// The outcomes of one step, while its checks are made.
#[derive(Debug, Default)]
pub(super) struct Open {
    failed: Vec<StepCheck>,
    deferred: Vec<RunCheck>,
}

impl Open {
    pub(super) fn fail(&mut self, check: StepCheck) {
        self.failed.push(check);
    }

    pub(super) fn defer(&mut self, check: RunCheck) {
        self.deferred.push(check);
    }

    fn outcome(
        &self,
        check: StepCheck,
        skipped: Option<SkipCause<StepCheck>>,
    ) -> CheckOutcome<StepCheck> {
        let waits = match check {
            // The host is allowed before its addresses are known.
            StepCheck::Destination => self.deferred.contains(&RunCheck::Destination),
            _ => self
                .deferred
                .iter()
                .any(|it| check.waits_for().contains(it)),
        };
        match skipped {
            _ if self.failed.contains(&check) => CheckOutcome::Failed,
            Some(cause) => CheckOutcome::Skipped(cause),
            None if waits => CheckOutcome::Deferred,
            None => CheckOutcome::Passed,
        }
    }
}

impl<'a> Decision<'a> {
    /// Returns the record of a step whose checks were made.
    pub(super) fn record(
        &self,
        step: &'a PlanStep,
        binding: Option<&'a Binding>,
        authorized: &AuthorizedStep,
    ) -> Vec<StepRecord<'a>> {
        let checks = StepCheck::ALL.into_iter();
        let checks = checks.filter(|check| applies(*check, binding));
        checks
            .map(|check| {
                let waits_for = check.waits_for();
                let deferred = self.open.deferred.iter().copied();
                StepRecord {
                    check,
                    outcome: self.open.outcome(check, self.skipped(check, binding)),
                    deferred: deferred.filter(|it| waits_for.contains(it)).collect(),
                    compared: self.compared(check, step, binding, authorized),
                }
            })
            .collect()
    }

    fn skipped(&self, check: StepCheck, binding: Option<&Binding>) -> Option<SkipCause<StepCheck>> {
        let no_pool = self.rules.pool.value.is_none();
        let no_pool = no_pool.then_some(SkipCause::Unreadable(DocumentKind::ToolPool));
        let no_profile = self.rules.profile.value.is_none();
        let no_profile = no_profile.then_some(SkipCause::Unreadable(DocumentKind::Profile));
        let unbound = binding.is_none();
        let unbound = no_pool.or(unbound.then_some(SkipCause::Failed(StepCheck::Pool)));
        match check {
            StepCheck::Pool => no_pool,
            StepCheck::Rules => no_profile,
            StepCheck::Limits => no_profile.or(unbound),
            StepCheck::Destination => {
                let of_server = binding.is_some_and(is_server);
                let no_entry = of_server && self.open.failed.contains(&StepCheck::Lock);
                no_entry.then_some(SkipCause::Failed(StepCheck::Lock))
            }
            StepCheck::Lock | StepCheck::Input | StepCheck::Output => unbound,
        }
    }

    fn compared(
        &self,
        check: StepCheck,
        step: &'a PlanStep,
        binding: Option<&'a Binding>,
        authorized: &AuthorizedStep,
    ) -> Vec<Compared<'a>> {
        if check == StepCheck::Rules {
            let (connector, tool) = (&*step.connector.value, &*step.tool.value);
            let allowing = self.rules.allowing(connector, tool, RULES_RECORDED);
            return allowing.into_iter().map(Compared::Rule).collect();
        }
        let Some(binding) = binding else {
            return Vec::new();
        };
        let server = authorized.server_use();
        let entry = server.and_then(|server| {
            let mut versions = self.context.index?.versions(&server.id);
            versions.find(|it| it.version() == server.version)
        });
        match check {
            StepCheck::Pool => vec![Compared::Binding(binding)],
            StepCheck::Lock => {
                let server = server.map(|server| Compared::Locked(Arc::clone(server), entry));
                server.into_iter().collect()
            }
            StepCheck::Destination => {
                let endpoint = entry.map(Compared::Endpoint).into_iter();
                endpoint.chain([Compared::Destinations(binding)]).collect()
            }
            StepCheck::Limits => {
                let limits = binding.limits.each().into_iter();
                let limits = limits.filter_map(|(name, value, cap)| {
                    let most = self.rules.profile.value.as_ref()?.cap(cap)?.value;
                    let value = value.clone();
                    Some(Compared::Limit { name, value, most })
                });
                limits.collect()
            }
            StepCheck::Input => match step.input {
                Input::Literal(span) => {
                    let most = binding.limits.max_input_bytes.value;
                    vec![Compared::InputSize { span, most }]
                }
                Input::From { .. } | Input::Refused => Vec::new(),
            },
            StepCheck::Rules | StepCheck::Output => Vec::new(),
        }
    }
}

/// Returns whether a check has anything to look at in tools of this kind.
fn applies(check: StepCheck, binding: Option<&Binding>) -> bool {
    match check {
        StepCheck::Lock => binding.is_some_and(is_server),
        StepCheck::Destination => {
            let http = |it: &Binding| matches!(it.driver, Driver::Http { .. });
            binding.is_some_and(|binding| is_server(binding) || http(binding))
        }
        _ => true,
    }
}

fn is_server(binding: &Binding) -> bool {
    matches!(binding.driver, Driver::McpProxy { .. })
}
