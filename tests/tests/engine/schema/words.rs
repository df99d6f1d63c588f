//! Messages about values and schemas, and the requirements of schemas without a value.

use super::{Failure, check, tree};
use agent_json_schema::{
    Budget, Documents, Draft, PatternError, Refused, Schema, SchemaError, SchemaErrorKind, Types,
    Violation,
};

fn lines(violations: &[Violation]) -> Vec<String> {
    let line = |it: &Violation| format!("{} {} {}", it.instance, it.schema, it.message);
    violations.iter().map(line).collect()
}

#[test]
fn every_violation_says_what_and_where() {
    let schema = r##"{
        "type": "object",
        "required": ["name", "size"],
        "additionalProperties": false,
        "properties": {
            "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 3},
            "size": {"type": "integer", "minimum": 1, "multipleOf": 0.5},
            "tags": {"uniqueItems": true, "items": {"enum": ["x", "y"]}, "contains": {"const": "y"}},
            "a/b": {"$ref": "#/$defs/flag"},
            "never": false
        },
        "propertyNames": {"maxLength": 5},
        "dependentRequired": {"tags": ["a/b"]},
        "$defs": {"flag": {"type": ["boolean", "null"]}}
    }"##;
    let value = r#"{"name": "AB12", "sizes": 1, "tags": ["x", "z", "x"], "never": 1}"#;
    let found = check(schema, value).expect("a verdict");
    assert_eq!(
        lines(&found),
        [
            " /required must have the property `size`",
            " /dependentRequired must have the property `a/b`, because it has `tags`",
            "/name /properties/name/maxLength must have at most 3 characters, and has 4",
            "/name /properties/name/pattern must match the pattern `^[a-z]+$`, and is `\"AB12\"`",
            "/sizes /additionalProperties is not a known property; known are `a/b`, `name`, `never`, `size` and `tags`; did you mean `size`?",
            "/tags /properties/tags/uniqueItems must have no equal items, and items 0 and 2 are equal",
            "/tags/1 /properties/tags/items/enum must be `\"x\"` or `\"y\"`, and is `\"z\"`",
            "/tags /properties/tags/contains must have at least 1 item that `contains` accepts, and has 0",
            "/never /properties/never is not allowed",
        ]
    );
    let unknown = &found[4];
    assert_eq!(unknown.span.of(value), "\"sizes\"");
    assert_eq!(unknown.schema_span.of(schema), "false");
    assert_eq!(
        (unknown.keyword, &unknown.document),
        ("additionalProperties", &None)
    );
    let found = check(
        schema,
        r#"{"name": "a", "size": 1.25, "a/b": 1, "too-long": 1}"#,
    );
    assert_eq!(
        lines(&found.expect("a verdict")),
        [
            "/too-long /propertyNames has a name that is not allowed: `too-long`",
            "/size /properties/size/type must be an integer, and is `1.25`",
            "/size /properties/size/multipleOf must be a multiple of `0.5`, and is `1.25`",
            "/a~1b /$defs/flag/type must be null or a boolean, and is a number",
            "/too-long /additionalProperties is not a known property; known are `a/b`, `name`, `never`, `size` and `tags`",
        ]
    );
}

#[test]
fn of_several_schemas_the_nearest_is_told() {
    let schema = r#"{"oneOf": [
        {"properties": {"kind": {"const": "file"}, "path": {"type": "string"}}, "required": ["kind", "path"]},
        {"properties": {"kind": {"const": "net"}, "host": {"type": "string"}}, "required": ["kind", "host"]},
        {"type": "string"}
    ]}"#;
    let found = check(schema, r#"{"kind": "net", "port": 1}"#).expect("a verdict");
    assert_eq!(
        lines(&found),
        [" /oneOf must match one of 3 schemas, and matches none; the nearest is that at 1"]
    );
    assert_eq!(
        lines(&found[0].causes),
        [" /oneOf/1/required must have the property `host`"]
    );
    for (schema, value, expected) in [
        (
            r#"{"oneOf": [{"minimum": 1}, {"maximum": 5}]}"#,
            "3",
            " /oneOf must match exactly one of 2 schemas, and matches those at 0 and 1",
        ),
        (
            r#"{"not": {"type": "string"}}"#,
            "\"\"",
            " /not must not match the schema of `not`",
        ),
        (
            r#"{"if": {"minimum": 1}, "then": {"maximum": 5}}"#,
            "7",
            " /then must match `then`, because it matches `if`",
        ),
        (
            r#"{"if": {"minimum": 1}, "else": false}"#,
            "0",
            " /else must match `else`, because it does not match `if`",
        ),
        (
            r#"{"unevaluatedProperties": false}"#,
            r#"{"a": 1}"#,
            "/a /unevaluatedProperties is not a property that any part of the schema declares",
        ),
        ("false", "1", "  is not allowed"),
    ] {
        assert_eq!(lines(&check(schema, value).expect("a verdict")), [expected]);
    }
}

fn errors(schema: &str) -> Vec<SchemaError> {
    match check(schema, "1") {
        Err(Failure::Refused(Refused::Invalid(errors))) => errors,
        other => panic!("{schema}: {other:?}"),
    }
}

#[test]
fn all_errors_of_a_schema_are_reported() {
    let schema = r##"{
        "type": "text",
        "minLength": -1,
        "required": "a",
        "properties": {"a": 1, "b": {"$ref": "#/$defs/none"}, "c": {"$ref": "https://other.example/x.json"}},
        "items": [true],
        "pattern": "a(?=b)",
        "allOf": [],
        "multipleOf": 0,
        "$defs": {"x": {"pattern": "\\1", "$schema": 1}, "y": {"$id": "y", "$schema": "https://json-schema.org/draft/2019-09/schema"}}
    }"##;
    let found: Vec<_> = errors(schema)
        .iter()
        .map(|error| format!("{} {}", error.pointer, error.message()))
        .collect();
    assert_eq!(
        found,
        [
            "/type `type` must be a type, or a list of types: `null`, `boolean`, `integer`, `number`, `string`, `array` or `object`",
            "/multipleOf `multipleOf` must be a number above zero",
            "/minLength `minLength` must be a whole number that is not negative",
            "/pattern the pattern can't be used: look-around is not supported: it takes more than linear time, at byte 1",
            "/required `required` must be a list of names",
            "/allOf `allOf` must be a list of schemas that is not empty",
            "/$defs/x/$schema `$schema` must be a string",
            "/$defs/x/pattern the pattern can't be used: references to groups are not supported: they take more than linear time, at byte 0",
            "/$defs/y/$schema `https://json-schema.org/draft/2019-09/schema` is not a supported draft; supported are 2020-12, draft-07 and draft-04",
            "/properties/a a schema must be an object or a boolean",
            "/properties/b/$ref no known schema has the reference `#/$defs/none`",
            "/properties/c/$ref `https://other.example/x.json` refers to another host, and schemas are never fetched",
            "/items a schema must be an object or a boolean",
        ]
    );
    let kinds = |schema: &str| errors(schema)[0].kind.clone();
    let taken = r#"{"$defs": {"a": {"$id": "x"}, "b": {"$id": "x"}}}"#;
    assert_eq!(
        kinds(taken),
        SchemaErrorKind::TakenIdentifier("x".to_owned())
    );
    let precise = format!("{{\"multipleOf\": 1{}}}", "1".repeat(37));
    assert_eq!(kinds(&precise), SchemaErrorKind::TooPrecise);
    let pattern = SchemaErrorKind::Pattern {
        error: PatternError::Syntax,
        at: 1,
    };
    assert_eq!(kinds(r#"{"patternProperties": {"a[": true}}"#), pattern);
}

#[test]
fn what_other_documents_say_is_told_with_their_uri() {
    let other =
        tree(r##"{"$id": "https://host.example/other.json", "$defs": {"n": {"type": "number"}}}"##);
    let mut documents = Documents::new();
    documents.add(
        "https://host.example/files/other.json",
        &other,
        Draft::Draft202012,
    );
    for uri in [
        "https://host.example/other.json",
        "https://host.example/files/other.json",
    ] {
        let schema = format!(r#"{{"$ref": "{uri}#/$defs/n"}}"#);
        let (schema, value, mut budget) = (tree(&schema), tree("\"\""), Budget::new());
        let compiled = Schema::compile(&schema, &documents, Draft::Draft07, &mut budget);
        let found = compiled
            .expect("a schema")
            .check(&value, &mut budget)
            .expect("a verdict");
        assert_eq!(found[0].schema, "/$defs/n/type");
        let document = found[0].document.as_deref();
        assert_eq!(document, Some("https://host.example/files/other.json"));
    }
}

#[test]
fn what_a_schema_declares_is_known_without_a_value() {
    let schema = tree(
        r##"{
        "$ref": "#/$defs/base",
        "required": ["a"],
        "properties": {"a": {"type": ["integer", "string"], "allOf": [{"type": ["number", "null"]}]}},
        "anyOf": [{"properties": {"b": true}, "required": ["b"]}, {"patternProperties": {"^x-": {"type": "string"}}}],
        "not": {"properties": {"n": true}, "additionalProperties": true},
        "if": {"properties": {"i": true}}, "then": {"properties": {"t": true}},
        "$defs": {
            "base": {"properties": {"list": {"prefixItems": [{"type": "null"}], "items": {"$ref": "#/$defs/item"}}}, "required": ["list"]},
            "item": {"type": "object", "properties": {"0": {"type": "boolean"}}, "additionalProperties": {"type": "array"}},
            "unused": {"properties": {"u": true}, "additionalProperties": true}
        }
    }"##,
    );
    let (documents, mut budget) = (Documents::new(), Budget::new());
    let budget = &mut budget;
    let schema =
        Schema::compile(&schema, &documents, Draft::Draft202012, budget).expect("a schema");
    for (name, expected) in [
        ("a", true),
        ("b", true),
        ("list", true),
        ("x-y", true),
        ("i", true),
        ("t", true),
        ("n", false),
        ("u", false),
        ("0", false),
    ] {
        assert_eq!(
            schema.declares_property(name, budget),
            Ok(expected),
            "{name}"
        );
    }
    assert_eq!(schema.explicit_additional_properties(budget), Ok(false));
    assert_eq!(schema.required_names(budget), Ok(vec!["a", "list"]));
    for (pointer, expected) in [
        ("", None),
        ("/a", Some(Types::INTEGER)),
        ("/b", None),
        ("/list/0", Some(Types::NULL)),
        ("/list/1", Some(Types::OBJECT)),
        ("/list/7/0", Some(Types::BOOLEAN)),
        ("/list/7/other", Some(Types::ARRAY)),
        ("/x-y", None),
        ("no pointer", None),
    ] {
        let part = schema
            .instance_location(pointer, budget)
            .expect("within the budget");
        assert_eq!(part.and_then(|part| part.types()), expected, "{pointer}");
    }
    for (text, expected) in [
        ("true", false),
        ("{}", false),
        (r#"{"additionalProperties": false}"#, false),
        (r#"{"additionalProperties": true}"#, true),
        (r#"{"additionalProperties": {"type": "string"}}"#, true),
        (r#"{"unevaluatedProperties": true}"#, false),
        (
            r#"{"allOf": [{"anyOf": [{"additionalProperties": {}}]}]}"#,
            true,
        ),
        (
            r#"{"properties": {"a": {"additionalProperties": true}}}"#,
            false,
        ),
    ] {
        let tree = tree(text);
        let schema = Schema::compile(&tree, &documents, Draft::Draft202012, budget);
        let schema = schema.expect("a schema");
        assert_eq!(
            schema.explicit_additional_properties(budget),
            Ok(expected),
            "{text}"
        );
    }
}
