//! Schemas without the patterns that can't be used, for tools whose patterns are ignored \[4\].

use super::arena::Schema;
use super::budget::Budget;
use super::documents::Documents;
use super::keyword::Draft;
use super::schema_error::Refused;
use agent_syntax::json::{Reader, parse_value};
use agent_text::Span;
use agent_text::sort::sort_by;

/// The place of a pattern that can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnusablePattern {
    /// The string.
    pub(super) span: Span,
    /// Whether it is a name of `patternProperties`.
    pub(super) is_name: bool,
}

/// Returns the JSON text of a schema without the patterns that can't be used: an ignored `pattern` is true, and an
/// ignored `patternProperties` declares no name. Patterns that can be used stay.
///
/// Returns `None` if nothing is ignored, or if the schema can't be read within its budget.
pub fn without_unusable_patterns(schema: &str) -> Option<String> {
    let mut budget = Budget::new();
    budget.read(schema).ok()?;
    let root = parse_value(&mut Reader::new(schema)).ok()?;
    let mut unusable = Vec::new();
    let documents = Documents::new();
    let compiled = Schema::compile_noting(
        &root,
        &documents,
        Draft::Draft202012,
        &mut budget,
        &mut unusable,
    );
    let Err(Refused::Invalid(_)) = compiled else {
        return None;
    };
    sort_by(&mut unusable, Ord::cmp);
    let (mut text, mut end) = (String::new(), 0);
    for (number, pattern) in unusable.iter().enumerate() {
        text.push_str(schema.get(end..pattern.span.start as usize)?);
        match pattern.is_name {
            // It matches nothing, and is a name of its own.
            true => text.push_str(&format!("\"$x{{{}}}\"", number + 1)),
            false => text.push_str("\"\""),
        }
        end = pattern.span.end as usize;
    }
    (end > 0).then(|| text + &schema[end..])
}

#[cfg(test)]
mod tests {
    use super::without_unusable_patterns;
    use crate::{Budget, JsonText, ToolSchema, arguments, unusable};

    const BEHIND: &str = "a(?=b)";

    fn refused(schema: &str, value: &str) -> usize {
        let value = JsonText::read(value).expect("JSON");
        arguments(
            Some(ToolSchema::Text(schema)),
            value.root(),
            0,
            &mut Budget::new(),
        )
        .len()
    }

    #[test]
    fn an_ignored_pattern_is_true_and_an_ignored_name_declares_nothing() {
        let schema = format!(
            r#"{{"properties": {{"pattern": {{"pattern": "{BEHIND}", "minLength": 2}}, "b": {{"pattern": "{BEHIND}"}},
                "c": {{"pattern": "^c"}}, "d": {{"enum": [{{"pattern": "{BEHIND}"}}]}}}},
                "patternProperties": {{"{BEHIND}": {{}}, "x(?=y)": {{}}, "^e": {{}}}}, "additionalProperties": false}}"#
        );
        assert!(!unusable(Some(&schema), &mut Budget::new()).is_empty());
        let ignoring = without_unusable_patterns(&schema).expect("patterns that can't be used");
        assert_eq!(unusable(Some(&ignoring), &mut Budget::new()), []);
        for (value, problems) in [
            (r#"{"pattern": "zz", "b": "", "c": "c", "e1": 0}"#, 0),
            (r#"{"pattern": "z"}"#, 1),
            (r#"{"c": "z"}"#, 1),
            (r#"{"ab": 1}"#, 1),
            (r#"{"d": {"pattern": "a(?=b)"}}"#, 0),
            (r#"{"d": {"pattern": ""}}"#, 1),
        ] {
            assert_eq!(refused(&ignoring, value), problems, "{value}");
        }
    }

    #[test]
    fn nothing_else_is_mended() {
        for schema in [
            r#"{"pattern": "^a"}"#,
            r#"{"pattern": 7}"#,
            r#"{"$ref": "https://acme.example"}"#,
            "{",
        ] {
            assert_eq!(without_unusable_patterns(schema), None, "{schema}");
        }
        let both = without_unusable_patterns(r#"{"pattern": "a(?=b)", "minLength": "one"}"#);
        let both = both.expect("a pattern that can't be used");
        assert_eq!(unusable(Some(&both), &mut Budget::new()).len(), 1);
    }
}
