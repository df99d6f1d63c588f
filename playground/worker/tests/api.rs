//! The module for JavaScript programs, in a worker of a browser: it answers like the native engine.
#![cfg(all(target_arch = "wasm32", feature = "api"))]

use agent_worker::api;
use js_sys::{JSON, Reflect};
use serde_json::{Value, json};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

/// The cases that `tests/examples/parity-cases.rs` wrote.
const CASES: &str = include_str!(env!("AGENT_PARITY_CASES"));

const MANIFEST: &str = include_str!("../../../examples/hello-agent/agents.md");
const INDEX: &str = include_str!("../../../examples/hello-agent/mcp.index.json");

/// Converts a JavaScript value to JSON. A value that is not plain, such as a `Map`, is lost and differs.
fn plain(value: &JsValue) -> Value {
    let text = JSON::stringify(value).expect("a plain value");
    serde_json::from_str(&String::from(text)).expect("JSON")
}

fn object(value: &Value) -> JsValue {
    JSON::parse(&value.to_string()).expect("a value")
}

fn resolve(manifest: &str, index: &str, lock: Option<&str>) -> Value {
    let answer = api::resolve(
        manifest.to_owned(),
        index.to_owned(),
        lock.map(str::to_owned),
        None,
    );
    plain(&answer.unwrap_or_else(|_| panic!("an exception")).into())
}

/// Returns the words of a diagnostic without its places, whose columns have another unit here. A
/// report has the titles of fixes as `help`.
fn words(diagnostic: &Value) -> Vec<Value> {
    let titles = match &diagnostic["help"] {
        Value::Array(titles) => titles.clone(),
        _ => {
            let fixes = diagnostic["fixes"].as_array().expect("fixes").iter();
            fixes.map(|fix| fix["title"].clone()).collect()
        }
    };
    let fields = ["code", "severity", "message", "notes"];
    let fields = fields.map(|field| diagnostic[field].clone());
    fields.into_iter().chain(titles).collect()
}

#[wasm_bindgen_test]
fn corpus_and_generated_worlds_have_the_same_lock_explanation_and_problems() {
    let cases: Vec<Value> = serde_json::from_str(CASES).expect("cases");
    assert!(cases.len() > 600, "{} cases", cases.len());
    let (mut locks, mut problems) = (0, 0);
    for case in cases {
        let name = &case["name"];
        let text = |name: &str| case[name].as_str().expect("a text");
        let answer = resolve(text("manifest"), text("index"), None);
        // `assert_eq` would print megabytes.
        assert!(
            answer["resolution"] == case["resolution"],
            "{name}: the explanation"
        );
        assert!(answer["lock"] == case["lock"], "{name}: the lock");
        let native: Value = serde_json::from_str(text("problems")).expect("a report");
        let list = |report: &Value| -> Vec<_> {
            let list = report["diagnostics"].as_array().expect("a list");
            list.iter().map(words).collect()
        };
        assert_eq!(list(&answer), list(&native), "{name}");
        locks += usize::from(case["lock"].is_string());
        problems += list(&native).len();
    }
    assert!(
        locks > 100 && problems > 300,
        "{locks} locks, {problems} problems"
    );
}

#[wasm_bindgen_test]
fn functions_answer_with_plain_objects() {
    let answer = resolve(MANIFEST, INDEX, None);
    assert_eq!(answer["existing"], Value::Null);
    assert_eq!(
        answer["agent"],
        json!({ "name": "hello-agent", "version": "1.0.0" })
    );

    let problems = api::validate(object(&json!({ "manifest": "", "index": "[" })).unchecked_into());
    let problems = plain(&problems.unwrap_or_else(|_| panic!()).into());
    let codes: Vec<_> = problems
        .as_array()
        .expect("a list")
        .iter()
        .map(|p| &p["code"])
        .collect();
    assert_eq!(codes, ["EMPTY_DOCUMENT", "JSON_SYNTAX"]);

    let why = |server| {
        let stories = api::why(MANIFEST.to_owned(), INDEX.to_owned(), server, None);
        plain(&stories.unwrap_or_else(|_| panic!()).into())
    };
    assert_eq!(why("gamma")[1]["verdict"], "rejected");
    assert_eq!(why("gamma@2.0.0"), Value::Null);
    assert_eq!(api::version(), env!("CARGO_PKG_VERSION"));
}

#[wasm_bindgen_test]
fn values_that_are_no_texts_are_exceptions() {
    let wrong = object(&json!({ "manifest": 7 }));
    let error = JsValue::from(
        api::validate(wrong.unchecked_into())
            .err()
            .expect("an exception"),
    );
    let message = Reflect::get(&error, &"message".into()).expect("a message");
    assert!(!message.as_string().expect("text").is_empty());
}

#[wasm_bindgen_test]
fn hostile_texts_end_in_diagnostics() {
    let deep = "[".repeat(2_000_000);
    let long = format!("[\"{}\"]", "x".repeat(20_000_000));
    for index in [
        deep,
        long,
        "\u{0}".to_owned(),
        "{\"servers\":[{}]}".repeat(2),
    ] {
        let answer = resolve(MANIFEST, &index, None);
        assert_eq!(answer["satisfied"], Value::Null);
        let found = answer["diagnostics"].as_array().expect("a list");
        assert!((1..=1001).contains(&found.len()), "{}", found.len());
    }
}
