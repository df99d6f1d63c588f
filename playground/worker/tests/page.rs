//! The module of the page of servers, in a worker of a browser.
#![cfg(all(
    target_arch = "wasm32",
    not(feature = "api"),
    not(feature = "import"),
    not(feature = "plans"),
    not(feature = "session")
))]

use agent_answer::{
    CandidateVerdict, Code, Constraints, DocumentKind, Filter, Outcome, ServerName,
};
use agent_worker::page::Session;
use agent_worker_protocol::{
    About, Answer, ExplanationRequest, ListRequest, MatrixRequest, RejectedRequest, Request,
    from_bytes, to_bytes,
};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

const MANIFEST: &str = include_str!("../../../examples/hello-agent/agents.md");
const INDEX: &str = include_str!("../../../examples/hello-agent/mcp.index.json");

fn ask(session: &mut Session, request: &Request) -> Answer {
    let answer = session.answer(&to_bytes(request));
    from_bytes(&answer.unwrap_or_else(|_| panic!())).expect("an answer")
}

#[wasm_bindgen_test]
fn a_session_answers_what_is_asked_and_repeats_the_verdict_for_new_texts_only() {
    let mut session = Session::new();
    session.set_text(DocumentKind::Manifest as u32, MANIFEST.to_owned());
    session.set_text(DocumentKind::Index as u32, INDEX.to_owned());
    let first = ask(
        &mut session,
        &Request {
            report: false,
            matrix: Some(MatrixRequest {
                filter: Filter {
                    id: "a".to_owned(),
                    by_name: true,
                    ..Filter::default()
                },
                offset: 1,
                limit: 2,
            }),
            explanation: Some(ExplanationRequest {
                requirement: 0,
                server: ServerName {
                    id: "gamma".to_owned(),
                    version: "1.0.0".to_owned(),
                },
                tool: None,
            }),
            rejected: Some(RejectedRequest {
                requirement: 0,
                check: 0,
                limit: 10,
            }),
            eligible: Some(ListRequest {
                requirement: 0,
                limit: 10,
            }),
            supposed: Some(Constraints {
                residency: Some("eu-only".to_owned()),
                sensitivity: None,
                require_signed: true,
            }),
            counts: true,
            resolution: Some(u32::MAX),
            policy: None,
            tried: String::new(),
        },
    );
    let verdict = first.verdict.expect("a verdict");
    assert_eq!(verdict.satisfied, Some(true));
    let Outcome::Selected(selected) = &verdict.requirements[0].outcome else {
        panic!("{verdict:?}");
    };
    assert_eq!(selected.server.id, "acme-audiences");
    let matrix = first.matrix.expect("a matrix");
    assert_eq!(matrix.total, 4);
    assert_eq!(matrix.rows[0].server.id, "beta-audiences");
    let story = first.explanation.expect("a story");
    assert_eq!(story.verdict, CandidateVerdict::Rejected);
    assert_eq!(story.checks[2].offered, "eu-only");
    let fallen = first.rejected.expect("a list");
    assert_eq!(fallen.items[0].reason.code, Code::MissingCategory);
    let eligible = first.eligible.expect("a list");
    assert_eq!(eligible.items[0].lost_on, "signed");
    let supposed = first.supposed.expect("other verdicts");
    assert_eq!(supposed.requirements[0].then, None);
    assert_eq!(first.counts.expect("counts").len(), 4 * 7);
    let resolution = first.resolution.expect("an explanation");
    assert!(resolution.is_ok_and(|it| it.text.starts_with("{\n")));

    let second = ask(&mut session, &Request::default());
    assert_eq!(second, Answer::default());
}

#[wasm_bindgen_test]
fn texts_are_set_by_their_numbers() {
    let mut session = Session::new();
    let all = [
        DocumentKind::Manifest,
        DocumentKind::Index,
        DocumentKind::Lock,
        DocumentKind::Task,
        DocumentKind::Tenant,
        DocumentKind::Health,
        DocumentKind::Context,
    ];
    for source in all {
        session.set_text(source as u32, "[".to_owned());
    }
    // The number of no text.
    session.set_text(u32::MAX, "[".to_owned());
    let verdict = ask(&mut session, &Request::default()).verdict;
    let found = verdict.expect("a verdict").diagnostics;
    let sources: Vec<_> = found
        .iter()
        .map(|found| found.labels[0].place.source)
        .collect();
    assert_eq!(sources, all);
}

#[wasm_bindgen_test]
fn descriptions_are_bytes_and_invalid_requests_are_exceptions() {
    let about: About = from_bytes(&Session::about()).expect("what is known");
    assert_eq!(about.version, env!("CARGO_PKG_VERSION"));
    let mut session = Session::new();
    for nonsense in [&[][..], &[255; 100]] {
        let error = session.answer(nonsense).err().expect("an exception");
        assert!(JsValue::from(error).is_object());
    }
}

#[wasm_bindgen_test]
fn what_is_left_to_the_larger_module_makes_an_answer_partial() {
    let mut session = Session::new();
    session.set_text(DocumentKind::Manifest as u32, MANIFEST.to_owned());
    session.set_text(DocumentKind::Index as u32, INDEX.to_owned());
    for (tenant, is_partial) in [
        ("tenants: [{ id: acme }]", false),
        // The rule does not exist, which this module does not see.
        (
            "tenants: [{ id: acme, history: { rules: [{ rule: never }] } }]",
            true,
        ),
    ] {
        session.set_text(DocumentKind::Tenant as u32, tenant.to_owned());
        let answer = ask(&mut session, &Request::default());
        assert_eq!(answer.is_partial, is_partial, "{tenant}");
        assert_eq!(
            answer.verdict.expect("a verdict").diagnostics,
            [],
            "{tenant}"
        );
    }
}
