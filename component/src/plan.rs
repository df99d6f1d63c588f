//! `agent:engine/plan`

use crate::Component;
use crate::bindings::exports::agent::engine::plan::{
    self, AuthorizedStep, CallAnswer, CallPlanBorrow, CallResult, CallVerdict, CoreBorrow,
    Diagnostic, Edit, Finding, Fix, Guest, GuestAuthorizedCall, GuestAuthorizedPlan, GuestCallPlan,
    GuestPlanRules, GuestToolCatalogue, IndexBorrow, Limits, LockBorrow, PlanAnswer,
    PlanRulesBorrow, PlanVerdict, Problem, ServerUse, Settled, StepOutput, ToolCatalogueBorrow,
};
use crate::convert::all;
use crate::inputs::Index;
use crate::lockfile::Lock;
use crate::schemas::Core;
use agent_api::decide::{self, CallContext, PlanContext};
use agent_api::diagnostic::{self, Code};
use agent_api::text::Text;
use agent_api::{explain, lower, model, render};
use std::sync::Arc;

/// A one-call plan.
pub(crate) struct CallPlan(model::CallPlan);

/// The tools that servers have.
pub(crate) struct ToolCatalogue(model::ToolCatalogue);

/// What the host gets to know of a call that may be made.
pub(crate) struct AuthorizedCall {
    json: String,
    server: String,
    version: String,
    endpoint: String,
    tool: String,
    arguments: String,
    output_schema: Option<String>,
    needs_approval: bool,
}

/// What sequential plans are decided by.
pub(crate) struct PlanRules(Arc<decide::PlanRules>);

/// A sequential plan that may run.
pub(crate) struct AuthorizedPlan(decide::AuthorizedPlan);

impl Guest for Component {
    type PlanRules = PlanRules;
    type AuthorizedPlan = AuthorizedPlan;
    type CallPlan = CallPlan;
    type ToolCatalogue = ToolCatalogue;
    type AuthorizedCall = AuthorizedCall;

    fn authorize_call(
        plan: CallPlanBorrow<'_>,
        index: IndexBorrow<'_>,
        lock: Option<LockBorrow<'_>>,
        catalogue: Option<ToolCatalogueBorrow<'_>>,
    ) -> CallAnswer {
        let plan = &plan.get::<CallPlan>().0;
        let context = CallContext {
            index: &index.get::<Index>().value,
            lock: lock.as_ref().map(|lock| &lock.get::<Lock>().0),
            catalogue: catalogue.as_ref().map(|it| &it.get::<ToolCatalogue>().0),
        };
        let verdict = decide::authorize_call(plan, context);
        CallAnswer {
            json: render::call_verdict_json(&verdict),
            text: all(render::call_verdict(&verdict)),
            verdict: match &verdict {
                decide::CallVerdict::Allowed(call) => {
                    CallVerdict::Allowed(plan::AuthorizedCall::new(AuthorizedCall::from(call)))
                }
                decide::CallVerdict::NeedsMoreInfo(answer) => {
                    CallVerdict::NeedsMoreInfo((*answer).to_owned())
                }
                decide::CallVerdict::Denied(_) => {
                    CallVerdict::Denied(all(explain::call_denials(plan, &verdict)))
                }
            },
        }
    }

    fn authorize_plan(
        plan: Vec<u8>,
        rules: PlanRulesBorrow<'_>,
        request: Option<Vec<u8>>,
        index: Option<IndexBorrow<'_>>,
        lock: Option<LockBorrow<'_>>,
        catalogue: Option<ToolCatalogueBorrow<'_>>,
    ) -> PlanAnswer {
        let plan = Arc::new(lower::plan(plan));
        let rules = &rules.get::<PlanRules>().0;
        let request = request.map(lower::request);
        let context = PlanContext {
            request: request.as_ref(),
            index: index.as_ref().map(|it| &*it.get::<Index>().value),
            lock: lock.as_ref().map(|it| &it.get::<Lock>().0),
            catalogue: catalogue.as_ref().map(|it| &it.get::<ToolCatalogue>().0),
        };
        let answer = decide::authorize_plan(&plan, rules, context);
        let mut findings = explain::plan_findings(&plan, rules, context, &answer);
        let fixes = explain::plan_fixes(&plan, rules, context, &answer, &findings);
        let report = render::PlanReport {
            plan: &plan,
            rules,
            context,
            answer: &answer,
            findings: &findings,
            fixes: &fixes,
        };
        let (json, text) = (
            render::validation_report(&report),
            all(render::plan_answer(&report)),
        );
        explain::tell_fixes(&mut findings, &fixes);
        PlanAnswer {
            report: json,
            text,
            verdict: match answer.authorized {
                Some(plan) => PlanVerdict::Allowed(plan::AuthorizedPlan::new(AuthorizedPlan(plan))),
                None => {
                    let found = findings.into_iter().zip(fixes);
                    let found = found.map(|(found, fix)| finding(&plan.text, rules, found, fix));
                    PlanVerdict::Denied(found.collect())
                }
            },
        }
    }
}

impl From<&decide::AuthorizedCall<'_>> for AuthorizedCall {
    fn from(call: &decide::AuthorizedCall<'_>) -> Self {
        Self {
            json: render::authorized_call(call),
            server: call.server().id().to_owned(),
            version: call.server().version().to_owned(),
            endpoint: call.server().endpoint().to_owned(),
            tool: call.tool().to_owned(),
            arguments: call.arguments().to_owned(),
            output_schema: call.output_schema().map(str::to_owned),
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

impl GuestToolCatalogue for ToolCatalogue {
    fn parse(text: Vec<u8>) -> Result<plan::ToolCatalogue, Vec<Diagnostic>> {
        let catalogue = lower::tool_catalogue(text).map_err(all)?;
        Ok(plan::ToolCatalogue::new(Self(catalogue.value)))
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

    fn settle(&self, payload: Vec<u8>, summary: Option<Vec<u8>>) -> Settled {
        let schema = self.output_schema.as_deref();
        let (result, problems) = explain::settled(schema, payload, summary);
        Settled {
            result: result.into(),
            problems: problems.into_iter().map(problem).collect(),
        }
    }
}

impl GuestPlanRules for PlanRules {
    fn parse(
        tool_pool: Vec<u8>,
        profile: Vec<u8>,
        core: Option<CoreBorrow<'_>>,
    ) -> plan::PlanRules {
        let library = core.map(|core| Arc::clone(&core.get::<Core>().0));
        let rules = decide::PlanRules::new(tool_pool, profile, library);
        plan::PlanRules::new(Self(Arc::new(rules)))
    }

    fn decide_input(&self, query: String) -> Vec<Problem> {
        let denials = decide::decide_query(&query, &self.0.profile).err();
        let denials = denials.into_iter().flatten();
        denials
            .map(|denial| problem((Code::InputDenied, explain::query_denial(&denial))))
            .collect()
    }
}

impl GuestAuthorizedPlan for AuthorizedPlan {
    fn json(&self) -> String {
        render::authorized_plan(&self.0)
    }

    fn digest(&self) -> String {
        lower::digest(&self.json())
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
                    driver_kind: binding.driver.kind().to_owned(),
                    limits: binding.limits.into(),
                    server: authorized.server().map(ServerUse::from),
                    needs_approval: authorized.needs_approval(),
                })
            })
            .collect()
    }

    fn resolve_input(&self, step: u32, outputs: Vec<StepOutput>) -> Result<String, Problem> {
        let outputs = outputs.iter().map(|it| (it.step as usize, &*it.output));
        let outputs: Vec<_> = outputs.collect();
        let resolved = self.0.resolve_input(step as usize, &outputs);
        resolved.map_err(|denial| problem(explain::run_denial(&denial)))
    }

    fn check_input(&self, step: u32, input: String) -> Vec<Problem> {
        problems(&self.0.check_input(step as usize, &input))
    }

    fn check_output(&self, step: u32, output: String) -> Vec<Problem> {
        problems(&self.0.check_output(step as usize, &output))
    }

    fn authorize_destination(
        &self,
        step: u32,
        url: String,
        addresses: Vec<String>,
    ) -> Result<Vec<String>, Vec<Problem>> {
        let addresses = explain::addresses(&addresses).map_err(|told| vec![problem(told)])?;
        match self.0.destination(step as usize, &url, &addresses) {
            Ok(allowed) => Ok(allowed.iter().map(ToString::to_string).collect()),
            Err(denials) => Err(problems(&denials)),
        }
    }
}

fn problem((code, message): (Code, String)) -> Problem {
    Problem {
        code: code.into(),
        message,
    }
}

fn problems(denials: &[decide::RunDenial<'_>]) -> Vec<Problem> {
    let told = denials.iter().map(explain::run_denial);
    told.map(problem).collect()
}

impl From<decide::CallResult> for CallResult {
    fn from(result: decide::CallResult) -> Self {
        match result {
            decide::CallResult::ToolResult => Self::ToolResult,
            decide::CallResult::ToolResultWithSummary => Self::ToolResultWithSummary,
            decide::CallResult::NeedsMoreInfo => Self::NeedsMoreInfo,
            decide::CallResult::Blocked => Self::Blocked,
            decide::CallResult::Error => Self::Error,
        }
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

fn finding(
    plan: &Text,
    rules: &decide::PlanRules,
    finding: diagnostic::Finding,
    fix: Option<diagnostic::Fix>,
) -> Finding {
    Finding {
        diagnostic: finding.diagnostic.into(),
        reason: finding.reason.map(Into::into),
        pointer: finding.pointer,
        rule: finding.rule,
        step: finding.step.map(|step| step as u32),
        fix: fix.map(|fix| Fix {
            widens: fix.widens(),
            edits: all(explain::fix_edits(plan, rules, &fix)),
        }),
    }
}

impl From<explain::Edit> for Edit {
    fn from(edit: explain::Edit) -> Self {
        Self {
            place: edit.place.into(),
            replacement: edit.replacement,
        }
    }
}
