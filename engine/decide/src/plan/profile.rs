//! The checks of a plan against its instruction profile.

use super::decision::Decision;
use super::denial::PlanReason;
use super::record::StepCheck;
use agent_diagnostic::Problems;
use agent_model::{Binding, Cap, Plan, PlanStep, Profile};

/// The only status of a profile that is in force.
pub(super) const ACTIVE: &str = "active";

/// The envelope of plans.
const PLAN_ENVELOPE: &str = "env.mova_agent_plan_v1";

impl<'a> Decision<'a> {
    /// Checks the plan as a whole.
    pub(super) fn caps(&mut self, plan: &'a Plan, profile: &'a Profile) {
        if profile.status.value != ACTIVE {
            self.deny(None, PlanReason::Inactive(&profile.status.value));
        }
        let envelopes = profile.envelopes.as_ref();
        if envelopes.is_some_and(|it| !it.value.iter().any(|it| it == PLAN_ENVELOPE)) {
            self.deny(None, PlanReason::OtherEnvelopes);
        }
        // A profile without any caps is one problem.
        let missing = Cap::ALL.into_iter().filter(|cap| !profile.has_cap(*cap));
        let reported = match profile.caps_span {
            Some(_) => Cap::ALL.len(),
            None => 1,
        };
        for cap in missing.take(reported) {
            self.deny(None, PlanReason::CapMissing(cap));
        }
        if let Some(cap) = profile.cap(Cap::Steps)
            && plan.steps.len() as u64 > cap.value
        {
            self.deny(None, PlanReason::TooManySteps { cap: cap.value });
        }
    }

    /// Returns whether a step is one of those that the cap on their number excludes.
    pub(super) fn is_past_cap(&self, number: usize) -> bool {
        let profile = self.rules.profile.value.as_ref();
        let cap = profile.and_then(|profile| profile.cap(Cap::Steps));
        cap.is_some_and(|cap| number as u64 >= cap.value)
    }

    /// Checks that a rule allows the tool of a step, and that none denies it.
    pub(super) fn allowed(&mut self, number: usize, step: &'a PlanStep) {
        let (connector, tool) = (&*step.connector.value, &*step.tool.value);
        self.denied(number, connector, tool);
        let allowing = &self.rules.by_tool.allowing;
        if allowing.first(connector, tool, 1).is_empty() {
            self.deny(number, PlanReason::NoRule);
        }
    }

    /// Checks that no rule denies a tool.
    pub(super) fn denied(&mut self, number: usize, connector: &str, tool: &str) {
        let most = Problems::LIMIT - self.denials.len();
        for place in self.rules.by_tool.denying.first(connector, tool, most) {
            self.deny(number, PlanReason::RuleDenies(place));
        }
    }

    /// Checks that no limit of a binding is above its cap.
    pub(super) fn limits(&mut self, number: usize, binding: &'a Binding, profile: &'a Profile) {
        for (limit, value, cap) in binding.limits.each() {
            let Some(most) = profile.cap(cap) else {
                continue;
            };
            if value.value > most.value {
                // Steps that share a binding share its limits.
                if !self.told.insert((binding.number, limit)) {
                    self.outcomes.failed.push(StepCheck::Limits);
                    continue;
                }
                let reason = PlanReason::AboveCap {
                    binding: binding.number,
                    limit,
                    value: value.value,
                    span: value.span,
                    cap,
                    most: most.value,
                };
                self.deny(number, reason);
            }
        }
    }
}
