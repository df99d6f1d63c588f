//! The examples of the playground show the codes of the gallery.

use agent_answer::{DocumentKind, Outcome, Requirement, Verdict};
use agent_worker::Session;
use agent_worker_protocol::{ListRequest, Request, Texts};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The page's own list, and the type of its items.
#[path = "../../ui/src/example.rs"]
pub mod example;
#[path = "../../src/gallery.rs"]
mod gallery;

use example::Example;
use gallery::{ATTACKS, BROKEN, LOCKS, POLICIES, REFUSED, START};

/// Returns all examples.
fn examples() -> impl Iterator<Item = &'static Example> {
    [START, REFUSED, BROKEN, POLICIES, ATTACKS, LOCKS]
        .into_iter()
        .flatten()
}

/// The example that is not in the folder of the others.
const DEMO: &str = "hello-agent";

/// Returns a text of an example.
fn text(example: &Example, kind: DocumentKind) -> &'static str {
    example.text(kind, &[], |file| {
        let path = match example.folder {
            DEMO => folder().join("../../examples").join(DEMO),
            folder => crate::folder().join(folder),
        };
        let path = path.join(file);
        let text = fs::read_to_string(&path);
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        text.leak()
    })
}

/// Returns the name of an example's agent, which is that of its folder.
fn name(example: &Example) -> &'static str {
    let manifest = text(example, DocumentKind::Manifest);
    let line = manifest.lines().nth(1);
    let name = line.and_then(|line| line.strip_prefix("name: "));
    name.unwrap_or_else(|| panic!("{} names no agent", example.title))
}

fn texts(example: &Example) -> Texts {
    let kinds = DocumentKind::ALL.into_iter();
    kinds.fold(Texts::default(), |texts, kind| {
        texts.with(kind, text(example, kind))
    })
}

fn resolve(manifest: &str, index: &str, lock: &str) -> Verdict {
    verdict_of(
        Texts::default()
            .with(DocumentKind::Manifest, manifest)
            .with(DocumentKind::Index, index)
            .with(DocumentKind::Lock, lock),
    )
}

fn verdict_of(texts: Texts) -> Verdict {
    let answer = Session::default().answer(texts, Request::default());
    answer.verdict.expect("a verdict")
}

fn verdict(example: &Example) -> Verdict {
    verdict_of(texts(example))
}

/// Returns the examples that show a code or a rule: all but the first.
fn problems() -> impl Iterator<Item = &'static Example> {
    examples().filter(|it| !it.code.is_empty())
}

/// Returns the examples with a problem that this module can evaluate.
fn evaluated() -> impl Iterator<Item = &'static Example> {
    let policies = Session::about().policies;
    problems().filter(move |it| policies || text(it, DocumentKind::Policy).is_empty())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")
}

fn named(name: &str) -> &'static Example {
    let mut examples = examples();
    let found = examples.find(|example| crate::name(example) == name);
    found.unwrap_or_else(|| panic!("no example {name}"))
}

/// Returns the codes of the nearest server of an unsatisfied requirement.
fn nearest(requirement: &Requirement) -> Vec<&str> {
    match &requirement.outcome {
        Outcome::Unsatisfied { nearest } => {
            let reasons = nearest.iter().take(1).flat_map(|near| &near.reasons);
            reasons.map(|reason| reason.code.name()).collect()
        }
        Outcome::Selected(_) => Vec::new(),
    }
}

/// Returns every visible code, and the rules that broke a tie.
fn shown(verdict: &Verdict) -> BTreeSet<&str> {
    let mut shown: BTreeSet<&str> = verdict.requirements.iter().flat_map(nearest).collect();
    shown.extend(verdict.diagnostics.iter().map(|found| found.code.name()));
    let drifts = verdict.existing.iter();
    let drifts = drifts.flat_map(|existing| [&existing.changes, &existing.verify]);
    shown.extend(drifts.flatten().flatten().map(|drift| drift.code.name()));
    shown
}

/// Returns the rules that ranked eligible servers lower.
fn lost_on(example: &Example) -> BTreeSet<String> {
    let mut session = Session::default();
    let request = Request {
        eligible: Some(ListRequest {
            requirement: 0,
            limit: 10,
        }),
        ..Request::default()
    };
    let answer = session.answer(texts(example), request);
    let eligible = answer.eligible.expect("it has a server");
    eligible.items.into_iter().map(|one| one.lost_on).collect()
}

#[test]
fn each_shows_its_code() {
    for example in evaluated() {
        let verdict = verdict(example);
        let shown = match example.code {
            "signed" | "version" => lost_on(example).contains(example.code),
            code => shown(&verdict).contains(code),
        };
        assert!(
            shown,
            "{} does not show {}: {verdict:#?}",
            example.title, example.code
        );
    }
}

/// The causes of a code are visible too, but no unrelated problem.
#[test]
fn none_shows_another_problem() {
    for example in evaluated() {
        let along = match example.code {
            "signed" | "version" => vec![],
            code @ ("MISSING_CATEGORY"
            | "MISSING_SCOPE"
            | "RESIDENCY_MISMATCH"
            | "SENSITIVITY_EXCEEDED"
            | "UNSIGNED_NOT_ALLOWED"
            | "HEALTH_VETO"
            | "POLICY_DENIED") => vec![code, "UNSATISFIED"],
            code @ "SERVER_REMOVED" => vec!["SELECTION_CHANGED", code],
            code => vec![code],
        };
        let verdict = verdict(example);
        assert_eq!(
            shown(&verdict),
            BTreeSet::from_iter(along),
            "{}",
            example.title
        );
    }
}

#[test]
fn the_first_one_has_a_server_for_everything_and_no_problem() {
    let verdict = verdict(&START[0]);
    assert_eq!(START[0].code, "");
    assert_eq!(verdict.satisfied, Some(true));
    assert_eq!(verdict.diagnostics, []);
}

#[test]
fn no_two_have_the_same_name_title_or_code() {
    let names: BTreeSet<_> = examples().map(name).collect();
    let titles: BTreeSet<_> = examples().map(|it| it.title).collect();
    assert_eq!([names.len(), titles.len()], [examples().count(); 2]);
    let codes: BTreeSet<_> = problems().map(|it| it.code).collect();
    assert_eq!(codes.len(), problems().count());
}

/// The check of a rejection holds back the last servers of the funnel.
#[test]
fn the_funnel_of_a_rejection_ends_at_its_check() {
    let checks = Session::about().checks;
    // These have no example: the first two are visible in the funnels of the others, and named tools, a label
    // against a tool, hidden text and a policy that fails have their own messages.
    let none = [
        "MISSING_CAPABILITY",
        "CONSTRAINT_UNMET",
        "TOOL_MISSING",
        "FORBIDDEN_ACTION",
        "INVISIBLE_CHARACTER",
        "POLICY_ERROR",
    ];
    for code in checks.iter().filter(|code| !none.contains(&code.name())) {
        let example = examples()
            .find(|example| example.code == code.name())
            .unwrap_or_else(|| panic!("no example of {}", code.name()));
        if !evaluated().any(|evaluated| name(evaluated) == name(example)) {
            continue;
        }
        let verdict = verdict(example);
        assert_eq!(verdict.satisfied, Some(false));
        let without = |it: &&Requirement| matches!(it.outcome, Outcome::Unsatisfied { .. });
        let requirement = verdict.requirements.iter().find(without).unwrap();
        assert!((3..=9).contains(&requirement.all), "{}", example.title);
        let end = requirement.funnel.iter().find(|stage| stage.left == 0);
        assert_eq!(end.map(|stage| stage.code.name()), Some(code.name()));
        assert_eq!(nearest(requirement), [code.name()], "{}", example.title);
    }
}

#[test]
fn each_folder_is_in_the_list_and_the_other_way_round() {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let example = entry.unwrap();
        for file in fs::read_dir(example.path()).unwrap() {
            let (folder, file) = (example.file_name(), file.unwrap().file_name());
            files.insert(format!("{}/{}", folder.display(), file.display()));
        }
    }
    let mut listed = BTreeSet::new();
    for example in examples().filter(|it| name(it) != DEMO) {
        let optional = [
            ("agents.lock", DocumentKind::Lock),
            ("task.yaml", DocumentKind::Task),
            ("tenant.yaml", DocumentKind::Tenant),
            ("health.yaml", DocumentKind::Health),
            ("policy.rego", DocumentKind::Policy),
        ];
        let given = optional.into_iter();
        let given = given.filter(|(_, kind)| !text(example, *kind).is_empty());
        let mut names = vec!["agents.md", "mcp.index.json"];
        names.extend(given.map(|(name, _)| name));
        listed.extend(names.iter().map(|file| format!("{}/{file}", name(example))));
    }
    assert_eq!(files, listed);
}

/// The changes that the texts of the examples suggest remove the problem.
#[test]
fn suggested_changes_help() {
    for (name, changes) in [
        (
            "support-desk",
            &[("category: ticket\n", "category: tickets\n")][..],
        ),
        ("release-notes", &[(", write:releases]", "]")]),
        (
            "payroll-helper",
            &[("residency: eu-only", "residency: us-only")],
        ),
        (
            "deploy-bot",
            &[("requireSigned: true", "requireSigned: false")],
        ),
        ("newsletter", &[("residancy", "residency")]),
        (
            "expense-report",
            &[
                ("\nrequires", "\nversion: 1.0.0\nrequires"),
                ("payments\n", "payments\n      permissions: []\n"),
            ],
        ),
        ("shop-assistant", &[("read:prices\n", "read:prices]\n")]),
        ("weather-brief", &[("Sky Watch\" },", "Sky Watch\" }")]),
        ("data-janitor", &[("      - delete:tables\n", "")]),
        ("data-janitor", &[(", delete:tables]", "]")]),
        ("crm-updater", &[(", write:contacts]", "]")]),
        ("stock-watcher", &[("Shelf Holdings Ltd.", "Shelf Systems")]),
    ] {
        let example = named(name);
        let kinds = [
            DocumentKind::Manifest,
            DocumentKind::Index,
            DocumentKind::Lock,
        ];
        let [mut manifest, mut index, lock] = kinds.map(|kind| text(example, kind).to_owned());
        for (was, is) in changes {
            let found = manifest.matches(was).count() + index.matches(was).count();
            assert_eq!(found, 1, "{name}: {was:?}");
            (manifest, index) = (manifest.replace(was, is), index.replace(was, is));
        }
        let verdict = resolve(&manifest, &index, &lock);
        assert_eq!(verdict.satisfied, Some(true), "{name}: {verdict:#?}");
        assert_eq!(shown(&verdict), BTreeSet::new(), "{name}");
    }
}

/// The same for changes outside the manifest and the index.
#[test]
fn suggested_changes_of_the_evaluation_context_help() {
    let investigator = named("domain-investigator");
    let before = text(investigator, DocumentKind::Health);
    let health = before.replace("UNHEALTHY", "HEALTHY");
    assert_ne!(health, before);
    let healthy = texts(investigator).with(DocumentKind::Health, health);
    assert_eq!(verdict_of(healthy).satisfied, Some(true));

    let finder = named("paper-finder");
    let gold = text(finder, DocumentKind::Tenant).replace("silver", "gold");
    assert_eq!(
        verdict_of(texts(finder).with(DocumentKind::Tenant, gold)).satisfied,
        Some(Session::about().policies),
        "a module without an evaluator allows nothing"
    );
}

fn selected(verdict: &Verdict) -> Vec<String> {
    let requirements = verdict.requirements.iter();
    requirements
        .filter_map(|requirement| match &requirement.outcome {
            Outcome::Selected(it) => Some(format!("{}@{}", it.server.id, it.server.version)),
            Outcome::Unsatisfied { .. } => None,
        })
        .collect()
}

/// If the example announces another server after a change, it is another one.
#[test]
fn suggested_changes_select_another_server() {
    let newsletter = named("newsletter");
    assert_eq!(selected(&verdict(newsletter)), [""; 0]);
    let corrected = text(newsletter, DocumentKind::Manifest).replace("residancy", "residency");
    assert_eq!(
        selected(&resolve(
            &corrected,
            text(newsletter, DocumentKind::Index),
            ""
        )),
        ["leser@2.3.0"]
    );

    let notes = named("meeting-notes");
    assert_eq!(selected(&verdict(notes)), ["clear-minutes@3.0.0"]);
    let (before, after) = text(notes, DocumentKind::Index)
        .split_once("Clear Minutes")
        .unwrap();
    let (before, _) = before.rsplit_once("true").unwrap();
    let unsigned = format!("{before}false, \"publisher\": \"Clear Minutes{after}");
    assert_eq!(
        selected(&resolve(text(notes, DocumentKind::Manifest), &unsigned, "")),
        ["verbatim@5.2.0"]
    );

    let translator = named("translator");
    assert_eq!(selected(&verdict(translator)), ["polyglot@10.0.0"]);
}
