//! Plans and requests. Steps refer to earlier steps only \[3\].

use super::document::{
    Validated, digest_of, items, member, report_duplicate, spanned, string, validate,
};
use super::exact::{inexact, inexact_numbers};
use super::read::PLAN_LIMIT;
use agent_diagnostic::{Applicability, Change, ChangeKind, Code, Edit, Findings, Fix};
use agent_json_schema::{Library, token};
use agent_model::{DocumentRef, Input, Plan, PlanStep, Request};
use agent_syntax::{Node, Value, json_string};
use agent_text::{DocumentKind, Span, Spanned, Text};
use std::collections::{BTreeMap, BTreeSet};

/// The rule against repeated step names.
const UNIQUE: &str = "each step of the plan has its own `step_id`";

/// The rule about numbers.
const EXACT: &str = "RFC 8785, which digests cover, keeps the value of each number";

/// The rule against loops.
const EARLIER: &str = "`input_from` names an earlier step";

/// The rule about templates.
const TEMPLATES: &str = "the output of an earlier step comes by `input_from`";

/// Reads a plan. Only the project's own schemas determine its shape, whichever core MOVA has.
pub fn plan(bytes: Vec<u8>) -> Validated<Plan> {
    validate(
        (DocumentKind::Plan, bytes, PLAN_LIMIT),
        ("env.mova_agent_plan_v1", &[Library::own()]),
        read_plan,
    )
}

/// Reads a request.
pub fn request(bytes: Vec<u8>) -> Validated<Request> {
    validate(
        (DocumentKind::Request, bytes, PLAN_LIMIT),
        ("env.mova_agent_request_v1", &[Library::own()]),
        |root, findings| {
            if !findings.are_corrected() {
                return None;
            }
            let request = member(root, "request")?;
            Some(Request {
                id: spanned(request, "request_id")?,
                pool: pool_ref(request)?,
                profile: profile_ref(request)?,
                digest: digest_of(root),
            })
        },
    )
}

/// Reads as much of a plan as possible, because planners make several mistakes at once. There are too
/// many findings to say more if their list is full.
fn read_plan(root: &mut Node<'_>, findings: &mut Findings<'_>) -> Option<Plan> {
    let text = findings.text().as_str();
    inexact_numbers(root, &mut String::new(), &mut |pointer, span, written| {
        let (reason, message) = (Code::NumberNotExact, inexact(span.of(text), written));
        let at = (span, pointer);
        findings.reasoned(Some(reason), at, EXACT, "not exact", message, reason.help());
    });
    let plan = member(root, "plan").filter(|_| !findings.is_full())?;
    let nodes = items(plan, "steps");
    let mut first = BTreeMap::new();
    for (number, node) in nodes.iter().enumerate() {
        if let Some(name) = member(node, "step_id").and_then(string) {
            first.entry(name).or_insert(number);
        }
    }
    let mut steps = Vec::new();
    let mut moved = BTreeSet::new();
    for (number, node) in nodes.iter().enumerate() {
        let at = format!("/plan/steps/{number}");
        let [connector, tool, id] = ["connector_id", "tool_id", "step_id"].map(|name| {
            let is_reported = findings.is_about(&format!("{at}/{name}"));
            let refused = || Spanned {
                value: String::new(),
                span: node.span,
            };
            let name = spanned(node, name).filter(|_| !is_reported);
            name.unwrap_or_else(refused)
        });
        let input = input(nodes, number, (&first, &mut moved), findings);
        let before = first.get(&*id.value).filter(|it| **it < number);
        if let Some(before) = before.and_then(|it| member(&nodes[*it], "step_id")) {
            let at = (id.span, &*format!("{at}/step_id"));
            let what = format!("the step `{}`", id.value);
            report_duplicate(at, before.span, &what, UNIQUE, findings);
        }
        steps.push(PlanStep {
            span: node.span,
            title: member(node, "title").and_then(string).map(str::to_owned),
            id,
            is_refused: connector.value.is_empty() || tool.value.is_empty(),
            connector,
            tool,
            input: input.unwrap_or(Input::Refused),
            input_schema: spanned(node, "input_schema_ref"),
            output_schema: spanned(node, "output_schema_ref"),
        });
    }
    let sound = |name: &str| {
        let is_reported = findings.is_about(&format!("/plan/{name}"));
        spanned(plan, name).filter(|_| !is_reported)
    };
    Some(Plan {
        id: sound("plan_id"),
        request: sound("request_id"),
        pool: pool_ref(plan),
        profile: profile_ref(plan),
        steps,
    })
}

/// Returns the input of a step. `first` maps each name to the number of its first step; `moved` are the
/// steps that a fix moves, each once.
fn input(
    nodes: &[Node<'_>],
    number: usize,
    (first, moved): (&BTreeMap<&str, usize>, &mut BTreeSet<usize>),
    findings: &mut Findings<'_>,
) -> Option<Input> {
    let step = &nodes[number];
    let Some(from) = member(step, "input_from") else {
        let literal = member(step, "input")?;
        let is_earlier = |name: &str| first.get(name).is_some_and(|it| *it < number);
        let at = format!("/plan/steps/{number}/input");
        if refuse_templates(step, literal, literal, &at, &is_earlier, findings) {
            return Some(Input::Refused);
        }
        return Some(Input::Literal(literal.span));
    };
    let pointer = format!("/plan/steps/{number}/input_from/step");
    // The schema's violations have been reported already.
    let part = format!("/plan/steps/{number}/input_from/pointer");
    if findings.is_about(&pointer) || findings.is_about(&part) {
        return Some(Input::Refused);
    }
    let Some(name) = spanned(from, "step") else {
        return Some(Input::Refused);
    };
    let place = first.get(&*name.value);
    if let Some(step) = place.filter(|it| **it < number) {
        return Some(Input::From {
            step: *step,
            pointer: spanned(from, "pointer")?,
            span: from.span,
        });
    }
    let at = (name.span, &*pointer);
    let earlier = first.iter().filter(|(_, place)| **place < number);
    let names = earlier.map(|(name, _)| *name);
    let meant = findings.likeness().nearest(&name.value, names, 1);
    let (label, message, help) = match place {
        Some(place) if *place == number => (
            "this step itself",
            format!("the step `{}` takes its input from itself", name.value),
            "write its `input` out, or name an earlier step".to_owned(),
        ),
        Some(_) => (
            "a later step",
            format!("the input comes from the later step `{}`", name.value),
            "move that step before this one".to_owned(),
        ),
        None => (
            "unknown step",
            format!("the plan has no step `{}`", name.value),
            match meant[..] {
                [meant] => format!("did you mean `{meant}`?"),
                _ => "name an earlier step".to_owned(),
            },
        ),
    };
    findings.add(at, EARLIER, label, message, &help);
    if let Some(later) = place.copied().filter(|it| *it > number)
        && moved.insert(later)
    {
        let source = member(&nodes[later], "input_from").and_then(|from| member(from, "step"));
        let source = source.map(|name| string(name).and_then(|name| first.get(name)));
        // What the moved step needs stands before its new place.
        if source.is_none_or(|place| place.is_some_and(|place| *place < number)) {
            let fix = moved_before(nodes, (later, number), &name.value, findings.text());
            findings.fix(fix);
        }
    }
    for meant in meant {
        findings.propose(vec![Change {
            source: DocumentKind::Plan,
            pointer: pointer.clone(),
            kind: ChangeKind::Replace(json_string(meant)),
            widens: false,
        }]);
    }
    Some(Input::Refused)
}

/// Reports the strings of a literal input that stand for the output of an earlier step, as the templates
/// of other planners do. They would be passed on as they are. Returns whether there is one.
fn refuse_templates(
    step: &Node<'_>,
    input: &Node<'_>,
    node: &Node<'_>,
    at: &str,
    is_earlier: &dyn Fn(&str) -> bool,
    findings: &mut Findings<'_>,
) -> bool {
    match &node.value {
        Value::String(text) => {
            let Some((name, pointer)) = template(text).filter(|(name, _)| is_earlier(name)) else {
                return false;
            };
            let from = format!(
                "\"input_from\": {{ \"step\": {}, \"pointer\": {} }}",
                json_string(name),
                json_string(&pointer)
            );
            let is_whole = std::ptr::eq(input, node);
            let help = match is_whole {
                true => format!("write instead of `input`:\n{from}"),
                false => format!("only a whole input comes from a step:\n{from}"),
            };
            let message = format!("the input is the text {text:?}, not the output of `{name}`");
            let reason = Some(Code::EmptyValue);
            findings.reasoned(
                reason,
                (node.span, at),
                TEMPLATES,
                "a placeholder",
                message,
                &help,
            );
            let entries = match &step.value {
                Value::Mapping(entries) => &entries[..],
                _ => &[],
            };
            if is_whole && let Some(entry) = entries.iter().find(|it| it.key == "input") {
                let span = Span {
                    start: entry.key_span.start,
                    end: node.span.end,
                };
                let place = findings.text().place(span);
                findings.fix(Fix {
                    title: format!("write `{from}`"),
                    applicability: Applicability::Safe,
                    edits: vec![Edit {
                        place,
                        replacement: from,
                    }],
                });
            }
            true
        }
        Value::Sequence(items) => {
            let mut found = false;
            for (number, item) in items.iter().enumerate() {
                let at = format!("{at}/{number}");
                found |= refuse_templates(step, input, item, &at, is_earlier, findings);
            }
            found
        }
        Value::Mapping(entries) => {
            let mut found = false;
            for entry in entries {
                let at = format!("{at}/{}", token(&entry.key));
                found |= refuse_templates(step, input, &entry.value, &at, is_earlier, findings);
            }
            found
        }
        _ => false,
    }
}

/// Returns the step and the pointer that a template names: `{{list.audiences}}`, `${list.output.audiences}`,
/// `$list.audiences[0]`.
fn template(text: &str) -> Option<(&str, String)> {
    let text = text.trim();
    let within = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    let path = within("{{", "}}").or_else(|| within("${", "}"));
    let path = path.or_else(|| text.strip_prefix('$'))?.trim();
    let path = path.strip_prefix("steps.").unwrap_or(path);
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let end = path.find(|c| !is_name(c)).unwrap_or(path.len());
    let (name, rest) = path.split_at(end);
    let mut tokens: Vec<_> = rest.split(['.', '[', ']', '/']).collect();
    tokens.retain(|it| !it.is_empty());
    if tokens.iter().any(|it| !it.chars().all(is_name)) {
        return None;
    }
    if let Some(&("output" | "outputs" | "result")) = tokens.first() {
        tokens.remove(0);
    }
    let pointer = tokens.iter().map(|it| format!("/{it}")).collect();
    Some((name, pointer))
}

/// Returns the fix that moves a step before an earlier one.
fn moved_before(
    nodes: &[Node<'_>],
    (later, number): (usize, usize),
    name: &str,
    text: &Text,
) -> Fix {
    let between = |start: u32, end: u32| Span { start, end };
    let (step, before) = (nodes[later].span, nodes[number].span);
    let separator = between(before.end, nodes[number + 1].span.start);
    let written = |span: Span| span.of(text.as_str());
    let gone = between(nodes[later - 1].span.end, step.end);
    let edit = |span, replacement| Edit {
        place: text.place(span),
        replacement,
    };
    let new = format!("{}{}", written(step), written(separator));
    Fix {
        title: format!("move the step `{name}` before this one"),
        applicability: Applicability::Safe,
        edits: vec![
            edit(between(before.start, before.start), new),
            edit(gone, String::new()),
        ],
    }
}

fn pool_ref(node: &Node<'_>) -> Option<DocumentRef> {
    let node = member(node, "tool_pool_ref")?;
    document_ref(node, spanned(node, "pool_id")?, "pool_version")
}

fn profile_ref(node: &Node<'_>) -> Option<DocumentRef> {
    let node = member(node, "instruction_profile_ref")?;
    document_ref(node, spanned(node, "profile_id")?, "profile_version")
}

fn document_ref(node: &Node<'_>, id: Spanned<String>, version: &str) -> Option<DocumentRef> {
    Some(DocumentRef {
        id,
        version: spanned(node, version),
        digest: spanned(node, "digest"),
    })
}
