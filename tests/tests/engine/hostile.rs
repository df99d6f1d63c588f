//! Difficult and hostile inputs: each has a defined answer at a defined place.

use agent_decide::Resolution;
use agent_diagnostic::Problems;
use agent_explain::unsatisfied;
use agent_render::summary;
use agent_tests::corpus::Failures;
use agent_tests::files::{File as _, Match};
use agent_tests::hostile::{Hostile, INDEX, Kind, MANIFEST, cases, replaced};
use agent_tests::inputs::{Given, Inputs};
use agent_tests::native;
use agent_tests::processor_time::ProcessorTime;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// Far more than any answer takes, even on a slow machine in a debug build. Only disproportionate
/// times exceed it.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn hostile_manifests_have_the_answer_that_is_expected_of_them() {
    check(|case| case.kind == Kind::Manifest);
}

#[test]
fn hostile_indexes_have_the_answer_that_is_expected_of_them() {
    check(|case| case.kind == Kind::Index);
}

#[test]
fn hostile_locks_have_the_answer_that_is_expected_of_them() {
    check(|case| case.kind == Kind::Lock);
}

#[test]
fn hostile_evaluation_contexts_have_the_answer_that_is_expected_of_them() {
    check(|case| matches!(case.kind, Kind::Task | Kind::Tenant | Kind::Health));
}

/// 10,000 tools in each of a few servers, and as many rejections, are reported in time.
#[test]
fn many_tools_are_matched_in_time() {
    let tool = |n: usize| {
        let tag = if n.is_multiple_of(2) {
            "readonly"
        } else {
            "pii_safe"
        };
        format!(
            "\"t{n}\": {{\"x-summit-capabilities\": \
             [{{\"verb\": \"read\", \"resource\": \"fs\", \"constraints\": [\"{tag}\"]}}]}}"
        )
    };
    let tools: Vec<_> = (0..10_000).map(tool).collect();
    let tools = format!(
        "\"capabilities\": {{\"tools\": {{{}}}}}, \"data\"",
        tools.join(",")
    );
    let index = String::from_utf8(replaced(INDEX, "\"data\"", tools.as_bytes())).expect("UTF-8");
    let task = "task_id: t\nrequired_capabilities:\n\
                - {verb: read, resource: fs}\n\
                - {verb: read, resource: fs, constraints: [readonly]}\n\
                - {verb: read, resource: fs, constraints: [readonly, pii_safe]}\n";
    let start = ProcessorTime::now();
    let answers = native::under(&Inputs {
        index: index.into_bytes(),
        task: Some(Given::text(task)),
        ..Inputs::default()
    });
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    let found = Match::read(&answers["match.json"]).expect("its type");
    let counts: Vec<_> = found
        .requirements
        .iter()
        .map(|it| {
            (
                it.selected.first().is_some(),
                it.eligible.len(),
                it.rejected.len(),
            )
        })
        .collect();
    assert_eq!(
        counts,
        [(true, 9_999, 0), (true, 4_999, 5_000), (false, 0, 10_000)]
    );
}

/// 20,000 of them were 30 MB.
#[test]
fn unsatisfied_requirements_by_the_thousand_are_counted() {
    let requires: String = (0..5_000)
        .map(|it| format!("    - category: other-{it}\n      permissions: []\n"))
        .collect();
    let manifest = format!("---\nname: a\nversion: 1\nrequires:\n  mcp:\n{requires}---\n");
    let manifest = agent_lower::manifest(manifest.into_bytes()).expect("a manifest");
    let index = agent_lower::index(INDEX.as_bytes().to_vec()).expect("an index");
    let resolution = Resolution::new(Arc::new(manifest.value), Arc::new(index.value));
    let problems = unsatisfied(&resolution);
    assert_eq!(problems.len(), 101);
    assert_eq!(
        problems[100].message,
        "4900 more requirements are not satisfied"
    );
    let text: String = summary(&resolution).into_iter().map(|it| it.text).collect();
    assert!(
        text.ends_with("and 4900 more unsatisfied requirements, which `--format json` lists\n")
    );
    assert!(text.len() < 100_000, "{}", text.len());
}

fn check(these: impl Fn(&Hostile) -> bool) {
    let mut failures = Failures::default();
    let mut count = 0;
    for case in cases().iter().filter(|case| these(case)) {
        count += 1;
        let name = format!("{:?}, {}", case.kind, case.name);
        let bytes = case.bytes();
        let start = ProcessorTime::now();
        let diagnostics = case.diagnostics_of(bytes);
        if start.elapsed() > PATIENCE {
            failures.add(&name, format!("took {:?}", start.elapsed()));
        }
        let found: Vec<_> = diagnostics
            .iter()
            .map(|diagnostic| {
                let start = diagnostic.labels[0].place.start;
                (diagnostic.code, start.line, start.column)
            })
            .collect();
        if found != case.expected {
            let mut text = format!("expected {:?}\n  found    {found:?}", case.expected);
            for diagnostic in diagnostics.iter().take(5) {
                let message: String = diagnostic.message.chars().take(200).collect();
                let _ = write!(text, "\n    {message}");
            }
            failures.add(&name, text);
        }
    }
    assert!(count > 0);
    failures.finish();
}

#[test]
fn a_byte_order_mark_and_crlf_change_no_byte_of_lock_and_resolution() {
    let plain = native::resolve(MANIFEST.as_bytes(), INDEX.as_bytes());
    assert!(plain.contains_key("agents.lock"), "{plain:?}");
    let with = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n")).into_bytes();
    let odd = native::resolve(&with(MANIFEST), &with(INDEX));
    for file in ["agents.lock", "agents.resolution.json", "summary.txt"] {
        assert_eq!(plain[file], odd[file], "{file}");
    }
}

#[test]
fn a_byte_order_mark_shifts_offsets_and_no_column() {
    let broken = MANIFEST.replace("name: a", "name: []");
    let plain = native::validate_manifest(broken.as_bytes());
    let marked = native::validate_manifest(format!("\u{feff}{broken}").as_bytes());
    let shifted = plain["diagnostics.json"]
        .replace("\"offset\": 10,", "\"offset\": 13,")
        .replace("\"endOffset\": 12,", "\"endOffset\": 15,");
    assert_ne!(shifted, plain["diagnostics.json"]);
    assert_eq!(shifted, marked["diagnostics.json"]);
}

#[test]
fn no_more_problems_are_reported_than_anyone_reads() {
    let servers = "1,".repeat(Problems::LIMIT + 1);
    let found = agent_lower::index(format!("[{servers}1]").into_bytes());
    assert_eq!(
        found.expect_err("no server is a number").len(),
        Problems::LIMIT
    );
}

#[test]
fn errors_that_are_no_longer_listed_still_refuse_the_input() {
    // As many warnings as are listed, and then an error.
    let warnings: String = (0..Problems::LIMIT)
        .map(|n| format!("    x{n}: 1\n"))
        .collect();
    let text = MANIFEST.replace(
        "permissions: [s]\n",
        &format!("permissions: [s]\n  y:\n{warnings}"),
    );
    let text = text.replace(
        "---\n",
        &format!("---\nconstraints:\n{}", warnings.replace("    ", "  ")),
    );
    let text = text.replacen("name: a", "name: ''", 1);
    let found = agent_lower::manifest(text.into_bytes());
    assert_eq!(found.expect_err("the name is empty").len(), Problems::LIMIT);
}

/// A lock as large as may be, of so many categories, each selected so many times.
fn large_lock(categories: usize, times: usize, hash: &str) -> Vec<u8> {
    let selections = (0..categories).flat_map(|category| {
        (0..times).map(move |time| {
            format!(
                "{{\"category\":\"c{category:05}\",\"endpoint\":\"pkg:generic/e\",\"hash\":\"{}\",\"id\":\"i{time:05}\",\
                 \"integrity\":\"sha256-{}=\",\"scopes\":[],\"version\":\"1\"}}",
                hash.repeat(64),
                "A".repeat(43)
            )
        })
    });
    let selections: Vec<_> = selections.collect();
    format!(
        "{{\"agent\":{{\"name\":\"a\",\"version\":\"1\"}},\"forbid\":[],\"lockVersion\":1,\"selections\":[{}]}}",
        selections.join(",")
    )
    .into_bytes()
}

#[test]
fn large_locks_are_compared_in_time() {
    for (categories, times) in [(50_000, 1), (1, 50_000)] {
        let read = |hash| {
            let lock = agent_lower::lock(large_lock(categories, times, hash));
            lock.expect("the lock is valid").value
        };
        let (older, newer) = (read("0"), read("1"));
        let start = ProcessorTime::now();
        let drifts = agent_decide::compare(Some(&older), &newer);
        assert_eq!(drifts.drifts().len(), categories * times);
        assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    }
}
