//! What may run, and what is decided while it does \[3, 4.2\].

use super::destination::{DestinationDenial, authorize_destination};
use super::input::{InputConsumer, InputDenial, denials};
use super::schemas::{Applicable, Side};
use super::{PlanContext, PlanPolicy};
use agent_json_schema::{Budget, Json, JsonText, OverBudget, Refused, Violation, with_schema};
use agent_lower::{Validated, rule};
use agent_model::{Binding, Input, Lock, Plan, PlanStep, ToolPool};
use core::net::IpAddr;
use std::sync::Arc;

/// The tool of an MCP server that a step calls, as it was locked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerUse {
    /// The server's id.
    pub id: String,
    /// The server's version.
    pub version: String,
    /// Where it is reached.
    pub endpoint: String,
    /// The tool's name.
    pub tool: String,
    /// The integrity of the server's entry in the index.
    pub integrity: String,
    /// The digest of the tool's definition.
    pub definition: String,
    /// Whether a human has to approve of the call.
    pub needs_approval: bool,
}

/// The schemas that the tool of an MCP server has itself, as JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolSchemas {
    /// Whether the tool is listed: one without an input schema can't be called.
    pub(super) listed: bool,
    pub(super) input: Option<String>,
    pub(super) output: Option<String>,
}

/// A step that may run.
#[derive(Debug, Clone)]
pub struct AuthorizedStep {
    /// The place of its binding in the pool.
    binding: usize,
    server: Option<Arc<ServerUse>>,
    pub(super) schemas: Arc<ToolSchemas>,
}

impl AuthorizedStep {
    pub(super) fn new(
        binding: usize,
        server: Option<Arc<ServerUse>>,
        schemas: Arc<ToolSchemas>,
    ) -> Self {
        Self {
            binding,
            server,
            schemas,
        }
    }

    /// The tool of an MCP server that it calls, if it does.
    pub fn server(&self) -> Option<&ServerUse> {
        self.server.as_deref()
    }

    pub(super) fn server_use(&self) -> Option<&Arc<ServerUse>> {
        self.server.as_ref()
    }

    /// Whether a human has to approve of it first.
    pub fn needs_approval(&self) -> bool {
        self.server.as_ref().is_some_and(|it| it.needs_approval)
    }
}

/// What it was decided against that is not among the rules.
#[derive(Debug, Clone, Default)]
pub struct Decided {
    /// The lock.
    pub lock: Option<Lock>,
    /// The digest of the request.
    pub request: Option<String>,
}

impl Decided {
    pub(super) fn of(context: PlanContext<'_>) -> Self {
        let request = context.request.and_then(|request| request.value.as_ref());
        Self {
            lock: context.lock.cloned(),
            request: request.map(|request| request.digest.clone()),
        }
    }
}

/// A plan that may run. There is no other way to one than [`authorize_plan`](super::authorize_plan).
#[derive(Debug)]
pub struct AuthorizedPlan {
    plan: Arc<Validated<Plan>>,
    rules: Arc<PlanPolicy>,
    steps: Vec<AuthorizedStep>,
    against: Decided,
}

/// Why a step ends while a plan runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunDenial<'a> {
    /// There is no such step.
    NoStep,
    /// The step that the input is taken from has given nothing yet.
    NoOutput {
        /// That step.
        step: &'a str,
    },
    /// What it gave is no strict JSON.
    NotJson,
    /// What it gave has no such part.
    NoSuchPart {
        /// That step.
        step: &'a str,
        /// The pointer to the part.
        pointer: &'a str,
    },
    /// The input is not what it has to be.
    Input(InputDenial<'a>),
    /// The connection may not be made.
    Destination(DestinationDenial),
    /// The output has more bytes than it may have.
    OutputTooLarge {
        /// How many it has.
        bytes: u64,
        /// How many it may have.
        most: u64,
    },
    /// The output is not as a schema asks.
    OutputInvalid {
        /// Which part, as a JSON pointer.
        pointer: String,
        /// A predicate about it.
        message: String,
        /// Where a schema says so.
        rule: String,
    },
    /// The tool says that it failed.
    ToolFailed,
    /// The tool has an output schema, and returned no `structuredContent`.
    NoStructuredContent,
    /// It takes too much to tell.
    OverBudget(OverBudget),
}

impl AuthorizedPlan {
    pub(super) fn new(
        plan: Arc<Validated<Plan>>,
        rules: Arc<PlanPolicy>,
        steps: Vec<AuthorizedStep>,
        against: Decided,
    ) -> Self {
        Self {
            plan,
            rules,
            steps,
            against,
        }
    }

    /// The plan. It is there: nothing else is authorised.
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.value.as_ref()
    }

    /// The text of the plan.
    pub fn text(&self) -> &str {
        self.plan.text.as_str()
    }

    /// What it was decided by.
    pub fn rules(&self) -> &PlanPolicy {
        &self.rules
    }

    /// What else it was decided against.
    pub fn against(&self) -> &Decided {
        &self.against
    }

    /// The steps, in the order of the plan.
    pub fn steps(&self) -> &[AuthorizedStep] {
        &self.steps
    }

    /// What the tool of a step is bound to.
    pub fn binding(&self, step: usize) -> Option<&Binding> {
        self.parts(step).map(|parts| parts.binding)
    }

    fn parts(&self, number: usize) -> Option<Parts<'_>> {
        let authorized = self.steps.get(number)?;
        let pool = self.rules.pool.value.as_ref()?;
        Some(Parts {
            rules: &self.rules,
            pool,
            step: self.plan()?.steps.get(number)?,
            binding: pool.bindings.get(authorized.binding)?,
            tool: &authorized.schemas,
        })
    }

    /// The input of a step, by what earlier steps gave: each by its number, as JSON \[3, 4.2, 5a\].
    ///
    /// # Errors
    /// What it is taken from is not there.
    pub fn resolve_input(
        &self,
        step: usize,
        outputs: &[(usize, &str)],
    ) -> Result<String, RunDenial<'_>> {
        let plan = self.plan().ok_or(RunDenial::NoStep)?;
        let found = plan.steps.get(step).ok_or(RunDenial::NoStep)?;
        match &found.input {
            Input::Literal(span) => Ok(span.of(self.text()).to_owned()),
            // An authorised plan has none.
            Input::Refused => Err(RunDenial::NoStep),
            Input::From { step, pointer, .. } => {
                let name = &*plan.steps[*step].id.value;
                let output = outputs.iter().find(|(number, _)| number == step);
                let (_, output) = output.ok_or(RunDenial::NoOutput { step: name })?;
                let text = strict(output)?;
                let part = text.root().at(&pointer.value);
                let part = part.ok_or(RunDenial::NoSuchPart {
                    step: name,
                    pointer: &pointer.value,
                })?;
                Ok(part.span().of(output).to_owned())
            }
        }
    }

    /// Why a step is not given an input; nothing if it is \[3, 4.2, 5b and 5c\].
    pub fn check_input(&self, step: usize, input: &str) -> Vec<RunDenial<'_>> {
        let Some(parts) = self.parts(step) else {
            return vec![RunDenial::NoStep];
        };
        if let Err(denial) = strict(input) {
            return vec![denial];
        }
        let schemas = parts.schemas(Side::Input);
        let consumer = InputConsumer {
            binding: parts.binding,
            schemas: &schemas,
            tool: Some(parts.tool),
        };
        let found = denials(input, 0, consumer, &mut Budget::new());
        found.into_iter().map(RunDenial::Input).collect()
    }

    /// Why the output of a step is not taken; nothing if it is \[3, 4.2, 5f\]. Of an MCP tool it is
    /// `structuredContent` of the result, or `content` where there is none.
    pub fn check_output(&self, step: usize, output: &str) -> Vec<RunDenial<'_>> {
        let Some(parts) = self.parts(step) else {
            return vec![RunDenial::NoStep];
        };
        let text = match strict(output) {
            Ok(text) => text,
            Err(denial) => return vec![denial],
        };
        let root = text.root();
        let mut found = Vec::new();
        let canonical = root.canonical();
        let most = parts.binding.limits.max_output_bytes.value;
        if canonical.len() as u64 > most {
            let bytes = canonical.len() as u64;
            found.push(RunDenial::OutputTooLarge { bytes, most });
        }
        let mut budget = Budget::new();
        for schema in parts.schemas(Side::Output).known {
            let checked = schema.check(root, &mut budget);
            add(checked, &schema.name, &mut found);
        }
        if let Some(text) = &parts.tool.output {
            found.extend(output_denials(text, root, &mut budget));
        }
        found
    }

    /// Where the connection for a step may go.
    ///
    /// # Errors
    /// Every reason against it.
    pub fn destination(
        &self,
        step: usize,
        url: &str,
        addresses: &[IpAddr],
    ) -> Result<Vec<IpAddr>, Vec<RunDenial<'_>>> {
        let binding = self.binding(step).ok_or(vec![RunDenial::NoStep])?;
        authorize_destination(binding, url, addresses)
            .map_err(|denials| denials.into_iter().map(RunDenial::Destination).collect())
    }
}

/// What belongs to a step.
struct Parts<'p> {
    rules: &'p PlanPolicy,
    pool: &'p ToolPool,
    step: &'p PlanStep,
    binding: &'p Binding,
    tool: &'p ToolSchemas,
}

impl<'p> Parts<'p> {
    fn schemas(&self, side: Side) -> Applicable<'p> {
        Applicable::of(self.rules, self.pool, self.step, self.binding, side)
    }
}

/// Strict JSON: one value, and nothing around it.
fn strict(text: &str) -> Result<JsonText<'_>, RunDenial<'static>> {
    agent_lower::strict(text).ok_or(RunDenial::NotJson)
}

fn add(checked: Result<Vec<Violation>, OverBudget>, schema: &str, found: &mut Vec<RunDenial<'_>>) {
    match checked {
        Ok(violations) => {
            for violation in violations {
                let rule = rule(&violation, schema);
                found.push(RunDenial::OutputInvalid {
                    pointer: violation.instance,
                    message: violation.message,
                    rule,
                });
            }
        }
        Err(over) => found.push(RunDenial::OverBudget(over)),
    }
}

/// What an output is not by the tool's own schema. One that can't be used accepts nothing.
pub(crate) fn output_denials(
    schema: &str,
    output: Json<'_, '_>,
    budget: &mut Budget,
) -> Vec<RunDenial<'static>> {
    const NAME: &str = "`outputSchema` of the tool";
    let mut found = Vec::new();
    with_schema(schema, budget, |schema, budget| match schema {
        Ok(schema) => add(schema.check_json(output, budget), NAME, &mut found),
        Err(Refused::OverBudget(over)) => found.push(RunDenial::OverBudget(over)),
        Err(Refused::Invalid(errors)) => {
            found.extend(errors.first().map(|error| RunDenial::OutputInvalid {
                pointer: String::new(),
                message: format!("can't be checked: {}", error.message()),
                rule: format!("{NAME}#{}", error.pointer),
            }));
        }
    });
    found
}
