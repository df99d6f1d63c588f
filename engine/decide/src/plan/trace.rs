//! Recording of the checks of a step.

use super::authorized::AuthorizedStep;
use super::decision::Decision;
use super::record::{Compared, RunCheck, StepCheck, StepRecord};
use crate::matching::EvaluationContext;
use crate::trace::{CheckOutcome, SkipCause};
use agent_model::{Binding, Driver, Input, PlanStep};
use agent_text::DocumentKind;
use std::sync::Arc;

/// Maximum number of allowing rules to record: each of them suffices.
const RULES_RECORDED: usize = 10;

impl<'a> Decision<'a> {
    /// Returns the record of a step whose checks were made.
    pub(super) fn record(
        &self,
        step: &'a PlanStep,
        binding: Option<&'a Binding>,
        authorized: &AuthorizedStep,
    ) -> Vec<StepRecord<'a>> {
        let checks = StepCheck::ALL.into_iter();
        let checks = checks.filter(|check| self.applies(*check, binding));
        let record = |check: StepCheck| {
            let deferred = self.outcomes.deferred.iter().copied();
            let deferred: Vec<_> = deferred
                .filter(|it| check.waits_for().contains(it))
                .collect();
            let waits = match check {
                // The host is allowed before its addresses are known.
                StepCheck::Destination => deferred.contains(&RunCheck::Destination),
                _ => !deferred.is_empty(),
            };
            let outcome = match self.skipped(check, step, binding) {
                _ if self.outcomes.failed.contains(&check) => CheckOutcome::Failed,
                Some(cause) => CheckOutcome::Skipped(cause),
                None if waits => CheckOutcome::Deferred,
                None => CheckOutcome::Passed,
            };
            StepRecord {
                check,
                outcome,
                deferred,
                compared: self.compared(check, step, binding, authorized),
            }
        };
        checks.map(record).collect()
    }

    fn skipped(
        &self,
        check: StepCheck,
        step: &PlanStep,
        binding: Option<&Binding>,
    ) -> Option<SkipCause<StepCheck>> {
        let unreadable = |is_read: bool, kind| (!is_read).then_some(SkipCause::Unreadable(kind));
        let no_pool = unreadable(self.rules.pool.value.is_some(), DocumentKind::ToolPool);
        let no_profile = unreadable(self.rules.profile.value.is_some(), DocumentKind::Profile);
        let after = |check, failed: bool| failed.then_some(SkipCause::Failed(check));
        let unbound = no_pool.or(after(StepCheck::Pool, binding.is_none()));
        let has_pool = self.rules.pool.value.is_some();
        let is_unknown = step.is_refused || has_pool && binding.is_none();
        match check {
            StepCheck::Pool => no_pool,
            StepCheck::Rules => no_profile.or(after(StepCheck::Pool, is_unknown)),
            StepCheck::Limits => no_profile.or(unbound),
            StepCheck::Destination => {
                let of_server = binding.is_some_and(is_server);
                let failed = of_server && self.outcomes.failed.contains(&StepCheck::Lock);
                after(StepCheck::Lock, failed)
            }
            StepCheck::Policy => {
                let failed = self.outcomes.failed.contains(&StepCheck::Lock);
                unbound.or(after(StepCheck::Lock, failed))
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
        let server = authorized.server.as_ref();
        let entry = server.and_then(|it| self.context.index?.find(&it.id, &it.version));
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
            StepCheck::Rules | StepCheck::Policy | StepCheck::Output => Vec::new(),
        }
    }

    /// Returns whether a check applies to tools of this kind.
    fn applies(&self, check: StepCheck, binding: Option<&Binding>) -> bool {
        match check {
            StepCheck::Lock => binding.is_some_and(is_server),
            StepCheck::Policy => {
                let locked = self.context.lock.is_some_and(|it| it.policy.is_some());
                let given = self.context.evaluation_context;
                let governed = |it: &EvaluationContext| it.has_policy() || it.has_history_rules();
                (locked || given.is_some_and(governed)) && binding.is_some_and(is_server)
            }
            StepCheck::Destination => {
                let http = |it: &Binding| matches!(it.driver, Driver::Http { .. });
                binding.is_some_and(|binding| is_server(binding) || http(binding))
            }
            _ => true,
        }
    }
}

fn is_server(binding: &Binding) -> bool {
    matches!(binding.driver, Driver::McpProxy { .. })
}
