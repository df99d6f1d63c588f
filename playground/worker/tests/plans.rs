//! Sessions of the page of plans, and the page's examples.
#![cfg(all(feature = "plans", feature = "policy", not(target_arch = "wasm32")))]

use agent_answer::{
    Code, DocumentKind, Edit, Evidence, Fix, Grounding, Piece, PlanDecision, PlanProblem,
    PlanVerdict, Position, StepOutcome,
};
use agent_worker::plans::Session;
use agent_worker_protocol::Texts;
use agent_worker_protocol::plans::{Answer, RequestKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The page's own lists, and the type of their items.
#[path = "../../ui/src/example.rs"]
pub mod example;
#[path = "../../plans-page/src/gallery.rs"]
mod gallery;

use example::Example;
use gallery::{BASIS, CALLS, GROUNDINGS, PLANS};

/// Texts by their documents.
type Inputs = BTreeMap<usize, (DocumentKind, String)>;

fn inputs(text: impl Fn(DocumentKind) -> &'static str) -> Inputs {
    let all = DocumentKind::ALL.into_iter();
    all.map(|source| (source as usize, (source, text(source).to_owned())))
        .collect()
}

fn decided(request: RequestKind, inputs: &Inputs) -> Answer {
    Session::default().answer(given(inputs.values().cloned()), request.into())
}

/// Returns texts by their numbers.
fn given(texts: impl IntoIterator<Item = (DocumentKind, String)>) -> Texts {
    let texts = texts.into_iter();
    Texts(texts.map(|(kind, text)| (kind as u32, text)).collect())
}

fn decision(request: RequestKind, inputs: &Inputs) -> PlanDecision {
    match decided(request, inputs) {
        Answer::Plan(decision) | Answer::Run(decision, _) | Answer::Call(decision) => decision,
        Answer::Grounding(_) => panic!("a decision was asked for"),
    }
}

fn grounding(inputs: &Inputs) -> Grounding {
    match decided(RequestKind::Grounding, inputs) {
        Answer::Grounding(grounding) => grounding,
        other => panic!("{other:?}"),
    }
}

fn of(request: RequestKind) -> impl Iterator<Item = &'static Example> {
    let examples = match request {
        RequestKind::Plan => PLANS,
        RequestKind::Call => CALLS,
        RequestKind::Grounding => GROUNDINGS,
    };
    examples.iter()
}

/// Returns the fixes of a problem that have edits.
fn edited_fixes(problem: &PlanProblem) -> impl Iterator<Item = &Fix> {
    let fixes = problem.diagnostic.fixes.iter();
    fixes.filter(|fix| !fix.edits.is_empty())
}

/// Returns the offset of a point in a text.
fn offset(text: &str, point: Position) -> usize {
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines
        .by_ref()
        .take(point.line as usize - 1)
        .map(str::len)
        .sum();
    let line = lines.next().unwrap_or_default();
    let mut column = 1;
    for (at, c) in line.char_indices() {
        if column >= point.utf16_column as usize {
            return before + at;
        }
        column += c.len_utf16();
    }
    before + line.len()
}

/// Applies edits as an editor does.
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
        let inputs = inputs(|source| example.text(source, BASIS, |_| ""));
        let answer = decision(RequestKind::Plan, &inputs);
        assert_eq!(answer.diagnostics, [], "{}", example.title);
        if example.code.is_empty() {
            assert_eq!(
                answer.verdict,
                PlanVerdict::Allowed,
                "{}: {:?}",
                example.title,
                answer.problems
            );
            assert!(answer.authorized.is_some() && answer.problems.is_empty());
            continue;
        }
        assert_eq!(answer.verdict, PlanVerdict::Denied, "{}", example.title);
        let mut codes = answer
            .problems
            .iter()
            .flat_map(|it| [Some(it.diagnostic.code), it.diagnostic.reason])
            .flatten();
        assert!(
            codes.any(|code| code.name() == example.code),
            "{}: {:?}",
            example.title,
            answer.problems
        );
        if example.code == "LOCK_MISSING" {
            // A fix never changes the lock.
            assert!(
                answer
                    .problems
                    .iter()
                    .all(|problem| edited_fixes(problem).next().is_none())
            );
            continue;
        }
        // One fix after the other, as a person applies them.
        let (mut inputs, mut answer) = (inputs, answer);
        for _ in 0..answer.problems.len() {
            let fix = answer
                .problems
                .iter()
                .flat_map(edited_fixes)
                .next()
                .cloned();
            let Some(fix) = fix else { break };
            inputs = after(&inputs, &fix.edits);
            answer = decision(RequestKind::Plan, &inputs);
        }
        assert_eq!(
            answer.verdict,
            PlanVerdict::Allowed,
            "{}: {:?}",
            example.title,
            answer.problems
        );
    }
}

#[test]
fn each_example_of_a_call_shows_its_code() {
    for example in of(RequestKind::Call) {
        let answer = decision(
            RequestKind::Call,
            &inputs(|source| example.text(source, BASIS, |_| "")),
        );
        let problems = answer.problems.iter().map(|it| it.diagnostic.code);
        let diagnostics = answer.diagnostics.iter().map(|it| it.code);
        let codes: Vec<_> = problems.chain(diagnostics).collect();
        if example.code.is_empty() {
            assert!(
                matches!(
                    answer.verdict,
                    PlanVerdict::Allowed | PlanVerdict::NeedsMoreInfo(_)
                ),
                "{}",
                example.title
            );
            assert_eq!(codes, [], "{}", example.title);
        } else {
            assert!(
                codes.iter().any(|code| code.name() == example.code),
                "{}: {codes:?}",
                example.title
            );
            assert!(matches!(
                answer.verdict,
                PlanVerdict::Denied | PlanVerdict::Undecided
            ));
        }
    }
}

#[test]
fn each_example_of_a_grounding_shows_its_code_and_the_nearest_text_is_evidence() {
    for example in of(RequestKind::Grounding) {
        let inputs = inputs(|source| example.text(source, BASIS, |_| ""));
        let answer = grounding(&inputs);
        let mut codes = Vec::new();
        let mut edits = Vec::new();
        let mut without = 0;
        for claim in &answer.claims {
            if let Evidence::Missed { code, near, .. } = &claim.verdict {
                codes.push(*code);
                without += usize::from(near.is_none());
                edits.extend(near.iter().flat_map(|near| near.fix.edits.clone()));
            }
        }
        assert_eq!(
            answer.grounded,
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
            codes.iter().all(|code| code.name() == example.code),
            "{}: {codes:?}",
            example.title
        );
        let then = grounding(&after(&inputs, &edits));
        assert_eq!(then.grounded, Some(without == 0), "{}", example.title);
    }
}

#[test]
fn titles_differ_and_files_of_examples_are_used() {
    for request in [RequestKind::Plan, RequestKind::Call, RequestKind::Grounding] {
        let titles: Vec<_> = of(request).map(|example| example.title).collect();
        let unique: BTreeSet<_> = titles.iter().collect();
        assert_eq!(titles.len(), unique.len());
        // The first example has no problem.
        assert_eq!(of(request).next().expect("an example").code, "");
    }
    let examples = [PLANS, CALLS, GROUNDINGS].into_iter().flatten();
    let texts = examples.flat_map(|example| example.texts).chain(BASIS);
    let texts: BTreeSet<_> = texts.map(|(_, text)| *text).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plans-page/examples");
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
fn the_locks_of_the_examples_are_what_is_resolved() {
    use agent_api::decide::{EvaluationContext, PolicyEngine};
    use agent_api::{lower, policy, render};
    use std::sync::Arc;
    let resolved = |policy| {
        let manifest = include_str!("../../../examples/plans/agents.md");
        let index = include_str!("../../../examples/plans/mcp.index.json");
        let manifest = lower::manifest(manifest.as_bytes().to_vec()).expect("a manifest");
        let index = lower::index(index.as_bytes().to_vec()).expect("an index");
        let context = EvaluationContext {
            policy,
            ..EvaluationContext::default()
        };
        let resolution =
            agent_api::resolve(Arc::new(manifest.value), Arc::new(index.value), context);
        let lock = resolution.expect("no contradiction").lock();
        render::lock(&lock.expect("a lock"))
    };
    let text = |texts: &[(DocumentKind, &'static str)], kind| {
        let mut texts = texts.iter();
        texts.find(|(it, _)| *it == kind).expect("a text").1
    };
    assert_eq!(text(BASIS, DocumentKind::Lock), resolved(None));

    let denied = CALLS.iter().find(|it| it.code == "POLICY_DENIED");
    let texts = denied.expect("an example").texts;
    let policy = text(texts, DocumentKind::Policy).as_bytes().to_vec();
    let policy = policy::read(policy).expect("a policy").value;
    let policy: Arc<dyn PolicyEngine> = Arc::new(policy);
    assert_eq!(text(texts, DocumentKind::Lock), resolved(Some(policy)));
}

fn first(request: RequestKind) -> Inputs {
    let example = of(request).next().expect("an example");
    inputs(|source| example.text(source, BASIS, |_| ""))
}

fn with(mut inputs: Inputs, source: DocumentKind, text: &str) -> Inputs {
    inputs.insert(source as usize, (source, text.to_owned()));
    inputs
}

#[test]
fn the_first_look_at_plans_shows_every_check_of_both_steps() {
    let answer = decision(RequestKind::Plan, &first(RequestKind::Plan));
    assert_eq!(answer.plan.as_deref(), Some("largest-audiences"));
    let checks: Vec<Vec<_>> = answer
        .steps
        .iter()
        .map(|step| {
            step.checks
                .iter()
                .map(|it| (&*it.name, it.outcome))
                .collect()
        })
        .collect();
    use StepOutcome::{Deferred, Passed};
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
    let [list, keep] = &answer.steps[..] else {
        panic!("{:?}", answer.steps);
    };
    assert_eq!(list.title.as_deref(), Some("List the largest audiences"));
    assert_eq!(list.driver.as_deref(), Some("mcp_proxy"));
    assert_eq!(list.input.as_deref(), Some("{ \"limit\": 2 }"));
    let from = keep.input_from.as_ref().expect("another step");
    assert_eq!(
        (from.step, &*from.id, &*from.pointer),
        (Some(0), "list", "/audiences")
    );
    let report = answer.report.expect("a report");
    assert!(report.contains("\"verdict\": \"allow\""), "{report}");
    let authorized = answer.authorized.expect("a plan");
    assert!(
        authorized.json.starts_with("{\"against\":{"),
        "{}",
        authorized.json
    );
    assert!(authorized.digest.starts_with("sha256-"));
    let documents: BTreeSet<_> = answer.against.iter().map(|it| &*it.document).collect();
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
    let answer = decision(
        RequestKind::Plan,
        &inputs(|source| example.text(source, BASIS, |_| "")),
    );
    let [problem] = &answer.problems[..] else {
        panic!("{:?}", answer.problems);
    };
    let step = &answer.steps[problem.diagnostic.step.expect("a step")];
    let check = &step.checks[problem.check.expect("a check") as usize];
    assert_eq!(
        (&*check.name, check.outcome),
        ("limits", StepOutcome::Failed)
    );
    let found = &problem.diagnostic;
    assert_eq!(found.labels[0].place.source, DocumentKind::ToolPool);
    assert_eq!(found.labels[1].place.source, DocumentKind::Profile);
    assert_eq!(found.pointer(), "/bindings/0/limits/timeout_ms");
    assert!(found.rule.is_some());
}

#[test]
fn unreadable_documents_are_reported_beside_the_others() {
    let broken = with(first(RequestKind::Plan), DocumentKind::Profile, "{");
    let answer = decision(RequestKind::Plan, &broken);
    assert_eq!(answer.verdict, PlanVerdict::Denied);
    assert_eq!(answer.problems[0].diagnostic.reason, Some(Code::JsonSyntax));
    assert_eq!(
        answer.problems[0].diagnostic.labels[0].place.source,
        DocumentKind::Profile
    );
    let rules = answer.steps[0]
        .checks
        .iter()
        .find(|check| check.name == "rules");
    assert_eq!(rules.expect("the check").outcome, StepOutcome::Skipped);

    let broken = with(first(RequestKind::Plan), DocumentKind::Plan, "[]");
    let answer = decision(RequestKind::Plan, &broken);
    assert_eq!(
        (answer.verdict, answer.steps.len(), answer.plan),
        (PlanVerdict::Denied, 0, None)
    );
    assert!(
        answer
            .problems
            .iter()
            .all(|it| it.diagnostic.step.is_none())
    );

    // An error in one of these documents leaves the answer undecided.
    for source in [
        DocumentKind::Lock,
        DocumentKind::Index,
        DocumentKind::Catalogue,
    ] {
        let answer = decision(
            RequestKind::Plan,
            &with(first(RequestKind::Plan), source, "{"),
        );
        assert_eq!(answer.verdict, PlanVerdict::Undecided, "{source:?}");
        assert_eq!(answer.diagnostics[0].labels[0].place.source, source);
        let answer = decision(
            RequestKind::Call,
            &with(first(RequestKind::Call), source, "{"),
        );
        assert_eq!(answer.verdict, PlanVerdict::Undecided, "{source:?}");
        assert_eq!(answer.diagnostics[0].labels[0].place.source, source);
    }
    // A call needs an index. For a plan, it is optional.
    let answer = decision(
        RequestKind::Call,
        &with(first(RequestKind::Call), DocumentKind::Index, ""),
    );
    assert_eq!(answer.verdict, PlanVerdict::Undecided);
    assert_eq!(
        answer.diagnostics[0].labels[0].place.source,
        DocumentKind::Index
    );
    let http = of(RequestKind::Plan).nth(1).expect("an example");
    let http = inputs(|source| http.text(source, BASIS, |_| ""));
    let blank = [DocumentKind::Index, DocumentKind::Lock]
        .into_iter()
        .fold(http, |it, source| with(it, source, " \n"));
    assert_eq!(
        decision(RequestKind::Plan, &blank).verdict,
        PlanVerdict::Allowed
    );
}

#[test]
fn places_of_a_call_are_in_its_own_text() {
    let answer = decision(
        RequestKind::Call,
        &with(first(RequestKind::Call), DocumentKind::Call, "{"),
    );
    assert_eq!(
        answer.diagnostics[0].labels[0].place.source,
        DocumentKind::Call
    );
    let answer = decision(RequestKind::Call, &first(RequestKind::Call));
    assert_eq!(answer.steps[0].place.source, DocumentKind::Call);
    let arguments = answer.steps[0].checks.last().expect("checks");
    let places: Vec<_> = arguments
        .facts
        .iter()
        .filter_map(|fact| fact.place)
        .collect();
    assert_eq!(places[0].source, DocumentKind::Call);
    let example = of(RequestKind::Call).nth(1).expect("an example");
    let answer = decision(
        RequestKind::Call,
        &inputs(|source| example.text(source, BASIS, |_| "")),
    );
    assert_eq!(
        answer.problems[0].diagnostic.labels[0].place.source,
        DocumentKind::Call
    );
    let edits = &edited_fixes(&answer.problems[0])
        .next()
        .expect("a fix")
        .edits;
    assert_eq!(edits[0].place.source, DocumentKind::Call);
}

#[test]
fn differences_are_listed_piece_by_piece() {
    let example = of(RequestKind::Grounding).find(|it| it.title == "A number with marks");
    let answer = grounding(&inputs(|source| {
        example.expect("an example").text(source, BASIS, |_| "")
    }));
    let Evidence::Missed {
        near: Some(near), ..
    } = &answer.claims[1].verdict
    else {
        panic!("{:?}", answer.claims);
    };
    let expected = [
        Piece::Both("31".to_owned()),
        Piece::Evidence(",".to_owned()),
        Piece::Both("977 members".to_owned()),
    ];
    assert_eq!(near.pieces, expected);
}

#[test]
fn a_text_is_read_when_it_changes_and_kept_for_every_question() {
    let mut session = Session::default();
    let mut ask = |texts: Vec<(DocumentKind, String)>, request: RequestKind| match session
        .answer(given(texts), request.into())
    {
        Answer::Plan(decision) | Answer::Run(decision, _) | Answer::Call(decision) => {
            decision.verdict
        }
        Answer::Grounding(grounding) => match grounding.grounded {
            Some(true) => PlanVerdict::Allowed,
            Some(false) => PlanVerdict::Denied,
            None => PlanVerdict::Undecided,
        },
    };
    assert_eq!(ask(vec![], RequestKind::Plan), PlanVerdict::Undecided);
    let all = first(RequestKind::Plan).into_values().collect();
    assert_eq!(ask(all, RequestKind::Plan), PlanVerdict::Allowed);
    assert_eq!(ask(vec![], RequestKind::Call), PlanVerdict::Allowed);
    assert_eq!(ask(vec![], RequestKind::Grounding), PlanVerdict::Allowed);
    assert_eq!(
        ask(vec![(DocumentKind::Lock, String::new())], RequestKind::Call),
        PlanVerdict::Denied
    );
    assert_eq!(ask(vec![], RequestKind::Plan), PlanVerdict::Denied);
    assert_eq!(
        ask(
            vec![(DocumentKind::Profile, "{}".to_owned())],
            RequestKind::Grounding
        ),
        PlanVerdict::Allowed
    );
    let http = of(RequestKind::Plan).nth(1).expect("an example");
    let http = |source| (source, http.text(source, BASIS, |_| "").to_owned());
    assert_eq!(
        ask(
            vec![http(DocumentKind::Plan), http(DocumentKind::Request)],
            RequestKind::Plan
        ),
        PlanVerdict::Denied
    );
    assert_eq!(
        ask(vec![http(DocumentKind::Profile)], RequestKind::Plan),
        PlanVerdict::Allowed
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
    let answer = decision(
        RequestKind::Call,
        &with(first(RequestKind::Call), DocumentKind::Call, &plan),
    );
    let shown = answer.steps[0].input.as_ref().expect("an input");
    assert!(
        shown.ends_with('…') && shown.chars().count() < 500,
        "{}",
        shown.len()
    );
    let summary = format!("[{{\"claim\": \"{long}\", \"evidence\": \"{long}\"}}]");
    let answer = grounding(&with(
        first(RequestKind::Grounding),
        DocumentKind::Summary,
        &summary,
    ));
    let claim = &answer.claims[0];
    assert!(claim.claim.chars().count() < 500 && claim.evidence.chars().count() < 500);
}
