//! Whether a sequential plan may run \[3\].
//!
//! Every check that can be made before anything runs is made, for every step; what waits for the
//! output of an earlier step is named. A document that can't be read leaves out the checks that
//! need it, and nothing is allowed then.
//!
//! | module | checks |
//! |---|---|
//! | `references` | that the plan was made for this pool, this profile and this request |
//! | `profile` | rules and caps |
//! | `server` | tools of MCP servers against the lock |
//! | `input` | inputs that are written in the plan, and those that are there later |
//! | `flow` | inputs that are taken from earlier steps |
//! | `destination` | where connections may go |
//! | `schemas` | which schemas a step's input and output have to fit |
//! | `query` | what a user asks, before there is a plan |
//! | `authorized` | what may run, and the decisions of the run itself |

mod authorized;
mod destination;
mod flow;
mod input;
mod profile;
mod query;
mod references;
mod schemas;
mod server;
mod trace;

pub(super) use authorized::output_denials;
pub use authorized::{AuthorizedPlan, AuthorizedStep, Decided, RunDenial, ServerUse};
pub use destination::{DestinationDenial, authorize_destination};
pub use flow::FlowMismatch;
pub use input::InputDenial;
pub use query::{QueryDenial, decide_query};
pub use references::{Between, Referred, Stated};
pub use trace::{Compared, StepCheck, StepRecord};

use super::CallDenial;
use agent_diagnostic::{Finding, Problems};
use agent_json_schema::{Budget, JsonText, Library};
use agent_lower::{self, Validated, digest};
use agent_model::{
    Binding, Cap, Driver, Index, Input, Lock, Plan, PlanStep, Profile, Request, Rule, ToolPool,
    ToolsSnapshot,
};
use agent_text::Span;
use input::InputConsumer;
use profile::RulesByTool;
use server::KnownTool;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use trace::Open;

/// How many near names are told.
const NEAR: usize = 3;

/// The schema of requests.
const REQUEST_SCHEMA: &str = "env.mova_agent_request_v1";

/// The schemas that plans are decided by, sorted.
const SCHEMAS: [&str; 8] = [
    "ds.connector_core_v1",
    "ds.instruction_profile_core_v1",
    "ds.mova_agent_run_summary_v1",
    "ds.mova_agent_step_v1",
    "ds.mova_agent_tool_pool_v1",
    "ds.mova_schema_core_v1",
    "env.mova_agent_plan_v1",
    REQUEST_SCHEMA,
];

/// What plans are decided by: a tool pool and an instruction profile.
#[derive(Debug)]
pub struct PlanPolicy {
    /// The tool pool.
    pub pool: Arc<Validated<ToolPool>>,
    /// The instruction profile.
    pub profile: Arc<Validated<Profile>>,
    by_tool: Arc<RulesByTool>,
    library: Option<Arc<Library>>,
    digests: OnceLock<Vec<(&'static str, String)>>,
}

impl PlanPolicy {
    /// Examine both, over the project's own equivalents of MOVA's core, or over another core.
    pub fn new(tool_pool: Vec<u8>, profile: Vec<u8>, library: Option<Arc<Library>>) -> Self {
        let known = library.as_deref().unwrap_or(Library::own());
        let (profile, by_tool) = read_profile(profile, known);
        Self {
            pool: Arc::new(agent_lower::tool_pool(tool_pool, known)),
            profile,
            by_tool,
            library,
            digests: OnceLock::new(),
        }
    }

    /// Replaces documents over the same core. Shares one that stays, so that it is read once.
    pub fn with(&self, tool_pool: Option<Vec<u8>>, profile: Option<Vec<u8>>) -> Self {
        let known = self.library();
        let kept = || (Arc::clone(&self.profile), Arc::clone(&self.by_tool));
        let (profile, by_tool) = profile.map_or_else(kept, |it| read_profile(it, known));
        let pool = tool_pool.map(|it| Arc::new(agent_lower::tool_pool(it, known)));
        Self {
            pool: pool.unwrap_or_else(|| Arc::clone(&self.pool)),
            profile,
            by_tool,
            library: self.library.clone(),
            digests: OnceLock::new(),
        }
    }

    /// The schemas of the library that a plan is decided by, without or with a request, and their
    /// digests.
    pub fn schema_digests(
        &self,
        with_request: bool,
    ) -> impl Iterator<Item = &(&'static str, String)> {
        let all = self.digests.get_or_init(|| {
            let digest_of = |name: &&'static str| {
                let text = JsonText::read(self.library().text(name)?)?;
                Some((*name, digest(&text.root().canonical())))
            };
            SCHEMAS.iter().filter_map(digest_of).collect()
        });
        all.iter()
            .filter(move |(name, _)| with_request || *name != REQUEST_SCHEMA)
    }

    /// The first rules of the profile that allow a tool, at most `most`.
    pub fn allowing(&self, connector: &str, tool: &str, most: usize) -> Vec<&Rule> {
        let Some(profile) = &self.profile.value else {
            return Vec::new();
        };
        let places = self.by_tool.allowing.first(connector, tool, most);
        places
            .into_iter()
            .map(|place| &profile.rules[place])
            .collect()
    }

    /// The schemas that the project has.
    pub(crate) fn library(&self) -> &Library {
        self.library.as_deref().unwrap_or(Library::own())
    }
}

fn read_profile(
    profile: Vec<u8>,
    library: &Library,
) -> (Arc<Validated<Profile>>, Arc<RulesByTool>) {
    let profile = agent_lower::profile(profile, library);
    let by_tool = profile.value.as_ref().map(RulesByTool::of);
    (Arc::new(profile), Arc::new(by_tool.unwrap_or_default()))
}

/// What there is beside a plan and its rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanContext<'a> {
    /// What the plan answers.
    pub request: Option<&'a Validated<Request>>,
    /// The index of servers.
    pub index: Option<&'a Index>,
    /// What was locked.
    pub lock: Option<&'a Lock>,
    /// The tools that servers have at the moment. None: those of the index.
    pub catalogue: Option<&'a ToolsSnapshot>,
}

/// One reason why a plan may not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDenial<'a> {
    /// The number of the step that it is about; none if it is about all of them.
    pub step: Option<usize>,
    /// The reason.
    pub reason: PlanReason<'a>,
}

/// Why a plan or a step may not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanReason<'a> {
    /// The plan was made for another document.
    OtherDocument(Stated<'a>),
    /// The profile is not in force: this is its status.
    Inactive(&'a str),
    /// The profile says what it is for, and plans are not among it.
    OtherEnvelopes,
    /// The profile does not bound this.
    CapMissing(Cap),
    /// There are more steps than the cap.
    TooManySteps {
        /// The cap.
        cap: u64,
    },
    /// The pool has no such connector.
    NoConnector {
        /// Those that are spelled nearly so.
        nearest: Vec<&'a str>,
    },
    /// The connector has no such tool.
    NoTool {
        /// Those that are spelled nearly so.
        nearest: Vec<&'a str>,
    },
    /// No rule allows the tool.
    NoRule,
    /// A rule denies it: its number among the profile's rules about tools.
    RuleDenies(usize),
    /// A limit of the binding is above the cap.
    AboveCap {
        /// The number of the binding in the pool's text.
        binding: usize,
        /// The name of the limit.
        limit: &'static str,
        /// What it is.
        value: u64,
        /// Where that stands in the pool.
        span: Span,
        /// The cap.
        cap: Cap,
        /// What that is.
        most: u64,
    },
    /// There is no index to find the locked server in.
    NoIndex,
    /// The lock, the index or the catalogue is against it, or the tool's input schema is.
    Server(CallDenial<'a>),
    /// The lock has the server in several versions, and the binding names none.
    SeveralVersions {
        /// The number of the binding in the pool's text.
        binding: usize,
        /// The versions.
        versions: Vec<&'a str>,
    },
    /// The server is not at one of the destinations.
    ServerElsewhere {
        /// Where it is.
        endpoint: &'a str,
    },
    /// The input that is written in the plan.
    Input(InputDenial<'a>),
    /// The input that is taken from an earlier step can't be what is needed.
    Flow(FlowMismatch<'a>),
    /// The step names a schema that there is not.
    NoSchema {
        /// `input_schema_ref` or `output_schema_ref`.
        member: &'static str,
        /// The name.
        name: &'a str,
        /// Where it stands.
        span: Span,
    },
}

/// A check that waits for an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deferred {
    /// The step that waits.
    pub step: usize,
    /// What is checked then.
    pub check: RunCheck,
}

/// What is checked while a plan runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunCheck {
    /// That the output has the part that the input is taken from.
    InputFrom,
    /// That the input is what its schemas ask for, and not too large.
    Input,
    /// Where a connection goes.
    Destination,
    /// That the host has addresses that may be reached.
    Addresses,
    /// That the output is what its schemas ask for, and not too large.
    Output,
}

impl RunCheck {
    /// Its name in a report.
    pub fn name(self) -> &'static str {
        match self {
            Self::InputFrom => "input_from",
            Self::Input => "input",
            Self::Destination => "destination",
            Self::Addresses => "addresses",
            Self::Output => "output",
        }
    }
}

/// The answer to a plan.
#[derive(Debug)]
pub struct PlanAnswer<'a> {
    /// Why it may not run, by what the documents say together. What is wrong with a document by
    /// itself is told by its findings.
    pub denials: Vec<PlanDenial<'a>>,
    /// The record of each step: its checks in their order. A plan that can't be read has none.
    pub steps: Vec<Vec<StepRecord<'a>>>,
    /// The steps that a human has to approve of.
    pub approvals: Vec<usize>,
    /// How much of its budget it took.
    pub spent: u64,
    /// What may run: there if and only if nothing is against it.
    pub authorized: Option<AuthorizedPlan>,
}

impl PlanAnswer<'_> {
    /// Returns the checks that wait for the run, in the order of the steps.
    pub fn deferred(&self) -> impl Iterator<Item = Deferred> {
        (0..self.steps.len()).flat_map(|step| {
            let checks = self.deferred_of(step).into_iter();
            checks.map(move |check| Deferred { step, check })
        })
    }

    /// Returns the checks of a step that wait for the run.
    pub fn deferred_of(&self, step: usize) -> Vec<RunCheck> {
        let records = self.steps.get(step).into_iter().flatten();
        let mut checks: Vec<_> = records.flat_map(|it| it.deferred.iter().copied()).collect();
        checks.sort_unstable();
        checks
    }

    /// Returns the check that a problem of the plan fails.
    pub fn failed_check(&self, finding: &Finding) -> Option<StepCheck> {
        match finding.denial {
            Some(number) => self.denials.get(number)?.reason.check(),
            None => input_of(finding).map(|_| StepCheck::Input),
        }
    }
}

/// The number of the step whose input a problem of the plan's text is about.
fn input_of(finding: &Finding) -> Option<usize> {
    let rest = finding.diagnostic.pointer().strip_prefix("/plan/steps/")?;
    let (number, member) = rest.split_once('/')?;
    member.starts_with("input").then(|| number.parse().ok())?
}

/// Decide whether a plan may run.
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
        open: Open::default(),
        trace: Vec::new(),
        steps: Vec::new(),
        tools: BTreeMap::new(),
    };
    if let Some(plan) = &plan.value {
        decision.plan(plan);
    }
    let Decision {
        denials,
        trace,
        steps,
        budget,
        ..
    } = decision;
    let request = context.request;
    let sound = plan.sound().is_some()
        && rules.pool.sound().is_some()
        && rules.profile.sound().is_some()
        && request.is_none_or(|request| request.sound().is_some());
    let approvals = steps.iter().enumerate();
    let approvals = approvals
        .filter(|(_, step)| step.needs_approval())
        .map(|(number, _)| number)
        .collect();
    let authorized = (sound && denials.is_empty()).then(|| {
        let against = Decided::of(context);
        AuthorizedPlan::new(Arc::clone(plan), Arc::clone(rules), steps, against)
    });
    PlanAnswer {
        denials,
        steps: trace,
        approvals,
        spent: budget.spent(),
        authorized,
    }
}

struct Decision<'a> {
    /// The plan's.
    text: &'a str,
    rules: &'a PlanPolicy,
    context: PlanContext<'a>,
    /// One for all schemas: a plan ends within it, however many steps it has.
    budget: Budget,
    /// The steps whose input the plan's own text has wrong.
    refused_inputs: BTreeSet<usize>,
    denials: Vec<PlanDenial<'a>>,
    /// The outcomes of the step that is being checked.
    open: Open,
    trace: Vec<Vec<StepRecord<'a>>>,
    steps: Vec<AuthorizedStep>,
    /// The tools of servers that steps have called, by server, version and tool.
    tools: BTreeMap<(&'a str, Option<&'a str>, &'a str), KnownTool<'a>>,
}

impl<'a> Decision<'a> {
    /// Past [`Problems::LIMIT`] nothing is added: nobody reads more.
    fn deny(&mut self, step: impl Into<Option<usize>>, reason: PlanReason<'a>) {
        if let Some(check) = reason.check() {
            self.open.fail(check);
        }
        if self.denials.len() < Problems::LIMIT {
            self.denials.push(PlanDenial {
                step: step.into(),
                reason,
            });
        }
    }

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
        self.open = Open::default();
        if self.refused_inputs.contains(&number) {
            self.open.fail(StepCheck::Input);
        }
        if rules.profile.value.is_some() {
            self.allowed(number, step);
        }
        let pool = rules.pool.value.as_ref();
        let binding = pool.and_then(|pool| self.binding(number, step, pool));
        let authorized = match pool.zip(binding) {
            Some((pool, binding)) => self.bound(plan, number, pool, binding),
            None => AuthorizedStep::new(0, None, Arc::default()),
        };
        self.trace.push(self.record(step, binding, &authorized));
        self.steps.push(authorized);
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
        if let Some(profile) = &rules.profile.value {
            self.limits(number, binding, profile);
        }
        let (server, tool) = self.server(number, binding);
        let schemas = self.applicable(number, step, pool, binding);
        let consumer = InputConsumer {
            binding,
            schemas: &schemas,
            tool: Some(&tool),
        };
        match &step.input {
            Input::Literal(span) => self.literal(number, *span, consumer),
            Input::From { .. } => self.flow(number, plan, pool, consumer),
            Input::Refused => {}
        }
        if matches!(
            binding.driver,
            Driver::Http { .. } | Driver::McpProxy { .. }
        ) {
            self.open.defer(RunCheck::Addresses);
        }
        self.open.defer(RunCheck::Output);
        let place = pool.binding_place(&binding.connector, &binding.tool);
        AuthorizedStep::new(place.unwrap_or_default(), server, tool)
    }

    /// What the tool of a step is bound to.
    fn binding(
        &mut self,
        number: usize,
        step: &'a PlanStep,
        pool: &'a ToolPool,
    ) -> Option<&'a Binding> {
        let (connector, tool) = (&*step.connector.value, &*step.tool.value);
        let found = pool.binding(connector, tool);
        if found.is_none() {
            let reason = if pool.has_connector(connector) {
                let names = pool.of_connector(connector).iter().map(|it| &*it.tool);
                PlanReason::NoTool {
                    nearest: self.budget.likeness().nearest(tool, names, NEAR),
                }
            } else {
                let names = pool.connectors.iter().map(|it| &**it);
                PlanReason::NoConnector {
                    nearest: self.budget.likeness().nearest(connector, names, NEAR),
                }
            };
            self.deny(number, reason);
        }
        found
    }
}
