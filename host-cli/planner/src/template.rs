//! Plans without a model.

use crate::error::{PlannerError, PlannerErrorKind};
use crate::request::{PlannerRequest, Tool};
use crate::smallest_value::smallest_value;
use crate::words::words;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::num::NonZeroUsize;

/// The driver of tools that return their input.
const NOOP: &str = "noop";
/// The planner's name in the roles of a plan.
const PLANNER: &str = "template";
/// The executor's name in the roles of a plan.
const EXECUTOR: &str = "agent";

/// The planner that needs no model: a step for each tool whose name or description has a word of the
/// goal, in the order of the catalogue. Without such a tool, it plans the first noop tool. Inputs are
/// the smallest that fit the schemas of the tools, as far as they can be derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Template {
    /// Maximum number of steps.
    pub steps: NonZeroUsize,
}

impl Default for Template {
    /// One step.
    fn default() -> Self {
        Self {
            steps: NonZeroUsize::MIN,
        }
    }
}

/// `env.mova_agent_plan_v1`.
#[derive(Serialize)]
struct Envelope<'a> {
    envelope_id: &'static str,
    verb: &'static str,
    roles: Roles,
    plan: Plan<'a>,
}

#[derive(Serialize)]
struct Roles {
    planner: &'static str,
    executor: &'static str,
}

#[derive(Serialize)]
struct Plan<'a> {
    plan_id: String,
    request_id: &'a str,
    tool_pool_ref: &'a RawValue,
    instruction_profile_ref: &'a RawValue,
    steps: Vec<Step<'a>>,
}

#[derive(Serialize)]
struct Step<'a> {
    step_id: String,
    connector_id: &'a str,
    tool_id: &'a str,
    input: Value,
}

impl Template {
    /// Returns the bytes of the plan.
    pub(crate) fn plan(self, request: &PlannerRequest) -> Result<Vec<u8>, PlannerError> {
        let goal = words(&request.goal);
        let fits = |tool: &&Tool| {
            let description = tool.description.as_deref().unwrap_or_default();
            let tool = words(&format!("{} {description}", tool.tool_id));
            !goal.is_disjoint(&tool)
        };
        let mut tools: Vec<_> = request.tools.iter().filter(fits).collect();
        tools.truncate(self.steps.get());
        if tools.is_empty() {
            let noop = request.tools.iter().find(|tool| tool.driver_kind == NOOP);
            tools.extend(noop);
        }
        if tools.is_empty() {
            let message = "no tool has a word of the goal in its name or description, and the \
                           tool pool has no noop tool";
            return Err(PlannerError::new(PlannerErrorKind::NoTool, message));
        }
        let steps = tools.into_iter().zip(1..).map(|(tool, number)| {
            Ok(Step {
                step_id: format!("step-{number}"),
                connector_id: &tool.connector_id,
                tool_id: &tool.tool_id,
                input: input(tool, &request.goal)?,
            })
        });
        let steps = steps.collect::<Result<_, serde_json::Error>>();
        let envelope = Envelope {
            envelope_id: "env.mova_agent_plan_v1",
            verb: "create",
            roles: Roles {
                planner: PLANNER,
                executor: EXECUTOR,
            },
            plan: Plan {
                plan_id: format!("{}-plan", request.request_id),
                request_id: &request.request_id,
                tool_pool_ref: &request.tool_pool_ref,
                instruction_profile_ref: &request.instruction_profile_ref,
                steps: steps.map_err(|error| PlannerRequest::invalid(&error))?,
            },
        };
        serde_json::to_vec(&envelope).map_err(|error| PlannerRequest::invalid(&error))
    }
}

/// Returns the input of a step.
fn input(tool: &Tool, goal: &str) -> Result<Value, serde_json::Error> {
    let mut schema = match &tool.input_schema {
        Some(schema) => serde_json::from_str(schema.get())?,
        None => Value::Null,
    };
    // The order of members must not depend on the features that another package asks for.
    schema.sort_all_objects();
    Ok(smallest_value(&schema, goal))
}
