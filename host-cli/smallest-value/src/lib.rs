//! The smallest value that fits a JSON Schema, as far as it can be derived.
//!
//! The template planner makes inputs of it, and the playground example answers of peers.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum depth of a value, and of references and branches within a schema.
const DEPTH: usize = 16;
/// Maximum effort of one derivation: members of schemas that are looked at, and values and bytes that are
/// made. A schema can refer to itself in many places.
const EFFORT: usize = 1 << 18;

/// Returns the smallest value that fits a schema, as far as it can be derived: by `const`, `enum`,
/// `default`, the required properties and the lower bounds. A string property gets the text that
/// `text_of` returns for its name, at the top even if it is optional. Without a schema, the value is `{}`.
pub fn smallest_value<'a>(
    schema: &'a Value,
    text_of: &'a dyn Fn(&str) -> Option<&'a str>,
) -> Value {
    let mut derivation = Derivation {
        root: schema,
        text_of,
        left: EFFORT,
    };
    match derivation.value(schema, None, 0) {
        Value::Null => Value::Object(Map::new()),
        value => value,
    }
}

/// One derivation.
struct Derivation<'a> {
    root: &'a Value,
    text_of: &'a dyn Fn(&str) -> Option<&'a str>,
    /// The effort that is left.
    left: usize,
}

/// The keywords of a schema with those of the schemas that it applies.
#[derive(Default)]
struct Merged<'a> {
    /// The first occurrence of each keyword.
    keywords: BTreeMap<&'a str, &'a Value>,
    /// The first schema of each property.
    properties: BTreeMap<&'a str, &'a Value>,
    /// All names of required properties.
    required: BTreeSet<&'a str>,
}

impl<'a> Merged<'a> {
    fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.keywords.get(keyword).copied()
    }
}

impl<'a> Derivation<'a> {
    /// Takes effort from what is left. Returns whether there was enough.
    fn take(&mut self, effort: usize) -> bool {
        let left = self.left.checked_sub(effort);
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    fn value(&mut self, schema: &'a Value, name: Option<&str>, depth: usize) -> Value {
        if depth > DEPTH || !self.take(1) {
            return Value::Null;
        }
        let schema = self.merged(schema, depth);
        let keyword = |keyword| schema.get(keyword);
        let first = keyword("enum").and_then(|values| values.get(0));
        if let Some(value) = keyword("const").or(first) {
            return self.copy(value);
        }
        let kind = type_of(&schema);
        if let Some(text) = name.and_then(self.text_of).filter(|_| kind == "string") {
            return self.text(text, &schema);
        }
        if let Some(value) = keyword("default") {
            return self.copy(value);
        }
        match kind {
            "object" => self.object(&schema, depth),
            "array" => self.array(&schema, depth),
            "string" => self.text("", &schema),
            "integer" => smallest_integer(&schema),
            "number" => smallest_number(&schema),
            "boolean" => Value::Bool(false),
            _ => Value::Null,
        }
    }

    fn copy(&mut self, value: &Value) -> Value {
        match self.take(size(value)) {
            true => value.clone(),
            false => Value::Null,
        }
    }

    /// Returns a text within `minLength` and `maxLength`, cut or filled up.
    fn text(&mut self, text: &str, schema: &Merged<'_>) -> Value {
        let length = |keyword| {
            let length = schema.get(keyword)?.as_u64()?;
            Some(usize::try_from(length).unwrap_or(usize::MAX))
        };
        let most = length("maxLength").unwrap_or(usize::MAX);
        let cut: String = text.chars().take(most).collect();
        let least = length("minLength").unwrap_or(0);
        let missing = least.saturating_sub(cut.chars().count());
        match self.take(cut.len().saturating_add(missing)) {
            true => Value::String(cut + &"x".repeat(missing)),
            false => Value::Null,
        }
    }

    fn object(&mut self, schema: &Merged<'a>, depth: usize) -> Value {
        let mut names = schema.required.clone();
        if depth == 0 {
            for (name, property) in &schema.properties {
                if (self.text_of)(name).is_some()
                    && type_of(&self.merged(property, depth + 1)) == "string"
                {
                    names.insert(name);
                }
            }
        }
        let other = schema.get("additionalProperties");
        let mut object = Map::new();
        for name in names {
            let property = schema.properties.get(name).copied().or(other);
            let value = property.map(|property| self.value(property, Some(name), depth + 1));
            object.insert(name.to_owned(), value.unwrap_or_default());
        }
        Value::Object(object)
    }

    fn array(&mut self, schema: &Merged<'a>, depth: usize) -> Value {
        let keyword = |keyword| schema.get(keyword);
        let length = keyword("minItems").and_then(Value::as_u64).unwrap_or(0);
        let first = keyword("prefixItems").and_then(Value::as_array);
        let mut items = Vec::new();
        while (items.len() as u64) < length && self.take(1) {
            let item = first.and_then(|first| first.get(items.len()));
            let item = item.or(keyword("items"));
            let value = item.map(|item| self.value(item, None, depth + 1));
            items.push(value.unwrap_or_default());
        }
        Value::Array(items)
    }

    /// Returns the keywords of a schema with those of its local reference, of all parts of `allOf`, and
    /// of the first branch of `anyOf` and `oneOf`.
    fn merged(&mut self, schema: &'a Value, depth: usize) -> Merged<'a> {
        let mut merged = Merged::default();
        self.merge(schema, depth, &mut merged);
        merged
    }

    fn merge(&mut self, schema: &'a Value, depth: usize, merged: &mut Merged<'a>) {
        let Some(schema) = schema.as_object() else {
            return;
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let effort = schema.len() + properties.map_or(0, Map::len) + required.map_or(0, Vec::len);
        if depth > DEPTH || !self.take(effort + 1) {
            return;
        }
        for (keyword, value) in schema {
            merged.keywords.entry(keyword).or_insert(value);
        }
        for (name, property) in properties.into_iter().flatten() {
            merged.properties.entry(name).or_insert(property);
        }
        let required = required.into_iter().flatten();
        merged.required.extend(required.filter_map(Value::as_str));

        let reference = schema.get("$ref").and_then(Value::as_str);
        let pointer = reference.and_then(|reference| reference.strip_prefix('#'));
        let target = pointer.and_then(|pointer| self.root.pointer(pointer));
        let all = schema.get("allOf").and_then(Value::as_array);
        let branches = ["anyOf", "oneOf"].into_iter();
        let branches = branches.filter_map(|branches| schema.get(branches)?.get(0));
        let applied = target.into_iter().chain(all.into_iter().flatten());
        for part in applied.chain(branches) {
            self.merge(part, depth + 1, merged);
        }
    }
}

/// Returns the number of values and of bytes in names and texts within a value.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len(),
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => {
            let sizes = members.iter().map(|(name, value)| name.len() + size(value));
            1 + sizes.sum::<usize>()
        }
        _ => 1,
    }
}

/// Returns the type of the values of a schema, by `type` or else by the other keywords.
fn type_of<'a>(schema: &Merged<'a>) -> &'a str {
    let has = |keywords: &[&str]| keywords.iter().any(|it| schema.get(it).is_some());
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

fn smallest_integer(schema: &Merged<'_>) -> Value {
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
fn whole(schema: &Merged<'_>, keyword: &str) -> bool {
    let bound = schema.get(keyword).and_then(Value::as_f64);
    bound.is_some_and(|bound| bound.fract() == 0.0)
}

fn smallest_number(schema: &Merged<'_>) -> Value {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    if let Some(above) = bound("exclusiveMinimum") {
        // Half-way to the upper bound, if there is one.
        let upper = bound("maximum").or(bound("exclusiveMaximum"));
        let step = upper.map_or(1.0, |upper| ((upper - above) / 2.0).min(1.0));
        return (above + step).into();
    }
    if let Some(Value::Number(minimum)) = schema.get("minimum") {
        return minimum.clone().into();
    }
    let below = bound("exclusiveMaximum").map(|bound| bound - 1.0);
    match bound("maximum").or(below).filter(|upper| *upper < 0.0) {
        Some(upper) => upper.into(),
        None => 0.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{EFFORT, smallest_value};
    use serde_json::{Value, json};

    /// Returns the text of a property that is named like a query.
    fn goal<'a>(name: &str) -> Option<&'a str> {
        let name = name.to_lowercase();
        let takes_goal = ["message", "query", "text"];
        takes_goal
            .iter()
            .any(|word| name.contains(word))
            .then_some("find it")
    }

    /// Compares the value of a schema, which has to fit the schema too.
    fn derives(schema: Value, expected: Value) {
        let value = smallest_value(&schema, &goal);
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
        let bounded = |schema: Value| {
            let text = smallest_value(&schema, &goal).to_string();
            assert!(text.len() < EFFORT * 8, "{}", text.len());
        };
        bounded(json!({"$ref": "#", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}));
        let references = vec![json!({"$ref": "#"}); 64];
        bounded(json!({"allOf": references, "anyOf": [{"$ref": "#"}]}));
        let many = u64::MAX;
        bounded(json!({"type": "array", "minItems": many, "items": {"$ref": "#"}}));
        bounded(json!({"minItems": many, "items": {"const": "c".repeat(EFFORT / 4)}}));
        bounded(json!({"minItems": many, "items": {"type": "string", "minLength": EFFORT / 4}}));
        bounded(json!({"type": "string", "minLength": many}));
        let names: Vec<_> = (0..100).map(|n| n.to_string()).collect();
        bounded(json!({"required": names, "additionalProperties": {"$ref": "#"}}));
    }
}
