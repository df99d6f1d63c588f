//! Schemas that name no draft, in the forms of older ones, against another evaluator.

use agent_json_schema::{Budget, Draft, JsonText, draft, unusable, with_schema};
use jsonschema::Draft as Other;

/// A schema, the draft whose form it has, and values.
type Case = (&'static str, Draft, &'static [&'static str]);

const CASES: [Case; 6] = [
    (
        r#"{ "items": [{ "type": "integer" }, { "enum": ["a"] }], "additionalItems": false }"#,
        Draft::Draft07,
        &[
            "[1]",
            "[1, \"a\"]",
            "[1, \"b\"]",
            "[1, \"a\", 2]",
            "[]",
            "{}",
        ],
    ),
    (
        r#"{ "properties": { "a": { "minimum": 3, "exclusiveMinimum": true } } }"#,
        Draft::Draft04,
        &["{\"a\": 2}", "{\"a\": 3}", "{\"a\": 3.5}", "{\"a\": \"x\"}"],
    ),
    (
        r#"{ "maximum": 3, "exclusiveMaximum": false, "minimum": 1, "exclusiveMinimum": true }"#,
        Draft::Draft04,
        &["0", "1", "2", "3", "4"],
    ),
    (
        r##"{ "items": [{ "$ref": "#/definitions/a", "minimum": 9 }],
            "definitions": { "a": { "minimum": 1, "exclusiveMinimum": true } } }"##,
        Draft::Draft04,
        &["[1]", "[2]", "[10]"],
    ),
    (
        r##"{ "definitions": { "a": { "type": "string" } }, "$ref": "#/definitions/a", "minLength": 3 }"##,
        Draft::Draft202012,
        &["\"ab\"", "\"abc\"", "1"],
    ),
    (
        r#"{ "exclusiveMinimum": 1, "minimum": 1 }"#,
        Draft::Draft202012,
        &["1", "2"],
    ),
];

#[test]
fn a_schema_without_a_draft_is_of_the_newest_whose_forms_it_has() {
    for (schema, expected, values) in CASES {
        let found = draft(Some(schema), &mut Budget::new());
        assert_eq!(found, Ok(expected), "{schema}");
        let theirs = match expected {
            Draft::Draft04 => Other::Draft4,
            Draft::Draft07 => Other::Draft7,
            Draft::Draft202012 => Other::Draft202012,
        };
        let parsed = serde_json::from_str(schema).expect("JSON");
        let theirs = jsonschema::options().with_draft(theirs).build(&parsed);
        let theirs = theirs.expect("a schema");
        for value in values {
            let text = JsonText::read(value).expect("JSON");
            let problems = with_schema(schema, &mut Budget::new(), |schema, budget| {
                schema.expect("a schema").check_json(text.root(), budget)
            });
            let problems = problems.expect("JSON").expect("within the budget");
            let parsed = serde_json::from_str(value).expect("JSON");
            assert_eq!(
                problems.is_empty(),
                theirs.is_valid(&parsed),
                "{schema} {value}"
            );
        }
    }
}

#[test]
fn a_schema_that_names_its_draft_is_of_no_other() {
    let of = |schema: &str, rest: &str| format!("{{ \"$schema\": \"{schema}\", {rest} }}");
    let [newest, seven, four] = [
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-04/schema#",
    ];
    let list = "\"items\": [{}]";
    let flag = "\"exclusiveMinimum\": true, \"minimum\": 1";
    for (schema, is_usable) in [
        (of(newest, list), false),
        (of(seven, list), true),
        (of(seven, flag), false),
        (of(four, flag), true),
        (of("http://json-schema.org/draft-03/schema#", list), false),
        // Of no draft.
        ("{ \"items\": 1 }".to_owned(), false),
        ("{ \"required\": true }".to_owned(), false),
    ] {
        let found = unusable(Some(&schema), &mut Budget::new());
        assert_eq!(found.is_empty(), is_usable, "{schema}: {found:?}");
    }
}
