//! One-call plans, from a planner's untrusted JSON \[1\].
//!
//! The whole text must be one plan. The engine extracts nothing from prose and repairs nothing.

use super::exact::{inexact, inexact_numbers};
use super::fields::{self, Object, describe, name, opening, text, words};
use super::read::{Checked, Lowered, PLAN_LIMIT, decode};
use super::recovery;
use agent_diagnostic::{Applicability, Code, Diagnostic, Fix, Problems};
use agent_model::{CallPlan, Planned, PlannedCall, is_placeholder};
use agent_syntax::{Entry, Node, Value, json, json_string};
use agent_text::{DocumentKind, Likeness, Text};

const SHAPES: &str = "write one of\n\
    {\"type\": \"call_tool\", \"server\": \"…\", \"tool\": \"…\", \"args\": {…}}\n\
    {\"type\": \"final_answer\", \"answer\": \"…\", \"needs_more_info\": true}";

/// The types of plans.
const TYPES: [&str; 2] = ["call_tool", "final_answer"];

/// The names that other protocols have for types.
const TYPE_ALIASES: [(&str, &str); 6] = [
    ("call", "call_tool"),
    ("final", "final_answer"),
    ("function_call", "call_tool"),
    ("tool", "call_tool"),
    ("tool_call", "call_tool"),
    ("tool_use", "call_tool"),
];

/// The names that other protocols have for fields of a call.
const ALIASES: [(&str, &str); 9] = [
    ("arguments", "args"),
    ("input", "args"),
    ("mcp_server", "server"),
    ("name", "tool"),
    ("parameters", "args"),
    ("params", "args"),
    ("server_id", "server"),
    ("tool_id", "tool"),
    ("tool_name", "tool"),
];

/// The help for a clarification without a question.
const QUESTION: &str = "ask for the missing information";

/// Reads a one-call plan.
///
/// # Errors
/// Every problem of the text, ordered by place: [`Code::PlanNotJson`] if it is not strict JSON,
/// [`Code::PlanShape`] if it is not a plan, [`Code::NumberNotExact`], [`Code::InputTooLarge`].
pub fn call_plan(bytes: Vec<u8>) -> Lowered<CallPlan> {
    let text = decode(DocumentKind::Call, bytes, PLAN_LIMIT).map_err(of_plan)?;
    let check = |text: &Text| {
        let mut problems = Problems::new(text);
        let planned = json::parse(&mut problems).and_then(|root| read(&root, &mut problems));
        (planned, problems.finish())
    };
    let (planned, found) = check(&text);
    let found = recovery::explain(&text, found, &mut |it| check(it).1);
    let mut found = of_plan(found);
    match planned {
        Some(planned) if found.is_empty() => Ok(Checked {
            value: CallPlan { text, planned },
            warnings: Vec::new(),
        }),
        _ => {
            let is_shape = |it: &&mut Diagnostic| {
                let mut fixes = it.fixes.iter();
                let is_corrected = fixes.any(|fix| fix.applicability == Applicability::Safe);
                it.code == Code::PlanShape && !is_corrected
            };
            if let Some(shape) = found.iter_mut().find(is_shape) {
                shape.fixes.push(Fix::display(SHAPES));
            }
            Err(found)
        }
    }
}

/// Maps the codes of a plan's problems to the two of the specification.
fn of_plan(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for problem in &mut found {
        let situation = matches!(
            problem.code,
            Code::BinaryDocument
                | Code::ConflictMarkers
                | Code::EmptyDocument
                | Code::TextAroundDocument
                | Code::WrongDocument
                | Code::WrongEncoding
        );
        let exact = [Code::MisspeltKey, Code::UnknownValue, Code::WrongType];
        if situation || exact.contains(&problem.code) {
            problem.reason = Some(problem.code);
        }
        problem.code = match problem.code {
            Code::WrongDocument => Code::PlanShape,
            _ if situation => Code::PlanNotJson,
            Code::InputTooLarge | Code::NumberNotExact => problem.code,
            Code::InvalidUtf8
            | Code::JsonSyntax
            | Code::LoneSurrogate
            | Code::NumberOutOfRange
            | Code::DuplicateKey
            | Code::NestingTooDeep => Code::PlanNotJson,
            _ => Code::PlanShape,
        };
    }
    found
}

fn read(node: &Node<'_>, problems: &mut Problems<'_>) -> Option<Planned> {
    if let Value::Sequence(_) = node.value {
        let message = "the plan is a list, but must be one object";
        problems
            .report(Code::PlanShape, opening(node), "a list", message)
            .help("plan one call; send another request for another call");
        return None;
    }
    let root = Object::of(node, "the plan", opening(node), problems)?.rename("");
    root.check_spelling(&["type"], problems);
    let kind = root.required("type", SHAPES, problems)?;
    let (text, span) = (text(&kind.value, "type", problems)?, kind.value.span);
    let mut meant = text;
    if !TYPES.contains(&text) {
        let message = format!("unsupported plan type {text:?}");
        let label = "neither `call_tool` nor `final_answer`";
        let written = span.of(problems.text().as_str()).to_owned();
        let report = problems.report(Code::UnknownValue, span, label, message);
        // The rest is read as what was meant.
        if let Some((_, known)) = TYPE_ALIASES.iter().find(|(alias, _)| *alias == text) {
            report.replace(format!("write `{known}`"), span, json_string(known));
            meant = known;
        } else {
            fields::meant(report, (span, &written), text, &TYPES);
            meant = *Likeness::new().slips(text, TYPES, 1).first()?;
        }
    }
    match meant {
        "call_tool" => call(&root, problems),
        _ => answer(&root, problems),
    }
}

/// Returns whether a string contains a JSON object, as planners write arguments.
pub(super) fn is_object(text: &str) -> bool {
    let node = json::parse_value(&mut json::Reader::new(text));
    let is_whole = |node: &Node<'_>| node.span.of(text) == text.trim();
    node.is_ok_and(|node| matches!(node.value, Value::Mapping(_)) && is_whole(&node))
}

/// Writes the name alone where a server's or a tool's name contains more, as in `acme/search`.
fn name_alone(root: &Object<'_, '_>, problems: &mut Problems<'_>) -> bool {
    let entry = |key| root.optional(key).map(|entry: &Entry<'_>| &entry.value);
    let text = |key| match &entry(key)?.value {
        Value::String(text) => Some(&**text),
        _ => None,
    };
    let (Some(server), Some(tool)) = (text("server"), text("tool")) else {
        return true;
    };
    let Some((owner, alone)) = tool.split_once('/') else {
        return true;
    };
    let span = entry("tool").map(|it| it.span).unwrap_or_default();
    if owner != server || alone.is_empty() || alone.contains('/') {
        return true;
    }
    let message = format!("`tool` repeats the server: {tool:?}");
    problems
        .report(Code::UnknownValue, span, "more than a name", message)
        .replace(format!("write `{alone}`"), span, json_string(alone));
    false
}

fn call(root: &Object<'_, '_>, problems: &mut Problems<'_>) -> Option<Planned> {
    refuse_unknown(root, &["type", "server", "tool", "args"], problems);
    let server = root.read("server", "name the server by its id", problems, name);
    let tool = match name_alone(root, problems) {
        true => root.read("tool", "name the tool", problems, name),
        false => None,
    };
    let args = root.required("args", "add:\n\"args\": {}", problems);
    let args = args.and_then(|entry| {
        let span = entry.value.span;
        let Value::Mapping(_) = entry.value.value else {
            let found = describe(&entry.value.value);
            let message = format!("`args` must be an object, but is {found}");
            let report =
                problems.report(Code::WrongType, span, format!("this is {found}"), message);
            match &entry.value.value {
                Value::String(text) if is_object(text) => report.replace(
                    "write the object without quotes".to_owned(),
                    span,
                    text.trim().to_owned(),
                ),
                _ => report.help("write the arguments as an object, such as `{}`"),
            };
            return None;
        };
        let text = problems.text().as_str();
        inexact_numbers(&entry.value, &mut String::new(), &mut |_, span, written| {
            let message = inexact(span.of(text), written);
            let code = Code::NumberNotExact;
            let problem = problems.report(code, span, "not exact", message);
            problem.help(code.help());
        });
        Some(span)
    });
    Some(Planned::Call(PlannedCall {
        server: server?,
        tool: tool?,
        args: args?,
    }))
}

fn answer(root: &Object<'_, '_>, problems: &mut Problems<'_>) -> Option<Planned> {
    refuse_unknown(root, &["type", "answer", "needs_more_info"], problems);
    let answer = root.read("answer", QUESTION, problems, |node, path, problems| {
        let answer = words(node, path, QUESTION, problems)?;
        let text = answer.value.trim();
        if is_placeholder(text) || matches!(text, "…" | "...") {
            let message = format!("`answer` is the placeholder `{}`", answer.value);
            problems
                .report(Code::EmptyValue, answer.span, "a placeholder", message)
                .help(QUESTION);
            return None;
        }
        Some(answer)
    });
    let needs = root.required(
        "needs_more_info",
        "add:\n\"needs_more_info\": true",
        problems,
    )?;
    let (value, span) = (&needs.value.value, needs.value.span);
    if *value != Value::Bool(true) {
        let message = "a final answer without `\"needs_more_info\": true` is not supported";
        let report = problems.report(Code::WrongType, span, "not `true`", message);
        match value {
            Value::String(text) if text.eq_ignore_ascii_case("true") => {
                report.replace("write `true`".to_owned(), span, "true".to_owned())
            }
            _ => report.help("call a tool, or ask for the missing information and write `true`"),
        };
        return None;
    }
    Some(Planned::NeedsMoreInfo {
        answer: answer?.value,
    })
}

/// Reports fields that a plan of this type does not have. A plan cannot contain a second call, a
/// condition or a retry.
fn refuse_unknown(root: &Object<'_, '_>, known: &[&str], problems: &mut Problems<'_>) {
    for entry in root.refuse_misspelt(known, problems) {
        let named = ALIASES.iter().find(|(alias, _)| *alias == entry.key);
        if let Some((_, meant)) = named.filter(|(_, it)| known.contains(it))
            && root.optional(meant).is_none()
        {
            root.take_as(entry, meant, problems);
            continue;
        }
        problems.report(
            Code::PlanShape,
            entry.key_span,
            "unknown field",
            format!("a plan of this type has no field `{}`", entry.key),
        );
    }
}
