//! The decision on a sequential plan \[3\].
//!
//! Every check that is possible before the run is made for every step. Checks that depend on an
//! earlier step's output are reported as deferred. A document that can't be read skips the checks
//! that need it, and the plan is denied.
//!
//! | module | content |
//! |---|---|
//! | `references` | the plan was made for this pool, this profile and this request |
//! | `profile` | rules and caps |
//! | `server` | tools of MCP servers against the lock |
//! | `input` | literal inputs, and those of the run |
//! | `flow` | inputs that are taken from earlier steps |
//! | `destination` | allowed destinations of connections |
//! | `schemas` | the schemas that apply to a step's input and output |
//! | `secrecy` | the parts of inputs and outputs that a schema marks as secret |
//! | `listing` | the live tools of a server |
//! | `query` | the user's query, before there is a plan |
//! | `record`, `trace` | the record of each step |
//! | `authorized` | the authorized plan, and the decisions of the run |

mod authorized;
mod decision;
mod denial;
mod destination;
mod flow;
mod input;
mod listing;
mod policy;
mod profile;
mod query;
mod record;
mod references;
mod schemas;
mod secrecy;
mod server;
mod trace;

pub(super) use authorized::output_denials;
pub use authorized::{AuthorizedPlan, AuthorizedStep, PlanBasis, RunDenial};
pub use decision::PlanContext;
pub use denial::{Between, FlowMismatch, PlanDenial, PlanReason, ReferenceMismatch, Referred};
pub use destination::{DestinationDenial, authorize_destination, authorize_url};
pub use input::InputDenial;
pub use listing::ListingDenial;
pub use policy::PlanPolicy;
pub use query::{QueryDenial, decide_query};
pub use record::{Compared, RunCheck, StepCheck, StepRecord};
pub use secrecy::{secret_inputs, secret_values};
pub use server::ServerUse;

use crate::call_record::CallDenial;
use crate::locked_policy::CallPolicy;
use crate::locked_tool::{CallContext, NEAR, Target};
use agent_diagnostic::Finding;
use agent_json_schema::{Budget, JsonText};
use agent_lower::{PolicyOccasion, Validated};
use agent_model::{Binding, Driver, Input, Origin, Plan, PlanStep, ToolPool};
use agent_text::sort::sort_by;
use decision::Decision;
use input::{InputConsumer, denials};
use record::StepOutcomes;
use schemas::{Applicable, Side};
use server::{CalledTool, KnownTool};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A check that is deferred to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deferred {
    /// The number of the step.
    pub step: usize,
    /// The check.
    pub check: RunCheck,
}

/// The answer to a plan.
#[derive(Debug)]
pub struct PlanAnswer<'a> {
    /// The reasons to deny the plan that depend on several documents. The findings of a document
    /// report its own problems.
    pub denials: Vec<PlanDenial<'a>>,
    /// The record of each step: its checks in order. A plan that can't be read has no records.
    pub steps: Vec<Vec<StepRecord<'a>>>,
    /// The steps that a human must approve.
    pub approvals: Vec<usize>,
    /// The spent part of the budget.
    pub spent: u64,
    /// The authorized plan, if and only if there is no problem.
    pub authorized: Option<AuthorizedPlan>,
}

impl PlanAnswer<'_> {
    /// Returns the deferred checks, in the order of the steps.
    pub fn deferred(&self) -> impl Iterator<Item = Deferred> {
        (0..self.steps.len()).flat_map(|step| {
            let checks = self.deferred_of(step).into_iter();
            checks.map(move |check| Deferred { step, check })
        })
    }

    /// Returns the deferred checks of a step.
    pub fn deferred_of(&self, step: usize) -> Vec<RunCheck> {
        let records = self.steps.get(step).into_iter().flatten();
        let mut checks: Vec<_> = records.flat_map(|it| it.deferred.iter().copied()).collect();
        sort_by(&mut checks, Ord::cmp);
        checks
    }

    /// Returns the check that a problem of the plan fails.
    pub fn failed_check(&self, finding: &Finding) -> Option<StepCheck> {
        match finding.denial {
            Some(number) => self.denials.get(number)?.reason.check(),
            None if input_of(finding).is_some() => Some(StepCheck::Input),
            None => is_of_target(finding).then_some(StepCheck::Pool),
        }
    }
}

/// Returns the number of the step whose input a finding of the plan's text is about.
fn input_of(finding: &Finding) -> Option<usize> {
    let rest = finding.diagnostic.pointer().strip_prefix("/plan/steps/")?;
    let (number, member) = rest.split_once('/')?;
    member.starts_with("input").then(|| number.parse().ok())?
}

/// Returns whether a finding of the plan's text is about the name of a step's tool.
fn is_of_target(finding: &Finding) -> bool {
    let pointer = finding.diagnostic.pointer();
    let member = pointer.rsplit('/').next();
    let is_name = matches!(member, Some("connector_id" | "tool_id"));
    is_name && pointer.starts_with("/plan/steps/")
}

/// Returns whether a finding of the pool is about a binding, its schemas aside.
fn is_faulty(binding: &Binding, of_pool: &[Finding]) -> bool {
    let at = format!("/bindings/{}/", binding.number);
    of_pool.iter().any(|finding| {
        let member = finding.diagnostic.pointer().strip_prefix(&*at);
        member.is_some_and(|it| !it.starts_with("input_schema") && !it.starts_with("output_schema"))
    })
}

/// Decides on a plan.
pub fn authorize_plan<'a>(
    plan: &'a Arc<Validated<Plan>>,
    rules: &'a Arc<PlanPolicy>,
    context: PlanContext<'a>,
) -> PlanAnswer<'a> {
    let mut decision = Decision {
        text: plan.text.as_str(),
        rules,
        context,
        budget: Budget::new(),
        refused_inputs: plan.findings.iter().filter_map(input_of).collect(),
        denials: Vec::new(),
        says_other_policy: false,
        told: BTreeSet::new(),
        outcomes: StepOutcomes::default(),
        trace: Vec::new(),
        steps: Vec::new(),
        tools: BTreeMap::new(),
    };
    if let Some(plan) = &plan.value {
        decision.plan(plan);
    }
    let (denials, steps) = (decision.denials, decision.steps);
    let request = context.request;
    let sound = plan.sound().is_some()
        && rules.pool.sound().is_some()
        && rules.profile.sound().is_some()
        && request.is_none_or(|request| request.sound().is_some());
    let approvals = (0..).zip(&steps).filter(|(_, step)| step.needs_approval());
    let approvals = approvals.map(|(number, _)| number).collect();
    let authorized = (sound && denials.is_empty()).then(|| {
        let request = request.and_then(|request| request.value.as_ref());
        let basis = PlanBasis {
            lock: context.lock.cloned(),
            request: request.map(|request| request.digest.clone()),
        };
        AuthorizedPlan {
            plan: Arc::clone(plan),
            rules: Arc::clone(rules),
            steps,
            basis,
        }
    });
    PlanAnswer {
        denials,
        steps: decision.trace,
        approvals,
        spent: decision.budget.spent(),
        authorized,
    }
}

impl<'a> Decision<'a> {
    fn plan(&mut self, plan: &'a Plan) {
        let rules = self.rules;
        self.references(plan);
        if let Some(profile) = &rules.profile.value {
            self.caps(plan, profile);
        }
        for (number, step) in plan.steps.iter().enumerate() {
            self.step(plan, number, step);
        }
    }

    fn step(&mut self, plan: &'a Plan, number: usize, step: &'a PlanStep) {
        let rules = self.rules;
        self.outcomes = StepOutcomes::default();
        if self.refused_inputs.contains(&number) {
            self.outcomes.failed.push(StepCheck::Input);
        }
        if self.is_past_cap(number) {
            self.outcomes.failed.push(StepCheck::Limits);
        }
        // A finding of the plan reports a name that is missing or malformed.
        if step.is_refused {
            self.outcomes.failed.push(StepCheck::Pool);
        }
        let pool = rules.pool.value.as_ref().filter(|_| !step.is_refused);
        let binding = pool.and_then(|pool| self.binding(number, step, pool));
        if rules.profile.value.is_some() && !step.is_refused {
            // A tool that does not exist is one problem, whatever the rules say of it.
            if pool.is_none() || binding.is_some() {
                self.allowed(number, step);
            }
        }
        let authorized = match (pool, binding) {
            (Some(pool), Some(binding)) => self.bound(plan, number, pool, binding),
            (Some(pool), None) => {
                self.almost_bound(plan, number, pool);
                AuthorizedStep::default()
            }
            (None, _) => AuthorizedStep::default(),
        };
        self.trace.push(self.record(step, binding, &authorized));
        self.steps.push(authorized);
    }

    /// Returns the binding of a step's tool.
    fn binding(
        &mut self,
        number: usize,
        step: &'a PlanStep,
        pool: &'a ToolPool,
    ) -> Option<&'a Binding> {
        let (connector, tool) = (&*step.connector.value, &*step.tool.value);
        let found = pool.binding(connector, tool);
        if found.is_none() {
            let likeness = self.budget.likeness();
            let reason = if pool.has_connector(connector) {
                let names = pool.of_connector(connector).iter().map(|it| &*it.tool);
                PlanReason::NoTool {
                    nearest: likeness.nearest(tool, names, NEAR),
                }
            } else {
                let names = pool.connectors.iter().map(|it| &**it);
                PlanReason::NoConnector {
                    nearest: likeness.nearest(connector, names, NEAR),
                }
            };
            self.deny(number, reason);
        }
        found
    }

    /// Makes the checks behind a name that is almost one of the pool, as if it were corrected. The step is
    /// denied whatever they say.
    fn almost_bound(&mut self, plan: &'a Plan, number: usize, pool: &'a ToolPool) {
        let step = &plan.steps[number];
        let (connector, tool) = (&*step.connector.value, &*step.tool.value);
        // Past its budget a decision compares no names.
        if let Some(binding) = pool.meant(connector, tool, self.budget.likeness()) {
            self.denied(number, &binding.connector, &binding.tool);
            self.bound(plan, number, pool, binding);
            self.outcomes.deferred.clear();
        }
    }

    /// Makes the checks that need the binding of a step.
    fn bound(
        &mut self,
        plan: &'a Plan,
        number: usize,
        pool: &'a ToolPool,
        binding: &'a Binding,
    ) -> AuthorizedStep {
        let (rules, step) = (self.rules, &plan.steps[number]);
        if is_faulty(binding, &rules.pool.findings) {
            self.outcomes.failed.push(StepCheck::Pool);
        }
        if let Some(profile) = &rules.profile.value {
            self.limits(number, binding, profile);
        }
        let CalledTool {
            server,
            schemas: tool,
            policy,
        } = self.server(number, binding);
        let [schemas, of_output] = [Side::Input, Side::Output]
            .map(|side| Applicable::of(rules, pool, step, binding, side));
        for (check, side) in [
            (StepCheck::Input, &schemas),
            (StepCheck::Output, &of_output),
        ] {
            if !rules.pool.findings.is_empty() && side.is_unusable() {
                self.outcomes.failed.push(check);
            }
        }
        self.missing_schema(number, "input_schema_ref", &schemas);
        self.missing_schema(number, "output_schema_ref", &of_output);
        let consumer = InputConsumer {
            binding,
            schemas: &schemas,
            tool: Some(&tool),
        };
        match &step.input {
            Input::Literal(span) => {
                // Invalid JSON is refused with its document.
                let input = JsonText::read(span.of(self.text));
                let found = input
                    .map(|input| denials(input.root(), span.start, consumer, &mut self.budget));
                for denial in found.into_iter().flatten() {
                    self.deny(number, PlanReason::Input(denial));
                }
            }
            Input::From { .. } => self.flow(number, plan, pool, consumer),
            Input::Refused => {}
        }
        if let Some(policy) = policy.as_deref() {
            self.policy(number, &step.input, policy);
        }
        if matches!(
            binding.driver,
            Driver::Http { .. } | Driver::McpProxy { .. }
        ) {
            self.outcomes.deferred.push(RunCheck::Addresses);
        }
        self.outcomes.deferred.push(RunCheck::Output);
        let place = pool.binding_place(&binding.connector, &binding.tool);
        AuthorizedStep {
            binding: place.unwrap_or_default(),
            server,
            schemas: tool,
            policy,
        }
    }

    /// Asks the policy about a call, unless its input depends on an earlier output.
    fn policy(&mut self, number: usize, input: &Input, policy: &CallPolicy) {
        match (policy, input) {
            (CallPolicy::Other(_), _) if self.says_other_policy => {
                self.outcomes.failed.push(StepCheck::Policy);
            }
            (CallPolicy::Questions(_), Input::From { .. }) => {
                self.outcomes.deferred.push(RunCheck::Policy);
            }
            // Past the cap nothing is asked, since a plan may have any number of steps.
            (CallPolicy::Questions(_), _) if self.is_past_cap(number) => {}
            (CallPolicy::Questions(_), Input::Refused) => {}
            (CallPolicy::Questions(_), Input::Literal(span)) => {
                let arguments = span.of(self.text);
                if JsonText::read(arguments).is_some() {
                    for denial in policy.denials(PolicyOccasion::of_call(arguments)) {
                        self.deny(number, PlanReason::Server(denial));
                    }
                }
            }
            (CallPolicy::Other(mismatch), _) => {
                self.says_other_policy = true;
                let denial = CallDenial::OtherPolicy(mismatch.clone());
                self.deny(number, PlanReason::Server(denial));
            }
        }
    }

    fn missing_schema(&mut self, number: usize, member: &'static str, found: &Applicable<'a>) {
        if let Some(wanted) = found.missing {
            let reason = PlanReason::NoSchema {
                member,
                name: &wanted.value,
                span: wanted.span,
            };
            self.deny(number, reason);
        }
    }

    /// Checks the tool of an MCP server that a binding calls, if it calls one.
    fn server(&mut self, number: usize, binding: &'a Binding) -> CalledTool {
        let Driver::McpProxy {
            server,
            version,
            tool,
            ..
        } = &binding.driver
        else {
            return Default::default();
        };
        let Some(index) = self.context.index else {
            if self.context.lock.is_none() {
                self.deny(number, PlanReason::Server(CallDenial::LockMissing));
            }
            self.deny(number, PlanReason::NoIndex);
            return Default::default();
        };
        let target = Target {
            server: &server.value,
            version: version.as_deref(),
            tool: &tool.value,
        };
        let context = CallContext {
            index,
            lock: self.context.lock,
            catalogue: self.context.catalogue,
            evaluation_context: self.context.evaluation_context,
        };
        // The entry and the definition are read once for all steps that call the tool.
        let key = (target.server, target.version, target.tool);
        let known = self.tools.remove(&key);
        let known = known.unwrap_or_else(|| KnownTool::find(target, context, &mut self.budget));
        for denial in &known.denials {
            self.deny(number, PlanReason::Server(denial.clone()));
        }
        if let Some(denial) = context.history_unknown() {
            self.deny(number, PlanReason::Server(denial));
        }
        if let [_, _, ..] = &*known.versions {
            let reason = PlanReason::SeveralVersions {
                binding: binding.number,
                versions: known.versions.clone(),
            };
            self.deny(number, reason);
        }
        // A package is started by the host, which connects to nothing.
        let urls = known.endpoints.iter().filter(|it| !it.starts_with("pkg:"));
        for endpoint in urls {
            let origin = Origin::of(endpoint);
            if !origin.is_ok_and(|origin| binding.destinations.contains(&origin)) {
                self.deny(number, PlanReason::ServerElsewhere { endpoint });
            }
        }
        let found = CalledTool {
            server: known.server.clone(),
            schemas: Arc::clone(&known.schemas),
            // The policy is asked about locked tools only.
            policy: known.policy.clone().filter(|_| !known.versions.is_empty()),
        };
        self.tools.insert(key, known);
        found
    }
}
