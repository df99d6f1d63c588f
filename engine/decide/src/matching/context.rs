//! The inputs that capabilities are decided under, besides manifest and index.

use super::policy_answers::PolicyAnswers;
use crate::policy_decision::{
    PolicyDecision, PolicyEngine, PolicyError, PolicyErrorKind, PolicyFact,
};
use agent_lower::{
    Candidate, PolicyInput, PolicyOccasion, PolicyPhase, PolicyQuestion, PolicyRequirement,
    candidates, input,
};
use agent_model::{CapabilityRequirement, Context, Health, Subject, Task, Tenant};
use std::sync::Arc;

/// The inputs that requirements of capabilities are decided under, besides manifest and index.
#[derive(Debug, Clone, Default)]
pub struct EvaluationContext {
    /// The task, whose requirements follow those of the manifest.
    pub task: Option<Arc<Task>>,
    /// The tenant, whose priorities rank the tools. A tenant that names a policy needs one.
    pub tenant: Option<Arc<Tenant>>,
    /// The server health snapshot; unlisted servers count as unhealthy. `None`: health is ignored.
    pub health: Option<Arc<Health>>,
    /// The policy. `None`: every tool is allowed.
    pub policy: Option<Arc<dyn PolicyEngine>>,
    /// Further input of the policy.
    pub context: Option<Arc<Context>>,
    /// The authenticated client, as further input of the policy. `None`: no client is
    /// authenticated.
    pub subject: Option<Arc<Subject>>,
}

impl EvaluationContext {
    /// Returns whether a policy decides: a given one, or one that is named and missing.
    pub(crate) fn has_policy(&self) -> bool {
        self.policy.is_some() || self.named_policy().is_some()
    }

    /// Returns whether the tenant decides calls by the calls before them.
    pub(crate) fn has_history_rules(&self) -> bool {
        let tenant = self.tenant.as_ref();
        let history = tenant.and_then(|it| it.history.as_ref());
        history.is_some_and(|it| it.rules.iter().any(|rule| !rule.is_log_only))
    }

    fn named_policy(&self) -> Option<&str> {
        let policy = self.tenant.as_ref()?.policy.as_ref()?;
        Some(&policy.value)
    }

    /// Evaluates the policy, if any, for tools ordered by server, version and tool.
    pub(super) fn policy_answers<'i>(
        &self,
        question: PolicyQuestion<'_>,
        tools: &mut dyn Iterator<Item = Candidate<'i>>,
    ) -> Option<PolicyAnswers> {
        let Some(policy) = &self.policy else {
            let missing = self.missing_policy()?;
            return Some(PolicyAnswers::failed((*missing).clone()));
        };
        let members = policy.candidate_members();
        let members = members.filter(|members| !members.contains("id"));
        Some(PolicyAnswers::ask(tools, members, |tools| {
            let input = self.input(question, tools);
            policy.ask(&input.text(PolicyOccasion::default()))
        }))
    }

    /// Returns the decision of a policy that the tenant names and that is missing: it allows
    /// nothing.
    pub(crate) fn missing_policy(&self) -> Option<Arc<PolicyDecision>> {
        if self.policy.is_some() {
            return None;
        }
        let named = self.named_policy()?;
        Some(Arc::new(PolicyDecision {
            answer: Err(PolicyError {
                kind: PolicyErrorKind::Undefined,
                detail: format!("the policy `{named}` was not given"),
                place: None,
            }),
            lines: Vec::new(),
        }))
    }

    /// Returns the input of a policy about tools ordered by server, version and tool.
    pub(crate) fn input(
        &self,
        question: PolicyQuestion<'_>,
        tools: &[Candidate<'_>],
    ) -> PolicyInput {
        input(
            question,
            self.task.as_deref(),
            self.tenant.as_deref(),
            self.context.as_deref(),
            self.subject.as_deref(),
            &candidates(tools),
        )
    }

    /// Returns what decided against a tool in a decision, as far as the evaluator knows.
    pub(super) fn policy_facts(
        &self,
        question: PolicyQuestion<'_>,
        tool: Candidate<'_>,
        held: &[u32],
    ) -> Vec<PolicyFact> {
        let Some(policy) = &self.policy else {
            return Vec::new();
        };
        let input = self
            .input(question, &[tool])
            .text(PolicyOccasion::default());
        policy.facts(&input, held)
    }
}

/// Returns the question about a requirement that is resolved.
pub(super) fn question(requirement: &CapabilityRequirement) -> PolicyQuestion<'_> {
    PolicyQuestion {
        phase: PolicyPhase::Resolve,
        requirement: PolicyRequirement::Capability(&requirement.capability),
        load: requirement.load,
    }
}
