//! The page's module in a browser, in a worker as in the playground.
#![cfg(all(target_arch = "wasm32", not(feature = "api")))]

use agent_worker::page::Session;
use js_sys::JSON;
use serde_json::{Value, json};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

const MANIFEST: &str = include_str!("../../../examples/hello-agent/agents.md");
const INDEX: &str = include_str!("../../../examples/hello-agent/mcp.index.json");

/// A value of JavaScript as JSON: what is not plain, a `Map` say, is lost, and then differs.
fn plain(value: &JsValue) -> Value {
    let text = JSON::stringify(value).expect("a plain value");
    serde_json::from_str(&String::from(text)).expect("JSON")
}

fn object(value: &Value) -> JsValue {
    JSON::parse(&value.to_string()).expect("a value")
}

#[wasm_bindgen_test]
fn a_session_answers_what_is_asked_and_repeats_the_verdict_for_new_texts_only() {
    let mut session = Session::new();
    let mut ask = |ask: Value| plain(&session.answer(object(&ask)).unwrap_or_else(|_| panic!()));
    let first = ask(json!({
        "revision": 7,
        "texts": { "manifest": MANIFEST, "index": INDEX },
        "wanted": {
            "matrix": { "filter": { "id": "a", "tools": false, "bits": 0, "requirement": null }, "offset": 1, "limit": 2 },
            "story": { "requirement": 0, "server": { "id": "gamma", "version": "1.0.0" } },
            "fallen": { "requirement": 0, "check": 0, "limit": 10 },
            "eligible": { "requirement": 0, "limit": 10 },
            "supposed": { "residency": "eu-only", "sensitivity": null, "requireSigned": true },
            "resolution": true,
        },
    }));
    assert_eq!(first["revision"], 7);
    assert_eq!(first["verdict"]["satisfied"], true);
    assert_eq!(
        first["verdict"]["requirements"][0]["outcome"]["server"]["id"],
        "acme-audiences"
    );
    assert_eq!(first["matrix"]["total"], 4);
    assert_eq!(first["matrix"]["rows"][0]["server"]["id"], "beta-audiences");
    assert_eq!(first["story"]["verdict"], "rejected");
    assert_eq!(first["story"]["checks"][2]["offered"], "eu-only");
    assert_eq!(
        first["fallen"]["items"][0]["reason"]["code"],
        "MISSING_CATEGORY"
    );
    assert_eq!(first["eligible"]["items"][0]["lostOn"], "signed");
    assert_eq!(first["supposed"]["requirements"][0]["then"], Value::Null);
    assert!(
        first["resolution"]["Ok"]
            .as_str()
            .is_some_and(|text| text.starts_with("{\n"))
    );

    let second = ask(json!({ "revision": 8, "texts": {}, "wanted": { "resolution": false } }));
    assert_eq!(second["revision"], 8);
    for absent in [
        "verdict",
        "matrix",
        "story",
        "fallen",
        "eligible",
        "supposed",
        "resolution",
    ] {
        assert_eq!(second[absent], Value::Null, "{absent}");
    }
}
