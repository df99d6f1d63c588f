//! The arguments of a call, each with what the input schema says about it.

use super::view::Definitions;
use agent_api::lower::{CALL, ToolEntry};
use agent_syntax::json::parse_strict;
use agent_syntax::members::{entries, member, string};
use agent_syntax::{Entry, Node};
use agent_worker_protocol::session::{Argument, ArgumentValue, Arguments};
use serde_json::Value;

/// Maximum number of characters of what a schema says about one argument. The definition of the tool has all of it.
const SAID: usize = 240;

/// Maximum number of values that are listed of an `enum`.
const LISTED: usize = 8;

/// Returns the arguments of a call. `whole` are the definitions of the tools, `listed` those on the client's list.
pub(super) fn arguments(params: &str, whole: &Definitions, listed: &Definitions) -> Arguments {
    let Some(root) = parse_strict(params) else {
        return Arguments::default();
    };
    let called = (text(&root, "name"), member(&root, "arguments"));
    let behind = called.1.filter(|_| !whole.contains_key(called.0));
    let (tool, given) = behind.and_then(behind_helper).unwrap_or(called);
    let definition = whole.get(tool).or_else(|| listed.get(tool));
    let schema = definition.and_then(|it| input_schema(it));
    let given = given.map(entries).unwrap_or_default();
    let rows = given
        .iter()
        .map(|entry| row(params, entry, schema.as_ref()));
    let missing = schema.iter().flat_map(|schema| {
        let names = schema["required"].as_array().into_iter().flatten();
        let names = names.filter_map(Value::as_str);
        let names = names.filter(|name| given.iter().all(|it| it.key != *name));
        names.map(|name| argument(name, ArgumentValue::Missing, Some(schema)))
    });
    Arguments {
        tool: tool.to_owned(),
        rows: rows.chain(missing).collect(),
    }
}

/// Returns the input schema of a definition.
pub(super) fn input_schema(definition: &str) -> Option<Value> {
    let schema = ToolEntry::read(definition).input_schema()?.into_owned();
    serde_json::from_str(&schema).ok()
}

fn text<'n>(node: &'n Node<'_>, name: &str) -> &'n str {
    member(node, name).and_then(string).unwrap_or_default()
}

/// Returns the tool that a helper is to call, and the arguments for it.
fn behind_helper<'n, 't>(given: &'n Node<'t>) -> Option<(&'n str, Option<&'n Node<'t>>)> {
    let calls = text(given, "operation") == CALL;
    calls.then(|| (text(given, "tool"), member(given, "arguments")))
}

fn row(params: &str, entry: &Entry<'_>, schema: Option<&Value>) -> Argument {
    let value = match string(&entry.value) {
        Some(text) => ArgumentValue::Text(text.to_owned()),
        None => ArgumentValue::Json(dedented(entry.value.span.of(params))),
    };
    argument(&entry.key, value, schema)
}

fn argument(name: &str, value: ArgumentValue, schema: Option<&Value>) -> Argument {
    let own = schema.map(|it| &it["properties"][name]);
    let declared = own.map_or_else(String::new, |own| match own {
        Value::Null => "not declared".to_owned(),
        own => declared(own).join(", "),
    });
    let about = own.and_then(|own| own["description"].as_str());
    Argument {
        name: name.to_owned(),
        value,
        declared: cut(&declared),
        about: cut(about.unwrap_or_default()),
    }
}

/// Returns the type and the limits that a schema declares, in words.
fn declared(schema: &Value) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(kind(schema));
    words.extend(schema["format"].as_str().map(str::to_owned));
    words.extend(schema.get("const").map(|it| format!("only {it}")));
    if let Some(values) = schema["enum"].as_array() {
        let mut listed: Vec<_> = values.iter().take(LISTED).map(Value::to_string).collect();
        if values.len() > LISTED {
            listed.push(format!("{} more", values.len() - LISTED));
        }
        words.push(format!("one of {}", listed.join(", ")));
    }
    for (least, most, unit) in [
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ] {
        words.extend(match (schema.get(least), schema.get(most)) {
            (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}")),
            (Some(least), None) => Some(format!("at least {least}{unit}")),
            (None, Some(most)) => Some(format!("at most {most}{unit}")),
            (None, None) => None,
        });
    }
    words.extend(schema["pattern"].as_str().map(|it| format!("matches {it}")));
    words.extend(schema.get("default").map(|it| format!("default {it}")));
    words
}

/// Returns the type of a schema in words, such as `array of string`.
fn kind(schema: &Value) -> Option<String> {
    let names = match &schema["type"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        name => name.as_str().into_iter().collect::<Vec<_>>(),
    };
    let mut words = names.join(" or ");
    if names == ["array"]
        && let Some(items) = kind(&schema["items"])
    {
        words = format!("array of {items}");
    }
    (!words.is_empty()).then_some(words)
}

/// Returns a text without the indentation that all its lines but the first have.
fn dedented(text: &str) -> String {
    let indentation = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let common = text.lines().skip(1).map(|it| indentation(&it)).min();
    let lines = text.lines().enumerate().map(|(at, line)| match at {
        0 => line,
        _ => &line[common.unwrap_or_default()..],
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SAID) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
