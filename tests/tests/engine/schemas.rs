//! `schemas/`: made of the types in `files.rs`, true of every file in the corpus, and able to say
//! no.

use agent_tests::corpus::{Failures, cases};
use agent_tests::difference::difference;
use agent_tests::files::{File, Lock, Match, Resolution, schema_name};
use agent_tests::root;
use serde_json::{Value, json};

fn schema<F: File>() -> Value {
    serde_json::from_str(&F::schema()).expect("a schema is JSON")
}

/// Named so that `cargo xtask bless` writes them.
#[test]
fn corpus_of_schemas_is_that_of_the_types() {
    let mut failures = Failures::default();
    for (file, schema) in [
        (Lock::NAME, Lock::schema()),
        (Resolution::NAME, Resolution::schema()),
        (Match::NAME, Match::schema()),
    ] {
        let path = root().join("schemas").join(schema_name(file).as_ref());
        failures.compare(&format!("schemas/{}", schema_name(file)), &path, &schema);
    }
    failures.finish();
}

#[test]
fn schemas_are_schemas() {
    for schema in [schema::<Lock>(), schema::<Resolution>(), schema::<Match>()] {
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        jsonschema::draft202012::meta::validate(&schema).expect("it is valid");
    }
}

/// Every file of its name in the corpus, and how often there is one.
fn check<F: File>(failures: &mut Failures) -> usize {
    let validator = jsonschema::validator_for(&schema::<F>()).expect("a schema");
    let mut count = 0;
    for area in ["resolve", "match", "views"] {
        for case in cases(area) {
            let Some(bytes) = case.input(F::NAME) else {
                continue;
            };
            let name = format!("{}/{}", case.name(), F::NAME);
            let text = String::from_utf8(bytes).expect("UTF-8");
            count += 1;
            for error in validator.iter_errors(&serde_json::from_str(&text).expect("JSON")) {
                failures.add(&name, format!("{error} at {}", error.instance_path()));
            }
            match F::read(&text) {
                Err(error) => failures.add(&name, error.to_string()),
                Ok(file) => {
                    if let Some(lines) = difference(&file.write(), &text) {
                        failures.add(&name, format!("serde_json -, the engine +, from {lines}"));
                    }
                }
            }
        }
    }
    count
}

#[test]
fn files_that_are_written_fit_their_schemas_and_serde_json_writes_them_alike() {
    let mut failures = Failures::default();
    let locks = check::<Lock>(&mut failures);
    let resolutions = check::<Resolution>(&mut failures);
    let matches = check::<Match>(&mut failures);
    failures.finish();
    assert!(
        locks > 20 && resolutions > 40 && matches > 40,
        "{locks} locks, {resolutions} resolutions, {matches} matches"
    );
}

fn lock() -> Value {
    json!({
        "agent": { "name": "a", "version": "1" },
        "forbid": ["x"],
        "lockVersion": 1,
        "selections": [{
            "category": "c",
            "endpoint": "pkg:generic/e",
            "hash": "0".repeat(64),
            "id": "i",
            "integrity": format!("sha256-{}=", "A".repeat(43)),
            "scopes": ["s"],
            "version": "1",
        }, {
            "capability": { "constraints": ["readonly"], "resource": "x-r", "verb": "read" },
            "definition": format!("sha256-{}=", "A".repeat(43)),
            "endpoint": "pkg:generic/e",
            "hash": "0".repeat(64),
            "id": "i",
            "integrity": format!("sha256-{}=", "A".repeat(43)),
            "load": "on_demand",
            "scopes": [],
            "tool": "t",
            "version": "1",
        }],
    })
}

/// A requirement of a capability with every reason, and its answer.
fn tool_requirement() -> Value {
    let rejected =
        |reasons: Value| json!({ "id": "j", "reasons": reasons, "tool": "u", "version": "1" });
    json!({
        "capability": { "constraints": ["readonly"], "resource": "x-r", "verb": "read" },
        "eligible": [{ "id": "i", "lostOn": "priority", "tool": "u", "version": "2" }],
        "load": "essential",
        "rejected": [
            rejected(json!([
                { "code": "CONSTRAINT_UNMET", "missing": ["readonly"] },
                { "code": "FORBIDDEN_ACTION", "label": "u" },
            ])),
            rejected(json!([{ "code": "POLICY_DENIED", "reason": null }])),
            rejected(json!([{ "code": "POLICY_ERROR", "reason": "budget" }])),
            rejected(json!([{ "code": "HEALTH_VETO", "status": "STARTING" }])),
            {
                "id": "k",
                "reasons": [{ "code": "MISSING_CAPABILITY", "offered": [] }],
                "tool": null,
                "version": "1",
            },
        ],
        "selected": {
            "definition": format!("sha256-{}=", "A".repeat(43)),
            "hash": "0".repeat(64),
            "id": "i",
            "tool": "t",
            "version": "1",
        },
    })
}

fn matched() -> Value {
    json!({
        "constraints": { "forbid": [], "requireSigned": false, "residency": null, "sensitivity": null },
        "requirements": [tool_requirement()],
        "satisfied": true,
        "task": { "id": "t" },
    })
}

fn resolution() -> Value {
    let reason = |code: &str, key: &str, value: Value| json!({ "code": code, key: value });
    json!({
        "agent": { "name": "a", "version": "1" },
        "constraints": { "forbid": [], "requireSigned": false, "residency": null, "sensitivity": "pii.low" },
        "requirements": [{
            "category": "c",
            "eligible": [{ "id": "i", "lostOn": "version", "version": "2" }],
            "permissions": [],
            "rejected": [{
                "id": "j",
                "reasons": [
                    reason("MISSING_CATEGORY", "offered", json!([])),
                    reason("MISSING_SCOPE", "missing", json!(["s"])),
                    { "code": "RESIDENCY_MISMATCH", "offered": ["eu-only"], "required": "us-only" },
                    { "code": "SENSITIVITY_EXCEEDED", "offered": "public", "required": "pii.low" },
                    reason("UNSIGNED_NOT_ALLOWED", "publisher", json!("p")),
                ],
                "version": "1",
            }],
            "selected": { "hash": "0".repeat(64), "id": "i", "version": "1" },
        }, tool_requirement()],
        "satisfied": true,
    })
}

/// Change one place of a value and expect that neither schema nor type takes it.
fn refuses<F: File>(good: &Value, pointer: &str, bad: Option<Value>) {
    let validator = jsonschema::validator_for(&schema::<F>()).expect("a schema");
    assert!(validator.is_valid(good), "{:?}", validator.validate(good));
    F::read(&good.to_string()).expect("the good one is read");
    let mut value = good.clone();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = value.pointer_mut(parent).expect("a parent");
    match bad {
        Some(bad) => parent[key] = bad,
        None => drop(parent.as_object_mut().expect("an object").remove(key)),
    }
    assert!(!validator.is_valid(&value), "{pointer}: {value:#}");
}

#[test]
fn schema_of_locks_refuses_what_is_no_lock() {
    let lock = lock();
    for key in ["agent", "forbid", "lockVersion", "selections"] {
        refuses::<Lock>(&lock, &format!("/{key}"), None);
    }
    for key in [
        "category",
        "endpoint",
        "hash",
        "id",
        "integrity",
        "scopes",
        "version",
    ] {
        refuses::<Lock>(&lock, &format!("/selections/0/{key}"), None);
        refuses::<Lock>(&lock, &format!("/selections/0/{key}"), Some(json!(1)));
        refuses::<Lock>(&lock, &format!("/selections/0/{key}"), Some(json!("")));
    }
    for key in [
        "capability",
        "definition",
        "endpoint",
        "hash",
        "id",
        "integrity",
        "load",
        "scopes",
        "tool",
        "version",
    ] {
        refuses::<Lock>(&lock, &format!("/selections/1/{key}"), None);
        refuses::<Lock>(&lock, &format!("/selections/1/{key}"), Some(json!(1)));
        refuses::<Lock>(&lock, &format!("/selections/1/{key}"), Some(json!("")));
    }
    for key in ["constraints", "resource", "verb"] {
        let path = format!("/selections/1/capability/{key}");
        refuses::<Lock>(&lock, &path, None);
        refuses::<Lock>(&lock, &path, Some(json!("")));
    }
    refuses::<Lock>(&lock, "/selections/1/scopes", Some(json!(["s"])));
    refuses::<Lock>(&lock, "/selections/1/category", Some(json!("c")));
    refuses::<Lock>(&lock, "/selections/0/tool", Some(json!("t")));
    refuses::<Lock>(&lock, "/selections/1/capability/extra", Some(json!(1)));
    refuses::<Lock>(&lock, "/selections/1/capability/verb", Some(json!("find")));
    refuses::<Lock>(&lock, "/extra", Some(json!(1)));
    refuses::<Lock>(&lock, "/selections/0/extra", Some(json!(1)));
    refuses::<Lock>(&lock, "/lockVersion", Some(json!(2)));
    refuses::<Lock>(&lock, "/forbid", Some(json!(["x", "x"])));
    refuses::<Lock>(&lock, "/agent/name", Some(json!("a\nb")));
    refuses::<Lock>(&lock, "/selections/0/hash", Some(json!("A".repeat(64))));
    refuses::<Lock>(&lock, "/selections/0/integrity", Some(json!("sha256-AAAA")));
}

#[test]
fn schema_of_resolutions_refuses_what_is_none() {
    let resolution = resolution();
    for key in ["agent", "constraints", "requirements", "satisfied"] {
        refuses::<Resolution>(&resolution, &format!("/{key}"), None);
    }
    for key in ["forbid", "requireSigned", "residency", "sensitivity"] {
        refuses::<Resolution>(&resolution, &format!("/constraints/{key}"), None);
        refuses::<Resolution>(
            &resolution,
            &format!("/constraints/{key}"),
            Some(json!("x")),
        );
    }
    for key in [
        "category",
        "eligible",
        "permissions",
        "rejected",
        "selected",
    ] {
        refuses::<Resolution>(&resolution, &format!("/requirements/0/{key}"), None);
    }
    let reasons = "/requirements/0/rejected/0/reasons";
    refuses::<Resolution>(&resolution, reasons, Some(json!([])));
    for reason in 0..5 {
        refuses::<Resolution>(
            &resolution,
            &format!("{reasons}/{reason}/code"),
            Some(json!("OTHER")),
        );
        refuses::<Resolution>(
            &resolution,
            &format!("{reasons}/{reason}/extra"),
            Some(json!(1)),
        );
    }
    refuses::<Resolution>(
        &resolution,
        &format!("{reasons}/1/missing"),
        Some(json!([])),
    );
    refuses::<Resolution>(
        &resolution,
        &format!("{reasons}/2/offered"),
        Some(json!("eu-only")),
    );
    refuses::<Resolution>(
        &resolution,
        "/requirements/0/eligible/0/lostOn",
        Some(json!("rank")),
    );
    refuses::<Resolution>(
        &resolution,
        "/requirements/0/selected/hash",
        Some(json!("x")),
    );
}

/// Changes the value under `requirement`, a pointer to a required capability.
fn refuses_tools<F: File>(good: &Value, requirement: &str) {
    let refuse =
        |key: &str, bad: Option<Value>| refuses::<F>(good, &format!("{requirement}/{key}"), bad);
    for key in ["capability", "eligible", "load", "rejected", "selected"] {
        refuse(key, None);
        refuse(key, Some(json!("x")));
    }
    for key in ["definition", "hash", "id", "tool", "version"] {
        refuse(&format!("selected/{key}"), None);
        refuse(&format!("selected/{key}"), Some(json!("")));
    }
    for key in ["id", "lostOn", "tool", "version"] {
        refuse(&format!("eligible/0/{key}"), None);
    }
    refuse("eligible/0/lostOn", Some(json!("signed")));
    for tool in 0..5 {
        for key in ["id", "reasons", "tool", "version"] {
            refuse(&format!("rejected/{tool}/{key}"), None);
        }
        refuse(&format!("rejected/{tool}/reasons"), Some(json!([])));
        let reason = format!("rejected/{tool}/reasons/0");
        refuse(&format!("{reason}/code"), Some(json!("OTHER")));
        refuse(&format!("{reason}/extra"), Some(json!(1)));
    }
    refuse("rejected/0/reasons/0/missing", Some(json!([])));
    refuse("rejected/0/reasons/1/label", Some(json!(null)));
    refuse("rejected/1/reasons/0/reason", None);
    refuse("rejected/2/reasons/0/reason", Some(json!("bored")));
    refuse("rejected/3/reasons/0/status", Some(json!("healthy")));
    refuse("rejected/3/reasons/0/status", None);
    refuse("category", Some(json!("c")));
    refuse("permissions", Some(json!([])));
}

#[test]
fn schemas_of_tools_refuse_what_is_none() {
    refuses_tools::<Resolution>(&resolution(), "/requirements/1");
    let matched = matched();
    refuses_tools::<Match>(&matched, "/requirements/0");
    for key in ["constraints", "requirements", "satisfied", "task"] {
        refuses::<Match>(&matched, &format!("/{key}"), None);
    }
    refuses::<Match>(&matched, "/task/id", Some(json!("")));
    refuses::<Match>(
        &matched,
        "/agent",
        Some(json!({ "name": "a", "version": "1" })),
    );
    let mut category = matched.clone();
    category["requirements"] = resolution()["requirements"].clone();
    let validator = jsonschema::validator_for(&schema::<Match>()).expect("a schema");
    assert!(!validator.is_valid(&category), "a category is not matched");
}
