//! Logs of sessions: verified, and their calls decided again.

use super::{
    World, at, call, call_at, capability, client, new_client, old_client, server, through,
};
use agent_diagnostic::{Code, Diagnostic};
use agent_lower::digest;
use agent_model::Load;
use agent_session::audit_log::{Replay, Verification, Verified};
use agent_session::health::Observation;
use agent_session::{
    CallAction, Client, Delivered, Documents, Failure, Generation, Options, Record, Session,
};
use serde_json::{Value, json};

/// Returns the text of a log.
pub(super) fn text_of(records: &[Record]) -> String {
    records.iter().map(|it| format!("{}\n", it.line)).collect()
}

/// Verifies a log of one file.
pub(super) fn verified(log: &[u8]) -> Verified {
    verified_as(&[log], None, None)
}

fn verified_as(files: &[&[u8]], after: Option<&str>, head: Option<&str>) -> Verified {
    let mut verification = Verification::open(after.map(str::to_owned)).expect("a digest");
    for file in files {
        // Pieces end anywhere.
        for piece in file.chunks(1_000) {
            verification.feed(piece);
        }
        verification.end_file();
    }
    verification
        .finish(head.map(str::to_owned))
        .expect("a digest")
}

/// Returns the JSON of a log decided again.
pub(super) fn replayed(log: &[u8], documents: Documents) -> Value {
    let mut replay = Replay::open(documents).unwrap_or_else(|found| panic!("{found:#?}"));
    for piece in log.chunks(10_000) {
        replay.feed(piece);
    }
    replay.end_file();
    let replayed = replay.finish().unwrap_or_else(|found| panic!("{found:#?}"));
    serde_json::from_str(&replayed.json).expect("JSON")
}

fn codes(verified: &Verified) -> Vec<(&'static str, u32)> {
    let line = |it: &Diagnostic| it.labels[0].place.start.line;
    let problems = verified.problems.iter();
    problems.map(|it| (it.code.name(), line(it))).collect()
}

/// A session with its log.
struct Logged {
    session: Session,
    log: Vec<Record>,
}

impl Logged {
    fn start(world: &World, options: Options) -> Self {
        let opened = Session::open(world.documents(), options, at(0));
        let (session, log) = opened.unwrap_or_else(|found| panic!("{found:#?}"));
        let mut logged = Self { session, log };
        for server in logged.session.servers() {
            let live = world.live(&server.id);
            let found = logged.session.tools(&server.name, live.as_bytes(), at(0));
            logged.log.extend(found.records);
            logged.observe(&server.name, Observation::Answered { latency_ms: 1 });
        }
        logged
    }

    fn observe(&mut self, server: &str, observation: Observation) {
        let found = self.session.observe(server, observation, at(0));
        self.log.extend(found.records);
    }

    fn call_as(&mut self, client: &Client, name: &str, arguments: Value) -> (u64, CallAction) {
        let called = call(&mut self.session, client, name, arguments);
        self.log.extend(called.records);
        (called.id, called.action)
    }

    fn call(&mut self, name: &str, arguments: Value) -> (u64, CallAction) {
        self.call_as(&new_client(), name, arguments)
    }

    fn through(&mut self, stub: &str, tool: &str, arguments: Value) {
        let called = through(&mut self.session, &new_client(), stub, tool, arguments);
        self.log.extend(called.records);
    }

    fn result(&mut self, id: u64, result: &str) {
        match self.session.result(id, result.as_bytes(), at(1)) {
            Delivered::AsReceived(records)
            | Delivered::Changed(_, records)
            | Delivered::Refused(_, records)
            | Delivered::Repeat(_, records)
            | Delivered::Error { records, .. }
            | Delivered::Nothing(records) => self.log.extend(records),
        }
    }

    fn text(&self) -> String {
        text_of(&self.log)
    }
}

/// A log with records of every kind.
fn varied(options: Options) -> Logged {
    let world = World::usual();
    let mut logged = Logged::start(&world, options);
    let listed = logged.session.list(&old_client(), at(1));
    logged.log.extend(listed.records);
    let (read, _) = logged.call("read", json!({ "path": "a" }));
    logged.result(
        read,
        r#"{"content":[],"structuredContent":{"text":"t"},"resultType":"complete"}"#,
    );
    logged.call("read", json!({ "path": 1 }));
    logged.call("wipe", json!({}));
    logged.call("nothing", json!({}));
    let called = logged.session.call(&new_client(), b"[]", at(2));
    logged.log.extend(called.records);
    logged.through("aws_helper", "s3_list", json!({ "key": "k" }));
    logged.call(
        "aws_helper",
        json!({ "operation": "expand", "tools": ["s3_put"] }),
    );
    logged.call("aws_helper", json!({ "operation": "list_services" }));
    logged.call("aws_helper", json!({ "operation": "drop" }));
    let (_, action) = logged.call("remove", json!({ "path": "a" }));
    let CallAction::AskApproval { approval, .. } = action else {
        panic!("{action:?}");
    };
    let approved = logged.session.approve(&approval, true, "t", at(2));
    logged.log.extend(approved.records);
    let (remove, _) = logged.call("remove", json!({ "path": "a" }));
    match logged.session.failed(remove, &Failure::Closed, at(3)) {
        Delivered::Refused(_, records) => logged.log.extend(records),
        other => panic!("{other:?}"),
    }
    logged.result(999, "{}");
    logged.observe("files", Observation::Exited);
    logged.call("read", json!({ "path": "a" }));
    let changed = world.live("numbers").replace("number", "string");
    let found = logged.session.tools("numbers", changed.as_bytes(), at(4));
    logged.log.extend(found.records);
    logged.call("count", json!({}));
    let reloaded = logged.session.reload(world.documents(), at(5));
    logged
        .log
        .extend(reloaded.expect("the same documents").records);
    logged
}

#[test]
fn what_a_session_writes_is_verified() {
    for audit_arguments in [false, true] {
        let logged = varied(Options {
            audit_arguments,
            ..Options::default()
        });
        let text = logged.text();
        let found = verified(text.as_bytes());
        assert_eq!(found.problems, []);
        assert!(found.is_valid());
        assert_eq!((found.records, found.chains), (logged.log.len() as u64, 1));
        assert_eq!(found.sequence, logged.log.len() as u64);
        let last = &logged.log.last().expect("a record").line;
        assert_eq!(found.head.as_deref(), Some(&*digest(last)));
        let served = String::from_utf8(super::served::logged(false)).expect("UTF-8");
        let text = text + &served;
        let kinds = agent_session::audit_log::record_kinds();
        for kind in kinds {
            let has = format!(r#""kind":"{}""#, kind.name);
            assert!(text.contains(&has), "no record of the kind {}", kind.name);
        }
    }
}

#[test]
fn changed_bytes_are_found() {
    changed_bytes(7);
}

mod at_length {
    #[test]
    fn every_changed_byte_is_found() {
        super::changed_bytes(1);
    }

    #[test]
    fn a_log_that_is_cut_off_anywhere_is_named() {
        super::cut_off(1);
    }
}

/// Changes one of so many bytes of a log.
fn changed_bytes(step: usize) {
    let text = varied(Options::default()).text();
    let head = digest(text.lines().last().expect("a line"));
    let last = text.trim_end().rfind('\n').expect("lines") + 1;
    let mut bytes = text.clone().into_bytes();
    for place in (0..bytes.len()).step_by(step) {
        // One bit of every byte is changed, which is the case of every second letter.
        let change = if place % 2 == 0 { 1 } else { 0x20 };
        bytes[place] ^= change;
        // Nothing follows the last record, so a digest from elsewhere is needed for it.
        let head = (place >= last).then_some(&*head);
        let found = verified_as(&[&bytes], None, head);
        assert!(!found.is_valid(), "byte {place} of {}", bytes.len());
        bytes[place] ^= change;
    }
    assert!(verified_as(&[&bytes], None, Some(&head)).is_valid());
}

#[test]
fn lines_out_of_place_are_named() {
    let text = varied(Options::default()).text();
    let lines: Vec<_> = text.lines().collect();
    let log = |lines: &[&str]| {
        let text: String = lines.iter().map(|it| format!("{it}\n")).collect();
        codes(&verified(text.as_bytes()))
    };
    assert_eq!(log(&lines), []);
    let mut swapped = lines.clone();
    swapped.swap(4, 5);
    assert_eq!(
        log(&swapped),
        [("AUDIT_MISSING", 5), ("AUDIT_OUT_OF_ORDER", 6)]
    );
    let mut dropped = lines.clone();
    dropped.drain(3..5);
    assert_eq!(log(&dropped), [("AUDIT_MISSING", 4)]);
    let mut repeated = lines.clone();
    repeated.insert(3, lines[2]);
    assert_eq!(log(&repeated), [("AUDIT_OUT_OF_ORDER", 4)]);
    assert_eq!(log(&lines[2..]), [("AUDIT_MISSING", 1)]);
    let mut changed = lines.clone();
    let other = lines[6].replace("\"observe\":false", "\"observe\":true");
    changed[6] = &other;
    assert_eq!(log(&changed), [("AUDIT_CHANGED", 7)]);
    let mut unread = lines.clone();
    unread[6] = "{}";
    assert_eq!(log(&unread), [("AUDIT_INVALID", 7)]);
    let mut inserted = lines.clone();
    inserted.insert(6, "");
    assert_eq!(log(&inserted), [("AUDIT_INVALID", 7)]);
    assert_eq!(log(&[]), [("AUDIT_MISSING", 1)]);
    let twice: Vec<_> = lines.iter().chain(&lines).copied().collect();
    let second = lines.len() as u32 + 1;
    assert_eq!(log(&twice), [("AUDIT_RESTARTED", second)]);
}

#[test]
fn a_log_that_is_cut_off_is_named() {
    cut_off(7);
}

/// Cuts a log off behind one of so many bytes.
fn cut_off(step: usize) {
    let text = varied(Options::default()).text();
    let head = digest(text.lines().last().expect("a line"));
    let ends = text.match_indices('\n').map(|(at, _)| at + 1);
    let ends: Vec<_> = (0..text.len()).step_by(step).chain(ends).collect();
    for end in ends.into_iter().filter(|it| *it < text.len()) {
        let cut = &text.as_bytes()[..end];
        assert!(!verified_as(&[cut], None, Some(&head)).is_valid(), "{end}");
        let found = verified(cut);
        let lines = text[..end].matches('\n').count() as u32;
        match end == 0 || text.as_bytes()[end - 1] == b'\n' {
            true => assert_eq!(found.is_valid(), end > 0, "{end}"),
            false => assert_eq!(codes(&found), [("AUDIT_INTERRUPTED", lines + 1)], "{end}"),
        }
    }
}

#[test]
fn parts_of_a_log_are_one_chain() {
    let text = varied(Options::default()).text();
    let split = text.match_indices('\n').nth(5).expect("lines").0 + 1;
    let (one, two) = text.split_at(split);
    let parts = [one.as_bytes(), two.as_bytes()];
    assert_eq!(codes(&verified_as(&parts, None, None)), []);
    let turned = verified_as(&[parts[1], parts[0]], None, None);
    let places: Vec<_> = turned
        .problems
        .iter()
        .map(|it| {
            (
                it.code,
                it.labels[0].place.number,
                it.labels[0].place.start.line,
            )
        })
        .collect();
    assert_eq!(places[0], (Code::AuditMissing, 0, 1));
    assert!(places.contains(&(Code::AuditRestarted, 1, 1)), "{places:?}");
    let before = digest(one.lines().last().expect("a line"));
    assert_eq!(codes(&verified(parts[1])), [("AUDIT_MISSING", 1)]);
    assert_eq!(codes(&verified_as(&[parts[1]], Some(&before), None)), []);
    let other = digest("another line");
    assert_eq!(
        codes(&verified_as(&[parts[1]], Some(&other), None)),
        [("AUDIT_MISSING", 1)]
    );
    assert_eq!(
        codes(&verified_as(&parts[..1], None, Some(&other))),
        [("AUDIT_MISSING", 1)]
    );
    Verification::open(Some("sha256-".to_owned())).expect_err("not a digest");
}

#[test]
fn a_line_without_an_end_ends_within_its_limit() {
    use agent_session::audit_log::LINE_MAX_BYTES;
    let text = varied(Options::default()).text();
    let mut verification = Verification::open(None).expect("no digest");
    let piece = vec![b'['; 1 << 20];
    for _ in 0..LINE_MAX_BYTES / piece.len() + 2 {
        verification.feed(&piece);
    }
    verification.feed(b"\n");
    verification.feed(text.as_bytes());
    verification.end_file();
    let found = verification.finish(None).expect("no digest");
    assert_eq!(found.problems[0].code, Code::AuditInvalid);
    assert!(
        found.problems[0].message.contains("67108864 bytes"),
        "{found:?}"
    );
}

/// Returns the calls that a replay lists: outcome, recorded and present verdict, and the present codes.
fn outcomes(answer: &Value) -> Vec<(String, String, String)> {
    let calls = answer["calls"].as_array().expect("calls").iter();
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    calls
        .map(|call| {
            let codes = call["now"]["reasons"].as_array().into_iter().flatten();
            let codes: Vec<_> = codes.map(|it| text(&it["code"])).collect();
            let now = text(&call["now"]["verdict"]);
            (
                text(&call["tool"]),
                text(&call["outcome"]),
                format!("{now} {}", codes.join(" ")),
            )
        })
        .collect()
}

fn owned(outcomes: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    let outcomes = outcomes.iter();
    outcomes
        .map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned()))
        .collect()
}

#[test]
fn every_kind_of_decision_is_the_same_under_the_same_documents() {
    for (audit_arguments, observe) in [(false, false), (true, false), (true, true), (false, true)] {
        let options = Options {
            audit_arguments,
            observe,
            ..Options::default()
        };
        let logged = match observe {
            false => varied(options),
            true => {
                let mut logged = Logged::start(&World::usual(), options);
                logged.call("read", json!({ "path": 1 }));
                logged.call("wipe", json!({}));
                logged.call("remove", json!({ "path": "a" }));
                logged.call("s3_put", json!({}));
                logged
            }
        };
        let answer = replayed(logged.text().as_bytes(), World::usual().documents());
        assert_eq!(answer["calls"], json!([]), "{audit_arguments}");
        assert_eq!(answer["documents"], json!([]));
        assert_eq!(answer["same"], true);
    }
}

#[test]
fn a_smaller_lock_refuses_and_a_larger_one_allows() {
    let logged = varied(Options::default());
    let mut world = World::usual();
    world.locked.retain(|(_, tool, _)| tool != "read");
    world
        .locked
        .push(("files".to_owned(), "wipe".to_owned(), Load::Essential));
    let answer = replayed(logged.text().as_bytes(), world.documents());
    assert_eq!(answer["same"], false);
    let found = outcomes(&answer);
    // The first read was passed on, the others were refused for other reasons. Nothing is known of the
    // arguments of `wipe`, which nobody has looked at.
    let expected = [
        ("read", "differs", "refused TOOL_NOT_LOCKED"),
        ("read", "other_reasons", "refused TOOL_NOT_LOCKED"),
        ("wipe", "undecidable", "? "),
        ("read", "other_reasons", "refused TOOL_NOT_LOCKED"),
    ];
    let of = |tool: &str| -> Vec<_> {
        let found = found.iter();
        found.filter(|it| it.0 == tool).cloned().collect()
    };
    assert_eq!([of("read"), of("wipe")].concat().len(), 4, "{found:?}");
    for it in owned(&expected) {
        assert!(found.contains(&it), "{it:?} in {found:?}");
    }
    let logged = varied(Options {
        audit_arguments: true,
        ..Options::default()
    });
    let answer = replayed(logged.text().as_bytes(), world.documents());
    let wipe = (
        "wipe".to_owned(),
        "differs".to_owned(),
        "allowed ".to_owned(),
    );
    assert!(outcomes(&answer).contains(&wipe), "{answer}");
    assert_eq!(answer["counts"]["undecidable"], 0);
}

const BY_ARGUMENTS: &str = "package switchboard\nallowed_tools contains tool.id if {\n \
     some tool in input.candidate_tools\n not blocked\n}\nblocked if input.arguments.path == \"a\"\n";

const BY_CLIENT: &str = "package switchboard\nallowed_tools contains tool.id if {\n \
     some tool in input.candidate_tools\n input.subject.id != \"c\"\n}\n";

const BY_TIME: &str = "package switchboard\nallowed_tools contains tool.id if {\n \
     some tool in input.candidate_tools\n input.context.hour != 9\n}\n";

fn under(policy: &str) -> Documents {
    let world = World {
        policy: Some(policy.to_owned()),
        ..World::usual()
    };
    world.documents()
}

#[test]
fn a_policy_that_reads_arguments_is_not_guessed() {
    let calls = |audit_arguments: bool| {
        let mut logged = Logged::start(
            &World::usual(),
            Options {
                audit_arguments,
                ..Options::default()
            },
        );
        logged.call("read", json!({ "path": "a" }));
        logged.call("read", json!({ "path": "b" }));
        logged.call("read", json!({ "path": 1 }));
        logged.call("wipe", json!({}));
        logged.text()
    };
    let answer = replayed(calls(false).as_bytes(), under(BY_ARGUMENTS));
    assert_eq!(answer["same"], Value::Null, "{answer}");
    let undecided = ("read", "undecidable", "? ");
    // What is refused for another reason is refused, whatever the policy says.
    assert_eq!(outcomes(&answer), owned(&[undecided, undecided]));
    let reason = answer["calls"][0]["reason"].as_str().expect("a reason");
    assert_eq!(
        reason,
        "the log does not contain the arguments, and the policy reads them"
    );
    let answer = replayed(calls(true).as_bytes(), under(BY_ARGUMENTS));
    assert_eq!(
        outcomes(&answer),
        owned(&[("read", "differs", "refused POLICY_DENIED")])
    );
    assert_eq!(
        answer["calls"][0]["depends_on"],
        json!(["arguments", "policy"])
    );
    assert_eq!(answer["documents"][0]["document"], "lock");
    assert_eq!(answer["documents"][1]["document"], "policy");
}

#[test]
fn the_recorded_client_and_time_decide() {
    let mut logged = Logged::start(&World::usual(), Options::default());
    logged.call("ec2_run", json!({}));
    logged.call_as(&client("d", Generation::Stateless), "ec2_run", json!({}));
    let late = call_at(
        &mut logged.session,
        &new_client(),
        "ec2_run",
        json!({}),
        3_600_000,
    );
    logged.log.extend(late.records);
    let text = logged.text();
    let differs = |policy| {
        let answer = replayed(text.as_bytes(), under(policy));
        assert_eq!(answer["counts"]["undecidable"], 0, "{answer}");
        let calls = answer["calls"].as_array().expect("calls").iter();
        let of = |it: &Value| (it["client"].clone(), it["time"].clone());
        calls.map(of).collect::<Vec<_>>()
    };
    let (nine, ten) = ("2026-11-24T09:00:00.000Z", "2026-11-24T10:00:00.000Z");
    assert_eq!(
        differs(BY_CLIENT),
        [(json!("c"), json!(nine)), (json!("c"), json!(ten))]
    );
    assert_eq!(
        differs(BY_TIME),
        [(json!("c"), json!(nine)), (json!("d"), json!(nine))]
    );
}

#[test]
fn a_redacted_client_is_not_guessed() {
    let mut logged = Logged::start(
        &World::usual(),
        Options {
            audit_arguments: true,
            ..Options::default()
        },
    );
    let client = Client {
        properties: Some(br#"{"password":"p"}"#.to_vec()),
        ..new_client()
    };
    logged.call_as(&client, "ec2_run", json!({}));
    let redacted = json!({ "path": { "password": "p" } });
    logged.call_as(&new_client(), "remove", redacted);
    let text = logged.text();
    let answer = replayed(text.as_bytes(), under(BY_CLIENT));
    let undecided = ("ec2_run", "undecidable", "? ");
    assert_eq!(outcomes(&answer)[0], owned(&[undecided])[0], "{answer}");
    let answer = replayed(text.as_bytes(), under(BY_ARGUMENTS));
    // The policy does not read the client; the redacted arguments are not decided about.
    assert_eq!(answer["counts"]["undecidable"], 1, "{answer}");
    assert_eq!(
        answer["calls"][0]["reason"],
        "the arguments are redacted, and the policy reads them"
    );
}

#[test]
fn tools_that_move_or_need_a_human_are_decided_otherwise() {
    let mut logged = Logged::start(&World::usual(), Options::default());
    logged.call("ec2_run", json!({}));
    logged.through("aws_helper", "s3_list", json!({ "key": "k" }));
    let (_, action) = logged.call("remove", json!({ "path": "a" }));
    assert!(matches!(action, CallAction::AskApproval { .. }));
    let mut world = World::usual();
    for (_, tool, load) in &mut world.locked {
        match tool.as_str() {
            "ec2_run" => *load = Load::OnDemand,
            "s3_list" | "s3_put" => *load = Load::Essential,
            _ => {}
        }
    }
    let tools = &mut world.servers[0]["capabilities"]["tools"];
    tools["remove"]["x-summit-capabilities"] = capability(&[]);
    let answer = replayed(logged.text().as_bytes(), world.documents());
    assert_eq!(
        outcomes(&answer),
        owned(&[
            ("ec2_run", "differs", "refused EXPANSION_DENIED"),
            ("s3_list", "differs", "refused EXPANSION_DENIED"),
            ("remove", "differs", "allowed "),
        ])
    );
    let mut world = World::usual();
    let tools = &mut world.servers[1]["capabilities"]["tools"];
    tools["ec2_run"]["x-summit-capabilities"] = capability(&["human_in_the_loop"]);
    let answer = replayed(logged.text().as_bytes(), world.documents());
    assert_eq!(
        outcomes(&answer),
        owned(&[("ec2_run", "differs", "asked APPROVAL_REQUIRED")])
    );
    assert_eq!(
        answer["calls"][0]["depends_on"],
        json!(["approval", "arguments"])
    );
}

#[test]
fn another_schema_is_decided_with_arguments_only() {
    let logged = |audit_arguments| {
        let mut logged = Logged::start(
            &World::usual(),
            Options {
                audit_arguments,
                ..Options::default()
            },
        );
        logged.call("read", json!({ "path": "a" }));
        logged.text()
    };
    let mut world = World::usual();
    let schema = &mut world.servers[0]["capabilities"]["tools"]["read"]["inputSchema"];
    schema["properties"]["path"] = json!({ "type": "string", "minLength": 2 });
    let answer = replayed(logged(false).as_bytes(), world.documents());
    assert_eq!(outcomes(&answer), owned(&[("read", "undecidable", "? ")]));
    let answer = replayed(logged(true).as_bytes(), world.documents());
    assert_eq!(
        outcomes(&answer),
        owned(&[("read", "differs", "refused ARGUMENT_INVALID")])
    );
}

#[test]
fn a_call_that_would_go_elsewhere_is_decided_otherwise() {
    let world = |server: Value| {
        let id = server["id"].as_str().expect("an id").to_owned();
        World::new(vec![server], &[(&id, "t", Load::Essential)])
    };
    let one = || server("one", json!({ "t": {} }));
    let options = Options {
        audit_arguments: true,
        ..Options::default()
    };
    let mut logged = Logged::start(&world(one()), options);
    logged.call("t", json!({}));
    let text = logged.text();
    let with = |pointer: &str, value: &str| {
        let mut server = one();
        *server.pointer_mut(pointer).expect("a member") = json!(value);
        server
    };
    let described = server("one", json!({ "t": { "description": "Another." } }));
    for (server, moved) in [
        (
            server("two", json!({ "t": {} })),
            json!(["it goes to the server `two`", "`two` has another endpoint"]),
        ),
        (
            with("/version", "2"),
            json!(["it goes to version 2 of the server"]),
        ),
        (
            with("/endpoint", "https://other.example/mcp"),
            json!(["`one` has another endpoint"]),
        ),
        (described, json!(["the tool has another definition"])),
    ] {
        let answer = replayed(text.as_bytes(), world(server).documents());
        assert_eq!(outcomes(&answer), owned(&[("t", "differs", "allowed ")]));
        assert_eq!(answer["calls"][0]["moved"], moved);
    }
    // The publisher is not part of a call.
    let answer = replayed(
        text.as_bytes(),
        world(with("/trust/publisher", "Q")).documents(),
    );
    assert_eq!(answer["same"], true);
    let other = server("two", json!({ "u": {} }));
    let other = World::new(vec![other], &[("two", "u", Load::Essential)]);
    let answer = replayed(text.as_bytes(), other.documents());
    let expected = owned(&[("t", "differs", "refused TOOL_NOT_LOCKED")]);
    assert_eq!(outcomes(&answer), expected);
    let reason = &answer["calls"][0]["now"]["reasons"][0]["text"];
    assert_eq!(reason, "the lock has no server `one`");
}

#[test]
fn a_refused_request_state_is_kept_as_recorded() {
    let mut logged = Logged::start(&World::usual(), Options::default());
    let params = br#"{"name":"read","arguments":{"path":"a"},"requestState":"x"}"#;
    let called = logged.session.call(&new_client(), params, at(2));
    assert!(matches!(called.action, CallAction::Error { .. }));
    logged.log.extend(called.records);
    let answer = replayed(logged.text().as_bytes(), World::usual().documents());
    assert_eq!(answer["same"], true, "{answer}");
    assert_eq!(answer["kept"], json!({ "requestState": 1 }));
}

#[test]
fn what_the_state_decided_is_kept_as_recorded() {
    let limited = |limit: Option<u32>| {
        let tool = json!({ "t": { "x-summit-capabilities": capability(&["rate_limited"]) } });
        let mut one = server("one", tool);
        if let Some(limit) = limit {
            one["policy"] = json!({ "rateLimitPerMin": limit });
        }
        World::new(vec![one], &[("one", "t", Load::Essential)])
    };
    let mut logged = Logged::start(&limited(Some(1)), Options::default());
    logged.call("t", json!({}));
    logged.call("t", json!({}));
    logged.observe("one", Observation::Exited);
    logged.call("t", json!({}));
    let text = logged.text();
    let answer = replayed(text.as_bytes(), limited(Some(9)).documents());
    assert_eq!(answer["same"], true, "{answer}");
    // The last call has both reasons.
    assert_eq!(
        answer["kept"],
        json!({ "HEALTH_VETO": 1, "QUOTA_EXCEEDED": 2 })
    );
    let answer = replayed(text.as_bytes(), limited(None).documents());
    assert_eq!(
        outcomes(&answer)[0],
        owned(&[("t", "differs", "refused QUOTA_MISSING")])[0]
    );
    // A snapshot decides instead of the recorded health.
    let mut documents = limited(Some(9)).documents();
    documents.health = Some(b"one: UNHEALTHY\n".to_vec());
    let answer = replayed(text.as_bytes(), documents);
    assert_eq!(
        outcomes(&answer)[0],
        owned(&[("t", "differs", "refused HEALTH_VETO")])[0]
    );
}

#[test]
fn a_log_that_was_changed_is_not_decided_again() {
    let text = varied(Options::default()).text();
    let changed = text.replacen("HEALTHY", "STARTING", 1);
    let mut replay = Replay::open(World::usual().documents()).expect("documents");
    replay.feed(changed.as_bytes());
    replay.end_file();
    let problems = replay.finish().expect_err("a changed log");
    assert_eq!(problems[0].code, Code::AuditChanged);
}

#[test]
fn a_part_of_a_log_lacks_how_tools_on_demand_were_shown() {
    let mut logged = Logged::start(&World::usual(), Options::default());
    logged.call("ec2_run", json!({}));
    logged.through("aws_helper", "s3_list", json!({}));
    let part: String = logged
        .text()
        .lines()
        .skip(1)
        .map(|it| format!("{it}\n"))
        .collect();
    let answer = replayed(part.as_bytes(), World::usual().documents());
    assert_eq!(
        outcomes(&answer),
        owned(&[("s3_list", "undecidable", "? ")])
    );
}

#[test]
fn the_reference_lists_every_member_of_a_record() {
    use agent_session::audit_log::{Member, record_kinds, record_members};
    let page = include_str!("../../../../docs/reference/audit.md");
    let rows = |section: &str| -> Vec<(String, String)> {
        let start = page.find(section).unwrap_or_else(|| panic!("no {section}"));
        let text = &page[start + section.len()..];
        let end = text.find("\n##").unwrap_or(text.len());
        let rows = text[..end].lines().filter(|it| it.starts_with("| `"));
        rows.map(|row| {
            let cells: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
            assert_eq!(cells.len(), 3, "{row}");
            assert!(!cells[2].is_empty(), "{row}");
            (cells[0].to_owned(), cells[1].to_owned())
        })
        .collect()
    };
    let row = |member: &Member| {
        let optional = if member.is_required { "" } else { "?" };
        (
            format!("`{}`{optional}", member.name),
            member.shape.in_words(),
        )
    };
    let expected: Vec<_> = record_members().iter().map(row).collect();
    assert_eq!(rows("### A record\n"), expected);
    for kind in record_kinds() {
        let members = kind.forms.iter().flat_map(|form| form.iter());
        let expected: Vec<_> = members.map(row).collect();
        assert_eq!(rows(&format!("### `{}`\n", kind.name)), expected);
    }
    let sections = page.matches("\n### `").count();
    assert_eq!(sections, record_kinds().len());
}

/// Calls a function with each string of a value replaced.
fn with_other_strings(value: &Value, path: &str, each: &mut dyn FnMut(&str, &Value)) {
    match value.pointer(path) {
        Some(Value::Object(members)) => {
            for key in members.keys() {
                with_other_strings(value, &format!("{path}/{key}"), each);
            }
        }
        Some(Value::Array(items)) => {
            for at in 0..items.len() {
                with_other_strings(value, &format!("{path}/{at}"), each);
            }
        }
        Some(Value::String(_)) => {
            for other in [
                "",
                "aws_helper",
                "{present, len: 8}",
                "TOOL_NOT_LOCKED",
                "expand",
            ] {
                let mut changed = value.clone();
                *changed.pointer_mut(path).expect("a member") = json!(other);
                each(path, &changed);
            }
        }
        _ => {}
    }
}

#[test]
fn records_that_no_session_made_are_decided_or_refused() {
    let text = varied(Options {
        audit_arguments: true,
        ..Options::default()
    })
    .text();
    let opened = text.lines().next().expect("a record");
    let (mut decided, mut refused) = (0, 0);
    for line in text
        .lines()
        .filter(|it| it.contains(r#""kind":"decision""#))
    {
        let mut record: Value = serde_json::from_str(line).expect("JSON");
        record["sequence"] = json!(2);
        record["previous"] = json!(digest(opened));
        with_other_strings(&record, "/content", &mut |path, changed| {
            let log = format!("{opened}\n{changed}\n");
            let mut replay = Replay::open(World::usual().documents()).expect("documents");
            replay.feed(log.as_bytes());
            replay.end_file();
            match replay.finish() {
                Ok(replayed) => {
                    let answer: Value = serde_json::from_str(&replayed.json).expect("JSON");
                    let counts = answer["counts"].as_object().expect("counts").values();
                    let all: u64 = counts.filter_map(Value::as_u64).sum();
                    assert_eq!(all, 1, "{path}: {changed}");
                    decided += 1;
                }
                Err(problems) => {
                    assert_eq!(problems[0].code, Code::AuditInvalid, "{path}");
                    refused += 1;
                }
            }
        });
    }
    assert!(decided > 100 && refused > 100, "{decided} {refused}");
}
