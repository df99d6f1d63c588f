//! Requests to planners, and the request that a goal becomes \[3\].
//!
//! A planner sees the goal, the tools that the profile allows, and the schema of a plan. It sees no
//! secrets, and no bindings.

use super::action::{Action, PlannerTask, Planning};
use super::documents::{Goal, Read};
use super::effects::{Effects, Part};
use super::evidence::Evidence;
use super::stop::Stop;
use agent_api::decide::PlanPolicy;
use agent_api::diagnostic::Code;
use agent_api::lower::PLAN_LIMIT;
use agent_api::model::{Binding, Driver, Index, Profile, ToolPool};
use agent_api::schema::Library;
use agent_record::Redactor;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{member, string};
use agent_syntax::{Node, Value};

/// Milliseconds that a planner has for its one attempt.
const PLANNER_TIMEOUT_MS: u64 = 120_000;

/// Asks a planner once.
///
/// # Errors
/// It made no answer within its limits, or the run is interrupted.
pub(crate) async fn ask_planner(
    evidence: &Evidence,
    task: PlannerTask,
    request: &str,
) -> Result<Vec<u8>, Stop> {
    let mut effects = Effects::new(evidence, Part::Planner, PLANNER_TIMEOUT_MS);
    effects.begin();
    let planning = Planning {
        task,
        request: evidence.redactor().json(request).unwrap_or_default(),
        max_bytes: PLAN_LIMIT as u64,
        timeout_ms: PLANNER_TIMEOUT_MS,
    };
    let answer = effects.bytes(Action::Plan(planning)).await;
    let answer = answer.map_err(|stop| match (stop.code, stop.reason) {
        (Code::MovaHandlerFailed, None) => stop.because(Code::PlannerFailed),
        _ => stop,
    })?;
    if answer.len() > PLAN_LIMIT {
        let message = format!("the planner's answer has more than {PLAN_LIMIT} bytes");
        return Err(Stop::new(Code::MovaLimitExceeded, message));
    }
    Ok(answer)
}

/// Returns `env.mova_agent_request_v1` for a goal. Returns `None` without a pool and a profile, which the
/// request refers to.
///
/// # Errors
/// The context of the goal is not a JSON object.
pub(crate) fn request(
    goal: &Goal,
    request_id: &str,
    rules: &PlanPolicy,
) -> Result<Option<String>, Stop> {
    let context = goal.context.as_deref().map(context).transpose()?;
    let (Some(pool), Some(profile)) = (rules.pool.sound(), rules.profile.sound()) else {
        return Ok(None);
    };
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("envelope_id").string("env.mova_agent_request_v1");
        w.key("request").object(|w| {
            if let Some(context) = context {
                w.key("context").json(context);
            }
            w.key("goal").string(&goal.text);
            w.key("instruction_profile_ref")
                .object(|w| profile_ref(w, profile));
            w.key("request_id").string(request_id);
            w.key("tool_pool_ref").object(|w| pool_ref(w, pool));
        });
        w.key("roles").object(|w| {
            w.key("planner").string(&goal.planner);
            w.key("requester").string("user");
        });
        w.key("verb").string("create");
    });
    Ok(Some(w.finish()))
}

/// Returns the request for a plan of several steps, or `None` if there is nothing to plan with.
pub(crate) fn steps_request(goal: &Goal, request_id: &str, documents: &Read) -> Option<String> {
    let rules = &documents.rules;
    let (pool, profile) = (rules.pool.sound()?, rules.profile.sound()?);
    let text = rules.pool.text.as_str();
    let root = parse_strict(text)?;
    let tools = Tools {
        text,
        root: &root,
        index: documents.index.as_ref(),
    };
    let mut w = Writer::dense();
    w.object(|w| {
        let given = goal.context.as_deref();
        if let Some(context) = given.and_then(|it| context(it).ok()) {
            w.key("context").json(context);
        }
        w.key("goal").string(&goal.text);
        w.key("instruction_profile_ref")
            .object(|w| profile_ref(w, profile));
        w.key("request_id").string(request_id);
        w.key("schema").json(&plan_schema());
        w.key("task").string(PlannerTask::Steps.name());
        w.key("tool_pool_ref").object(|w| pool_ref(w, pool));
        let allowed = pool
            .bindings
            .iter()
            .filter(|it| rules.allows(&it.connector, &it.tool));
        w.key("tools")
            .array(|w| allowed.for_each(|it| w.object(|w| tools.write(w, it))));
    });
    Some(w.finish())
}

/// Reads the context of a goal.
fn context(bytes: &[u8]) -> Result<&str, Stop> {
    let text = core::str::from_utf8(bytes).ok();
    let is_object = |text: &&str| {
        let node = parse_strict(text);
        node.is_some_and(|it| matches!(it.value, Value::Mapping(_)))
    };
    text.filter(is_object).ok_or_else(|| {
        let message = "the context of the goal is not a JSON object";
        Stop::new(Code::MovaValidationFailed, message)
    })
}

/// Writes the members of a reference to a pool.
pub(crate) fn pool_ref(w: &mut Writer, pool: &ToolPool) {
    w.key("pool_id").string(&pool.id);
    w.key("pool_version").string(&pool.version);
}

/// Writes the members of a reference to a profile.
pub(crate) fn profile_ref(w: &mut Writer, profile: &Profile) {
    w.key("profile_id").string(&profile.id);
    if let Some(version) = &profile.version {
        w.key("profile_version").string(version);
    }
}

/// Returns the schema of a plan, with that of its steps inside: a planner has no library.
fn plan_schema() -> String {
    let text = |name| Library::own().text(name).unwrap_or_default();
    let (plan, step) = (
        text("env.mova_agent_plan_v1"),
        text("ds.mova_agent_step_v1"),
    );
    let root = parse_strict(plan);
    let definitions = root.as_ref().and_then(|root| member(root, "$defs"));
    let Some(definitions) = definitions else {
        return plan.to_owned();
    };
    let (before, behind) = plan.split_at(definitions.span.start as usize + 1);
    format!("{before}\"ds.mova_agent_step_v1\":{step},{behind}")
}

/// The tools of a pool, with what its text says of them.
struct Tools<'p> {
    text: &'p str,
    root: &'p Node<'p>,
    index: Option<&'p Index>,
}

impl Tools<'_> {
    fn write(&self, w: &mut Writer, binding: &Binding) {
        let node = item(self.root, "bindings", |number, _| number == binding.number);
        let of_binding = |name| node.and_then(|it| member(it, name));
        let listed = self.definition(binding);
        let listed = listed.as_deref().and_then(parse_strict);
        let of_server = |name| listed.as_ref().and_then(|it| member(it, name));
        w.key("connector_id").string(&binding.connector);
        let description = of_binding("description").or(of_server("description"));
        if let Some(text) = description.and_then(string) {
            w.key("description").string(text);
        }
        w.key("driver_kind").string(binding.driver.kind().name());
        let schema = of_binding("input_schema").or_else(|| {
            let name = of_binding("input_schema_ref").and_then(string)?;
            item(self.root, "schemas", |_, it| {
                member(it, "$id").and_then(string) == Some(name)
            })
        });
        let own = self.definition(binding);
        match (schema, of_server("inputSchema"), &own) {
            (Some(schema), _, _) => w.key("input_schema").json(schema.span.of(self.text)),
            (None, Some(schema), Some(text)) => w.key("input_schema").json(schema.span.of(text)),
            _ => {}
        }
        w.key("tool_id").string(&binding.tool);
    }

    /// Returns the definition of the tool that a binding calls, in the index.
    fn definition(&self, binding: &Binding) -> Option<String> {
        let Driver::McpProxy {
            server,
            version,
            tool,
            ..
        } = &binding.driver
        else {
            return None;
        };
        let mut versions = self.index?.versions(&server.value);
        let server =
            versions.find(|it| version.as_ref().is_none_or(|wanted| wanted == it.version()));
        Some(agent_api::lower::definition(server?.tool(&tool.value)?))
    }
}

fn item<'n, 't>(
    root: &'n Node<'t>,
    list: &str,
    wanted: impl Fn(usize, &Node<'t>) -> bool,
) -> Option<&'n Node<'t>> {
    let Value::Sequence(items) = &member(root, list)?.value else {
        return None;
    };
    let mut items = items.iter().enumerate();
    Some(items.find(|(number, it)| wanted(*number, it))?.1)
}

/// Returns the request for a summary of a payload \[1, step 8\].
pub(crate) fn summary_request(query: &str, payload: &str, redactor: &Redactor) -> String {
    let mut w = Writer::dense();
    w.object(|w| {
        w.key("payload")
            .json(&redactor.json(payload).unwrap_or_default());
        w.key("query").string(query);
        w.key("schema").json(SUMMARY_SCHEMA);
        w.key("task").string(PlannerTask::Summary.name());
    });
    w.finish()
}

/// The schema of a summary.
const SUMMARY_SCHEMA: &str = r#"{"type":"object","properties":{"items":{"type":"array","minItems":1,"items":{"type":"object","properties":{"claim":{"type":"string"},"evidence":{"type":"string","description":"A verbatim part of a text of the payload, of at least 8 characters."}},"required":["claim","evidence"],"additionalProperties":false}}},"required":["items"],"additionalProperties":false}"#;
