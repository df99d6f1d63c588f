//! `agent:engine/plan`

use crate::Component;
use crate::bindings::exports::agent::engine::plan::{
    self, AuthorizedStep, CallAnswer, CallPlanBorrow, CallVerdict, CoreBorrow, Diagnostic,
    EvaluationContextBorrow, Guest, GuestAuthorizedCall, GuestAuthorizedPlan, GuestCallPlan,
    GuestPlanPolicy, GuestToolsSnapshot, IndexBorrow, Limits, LockBorrow, PlanAnswer,
    PlanPolicyBorrow, PlanVerdict, ServerUse, ToolsSnapshotBorrow,
};
use crate::capability::EvaluationContext;
use crate::convert::all;
use crate::inputs::Index;
use crate::lockfile::Lock;
use crate::schemas::Core;
use agent_api::decide::{self, CallContext, PlanContext};
use agent_api::{self as api, lower, model};
use std::sync::Arc;

/// A one-call plan.
pub(crate) struct CallPlan(model::CallPlan);

/// A snapshot of the tools that servers offer.
pub(crate) struct ToolsSnapshot(model::ToolsSnapshot);

/// The facts about an authorized call that the host may read.
pub(crate) struct AuthorizedCall {
    json: String,
    server: String,
    version: String,
    endpoint: String,
    tool: String,
    arguments: String,
    needs_approval: bool,
}

/// The tool pool and the profile that decide sequential plans.
pub(crate) struct PlanPolicy(Arc<decide::PlanPolicy>);

/// A sequential plan that may run.
pub(crate) struct AuthorizedPlan(decide::AuthorizedPlan);

impl Guest for Component {
    type PlanPolicy = PlanPolicy;
    type AuthorizedPlan = AuthorizedPlan;
    type CallPlan = CallPlan;
    type ToolsSnapshot = ToolsSnapshot;
    type AuthorizedCall = AuthorizedCall;

    fn authorize_call(
        plan: CallPlanBorrow<'_>,
        index: IndexBorrow<'_>,
        lock: Option<LockBorrow<'_>>,
        catalogue: Option<ToolsSnapshotBorrow<'_>>,
        evaluation_context: Option<EvaluationContextBorrow<'_>>,
    ) -> CallAnswer {
        let plan = &plan.get::<CallPlan>().0;
        let context = CallContext {
            index: &index.get::<Index>().value,
            lock: lock.as_ref().map(|lock| &lock.get::<Lock>().0),
            catalogue: catalogue.as_ref().map(|it| &it.get::<ToolsSnapshot>().0),
            evaluation_context: evaluation_context
                .as_ref()
                .map(|it| &it.get::<EvaluationContext>().0),
        };
        let answer = api::CallAnswer::new(plan, context);
        CallAnswer {
            json: answer.json(),
            text: all(answer.text()),
            verdict: match answer.verdict() {
                decide::CallVerdict::Allowed(call) => {
                    let json = answer.authorized().unwrap_or_default();
                    let call = AuthorizedCall::new(call, json);
                    CallVerdict::Allowed(plan::AuthorizedCall::new(call))
                }
                decide::CallVerdict::NeedsMoreInfo(answer) => {
                    CallVerdict::NeedsMoreInfo((*answer).to_owned())
                }
                decide::CallVerdict::Denied(_) => CallVerdict::Denied(all(answer.diagnostics())),
            },
        }
    }

    fn authorize_plan(
        plan: Vec<u8>,
        rules: PlanPolicyBorrow<'_>,
        request: Option<Vec<u8>>,
        index: Option<IndexBorrow<'_>>,
        lock: Option<LockBorrow<'_>>,
        catalogue: Option<ToolsSnapshotBorrow<'_>>,
        evaluation_context: Option<EvaluationContextBorrow<'_>>,
    ) -> PlanAnswer {
        let plan = Arc::new(lower::plan(plan));
        let rules = &rules.get::<PlanPolicy>().0;
        let request = request.map(lower::request);
        let context = PlanContext {
            request: request.as_ref(),
            index: index.as_ref().map(|it| &*it.get::<Index>().value),
            lock: lock.as_ref().map(|it| &it.get::<Lock>().0),
            catalogue: catalogue.as_ref().map(|it| &it.get::<ToolsSnapshot>().0),
            evaluation_context: evaluation_context
                .as_ref()
                .map(|it| &it.get::<EvaluationContext>().0),
        };
        let answer = api::PlanAnswer::new(&plan, rules, context);
        let (report, text, found) = (answer.report(), answer.text(), answer.diagnostics());
        PlanAnswer {
            warnings: all(answer.warnings()),
            report,
            text: all(text),
            verdict: match answer.into_authorized() {
                Some(plan) => PlanVerdict::Allowed(plan::AuthorizedPlan::new(AuthorizedPlan(plan))),
                None => PlanVerdict::Denied(all(found)),
            },
        }
    }
}

impl AuthorizedCall {
    fn new(call: &decide::AuthorizedCall<'_>, json: String) -> Self {
        Self {
            json,
            server: call.server().id().to_owned(),
            version: call.server().version().to_owned(),
            endpoint: call.server().endpoint().to_owned(),
            tool: call.tool().to_owned(),
            arguments: call.arguments().to_owned(),
            needs_approval: call.needs_approval(),
        }
    }
}

impl GuestCallPlan for CallPlan {
    fn parse(text: Vec<u8>) -> Result<plan::CallPlan, Vec<Diagnostic>> {
        let plan = lower::call_plan(text).map_err(all)?;
        Ok(plan::CallPlan::new(Self(plan.value)))
    }
}

impl GuestToolsSnapshot for ToolsSnapshot {
    fn parse(text: Vec<u8>) -> Result<plan::ToolsSnapshot, Vec<Diagnostic>> {
        let catalogue = lower::tools_snapshot(text).map_err(all)?;
        Ok(plan::ToolsSnapshot::new(Self(catalogue.value)))
    }
}

impl GuestAuthorizedCall for AuthorizedCall {
    fn json(&self) -> String {
        self.json.clone()
    }

    fn digest(&self) -> String {
        lower::digest(&self.json)
    }

    fn server(&self) -> String {
        self.server.clone()
    }

    fn version(&self) -> String {
        self.version.clone()
    }

    fn endpoint(&self) -> String {
        self.endpoint.clone()
    }

    fn tool(&self) -> String {
        self.tool.clone()
    }

    fn arguments(&self) -> String {
        self.arguments.clone()
    }

    fn needs_approval(&self) -> bool {
        self.needs_approval
    }
}

impl GuestPlanPolicy for PlanPolicy {
    fn parse(
        tool_pool: Vec<u8>,
        profile: Vec<u8>,
        core: Option<CoreBorrow<'_>>,
    ) -> plan::PlanPolicy {
        let library = core.map(|core| Arc::clone(&core.get::<Core>().0));
        let rules = decide::PlanPolicy::new(tool_pool, profile, library);
        plan::PlanPolicy::new(Self(Arc::new(rules)))
    }
}

impl GuestAuthorizedPlan for AuthorizedPlan {
    fn json(&self) -> String {
        api::plan::authorized(&self.0).0
    }

    fn digest(&self) -> String {
        api::plan::authorized(&self.0).1
    }

    fn steps(&self) -> Vec<AuthorizedStep> {
        let plan = self.0.plan().into_iter();
        let steps = plan.flat_map(|plan| &plan.steps).zip(self.0.steps());
        let numbered = steps.enumerate();
        numbered
            .filter_map(|(number, (step, authorized))| {
                let binding = self.0.binding(number)?;
                Some(AuthorizedStep {
                    step_id: step.id.value.clone(),
                    connector_id: step.connector.value.clone(),
                    tool_id: step.tool.value.clone(),
                    driver_kind: binding.driver.kind().name().to_owned(),
                    limits: binding.limits.into(),
                    server: authorized.server().map(ServerUse::from),
                    needs_approval: authorized.needs_approval(),
                })
            })
            .collect()
    }
}

impl From<model::Limits> for Limits {
    fn from(limits: model::Limits) -> Self {
        Self {
            timeout_ms: limits.timeout_ms.value,
            max_input_bytes: limits.max_input_bytes.value,
            max_output_bytes: limits.max_output_bytes.value,
            max_log_bytes: limits.max_log_bytes.value,
        }
    }
}

impl From<&decide::ServerUse> for ServerUse {
    fn from(server: &decide::ServerUse) -> Self {
        Self {
            server: server.id.clone(),
            version: server.version.clone(),
            endpoint: server.endpoint.clone(),
            tool: server.tool.clone(),
        }
    }
}
