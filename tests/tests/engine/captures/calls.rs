//! Calls of a tool that fit its input schema, and calls that don't, made from the schema alone.
//!
//! A schema with an unknown keyword is refused: its calls would not cover the keyword.

use serde_json::{Map, Value, json};

/// Annotations, which decide nothing.
const ANNOTATIONS: [&str; 6] = [
    "$schema",
    "default",
    "description",
    "examples",
    "format",
    "title",
];

/// What decides, and is taken into account.
const KEYWORDS: [&str; 12] = [
    "additionalProperties",
    "enum",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "properties",
    "required",
];

/// A name that no tool declares.
const UNDECLARED: &str = "x-undeclared";

/// The expected outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Its arguments are accepted.
    Fits,
    /// They are not as the schema asks, at this JSON pointer and nowhere else.
    Violates(String),
    /// They fit the schema, and one has a name that the schema does not declare.
    Undeclared,
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Its special property.
    pub(crate) what: String,
    pub(crate) arguments: Value,
    pub(crate) expected: Expected,
}

/// A value that fits a schema or violates it, with its special property.
type Special = (String, Value);

/// The calls of a tool with this input schema.
pub(crate) fn calls(schema: &Value) -> Vec<Call> {
    let fitting = fitting(schema).into_iter().map(|(what, arguments)| Call {
        what,
        arguments,
        expected: Expected::Fits,
    });
    let violating = violating(schema)
        .into_iter()
        .map(|(what, arguments, pointer)| Call {
            what,
            arguments,
            expected: Expected::Violates(pointer),
        });
    // At the top level, where the schema is silent, the rule of the contract decides.
    let silent = schema.get("additionalProperties").is_none();
    let undeclared = silent.then(|| Call {
        what: "an undeclared member".to_owned(),
        arguments: with(&everything(schema), UNDECLARED, json!(1)),
        expected: Expected::Undeclared,
    });
    fitting.chain(violating).chain(undeclared).collect()
}

fn kind(schema: &Value) -> &str {
    for (keyword, _) in schema.as_object().expect("a schema is an object") {
        let keyword = keyword.as_str();
        assert!(
            keyword == "type" || KEYWORDS.contains(&keyword) || ANNOTATIONS.contains(&keyword),
            "no calls are known for `{keyword}`: {schema}"
        );
    }
    schema["type"].as_str().expect("one type")
}

fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let properties = schema["properties"].as_object();
    let properties = properties.into_iter().flatten();
    properties.map(|(name, schema)| (name.as_str(), schema))
}

fn required(schema: &Value) -> Vec<&str> {
    let names = schema["required"].as_array();
    let names = names.into_iter().flatten();
    names.map(|name| name.as_str().expect("a name")).collect()
}

/// An object with another value for a member.
fn with(object: &Value, name: &str, value: Value) -> Value {
    let mut object = object.clone();
    object[name] = value;
    object
}

/// An object without a member.
fn without(object: &Value, name: &str) -> Value {
    let mut object = object.clone();
    object.as_object_mut().expect("an object").remove(name);
    object
}

/// The simplest valid value.
fn simplest(schema: &Value) -> Value {
    fitting(schema).swap_remove(0).1
}

/// An object with all declared members.
fn everything(schema: &Value) -> Value {
    let members = properties(schema).map(|(name, schema)| (name.to_owned(), simplest(schema)));
    Value::Object(members.collect())
}

/// Values that fit, and are as different as the schema allows.
fn fitting(schema: &Value) -> Vec<Special> {
    if let Some(values) = schema["enum"].as_array() {
        let each = values.iter().map(|it| (format!("{it}"), it.clone()));
        return each.collect();
    }
    match kind(schema) {
        "object" => fitting_objects(schema),
        "array" => fitting_lists(schema),
        "string" => fitting_texts(schema),
        "boolean" => [true, false].map(|it| (it.to_string(), json!(it))).into(),
        "integer" => fitting_numbers(schema, &[json!(0), json!(-7), json!(3.0)]),
        "number" => fitting_numbers(schema, &[json!(0), json!(-7), json!(2.5), json!(1e300)]),
        other => panic!("no values are known for {other}"),
    }
}

fn fitting_objects(schema: &Value) -> Vec<Special> {
    let (everything, required) = (everything(schema), required(schema));
    let alone: Map<_, _> = properties(schema)
        .filter(|(name, _)| required.contains(name))
        .map(|(name, schema)| (name.to_owned(), simplest(schema)))
        .collect();
    let mut found = vec![
        (
            "the required members alone".to_owned(),
            Value::Object(alone),
        ),
        ("all members".to_owned(), everything.clone()),
    ];
    for (name, schema) in properties(schema) {
        for (what, value) in fitting(schema) {
            let what = format!("{name}: {what}");
            found.push((what, with(&everything, name, value)));
        }
        if !required.contains(&name) {
            let what = format!("all members but {name}");
            found.push((what, without(&everything, name)));
        }
    }
    match &schema["additionalProperties"] {
        Value::Null | Value::Bool(false) => {}
        Value::Bool(true) => {
            let what = "a member that is allowed without being declared".to_owned();
            found.push((what, with(&everything, UNDECLARED, json!([null]))));
        }
        rest => {
            let what = "a member that is declared by its kind".to_owned();
            found.push((what, with(&everything, UNDECLARED, simplest(rest))));
        }
    }
    found
}

fn fitting_lists(schema: &Value) -> Vec<Special> {
    let items = &schema["items"];
    let of = |count: u64| -> Value { (0..count).map(|_| simplest(items)).collect() };
    let least = schema["minItems"].as_u64().unwrap_or(0);
    let most = schema["maxItems"].as_u64().unwrap_or(least + 3);
    let mut found = vec![
        (format!("{least} items"), of(least)),
        (format!("{most} items"), of(most)),
    ];
    for (what, item) in fitting(items) {
        let mut list = of(least.max(1));
        list[0] = item;
        found.push((format!("an item: {what}"), list));
    }
    found
}

fn fitting_texts(schema: &Value) -> Vec<Special> {
    if schema.get("pattern").is_some() {
        let examples = schema["examples"].as_array();
        let examples = examples.expect("a string with a pattern has examples of it");
        let each = examples.iter().map(|it| (format!("{it}"), it.clone()));
        return each.collect();
    }
    let least = schema["minLength"].as_u64().unwrap_or(0) as usize;
    let most = schema["maxLength"].as_u64().unwrap_or(least as u64 + 300) as usize;
    [
        ("shortest text".to_owned(), "a".repeat(least)),
        // Characters are counted, and neither bytes nor UTF-16 units.
        ("longest text".to_owned(), "😀".repeat(most)),
    ]
    .map(|(what, text)| (what, json!(text)))
    .into()
}

fn fitting_numbers(schema: &Value, typical: &[Value]) -> Vec<Special> {
    let (least, most) = (schema["minimum"].as_f64(), schema["maximum"].as_f64());
    let within = |it: &Value| {
        let number = it.as_f64().expect("a number");
        least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most)
    };
    let bounds = [&schema["minimum"], &schema["maximum"]];
    let all = bounds.into_iter().filter(|it| it.is_number());
    let all = all.chain(typical).filter(|it| within(it));
    all.map(|it| (format!("{it}"), it.clone())).collect()
}

/// Values that do not fit for one reason, and the JSON pointer of what does not.
fn violating(schema: &Value) -> Vec<(String, Value, String)> {
    let here = |(what, value)| (what, value, String::new());
    let mut found: Vec<_> = of_other_types(kind(schema)).map(here).collect();
    if let Some(values) = schema["enum"].as_array() {
        found.extend(outside(values).into_iter().map(here));
        return found;
    }
    match kind(schema) {
        "object" => found.extend(violating_objects(schema)),
        "array" => found.extend(violating_lists(schema)),
        "string" => found.extend(violating_texts(schema).into_iter().map(here)),
        "integer" | "number" => found.extend(violating_numbers(schema).into_iter().map(here)),
        _ => {}
    }
    found
}

/// A value of each type but one.
fn of_other_types(kind: &str) -> impl Iterator<Item = Special> {
    let each = [
        ("null", json!(null)),
        ("boolean", json!(true)),
        ("integer", json!(1)),
        ("number", json!(1.5)),
        ("string", json!("1")),
        ("array", json!([])),
        ("object", json!({})),
    ];
    let fits = move |other: &str| other == kind || (other, kind) == ("integer", "number");
    let others = each.into_iter().filter(move |(other, _)| !fits(other));
    others.map(|(other, value)| (format!("{other} in place of a value"), value))
}

/// Texts that are nearly one of those that are allowed.
fn outside(values: &[Value]) -> Vec<Special> {
    let texts: Vec<_> = values
        .iter()
        .map(|it| it.as_str().expect("an allowed text"))
        .collect();
    let near = texts.iter().flat_map(|text| {
        let joined = texts.join(",");
        let cases = [text.to_uppercase(), text.to_lowercase()];
        let added = [format!("{text} "), format!("{text}\n"), format!("{text}s")];
        let cut = text.chars().skip(1).collect();
        cases.into_iter().chain(added).chain([cut, joined])
    });
    let near = near.filter(|it| !texts.contains(&it.as_str()));
    near.map(|it| (format!("not allowed: {it:?}"), json!(it)))
        .collect()
}

fn violating_objects(schema: &Value) -> Vec<(String, Value, String)> {
    let everything = everything(schema);
    let mut found = Vec::new();
    for name in required(schema) {
        let what = format!("without {name}");
        found.push((what, without(&everything, name), String::new()));
    }
    for (name, schema) in properties(schema) {
        for (what, value, pointer) in violating(schema) {
            let pointer = format!("/{name}{pointer}");
            found.push((
                format!("{name}: {what}"),
                with(&everything, name, value),
                pointer,
            ));
        }
    }
    match &schema["additionalProperties"] {
        Value::Null | Value::Bool(true) => {}
        Value::Bool(false) => {
            let what = "a member that is excluded".to_owned();
            let object = with(&everything, UNDECLARED, json!(1));
            found.push((what, object, format!("/{UNDECLARED}")));
        }
        rest => {
            for (what, value, pointer) in violating(rest) {
                let what = format!("a member of another kind: {what}");
                let object = with(&everything, UNDECLARED, value);
                found.push((what, object, format!("/{UNDECLARED}{pointer}")));
            }
        }
    }
    found
}

fn violating_lists(schema: &Value) -> Vec<(String, Value, String)> {
    let items = &schema["items"];
    let of = |count: u64| -> Value { (0..count).map(|_| simplest(items)).collect() };
    let mut found = Vec::new();
    if let Some(least) = schema["minItems"].as_u64() {
        found.push((format!("{} items", least - 1), of(least - 1), String::new()));
    }
    if let Some(most) = schema["maxItems"].as_u64() {
        found.push((format!("{} items", most + 1), of(most + 1), String::new()));
    }
    let most = schema["maxItems"].as_u64().unwrap_or(2).min(2);
    for (what, item, pointer) in violating(items) {
        let mut list = of(most);
        let last = most as usize - 1;
        list[last] = item;
        found.push((
            format!("the last item: {what}"),
            list,
            format!("/{last}{pointer}"),
        ));
    }
    found
}

fn violating_texts(schema: &Value) -> Vec<Special> {
    let mut found = Vec::new();
    if let Some(least) = schema["minLength"].as_u64() {
        let text = "😀".repeat(least as usize - 1);
        found.push(("too short".to_owned(), json!(text)));
    }
    if let Some(most) = schema["maxLength"].as_u64() {
        let text = "a".repeat(most as usize + 1);
        found.push(("too long".to_owned(), json!(text)));
    }
    if schema.get("pattern").is_some() {
        for (what, text) in fitting_texts(schema) {
            let text = text.as_str().expect("a text");
            let before = ("in front of", format!("\u{1}{text}"));
            for (place, text) in [before, ("behind", format!("{text}\n"))] {
                let what = format!("a control character {place} {what}");
                found.push((what, json!(text)));
            }
        }
    }
    found
}

fn violating_numbers(schema: &Value) -> Vec<Special> {
    let bounds = [("minimum", -1.0), ("maximum", 1.0)];
    let bounds = bounds
        .into_iter()
        .filter_map(|(keyword, step)| Some((keyword, schema[keyword].as_f64()?, step)));
    bounds
        .map(|(keyword, bound, step)| (format!("beyond the {keyword}"), json!(bound + step)))
        .collect()
}
