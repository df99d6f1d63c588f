//! Safe fixes mend slips and nothing else: a plan that is rightly denied stays denied, whatever
//! slip is mended in it.

use super::case::Documents;
use super::{errors, mended_by, question};
use agent_tests::corpus::{Failures, corpus};

/// A change of one document of the base: its file, a text that occurs there, and its replacement.
type Change = (&'static str, &'static str, &'static str);

/// Changes after which the plan is rightly denied: every word in them is known and legal, so only a person
/// may replace it.
const DENIED: [Change; 17] = [
    (
        "plan.json",
        "\"tool_id\": \"list\"",
        "\"tool_id\": \"delete\"",
    ),
    (
        "plan.json",
        "\"request_id\": \"hello-1\"",
        "\"request_id\": \"hello-2\"",
    ),
    (
        "plan.json",
        "\"pool_version\": \"1.0.0\"",
        "\"pool_version\": \"1.0.1\"",
    ),
    ("plan.json", "\"limit\": 2", "\"limit\": 200"),
    ("plan.json", "\"limit\": 2", "\"everyone\": true"),
    (
        "plan.json",
        "env.mova_agent_plan_v1",
        "env.mova_agent_plan_v2",
    ),
    (
        "profile.json",
        "\"status\": \"active\"",
        "\"status\": \"draft\"",
    ),
    (
        "profile.json",
        "\"effect\": \"allow\"",
        "\"effect\": \"deny\"",
    ),
    (
        "profile.json",
        "\"effect\": \"allow\"",
        "\"effect\": \"warn\"",
    ),
    ("profile.json", "\"max_steps\": 4", "\"max_steps\": 1"),
    (
        "profile.json",
        "\"max_timeout_ms\": 10000",
        "\"max_timeout_ms\": 10",
    ),
    (
        "profile.json",
        "connector_acme:audiences/list",
        "connector_acme:audiences/lists",
    ),
    ("profile.json", "\"max_steps\": 4", "\"max_retries\": 4"),
    (
        "tool-pool.json",
        "https://mcp.acme.example",
        "https://mcp.acme.exmple",
    ),
    (
        "tool-pool.json",
        "\"server_version\": \"2.1.0\"",
        "\"server_version\": \"2.0.0\"",
    ),
    ("tool-pool.json", "\"maximum\": 100", "\"maximum\": 1"),
    (
        "tool-pool.json",
        "\"tool\": \"list_audiences\"",
        "\"tool\": \"delete_audience\"",
    ),
];

/// Slips that are mended to what the base has.
const SLIPS: [Change; 22] = [
    (
        "plan.json",
        "\"input\": { \"limit\"",
        "\"args\": { \"limit\"",
    ),
    ("plan.json", "\"step_id\": \"keep\"", "\"id\": \"keep\""),
    (
        "plan.json",
        "\"instruction_profile_ref\"",
        "\"profile_ref\"",
    ),
    (
        "tool-pool.json",
        "\"driver_kind\": \"mcp_proxy\"",
        "\"driver_kind\": \"mcp\"",
    ),
    (
        "tool-pool.json",
        "\"server\": \"acme-audiences\"",
        "\"server_id\": \"acme-audiences\"",
    ),
    (
        "request.json",
        "\"pool_id\": \"hello-plans\"",
        "\"pool_id\": \"hello-plan\"",
    ),
    ("plan.json", "\"envelope_id\"", "\"envelopeId\""),
    ("plan.json", "\"verb\": \"create\"", "\"verb\": \"Create\""),
    ("plan.json", "\"input_from\"", "\"input_form\""),
    ("plan.json", "\"/audiences\"", "\"$.audiences\""),
    (
        "plan.json",
        "\"tool_id\": \"keep\"",
        "\"tool_id\": \"keeep\"",
    ),
    ("plan.json", "connector_core:noop", "connector_core/noop"),
    (
        "plan.json",
        "\"step\": \"list\"",
        "\"step\": \"li\u{200b}st\"",
    ),
    (
        "tool-pool.json",
        "\"driver_kind\": \"noop\"",
        "\"driver_kind\": \"no-op\"",
    ),
    (
        "tool-pool.json",
        "\"destinations\": [\"https://reports.example\"]",
        "\"destinations\": \"https://reports.example\"",
    ),
    (
        "tool-pool.json",
        "\"server\": \"acme-audiences\"",
        "\"server\": \"acme_audiences\"",
    ),
    (
        "tool-pool.json",
        "\"timeout_ms\": 1000",
        "\"timeout_ms\": \"1000\"",
    ),
    (
        "tool-pool.json",
        "\"output_schema_ref\": \"urn:example:audiences\"",
        "\"output_schema_ref\": \"urn:example:audience\"",
    ),
    ("profile.json", "\"caps\"", "\"cap\""),
    (
        "profile.json",
        "\"effect\": \"deny\"",
        "\"effect\": \"denied\"",
    ),
    (
        "profile.json",
        "\"kind\": \"tool\", \"selector\": \"connector_acme:audiences/delete\"",
        "\"kind\": \"Tool\", \"selector\": \"connector_acme:audiences/delete\"",
    ),
    ("request.json", "\"goal\"", "\"goals\""),
];

/// Returns documents after a change, or `None` if its text does not occur.
fn changed(documents: &Documents, (file, old, new): Change) -> Option<Documents> {
    let text = std::str::from_utf8(&documents[file]).expect("UTF-8");
    let mut documents = documents.clone();
    let replaced = text.contains(old).then(|| text.replacen(old, new, 1))?;
    documents.insert(file.to_owned(), replaced.into_bytes());
    Some(documents)
}

/// Returns the documents after every safe fix, and whether the plan may run then.
fn mend(documents: &Documents) -> (Documents, bool) {
    const ASK: &str = "plan check";
    let found = question::ask(ASK, documents, None);
    let mended = mended_by(documents, found, false, &|it| question::ask(ASK, it, None));
    let found = question::ask(ASK, &mended, None);
    let may_run = errors(&found).is_empty();
    (mended, may_run)
}

fn base() -> Documents {
    let folder = corpus().join("broken/base/plans");
    let files = std::fs::read_dir(folder).expect("a folder");
    let files = files.map(|file| {
        let path = file.expect("a file").path();
        let name = path.file_name().and_then(|it| it.to_str()).expect("a name");
        (name.to_owned(), std::fs::read(&path).expect("a file"))
    });
    files.collect()
}

#[test]
fn slips_are_mended_to_the_base() {
    let base = base();
    let mut failures = Failures::default();
    for slip in SLIPS {
        let broken = changed(&base, slip).expect("a text of the base");
        let found = question::ask("plan check", &broken, None);
        if errors(&found).len() != 1 {
            failures.add(slip.2, format!("{} errors", errors(&found).len()));
        }
        if mend(&broken) != (base.clone(), true) {
            failures.add(slip.2, "is not mended to the base");
        }
    }
    failures.finish();
}

#[test]
fn a_plan_that_is_rightly_denied_stays_denied() {
    let base = base();
    let mut failures = Failures::default();
    for denied in DENIED {
        let goal = changed(&base, denied).expect("a text of the base");
        let (mended, may_run) = mend(&goal);
        if may_run || mended != goal {
            failures.add(denied.2, format!("is changed, and may run: {may_run}"));
        }
        // The slip alone is mended, and nothing else.
        for slip in SLIPS {
            let Some(broken) = changed(&goal, slip) else {
                continue;
            };
            let (mended, may_run) = mend(&broken);
            let kept = mended[denied.0].windows(denied.2.len());
            let mut kept = kept.filter(|it| *it == denied.2.as_bytes());
            if may_run || kept.next().is_none() {
                failures.add(denied.2, format!("with {}: may run: {may_run}", slip.2));
            }
        }
    }
    failures.finish();
}

/// Returns the base after changes.
fn after(changes: &[Change]) -> Documents {
    let mut documents = base();
    for change in changes {
        documents = changed(&documents, *change).expect("a text of the base");
    }
    documents
}

/// Returns the messages and the help of each error of a plan.
fn told(documents: &Documents) -> Vec<String> {
    let found = question::ask("plan check", documents, None);
    let words = errors(&found).into_iter().map(|it| {
        let titles = it.fixes.iter().map(|fix| format!("; {}", fix.title));
        it.message.clone() + &titles.collect::<String>()
    });
    words.collect()
}

#[test]
fn a_step_that_two_earlier_ones_need_is_moved_once() {
    const KEEP: &str = "\"connector_id\": \"connector_core:noop\", \"tool_id\": \"keep\"";
    let from = format!("{KEEP}, \"input_from\": {{ \"step\": \"c\", \"pointer\": \"\" }}");
    let steps = [
        ("a", &from),
        ("b", &from),
        ("c", &format!("{KEEP}, \"input\": 1")),
    ];
    let steps = steps.map(|(name, rest)| format!("{{ \"step_id\": \"{name}\", {rest} }}"));
    let mut documents = base();
    let text = String::from_utf8(documents["plan.json"].clone()).expect("UTF-8");
    let head = text.split_once("\"steps\"").expect("steps").0;
    let text = format!("{head}\"steps\": [{}]}}}}", steps.join(", "));
    documents.insert("plan.json".to_owned(), text.into_bytes());
    assert_eq!(told(&documents).len(), 2);
    let (mended, may_run) = mend(&documents);
    assert!(may_run);
    let mended = String::from_utf8(mended["plan.json"].clone()).expect("UTF-8");
    let [a, b, c] = &steps;
    assert!(
        mended.ends_with(&format!("[{c}, {a}, {b}]}}}}")),
        "{mended}"
    );
}

#[test]
fn a_limit_of_time_that_is_off_by_1000_is_a_question() {
    for (change, question) in [
        (
            (
                "tool-pool.json",
                "\"timeout_ms\": 5000",
                "\"timeout_ms\": 5000000",
            ),
            "`timeout_ms` counts milliseconds: is 5000 meant?",
        ),
        (
            (
                "profile.json",
                "\"max_timeout_ms\": 10000",
                "\"max_timeout_ms\": 10",
            ),
            "counts milliseconds: is 10000 meant?",
        ),
        (
            ("tool-pool.json", "\"timeout_ms\": 5000", "\"timeout\": 5"),
            "did you mean `timeout_ms`? mind the unit",
        ),
    ] {
        let documents = after(&[change]);
        let told = told(&documents);
        assert!(told.iter().all(|it| it.contains(question)), "{told:#?}");
        assert_eq!(mend(&documents), (documents, false));
    }
}

#[test]
fn a_problem_of_a_binding_is_told_once_for_all_its_steps() {
    let twice: Change = (
        "plan.json",
        "{\n        \"step_id\": \"keep\"",
        "{ \"step_id\": \"again\", \"connector_id\": \"connector_acme:audiences\", \
         \"tool_id\": \"list\", \"input\": {} },\n      {\n        \"step_id\": \"keep\"",
    );
    for (change, words) in [
        (
            (
                "tool-pool.json",
                "\"timeout_ms\": 5000",
                "\"timeout_ms\": 10001",
            ),
            "and the profile allows 10000",
        ),
        (
            (
                "tool-pool.json",
                "\"server\": \"acme-audiences\"",
                "\"server\": \"acme-audience\"",
            ),
            "no server `acme-audience` lists tools",
        ),
    ] {
        let told = told(&after(&[twice, change]));
        let [only] = &told[..] else {
            panic!("{told:#?}");
        };
        assert!(only.contains(words), "{only}");
    }
}

#[test]
fn another_version_of_a_locked_server_is_named() {
    let version = (
        "tool-pool.json",
        "\"server_version\": \"2.1.0\"",
        "\"server_version\": \"2.1\"",
    );
    let told = told(&after(&[version]));
    let [only] = &told[..] else {
        panic!("{told:#?}");
    };
    assert!(only.contains("only in the version `2.1.0`"), "{only}");
}

#[test]
fn no_fix_changes_what_a_rule_allows() {
    let selector = (
        "profile.json",
        "connector_acme:audiences/list",
        "connector_acme:audiences/lst",
    );
    let kind = (
        "profile.json",
        "\"kind\": \"tool\", \"selector\": \"connector_acme:audiences/list\"",
        "\"kind\": \"Tool\", \"selector\": \"*\"",
    );
    for change in [selector, kind] {
        let documents = after(&[change]);
        assert_eq!(mend(&documents), (documents, false), "{}", change.2);
    }
}

#[test]
fn members_of_a_driver_are_not_refused_because_another_one_is_missing() {
    let missing = (
        "tool-pool.json",
        "      \"tool\": \"list_audiences\",\n",
        "",
    );
    let told = told(&after(&[missing]));
    let [only] = &told[..] else {
        panic!("{told:#?}");
    };
    assert!(only.contains("must have the property `tool`"), "{only}");
}
