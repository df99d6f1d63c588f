//! The session of the page of sessions: the examples, approval, expansion, and logs decided again.
#![cfg(all(feature = "session", not(target_arch = "wasm32")))]

use agent_answer::{Code, DocumentKind};
use agent_worker::sessions::Session;
use agent_worker_protocol::Texts;
use agent_worker_protocol::session::{
    Answer, ArgumentValue, Arguments, Caller, Decided, Delivered, EVENTS_MAX, Event, Expansion,
    LogView, Past, Request, RequestKind, SessionView, Shown,
};
use std::fs;
use std::path::Path;

#[path = "../../ui/src/example.rs"]
pub mod example;
#[path = "../../session-page/src/gallery.rs"]
mod gallery;
#[path = "sessions/recorded.rs"]
mod recorded;

macro_rules! own {
    ($file:literal) => {
        include_str!(concat!("../../session-page/examples/", $file))
    };
}

const FIND: &str = own!("find.call.json");
const REPLY: &str = own!("reply.call.json");
const EXPAND: &str = own!("expand.call.json");

/// The log of the first visit, with another text in one record.
const CHANGED: &str = own!("changed.audit.jsonl");

/// Texts of the gallery in front of those of the first visit.
fn texts(own: example::Texts) -> Texts {
    let mut texts = Texts::default();
    for (kind, text) in gallery::BASIS.iter().chain(own) {
        texts = texts.with(*kind, *text);
    }
    texts
}

/// Returns the texts that an example has itself, or those of its files.
fn own_texts(example: &example::Example) -> example::Texts {
    if example.folder.is_empty() {
        return example.texts;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../session-page/examples");
    let texts = example.texts.iter().map(|(kind, name)| {
        let text = fs::read_to_string(folder.join(name));
        let text = text.unwrap_or_else(|error| panic!("{name}: {error}"));
        (*kind, &*text.leak())
    });
    texts.collect::<Vec<_>>().leak()
}

fn answer(own: example::Texts, request: Request) -> Answer {
    Session::default().answer(texts(own), request)
}

fn session_of(own: example::Texts, caller: Caller, events: Vec<Event>) -> SessionView {
    let request = Request {
        kind: RequestKind::Session,
        caller,
        events,
    };
    let answer = answer(own, request);
    assert_eq!(answer.problems, []);
    answer.session.expect("a session")
}

fn session(events: Vec<Event>) -> SessionView {
    session_of(&[], Caller::default(), events)
}

fn log(own: example::Texts) -> LogView {
    let request = Request {
        kind: RequestKind::Log,
        ..Request::default()
    };
    let answer = answer(own, request);
    assert_eq!(answer.problems, []);
    answer.log.expect("a log")
}

fn call(params: &str) -> Event {
    Event::Call(params.to_owned())
}

/// Returns the code of a decision, if it is a refusal.
fn code(decided: &Decided) -> Option<Code> {
    match decided {
        Decided::Refuse(refusal) => refusal.reasons.first()?.code,
        _ => None,
    }
}

fn outcome(past: &Past) -> &Decided {
    match past {
        Past::Called { decided, .. } => decided,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_example_leads_to_its_code() {
    for example in gallery::CALLS.iter().chain(gallery::ATTACKS) {
        let session = session_of(own_texts(example), Caller::default(), vec![]);
        let decided = session.draft.expect("a decision");
        let found = code(&decided).map_or("", Code::name);
        assert_eq!(found, example.code, "{}", example.title);
    }
    for example in gallery::LOGS.iter().chain(gallery::ATTACK_LOGS) {
        let log = log(own_texts(example));
        let found = log.problems.first().map_or("", |it| it.code.name());
        assert_eq!(found, example.code, "{}", example.title);
    }
}

#[test]
fn the_logs_of_the_examples_are_those_of_sessions() {
    for (name, session, log) in [
        ("agent", recorded::session(), recorded::LOG),
        ("leak", recorded::leak(), recorded::LEAK),
    ] {
        if let Some(folder) = std::env::var_os("AGENT_WRITE_EXAMPLES") {
            let path = Path::new(&folder).join(format!("{name}.audit.jsonl"));
            fs::write(path, &session.records).expect("the file can be written");
        }
        assert_eq!(session.records, log, "{name}");
    }
}

/// Returns the documents of the example of a leak, under these rules of the tenant.
fn leak(tenant: &'static str) -> [(DocumentKind, &'static str); 4] {
    [
        (DocumentKind::Manifest, own!("leak.agents.md")),
        (DocumentKind::Index, own!("leak.index.json")),
        (DocumentKind::Evidence, recorded::LEAK),
        (DocumentKind::Tenant, tenant),
    ]
}

fn answer_to(texts: &[(DocumentKind, &str)], request: Request) -> Answer {
    let texts = texts.iter();
    let texts = texts.fold(Texts::default(), |texts, (kind, text)| {
        texts.with(*kind, *text)
    });
    let answer = Session::default().answer(texts, request);
    assert_eq!(answer.problems, []);
    answer
}

#[test]
fn a_log_is_decided_again_after_the_calls_that_it_has() {
    let request = Request {
        kind: RequestKind::Log,
        ..Request::default()
    };
    let log = answer_to(&leak(own!("leak.tenant.yaml")), request.clone()).log;
    let log = log.expect("a log");
    // Of the three calls, only what follows the mail is refused.
    assert_eq!(log.counts, [1, 0, 2, 0]);
    let [call] = &log.calls[..] else {
        panic!("{:?}", log.calls);
    };
    assert_eq!((&*call.tool, &*call.recorded.name), ("publish", "allowed"));
    let [earlier] = &call.earlier[..] else {
        panic!("{:?}", call.earlier);
    };
    assert_eq!(
        (&*earlier.server, &*earlier.tool),
        ("acme-mail", "read_inbox")
    );
    assert_eq!(earlier.labels, ["private"]);
    let line = recorded::LEAK.lines().nth(earlier.line as usize - 1);
    let line = line.expect("the line of the earlier call");
    assert!(line.contains(r#""tool":"read_inbox""#), "{line}");
    let harmless = leak(
        "tenants: [{ id: acme, history: { rules: [{ rule: no-send-after, label: secret }] } }]",
    );
    let log = answer_to(&harmless, request).log.expect("a log");
    assert_eq!((log.counts, log.calls), ([0, 0, 3, 0], vec![]));
}

#[test]
fn a_session_shows_the_history_that_decides() {
    let documents = leak(own!("leak.tenant.yaml"));
    let seen = |call: &'static str, events: Vec<Event>| {
        let mut texts = documents.to_vec();
        texts.push((DocumentKind::StepInput, call));
        let request = Request {
            events,
            ..Request::default()
        };
        answer_to(&texts, request).session.expect("a session")
    };
    let (read, publish) = (own!("leak.read.call.json"), own!("leak.publish.call.json"));
    let before = seen(publish, vec![]);
    assert!(matches!(before.draft, Some(Decided::Forward { .. })));
    let history = before.history.expect("a history");
    assert_eq!(
        (history.calls, history.labels),
        (vec![], vec![] as Vec<String>)
    );
    let untrusted = "returns data that is `untrusted`";
    assert_eq!(
        history.draft,
        ["sends data to others", "changes something", untrusted]
    );

    // It counts from when it is passed on.
    let after = seen(publish, vec![call(read)]);
    let refused = after.draft.as_ref().and_then(code);
    assert_eq!(refused, Some(Code::PolicyDenied));
    let history = after.history.expect("a history");
    assert_eq!(history.labels, ["private"]);
    let [earlier] = &history.calls[..] else {
        panic!("{:?}", history.calls);
    };
    assert_eq!((&*earlier.tool, earlier.decides), ("read_inbox", true));
    let again = seen(read, vec![call(read)]).history.expect("a history");
    assert!(!again.calls[0].decides);
    assert_eq!(again.draft, ["returns data that is `private`"]);
    // Without rules there is none.
    assert_eq!(session(vec![]).history, None);
}

#[test]
fn what_a_policy_redacts_in_a_result_is_named() {
    let policy = r#"package switchboard
allowed_tools contains tool.id if some tool in input.candidate_tools
results := {"action": "redact", "pointers": ["/tickets/0"]}
"#;
    let result = r#"{"content":[],"structuredContent":{"tickets":["T-1042"]}}"#;
    let texts = texts(&[]).with(DocumentKind::Policy, policy);
    let request = Request {
        events: vec![
            call(FIND),
            Event::Answer {
                call: 1,
                result: result.to_owned(),
            },
        ],
        ..Request::default()
    };
    let answer = Session::default().answer(texts, request);
    let seen = answer.session.expect("a session");
    let Past::Answered {
        delivered: Delivered::Changed { result, redacted },
        ..
    } = &seen.past[1]
    else {
        panic!("{:?}", seen.past);
    };
    assert_eq!(redacted, &["/tickets/0"]);
    assert!(!result.contains("T-1042"), "{result}");
}

#[test]
fn an_agent_sees_the_lock_and_pays_for_what_it_sees() {
    let seen = session(vec![]);
    let shown = |name: &str| {
        let mut tools = seen.tools.iter();
        tools.find(|it| it.name == name).map(|it| it.shown.clone())
    };
    assert_eq!(shown("reply"), Some(Shown::Listed));
    assert_eq!(shown("acme-wiki_helper"), Some(Shown::Helper));
    let helper = Shown::Behind("acme-wiki_helper".to_owned());
    assert_eq!(shown("read_page"), Some(helper));
    assert_eq!(shown("delete_ticket"), None);
    assert_eq!(seen.servers[0].unlocked, ["delete_ticket"]);
    let tokens = seen.tools.iter();
    let tokens = tokens.filter(|it| matches!(it.shown, Shown::Listed | Shown::Helper));
    let tokens: Option<u64> = tokens.map(|it| it.tokens).sum();
    assert_eq!(tokens, Some(seen.tokens));
    assert!(seen.tokens < seen.all_tokens);
    let caller = Caller {
        expansion: Expansion::None,
        ..Caller::default()
    };
    let whole = session_of(&[], caller, vec![]);
    assert_eq!(whole.tokens, whole.all_tokens);
    assert_eq!(whole.tokens, seen.all_tokens);
}

#[test]
fn every_tool_has_a_call_that_is_not_an_error() {
    let seen = session(vec![]);
    for tool in &seen.tools {
        for params in [Some(&tool.call), tool.expand.as_ref()]
            .into_iter()
            .flatten()
        {
            let past = session(vec![call(params)]).past;
            let decided = outcome(&past[0]);
            assert!(!matches!(decided, Decided::Error { .. }), "{decided:?}");
        }
    }
}

/// Returns the rows of arguments: name, value, what is declared.
fn rows(arguments: &Arguments) -> Vec<String> {
    let rows = arguments.rows.iter().map(|it| {
        let value = match &it.value {
            ArgumentValue::Text(text) => format!("“{text}”"),
            ArgumentValue::Json(text) => text.clone(),
            ArgumentValue::Missing => "missing".to_owned(),
        };
        format!("{} | {value} | {}", it.name, it.declared)
    });
    rows.collect()
}

#[test]
fn the_arguments_of_a_call_have_what_the_schema_declares() {
    let asked = session(vec![call(REPLY)]);
    let expected = [
        "ticket | “T-1042” | string",
        "text | “Your invoice is on its way.” | string, at most 2000 characters",
    ];
    assert_eq!(asked.questions[0].arguments.tool, "reply");
    assert_eq!(rows(&asked.questions[0].arguments), expected);
    let Past::Called { arguments, .. } = &asked.past[0] else {
        panic!("{:?}", asked.past);
    };
    assert_eq!(rows(arguments), expected);
    assert_eq!(rows(&asked.draft_arguments), expected);

    let drafted = |params: &str| {
        let texts = texts(&[]).with(DocumentKind::StepInput, params);
        let answer = Session::default().answer(texts, Request::default());
        answer.session.expect("a session").draft_arguments
    };
    let found =
        drafted(r#"{"name": "find_tickets", "arguments": {"limit": 500, "other": {"a": [1]}}}"#);
    assert_eq!(
        rows(&found),
        [
            "limit | 500 | integer, 1 to 50",
            r#"other | {"a": [1]} | not declared"#,
            "words | missing | string, at least 3 characters",
        ]
    );
    // A helper passes arguments on to the tool behind it.
    let found = drafted(
        r#"{"name": "acme-wiki_helper", "arguments": {"operation": "call", "tool": "search_pages",
            "arguments": {"changed_since": "2026-01-01", "query": "x"}}}"#,
    );
    assert_eq!(found.tool, "search_pages");
    assert_eq!(
        rows(&found)[0],
        "changed_since | “2026-01-01” | string, date"
    );
    assert_eq!(
        found.rows[1].about,
        "The words to search for, at least two characters each."
    );
    let found = drafted(EXPAND);
    assert_eq!(found.tool, "acme-wiki_helper");
    assert_eq!(found.rows[1].name, "tools");
    // The lock has no schema of this one.
    let found = drafted(r#"{"name": "delete_ticket", "arguments": {"ticket": "T-1"}}"#);
    assert_eq!(rows(&found), ["ticket | “T-1” | "]);
    for params in [
        "{",
        "[]",
        "{\"name\": 7}",
        "{\"name\": \"reply\", \"arguments\": 7}",
    ] {
        let found = drafted(params).rows;
        assert!(
            found.iter().all(|it| it.value == ArgumentValue::Missing),
            "{params}"
        );
    }
}

#[test]
fn an_approved_call_passes_once() {
    let asked = session(vec![call(REPLY)]);
    assert!(matches!(outcome(&asked.past[0]), Decided::Ask { .. }));
    let approval = asked.questions[0].approval.clone();
    let decide = |yes| Event::Decide {
        approval: approval.clone(),
        yes,
    };
    let approved = session(vec![call(REPLY), decide(true)]);
    let Past::Decided {
        is_known: true,
        again,
        ..
    } = &approved.past[1]
    else {
        panic!("{:?}", approved.past);
    };
    assert!(matches!(again[..], [(_, Decided::Forward { .. })]));
    assert_eq!(approved.questions, []);
    // The same call asks again.
    assert!(matches!(approved.draft, Some(Decided::Ask { .. })));

    let denied = session(vec![call(REPLY), decide(false)]);
    let Past::Decided { again, .. } = &denied.past[1] else {
        panic!("{:?}", denied.past);
    };
    assert_eq!(code(&again[0].1), Some(Code::ApprovalDenied));

    let late = session(vec![call(REPLY), Event::Wait(60_000)]);
    assert_eq!(late.past[1], Past::Waited(60_000, vec![1]));
    assert_eq!(late.questions, []);
}

#[test]
fn an_expansion_is_answered_and_a_list_may_have_it() {
    let caller = Caller {
        expansion: Expansion::List,
        ..Caller::default()
    };
    let before = session_of(&[], caller.clone(), vec![]);
    let after = session_of(&[], caller, vec![call(EXPAND)]);
    let Decided::Answer { texts, .. } = outcome(&after.past[0]) else {
        panic!("{:?}", after.past);
    };
    assert!(texts[0].contains("search_pages"), "{texts:?}");
    assert!(after.tokens > before.tokens);
    let poor = Caller {
        budget: Some(1),
        ..Caller::default()
    };
    let past = session_of(&[], poor, vec![call(EXPAND)]).past;
    assert_eq!(code(outcome(&past[0])), Some(Code::TokenBudgetExceeded));
}

#[test]
fn a_result_is_checked_against_the_locked_schema() {
    let result = |result: &str| Event::Answer {
        call: 1,
        result: result.to_owned(),
    };
    let opened = session(vec![call(FIND)]);
    let example = opened.open[0].example.clone();
    let delivered = |event| match session(vec![call(FIND), event]).past.remove(1) {
        Past::Answered { delivered, .. } => delivered,
        other => panic!("{other:?}"),
    };
    assert_eq!(delivered(result(&example)), Delivered::AsReceived);
    let wrong = r#"{"content":[],"structuredContent":{"tickets":7}}"#;
    let Delivered::Refused(refusal) = delivered(result(wrong)) else {
        panic!("the result is delivered");
    };
    assert_eq!(refusal.reasons[0].code, Some(Code::OutputInvalid));
    let twice = session(vec![call(FIND), result(&example), result(&example)]);
    assert!(matches!(
        twice.past[2],
        Past::Answered {
            delivered: Delivered::Nothing,
            ..
        }
    ));
}

#[test]
fn a_call_is_repeated_when_its_server_wants_that() {
    let asks = r#"{"resultType":"input_required","requestState":"s"}"#;
    let result = |call| Event::Answer {
        call,
        result: asks.to_owned(),
    };
    for is_stateless in [false, true] {
        let caller = Caller {
            is_stateless,
            ..Caller::default()
        };
        let seen = session_of(&[], caller, vec![call(FIND), result(1)]);
        let Past::Answered { delivered, .. } = &seen.past[1] else {
            panic!("{:?}", seen.past);
        };
        match delivered {
            Delivered::Changed { result, redacted } => {
                assert_eq!(redacted, &[] as &[String]);
                assert!(is_stateless);
                assert!(result.contains("\"requestState\""), "{result}");
                assert_eq!(seen.open, []);
            }
            Delivered::Repeated { call, decided } => {
                assert!(!is_stateless);
                let Decided::Forward { params, .. } = decided else {
                    panic!("{decided:?}");
                };
                assert!(params.contains("\"requestState\":\"s\""), "{params}");
                assert_eq!((*call, seen.open[0].call), (2, 2));
            }
            other => panic!("{other:?}"),
        }
    }
    // The page's gateway does not repeat a call without end.
    let mut events = vec![call(FIND)];
    events.extend((1..=6).map(result));
    let mut seen = session_of(&[], Caller::default(), events);
    let Some(Past::Answered { delivered, .. }) = seen.past.pop() else {
        panic!("{:?}", seen.past);
    };
    let Delivered::Refused(refusal) = delivered else {
        panic!("{delivered:?}");
    };
    assert_eq!(refusal.reasons[0].code, Some(Code::SessionLimit));
}

#[test]
fn a_server_that_ended_is_not_called() {
    let server = || "acme-desk".to_owned();
    let ended = session(vec![Event::Exit(server()), call(FIND)]);
    assert_eq!(code(outcome(&ended.past[1])), Some(Code::HealthVeto));
    assert!(!ended.servers[0].runs);
    let unknown = session(vec![Event::Exit("no-such".to_owned()), call(FIND)]);
    assert!(matches!(outcome(&unknown.past[1]), Decided::Forward { .. }));
    let back = session(vec![Event::Exit(server()), Event::Start(server())]);
    assert!(back.servers[0].runs);
}

#[test]
fn a_lock_is_obeyed_in_place_of_the_manifest() {
    let request = || Request {
        kind: RequestKind::Session,
        ..Request::default()
    };
    let made = answer(&[], request()).lock.expect("a lock");
    let mut page = Session::default();
    let given = page.answer(
        texts(&[(DocumentKind::Manifest, "")]).with(DocumentKind::Lock, made.clone()),
        request(),
    );
    assert_eq!(given.problems, []);
    assert_eq!(given.lock, None);
    assert_eq!(given.session, answer(&[], request()).session);
    // A lock that names no policy is obeyed together with one.
    let policy = Texts::default().with(DocumentKind::Policy, own!("policy.rego"));
    let under = page.answer(policy, request()).session.expect("a session");
    let decided = under.draft.as_ref().and_then(code);
    assert_eq!(decided, Some(Code::PolicyDenied));
    // One that names a policy is not obeyed without it.
    let named = texts(&[]).with(
        DocumentKind::Lock,
        include_str!("../../plans-page/examples/under-policy.lock"),
    );
    let named = named.with(
        DocumentKind::Index,
        include_str!("../../../examples/plans/mcp.index.json"),
    );
    let refused = Session::default().answer(named, request());
    assert_eq!(refused.session, None);
    let codes: Vec<_> = refused.problems.iter().map(|it| it.code).collect();
    assert_eq!(codes, [Code::PolicyMissing]);
    let none = answer(&[(DocumentKind::Manifest, "")], request());
    assert_eq!((none.session, none.lock), (None, None));
    assert!(!none.problems.is_empty());
}

#[test]
fn a_log_is_decided_again_by_the_documents_of_the_page() {
    let same = log(&[]);
    assert_eq!((same.is_same, same.counts), (Some(true), [0, 0, 6, 0]));
    let other = log(&[(DocumentKind::Policy, own!("policy.rego"))]);
    assert_eq!(other.is_same, Some(false));
    let differing: Vec<_> = other.calls.iter().map(|it| &*it.tool).collect();
    assert_eq!(differing, ["reply"; 2]);
    let now = other.calls[0].now.as_ref().expect("a verdict");
    assert_eq!(now.reasons[0].code, Some(Code::PolicyDenied));
    assert!(other.documents.contains(&"policy".to_owned()));
    let lines = recorded::LOG.lines().zip(CHANGED.lines());
    assert_eq!(lines.filter(|(is, was)| is != was).count(), 1);
    let changed = log(&[(DocumentKind::Evidence, CHANGED)]);
    assert!(!changed.is_valid && changed.calls.is_empty());
}

#[test]
fn hostile_texts_are_answered() {
    for text in [
        "{",
        "null",
        "[]",
        "\u{202e}",
        "{\"name\":1}",
        &"[".repeat(10_000),
    ] {
        let past = session(vec![call(text)]).past;
        assert!(
            matches!(outcome(&past[0]), Decided::Error { .. }),
            "{past:?}"
        );
        let text = Texts::default().with(DocumentKind::Evidence, text);
        let mut page = Session::default();
        let request = Request {
            kind: RequestKind::Log,
            ..Request::default()
        };
        page.answer(texts(&[]), Request::default());
        let log = page.answer(text, request).log.expect("an answer");
        assert!(!log.is_valid && !log.problems.is_empty());
    }
    let many = session(vec![Event::Wait(u64::MAX); EVENTS_MAX + 1]);
    assert_eq!(many.past.len(), EVENTS_MAX);
}
