//! Comparison of verdicts with those of the crate `jsonschema` on generated schemas, and with those
//! of the same schema with its keys in another order.

use super::check_by;
use crate::random::Random;
use agent_json_schema::Draft;
use serde_json::{Value, json};

/// Number of generated schemas for each draft.
const SCHEMAS: u32 = 1_500;

/// Number of values for each schema.
const VALUES: u32 = 6;

impl Random {
    fn value(&mut self, depth: u32) -> Value {
        let kinds = if depth == 0 { 5 } else { 9 };
        match self.below(kinds) {
            0 => json!(null),
            1 => json!(self.below(2) == 0),
            2 => json!(self.below(5)),
            3 => self
                .one_of(&[json!(1.0), json!(1.5), json!(-2), json!(2.0), json!(0.5)])
                .clone(),
            4 => json!(self.one_of(&["", "a", "ab", "b1", "é", "aaa"])),
            5 | 6 => (0..self.below(5)).map(|_| self.value(depth - 1)).collect(),
            _ => {
                let entries = (0..self.below(5)).map(|_| (self.name(), self.value(depth - 1)));
                Value::Object(entries.collect())
            }
        }
    }

    fn name(&mut self) -> String {
        (*self.one_of(&["a", "b", "c", "ab", "d"])).to_owned()
    }

    fn schemas(&mut self, depth: u32, draft: Draft) -> Value {
        (0..=self.below(3))
            .map(|_| self.schema(depth, draft))
            .collect()
    }

    fn named(&mut self, depth: u32, draft: Draft) -> Value {
        let entries = (0..=self.below(3)).map(|_| (self.name(), self.schema(depth, draft)));
        Value::Object(entries.collect())
    }

    /// Returns a schema. Its references lead only to definitions without references, because
    /// implementations need not end for circular ones.
    fn schema(&mut self, depth: u32, draft: Draft) -> Value {
        if self.below(10) == 0 {
            return json!(self.below(3) > 0);
        }
        let mut schema = serde_json::Map::new();
        for _ in 0..=self.below(3) {
            let (keyword, value) = self.keyword(depth, draft);
            schema.insert(keyword.to_owned(), value);
        }
        Value::Object(schema)
    }

    fn keyword(&mut self, depth: u32, draft: Draft) -> (&'static str, Value) {
        let newer = draft == Draft::Draft202012;
        let plain = 18;
        let deep = if newer { 22 } else { 20 };
        let number = self.below(if depth == 0 { plain } else { plain + deep });
        let count = |random: &mut Self| json!(random.below(4));
        match number {
            0 | 1 => {
                let types = [
                    "null", "boolean", "integer", "number", "string", "array", "object",
                ];
                if self.below(2) == 0 {
                    return ("type", json!(self.one_of(&types)));
                }
                let first = self.below(6);
                ("type", json!([types[first], types[first + 1]]))
            }
            2 => ("const", self.value(1)),
            3 => {
                let values: Vec<_> = (0..=self.below(4)).map(|_| self.value(1)).collect();
                ("enum", json!(values))
            }
            4 => (
                "multipleOf",
                self.one_of(&[json!(1), json!(2), json!(0.5), json!(1.0)])
                    .clone(),
            ),
            5 => (
                ["maximum", "exclusiveMaximum"][self.below(2)],
                json!(self.below(3)),
            ),
            6 => (
                ["minimum", "exclusiveMinimum"][self.below(2)],
                json!(self.below(3)),
            ),
            7 => ("maxLength", count(self)),
            8 => ("minLength", count(self)),
            9 => (
                "pattern",
                json!(self.one_of(&["^a", "b|1$", "^.$", r"^\w+$", r"\d", "^[^a]*$"])),
            ),
            10 => ("maxItems", count(self)),
            11 => ("minItems", count(self)),
            12 => ("uniqueItems", json!(self.below(4) > 0)),
            13 => ("maxProperties", count(self)),
            14 => ("minProperties", count(self)),
            15 => {
                let mut names = vec![self.name(), self.name()];
                names.dedup();
                ("required", json!(names))
            }
            16 if newer => ("dependentRequired", json!({ self.name(): [self.name()] })),
            16 => ("dependencies", json!({ self.name(): [self.name()] })),
            17 => {
                let folder = if newer { "$defs" } else { "definitions" };
                (
                    "$ref",
                    json!(format!("#/{folder}/{}", ["a", "b"][self.below(2)])),
                )
            }
            number => self.applicator(number - plain, depth - 1, draft),
        }
    }

    fn applicator(&mut self, number: usize, depth: u32, draft: Draft) -> (&'static str, Value) {
        let newer = draft == Draft::Draft202012;
        match number {
            0..=2 => ("properties", self.named(depth, draft)),
            3 => {
                let schema = self.schema(depth, draft);
                (
                    "patternProperties",
                    json!({ *self.one_of(&["^a", "b$", "[cd]"]): schema }),
                )
            }
            4 | 5 => ("additionalProperties", self.schema(depth, draft)),
            6 => ("propertyNames", self.schema(depth, draft)),
            7 => ("items", self.schema(depth, draft)),
            8 if newer => ("prefixItems", self.schemas(depth, draft)),
            8 => ("items", self.schemas(depth, draft)),
            9 => ("contains", self.schema(depth, draft)),
            10 if newer => (
                ["minContains", "maxContains"][self.below(2)],
                json!(self.below(3)),
            ),
            10 => ("additionalItems", self.schema(depth, draft)),
            11 => ("allOf", self.schemas(depth, draft)),
            12 => ("anyOf", self.schemas(depth, draft)),
            13 | 14 => ("oneOf", self.schemas(depth, draft)),
            15 => ("not", self.schema(depth, draft)),
            16 => ("if", self.schema(depth, draft)),
            17 => ("then", self.schema(depth, draft)),
            18 => ("else", self.schema(depth, draft)),
            19 if newer => ("dependentSchemas", self.named(depth, draft)),
            19 => ("dependencies", self.named(depth, draft)),
            20 => ("unevaluatedProperties", self.schema(depth, draft)),
            _ => ("unevaluatedItems", self.schema(depth, draft)),
        }
    }

    /// Returns a schema of several levels, with definitions.
    fn document(&mut self, draft: Draft) -> Value {
        let mut schema = serde_json::Map::new();
        for _ in 0..=self.below(5) {
            let (keyword, value) = self.keyword(3, draft);
            schema.insert(keyword.to_owned(), value);
        }
        let mut definitions = serde_json::Map::new();
        for name in ["a", "b"] {
            let mut definition = self.schema(2, draft);
            without_references(&mut definition);
            definitions.insert(name.to_owned(), definition);
        }
        let folder = if draft == Draft::Draft202012 {
            "$defs"
        } else {
            "definitions"
        };
        schema.insert(folder.to_owned(), Value::Object(definitions));
        Value::Object(schema)
    }
}

fn without_references(schema: &mut Value) {
    match schema {
        Value::Object(entries) => {
            entries.remove("$ref");
            entries.values_mut().for_each(without_references);
        }
        Value::Array(items) => items.iter_mut().for_each(without_references),
        _ => {}
    }
}

/// Returns a text of a value with the keys of all objects in reverse order.
fn reversed(value: &Value) -> String {
    match value {
        Value::Object(entries) => {
            let entries = entries.iter().rev();
            let entries: Vec<_> = entries
                .map(|(key, value)| format!("{}: {}", json!(key), reversed(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(reversed).collect();
            format!("[{}]", items.join(", "))
        }
        _ => value.to_string(),
    }
}

fn compare(draft: Draft, theirs: jsonschema::Draft, seed: u64) {
    let mut random = Random(seed);
    let (mut valid, mut invalid) = (0, 0);
    for _ in 0..SCHEMAS {
        let schema = random.document(draft);
        let validator = jsonschema::options().with_draft(theirs).build(&schema);
        let validator = validator.unwrap_or_else(|e| panic!("{schema}: {e}"));
        for _ in 0..VALUES {
            let value = random.value(3);
            let expected = validator.is_valid(&value);
            let (found, steps) = check_by(draft, &schema.to_string(), &value.to_string());
            let found = found.unwrap_or_else(|e| panic!("{e:?}: {schema}"));
            assert_eq!(found.is_empty(), expected, "{schema}\n{value}\n{found:#?}");
            let (again, steps_again) = check_by(draft, &schema.to_string(), &value.to_string());
            assert_eq!(
                (Ok(&found), steps),
                (again.as_ref(), steps_again),
                "{schema}\n{value}"
            );
            let turned = check_by(draft, &reversed(&schema), &reversed(&value)).0;
            let turned = turned.map(|found| found.is_empty());
            assert_eq!(turned, Ok(expected), "{schema}\n{value}");
            *(if expected { &mut valid } else { &mut invalid }) += 1;
        }
    }
    assert!(
        valid > 1_000 && invalid > 1_000,
        "{valid} valid, {invalid} invalid"
    );
}

#[test]
fn verdicts_of_draft_2020_12_are_those_of_another() {
    compare(
        Draft::Draft202012,
        jsonschema::Draft::Draft202012,
        0x9e37_79b9_7f4a_7c15,
    );
}

#[test]
fn verdicts_of_draft_07_are_those_of_another() {
    compare(
        Draft::Draft07,
        jsonschema::Draft::Draft7,
        0xbf58_476d_1ce4_e5b9,
    );
}
