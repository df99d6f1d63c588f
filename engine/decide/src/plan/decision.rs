//! A decision on a plan while its checks are made.

use super::authorized::AuthorizedStep;
use super::denial::{PlanDenial, PlanReason};
use super::policy::PlanPolicy;
use super::record::{StepOutcomes, StepRecord};
use super::server::KnownTool;
use crate::matching::EvaluationContext;
use agent_diagnostic::Problems;
use agent_json_schema::Budget;
use agent_lower::Validated;
use agent_model::{Index, Lock, Request, ToolsSnapshot};
use std::collections::{BTreeMap, BTreeSet};

/// The inputs of a decision other than the plan and its policy.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanContext<'a> {
    /// The request that the plan answers.
    pub request: Option<&'a Validated<Request>>,
    /// The index of servers.
    pub index: Option<&'a Index>,
    /// The lock.
    pub lock: Option<&'a Lock>,
    /// The present tools of the servers; `None` for those of the index.
    pub catalogue: Option<&'a ToolsSnapshot>,
    /// The policy with its tenant, task and context. Without one no policy decides.
    pub evaluation_context: Option<&'a EvaluationContext>,
}

pub(super) struct Decision<'a> {
    /// The text of the plan.
    pub(super) text: &'a str,
    pub(super) rules: &'a PlanPolicy,
    pub(super) context: PlanContext<'a>,
    /// One for all schemas: a decision ends within it, however many steps the plan has.
    pub(super) budget: Budget,
    /// The steps whose input lowering refused.
    pub(super) refused_inputs: BTreeSet<usize>,
    pub(super) denials: Vec<PlanDenial<'a>>,
    /// Whether a denial says that the policy is not the locked one, which it says once.
    pub(super) says_other_policy: bool,
    /// The limits of bindings that were denied.
    pub(super) told: BTreeSet<(usize, &'static str)>,
    /// The outcomes of the present step.
    pub(super) outcomes: StepOutcomes,
    pub(super) trace: Vec<Vec<StepRecord<'a>>>,
    pub(super) steps: Vec<AuthorizedStep>,
    /// The tools of servers so far, by server, version and tool.
    pub(super) tools: BTreeMap<(&'a str, Option<&'a str>, &'a str), KnownTool<'a>>,
}

impl<'a> Decision<'a> {
    /// Records a denial. Past [`Problems::LIMIT`] only the failed check is recorded.
    pub(super) fn deny(&mut self, step: impl Into<Option<usize>>, reason: PlanReason<'a>) {
        self.outcomes.failed.extend(reason.check());
        if self.denials.len() < Problems::LIMIT {
            self.denials.push(PlanDenial {
                step: step.into(),
                reason,
            });
        }
    }
}
