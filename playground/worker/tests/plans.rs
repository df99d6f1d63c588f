//! Conversations with the engine about plans, as the page has them; and the page's examples.
#![cfg(feature = "plans")]

use agent_protocol::plans::{
    Decision, Evidence, Grounding, Outcome, Piece, Request, RequestKind, Response, Texts, Verdict,
};
use agent_protocol::{DocumentKind, Edit, Point};
use agent_worker::plans::Session;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The page's own lists, and the type of their items.
#[path = "../../ui/src/example.rs"]
pub mod example;
#[path = "../../plans/src/gallery.rs"]
mod gallery;

use example::Example;
use gallery::{BASIS, CALLS, GROUNDINGS, PLANS};

/// Texts by their inputs.
type Inputs = BTreeMap<usize, (DocumentKind, String)>;

fn inputs(text: impl Fn(DocumentKind) -> &'static str) -> Inputs {
    let all = DocumentKind::ALL.into_iter();
    all.map(|source| (source as usize, (source, text(source).to_owned())))
        .collect()
}

fn decided(matter: RequestKind, inputs: &Inputs) -> Response {
    let ask = Request {
        revision: 3,
        texts: Texts(inputs.values().cloned().collect()),
        kind: matter,
    };
    let answer = Session::default().answer(ask);
    assert_eq!(answer.revision, 3);
    answer.response
}

fn decision(matter: RequestKind, inputs: &Inputs) -> Decision {
    match decided(matter, inputs) {
        Response::Plan(decision) | Response::Call(decision) => decision,
        Response::Grounding(_) => panic!("a decision was asked for"),
    }
}

fn grounding(inputs: &Inputs) -> Grounding {
    match decided(RequestKind::Grounding, inputs) {
        Response::Grounding(grounding) => grounding,
        other => panic!("{other:?}"),
    }
}

fn of(matter: RequestKind) -> impl Iterator<Item = &'static Example> {
    let examples = match matter {
        RequestKind::Plan => PLANS,
        RequestKind::Call => CALLS,
        RequestKind::Grounding => GROUNDINGS,
    };
    examples.iter()
}

/// The offset of a point in a text.
fn offset(text: &str, point: Point) -> usize {
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines
        .by_ref()
        .take(point.line as usize - 1)
        .map(str::len)
        .sum();
    let line = lines.next().unwrap_or_default();
    let mut column = 1;
    for (at, c) in line.char_indices() {
        if column >= point.column as usize {
            return before + at;
        }
        column += c.len_utf16();
    }
    before + line.len()
}

/// The inputs after edits, made as an editor makes them.
fn after(inputs: &Inputs, edits: &[Edit]) -> Inputs {
    let mut inputs = inputs.clone();
    let mut edits: Vec<_> = edits.iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.place.start));
    for edit in edits {
        let (_, text) = inputs
            .get_mut(&(edit.place.source as usize))
            .expect("an input");
        let range = offset(text, edit.place.start)..offset(text, edit.place.end);
        text.replace_range(range, &edit.replacement);
    }
    inputs
}

#[test]
fn each_example_of_a_plan_shows_its_code_and_its_fixes_lead_to_a_yes() {
    for example in of(RequestKind::Plan) {
        let inputs = inputs(|source| example.text(source, BASIS));
        let told = decision(RequestKind::Plan, &inputs);
        assert_eq!(told.diagnostics, [], "{}", example.title);
        if example.code.is_empty() {
            assert_eq!(
                told.verdict,
                Verdict::Allowed,
                "{}: {:?}",
                example.title,
                told.problems
            );
            assert!(told.authorized.is_some() && told.problems.is_empty());
            continue;
        }
        assert_eq!(told.verdict, Verdict::Denied, "{}", example.title);
        let mut codes = told
            .problems
            .iter()
            .flat_map(|it| it.code.iter().chain(&it.reason));
        assert!(
            codes.any(|code| code == example.code),
            "{}: {:?}",
            example.title,
            told.problems
        );
        if example.code == "LOCK_MISSING" {
            // What is locked is decided by nobody here.
            assert!(told.problems.iter().all(|problem| problem.fixes.is_empty()));
            continue;
        }
        // One after the other, as a person presses the buttons.
        let (mut inputs, mut told) = (inputs, told);
        for _ in 0..told.problems.len() {
            let mut fixes = told.problems.iter().flat_map(|problem| &problem.fixes);
            let Some(fix) = fixes.next() else { break };
            inputs = after(&inputs, fix.edits.as_ref().expect("edits"));
            told = decision(RequestKind::Plan, &inputs);
        }
        assert_eq!(
            told.verdict,
            Verdict::Allowed,
            "{}: {:?}",
            example.title,
            told.problems
        );
    }
}

#[test]
fn each_example_of_a_call_shows_its_code() {
    for example in of(RequestKind::Call) {
        let told = decision(
            RequestKind::Call,
            &inputs(|source| example.text(source, BASIS)),
        );
        let problems = told.problems.iter().filter_map(|it| it.reason.clone());
        let diagnostics = told.diagnostics.iter().map(|it| it.code.clone());
        let codes: Vec<_> = problems.chain(diagnostics).collect();
        if example.code.is_empty() {
            assert!(
                matches!(told.verdict, Verdict::Allowed | Verdict::Asks(_)),
                "{}",
                example.title
            );
            assert_eq!(codes, [""; 0], "{}", example.title);
        } else {
            assert!(
                codes.iter().any(|code| code == example.code),
                "{}: {codes:?}",
                example.title
            );
            assert!(matches!(told.verdict, Verdict::Denied | Verdict::Undecided));
        }
    }
}

#[test]
fn each_example_of_a_grounding_shows_its_code_and_what_is_nearest_is_evidence() {
    for example in of(RequestKind::Grounding) {
        let inputs = inputs(|source| example.text(source, BASIS));
        let told = grounding(&inputs);
        let mut codes = Vec::new();
        let mut edits = Vec::new();
        let mut without = 0;
        for claim in &told.claims {
            if let Evidence::Missed { code, near, .. } = &claim.verdict {
                codes.push(code.clone());
                without += usize::from(near.is_none());
                edits.extend(near.iter().flat_map(|near| near.edits.clone()));
            }
        }
        assert_eq!(
            told.grounded,
            Some(example.code.is_empty()),
            "{}",
            example.title
        );
        assert_eq!(
            codes.is_empty(),
            example.code.is_empty(),
            "{}",
            example.title
        );
        assert!(
            codes.iter().all(|code| code == example.code),
            "{}: {codes:?}",
            example.title
        );
        let then = grounding(&after(&inputs, &edits));
        assert_eq!(then.grounded, Some(without == 0), "{}", example.title);
    }
}

#[test]
fn titles_are_told_apart_and_files_of_examples_are_used() {
    for matter in [RequestKind::Plan, RequestKind::Call, RequestKind::Grounding] {
        let titles: Vec<_> = of(matter).map(|example| example.title).collect();
        let unique: BTreeSet<_> = titles.iter().collect();
        assert_eq!(titles.len(), unique.len());
        // The first shows that all is well.
        assert_eq!(of(matter).next().expect("an example").code, "");
    }
    let examples = [PLANS, CALLS, GROUNDINGS].into_iter().flatten();
    let texts = examples.flat_map(|example| example.texts).chain(BASIS);
    let texts: BTreeSet<_> = texts.map(|(_, text)| *text).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plans/examples");
    let mut files = 0;
    for entry in fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("a file").path();
        let text = fs::read_to_string(&path).expect("a text");
        assert!(texts.contains(&*text), "{} is no example", path.display());
        files += 1;
    }
    assert!(files > 20, "{files}");
}

#[test]
fn the_lock_of_the_examples_is_what_is_resolved() {
    use agent_api::decide::Resolution;
    use agent_api::{lower, render};
    use std::sync::Arc;
    let manifest = include_str!("../../../examples/plans/agents.md");
    let index = include_str!("../../../examples/plans/mcp.index.json");
    let manifest = lower::manifest(manifest.as_bytes().to_vec()).expect("a manifest");
    let index = lower::index(index.as_bytes().to_vec()).expect("an index");
    let resolution = Resolution::new(Arc::new(manifest.value), Arc::new(index.value));
    let expected = render::lock(&resolution.lock().expect("a lock"));
    let (_, lock) = BASIS
        .iter()
        .find(|(it, _)| *it == DocumentKind::Lock)
        .expect("a lock");
    assert_eq!(*lock, expected);
}

fn first(matter: RequestKind) -> Inputs {
    let example = of(matter).next().expect("an example");
    inputs(|source| example.text(source, BASIS))
}

fn with(mut inputs: Inputs, source: DocumentKind, text: &str) -> Inputs {
    inputs.insert(source as usize, (source, text.to_owned()));
    inputs
}

#[test]
fn the_first_look_at_plans_shows_every_check_of_both_steps() {
    let told = decision(RequestKind::Plan, &first(RequestKind::Plan));
    assert_eq!(told.plan.as_deref(), Some("largest-audiences"));
    let checks: Vec<Vec<_>> = told
        .steps
        .iter()
        .map(|step| {
            step.checks
                .iter()
                .map(|it| (&*it.name, it.outcome))
                .collect()
        })
        .collect();
    use Outcome::{Deferred, Passed};
    assert_eq!(
        checks[0],
        [
            ("pool", Passed),
            ("rules", Passed),
            ("lock", Passed),
            ("destination", Passed),
            ("limits", Passed),
            ("input", Passed),
            ("output", Deferred)
        ]
    );
    assert_eq!(
        checks[1],
        [
            ("pool", Passed),
            ("rules", Passed),
            ("limits", Passed),
            ("input", Deferred),
            ("output", Deferred)
        ]
    );
    let [list, keep] = &told.steps[..] else {
        panic!("{:?}", told.steps);
    };
    assert_eq!(list.title.as_deref(), Some("List the largest audiences"));
    assert_eq!(list.driver.as_deref(), Some("mcp_proxy"));
    assert_eq!(list.input.as_deref(), Some("{ \"limit\": 2 }"));
    let from = keep.input_from.as_ref().expect("another step");
    assert_eq!(
        (from.step, &*from.id, &*from.pointer),
        (Some(0), "list", "/audiences")
    );
    let report = told.report.expect("a report");
    assert!(report.contains("\"verdict\": \"allow\""), "{report}");
    let authorized = told.authorized.expect("a plan");
    assert!(
        authorized.json.starts_with("{\"against\":{"),
        "{}",
        authorized.json
    );
    assert!(authorized.digest.starts_with("sha256-"));
    let documents: BTreeSet<_> = told.against.iter().map(|it| &*it.document).collect();
    for document in [
        "tool_pool",
        "instruction_profile",
        "request",
        "lock",
        "index",
        "schema",
    ] {
        assert!(documents.contains(document), "{documents:?}");
    }
}

#[test]
fn a_problem_is_of_a_step_and_of_a_check_of_it() {
    let example = of(RequestKind::Plan)
        .find(|it| it.code == "limit_exceeded")
        .expect("an example");
    let told = decision(
        RequestKind::Plan,
        &inputs(|source| example.text(source, BASIS)),
    );
    let [problem] = &told.problems[..] else {
        panic!("{:?}", told.problems);
    };
    let step = &told.steps[problem.step.expect("a step") as usize];
    let check = &step.checks[problem.check.expect("a check") as usize];
    assert_eq!((&*check.name, check.outcome), ("limits", Outcome::Failed));
    assert_eq!(problem.place.source, DocumentKind::ToolPool);
    assert_eq!(problem.also[0].place.source, DocumentKind::Profile);
    assert_eq!(
        problem.pointer.as_deref(),
        Some("/bindings/0/limits/timeout_ms")
    );
    assert!(problem.rule.is_some());
    // Neither the rule nor the fix is said twice.
    let twice =
        |help: &String| help.starts_with("the rule is") || help.starts_with("a change that");
    assert!(!problem.help.iter().any(twice), "{:?}", problem.help);
}

#[test]
fn documents_that_can_t_be_read_are_told_with_what_the_others_say() {
    let broken = with(first(RequestKind::Plan), DocumentKind::Profile, "{");
    let told = decision(RequestKind::Plan, &broken);
    assert_eq!(told.verdict, Verdict::Denied);
    assert_eq!(told.problems[0].reason.as_deref(), Some("JSON_SYNTAX"));
    assert_eq!(told.problems[0].place.source, DocumentKind::Profile);
    let rules = told.steps[0]
        .checks
        .iter()
        .find(|check| check.name == "rules");
    assert_eq!(rules.expect("the check").outcome, Outcome::Skipped);

    let broken = with(first(RequestKind::Plan), DocumentKind::Plan, "[]");
    let told = decision(RequestKind::Plan, &broken);
    assert_eq!(
        (told.verdict, told.steps.len(), told.plan),
        (Verdict::Denied, 0, None)
    );
    assert!(told.problems.iter().all(|problem| problem.step.is_none()));

    // Of what is no document of a plan nothing is made of the rest.
    for source in [
        DocumentKind::Lock,
        DocumentKind::Index,
        DocumentKind::Catalogue,
    ] {
        let told = decision(
            RequestKind::Plan,
            &with(first(RequestKind::Plan), source, "{"),
        );
        assert_eq!(told.verdict, Verdict::Undecided, "{source:?}");
        assert_eq!(told.diagnostics[0].labels[0].place.source, source);
        let told = decision(
            RequestKind::Call,
            &with(first(RequestKind::Call), source, "{"),
        );
        assert_eq!(told.verdict, Verdict::Undecided, "{source:?}");
        assert_eq!(told.diagnostics[0].labels[0].place.source, source);
    }
    // A call needs an index, a plan may do without.
    let told = decision(
        RequestKind::Call,
        &with(first(RequestKind::Call), DocumentKind::Index, ""),
    );
    assert_eq!(told.verdict, Verdict::Undecided);
    assert_eq!(
        told.diagnostics[0].labels[0].place.source,
        DocumentKind::Index
    );
    let http = of(RequestKind::Plan).nth(1).expect("an example");
    let http = inputs(|source| http.text(source, BASIS));
    let blank = [DocumentKind::Index, DocumentKind::Lock]
        .into_iter()
        .fold(http, |it, source| with(it, source, " \n"));
    assert_eq!(
        decision(RequestKind::Plan, &blank).verdict,
        Verdict::Allowed
    );
}

#[test]
fn places_of_a_call_are_in_its_own_text() {
    let told = decision(
        RequestKind::Call,
        &with(first(RequestKind::Call), DocumentKind::Call, "{"),
    );
    assert_eq!(
        told.diagnostics[0].labels[0].place.source,
        DocumentKind::Call
    );
    let told = decision(RequestKind::Call, &first(RequestKind::Call));
    assert_eq!(told.steps[0].place.source, DocumentKind::Call);
    let arguments = told.steps[0].checks.last().expect("checks");
    let places: Vec<_> = arguments
        .facts
        .iter()
        .filter_map(|fact| fact.place)
        .collect();
    assert_eq!(places[0].source, DocumentKind::Call);
    let example = of(RequestKind::Call).nth(1).expect("an example");
    let told = decision(
        RequestKind::Call,
        &inputs(|source| example.text(source, BASIS)),
    );
    assert_eq!(told.problems[0].place.source, DocumentKind::Call);
    let edits = told.problems[0].fixes[0].edits.as_ref().expect("edits");
    assert_eq!(edits[0].place.source, DocumentKind::Call);
}

#[test]
fn what_differs_is_told_piece_by_piece() {
    let example = of(RequestKind::Grounding).find(|it| it.title == "A number with marks");
    let told = grounding(&inputs(|source| {
        example.expect("an example").text(source, BASIS)
    }));
    let Evidence::Missed {
        near: Some(near), ..
    } = &told.claims[1].verdict
    else {
        panic!("{:?}", told.claims);
    };
    let expected = [
        Piece::Both("31".to_owned()),
        Piece::Evidence(",".to_owned()),
        Piece::Both("977 members".to_owned()),
    ];
    assert_eq!(near.pieces, expected);
}

#[test]
fn a_text_is_read_when_it_changes_and_kept_for_every_matter() {
    let mut session = Session::default();
    let mut ask = |texts: Vec<(DocumentKind, String)>, matter| {
        let answer = session.answer(Request {
            revision: 0,
            texts: Texts(texts),
            kind: matter,
        });
        match answer.response {
            Response::Plan(decision) | Response::Call(decision) => decision.verdict,
            Response::Grounding(grounding) => match grounding.grounded {
                Some(true) => Verdict::Allowed,
                Some(false) => Verdict::Denied,
                None => Verdict::Undecided,
            },
        }
    };
    assert_eq!(ask(vec![], RequestKind::Plan), Verdict::Undecided);
    let all = first(RequestKind::Plan).into_values().collect();
    assert_eq!(ask(all, RequestKind::Plan), Verdict::Allowed);
    assert_eq!(ask(vec![], RequestKind::Call), Verdict::Allowed);
    assert_eq!(ask(vec![], RequestKind::Grounding), Verdict::Allowed);
    assert_eq!(
        ask(vec![(DocumentKind::Lock, String::new())], RequestKind::Call),
        Verdict::Denied
    );
    assert_eq!(ask(vec![], RequestKind::Plan), Verdict::Denied);
    assert_eq!(
        ask(
            vec![(DocumentKind::Profile, "{}".to_owned())],
            RequestKind::Grounding
        ),
        Verdict::Allowed
    );
    let http = of(RequestKind::Plan).nth(1).expect("an example");
    let http = |source| (source, http.text(source, BASIS).to_owned());
    assert_eq!(
        ask(
            vec![http(DocumentKind::Plan), http(DocumentKind::Request)],
            RequestKind::Plan
        ),
        Verdict::Denied
    );
    assert_eq!(
        ask(vec![http(DocumentKind::Profile)], RequestKind::Plan),
        Verdict::Allowed
    );
}

#[test]
fn long_texts_are_shown_by_their_beginning() {
    let long = "𝄞".repeat(3_000);
    let plan = first(RequestKind::Call)[&(DocumentKind::Call as usize)]
        .1
        .clone();
    let plan = plan.replace(
        "\"limit\": 2",
        &format!("\"limit\": 2, \"note\": \"{long}\""),
    );
    let told = decision(
        RequestKind::Call,
        &with(first(RequestKind::Call), DocumentKind::Call, &plan),
    );
    let shown = told.steps[0].input.as_ref().expect("an input");
    assert!(
        shown.ends_with('…') && shown.chars().count() < 500,
        "{}",
        shown.len()
    );
    let summary = format!("[{{\"claim\": \"{long}\", \"evidence\": \"{long}\"}}]");
    let told = grounding(&with(
        first(RequestKind::Grounding),
        DocumentKind::Summary,
        &summary,
    ));
    let claim = &told.claims[0];
    assert!(claim.claim.chars().count() < 500 && claim.evidence.chars().count() < 500);
}
