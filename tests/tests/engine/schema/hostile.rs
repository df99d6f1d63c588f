//! Hostile schemas and values: each check ends soon, and always at the same step.

use super::{Failure, check, check_trees, tree};
use agent_json_schema::{Draft, OverBudget, PatternError, Refused, STEP_LIMIT, SchemaErrorKind};
use agent_tests::processor_time::ProcessorTime;
use std::fmt::Write as _;
use std::time::Duration;

/// Far more than any check takes, even without optimisation.
const SOON: Duration = Duration::from_secs(1);

/// Checks a value against a schema twice, prints steps and duration, and returns the number of
/// violations.
fn run(name: &str, schema: &str, instance: &str) -> Result<usize, Failure> {
    let (schema, instance) = (tree(schema), tree(instance));
    let check = || check_trees(Draft::Draft202012, &schema, &instance);
    let started = ProcessorTime::now();
    let (first, steps) = check();
    let taken = started.elapsed();
    println!("{name}: {steps} steps, {taken:?}");
    assert!(taken < SOON, "{name} takes {taken:?}");
    assert!(steps <= STEP_LIMIT);
    let (second, steps_again) = check();
    assert_eq!((&first, steps), (&second, steps_again), "{name}");
    first.map(|found| found.len())
}

const STEPS: Result<usize, Failure> = Err(Failure::OverBudget(OverBudget::Steps));
const DEPTH: Result<usize, Failure> = Err(Failure::OverBudget(OverBudget::Depth));

/// Returns a schema with a chain of definitions. `link` builds each from a reference to the next.
fn chain(length: usize, link: impl Fn(&str) -> String) -> String {
    let mut schema = String::from(r##"{"$ref": "#/$defs/0", "$defs": {"##);
    for number in 0..length {
        let next = format!(r##"{{"$ref": "#/$defs/{}"}}"##, number + 1);
        let _ = write!(schema, r#""{number}": {}, "#, link(&next));
    }
    let _ = write!(schema, r#""{length}": {{"type": "string"}}}}}}"#);
    schema
}

#[test]
fn references_that_multiply() {
    for (name, keyword) in [("allOf", "allOf"), ("anyOf", "anyOf"), ("oneOf", "oneOf")] {
        let schema = chain(40, |next| format!(r#"{{"{keyword}": [{next}, {next}]}}"#));
        assert_eq!(run(&format!("doubled {name}"), &schema, "1"), STEPS);
    }
    let schema = chain(40, |next| {
        format!(r#"{{"if": {next}, "then": {next}, "else": {next}}}"#)
    });
    assert_eq!(run("doubled if", &schema, "1"), STEPS);
    let schema = chain(40, |next| {
        format!(r#"{{"not": {{"allOf": [{{"not": {next}}}, {next}]}}}}"#)
    });
    // Where only the verdict counts, the deciding subschema is evaluated once.
    assert_eq!(run("doubled not", &schema, "\"\""), Ok(0));
    let schema = chain(40, |next| {
        format!(r#"{{"properties": {{"a": {next}}}, "dependentSchemas": {{"a": {next}}}}}"#)
    });
    let schema = schema.replacen('{', r##"{"unevaluatedProperties": {"$ref": "#"}, "##, 1);
    let instance = format!("{}1{}", "{\"a\": ".repeat(100), "}".repeat(100));
    assert_eq!(run("doubled properties", &schema, &instance), STEPS);
}

#[test]
fn references_in_a_circle() {
    assert_eq!(run("itself", r##"{"$ref": "#"}"##, "1"), DEPTH);
    let both = r##"{"allOf": [{"$ref": "#"}, {"$ref": "#"}]}"##;
    assert_eq!(run("itself twice", both, "1"), DEPTH);
    let two = r##"{"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}}"##;
    assert_eq!(run("each other", two, "1"), DEPTH);
    let not = r##"{"not": {"$ref": "#"}}"##;
    assert_eq!(run("not itself", not, "1"), DEPTH);
    let dynamic =
        r##"{"$dynamicAnchor": "a", "anyOf": [{"$dynamicRef": "#a"}, {"$dynamicRef": "#a"}]}"##;
    assert_eq!(run("dynamic", dynamic, "1"), DEPTH);
    let dynamic = r##"{"$dynamicAnchor": "a", "additionalProperties": {"$dynamicRef": "#a"}, "unevaluatedProperties": {"$dynamicRef": "#a"}}"##;
    let deep = format!("{}1{}", "{\"a\": ".repeat(127), "}".repeat(127));
    assert_eq!(run("dynamic and deep", dynamic, &deep), Ok(0));
    let long = chain(1_000, str::to_owned);
    assert_eq!(run("a long chain", &long, "1"), DEPTH);
}

#[test]
fn deep_schemas_and_deep_values() {
    let deep = format!(
        "{}{{\"type\": \"string\"}}{}",
        r#"{"allOf": ["#.repeat(63),
        "]}".repeat(63)
    );
    assert_eq!(run("deep allOf", &deep, "1"), Ok(1));
    // The deepest possible value, with several schemas around each level.
    let tree = r##"{"anyOf": [{"type": "string"}, {"allOf": [{"$ref": "#/$defs/list"}]}],
        "$defs": {"list": {"type": "array", "items": {"$ref": "#"}}}}"##;
    let value = format!("{}\"\"{}", "[".repeat(127), "]".repeat(127));
    assert_eq!(run("a deep tree", tree, &value), DEPTH);
    let tree = r##"{"type": "array", "items": {"$ref": "#"}}"##;
    let value = format!("{}{}", "[".repeat(128), "]".repeat(128));
    assert_eq!(run("a deep list", tree, &value), Ok(0));
    // Each level looks for the nearest branch, which does the same.
    let nested = r##"{"anyOf": [{"items": {"$ref": "#"}, "type": "array"}, {"items": {"$ref": "#"}, "minItems": 2}], "type": "array"}"##;
    let value = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(run("nested anyOf", nested, &value), STEPS);
}

#[test]
fn large_lists() {
    let numbers: Vec<_> = (0..100_000).map(|number| number.to_string()).collect();
    let list = numbers.join(", ");
    let schema = format!(r#"{{"items": {{"enum": [{list}]}}}}"#);
    assert_eq!(run("a large enum", &schema, &format!("[{list}]")), STEPS);
    let schema = r#"{"uniqueItems": true}"#;
    assert_eq!(run("a large list", schema, &format!("[{list}]")), Ok(0));
    let items = vec![format!("\"{}\"", "a".repeat(1_000)); 20_000].join(", ");
    assert_eq!(
        run("a large list of strings", schema, &format!("[{items}]")),
        STEPS
    );
    let schema = r##"{"uniqueItems": true, "items": {"$ref": "#"}}"##;
    let value = format!("{}{list}{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(run("lists in lists", schema, &value), STEPS);
    let value = format!("[{}1]", "1, ".repeat(1_000_000));
    assert_eq!(
        run(
            "a value of 3 MB",
            r#"{"items": {"type": "integer"}}"#,
            &value
        ),
        STEPS
    );
    let value = format!("[{}1]", "1, ".repeat(200_000));
    assert_eq!(
        run(
            "many violations",
            r#"{"items": {"type": "string"}}"#,
            &value
        ),
        STEPS
    );
    let names: Vec<_> = numbers
        .iter()
        .map(|number| format!("\"{number}\": {number}"))
        .collect();
    let value = format!("{{{}}}", names.join(", "));
    assert_eq!(
        run("many unknown", r#"{"additionalProperties": false}"#, &value),
        STEPS
    );
    let declared: Vec<_> = numbers
        .iter()
        .map(|number| format!("\"{number}\": true"))
        .collect();
    let schema = format!(r#"{{"properties": {{{}}}}}"#, declared.join(", "));
    assert_eq!(run("many properties", &schema, &value), STEPS);
    let branches = vec![r#"{"type": "string"}"#; 100].join(", ");
    let schema = format!(r#"{{"items": {{"anyOf": [{branches}]}}}}"#);
    assert_eq!(run("many branches", &schema, &format!("[{list}]")), STEPS);
    let branches = vec!["true"; 200].join(", ");
    let schema = format!(
        r#"{{"anyOf": [{branches}, {{"items": {{"type": "null"}}}}], "unevaluatedItems": false}}"#
    );
    assert_eq!(run("many trackers", &schema, &format!("[{list}]")), STEPS);
}

#[test]
fn many_identifiers_and_anchors() {
    let resources: Vec<_> = (0..900)
        .map(|number| {
            format!(r##""{number}": {{"$id": "r{number}", "$defs": {{"a": {{"$dynamicAnchor": "a{number}"}}}}, "$dynamicRef": "#a{number}", "$ref": "r{}"}}"##, (number + 1) % 900)
        })
        .collect();
    let schema = format!(
        r##"{{"$ref": "r0", "$defs": {{{}}}}}"##,
        resources.join(", ")
    );
    assert_eq!(run("a circle of resources", &schema, "1"), DEPTH);
    let schemas: Vec<_> = (0..2_000)
        .map(|number| format!(r#""{number}": {{"$id": "{number}"}}"#))
        .collect();
    let schema = format!(r#"{{"$defs": {{{}}}}}"#, schemas.join(", "));
    assert!(matches!(
        run("many identifiers", &schema, "1"),
        Err(Failure::Refused(_))
    ));
    let long = format!(r#"{{"$id": "http://host.example/{}"}}"#, "a".repeat(3_000));
    assert!(matches!(
        run("a long identifier", &long, "1"),
        Err(Failure::Refused(_))
    ));
}

#[test]
fn patterns_that_explode() {
    let text = format!("\"{}!\"", "a".repeat(20_000));
    for pattern in ["^(a+)+$", "^(a|aa)+$", "^(a*)*b", "(.*)*(.*)*x"] {
        let schema = format!(r#"{{"pattern": "{pattern}"}}"#);
        assert_eq!(run(pattern, &schema, &text), Ok(1));
    }
    assert_eq!(
        run("many states", r#"{"pattern": "^(a?){2000}x"}"#, &text),
        STEPS
    );
    let refused = check(r#"{"pattern": "((a{1000}){1000}){1000}"}"#, "1");
    let Err(Failure::Refused(Refused::Invalid(errors))) = refused else {
        panic!("{refused:?}");
    };
    let kind = SchemaErrorKind::Pattern {
        error: PatternError::TooLarge,
        at: 0,
    };
    assert_eq!(errors[0].kind, kind);
    let patterns: Vec<_> = (0..500)
        .map(|number| format!(r#""^{number}\\p{{L}}{{10}}": true"#))
        .collect();
    let schema = format!(r#"{{"patternProperties": {{{}}}}}"#, patterns.join(", "));
    assert_eq!(run("many patterns", &schema, "{}"), STEPS);
}

#[test]
fn long_numbers() {
    let value = format!("1{}.5", "0".repeat(1_000_000));
    assert_eq!(
        run(
            "a long number",
            r#"{"multipleOf": 0.5, "minimum": 1e300}"#,
            &value
        ),
        Ok(0)
    );
    let schema = r#"{"multipleOf": 7e-999999999999999999999}"#;
    assert_eq!(run("a small divisor", schema, "1e300"), STEPS);
    let schema = format!(r#"{{"multipleOf": {}}}"#, "9".repeat(40));
    assert!(matches!(
        run("a long divisor", &schema, "1"),
        Err(Failure::Refused(_))
    ));
}

#[test]
fn large_schemas() {
    let schemas = vec!["{\"type\": \"string\"}"; 200_000].join(", ");
    let schema = format!(r#"{{"allOf": [{schemas}]}}"#);
    assert_eq!(run("many schemas", &schema, "1"), STEPS);
    let schema = format!(r#"{{"x": [{schemas}]}}"#);
    assert_eq!(run("much that is no schema", &schema, "1"), Ok(0));
}
