//! What an instruction profile allows, and how much.

use super::{Decision, PlanReason};
use crate::model::{Binding, Cap, Effect, Plan, PlanStep, Profile};

/// The only status by which a profile is in force.
const ACTIVE: &str = "active";

/// The envelope that plans are.
const PLAN_ENVELOPE: &str = "env.mova_agent_plan_v1";

impl<'a> Decision<'a> {
    /// What holds for the plan as a whole.
    pub(super) fn caps(&mut self, plan: &'a Plan, profile: &'a Profile) {
        if profile.status.value != ACTIVE {
            self.deny(None, PlanReason::Inactive(&profile.status.value));
        }
        let envelopes = profile.envelopes.as_ref();
        if envelopes.is_some_and(|it| !it.value.iter().any(|it| it == PLAN_ENVELOPE)) {
            self.deny(None, PlanReason::OtherEnvelopes);
        }
        for cap in Cap::ALL {
            if !profile.has_cap(cap) {
                self.deny(None, PlanReason::CapMissing(cap));
            }
        }
        if let Some(cap) = profile.cap(Cap::Steps)
            && plan.steps.len() as u64 > cap.value
        {
            self.deny(None, PlanReason::TooManySteps { cap: cap.value });
        }
    }

    /// Whether rules allow the tool of a step: one does, and none denies it.
    pub(super) fn allowed(&mut self, number: usize, step: &'a PlanStep, profile: &'a Profile) {
        let (connector, tool) = (&*step.connector.value, &*step.tool.value);
        let mut allowed = false;
        for (place, rule) in profile.rules.iter().enumerate() {
            if !rule.is_about(connector, tool) {
                continue;
            }
            match rule.effect {
                Effect::Allow => allowed = true,
                Effect::Deny => self.deny(number, PlanReason::RuleDenies(place)),
                Effect::Other => {}
            }
        }
        if !allowed {
            self.deny(number, PlanReason::NoRule);
        }
    }

    /// That no limit of a binding is above the cap.
    pub(super) fn limits(&mut self, number: usize, binding: &'a Binding, profile: &'a Profile) {
        for (limit, value, cap) in binding.limits.each() {
            let Some(most) = profile.cap(cap) else {
                continue;
            };
            if value.value > most.value {
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
