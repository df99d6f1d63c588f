//! The run of a plan that a page steps through.
#![cfg(all(feature = "run", not(target_arch = "wasm32")))]

use agent_answer::DocumentKind;
use agent_worker::plans::Session;
use agent_worker_protocol::Texts;
use agent_worker_protocol::plans::{Answer, Request, RequestKind};
use agent_worker_protocol::run::{OutcomeKind, RunRequest, RunView, StageOutcome, Turn};

const POOL: &str = include_str!("../../../examples/plans/tool-pool.json");
const PROFILE: &str = include_str!("../../../examples/plans/profile.json");
const INDEX: &str = include_str!("../../../examples/plans/mcp.index.json");
const LOCK: &str = include_str!("../../plans-page/examples/agents.lock");
const OVER_HTTP: &str = include_str!("../../../examples/plans/http.plan.json");
const OF_A_SERVER: &str = include_str!("../../../examples/plans/mcp.plan.json");

/// A plan that only keeps a value.
fn keeping(value: &str) -> String {
    let steps = format!(
        r#""steps": [{{ "step_id": "keep", "connector_id": "connector_core:noop",
            "tool_id": "keep", "input": {value} }}] }} }}"#
    );
    let (before, _) = OVER_HTTP.split_once("\"steps\"").expect("steps");
    before.to_owned() + &steps
}

fn session(plan: &str) -> Session {
    let mut session = Session::default();
    let texts = Texts::default()
        .with(DocumentKind::Plan, plan)
        .with(DocumentKind::ToolPool, POOL)
        .with(DocumentKind::Profile, PROFILE)
        .with(DocumentKind::Index, INDEX)
        .with(DocumentKind::Lock, LOCK);
    session.answer(texts, RequestKind::Plan.into());
    session
}

fn view(session: &mut Session, run: &RunRequest) -> RunView {
    let request = Request {
        kind: RequestKind::Plan,
        run: Some(run.clone()),
    };
    match session.answer(Texts::default(), request) {
        Answer::Run(_, view) => *view,
        other => panic!("{other:?}"),
    }
}

/// Runs a plan, with the example of a title for each action that has one, or else the first example.
fn run(plan: &str, titles: &[&str]) -> RunView {
    let mut session = session(plan);
    let mut request = RunRequest::default();
    loop {
        let view = view(&mut session, &request);
        assert_eq!(view.turns, request.turns);
        let Some(wanted) = &view.wanted else {
            return view;
        };
        let mut forms = wanted.forms.iter();
        let named = forms.find(|form| titles.contains(&&*form.title));
        let form = named.or(wanted.forms.first());
        let form = form.expect("a way to answer");
        request.turns.push(Turn {
            action: wanted.name.clone(),
            kind: form.kind,
            fields: form.fields.iter().map(|it| it.value.clone()).collect(),
            took_ms: 20,
        });
    }
}

fn code(view: &RunView) -> Option<&str> {
    view.end.as_ref().expect("an end").code.as_deref()
}

/// Returns the parts that failed, with their codes.
fn failed(view: &RunView) -> Vec<(&str, &str)> {
    let stages = view.stages.iter().flat_map(|group| &group.stages);
    let failed = stages.filter_map(|stage| match &stage.outcome {
        StageOutcome::Failed(code) => Some((&*stage.number, &**code)),
        _ => None,
    });
    failed.collect()
}

/// Returns the outcomes of the parts of a group, a character each.
fn marks(view: &RunView, group: usize) -> String {
    let stages = view.stages[group].stages.iter();
    let marks = stages.map(|stage| match stage.outcome {
        StageOutcome::Ahead => '.',
        StageOutcome::Present => 'o',
        StageOutcome::Passed => '+',
        StageOutcome::Failed(_) => 'x',
        StageOutcome::Skipped => '-',
    });
    marks.collect()
}

fn file<'v>(view: &'v RunView, path: &str) -> &'v str {
    let mut files = view.files.iter();
    let file = files.find(|file| file.path == path);
    &file.unwrap_or_else(|| panic!("no {path}")).content
}

#[test]
fn a_run_without_effects_asks_for_its_handler_alone_and_leaves_its_evidence() {
    let mut session = session(&keeping(r#"{"a":1}"#));
    let mut request = RunRequest::default();
    let begun = view(&mut session, &request);
    let wanted = begun.wanted.as_ref().expect("an action");
    assert_eq!(wanted.title, "call the handler `noop`");
    assert!(
        wanted
            .facts
            .contains(&("input".to_owned(), r#"{"a":1}"#.to_owned()))
    );
    assert_eq!(
        (marks(&begun, 0), marks(&begun, 1), marks(&begun, 2)),
        ("++++".into(), "++++o...".into(), ".".into())
    );
    let stored = begun.files.len();

    request.to_the_end = true;
    let ended = view(&mut session, &request);
    assert_eq!(
        (code(&ended), ended.turns.len(), ended.elapsed_ms),
        (None, 1, 20)
    );
    assert_eq!(
        (marks(&ended, 0), marks(&ended, 1), marks(&ended, 2)),
        ("++++".into(), "++++++++".into(), "+".into())
    );
    assert!(ended.files.len() > stored);
    let index = file(&ended, "episodes/index.jsonl");
    assert_eq!(index.lines().count(), ended.episodes as usize);
    let summary = file(&ended, "run_summary.json");
    assert!(summary.contains(ended.head.as_ref().expect("a head")));
    // The clock is the page's own.
    assert!(summary.contains("2026-01-01T00:00:00.020Z"), "{summary}");
}

#[test]
fn examples_lead_each_kind_of_plan_to_its_end() {
    let over_http = run(OVER_HTTP, &[]);
    assert_eq!((code(&over_http), failed(&over_http)), (None, vec![]));
    let titles: Vec<_> = over_http.past.iter().map(|past| &*past.title).collect();
    assert_eq!(
        titles,
        [
            "call the handler `http`",
            "resolve the host `reports.example`",
            "request `GET /2026/01.json`",
            "give the handler the response, and let it go on",
            "call the handler `noop`",
        ]
    );
    let of_a_server = run(OF_A_SERVER, &[]);
    assert_eq!((code(&of_a_server), failed(&of_a_server)), (None, vec![]));
    let outcomes: Vec<_> = of_a_server.past.iter().map(|past| &*past.outcome).collect();
    assert!(outcomes.contains(&"93.184.215.14"), "{outcomes:?}");
}

#[test]
fn each_failure_is_one_of_its_part() {
    for (plan, example, part, stable) in [
        (OVER_HTTP, "a private address", "5e", "destination_denied"),
        (OVER_HTTP, "both", "5e", "destination_denied"),
        (OVER_HTTP, "200 with other JSON", "5f", "output_invalid"),
        (
            OVER_HTTP,
            "it asks for another host",
            "5e",
            "destination_denied",
        ),
        (
            OVER_HTTP,
            "it asks for another method",
            "5e",
            "policy_denied",
        ),
        (
            OVER_HTTP,
            "it asks for a second effect",
            "5e",
            "limit_exceeded",
        ),
        (OVER_HTTP, "no answer in time", "5e", "timeout"),
        (OF_A_SERVER, "other descriptions", "5e", "policy_denied"),
        (OF_A_SERVER, "an error of the tool", "5e", "handler_failed"),
        (
            OF_A_SERVER,
            "a result of another shape",
            "5f",
            "output_invalid",
        ),
    ] {
        let view = run(plan, &[example]);
        assert_eq!(
            (code(&view), failed(&view)),
            (Some(stable), vec![(part, stable)]),
            "{example}"
        );
        // The log, the step and the run are recorded all the same, and the next step is skipped.
        assert!(marks(&view, 1).ends_with("++"), "{example}");
        assert_eq!(
            (marks(&view, 2), marks(&view, 3)),
            ("--------".into(), "+".into()),
            "{example}"
        );
    }
    let refused = run(
        &OVER_HTTP.replace("reports.example", "elsewhere.example"),
        &[],
    );
    assert_eq!(
        (code(&refused), marks(&refused, 0)),
        (Some("destination_denied"), "x+++".into())
    );
    assert_eq!(refused.turns, []);
}

#[test]
fn a_step_that_nobody_approves_ends_the_run() {
    macro_rules! corpus {
        ($file:literal) => {
            include_str!(concat!("../../../tests/corpus/plan/", $file))
        };
    }
    let mut session = Session::default();
    let plan = corpus!("accept/a-tool-that-a-person-has-to-approve/plan.json");
    let texts = Texts::default()
        .with(DocumentKind::Plan, plan)
        .with(DocumentKind::ToolPool, corpus!("base/tool-pool.json"))
        .with(DocumentKind::Profile, corpus!("base/profile.json"))
        .with(DocumentKind::Index, corpus!("base/mcp.index.json"))
        .with(DocumentKind::Lock, corpus!("base/agents.lock"));
    session.answer(texts, RequestKind::Plan.into());
    let mut request = RunRequest::default();
    let asked = view(&mut session, &request).wanted.expect("an action");
    assert_eq!(asked.name, "approve");
    for (approved, ends) in [("no", Some("policy_denied")), ("yes", None)] {
        request.turns = vec![Turn {
            action: asked.name.clone(),
            kind: OutcomeKind::Decided,
            fields: vec![approved.to_owned(), "me".to_owned()],
            took_ms: 1,
        }];
        request.to_the_end = true;
        let view = view(&mut session, &request);
        assert_eq!(code(&view), ends);
        let failed = failed(&view);
        assert_eq!(failed.first().copied(), ends.map(|code| ("5c", code)));
    }
}

#[test]
fn a_cancelled_run_completes_its_evidence() {
    let mut session = session(OVER_HTTP);
    let cancelled = Turn {
        action: "call_handler".to_owned(),
        kind: OutcomeKind::Cancelled,
        fields: vec![],
        took_ms: 5,
    };
    let request = RunRequest {
        turns: vec![cancelled],
        ..RunRequest::default()
    };
    let view = view(&mut session, &request);
    let end = view.end.as_ref().expect("an end");
    assert_eq!((&*end.status, end.evidence_complete), ("cancelled", true));
    assert_eq!(failed(&view), [("5e", "handler_failed")]);
    assert!(file(&view, "run_summary.json").contains("\"CANCELLED\""));
}

#[test]
fn answers_that_do_not_fit_wait_for_the_user() {
    let mut session = session(OVER_HTTP);
    let turn = |action: &str, kind, fields: &[&str]| Turn {
        action: action.to_owned(),
        kind,
        fields: fields.iter().map(|it| (*it).to_owned()).collect(),
        took_ms: 1,
    };
    let asks = turn(
        "call_handler",
        OutcomeKind::WantsRequest,
        &["GET", "https://reports.example/2026/01.json", "", "", ""],
    );
    let resolved = turn("resolve", OutcomeKind::Addresses, &["93.184.215.14"]);
    for (last, mistake) in [
        (turn("resolve", OutcomeKind::Opened, &["1"]), "does not fit"),
        (
            turn("request", OutcomeKind::Failed, &["failed", ""]),
            "does not fit",
        ),
        (
            turn("resolve", OutcomeKind::Addresses, &[]),
            "number of fields",
        ),
        (
            turn("resolve", OutcomeKind::Failed, &["lost", ""]),
            "`lost` is not a kind of failure",
        ),
    ] {
        let request = RunRequest {
            turns: vec![asks.clone(), last],
            to_the_end: true,
            ..RunRequest::default()
        };
        let view = view(&mut session, &request);
        assert_eq!(view.turns, std::slice::from_ref(&asks));
        assert!(view.mistake.expect("a mistake").contains(mistake));
        assert_eq!(view.wanted.expect("an action").name, "resolve");
    }
    let status = turn("request", OutcomeKind::Response, &["2OO", "", ""]);
    let request = RunRequest {
        turns: vec![asks, resolved, status],
        ..RunRequest::default()
    };
    let mistake = view(&mut session, &request).mistake.expect("a mistake");
    assert!(mistake.contains("`2OO`"), "{mistake}");
}

#[test]
fn values_that_no_run_can_have_are_refused() {
    let mut session = session(OVER_HTTP);
    for request in [
        RunRequest {
            run_id: "../x".to_owned(),
            ..RunRequest::default()
        },
        RunRequest {
            random: "07".to_owned(),
            ..RunRequest::default()
        },
        RunRequest {
            random: "+7".repeat(32),
            ..RunRequest::default()
        },
        RunRequest {
            random: "é".repeat(32),
            ..RunRequest::default()
        },
    ] {
        let view = view(&mut session, &request);
        assert!(
            view.refused.is_some() && view.wanted.is_none(),
            "{request:?}"
        );
    }
    // Other random bytes are other names.
    let other = RunRequest {
        random: "08".repeat(32),
        ..RunRequest::default()
    };
    assert_ne!(
        view(&mut session, &other).head,
        view(&mut session, &RunRequest::default()).head
    );
}

#[test]
fn a_run_is_of_the_present_texts() {
    let mut session = session("");
    let refused = view(&mut session, &RunRequest::default());
    assert_eq!(code(&refused), Some("validation_failed"));
    let request = Request {
        kind: RequestKind::Plan,
        run: Some(RunRequest::default()),
    };
    let texts = Texts::default().with(DocumentKind::Plan, keeping("1"));
    let Answer::Run(_, view) = session.answer(texts, request) else {
        panic!("no run");
    };
    assert_eq!(view.wanted.expect("an action").name, "call_handler");
}
