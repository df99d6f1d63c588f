//! The authorized plan, and the decisions of its run \[3, 4.2\].

use super::destination::{DestinationDenial, allowed_target, authorize_destination};
use super::input::{InputConsumer, InputDenial, denials};
use super::listing::{ListingDenial, check_listing};
use super::policy::PlanPolicy;
use super::schemas::{Applicable, Side};
use super::server::{ServerUse, ToolSchemas};
use crate::call_record::CallDenial;
use crate::locked_policy::{CallPolicy, LockedDenial};
use agent_json_schema::{Budget, Json, JsonText, OverBudget, Refused, ToolSchema, Violation};
use agent_lower::{PolicyOccasion, Validated, rule};
use agent_model::{Binding, Context, Input, Lock, Origin, Plan, PlanStep, ToolPool};
use core::net::IpAddr;
use std::sync::Arc;

/// An authorized step.
#[derive(Debug, Clone, Default)]
pub struct AuthorizedStep {
    /// The place of its binding in the pool.
    pub(super) binding: usize,
    pub(super) server: Option<Arc<ServerUse>>,
    pub(super) schemas: Arc<ToolSchemas>,
    /// The policy on its call, if one decides.
    pub(super) policy: Option<Arc<CallPolicy>>,
}

impl AuthorizedStep {
    /// Returns the tool of an MCP server that the step calls, if any.
    pub fn server(&self) -> Option<&ServerUse> {
        self.server.as_deref()
    }

    /// Returns whether a human must approve the step.
    pub fn needs_approval(&self) -> bool {
        self.server.as_ref().is_some_and(|it| it.needs_approval)
    }
}

/// The documents, besides plan and policy, that a plan was decided against.
#[derive(Debug, Clone, Default)]
pub struct PlanBasis {
    /// The lock.
    pub lock: Option<Lock>,
    /// The digest of the request.
    pub request: Option<String>,
}

/// An authorized plan. Only [`authorize_plan`](super::authorize_plan) makes one.
#[derive(Debug)]
pub struct AuthorizedPlan {
    pub(super) plan: Arc<Validated<Plan>>,
    pub(super) rules: Arc<PlanPolicy>,
    pub(super) steps: Vec<AuthorizedStep>,
    pub(super) basis: PlanBasis,
}

/// A reason to end a step during the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunDenial<'a> {
    /// The plan has no such step.
    NoStep,
    /// The step that the input is taken from has no output yet.
    NoOutput {
        /// The earlier step.
        step: &'a str,
    },
    /// The input is not strict JSON.
    InputNotJson,
    /// The output is not strict JSON.
    OutputNotJson,
    /// The output of the earlier step has no such part.
    NoSuchPart {
        /// The earlier step.
        step: &'a str,
        /// The pointer to the part.
        pointer: &'a str,
    },
    /// The input is refused.
    Input(InputDenial<'a>),
    /// The policy denies the call, in this version of the server.
    Policy(LockedDenial),
    /// The connection is denied.
    Destination(DestinationDenial),
    /// The server does not list the locked tool.
    Listing(ListingDenial),
    /// The output is above its limit.
    OutputTooLarge {
        /// Its bytes, as received.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// The output violates a schema.
    OutputInvalid {
        /// The JSON pointer to the part.
        pointer: String,
        /// A predicate about the part.
        message: String,
        /// The rule: the name of the schema and a pointer.
        rule: String,
    },
    /// The check exceeds the budget.
    OverBudget(OverBudget),
}

impl AuthorizedPlan {
    /// Returns the plan, which every authorized plan has.
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.value.as_ref()
    }

    /// Returns the text of the plan.
    pub fn text(&self) -> &str {
        self.plan.text.as_str()
    }

    /// Returns the tool pool and the profile.
    pub fn rules(&self) -> &PlanPolicy {
        &self.rules
    }

    /// Returns the other documents of the decision.
    pub fn basis(&self) -> &PlanBasis {
        &self.basis
    }

    /// Returns the steps, in the order of the plan.
    pub fn steps(&self) -> &[AuthorizedStep] {
        &self.steps
    }

    /// Returns the binding of a step's tool.
    pub fn binding(&self, step: usize) -> Option<&Binding> {
        self.parts(step).map(|parts| parts.binding)
    }

    pub(super) fn parts(&self, number: usize) -> Option<Parts<'_>> {
        let authorized = self.steps.get(number)?;
        let pool = self.rules.pool.value.as_ref()?;
        Some(Parts {
            rules: &self.rules,
            pool,
            step: self.plan()?.steps.get(number)?,
            binding: pool.bindings.get(authorized.binding)?,
            authorized,
        })
    }

    /// Returns the input of a step, by the outputs of earlier steps: each with its number, as JSON
    /// \[3, 4.2, 5a\].
    ///
    /// # Errors
    /// The earlier step has no output, or the output has no such part.
    pub fn resolve_input(
        &self,
        step: usize,
        outputs: &[(usize, &str)],
    ) -> Result<String, RunDenial<'_>> {
        let plan = self.plan().ok_or(RunDenial::NoStep)?;
        let found = plan.steps.get(step).ok_or(RunDenial::NoStep)?;
        match &found.input {
            Input::Literal(span) => Ok(span.of(self.text()).to_owned()),
            // No authorized plan has such an input.
            Input::Refused => Err(RunDenial::NoStep),
            Input::From { step, pointer, .. } => {
                let name = &*plan.steps[*step].id.value;
                let output = outputs.iter().find(|(number, _)| number == step);
                let (_, output) = output.ok_or(RunDenial::NoOutput { step: name })?;
                let text = JsonText::strict(output).ok_or(RunDenial::OutputNotJson)?;
                let part = text.root().at(&pointer.value);
                let part = part.ok_or(RunDenial::NoSuchPart {
                    step: name,
                    pointer: &pointer.value,
                })?;
                Ok(part.span().of(output).to_owned())
            }
        }
    }

    /// Returns the reasons to refuse an input of a step \[3, 4.2, 5b and 5c\], those of the policy
    /// too. `context` is the policy's context at this time. It replaces that of the decision on the
    /// plan.
    pub fn check_input(
        &self,
        step: usize,
        input: &str,
        context: Option<&Context>,
    ) -> Vec<RunDenial<'_>> {
        let Some(parts) = self.parts(step) else {
            return vec![RunDenial::NoStep];
        };
        let Some(text) = JsonText::strict(input) else {
            return vec![RunDenial::InputNotJson];
        };
        let schemas = parts.schemas(Side::Input);
        let consumer = InputConsumer {
            binding: parts.binding,
            schemas: &schemas,
            tool: Some(&parts.authorized.schemas),
        };
        let found = denials(text.root(), 0, consumer, &mut Budget::new());
        let found = found.into_iter().map(RunDenial::Input);
        let occasion = PolicyOccasion {
            context,
            ..PolicyOccasion::of_call(input)
        };
        let policy = parts.authorized.policy.iter();
        let denied = policy.flat_map(|it| it.denials(occasion));
        let denied = denied.filter_map(|denial| match denial {
            CallDenial::Policy(denial) => Some(RunDenial::Policy(denial)),
            // A step with another reason is not authorized.
            _ => None,
        });
        found.chain(denied).collect()
    }

    /// Returns the reasons to refuse the output of a step \[3, 4.2, 5f\]. The output of an MCP tool is
    /// `structuredContent` of the result, or `content` without it.
    pub fn check_output(&self, step: usize, output: &str) -> Vec<RunDenial<'_>> {
        let Some(parts) = self.parts(step) else {
            return vec![RunDenial::NoStep];
        };
        let Some(text) = JsonText::strict(output) else {
            return vec![RunDenial::OutputNotJson];
        };
        let root = text.root();
        let mut found = Vec::new();
        let most = parts.binding.limits.max_output_bytes.value;
        let bytes = output.len() as u64;
        if bytes > most {
            found.push(RunDenial::OutputTooLarge { bytes, most });
        }
        let mut budget = Budget::new();
        for schema in parts.schemas(Side::Output).known {
            let checked = schema.check(root, &mut budget);
            found.extend(violations(checked, &schema.name));
        }
        if let Some(text) = &parts.authorized.schemas.output {
            found.extend(output_denials(ToolSchema::Text(text), root, &mut budget));
        }
        found
    }

    /// Returns the origin of a URL that a step may connect to, and the target of its request. The host
    /// is resolved next.
    ///
    /// # Errors
    /// The URL is not at a destination of the step's binding.
    pub fn target(&self, step: usize, url: &str) -> Result<(Origin, String), RunDenial<'_>> {
        let binding = self.binding(step).ok_or(RunDenial::NoStep)?;
        allowed_target(binding, url).map_err(RunDenial::Destination)
    }

    /// Compares the tool of a step with a live `tools/list` result of its server.
    ///
    /// # Errors
    /// The server does not list the locked tool.
    pub fn check_listing(&self, step: usize, list: &str) -> Result<(), RunDenial<'_>> {
        let server = self.steps.get(step).and_then(|it| it.server());
        let server = server.ok_or(RunDenial::NoStep)?;
        check_listing(server, list).map_err(RunDenial::Listing)
    }

    /// Returns the addresses that the connection of a step may use.
    ///
    /// # Errors
    /// Every reason against the connection.
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

/// The documents of a step.
pub(super) struct Parts<'p> {
    rules: &'p PlanPolicy,
    pool: &'p ToolPool,
    step: &'p PlanStep,
    binding: &'p Binding,
    pub(super) authorized: &'p AuthorizedStep,
}

impl<'p> Parts<'p> {
    pub(super) fn schemas(&self, side: Side) -> Applicable<'p> {
        Applicable::of(self.rules, self.pool, self.step, self.binding, side)
    }
}

fn violations(
    checked: Result<Vec<Violation>, OverBudget>,
    schema: &str,
) -> Vec<RunDenial<'static>> {
    let violations = match checked {
        Ok(violations) => violations.into_iter(),
        Err(over) => return vec![RunDenial::OverBudget(over)],
    };
    let denials = violations.map(|violation| RunDenial::OutputInvalid {
        rule: rule(&violation, schema),
        pointer: violation.instance,
        message: violation.message,
    });
    denials.collect()
}

/// Returns the reasons of the tool's own schema to refuse an output. A schema that can't be used
/// refuses every output.
pub(crate) fn output_denials(
    schema: ToolSchema<'_>,
    output: Json<'_, '_>,
    budget: &mut Budget,
) -> Vec<RunDenial<'static>> {
    const NAME: &str = "`outputSchema` of the tool";
    let found = schema.with(budget, |schema, budget| match schema {
        Ok(schema) => violations(schema.check_json(output, budget), NAME),
        Err(Refused::OverBudget(over)) => vec![RunDenial::OverBudget(over)],
        Err(Refused::Invalid(errors)) => {
            let error = errors.first().map(|error| RunDenial::OutputInvalid {
                pointer: String::new(),
                message: format!("can't be checked: {}", error.message()),
                rule: format!("{NAME}#{}", error.pointer),
            });
            Vec::from_iter(error)
        }
    });
    found.unwrap_or_default()
}
