//! Calls that are decided by the calls before them.

use super::audit_log::{replayed, text_of, verified};
use super::{World, answered, at, client, is_passed_on, new_client, refused, server};
use agent_model::{Load, Serve};
use agent_session::audit_log::{CalledTools, Comparison};
use agent_session::health::Observation;
use agent_session::limits::{HISTORY_BYTES_MAX, HISTORY_CALLS_OF_CLIENT_MAX, HISTORY_CLIENTS_MAX};
use agent_session::{
    CallAction, Called, Client, Delivered, Documents, Generation, ListKind, Method, Options,
    REFUSAL_KEY, Record, Secret, Session,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// The rules of most tests.
const RULES: &str = "
      - { rule: no-send-after, label: private }
      - { rule: no-write-after, label: untrusted }";

fn tool(verb: &str, resource: &str, annotations: Value, more: Value) -> Value {
    let mut tool = json!({
        "annotations": annotations,
        "inputSchema": { "type": "object", "properties": { "id": {}, "n": {}, "of": {} } },
        "x-summit-capabilities": [{ "verb": verb, "resource": resource, "constraints": [] }],
    });
    let members = more.as_object().expect("members").clone();
    tool.as_object_mut().expect("a tool").extend(members);
    tool
}

/// A mail box, a web, files, and a calculator that neither sends nor writes.
fn world(history: &str) -> World {
    let closed = json!({ "readOnlyHint": true, "openWorldHint": false });
    let servers = vec![
        server(
            "mail",
            json!({ "inbox": tool("read", "x-mail", closed.clone(), json!({ "x-labels": ["private"] })) }),
        ),
        server(
            "web",
            json!({
                "page": tool("read", "internet", json!({ "readOnlyHint": true }), json!({})),
                "post": tool("write", "internet", json!({ "openWorldHint": false }), json!({})),
            }),
        ),
        server(
            "files",
            json!({ "save": tool("write", "fs", json!({ "openWorldHint": false }), json!({})) }),
        ),
        server(
            "sums",
            json!({ "add": tool("reason", "knowledge_graph", closed, json!({})) }),
        ),
    ];
    let tools = [
        ("mail", "inbox"),
        ("web", "page"),
        ("web", "post"),
        ("files", "save"),
        ("sums", "add"),
    ];
    let locked = tools.map(|(server, tool)| (server, tool, Load::Essential));
    let mut world = World::new(servers, &locked);
    world.documents.tenant = Some(tenant(history));
    world
}

fn tenant(history: &str) -> Vec<u8> {
    format!("tenants:\n  - id: t\n    history:\n{history}\n").into_bytes()
}

fn rules(rules: &str) -> String {
    format!("      rules:{}", rules.replace('\n', "\n  "))
}

/// A session with its log.
struct Logged {
    session: Session,
    log: Vec<Record>,
}

impl Logged {
    fn start(world: &World) -> Self {
        Self::open(world, Options::default(), 0)
    }

    fn open(world: &World, options: Options, ms: u64) -> Self {
        let opened = Session::open(world.documents(), options, at(ms));
        let (session, log) = opened.unwrap_or_else(|found| panic!("{found:#?}"));
        let mut logged = Self { session, log };
        for server in logged.session.servers() {
            let live = world.live(&server.id);
            let found = logged.session.tools(&server.name, live.as_bytes(), at(ms));
            logged.log.extend(found.records);
            let answered = Observation::Answered { latency_ms: 1 };
            let found = logged.session.observe(&server.name, answered, at(ms));
            logged.log.extend(found.records);
        }
        logged
    }

    fn call_as(&mut self, client: &Client, name: &str, arguments: Value, ms: u64) -> Called {
        let called = super::call_at(&mut self.session, client, name, arguments, ms);
        self.log.extend(called.records.iter().cloned());
        called
    }

    fn call(&mut self, name: &str, ms: u64) -> Called {
        self.call_as(&new_client(), name, json!({}), ms)
    }

    /// Answers a call.
    fn end(&mut self, id: u64, ms: u64) {
        let result = br#"{"content":[],"resultType":"complete"}"#;
        match self.session.result(id, result, at(ms)) {
            Delivered::AsReceived(records) | Delivered::Changed(_, records) => {
                self.log.extend(records);
            }
            other => panic!("{other:?}"),
        }
    }

    /// Calls a tool and answers the call.
    fn answer(&mut self, name: &str, ms: u64) {
        let called = self.call(name, ms);
        assert!(is_passed_on(&called), "{:?}", called.action);
        self.end(called.id, ms);
    }

    fn text(&self) -> String {
        text_of(&self.log)
    }

    /// Starts another session that goes on in the log, which it gets or not.
    fn restarted(&self, world: &World, gets_log: bool, ms: u64) -> Self {
        let options = Options {
            last_record: self.log.last().map(|it| it.line.clone().into_bytes()),
            ..Options::default()
        };
        let mut next = Self::open(world, options, ms);
        assert!(next.session.history_wanted().is_some());
        if gets_log {
            for piece in self.text().as_bytes().chunks(1_000) {
                assert!(!next.session.remember(piece, false, at(ms)));
            }
            assert!(next.session.remember(b"", true, at(ms)));
            assert_eq!(next.session.history_wanted(), None);
        }
        let log = self.log.iter().cloned().chain(next.log.drain(..));
        next.log = log.collect();
        next
    }
}

/// Returns the texts of the reasons of a refusal.
#[track_caller]
fn texts(called: &Called) -> Vec<String> {
    let refusal = &answered(called)["_meta"][REFUSAL_KEY];
    let reasons = refusal["reasons"].as_array().expect("reasons").iter();
    reasons
        .map(|it| it["text"].as_str().expect("a text").to_owned())
        .collect()
}

#[track_caller]
fn is_stopped(called: &Called) {
    assert_eq!(refused(called), ["POLICY_DENIED"]);
    let text = &texts(called)[0];
    assert!(
        text.contains("`mail/inbox` returned data that is `private`"),
        "{text}"
    );
}

#[test]
fn nothing_is_sent_after_private_data() {
    let mut logged = Logged::start(&world(&rules(RULES)));
    // Sending alone is harmless, and so is what does not send.
    logged.answer("post", 1);
    logged.answer("inbox", 2);
    let mut decisions = logged
        .log
        .iter()
        .filter(|it| it.line.contains("\"decision\""));
    let sequence = decisions.next_back().expect("a record").sequence;
    logged.answer("add", 3);
    let called = logged.call("post", 4);
    is_stopped(&called);
    let expected = format!(
        "the tenant's rule `no-send-after`: record {sequence}: `mail/inbox` returned data that is `private`, at \
         2026-11-24T09:00:00.002Z, and `web/post` sends data to others"
    );
    assert_eq!(texts(&called), [expected]);
    // A tool that only searches sends what it searches for.
    is_stopped(&logged.call("page", 5));
    assert!(verified(logged.text().as_bytes()).is_valid());
}

#[test]
fn a_call_counts_from_when_it_is_allowed() {
    let mut logged = Logged::start(&world(&rules(RULES)));
    assert!(is_passed_on(&logged.call("inbox", 1)));
    is_stopped(&logged.call("post", 1));
}

#[test]
fn a_new_session_of_the_client_escapes_nothing() {
    let mut logged = Logged::start(&world(&rules(RULES)));
    let sessions = ["one", "two"].map(|it| Client {
        session: Some(it.to_owned()),
        ..client("c", Generation::Sessions)
    });
    assert!(is_passed_on(&logged.call_as(
        &sessions[0],
        "inbox",
        json!({}),
        1
    )));
    is_stopped(&logged.call_as(&sessions[1], "post", json!({}), 2));
    is_stopped(&logged.call("post", 2));
    // Another subject has a history of its own.
    let other = client("d", Generation::Stateless);
    assert!(is_passed_on(&logged.call_as(&other, "post", json!({}), 3)));
}

#[test]
fn a_history_ends_with_its_window() {
    let mut logged = Logged::start(&world(&format!("      window: 2s\n{}", rules(RULES))));
    logged.answer("inbox", 0);
    is_stopped(&logged.call("post", 1_999));
    assert!(is_passed_on(&logged.call("post", 2_000)));
}

#[test]
fn a_restarted_gateway_takes_its_log() {
    let world = world(&rules(RULES));
    let mut logged = Logged::start(&world);
    logged.answer("inbox", 1);
    let mut restarted = logged.restarted(&world, true, 2);
    is_stopped(&restarted.call("post", 3));
    restarted.answer("add", 4);
    // And once more, with the records of both.
    let mut restarted = restarted.restarted(&world, true, 5);
    is_stopped(&restarted.call("post", 6));
    assert!(verified(restarted.text().as_bytes()).is_valid());
}

#[test]
fn without_its_log_a_restarted_gateway_refuses() {
    let world = world(&rules(RULES));
    let mut logged = Logged::start(&world);
    logged.answer("inbox", 1);
    let mut restarted = logged.restarted(&world, false, 2);
    for name in ["post", "inbox", "add"] {
        assert_eq!(refused(&restarted.call(name, 3)), ["HISTORY_UNAVAILABLE"]);
    }
    // A log that was changed, cut off or begins too late is none.
    let text = logged.text();
    let lines: Vec<_> = text.lines().collect();
    let changed = text.replace("\"private\"", "\"publicx\"");
    let without_end = format!("{}\n", lines[..lines.len() - 1].join("\n"));
    let without_start = format!("{}\n", lines[1..].join("\n"));
    for wrong in [&changed, &without_end, &without_start, "", "{}\n"] {
        let mut restarted = logged.restarted(&world, false, 2);
        assert!(
            !restarted.session.remember(wrong.as_bytes(), true, at(2)),
            "{wrong}"
        );
        assert_eq!(refused(&restarted.call("post", 3)), ["HISTORY_UNAVAILABLE"]);
    }
    // One that begins before the window is enough.
    let later = 86_400_000 + 5;
    let mut restarted = logged.restarted(&world, false, later);
    assert!(
        restarted
            .session
            .remember(without_start.as_bytes(), true, at(later))
    );
    assert!(is_passed_on(&restarted.call("post", later)));
    // So is one in whose middle the window begins.
    let short = self::world(&format!("      window: 2s\n{}", rules(RULES)));
    let mut logged = Logged::start(&short);
    logged.answer("inbox", 3_000);
    let text = logged.text();
    let rest: String = text.split_inclusive('\n').skip(1).collect();
    let options = Options {
        last_record: logged.log.last().map(|it| it.line.clone().into_bytes()),
        ..Options::default()
    };
    let mut restarted = Logged::open(&short, options, 4_000);
    assert!(restarted.session.remember(rest.as_bytes(), true, at(4_000)));
    is_stopped(&restarted.call("post", 4_001));
    // The refusals hold in a replay.
    let answer = replayed(
        logged.restarted(&world, false, 2).text().as_bytes(),
        world.documents(),
    );
    assert_eq!(answer["same"], true, "{answer}");
}

#[test]
fn another_gateway_beside_it_refuses() {
    let mut logged = Logged::start(&world(&rules(RULES)));
    logged.session.split_history();
    assert_eq!(refused(&logged.call("add", 1)), ["HISTORY_UNAVAILABLE"]);
    assert!(
        !logged
            .session
            .remember(logged.text().as_bytes(), true, at(1))
    );
}

#[test]
fn an_exported_state_has_the_history() {
    let world = world(&rules(RULES));
    let mut logged = Logged::start(&world);
    logged.answer("inbox", 1);
    let open = logged.call("add", 2);
    let state = logged.session.export();
    let options = Options {
        state: Some(state.clone().into()),
        ..Options::default()
    };
    let (mut session, _) = Session::open(world.documents(), options, at(3)).expect("a session");
    let shown = |bytes: &[u8]| -> Value {
        let state: Value = serde_json::from_slice(bytes).expect("JSON");
        state["history"].clone()
    };
    assert_eq!(shown(&session.export()), shown(&state));
    session.result(open.id, br#"{"content":[],"resultType":"complete"}"#, at(3));
    let history = shown(&session.export());
    assert_eq!(history["scopes"][0]["calls"][1]["outcome"], "delivered");
    is_stopped(&super::call_at(
        &mut session,
        &new_client(),
        "post",
        json!({}),
        3,
    ));
}

#[test]
fn documents_that_begin_to_ask_for_a_history_need_the_log() {
    let world = world(&rules(RULES));
    let mut without = world.clone();
    without.documents.tenant = None;
    let mut logged = Logged::start(&without);
    logged.answer("inbox", 1);
    let reloaded = logged
        .session
        .reload(world.documents(), at(2))
        .expect("documents");
    assert_eq!(refused(&logged.call("post", 3)), ["HISTORY_UNAVAILABLE"]);
    logged.log.pop();
    logged.log.extend(reloaded.records);
    assert!(
        logged
            .session
            .remember(logged.text().as_bytes(), true, at(3))
    );
    is_stopped(&logged.call("post", 4));
    // The same documents change nothing, and a longer window needs the log again.
    logged
        .session
        .reload(world.documents(), at(5))
        .expect("documents");
    is_stopped(&logged.call("post", 6));
    let mut longer = world.documents();
    longer.tenant = Some(tenant(&format!("      window: 2d\n{}", rules(RULES))));
    logged.session.reload(longer, at(7)).expect("documents");
    assert_eq!(logged.session.history_wanted(), Some(2 * 86_400_000));
}

#[test]
fn calls_that_were_folded_still_count() {
    let mut logged = Logged::start(&world(&rules(RULES)));
    logged.answer("inbox", 1);
    for number in 0..HISTORY_CALLS_OF_CLIENT_MAX as u64 + 10 {
        logged.answer("add", 2 + number);
    }
    is_stopped(&logged.call("post", 1_000));
    let state: Value = serde_json::from_slice(&logged.session.export()).expect("JSON");
    let scope = &state["history"]["scopes"][0];
    let calls = scope["calls"].as_array().expect("calls");
    assert_eq!(calls.len(), HISTORY_CALLS_OF_CLIENT_MAX);
    let folded = scope["folded"].as_array().expect("groups");
    let labels: Vec<_> = folded
        .iter()
        .map(|it| (&it["tool"], &it["label"], &it["count"]))
        .collect();
    assert_eq!(
        labels,
        [
            (&json!("inbox"), &Value::Null, &json!(1)),
            (&json!("inbox"), &json!("private"), &json!(1)),
            (&json!("add"), &Value::Null, &json!(10)),
        ]
    );
}

#[test]
fn an_answer_is_that_of_its_own_gateway() {
    let own = "\n      - { rule: before, tools: [files/save], needs: [sums/add] }";
    let world = world(&rules(own));
    let mut logged = Logged::start(&world);
    // The gateway ends before the call is answered, and the next one numbers its calls anew.
    let first = logged.call("add", 1);
    let mut restarted = logged.restarted(&world, true, 2);
    let other = client("d", Generation::Stateless);
    let called = restarted.call_as(&other, "add", json!({}), 3);
    assert_eq!(called.id, first.id);
    restarted.end(called.id, 4);
    assert!(!is_passed_on(&restarted.call("save", 5)));
    // Nor does an instance that takes the state of the next gateway before its first call.
    let restarted_again = logged.restarted(&world, true, 2);
    let options = Options {
        state: Some(restarted_again.session.export().into()),
        ..Options::default()
    };
    let (session, _) = Session::open(world.documents(), options, at(2)).expect("a session");
    let mut replaced = Logged {
        session,
        log: Vec::new(),
    };
    let called = replaced.call_as(&other, "add", json!({}), 3);
    assert_eq!(called.id, first.id);
    replaced.end(called.id, 4);
    assert!(!is_passed_on(&replaced.call("save", 5)));
    assert!(is_passed_on(&restarted.call_as(
        &other,
        "save",
        json!({}),
        6
    )));
}

#[test]
fn no_number_of_labels_hides_one() {
    let mut world = world(&rules(RULES));
    let labels = |of: char| {
        (0..32)
            .map(|it| json!(format!("{of}{it}")))
            .collect::<Vec<_>>()
    };
    let mail = &mut world.servers[0];
    mail["x-labels"] = json!(labels('a'));
    let mut of_tool = labels('b');
    of_tool[31] = json!("private");
    mail["capabilities"]["tools"]["inbox"]["x-labels"] = json!(of_tool);
    let mut logged = Logged::start(&world);
    logged.answer("inbox", 1);
    is_stopped(&logged.call("post", 2));
}

#[test]
fn what_was_folded_away_is_no_answer() {
    let own = "
      - { rule: before, tools: [files/save], needs: [sums/add], within: 60s }
      - { rule: same-field, tools: [mail/inbox], argument: /id, earlier: [sums/add] }
      - { rule: sum-at-most, tools: [sums/add], argument: /n, limit: 1000000 }";
    let world = world(&rules(own));
    let mut logged = Logged::start(&world);
    let add = json!({ "id": "x", "n": 1 });
    let called = logged.call_as(&new_client(), "add", add.clone(), 0);
    logged.end(called.id, 0);
    // A call that fails is no answer, and is the last of those that are folded.
    assert!(is_passed_on(&logged.call_as(
        &new_client(),
        "add",
        add,
        90_000
    )));
    for number in 0..HISTORY_CALLS_OF_CLIENT_MAX as u64 {
        logged.answer("post", 100_000 + number);
    }
    let of_history = |called: &Called, text: &str| {
        assert_eq!(refused(called), ["POLICY_ERROR"]);
        let found = &texts(called)[0];
        assert!(
            found.contains("it reads a history that is not known"),
            "{found}"
        );
        assert!(found.contains(text), "{found}");
    };
    let save = logged.call("save", 101_000);
    of_history(&save, "within 60 s; of 2 earlier calls that is not known");
    let inbox = logged.call_as(&new_client(), "inbox", json!({ "id": "x" }), 101_000);
    of_history(&inbox, "of 2 earlier calls that is not known");
    let add = logged.call_as(&new_client(), "add", json!({ "n": 1 }), 101_000);
    of_history(&add, "would add up to at least 1 within 86400 s");
}

#[test]
fn a_rule_that_only_records_refuses_nothing() {
    let only = "\n      - { rule: no-send-after, label: private, mode: log-only }";
    let world = world(&rules(only));
    let mut logged = Logged::start(&world);
    logged.answer("inbox", 1);
    let finding = |called: &Called| {
        assert!(is_passed_on(called), "{:?}", called.action);
        let record: Value = serde_json::from_str(&called.records[0].line).expect("JSON");
        let findings = record["content"]["history"]["findings"].clone();
        findings[0]["text"].as_str().unwrap_or_default().to_owned()
    };
    let mut unknown = logged.restarted(&world, false, 2);
    let text = finding(&unknown.call("post", 3));
    assert!(
        text.contains("that before the start is not known"),
        "{text}"
    );
    // What it passed on counts when the log comes.
    let other = client("d", Generation::Stateless);
    assert!(is_passed_on(&unknown.call_as(
        &other,
        "inbox",
        json!({}),
        4
    )));
    let log = logged.text();
    assert!(unknown.session.remember(log.as_bytes(), true, at(5)));
    for client in [new_client(), other] {
        let text = finding(&unknown.call_as(&client, "post", json!({}), 6));
        assert!(text.contains("`mail/inbox` returned data"), "{text}");
    }
    // More clients than histories: what is forgotten decides nothing later.
    for number in 0..=HISTORY_CLIENTS_MAX {
        let client = client(&format!("c{number}"), Generation::Stateless);
        let called = super::call_at(&mut unknown.session, &client, "inbox", json!({}), 7);
        assert!(is_passed_on(&called), "{number}");
    }
    let mut enforced = world.clone();
    enforced.documents.tenant = Some(tenant(&rules(RULES)));
    let reloaded = unknown.session.reload(enforced.documents(), at(8));
    assert!(reloaded.is_ok());
    assert_eq!(refused(&unknown.call("post", 9)), ["HISTORY_UNAVAILABLE"]);
}

#[test]
fn a_client_that_the_records_do_not_name_has_no_history() {
    let options = Options {
        secrets: vec![Secret {
            name: "s".to_owned(),
            value: "hidden-name".to_owned(),
        }],
        ..Options::default()
    };
    let mut logged = Logged::open(&world(&rules(RULES)), options, 0);
    let hidden = client("hidden-name", Generation::Stateless);
    let called = logged.call_as(&hidden, "add", json!({}), 1);
    assert_eq!(refused(&called), ["HISTORY_UNAVAILABLE"]);
    assert!(is_passed_on(&logged.call("add", 2)));
}

#[test]
fn a_log_is_decided_again_with_the_labels_of_other_documents() {
    let ruled = world(&rules(RULES));
    let mut logged = Logged::start(&ruled);
    logged.answer("inbox", 1);
    is_stopped(&logged.call("post", 2));
    let trusted = "      labels:\n        - { tools: [mail/*], remove: [private] }\n";
    let trusting = world(&format!("{trusted}{}", rules(RULES)));
    let log = logged.text();
    let (widened, _, _) = compared(&log, &ruled, &trusting);
    let [[code, tool, _, after, _]] = &widened[..] else {
        panic!("{widened:#?}");
    };
    assert_eq!([&**code, tool, after], ["POLICY_WIDENED", "web/post", ""]);
    let answer = replayed(log.as_bytes(), trusting.documents());
    assert_eq!(answer["calls"][0]["now"]["verdict"], "allowed", "{answer}");
    // In the session itself, data keeps the label that it had.
    let reloaded = logged.session.reload(trusting.documents(), at(3));
    logged.log.extend(reloaded.expect("documents").records);
    is_stopped(&logged.call("post", 4));
    let answer = replayed(logged.text().as_bytes(), trusting.documents());
    assert_eq!(answer["counts"]["differs"], 1, "{answer}");
}

#[test]
fn a_log_is_decided_again_with_the_arguments_that_another_rule_reads() {
    let plain = world("      fields: [/id]");
    let own = "\n      - { rule: sum-at-most, tools: [sums/add], argument: /n, limit: 10 }";
    let adding = world(&rules(own));
    for audit_arguments in [true, false] {
        let options = Options {
            audit_arguments,
            ..Options::default()
        };
        let mut logged = Logged::open(&plain, options, 0);
        for ms in [1, 2] {
            let called = logged.call_as(&new_client(), "add", json!({ "n": 6 }), ms);
            assert!(is_passed_on(&called));
        }
        let answer = replayed(logged.text().as_bytes(), adding.documents());
        if audit_arguments {
            let reason = &answer["calls"][0]["now"]["reasons"][0]["text"];
            let text = reason.as_str().expect("a reason");
            assert!(text.contains("`/n` would add up to 12"), "{text}");
        } else {
            assert_eq!(answer["counts"]["undecidable"], 2, "{answer}");
        }
    }
}

#[test]
fn a_recorded_request_is_decided_by_other_rules_too() {
    let serving = |history: &str| {
        let mut world = world(history);
        world.serving = ["mail", "web"]
            .map(|it| (it.to_owned(), vec![Serve::Resources]))
            .to_vec();
        world.servers[0]["x-labels"] = json!(["private"]);
        world
    };
    let plain = serving("      fields: [/id]");
    let ruled = serving(&rules(RULES));
    let mut logged = Logged::start(&plain);
    let list = json!({ "resources": [{ "uri": "web://a", "name": "a" }] }).to_string();
    let entries = logged
        .session
        .entries("web", ListKind::Resources, list.as_bytes(), at(0));
    logged.log.extend(entries.records);
    logged.answer("inbox", 1);
    let params = json!({ "uri": "web://a" }).to_string();
    let (method, client) = (Method::ReadResource, new_client());
    let read = logged
        .session
        .request(&client, method, params.as_bytes(), at(2));
    assert!(is_passed_on(&read));
    logged.log.extend(read.records);
    let log = logged.text();
    assert_eq!(replayed(log.as_bytes(), plain.documents())["same"], true);
    let answer = replayed(log.as_bytes(), ruled.documents());
    assert_eq!(answer["counts"]["differs"], 1, "{answer}");
    let now = &answer["calls"][0]["now"];
    assert_eq!(now["verdict"], "refused", "{answer}");
    let text = now["reasons"][0]["text"].as_str().expect("a reason");
    assert!(text.contains("`no-send-after`: record "), "{text}");
}

#[test]
fn data_that_nobody_rated_may_be_private() {
    let mut world = world(&rules(RULES));
    world.servers[0]["capabilities"]["tools"]["inbox"]["x-labels"] = json!([]);
    let mut rated = Logged::start(&world);
    rated.answer("inbox", 1);
    assert!(is_passed_on(&rated.call("post", 2)));
    world.servers[0]["x-unrated"] = json!(["data"]);
    let mut unrated = Logged::start(&world);
    unrated.answer("inbox", 1);
    let called = unrated.call("post", 2);
    let text = &texts(&called)[0];
    assert!(
        text.contains("`mail/inbox` returned data that is `unknown`"),
        "{text}"
    );
    // Labels that can't be read say nothing to rely on.
    world.servers[0]
        .as_object_mut()
        .expect("a server")
        .remove("x-unrated");
    world.servers[0]["capabilities"]["tools"]["inbox"]["x-labels"] = json!("private");
    let mut unread = Logged::start(&world);
    unread.answer("inbox", 1);
    assert!(!is_passed_on(&unread.call("post", 2)));
}

#[test]
fn a_hint_takes_nothing_from_what_the_index_says() {
    // `post` says that it has no open world, and the index that it writes to the internet.
    let mut logged = Logged::start(&world(&rules(RULES)));
    logged.answer("inbox", 1);
    is_stopped(&logged.call("post", 2));
    // Without hints, a tool sends.
    let mut world = world(&rules(RULES));
    let tools = &mut world.servers[3]["capabilities"]["tools"];
    tools["add"]
        .as_object_mut()
        .expect("a tool")
        .remove("annotations");
    let mut logged = Logged::start(&world);
    logged.answer("inbox", 1);
    is_stopped(&logged.call("add", 2));
}

#[test]
fn only_the_operator_removes_a_label() {
    let trusted = "      labels:\n        - { tools: [mail/*], remove: [private] }\n";
    let mut logged = Logged::start(&world(&format!("{trusted}{}", rules(RULES))));
    logged.answer("inbox", 1);
    assert!(is_passed_on(&logged.call("post", 2)));
    let inner = "      labels:\n        - { tools: [web/post], sends: false }\n        - { tools: [sums/add], add: [private] }\n";
    let mut logged = Logged::start(&world(&format!("{inner}{}", rules(RULES))));
    logged.answer("add", 1);
    assert!(is_passed_on(&logged.call("post", 2)));
    let text = &texts(&logged.call("page", 3))[0];
    assert!(
        text.contains("`sums/add` returned data that is `private`"),
        "{text}"
    );
}

#[test]
fn a_human_may_allow_a_write_after_untrusted_data() {
    let mut logged = Logged::start(&world(&rules(RULES)));
    logged.answer("save", 1);
    logged.answer("page", 2);
    let called = logged.call("save", 3);
    let CallAction::AskApproval { approval, text, .. } = &called.action else {
        panic!("{:?}", called.action);
    };
    assert!(
        text.contains("`web/page` returned data that is `untrusted`"),
        "{text}"
    );
    let approved = logged.session.approve(approval, true, "t", at(4));
    logged.log.extend(approved.records);
    assert!(is_passed_on(&logged.call("save", 5)));
    // The approval is used up.
    let called = logged.call("save", 6);
    assert!(matches!(called.action, CallAction::AskApproval { .. }));
    let answer = replayed(logged.text().as_bytes(), world(&rules(RULES)).documents());
    assert_eq!(answer["same"], true, "{answer}");
}

#[test]
fn a_rule_may_only_record() {
    let only = "\n      - { rule: no-send-after, label: private, mode: log-only }";
    let world = world(&rules(only));
    let mut logged = Logged::start(&world);
    logged.answer("inbox", 1);
    let called = logged.call("post", 2);
    assert!(is_passed_on(&called));
    let record: Value = serde_json::from_str(&called.records[0].line).expect("JSON");
    let history = &record["content"]["history"];
    assert_eq!(history["findings"][0]["rule"], "no-send-after");
    assert_eq!(history["sends"], true);
    assert!(verified(logged.text().as_bytes()).is_valid());
}

#[test]
fn calls_are_counted_and_numbers_added_up() {
    let own = "
      - { rule: at-most, tools: [web/post], calls: 2, within: 10s }
      - { rule: sum-at-most, tools: [sums/add], argument: /n, limit: 10 }
      - { rule: before, tools: [files/save], needs: [sums/add] }
      - { rule: same-field, tools: [mail/inbox], argument: /id, earlier: [sums/add], earlier_argument: /of }";
    let world = world(&rules(own));
    let mut logged = Logged::start(&world);
    logged.answer("post", 1);
    logged.answer("post", 2);
    assert_eq!(
        texts(&logged.call("post", 3)),
        [
            "the tenant's rule `at-most`: 2 calls of `web/post` were allowed within 10 s, and at most 2 are; the last was record 12"
        ]
    );
    assert!(is_passed_on(&logged.call("post", 10_001)));
    let mut add =
        |n: Value, ms| logged.call_as(&new_client(), "add", json!({ "n": n, "of": "x" }), ms);
    assert!(is_passed_on(&add(json!(6), 1)));
    assert_eq!(
        texts(&add(json!(5), 2)),
        [
            "the tenant's rule `sum-at-most`: `/n` would add up to 11 within 86400 s, and the limit is 10; the last was record 16"
        ]
    );
    assert!(!is_passed_on(&add(json!("5"), 2)));
    let last = add(json!(4), 3);
    assert!(is_passed_on(&last));
    let text = &texts(&logged.call("save", 4))[0];
    assert!(
        text.contains("no call of `sums/add` was answered before"),
        "{text}"
    );
    logged
        .session
        .result(last.id, br#"{"content":[],"resultType":"complete"}"#, at(5));
    assert!(is_passed_on(&logged.call("save", 6)));
    let mut read = |id: &str, ms| logged.call_as(&new_client(), "inbox", json!({ "id": id }), ms);
    assert!(is_passed_on(&read("x", 7)));
    assert!(!is_passed_on(&read("y", 8)));
    // No record has a value but the number that the operator named.
    let text = logged.text();
    assert!(
        text.contains(r#""numbers":{"/n":6}"#) && !text.contains(r#""x""#),
        "{text}"
    );
}

#[test]
fn a_policy_reads_the_history() {
    let mut world = world(&rules(""));
    world.documents.tenant = None;
    world.policy = Some(
        "package switchboard

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	not tainted
}

tainted if {
	input.history.labels.private.count > 0
	input.history.call.sends
}
"
        .to_owned(),
    );
    let mut logged = Logged::start(&world);
    logged.answer("post", 1);
    logged.answer("inbox", 2);
    logged.answer("add", 3);
    assert_eq!(refused(&logged.call("post", 4)), ["POLICY_DENIED"]);
    let restarted = &mut logged.restarted(&world, true, 5);
    assert_eq!(refused(&restarted.call("post", 6)), ["POLICY_DENIED"]);
}

#[test]
fn a_policy_or_the_tenant_states_the_window() {
    let policy = |window: &str| {
        format!(
            "package switchboard

{window}

allowed_tools contains tool.id if {{
	some tool in input.candidate_tools
	not input.history.labels.private
}}
"
        )
    };
    let before = Logged::start(&world("      fields: [/id]"));
    let last = before.log.last().expect("a record").line.clone();
    let last = last.into_bytes();
    let wanted = |policy: String, history: Option<&str>| {
        let mut world = world("");
        world.documents.tenant = history.map(tenant);
        world.policy = Some(policy);
        let options = Options {
            last_record: Some(last.clone()),
            ..Options::default()
        };
        let opened = Session::open(world.documents(), options, at(0));
        opened.expect("a session").0.history_wanted()
    };
    assert_eq!(wanted(policy(""), None), Some(86_400_000));
    let hour = policy("history_window := \"1h\"");
    assert_eq!(wanted(hour.clone(), None), Some(3_600_000));
    assert_eq!(wanted(hour, Some("      window: 2h")), Some(7_200_000));
    let week = policy("history_window := \"7d\"");
    assert_eq!(wanted(week, Some("      window: 2h")), Some(7 * 86_400_000));
    for wrong in [
        "history_window := 7",
        "history_window := \"32d\"",
        "history_window := \"0s\"",
        "history_window := \"7d\" if input.task.id == \"a\"",
        "history_window := input.context.window",
    ] {
        let found = agent_rego::read(policy(wrong).into_bytes()).expect_err(wrong);
        assert!(found[0].message.contains("`history_window`"), "{wrong}");
    }
}

#[test]
fn a_policy_must_look_at_what_was_folded() {
    let policy = |more: &str| {
        format!(
            "package switchboard

allowed_tools contains tool.id if {{
	some tool in input.candidate_tools
	not read
}}

read if {{
	some call in input.history.calls
	call.tool == \"inbox\"
	{more}
}}
"
        )
    };
    for (more, expected) in [("", false), ("count(input.history.folded) >= 0", true)] {
        let mut world = world(&rules(""));
        world.documents.tenant = None;
        world.policy = Some(policy(more));
        let mut logged = Logged::start(&world);
        for number in 0..=HISTORY_CALLS_OF_CLIENT_MAX as u64 {
            logged.answer("add", number);
        }
        let called = logged.call("add", 1_000);
        assert_eq!(is_passed_on(&called), expected, "{more}");
        if !expected {
            assert_eq!(refused(&called), ["POLICY_ERROR"]);
            let text = &texts(&called)[0];
            assert!(text.contains("1 calls were folded"), "{text}");
        }
    }
}

#[test]
fn a_resource_counts_as_a_call() {
    let mut world = world(&rules(RULES));
    world.serving = ["mail", "web"]
        .map(|it| (it.to_owned(), vec![Serve::Resources]))
        .to_vec();
    world.servers[0]["x-labels"] = json!(["private"]);
    let mut logged = Logged::start(&world);
    for server in ["mail", "web"] {
        let list = json!({ "resources": [{ "uri": format!("{server}://a"), "name": "a" }] });
        let list = list.to_string();
        logged
            .session
            .entries(server, ListKind::Resources, list.as_bytes(), at(0));
    }
    let mut read = |server: &str, ms| {
        let params = json!({ "uri": format!("{server}://a") }).to_string();
        let (method, client) = (Method::ReadResource, new_client());
        logged
            .session
            .request(&client, method, params.as_bytes(), at(ms))
    };
    assert!(is_passed_on(&read("web", 1)));
    assert!(is_passed_on(&read("mail", 2)));
    // A URI may hold data too.
    assert!(!is_passed_on(&read("web", 3)));
    assert_eq!(refused(&logged.call("post", 4)), ["POLICY_DENIED"]);
}

#[test]
fn a_log_decides_the_same_again_and_other_rules_otherwise() {
    let world = world(&rules(RULES));
    let mut logged = Logged::start(&world);
    logged.answer("inbox", 1);
    logged.answer("add", 2);
    is_stopped(&logged.call("post", 3));
    let log = logged.text();
    let same = replayed(log.as_bytes(), world.documents());
    assert_eq!(same["same"], true, "{same}");
    // Without the rule the call would have been allowed, and counts for a later rule.
    let with = |rules_of: &str| Documents {
        tenant: Some(tenant(&rules(rules_of))),
        ..world.documents()
    };
    let other = replayed(
        log.as_bytes(),
        with("\n      - { rule: at-most, calls: 3 }"),
    );
    assert_eq!(other["counts"]["differs"], 1, "{other}");
    assert_eq!(other["calls"][0]["now"]["verdict"], "allowed", "{other}");
    let few = replayed(
        log.as_bytes(),
        with("\n      - { rule: at-most, calls: 1 }"),
    );
    // The last call that counts is named by its record.
    assert_eq!(few["calls"][0]["earlier"][0]["tool"], "inbox");
    assert_eq!(few["counts"]["differs"], 1, "{few}");
    assert_eq!(few["calls"][0]["tool"], "add", "{few}");
    // A log that begins within the window can't tell what was before.
    let rest = log.split_inclusive('\n').skip(1).collect::<String>();
    let part = replayed(
        rest.as_bytes(),
        with("\n      - { rule: at-most, calls: 3 }"),
    );
    assert_eq!(part["counts"]["undecidable"], 3, "{part}");
}

#[test]
fn a_log_shows_the_earlier_call_that_decides() {
    let mut logged = Logged::start(&world("      fields: [/id]"));
    logged.answer("inbox", 1);
    let record = logged
        .log
        .iter()
        .find(|it| it.line.contains("\"inbox\"") && it.line.contains("\"decision\""));
    let record = record.expect("the record of the call").sequence;
    for ms in 2..2 + HISTORY_CALLS_OF_CLIENT_MAX as u64 {
        logged.answer("add", ms);
    }
    logged.answer("post", 1_000);
    let ruled = world(&rules(RULES));
    let answer = replayed(logged.text().as_bytes(), ruled.documents());
    // By now the first call is folded.
    assert_eq!(answer["counts"]["differs"], 1, "{answer}");
    let expected = json!([{
        "labels": ["private"],
        "record": record,
        "server": "mail",
        "time": "2026-11-24T09:00:00.001Z",
        "tool": "inbox",
    }]);
    assert_eq!(answer["calls"][0]["earlier"], expected);
    let expected = json!({ "server": "mail", "tool": "inbox" });
    let mut close = Logged::start(&world("      fields: [/id]"));
    close.answer("inbox", 1);
    close.answer("post", 2);
    let answer = replayed(close.text().as_bytes(), ruled.documents());
    let earlier = &answer["calls"][0]["earlier"][0];
    let found = json!({ "server": earlier["server"], "tool": earlier["tool"] });
    assert_eq!(found, expected);
}

#[test]
fn a_client_sees_its_history_and_what_tools_are_taken_for() {
    let mut logged = Logged::start(&world(&rules(RULES)));
    logged.answer("inbox", 1);
    let shown = |client: &Client| -> Value {
        let text = logged.session.history(client, at(2)).expect("a history");
        serde_json::from_str(&text).expect("JSON")
    };
    let own = shown(&new_client());
    assert_eq!(own["calls"][0]["tool"], "inbox");
    assert_eq!(own["calls"][0]["outcome"], "delivered");
    assert_eq!(own["labels"]["private"]["count"], 1);
    let tools = own["tools"].as_array().expect("tools");
    let post = tools.iter().find(|it| it["tool"] == "post");
    let expected = json!({ "labels": ["untrusted"], "sends": true, "server": "web", "tool": "post", "writes": true });
    assert_eq!(post, Some(&expected));
    let other = shown(&client("other", Generation::Stateless));
    assert_eq!(
        (&other["calls"], &other["labels"]),
        (&json!([]), &json!({}))
    );
    let (none, _) =
        Session::open(World::usual().documents(), Options::default(), at(0)).expect("a session");
    assert_eq!(none.history(&new_client(), at(0)), None);
}

/// Returns what a newer tenant decides otherwise about the calls of a log: code, tool, before, after, details.
fn compared(log: &str, older: &World, newer: &World) -> (Vec<[String; 5]>, u64, u64) {
    let opened = Comparison::open(older.documents(), newer.documents());
    let mut comparison = opened.unwrap_or_else(|found| panic!("{found:#?}"));
    for piece in log.as_bytes().chunks(1_000) {
        comparison.feed(piece);
    }
    comparison.end_file();
    let found = comparison
        .finish()
        .unwrap_or_else(|found| panic!("{found:#?}"));
    let drifts = found.drifts.into_iter().map(|it| {
        [
            it.code.name().to_owned(),
            it.tool.unwrap_or_default(),
            it.before.unwrap_or_default(),
            it.after.unwrap_or_default(),
            it.details.join(", "),
        ]
    });
    (drifts.collect(), found.decided, found.undecidable)
}

#[test]
fn two_sets_of_rules_decide_the_calls_of_a_log() {
    let plain = world("      fields: [/id]");
    let mut logged = Logged::start(&plain);
    logged.answer("inbox", 1);
    logged.answer("post", 2);
    logged.answer("post", 3);
    logged.answer("save", 4);
    let log = logged.text();
    let ruled = world(&rules(RULES));
    assert_eq!(compared(&log, &plain, &plain), (vec![], 4, 0));
    let (narrowed, decided, _) = compared(&log, &plain, &ruled);
    assert_eq!(decided, 4);
    let [[code, tool, before, after, details]] = &narrowed[..] else {
        panic!("{narrowed:#?}");
    };
    assert_eq!([&**code, tool, before], ["POLICY_NARROWED", "web/post", ""]);
    assert!(
        after.starts_with("POLICY_DENIED: the tenant's rule `no-send-after`: record "),
        "{after}"
    );
    assert!(
        details.starts_with("2 calls of the log, record "),
        "{details}"
    );
    let (widened, _, _) = compared(&log, &ruled, &plain);
    assert_eq!([&*widened[0][0], &widened[0][3]], ["POLICY_WIDENED", ""]);
    // Each side follows the calls that it would itself have allowed: without the mail nothing leaks.
    let strict = world(&rules(
        "
      - { rule: no-send-after, label: private }
      - { rule: before, tools: [mail/inbox], needs: [sums/add] }",
    ));
    let (strict, _, _) = compared(&log, &ruled, &strict);
    let codes: Vec<_> = strict.iter().map(|it| (&*it[0], &*it[1])).collect();
    assert_eq!(
        codes,
        [
            ("POLICY_WIDENED", "web/post"),
            ("POLICY_NARROWED", "mail/inbox")
        ]
    );
    // What a human is asked about is no plain yes.
    let asking = world(&rules("\n      - { rule: no-write-after, label: private }"));
    let (asked, _, _) = compared(&log, &ruled, &asking);
    assert_eq!(
        [&*asked[0][0], &asked[0][1], &asked[0][3]],
        ["POLICY_WIDENED", "web/post", "a human is asked"]
    );
    assert!(asked[0][4].ends_with(", a human is asked"), "{asked:#?}");
    // A log that was changed says nothing.
    let mut comparison = Comparison::open(plain.documents(), ruled.documents()).expect("documents");
    comparison.feed(log.replacen("inbox", "outbox", 1).as_bytes());
    comparison.end_file();
    assert!(!comparison.finish().expect_err("a changed log").is_empty());
}

#[test]
fn calls_without_what_a_policy_reads_are_undecidable() {
    let plain = world("      fields: [/id]");
    let options = Options {
        audit_arguments: false,
        ..Options::default()
    };
    let mut logged = Logged::open(&plain, options, 0);
    logged.call_as(&new_client(), "add", json!({ "n": 2 }), 1);
    let mut reads = plain.clone();
    reads.policy = Some(
        "package switchboard

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	not forbidden
}

forbidden if input.arguments.n == 1
"
        .to_owned(),
    );
    assert_eq!(compared(&logged.text(), &plain, &reads), (vec![], 0, 1));
    // A lock has one policy, and both decide under it.
    let lock = plain.documents().lock;
    let older = Documents {
        lock,
        ..reads.documents()
    };
    let opened = Comparison::open(older.clone(), reads.documents());
    assert!(opened.is_ok(), "{opened:?}");
    let held = Session::open(older, Options::default(), at(0));
    assert_eq!(
        held.expect_err("another policy")[0].code.name(),
        "POLICY_CHANGED"
    );
}

#[test]
fn a_log_names_the_tools_that_were_called() {
    let mut logged = Logged::start(&world(&rules(RULES)));
    logged.answer("inbox", 1);
    logged.answer("add", 2);
    logged.answer("add", 3);
    is_stopped(&logged.call("post", 4));
    let called = |log: &str| {
        let mut called = CalledTools::open();
        called.feed(log.as_bytes());
        called.end_file();
        called.finish()
    };
    let log = logged.text();
    let key = |server: &str, tool: &str| (server.to_owned(), tool.to_owned());
    let expected = [(key("mail", "inbox"), 1), (key("sums", "add"), 2)];
    assert_eq!(called(&log), Ok(BTreeMap::from(expected)));
    assert!(called(&log.replacen("inbox", "outbox", 1)).is_err());
}

#[test]
fn histories_stay_within_their_limits() {
    let mut logged = Logged::start(&world(&rules(RULES)));
    let result = br#"{"content":[],"resultType":"complete"}"#;
    let long = "x".repeat(200);
    for number in 0..HISTORY_CLIENTS_MAX {
        let client = client(&format!("{long}{number}"), Generation::Stateless);
        for _ in 0..8 {
            let called = super::call_at(&mut logged.session, &client, "add", json!({}), 1);
            assert!(is_passed_on(&called), "{number}");
            logged.session.result(called.id, result, at(1));
        }
    }
    let state: Value = serde_json::from_slice(&logged.session.export()).expect("JSON");
    let size = state["history"].to_string().len();
    // Beside the calls stand the keys of the clients.
    let keys = HISTORY_CLIENTS_MAX * 80;
    assert!(size < HISTORY_BYTES_MAX + keys, "{size}");
    assert!(size > HISTORY_BYTES_MAX / 2, "{size}");
    let further = client("further", Generation::Stateless);
    let called = super::call_at(&mut logged.session, &further, "add", json!({}), 1);
    assert_eq!(refused(&called), ["SESSION_LIMIT"]);
    let later = 86_400_001;
    let called = super::call_at(&mut logged.session, &further, "add", json!({}), later);
    assert!(is_passed_on(&called));
    // What is older than the window is forgotten.
    let state: Value = serde_json::from_slice(&logged.session.export()).expect("JSON");
    assert_eq!(
        state["history"]["scopes"].as_array().expect("scopes").len(),
        1
    );
}

/// What happens in a history.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// A client calls a tool some seconds later, and the call is answered at once or later.
    Call(usize, &'static str, u64, bool),
    /// The oldest call that has no answer gets one.
    Answer,
    /// Enough calls that the oldest are folded.
    Many,
    Restart,
    Export,
    Reload,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = prop::sample::select(vec!["inbox", "page", "post", "save", "add"]);
    let call = (0..2_usize, name, 0..40_u64, any::<bool>());
    let step = prop_oneof![
        24 => call.prop_map(|(client, name, after, ends)| Step::Call(client, name, after, ends)),
        4 => Just(Step::Answer),
        1 => Just(Step::Many),
        3 => Just(Step::Restart),
        3 => Just(Step::Export),
        3 => Just(Step::Reload),
    ];
    prop::collection::vec(step, 1..60)
}

/// What a policy and rules decide by.
const OF_PROPERTY: &str = "
      - { rule: no-send-after, label: private, within: 60s }
      - { rule: at-most, tools: [web/page], calls: 3, within: 100s }
      - { rule: before, tools: [files/save], needs: [web/page], within: 200s }";

const POLICY_OF_PROPERTY: &str = "package switchboard

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	not is_often
}

is_often if {
	input.history.call.tool == \"save\"
	input.history.labels.private.count > 2
}
";

/// Returns the histories of clients without the numbers of records, which other records than calls shift.
fn histories(session: &Session, clients: &[Client], ms: u64) -> Vec<Value> {
    fn without_numbers(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.remove("record");
                members.values_mut().for_each(without_numbers);
            }
            Value::Array(items) => items.iter_mut().for_each(without_numbers),
            _ => {}
        }
    }
    let shown = clients.iter().map(|client| {
        let text = session.history(client, at(ms)).expect("a history");
        let mut value = serde_json::from_str(&text).expect("JSON");
        without_numbers(&mut value);
        value
    });
    shown.collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        // Each case is a whole session.
        cases: ProptestConfig::default().cases.div_ceil(8).min(32),
        ..ProptestConfig::default()
    })]

    /// Whether a gateway restarts, an instance is replaced or documents are read again changes no decision and no history,
    /// and the log decides the same again.
    #[test]
    fn a_history_is_a_function_of_its_records(steps in steps()) {
        let mut world = world(&format!("      window: 300s\n{}", rules(OF_PROPERTY)));
        world.policy = Some(POLICY_OF_PROPERTY.to_owned());
        let clients = ["c", "d"].map(|id| client(id, Generation::Stateless));
        let (mut plain, mut other) = (Logged::start(&world), Logged::start(&world));
        let (mut ms, mut open) = (0, VecDeque::new());
        for step in steps {
            match step {
                Step::Call(client, name, after, ends) => {
                    ms += after * 1_000;
                    let called = [&mut plain, &mut other].map(|logged| {
                        let called = logged.call_as(&clients[client], name, json!({}), ms);
                        (called.id, is_passed_on(&called))
                    });
                    prop_assert_eq!(called[0].1, called[1].1, "{} at {}", name, ms);
                    let [first, second] = called.map(|it| it.0);
                    match called[0].1 {
                        true if ends => {
                            plain.end(first, ms);
                            other.end(second, ms);
                        }
                        true => open.push_back([first, second]),
                        false => {}
                    }
                }
                Step::Answer => if let Some([first, second]) = open.pop_front() {
                    plain.end(first, ms);
                    other.end(second, ms);
                },
                Step::Many => for _ in 0..HISTORY_CALLS_OF_CLIENT_MAX {
                    for logged in [&mut plain, &mut other] {
                        let called = logged.call_as(&clients[0], "add", json!({}), ms);
                        prop_assert!(is_passed_on(&called));
                        logged.end(called.id, ms);
                    }
                },
                Step::Restart => {
                    other = other.restarted(&world, true, ms);
                    open.clear();
                }
                Step::Export => {
                    let options = Options { state: Some(other.session.export().into()), ..Options::default() };
                    let (session, records) = Session::open(world.documents(), options, at(ms)).expect("a session");
                    other.session = session;
                    other.log.extend(records);
                }
                Step::Reload => {
                    let reloaded = other.session.reload(world.documents(), at(ms)).expect("documents");
                    other.log.extend(reloaded.records);
                }
            }
            // A call that is decided otherwise is seen at once; showing a history takes longer than all calls.
            if matches!(step, Step::Restart | Step::Export | Step::Reload) {
                let [one, two] = [&plain, &other].map(|it| histories(&it.session, &clients, ms));
                prop_assert_eq!(one, two, "after {:?}", step);
            }
        }
        let [one, two] = [&plain, &other].map(|it| histories(&it.session, &clients, ms));
        prop_assert_eq!(one, two);
        let answer = replayed(other.text().as_bytes(), world.documents());
        prop_assert_eq!(&answer["same"], &json!(true), "{}", answer);
    }
}
