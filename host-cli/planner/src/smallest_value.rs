//! The smallest value that fits a JSON Schema, as far as it can be derived.

use crate::words::words;
use serde_json::{Map, Value};

/// Maximum depth of a value, and of references and branches within a schema.
const DEPTH: usize = 16;
/// Maximum number of values within a value. A schema can refer to itself in many places.
const VALUES: usize = 1_000;
/// Maximum number of characters that fill a string up to its `minLength`.
const FILLED_CHARS: u64 = 1_000;
/// The words in the name of a property that takes the goal.
const GOAL_WORDS: [&str; 4] = ["goal", "message", "query", "text"];

/// Returns the smallest value that fits a schema, as far as it can be derived: by `const`, `enum`,
/// `default`, the required properties and the lower bounds. A string property that is named like a
/// query gets the goal, at the top even if it is optional. Without a schema, the value is `{}`.
pub(crate) fn smallest_value(schema: &Value, goal: &str) -> Value {
    let mut derivation = Derivation {
        root: schema,
        goal,
        left: VALUES,
    };
    match derivation.value(schema, None, 0) {
        Value::Null => Value::Object(Map::new()),
        value => value,
    }
}

/// One derivation.
struct Derivation<'a> {
    root: &'a Value,
    goal: &'a str,
    /// The number of values that may still be derived.
    left: usize,
}

impl Derivation<'_> {
    fn value(&mut self, schema: &Value, name: Option<&str>, depth: usize) -> Value {
        if depth > DEPTH || self.left == 0 {
            return Value::Null;
        }
        self.left -= 1;
        let schema = self.merged(schema, depth);
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(value) = schema.get("enum").and_then(|values| values.get(0)) {
            return value.clone();
        }
        let kind = type_of(&schema);
        if kind == "string" && name.is_some_and(takes_goal) {
            return Value::String(fitted(self.goal, &schema));
        }
        if let Some(value) = schema.get("default") {
            return value.clone();
        }
        match kind {
            "object" => self.object(&schema, depth),
            "array" => self.array(&schema, depth),
            "string" => Value::String(fitted("", &schema)),
            "integer" => smallest_integer(&schema),
            "number" => smallest_number(&schema),
            "boolean" => Value::Bool(false),
            _ => Value::Null,
        }
    }

    fn object(&mut self, schema: &Map<String, Value>, depth: usize) -> Value {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let mut names: Vec<&str> = required.collect();
        if depth == 0 {
            let optional = properties.into_iter().flatten();
            let goals = optional.filter(|(name, schema)| {
                takes_goal(name) && type_of(&self.merged(schema, depth + 1)) == "string"
            });
            names.extend(goals.map(|(name, _)| name.as_str()));
        }
        names.sort_unstable();
        names.dedup();
        let mut object = Map::new();
        for name in names {
            let property = properties.and_then(|properties| properties.get(name));
            let property = property.or_else(|| schema.get("additionalProperties"));
            let property = property.unwrap_or(&Value::Null);
            object.insert(name.to_owned(), self.value(property, Some(name), depth + 1));
        }
        Value::Object(object)
    }

    fn array(&mut self, schema: &Map<String, Value>, depth: usize) -> Value {
        let length = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let first = schema.get("prefixItems").and_then(Value::as_array);
        let rest = schema.get("items").unwrap_or(&Value::Null);
        let length = usize::try_from(length).unwrap_or(VALUES).min(self.left);
        let items = (0..length).map(|place| {
            let item = first.and_then(|first| first.get(place)).unwrap_or(rest);
            self.value(item, None, depth + 1)
        });
        Value::Array(items.collect())
    }

    /// Returns the keywords of a schema with those of its local reference, of all parts of `allOf`, and
    /// of the first branch of `anyOf` and `oneOf`. The first occurrence of a keyword counts, save that
    /// properties and required names are gathered.
    fn merged(&self, schema: &Value, depth: usize) -> Map<String, Value> {
        let mut merged = Map::new();
        self.merge(schema, depth, &mut merged);
        merged
    }

    fn merge(&self, schema: &Value, depth: usize, merged: &mut Map<String, Value>) {
        let Some(schema) = schema.as_object() else {
            return;
        };
        if depth > DEPTH {
            return;
        }
        for (keyword, value) in schema {
            match (merged.get_mut(keyword), value) {
                (Some(Value::Object(known)), Value::Object(more)) if keyword == "properties" => {
                    for (name, property) in more {
                        known.entry(name).or_insert_with(|| property.clone());
                    }
                }
                (Some(Value::Array(known)), Value::Array(more)) if keyword == "required" => {
                    known.extend_from_slice(more);
                }
                (Some(_), _) => {}
                (None, _) => {
                    merged.insert(keyword.clone(), value.clone());
                }
            }
        }
        let reference = schema.get("$ref").and_then(Value::as_str);
        if let Some(target) = reference
            .and_then(|reference| reference.strip_prefix('#'))
            .and_then(|pointer| self.root.pointer(pointer))
        {
            self.merge(target, depth + 1, merged);
        }
        let all = schema.get("allOf").and_then(Value::as_array);
        for part in all.into_iter().flatten().take(DEPTH) {
            self.merge(part, depth + 1, merged);
        }
        for branches in ["anyOf", "oneOf"] {
            if let Some(branch) = schema.get(branches).and_then(|branches| branches.get(0)) {
                self.merge(branch, depth + 1, merged);
            }
        }
    }
}

/// Returns the type of the values of a schema, by `type` or else by the other keywords.
fn type_of(schema: &Map<String, Value>) -> &str {
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| schema.contains_key(*keyword));
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or("null"),
        _ if has(&["properties", "required", "additionalProperties"]) => "object",
        _ if has(&["items", "minItems", "prefixItems"]) => "array",
        _ if has(&["minLength", "maxLength", "pattern", "format"]) => "string",
        _ if has(&["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"]) => "integer",
        _ => "null",
    }
}

fn takes_goal(name: &str) -> bool {
    let words = words(name);
    GOAL_WORDS.iter().any(|word| words.contains(*word))
}

/// Returns a text within `minLength` and `maxLength`, cut or filled up.
fn fitted(text: &str, schema: &Map<String, Value>) -> String {
    let length = |keyword| schema.get(keyword).and_then(Value::as_u64);
    let most = length("maxLength").and_then(|most| usize::try_from(most).ok());
    let mut fitted: String = text.chars().take(most.unwrap_or(usize::MAX)).collect();
    let missing = length("minLength")
        .unwrap_or(0)
        .min(FILLED_CHARS)
        .saturating_sub(fitted.chars().count() as u64);
    fitted.extend((0..missing).map(|_| 'x'));
    fitted
}

fn smallest_integer(schema: &Map<String, Value>) -> Value {
    // Bounds may be written as `1.0`, and exceed the range of integers.
    let bound = |keyword: &str| {
        let value = schema.get(keyword)?;
        value
            .as_i64()
            .or_else(|| value.as_f64().map(|bound| bound.ceil() as i64))
    };
    let above = bound("exclusiveMinimum").map(|bound| match whole(schema, "exclusiveMinimum") {
        true => bound.saturating_add(1),
        false => bound,
    });
    let below = bound("exclusiveMaximum").map(|bound| bound.saturating_sub(1));
    let lower = bound("minimum").max(above);
    let upper = bound("maximum").into_iter().chain(below).min();
    let smallest = lower.unwrap_or_else(|| upper.unwrap_or(0).min(0));
    let multiple = schema.get("multipleOf").and_then(Value::as_i64);
    match multiple.filter(|multiple| *multiple > 1) {
        Some(multiple) => {
            let beyond = smallest.rem_euclid(multiple);
            let missing = if beyond == 0 { 0 } else { multiple - beyond };
            smallest.saturating_add(missing).into()
        }
        None => smallest.into(),
    }
}

/// Returns whether a bound is a whole number.
fn whole(schema: &Map<String, Value>, keyword: &str) -> bool {
    let bound = schema.get(keyword).and_then(Value::as_f64);
    bound.is_some_and(|bound| bound.fract() == 0.0)
}

fn smallest_number(schema: &Map<String, Value>) -> Value {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    if let Some(above) = bound("exclusiveMinimum") {
        // Half-way to the upper bound, if there is one.
        let upper = bound("maximum").or(bound("exclusiveMaximum"));
        let step = upper.map_or(1.0, |upper| ((upper - above) / 2.0).min(1.0));
        return (above + step).into();
    }
    if let Some(minimum) = schema.get("minimum").filter(|bound| bound.is_number()) {
        return minimum.clone();
    }
    let below = bound("exclusiveMaximum").map(|bound| bound - 1.0);
    match bound("maximum").or(below).filter(|upper| *upper < 0.0) {
        Some(upper) => upper.into(),
        None => 0.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{VALUES, smallest_value};
    use serde_json::{Value, json};

    /// Compares the value of a schema, which has to fit the schema too.
    fn derives(schema: Value, expected: Value) {
        let value = smallest_value(&schema, "find it");
        assert_eq!(value, expected, "{schema}");
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&value), "{schema} {value}");
    }

    fn property(schema: Value, expected: Value) {
        derives(
            json!({"type": "object", "properties": {"p": schema}, "required": ["p"]}),
            json!({"p": expected}),
        );
    }

    #[test]
    fn fixed_values_come_first() {
        property(json!({"const": [1], "default": 2}), json!([1]));
        property(json!({"enum": ["b", "a"], "default": "a"}), json!("b"));
        property(json!({"type": "integer", "default": 7}), json!(7));
        derives(
            json!({"type": "object", "default": {"a": 1}}),
            json!({"a": 1}),
        );
    }

    #[test]
    fn types_have_their_smallest_values() {
        property(json!({"type": "boolean"}), json!(false));
        property(json!({"type": "null"}), json!(null));
        property(json!({"type": ["string", "null"]}), json!(""));
        property(json!({"type": "string", "minLength": 3}), json!("xxx"));
        property(json!({"type": "array"}), json!([]));
        property(
            json!({"minItems": 2, "items": {"type": "boolean"}}),
            json!([false, false]),
        );
        property(
            json!({"type": "array", "minItems": 2, "prefixItems": [{"const": 1}], "items": {"const": 2}}),
            json!([1, 2]),
        );
        property(json!(true), json!(null));
    }

    #[test]
    fn numbers_keep_their_bounds() {
        for (schema, expected) in [
            (json!({"type": "integer"}), json!(0)),
            (
                json!({"type": "integer", "minimum": 1, "maximum": 100}),
                json!(1),
            ),
            (json!({"type": "integer", "minimum": 1.5}), json!(2)),
            (json!({"type": "integer", "exclusiveMinimum": 4}), json!(5)),
            (
                json!({"type": "integer", "exclusiveMinimum": 4.5}),
                json!(5),
            ),
            (json!({"type": "integer", "maximum": -3}), json!(-3)),
            (
                json!({"type": "integer", "exclusiveMaximum": -3}),
                json!(-4),
            ),
            (
                json!({"type": "integer", "minimum": 11, "multipleOf": 5}),
                json!(15),
            ),
            (
                json!({"type": "integer", "minimum": 10, "multipleOf": 5}),
                json!(10),
            ),
            (json!({"minimum": 3}), json!(3)),
            (json!({"type": "number"}), json!(0)),
            (json!({"type": "number", "minimum": 0.5}), json!(0.5)),
            (
                json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
                json!(0.5),
            ),
            (json!({"type": "number", "maximum": -0.5}), json!(-0.5)),
        ] {
            property(schema, expected);
        }
    }

    #[test]
    fn only_required_properties_and_those_for_the_goal_are_given() {
        let string = json!({"type": "string"});
        derives(
            json!({
                "type": "object",
                "properties": {
                    "searchQuery": string, "note": string, "text": {"type": "boolean"},
                    "deep": {"type": "object", "properties": {"message": string, "query": string},
                             "required": ["query"]},
                },
                "required": ["note", "deep", "extra"],
                "additionalProperties": {"type": "integer"},
            }),
            json!({"searchQuery": "find it", "note": "", "deep": {"query": "find it"}, "extra": 0}),
        );
        derives(
            json!({"properties": {"query": {"type": "string", "maxLength": 4}}}),
            json!({"query": "find"}),
        );
        derives(
            json!({"properties": {"query": {"type": "string", "enum": ["a"]}}}),
            json!({"query": "a"}),
        );
        derives(json!({}), json!({}));
        derives(json!(true), json!({}));
    }

    #[test]
    fn references_and_branches_are_followed() {
        derives(
            json!({
                "$defs": {"a": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
                "allOf": [{"$ref": "#/$defs/a"}, {"properties": {"m": {"const": 1}}, "required": ["m"]}],
            }),
            json!({"m": 1, "n": 0}),
        );
        property(
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!(""),
        );
        property(json!({"oneOf": [{"const": 2}, {"const": 3}]}), json!(2));
    }

    #[test]
    fn schemas_without_an_end_end() {
        let itself = json!({"$ref": "#", "properties": {"a": {"$ref": "#"}}, "required": ["a"]});
        smallest_value(&itself, "g");
        let wide = json!({"$ref": "#", "allOf": [{"$ref": "#"}], "anyOf": [{"$ref": "#"}]});
        smallest_value(&wide, "g");
        let many = json!({"type": "array", "minItems": 9_000_000_000_u64, "items": {"$ref": "#"}});
        let text = smallest_value(&many, "g").to_string();
        assert!(text.len() < VALUES * 10, "{}", text.len());
    }
}
