//! The OpenAPI document, compared with requests and answers.

use super::support::{Reply, running};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn document() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/pdp.openapi.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The schema at a JSON pointer of the document.
fn schema(document: &Value, pointer: &str) -> Validator {
    assert!(document.pointer(pointer).is_some(), "{pointer}");
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": format!("#{pointer}"),
        "components": document["components"],
        "paths": document["paths"],
    });
    jsonschema::validator_for(&schema).unwrap()
}

#[track_caller]
pub(crate) fn fits(document: &Value, pointer: &str, text: &str) -> bool {
    schema(document, pointer).is_valid(&serde_json::from_str(text).unwrap())
}

fn path(name: &str) -> String {
    format!("/paths/{}", name.replace('/', "~1"))
}

#[test]
fn requests_and_answers_are_those_of_the_document() {
    let (document, running) = (document(), running());
    let subject = r#""subject":{"id":"alice","type":"user","properties":{"a":1}}"#;
    let call = |tool: &str| format!(r#"{{"tool":"{tool}","arguments":{{"soft":1}},{subject}}}"#);
    let of = |tool: &str| {
        format!(r#""action":{{"name":"tools/call"}},"resource":{{"type":"tool","id":"{tool}"}}"#)
    };
    let one = |tool: &str| format!("{{{subject},{}}}", of(tool));
    let several = format!(
        r#"{{{subject},"options":{{"evaluations_semantic":"execute_all"}},"evaluations":[{{{}}},{{}}]}}"#,
        of("count")
    );
    for (at, body, status) in [
        ("/v1/decide", call("read"), 200),
        ("/v1/decide", call("count"), 200),
        ("/v1/decide", call("other"), 200),
        ("/v1/decide", r#"{"tool":1}"#.to_owned(), 400),
        ("/access/v1/evaluation", one("read"), 200),
        ("/access/v1/evaluation", one("count"), 200),
        (
            "/access/v1/evaluation",
            one("count").replace("\"tool\"", "\"record\""),
            200,
        ),
        ("/access/v1/evaluation", "{}".to_owned(), 400),
        ("/access/v1/evaluations", several, 200),
        ("/access/v1/evaluations", one("read"), 200),
        (
            "/access/v1/evaluations",
            r#"{"evaluations":1}"#.to_owned(),
            400,
        ),
        ("/access/v1/search/resource", one("read"), 200),
        ("/access/v1/search/resource", "{}".to_owned(), 400),
        ("/access/v1/search/action", one("read"), 200),
        ("/access/v1/search/action", one("delete"), 200),
        ("/access/v1/search/action", "{}".to_owned(), 400),
    ] {
        let Reply {
            status: found,
            body: answer,
            ..
        } = running.post(at, &body);
        assert_eq!(found, status, "{answer}");
        let operation = format!("{}/post", path(at));
        let content = |of: &str| format!("{operation}/{of}/content/application~1json/schema");
        let request = content("requestBody");
        assert_eq!(
            fits(&document, &request, &body),
            status == 200,
            "{at} {body}"
        );
        let answers = content(&format!("responses/{status}"));
        match document.pointer(&answers) {
            Some(_) => assert!(fits(&document, &answers, &answer), "{at} {answer}"),
            // Errors of AuthZEN are sentences.
            None => assert!(status == 400 && at != "/v1/decide"),
        }
    }
    let metadata = "/components/schemas/Metadata";
    let answer = running.get("/.well-known/authzen-configuration").body;
    assert!(fits(&document, metadata, &answer));
    let status = "/components/schemas/Status";
    assert!(fits(&document, status, &running.get("/v1/status").body));
}

#[test]
fn the_document_has_every_path_and_no_other() {
    let (document, running) = (document(), running());
    let paths = document["paths"].as_object().unwrap();
    let mut names: Vec<_> = paths.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "/.well-known/authzen-configuration",
            "/access/v1/evaluation",
            "/access/v1/evaluations",
            "/access/v1/search/action",
            "/access/v1/search/resource",
            "/v1/approval",
            "/v1/bundle",
            "/v1/decide",
            "/v1/status"
        ]
    );
    for (name, methods) in paths {
        let has_get = methods.get("get").is_some();
        assert_eq!(methods.as_object().unwrap().len(), 1);
        assert_eq!(
            running.get(name).status,
            if has_get { 200 } else { 405 },
            "{name}"
        );
    }
}
