//! Whether a changed definition of a tool gives an agent more access \[0, 3.1\].

use agent_json_schema::{Json, JsonText};
use agent_text::sort::set_of;
use std::collections::BTreeSet;

/// Keywords of schemas that accept nothing and refuse nothing.
const NOTES: [&str; 9] = [
    "$comment",
    "$id",
    "$schema",
    "default",
    "deprecated",
    "description",
    "examples",
    "format",
    "title",
];

/// Keywords that refuse values and declare no argument, wherever they are added.
const RESTRICTIONS: [&str; 21] = [
    "const",
    "dependentRequired",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "pattern",
    "propertyNames",
    "required",
    "type",
    "uniqueItems",
];

/// Maximum nesting of schemas that are compared. Deeper ones count as wider.
const DEPTH_LIMIT: usize = 64;

/// Returns whether replacing a definition by another one gives an agent more access: its
/// annotations are less safe, or its input schema is not known to accept less.
///
/// A schema counts as wider unless it only has further keywords that restrict, fewer properties, or
/// further required ones. That errs on the side of a review.
pub fn widens(before: &str, after: &str) -> bool {
    let (Some(before), Some(after)) = (JsonText::read(before), JsonText::read(after)) else {
        return true;
    };
    let (before, after) = (before.root(), after.root());
    let hint = |of: Json<'_, '_>, name, default| match of.member("annotations") {
        Some(annotations) => match annotations.member(name) {
            Some(hint) => hint.is_true(),
            None => default,
        },
        None => default,
    };
    // The defaults are those of MCP's `ToolAnnotations`.
    let unsafe_hint = |name, default, is_safe| {
        hint(before, name, default) == is_safe && hint(after, name, default) != is_safe
    };
    unsafe_hint("readOnlyHint", false, true)
        || unsafe_hint("destructiveHint", true, false)
        || unsafe_hint("openWorldHint", true, false)
        || match (before.member("inputSchema"), after.member("inputSchema")) {
            (None, None) => false,
            (Some(before), Some(after)) => accepts_more(before, after, 0),
            _ => true,
        }
}

/// Returns whether a schema may accept a value that another refuses.
fn accepts_more(before: Json<'_, '_>, after: Json<'_, '_>, depth: usize) -> bool {
    if before.canonical() == after.canonical() {
        return false;
    }
    let (Some(was), Some(is)) = (before.members(), after.members()) else {
        return true;
    };
    if depth >= DEPTH_LIMIT {
        return true;
    }
    let names = set_of(was.chain(is).map(|(name, _)| name));
    names.into_iter().any(|name| {
        if NOTES.contains(&name) {
            return false;
        }
        match (name, before.member(name), after.member(name)) {
            // Every name of a property is accepted where others are not refused, so a declared one
            // restricts; where they are refused, it is a further argument.
            ("properties", was, is) => more_properties(was, is, depth),
            (_, Some(_), None) => true,
            ("additionalProperties", None, Some(is)) => is.canonical() != "false",
            (_, None, Some(_)) => !RESTRICTIONS.contains(&name),
            ("required", Some(was), Some(is)) => {
                let (was, is) = (strings(was), strings(is));
                !was.is_subset(&is)
            }
            ("enum", Some(was), Some(is)) => !values(is).is_subset(&values(was)),
            ("items" | "additionalProperties", Some(was), Some(is)) => {
                accepts_more(was, is, depth + 1)
            }
            (_, Some(was), Some(is)) => was.canonical() != is.canonical(),
            (_, None, None) => false,
        }
    })
}

fn more_properties(was: Option<Json<'_, '_>>, is: Option<Json<'_, '_>>, depth: usize) -> bool {
    let Some(is) = is.and_then(Json::members) else {
        // Undeclared arguments are refused.
        return false;
    };
    let mut is = is;
    is.any(
        |(name, property)| match was.and_then(|was| was.member(name)) {
            Some(former) => accepts_more(former, property, depth + 1),
            None => true,
        },
    )
}

fn strings<'n>(list: Json<'n, '_>) -> BTreeSet<&'n str> {
    let items = list.items().into_iter().flatten();
    set_of(items.filter_map(Json::string))
}

fn values(list: Json<'_, '_>) -> BTreeSet<String> {
    let items = list.items().into_iter().flatten();
    set_of(items.map(Json::canonical))
}

#[cfg(test)]
mod tests {
    use super::widens;

    #[test]
    fn a_change_is_a_widening_unless_it_only_restricts() {
        let tool = |annotations: &str, schema: &str| {
            format!(r#"{{"annotations":{annotations},"inputSchema":{schema},"name":"t"}}"#)
        };
        let schema = r#"{"type":"object","properties":{"a":{"enum":[1,2]}},"required":["a"],"additionalProperties":false}"#;
        let before = tool(r#"{"readOnlyHint":true}"#, schema);
        let with = |from: &str, to: &str| {
            let after = before.replace(from, to);
            assert_ne!(after, before);
            widens(&before, &after)
        };
        for (from, to) in [
            (r#""readOnlyHint":true"#, r#""readOnlyHint":false"#),
            (r#""readOnlyHint":true"#, ""),
            ("[1,2]", "[1,2,3]"),
            (r#","required":["a"]"#, ""),
            (r#""required":["a"]"#, r#""required":["b"]"#),
            (r#","additionalProperties":false"#, ""),
            (
                r#""additionalProperties":false"#,
                r#""additionalProperties":true"#,
            ),
            (r#""properties":{"#, r#""properties":{"b":{},"#),
            (r#""enum":[1,2]"#, ""),
            (r#""type":"object""#, r#""type":"object","anyOf":[{}]"#),
        ] {
            assert!(with(from, to), "{from} {to}");
        }
        for (from, to) in [
            ("[1,2]", "[1]"),
            (r#"["a"]"#, r#"["a","b"]"#),
            (
                r#""type":"object""#,
                r#""type":"object","maxProperties":1,"title":"T""#,
            ),
            (r#""name":"t""#, r#""description":"d","name":"t""#),
            (
                r#""readOnlyHint":true"#,
                r#""destructiveHint":false,"readOnlyHint":true"#,
            ),
            (r#""properties":{"a":{"enum":[1,2]}},"#, ""),
        ] {
            assert!(!with(from, to), "{from} {to}");
        }
        assert!(widens(&before, "["));
    }
}
