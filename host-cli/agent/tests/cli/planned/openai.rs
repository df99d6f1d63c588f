//! `--planner openai`: a server on loopback that speaks chat completions, and its lies.

use super::{CALL, GOAL, keeper, searcher};
use crate::canary::SECRETS;
use crate::interrupts::assert_cancelled;
use crate::processes::send;
use crate::project::{Project, Run};
use crate::run_plan::server::{Request, Response, Server};
use crate::run_plan::{NOOP, evidence, output, step, summary};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The secret that is the key, by its name: a header may hold it.
const KEY: &str = "FILE";

/// The value of the key.
fn key() -> &'static str {
    let mut secrets = SECRETS.into_iter();
    secrets.find(|(name, _)| *name == KEY).unwrap().1
}

/// A command with a model behind a server.
fn command(project: &Project, line: &str, server: &Server) -> Command {
    let mut command = project.command(line.split(' '));
    command.args(["--planner", "openai", "--planner-model", "a-model"]);
    command.args(["--planner-key", KEY, "--planner-url"]);
    command.arg(format!("{}/v1", server.origin()));
    command
}

fn run(project: &Project, server: &Server) -> Run {
    Run::of(command(project, &format!("run {GOAL}"), server))
}

/// Returns an answer whose only choice has a text.
fn completion(content: &str) -> Response {
    let message = json!({ "role": "assistant", "content": content });
    let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
    let body = json!({ "object": "chat.completion", "choices": [choice] });
    ("200 OK", "application/json", body.to_string())
}

/// Returns the request of the engine within one of the protocol.
fn asked(request: &Request) -> Value {
    let body: Value = serde_json::from_str(&request.body).unwrap();
    let text = body["messages"][1]["content"].as_str().unwrap();
    serde_json::from_str(text).unwrap()
}

/// Returns a plan of one step for a request, as a model writes it.
fn plan(request: &Request, input: &Value) -> String {
    let asked = asked(request);
    let plan = json!({
        "envelope_id": "env.mova_agent_plan_v1",
        "verb": "create",
        "roles": { "planner": "a-model", "executor": "agent" },
        "plan": {
            "plan_id": "p",
            "request_id": asked["request_id"],
            "tool_pool_ref": asked["tool_pool_ref"],
            "instruction_profile_ref": asked["instruction_profile_ref"],
            "steps": [step(NOOP, "keep", input.clone())],
        }
    });
    plan.to_string()
}

#[test]
fn a_model_plans_for_a_goal_and_the_plan_is_carried_out() {
    let project = keeper();
    let server = Server::start(|request| completion(&plan(request, &json!({ "note": "n" }))));
    run(&project, &server).exits(0).answers("completed: p");
    assert_eq!(output(&project, "keep"), json!({ "note": "n" }));
    let [request] = &server.requests()[..] else {
        panic!("one request");
    };
    assert!(
        request
            .head
            .starts_with("POST /v1/chat/completions HTTP/1.1\r\n")
    );
    let authorization = format!("\r\nauthorization: Bearer {}\r\n", key());
    assert!(request.head.contains(&authorization), "{}", request.head);
    assert!(!request.body.contains(key()));
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(body["model"], "a-model");
    assert_eq!(body["response_format"]["type"], "json_schema");
    let asked = asked(request);
    assert_eq!(
        (&asked["task"], &asked["goal"]),
        (&json!("steps"), &json!("note"))
    );
    // The same without a run, and without a key.
    let project = keeper();
    let mut command = project.command(format!("plan {GOAL} --planner openai").split(' '));
    let url = format!("{}/v1/", server.origin());
    command.args(["--planner-model", "a-model", "--planner-url", &url]);
    Run::of(command).exits(0).answers("may run");
    assert!(!server.requests()[1].head.contains("authorization"));
    assert_eq!(summary(&project)["steps"][0]["status"], "skipped");
}

#[test]
fn a_model_plans_the_call_of_a_query() {
    let (project, mcp) = searcher("");
    let server = Server::start(|_| completion(CALL));
    let asked = Run::of(command(&project, "ask mars", &server)).exits(0);
    asked.answers("tool_result").answers("found");
    assert_eq!(server.requests().len(), 1);
    let calls = mcp.methods().into_iter().filter(|it| it == "tools/call");
    assert_eq!(calls.count(), 1);
}

#[test]
fn each_lie_of_a_model_ends_in_its_code_after_one_request() {
    type Lie = fn(&Request) -> Response;
    let cases: [(&str, Lie, &str, Option<&str>); 14] = [
        (
            "prose around the plan",
            |it| completion(&format!("Here it is:\n{}\nDone.", plan(it, &json!(1)))),
            "validation_failed",
            None,
        ),
        (
            "a fence around the plan",
            |it| completion(&format!("```json\n{}\n```", plan(it, &json!(1)))),
            "validation_failed",
            None,
        ),
        (
            "two plans",
            |it| {
                let plan = plan(it, &json!(1));
                completion(&format!("{plan}{plan}"))
            },
            "validation_failed",
            None,
        ),
        (
            "a plan for another tool",
            |it| completion(&plan(it, &json!(1)).replace("\"keep\"", "\"other\"")),
            "policy_denied",
            None,
        ),
        (
            "two choices",
            |it| {
                let choice = json!({ "message": { "content": plan(it, &json!(1)) } });
                let body = json!({ "choices": [choice, choice] });
                ("200 OK", "application/json", body.to_string())
            },
            "handler_failed",
            Some("PLANNER_FAILED"),
        ),
        (
            "no choice",
            |_| ("200 OK", "application/json", r#"{"choices":[]}"#.to_owned()),
            "handler_failed",
            Some("PLANNER_FAILED"),
        ),
        (
            "a tool call",
            |_| {
                let message = json!({ "content": null, "tool_calls": [{ "id": "1" }] });
                let body = json!({ "choices": [{ "message": message }] });
                ("200 OK", "application/json", body.to_string())
            },
            "handler_failed",
            Some("PLANNER_FAILED"),
        ),
        (
            "a plan that was cut off",
            |it| {
                let message = json!({ "content": plan(it, &json!(1)) });
                let choice = json!({ "message": message, "finish_reason": "length" });
                let body = json!({ "choices": [choice] });
                ("200 OK", "application/json", body.to_string())
            },
            "handler_failed",
            Some("PLANNER_FAILED"),
        ),
        (
            "a page in place of JSON",
            |_| ("200 OK", "text/html", format!("<html>{}</html>", key())),
            "handler_failed",
            Some("PLANNER_FAILED"),
        ),
        (
            "a body that was cut off",
            |_| {
                (
                    "200 OK\r\ncontent-length: 9000",
                    "application/json",
                    String::new(),
                )
            },
            "handler_failed",
            Some("PLANNER_FAILED"),
        ),
        (
            "a plan of 17 MB",
            |_| completion(&"a".repeat(17 << 20)),
            "limit_exceeded",
            None,
        ),
        (
            "a redirection",
            |_| {
                (
                    "307 Temporary Redirect\r\nlocation: /v1/elsewhere",
                    "text/plain",
                    String::new(),
                )
            },
            "handler_failed",
            Some("PLANNER_FAILED"),
        ),
        (
            "an echo of the key",
            |it| {
                let body =
                    json!({ "error": { "message": format!("wrong key: {}\n{}", key(), it.head) } });
                ("401 Unauthorized", "application/json", body.to_string())
            },
            "handler_failed",
            Some("PLANNER_FAILED"),
        ),
        (
            "a failure that would pass",
            |_| {
                (
                    "503 Service Unavailable\r\nretry-after: 0",
                    "text/plain",
                    "again".to_owned(),
                )
            },
            "handler_failed",
            Some("PLANNER_FAILED"),
        ),
    ];
    for (name, lie, code, reason) in cases {
        let project = keeper();
        let server = Server::start(lie);
        let ended = run(&project, &server).exits(1);
        let summary = summary(&project);
        assert_eq!(summary["code"], code, "{name}: {ended:?}");
        assert_eq!(summary["reason"].as_str(), reason, "{name}: {ended:?}");
        assert_eq!(server.requests().len(), 1, "{name}");
        let verify = format!("evidence verify {}", evidence(&project).display());
        project.agent(&verify).exits(0);
    }
}

#[test]
fn a_key_that_the_model_puts_into_its_plan_is_hidden() {
    let project = keeper();
    let server = Server::start(|it| completion(&plan(it, &json!({ "note": key() }))));
    run(&project, &server);
    let verify = format!("evidence verify {}", evidence(&project).display());
    project.agent(&verify).exits(0);
    let stored = std::fs::read_to_string(evidence(&project).join("plan.envelope.json")).unwrap();
    assert!(stored.contains("\"present\":true"), "{stored}");
}

#[test]
fn a_model_that_does_not_answer_is_interrupted() {
    let project = keeper();
    let server = Server::start(|_| {
        thread::sleep(Duration::from_secs(60));
        completion("")
    });
    let mut command = command(&project, &format!("run {GOAL}"), &server);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    let began = Instant::now();
    while server.requests().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(30), "no request");
        thread::sleep(Duration::from_millis(20));
    }
    send(&child, libc::SIGINT);
    let ended = Run::new(child.wait_with_output().unwrap(), &project.path(""));
    assert_cancelled(&project, ended);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_wrong_configuration_is_no_answer() {
    let project = keeper();
    let base = format!("run {GOAL} --planner openai");
    for (options, note) in [
        ("", "--planner-url"),
        ("--planner-url http://127.0.0.1:1/v1", "--planner-model"),
        ("--planner-model m", "--planner-url"),
        (
            "--planner-model m --planner-url ftp://127.0.0.1/v1",
            "neither `http` nor `https`",
        ),
        (
            "--planner-model m --planner-url http://u:p@127.0.0.1/v1",
            "user info",
        ),
        (
            "--planner-model m --planner-url http://127.0.0.1:1/v1 --planner-key OTHER",
            "the operator has no secret `OTHER`",
        ),
        (
            // A header may not hold its blanks.
            "--planner-model m --planner-url http://127.0.0.1:1/v1 --planner-key ENV",
            "the key has a character other than visible ASCII",
        ),
    ] {
        project
            .agent(&format!("{base} {options}"))
            .exits(2)
            .notes(note);
    }
    assert!(!project.has("artifacts"));
    // A server that is not there fails the run.
    let options = "--planner-model m --planner-url http://127.0.0.1:1/v1";
    project
        .agent(&format!("{base} {options}"))
        .exits(1)
        .notes("the planner made no plan");
    assert_eq!(summary(&project)["reason"], "PLANNER_FAILED");
}
