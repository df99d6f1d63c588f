//! The parts of a value that a schema marks as secret.

use super::arena::{Check, Schema, SubId};
use super::budget::{Budget, OverBudget};
use super::introspection::Reach;
use super::json::Json;
use super::keyword::entries;
use agent_syntax::{Node, Value};
use agent_text::Span;

/// Returns whether a subschema marks its values as secret: `writeOnly: true` (they are never returned), or
/// `format: password` (they are not shown).
pub(super) fn is_secret(schema: &Node<'_>) -> bool {
    entries(schema).into_iter().flatten().any(|entry| {
        let value = &entry.value.value;
        match &*entry.key {
            "writeOnly" => *value == Value::Bool(true),
            "format" => matches!(value, Value::String(format) if format == "password"),
            _ => false,
        }
    })
}

impl Schema<'_> {
    /// Returns the places of the outermost parts of a value that a subschema marks as secret. A branch
    /// counts whether or not the value fits it: a value that is refused is a secret all the same.
    ///
    /// # Errors
    /// The search exceeds the budget.
    pub fn secret_parts(
        &self,
        value: Json<'_, '_>,
        budget: &mut Budget,
    ) -> Result<Vec<Span>, OverBudget> {
        if !self.subs.iter().any(|sub| sub.is_secret) {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        let mut next = vec![(vec![self.root], value.node())];
        while let Some((subs, node)) = next.pop() {
            budget.charge(1)?;
            let subs = self.reached(subs, Reach::Any, budget)?;
            if subs.iter().any(|sub| self.sub(*sub).is_secret) {
                found.push(node.span);
                continue;
            }
            match &node.value {
                Value::Mapping(entries) => {
                    for entry in entries {
                        let below = self.of_property(&subs, &entry.key, budget)?;
                        next.push((below, &entry.value));
                    }
                }
                Value::Sequence(items) => {
                    for (place, item) in items.iter().enumerate() {
                        budget.charge(subs.len() as u64)?;
                        next.push((self.of_item(&subs, place), item));
                    }
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// Returns the subschemas for a property.
    fn of_property(
        &self,
        subs: &[SubId],
        name: &str,
        budget: &mut Budget,
    ) -> Result<Vec<SubId>, OverBudget> {
        let mut found = Vec::new();
        for rule in subs.iter().flat_map(|sub| self.rules(*sub)) {
            match &rule.check {
                Check::Properties(properties) => {
                    self.named(properties, name, &mut found, budget)?;
                }
                Check::UnevaluatedProperties(sub) => found.push(*sub),
                _ => {}
            }
        }
        Ok(found)
    }

    /// Returns the subschemas for an item.
    fn of_item(&self, subs: &[SubId], place: usize) -> Vec<SubId> {
        let mut found = Vec::new();
        for rule in subs.iter().flat_map(|sub| self.rules(*sub)) {
            match &rule.check {
                Check::Items(items) => {
                    let rest = items.rest.map(|rest| rest.sub);
                    found.extend(items.first.get(place).copied().or(rest));
                }
                Check::Contains(contains) => found.push(contains.sub),
                Check::UnevaluatedItems(sub) => found.push(*sub),
                _ => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use crate::json::{JsonText, with_schema};
    use crate::{Budget, OverBudget};

    fn secrets(schema: &str, value: &str, steps: u64) -> Result<Vec<String>, OverBudget> {
        let found = with_schema(schema, &mut Budget::new(), |schema, _| {
            let text = JsonText::strict(value).expect("JSON");
            let schema = schema.expect("a schema");
            schema.secret_parts(text.root(), &mut Budget::of(steps))
        });
        let mut found: Vec<_> = found
            .expect("JSON")?
            .into_iter()
            .map(|span| span.of(value).to_owned())
            .collect();
        found.sort();
        Ok(found)
    }

    #[test]
    fn marked_parts_are_found_wherever_the_mark_is() {
        for (schema, value, expected) in [
            (r#"{"writeOnly":true}"#, "[1]", &["[1]"][..]),
            (r#"{"writeOnly":false,"format":"email"}"#, "[1]", &[]),
            (
                r#"{"properties":{"a":{"format":"password"}}}"#,
                r#"{"a":"x","b":"y"}"#,
                &[r#""x""#],
            ),
            (
                r##"{"properties":{"a":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string","writeOnly":true}}}"##,
                r#"{"a":4}"#,
                &["4"],
            ),
            (
                r#"{"anyOf":[{"type":"null"},{"items":{"writeOnly":true}}]}"#,
                "[1,[2]]",
                &["1", "[2]"],
            ),
            (
                r#"{"prefixItems":[true,{"writeOnly":true}],"contains":{"format":"password","const":9}}"#,
                "[1,2]",
                &["1", "2"],
            ),
            (
                r#"{"patternProperties":{"^x":{"writeOnly":true}},"additionalProperties":{"properties":{"k":{"writeOnly":true}}}}"#,
                r#"{"xa":1,"b":{"k":2,"l":3}}"#,
                &["1", "2"],
            ),
            (
                r#"{"if":{"required":["a"]},"then":{"unevaluatedProperties":{"writeOnly":true}}}"#,
                r#"{"a":1}"#,
                &["1"],
            ),
            (
                r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"writeOnly":true}]}"#,
                "[1,2]",
                &["1"],
            ),
        ] {
            let found = secrets(schema, value, 10_000).expect("within the budget");
            assert_eq!(found, expected, "{schema}");
        }
    }

    #[test]
    fn the_search_is_bounded() {
        let schema = r##"{"items":{"$ref":"#"},"properties":{"a":{"writeOnly":true}}}"##;
        let value = format!("[{}1]", "1,".repeat(1000));
        assert!(secrets(schema, &value, 100).is_err());
    }
}
