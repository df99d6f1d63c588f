//! What a plan would do, without doing it.

use super::styled::Styled;
use agent_api::decide::AuthorizedPlan;
use agent_api::model::{Binding, BindingHeader, Driver, Input, Origin, PlanStep};
use agent_api::plan::authorized;
use agent_api::render::{Style, StyledSpan};
use agent_record::Redactor;
use agent_syntax::Value;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{member, string};

/// One step of a preview.
struct Preview<'p> {
    step: &'p PlanStep,
    binding: &'p Binding,
    /// The input, as JSON without secrets; `None` if it comes from an earlier step.
    input: Option<String>,
    /// The step and the part of its output that the input is.
    from: Option<(&'p str, &'p str)>,
    needs_approval: bool,
    /// The effects, in order, a sentence each.
    effects: Vec<String>,
}

/// Returns the effects of a plan as JSON that ends with a newline.
pub(crate) fn preview_json(plan: &AuthorizedPlan, redactor: &Redactor) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        w.key("authorized").string(&authorized(plan).1);
        w.key("steps").array(|w| {
            for preview in steps(plan, redactor) {
                w.object(|w| write(w, &preview));
            }
        });
    });
    w.finish()
}

fn write(w: &mut Writer, preview: &Preview<'_>) {
    let (step, binding) = (preview.step, preview.binding);
    w.key("approval").bool(preview.needs_approval);
    w.key("connector_id").string(&step.connector.value);
    w.key("driver_kind").string(binding.driver.kind().name());
    w.key("effects")
        .strings(preview.effects.iter().map(|it| &**it));
    if let Some(input) = &preview.input {
        w.key("input").json(input);
    }
    if let Some((step, pointer)) = preview.from {
        w.key("input_from").object(|w| {
            w.key("pointer").string(pointer);
            w.key("step").string(step);
        });
    }
    w.key("limits").object(|w| {
        let limits = binding.limits;
        for (name, limit) in [
            ("max_input_bytes", limits.max_input_bytes.value),
            ("max_log_bytes", limits.max_log_bytes.value),
            ("max_output_bytes", limits.max_output_bytes.value),
            ("timeout_ms", limits.timeout_ms.value),
        ] {
            w.key(name).json(&limit.to_string());
        }
    });
    w.key("step_id").string(&step.id.value);
    w.key("tool_id").string(&step.tool.value);
}

/// Returns the effects of a plan for people.
pub(crate) fn preview_text(plan: &AuthorizedPlan, redactor: &Redactor) -> Vec<StyledSpan> {
    let mut out = Styled::default();
    out.put(Style::Heading, "would run");
    if let Some(id) = plan.plan().and_then(|plan| plan.id.as_ref()) {
        out.put(Style::Plain, ": ");
        out.put(Style::Name, &id.value);
    }
    out.put(Style::Dim, &format!("  {}", authorized(plan).1));
    out.end();
    for preview in steps(plan, redactor) {
        let step = preview.step;
        out.put(Style::Plain, "  ");
        out.put(Style::Name, &step.id.value);
        let tool = format!("  {}/{}", step.connector.value, step.tool.value);
        out.put(Style::Plain, &tool);
        let limit = preview.binding.limits.timeout_ms.value;
        out.put(Style::Dim, &format!("  within {limit} ms"));
        out.end();
        for effect in &preview.effects {
            out.put(Style::Plain, &format!("      {effect}"));
            out.end();
        }
    }
    out.0
}

fn steps<'p>(plan: &'p AuthorizedPlan, redactor: &Redactor) -> Vec<Preview<'p>> {
    let of_plan = plan.plan().map(|it| &*it.steps).unwrap_or_default();
    let steps = of_plan.iter().enumerate();
    let previews = steps.filter_map(|(number, step)| {
        let binding = plan.binding(number)?;
        let authorized = plan.steps().get(number)?;
        let (input, from) = match &step.input {
            Input::Literal(span) => (redactor.json(span.of(plan.text())), None),
            Input::From { step, pointer, .. } => {
                let earlier = of_plan.get(*step).map_or("", |it| &it.id.value);
                (None, Some((earlier, &*pointer.value)))
            }
            Input::Refused => (None, None),
        };
        let mut effects = Vec::new();
        if let Some((earlier, pointer)) = from {
            effects.push(format!("takes `{pointer}` of the output of `{earlier}`"));
        }
        if authorized.needs_approval() {
            effects.push("asks for approval".to_owned());
        }
        let handler = match &binding.handler {
            Some(digest) => format!("calls the handler {digest}"),
            None => format!("calls the handler `{}`", binding.driver.kind().name()),
        };
        effects.push(handler);
        effects.extend(of_driver(binding, input.as_deref()));
        if let Some(server) = authorized.server() {
            let (id, version) = (&server.id, &server.version);
            effects.push(match server.endpoint.starts_with("pkg:") {
                true => format!("starts the server `{id}` {version} in the sandbox"),
                false => {
                    format!(
                        "connects to the server `{id}` {version} at {}",
                        server.endpoint
                    )
                }
            });
            effects.push(format!(
                "compares `{}` with the lock, and calls it",
                server.tool
            ));
        }
        Some(Preview {
            step,
            binding,
            input,
            from,
            needs_approval: authorized.needs_approval(),
            effects,
        })
    });
    previews.collect()
}

/// Returns the effects that the driver of a step allows its handler.
fn of_driver(binding: &Binding, input: Option<&str>) -> Vec<String> {
    let root = input.and_then(parse_strict);
    let text = |name| string(member(root.as_ref()?, name)?);
    match &binding.driver {
        Driver::Noop | Driver::McpProxy { .. } => Vec::new(),
        Driver::Http { headers, .. } => {
            let to = match text("url").map(Origin::of) {
                Some(Ok(origin)) => vec![origin],
                _ => binding.destinations.to_vec(),
            };
            let to: Vec<_> = to.iter().map(ToString::to_string).collect();
            let mut effects = vec![
                format!(
                    "resolves the host of {}, and checks every address",
                    to.join(" or ")
                ),
                match (text("method"), text("url")) {
                    (Some(method), Some(url)) => format!("requests {method} {url}"),
                    _ => "makes one HTTP request".to_owned(),
                },
            ];
            let secrets = headers.iter().filter_map(|(name, value)| match value {
                BindingHeader::Secret(secret) => {
                    Some(format!("sets the header `{name}` to the secret `{secret}`"))
                }
                BindingHeader::Literal(_) => None,
            });
            effects.extend(secrets);
            effects
        }
        Driver::RestrictedShell { programs } => {
            let program = match text("program") {
                Some(path) => path.to_owned(),
                None => {
                    let paths: Vec<_> = programs.iter().map(|it| &*it.path).collect();
                    paths.join(" or ")
                }
            };
            let arguments = root.as_ref().and_then(|it| member(it, "arguments"));
            let arguments = match arguments.map(|it| &it.value) {
                Some(Value::Sequence(items)) => items
                    .iter()
                    .filter_map(|it| Some(format!(" {:?}", string(it)?)))
                    .collect(),
                _ => String::new(),
            };
            vec![format!("runs {program}{arguments} in the sandbox")]
        }
    }
}
