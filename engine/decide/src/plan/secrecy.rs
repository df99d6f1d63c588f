//! The parts of inputs and outputs that a schema marks as secret.

use super::authorized::{AuthorizedPlan, Parts};
use super::policy::PlanPolicy;
use super::schemas::{Applicable, Side};
use super::server::ToolSchemas;
use agent_json_schema::{Budget, Json, JsonText, OverBudget, with_schema};
use agent_model::{Input, Plan};
use agent_text::Span;

impl AuthorizedPlan {
    /// Returns the places of secret parts in the input of a step, by its schemas. Returns nothing for text
    /// that is not JSON.
    pub fn secret_input(&self, step: usize, input: &str) -> Vec<Span> {
        self.secret_parts(step, Side::Input, input)
    }

    /// Returns the places of secret parts in the output of a step, by its schemas.
    pub fn secret_output(&self, step: usize, output: &str) -> Vec<Span> {
        self.secret_parts(step, Side::Output, output)
    }

    fn secret_parts(&self, step: usize, side: Side, text: &str) -> Vec<Span> {
        let Some((parts, value)) = self.parts(step).zip(JsonText::strict(text)) else {
            return Vec::new();
        };
        let Parts { authorized, .. } = parts;
        marked(
            &parts.schemas(side),
            &authorized.schemas,
            side,
            value.root(),
        )
    }
}

/// Returns the places of secret parts of the literal inputs of a plan, whether or not it may run. The schemas
/// are those of the pool, of the drivers and of the project; those of MCP servers are known only for an
/// [authorized plan](AuthorizedPlan::secret_input).
pub fn secret_inputs(plan: &Plan, text: &str, rules: &PlanPolicy) -> Vec<Span> {
    let mut found = Vec::new();
    for (number, step) in plan.steps.iter().enumerate() {
        if let Input::Literal(span) = &step.input {
            let parts = secret_values(plan, number, false, span.of(text), rules);
            found.extend(parts.into_iter().map(|part| Span {
                start: part.start + span.start,
                end: part.end + span.start,
            }));
        }
    }
    found
}

/// Returns the places of secret parts of a step's input, or of its output if `is_output`, by the schemas of
/// the pool, of the drivers and of the project. Returns nothing for text that is not JSON.
pub fn secret_values(
    plan: &Plan,
    step: usize,
    is_output: bool,
    text: &str,
    rules: &PlanPolicy,
) -> Vec<Span> {
    let side = if is_output { Side::Output } else { Side::Input };
    let (Some(pool), Some(step)) = (&rules.pool.value, plan.steps.get(step)) else {
        return Vec::new();
    };
    let binding = pool.binding(&step.connector.value, &step.tool.value);
    let Some((binding, value)) = binding.zip(JsonText::read(text)) else {
        return Vec::new();
    };
    let schemas = Applicable::of(rules, pool, step, binding, side);
    marked(&schemas, &ToolSchemas::default(), side, value.root())
}

/// Returns the parts that one of the schemas marks. A value that can't be searched is secret as a whole.
fn marked(
    schemas: &Applicable<'_>,
    tool: &ToolSchemas,
    side: Side,
    value: Json<'_, '_>,
) -> Vec<Span> {
    let mut budget = Budget::new();
    let mut found = Vec::new();
    let mut add = |parts: Result<Vec<Span>, OverBudget>| match parts {
        Ok(parts) => found.extend(parts),
        Err(_) => found.push(value.span()),
    };
    for schema in &schemas.known {
        let parts = schema.with(|schema| schema.secret_parts(value, &mut budget));
        parts.into_iter().for_each(&mut add);
    }
    let own = match side {
        Side::Input => &tool.input,
        Side::Output => &tool.output,
    };
    if let Some(text) = own {
        let parts = with_schema(text, &mut budget, |schema, budget| {
            let schema = schema.ok()?;
            Some(schema.secret_parts(value, budget))
        });
        parts.flatten().into_iter().for_each(&mut add);
    }
    found
}
