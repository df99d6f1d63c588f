//! `agent:engine/policy`

use crate::Component;
use crate::bindings::exports::agent::engine::policy::{
    self, AskedTool, CallExplanation, ContextBorrow, Diagnostic, EvaluationContextBorrow, Guest,
    GuestContext, GuestPolicy, IndexBorrow, LockBorrow, MatchingBorrow, Notation, PolicyBorrow,
    PolicyDifference, TenantBorrow, TestOutcome, Tested, ToolName, WrittenPolicy,
};
use crate::capability::{EvaluationContext, Matching, Tenant};
use crate::convert::all;
use crate::inputs::Index;
use crate::lockfile::Lock;
use agent_api::{decide, lower, model, policy as rego, render};
use std::sync::Arc;

/// The value of a policy's `input.context`.
pub(crate) struct Context(Arc<model::Context>);

/// A compiled policy.
pub(crate) struct Policy(Arc<rego::Policy>);

impl Guest for Component {
    type Context = Context;
    type Policy = Policy;

    fn asked_tools(index: IndexBorrow<'_>) -> Vec<AskedTool> {
        let asked = rego::asked_tools(&index.get::<Index>().value).into_iter();
        let asked = asked.map(|it| AskedTool {
            server: it.server,
            tool: it.tool,
            about: it.about,
        });
        asked.collect()
    }

    fn write(index: IndexBorrow<'_>, allowed: Vec<ToolName>, source: String) -> WrittenPolicy {
        let allowed = allowed.into_iter().map(|it| (it.server, it.tool)).collect();
        let written = rego::written_policy(&index.get::<Index>().value, &allowed, &source);
        WrittenPolicy {
            policy: written.policy,
            tests: written.tests,
        }
    }

    fn difference(
        before: PolicyBorrow<'_>,
        before_tenant: Option<TenantBorrow<'_>>,
        after: PolicyBorrow<'_>,
        after_tenant: Option<TenantBorrow<'_>>,
        index: IndexBorrow<'_>,
        context: Option<ContextBorrow<'_>>,
    ) -> PolicyDifference {
        let context = context.as_ref().map(|it| &*it.get::<Context>().0);
        let index = &index.get::<Index>().value;
        let before = side(&before, before_tenant.as_ref());
        let after = side(&after, after_tenant.as_ref());
        let found = rego::policy_difference(before, after, index, context);
        let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
        PolicyDifference {
            drifts: found.drifts.iter().map(Into::into).collect(),
            asked: count(found.asked),
            left_out: count(found.left_out),
            sampled: all(found.sampled.into_iter().map(str::to_owned)),
        }
    }

    fn explain_call(
        policy: PolicyBorrow<'_>,
        tenant: Option<TenantBorrow<'_>>,
        index: IndexBorrow<'_>,
        context: Option<ContextBorrow<'_>>,
        tool: String,
        arguments: Vec<u8>,
        history: Vec<u8>,
    ) -> Result<CallExplanation, Vec<Diagnostic>> {
        let asked = rego::AskedCall {
            tool: &tool,
            arguments: &arguments,
            history: &history,
        };
        let calls = rego::explain_policy_call(
            &policy.get::<Policy>().0,
            tenant.as_ref().map(|it| &*it.get::<Tenant>().value),
            &index.get::<Index>().value,
            context.as_ref().map(|it| &*it.get::<Context>().0),
            asked,
        );
        let calls = calls.map_err(all)?;
        Ok(CallExplanation {
            allowed: calls.iter().all(decide::ExplainedCall::is_allowed),
            text: all(render::policy_call(&calls)),
            json: render::policy_call_json(&calls),
        })
    }

    fn test(policy: Vec<u8>, tests: Vec<u8>) -> Result<Vec<TestOutcome>, Vec<Diagnostic>> {
        let tested = rego::test(policy, tests).map_err(all)?;
        Ok(all(tested.outcomes))
    }

    fn test_with_coverage(policy: Vec<u8>, tests: Vec<u8>) -> Result<Tested, Vec<Diagnostic>> {
        let tested = rego::test(policy, tests).map_err(all)?;
        Ok(Tested {
            outcomes: all(tested.outcomes),
            unreached: all(tested.unreached),
        })
    }
}

fn side<'s>(
    policy: &'s PolicyBorrow<'_>,
    tenant: Option<&'s TenantBorrow<'_>>,
) -> rego::PolicySide<'s> {
    rego::PolicySide {
        policy: &policy.get::<Policy>().0,
        tenant: tenant.map(|it| &*it.get::<Tenant>().value),
    }
}

impl GuestContext for Context {
    fn parse(text: Vec<u8>, notation: Notation) -> Result<policy::Context, Vec<Diagnostic>> {
        let context = lower::context(text, notation.into()).map_err(all)?;
        Ok(policy::Context::new(Self(Arc::new(context.value))))
    }
}

impl GuestPolicy for Policy {
    fn parse(text: Vec<u8>) -> Result<policy::Policy, Vec<Diagnostic>> {
        let policy = rego::read(text).map_err(all)?;
        Ok(policy::Policy::new(Self(Arc::new(policy.value))))
    }

    fn digest(&self) -> String {
        decide::PolicyEngine::digest(&*self.0)
    }

    fn digest_for(&self, lock: LockBorrow<'_>) -> String {
        let locked = lock.get::<Lock>().0.policy.as_deref();
        decide::PolicyEngine::digest_for(&*self.0, locked)
    }

    fn govern(
        &self,
        evaluation_context: EvaluationContextBorrow<'_>,
        context: Option<ContextBorrow<'_>>,
    ) -> policy::EvaluationContext {
        let policy: Arc<dyn decide::PolicyEngine> = Arc::<rego::Policy>::clone(&self.0);
        policy::EvaluationContext::new(EvaluationContext(decide::EvaluationContext {
            policy: Some(policy),
            context: context.map(|context| Arc::clone(&context.get::<Context>().0)),
            ..evaluation_context.get::<EvaluationContext>().0.clone()
        }))
    }

    fn dead_rules(
        &self,
        index: Option<IndexBorrow<'_>>,
        tenant: Option<TenantBorrow<'_>>,
    ) -> Vec<Diagnostic> {
        let index = index.as_ref().map(|it| &*it.get::<Index>().value);
        let tenant = tenant.as_ref().map(|it| &*it.get::<Tenant>().value);
        all(rego::policy_remarks(
            &self.0,
            &rego::vocabulary(index, tenant),
        ))
    }

    fn never_allows(&self) -> Vec<Diagnostic> {
        all(rego::never_allows(&self.0))
    }

    fn unused_rules(&self, matching: MatchingBorrow<'_>) -> Vec<Diagnostic> {
        let matching = &matching.get::<Matching>().0;
        let policy_decisions =
            (0..matching.len()).filter_map(|number| matching.policy_decision(number));
        all(rego::unused_rules(&self.0, policy_decisions))
    }
}
