//! What an instruction profile allows, and how much.

use super::{Decision, PlanReason};
use agent_diagnostic::Problems;
use agent_model::{Binding, Cap, Effect, Plan, PlanStep, Profile, Selector};
use std::collections::BTreeMap;

/// The only status by which a profile is in force.
const ACTIVE: &str = "active";

/// The envelope that plans are.
const PLAN_ENVELOPE: &str = "env.mova_agent_plan_v1";

/// The rules of a profile by the tools that they are about: a plan of many steps does not look
/// through many rules at each.
#[derive(Debug, Default)]
pub(crate) struct RulesByTool {
    pub(super) allowing: BySelector,
    denying: BySelector,
}

/// The places of the rules of one effect among those about tools, in their order.
#[derive(Debug, Default)]
pub(crate) struct BySelector {
    every: Vec<usize>,
    one: BTreeMap<String, Vec<usize>>,
}

impl RulesByTool {
    pub(super) fn of(profile: &Profile) -> Self {
        let mut rules = Self::default();
        for (place, rule) in profile.rules.iter().enumerate() {
            let of_effect = match rule.effect {
                Effect::Allow => &mut rules.allowing,
                Effect::Deny => &mut rules.denying,
                Effect::Other => continue,
            };
            match &rule.selector {
                Selector::Every => of_effect.every.push(place),
                Selector::One(tool) => of_effect.one.entry(tool.clone()).or_default().push(place),
                Selector::None => {}
            }
        }
        rules
    }
}

impl BySelector {
    /// The first rules about a tool, at most so many.
    pub(super) fn first(&self, connector: &str, tool: &str, most: usize) -> Vec<usize> {
        // Neither name holds a slash.
        let one = self.one.get(&format!("{connector}/{tool}"));
        let lists = [Some(&self.every), one].into_iter().flatten();
        let mut places: Vec<_> = lists.flat_map(|it| it.iter().take(most)).copied().collect();
        places.sort_unstable();
        places.truncate(most);
        places
    }
}

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
    pub(super) fn allowed(&mut self, number: usize, step: &'a PlanStep) {
        let (connector, tool) = (&*step.connector.value, &*step.tool.value);
        let rules = &self.rules.by_tool;
        let told = Problems::LIMIT - self.denials.len();
        for place in rules.denying.first(connector, tool, told) {
            self.deny(number, PlanReason::RuleDenies(place));
        }
        if rules.allowing.first(connector, tool, 1).is_empty() {
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
