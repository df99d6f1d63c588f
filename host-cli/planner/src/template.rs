//! Plans without a model.

use crate::error::{PlannerError, PlannerErrorKind};
use crate::request::{CallRequest, CallableTool, PlannerRequest, StepsRequest, Tool};
use crate::services;
use crate::words::words;
use agent_smallest_value::smallest_value;
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
/// The words in the name of a property that takes the goal.
const GOAL_WORDS: [&str; 4] = ["goal", "message", "query", "text"];

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
    /// Returns the bytes of the plan, or none for a summary, which needs a model.
    pub(crate) fn plan(self, request: &PlannerRequest) -> Result<Vec<u8>, PlannerError> {
        match request {
            PlannerRequest::Steps(request) => self.steps(request),
            PlannerRequest::Call(request) => call(request),
            PlannerRequest::Files(request) => services::plan(request),
            PlannerRequest::Summary(_) => {
                let message = "the template planner writes no summaries";
                Err(PlannerError::new(PlannerErrorKind::NoSummary, message))
            }
        }
    }

    fn steps(self, request: &StepsRequest) -> Result<Vec<u8>, PlannerError> {
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
                input: input(tool.input_schema.as_deref(), &request.goal)?,
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

/// A plan of one call.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CallPlan<'a> {
    CallTool {
        server: &'a str,
        tool: &'a str,
        args: Value,
    },
    FinalAnswer {
        answer: String,
        needs_more_info: bool,
    },
}

/// Returns a call of the first tool with a word of the query, or a question for one.
fn call(request: &CallRequest) -> Result<Vec<u8>, PlannerError> {
    let query = words(&request.query);
    let fits = |tool: &&CallableTool| {
        let description = tool.description.as_deref().unwrap_or_default();
        !query.is_disjoint(&words(&format!("{} {description}", tool.tool)))
    };
    let plan = match request.tools.iter().find(fits) {
        Some(tool) => CallPlan::CallTool {
            server: &tool.server,
            tool: &tool.tool,
            args: input(tool.input_schema.as_deref(), &request.query)
                .map_err(|error| PlannerRequest::invalid(&error))?,
        },
        None => {
            let names: Vec<_> = request.tools.iter().map(|tool| &*tool.tool).collect();
            let answer = match &names[..] {
                [] => "No tool may be called.".to_owned(),
                names => format!(
                    "Which of these tools should be called: {}?",
                    names.join(", ")
                ),
            };
            CallPlan::FinalAnswer {
                answer,
                needs_more_info: true,
            }
        }
    };
    serde_json::to_vec(&plan).map_err(|error| PlannerRequest::invalid(&error))
}

/// Returns the input of a tool with a schema.
fn input(schema: Option<&RawValue>, goal: &str) -> Result<Value, serde_json::Error> {
    let mut schema = match schema {
        Some(schema) => serde_json::from_str(schema.get())?,
        None => Value::Null,
    };
    // The order of members must not depend on the features that another package asks for.
    schema.sort_all_objects();
    let text_of = |name: &str| takes_goal(name).then_some(goal);
    Ok(smallest_value(&schema, &text_of))
}

fn takes_goal(name: &str) -> bool {
    let words = words(name);
    GOAL_WORDS.iter().any(|word| words.contains(*word))
}
