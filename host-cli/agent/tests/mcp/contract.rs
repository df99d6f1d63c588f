//! The contract of each verb: the codes that it can fail with, each with a hint that says what to do.
//!
//! Codes that depend on an app (`E_RUNTIME`, `E_TIMEOUT`) are in `failures`, and `E_BUILD` is in `packages`.

use crate::bed::Bed;
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;

/// A call that fails: the verb, its input, the code, a part of the message, and a part of a hint.
type Failing<'a> = (&'a str, Value, &'a str, &'a str, &'a str);

#[track_caller]
fn check(bed: &Bed, task: Option<&str>, (verb, input, code, says, hint): Failing<'_>) {
    let response = bed.verb(verb, task, &input);
    assert_eq!(response["ok"], false, "{verb}: {response}");
    assert_eq!(response["version"], "v1", "{verb}: {response}");
    assert!(response.get("data").is_none(), "{verb}: {response}");
    let error = &response["error"];
    assert_eq!(error["code"], code, "{verb}: {response}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(says), "{verb}: {message}");
    let hints = error["hints"].as_array().unwrap().iter();
    let mut hints = hints.map(|it| it.as_str().unwrap());
    assert!(hints.any(|it| it.contains(hint)), "{verb}: {response}");
}

/// A valid input of each verb.
fn valid() -> [(&'static str, Value); 5] {
    let probe = json!({ "method": "GET", "path": "/", "expect_status": 200 });
    [
        ("plan.create", json!({ "prompt": "hello" })),
        ("fs.apply", json!({ "writes": [] })),
        ("run.start", json!({ "cmd": "python app.py" })),
        ("httpcheck.assert", json!({ "probes": [probe] })),
        ("report.finish", json!({})),
    ]
}

#[test]
fn every_verb_refuses_what_is_no_input() {
    let bed = Bed::new(&[]);
    let id = bed.task_with(&[("app.py", "")]);
    let task = Some(&*id);
    for (verb, mut input) in valid() {
        input["surprise"] = 1.into();
        let failing = (verb, input, "E_PLAN", "/surprise", "");
        check(&bed, task, failing);
        check(&bed, task, (verb, json!([]), "E_PLAN", "", "schema"));
    }
    for failing in [
        ("plan.create", json!({}), "E_PLAN", "prompt", "schema"),
        (
            "plan.create",
            json!({ "prompt": "predict the weather" }),
            "E_PLAN",
            "no service for the prompt",
            "--planner",
        ),
        (
            "fs.apply",
            json!({ "writes": [{ "path": "a" }] }),
            "E_PLAN",
            "/writes/0",
            "schema",
        ),
        (
            "run.start",
            json!({ "cmd": "python app.py | tee x" }),
            "E_PLAN",
            "|",
            "",
        ),
        (
            "run.start",
            json!({ "cmd": "python app.py", "egress": "allow" }),
            "E_PLAN",
            "/egress",
            "",
        ),
        (
            "run.start",
            json!({ "cmd": "python app.py", "ready": { "regex": "(" } }),
            "E_PLAN",
            "",
            "",
        ),
        // The app does not run.
        (
            "httpcheck.assert",
            valid()[3].1.clone(),
            "E_PLAN",
            "applied",
            "run.start",
        ),
        (
            "report.finish",
            json!({ "verdict": "maybe" }),
            "E_PLAN",
            "/verdict",
            "",
        ),
    ] {
        check(&bed, task, failing);
    }
    for (verb, input) in &valid()[1..] {
        let failing = (*verb, input.clone(), "E_PLAN", "ffffff", "");
        check(&bed, Some("ffffff"), failing);
    }
}

#[test]
fn every_verb_obeys_the_policy() {
    let bed = Bed::new(&[]);
    let id = bed.task_with(&[("app.py", "")]);
    for (verb, input) in valid() {
        let policy = format!("policies:\n  verbs:\n    {verb}: deny\n");
        fs::write(bed.path(".mcpd/policy.yaml"), policy).unwrap();
        let (says, hint) = (
            format!("the policy denies `{verb}`"),
            format!("write `{verb}: allow`"),
        );
        check(
            &bed,
            Some(&id),
            (verb, input.clone(), "E_POLICY", &says, &hint),
        );
        fs::write(bed.path(".mcpd/policy.yaml"), "policies:\n  egres: deny\n").unwrap();
        let failing = (
            verb,
            input,
            "E_POLICY",
            "line 2, column 3: `egres`",
            "did you mean `egress`?",
        );
        check(&bed, Some(&id), failing);
    }
    // So do the requests of the command line that stand for a verb.
    for (verb, path, body) in [
        ("plan.create", "plan-change", r#"{"prompt":"say 'other'"}"#),
        ("fs.apply", "revert", ""),
    ] {
        let policy = format!("policies:\n  verbs:\n    {verb}: deny\n");
        fs::write(bed.path(".mcpd/policy.yaml"), policy).unwrap();
        let refused = bed
            .daemon("POST", &format!("/tasks/{id}/{path}"), body)
            .body;
        assert!(
            refused.contains(&format!("the policy denies `{verb}`")),
            "{refused}"
        );
    }
}

#[test]
fn files_are_refused_by_the_verbs_that_touch_them() {
    let bed = Bed::new(&[]);
    let id = bed.task_with(&[("app.py", "")]);
    let write = |path: &str| json!({ "writes": [{ "path": path, "content": "" }] });
    for failing in [
        ("fs.apply", write("/etc/passwd"), "E_FS", "/etc/passwd", ""),
        ("fs.apply", write("a/../../x"), "E_FS", "a/../../x", ""),
        ("fs.apply", write("app.py/x"), "E_FS", "app.py", ""),
        (
            "report.finish",
            json!({ "include": ["missing"] }),
            "E_FS",
            "`missing`",
            "",
        ),
    ] {
        check(&bed, Some(&id), failing);
    }
}

#[test]
fn a_planner_fails_with_the_reason_of_its_failure() {
    // The port of a closed listener refuses connections.
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let url = format!("http://{gone}/v1");
    let bed = Bed::new(&["--planner-url", &url, "--planner-model", "m"]);
    let hello = json!({ "prompt": "hello" });
    let failing = (
        "plan.create",
        hello.clone(),
        "E_NETWORK",
        "the planner made no plan",
        "address",
    );
    check(&bed, None, failing);

    let plan = json!({ "files": [{ "path": "app.py", "content": "" }], "start": "pip install flask && python app.py", "lang": "python" });
    let print = format!("print({:?})", plan.to_string());
    let bed = Bed::new(&["--planner", "/usr/bin/python3", "-c", &print]);
    let hint = "deps.install@v1: allow";
    check(
        &bed,
        None,
        (
            "plan.create",
            hello.clone(),
            "E_POLICY",
            "installation",
            hint,
        ),
    );
    let bed = Bed::new(&["--planner", "/usr/bin/python3", "-c", "print('no plan')"]);
    check(&bed, None, ("plan.create", hello, "E_PLAN", "", ""));
}
