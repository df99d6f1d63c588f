//! Attacks on a run, by the tables of `attacks/`: handlers, resolvers and servers that want more than
//! the plan. Each row ends in its code, and no effect is wanted that is behind the refusal.

use super::{audiences, files, keep, plan_of, report};
use agent_run::{Action, Documents, HandlerEvent, HandlerRequest, Outcome};
use agent_tests::attacks::{Attack, attacks};
use agent_tests::corpus::Failures;
use agent_tests::run::{Ended, behave, handled, listed, options, run};
use serde_json::Value;
use std::cell::RefCell;
use std::fs;

/// The tables, each with the test that carries it out: a module below `tests/tests/engine`, or a file of a
/// crate of the host.
const TABLES: [(&str, &str); 14] = [
    ("addresses", "tests/tests/engine/run/attacks.rs"),
    ("guests", "host-cli/effects/src/handler/attacks.rs"),
    ("listings", "tests/tests/engine/run/attacks.rs"),
    ("outputs", "tests/tests/engine/run/attacks.rs"),
    ("paths", "host-cli/agent/tests/cli/attacks.rs"),
    ("payloads", "tests/tests/engine/run/attacks.rs"),
    ("processes", "host-cli/agent/tests/cli/attacks.rs"),
    ("programs", "tests/tests/engine/run/attacks.rs"),
    ("requests", "tests/tests/engine/run/attacks.rs"),
    ("responses", "host-cli/agent/tests/cli/attacks.rs"),
    ("servers", "host-cli/agent/tests/cli/attacks.rs"),
    ("sessions", "tests/tests/engine/session/attacks.rs"),
    ("stdio", "host-cli/agent/tests/cli/attacks.rs"),
    ("urls", "tests/tests/engine/run/attacks.rs"),
];

#[test]
fn there_are_many_attacks_and_each_is_carried_out() {
    let folder = agent_tests::root().join("tests/attacks");
    let files = fs::read_dir(folder).expect("the tables");
    let names = files.map(|it| {
        it.expect("a file")
            .file_name()
            .into_string()
            .expect("UTF-8")
    });
    let mut tables: Vec<_> = names
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .collect();
    tables.sort();
    assert_eq!(tables, TABLES.map(|(table, _)| table));
    let mut refused = 0;
    for (table, test) in TABLES {
        let path = agent_tests::root().join(test);
        let code = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let names = [format!("\"{table}\""), format!("{table}.json\"")];
        let reads = names.iter().any(|it| code.contains(it));
        assert!(reads, "{test} reads no {table}");
        refused += attacks(table)
            .iter()
            .filter(|it| it.code().is_some())
            .count();
    }
    assert!(refused >= 250, "{refused} attacks");
}

/// Carries out every attack of a table. `answer` answers the action that it is about.
///
/// A refused run wants no effect behind `last`, and one that is not refused wants them all.
fn carry_out(
    table: &str,
    last: &str,
    documents: &Documents,
    answer: impl Fn(&Attack, &Action) -> Option<Outcome>,
    more: impl Fn(&Attack, &Ended) -> Result<(), String>,
) {
    let mut failures = Failures::default();
    for attack in attacks(table) {
        let ended = run(documents.clone(), options(), |action| {
            answer(&attack, action).unwrap_or_else(|| behave(action))
        });
        if let Err(problem) = judge(&attack, last, &ended).and_then(|()| more(&attack, &ended)) {
            failures.add(&attack.name, problem);
        }
    }
    failures.finish();
}

fn judge(attack: &Attack, last: &str, ended: &Ended) -> Result<(), String> {
    let (code, _) = ended.code();
    if code != attack.code() {
        return Err(format!("ends with {code:?}: {}", ended.finished.message));
    }
    if !ended.finished.evidence_complete {
        return Err("its evidence is incomplete".to_owned());
    }
    let Some(code) = code else { return Ok(()) };
    if ended.effects.last() != Some(&last) {
        return Err(format!("wants {:?}", ended.effects));
    }
    for (name, text) in &ended.files {
        if name.ends_with(".json") && serde_json::from_str::<Value>(text).is_err() {
            return Err(format!("leaves {name}, which is not JSON: {text}"));
        }
    }
    // A refusal by a rule is an event of security, a failure is not.
    let is_event = matches!(
        code,
        "policy_denied" | "destination_denied" | "validation_failed"
    );
    let events = ended.security_events();
    match (is_event, &events[..]) {
        (true, [event]) if *event == format!("mova_agent:{code}") => Ok(()),
        (false, []) => Ok(()),
        _ => Err(format!("has the events {events:?}")),
    }
}

fn nothing_more(_: &Attack, _: &Ended) -> Result<(), String> {
    Ok(())
}

/// Returns the request of a handler.
fn asks(method: &str, url: &str) -> HandlerRequest {
    HandlerRequest {
        method: method.to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: None,
    }
}

/// Returns the connection and the target of the one request of a run, by its evidence.
fn connected(ended: &Ended) -> Option<(Value, Value)> {
    let mut requests = ended.episodes().into_iter().filter_map(|episode| {
        let details = &episode["result_details"];
        let is_request = details["record"] == "decision" && details["action"] == "request";
        is_request.then(|| details["facts"].clone())
    });
    let facts = requests.next()?;
    requests
        .next()
        .is_none()
        .then(|| (facts["connection"].clone(), facts["target"].clone()))
}

#[test]
fn a_handler_that_asks_for_another_url_is_refused_before_its_host_is_resolved() {
    carry_out(
        "urls",
        "call_handler",
        &plan_of(report()),
        |attack, action| match action {
            Action::CallHandler(_) => {
                let request = asks("GET", &attack.text("url"));
                Some(handled(HandlerEvent::Request(request)))
            }
            _ => None,
        },
        |attack, ended| {
            if attack.code().is_some() {
                return Ok(());
            }
            let (connection, target) = connected(ended).ok_or("makes no request")?;
            let to = format!(
                "{}:{}",
                connection["host"].as_str().unwrap_or_default(),
                connection["port"]
            );
            match (
                to == attack.text("connects"),
                target == attack.row["target"],
            ) {
                (true, true) => Ok(()),
                _ => Err(format!("connects to {to} and requests {target}")),
            }
        },
    );
}

#[test]
fn a_resolver_that_answers_with_other_addresses_is_refused_before_the_connection() {
    // The attack and the number of its answers.
    let answered = RefCell::new((String::new(), 0));
    carry_out(
        "addresses",
        "resolve",
        &plan_of(report()),
        |attack, action| match action {
            Action::Resolve(_) => {
                let mut answered = answered.borrow_mut();
                let times = match answered.0 == attack.name {
                    true => answered.1,
                    false => 0,
                };
                *answered = (attack.name.clone(), times + 1);
                let changes = times > 0 && attack.row.get("then").is_some();
                Some(Outcome::Addresses(match changes {
                    true => attack.texts("then"),
                    false => answers(attack),
                }))
            }
            _ => None,
        },
        |attack, ended| {
            // The answer counts that was checked: the host is resolved once.
            let resolved = ended.effects.iter().filter(|it| **it == "resolve").count();
            let connection = connected(ended).map(|(connection, _)| connection);
            let address = connection.as_ref().map(|it| &it["address"]);
            match (resolved, address == attack.row.get("connects")) {
                (1, true) => Ok(()),
                _ => Err(format!("resolves {resolved} times, then {connection:?}")),
            }
        },
    );
}

/// Returns the first answer of a resolver: a list, or an address so many times with another behind.
fn answers(attack: &Attack) -> Vec<String> {
    let row = &attack.row["addresses"];
    let Some(times) = row["times"].as_u64() else {
        return attack.texts("addresses");
    };
    let of = |member: &str| row[member].as_str().expect("an address").to_owned();
    let mut answers: Vec<_> = (0..times).map(|_| of("of")).collect();
    answers.push(of("then"));
    answers
}

#[test]
fn a_handler_that_asks_for_another_request_is_refused() {
    carry_out(
        "requests",
        // The request itself is decided before anything else.
        "call_handler",
        &plan_of(report()),
        |attack, action| match action {
            Action::CallHandler(_) => {
                let method = attack.row["method"].as_str().unwrap_or("GET");
                let mut request = asks(method, "https://reports.example/");
                let headers = attack.row["headers"].as_array().into_iter().flatten();
                let text = |it: &Value| it.as_str().expect("a text").to_owned();
                request.headers = headers.map(|it| (text(&it[0]), text(&it[1]))).collect();
                let has_body = attack.row.get("body").is_some();
                request.body = has_body.then(|| attack.text("body").into_bytes());
                Some(handled(HandlerEvent::Request(request)))
            }
            _ => None,
        },
        nothing_more,
    );
}

#[test]
fn a_handler_that_asks_for_another_program_is_refused() {
    carry_out(
        "programs",
        "call_handler",
        &plan_of(files()),
        |attack, action| match action {
            Action::CallHandler(_) => Some(handled(HandlerEvent::Program {
                path: attack.text("path"),
                arguments: attack.texts("arguments"),
                stdin: match attack.row.get("stdin") {
                    Some(_) => attack.text("stdin").into_bytes(),
                    None => Vec::new(),
                },
            })),
            _ => None,
        },
        nothing_more,
    );
}

#[test]
fn a_server_that_lists_another_definition_is_not_called() {
    carry_out(
        "listings",
        "list_tools",
        &plan_of(audiences()),
        |attack, action| match action {
            Action::ListTools { .. } => Some(Outcome::Bytes(listing(attack).into_bytes())),
            _ => None,
        },
        nothing_more,
    );
}

/// Returns the list of an attack: a text, or the locked tools with a change.
fn listing(attack: &Attack) -> String {
    if attack.row.get("text").is_some() {
        return attack.text("text");
    }
    let mut list = listed();
    let tools = list["tools"].as_array_mut().expect("tools");
    let tool = tools.iter_mut().find(|it| it["name"] == "list_audiences");
    let tool = tool
        .expect("the locked tool")
        .as_object_mut()
        .expect("an object");
    for (key, value) in attack.row["change"].as_object().into_iter().flatten() {
        match value {
            Value::Null => drop(tool.remove(key)),
            value => drop(tool.insert(key.clone(), value.clone())),
        }
    }
    tools.extend(attack.row.get("add").cloned());
    list.to_string()
}

#[test]
fn a_server_that_returns_something_else_is_refused() {
    let documents = plan_of(audiences());
    let answer = |attack: &Attack, action: &Action| match action {
        Action::CallTool(_) => Some(Outcome::Bytes(attack.text("text").into_bytes())),
        _ => None,
    };
    let mut failures = Failures::default();
    for attack in attacks("payloads") {
        let ended = run(documents.clone(), options(), |action| {
            answer(&attack, action).unwrap_or_else(|| behave(action))
        });
        // Bytes that are not a result do not reach the handler; a result is judged once it returned
        // it.
        let last = ended.effects.last().copied().unwrap_or_default();
        let judged = match last {
            "call_tool" | "resume_handler" => judge(&attack, last, &ended),
            other => Err(format!("ends behind {other}")),
        };
        if let Err(problem) = judged {
            failures.add(&attack.name, problem);
        }
    }
    failures.finish();
}

#[test]
fn a_handler_that_returns_something_else_is_refused() {
    carry_out(
        "outputs",
        "call_handler",
        &plan_of(keep()),
        |attack, action| match action {
            Action::CallHandler(_) => {
                let output = attack.text("text").into_bytes();
                Some(handled(HandlerEvent::Returned(output)))
            }
            _ => None,
        },
        nothing_more,
    );
}
