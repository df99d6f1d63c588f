//! The cases in `tests/corpus`: what is expected stands beside the inputs.
//!
//! | area | inputs | expected |
//! |---|---|---|
//! | `resolve` | `agents.md`, `mcp.index.json` | lock, resolution, summary, and the diagnostics where there are any |
//! | `validate` | one of `agents.md`, `mcp.index.json`, `agents.lock`, `compact.json` | its diagnostics |
//! | `drift` | `newer.lock` and perhaps `older.lock`; or `agents.lock` and `mcp.index.json` | the named differences |
//! | `views` | `agents.md`, `mcp.index.json` | every view whole |
//!
//! A SARIF document lists every rule, so that whole ones are in `views` only; elsewhere its
//! results are kept, which is the part that depends on the case.

use agent_engine::diagnostic::Code;
use agent_tests::corpus::{Case, Failures, answer, cases};
use agent_tests::native::{self, Answers};
use agent_tests::{hostile, root};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

const MANIFEST: &str = "agents.md";
const INDEX: &str = "mcp.index.json";
const LOCK: &str = "agents.lock";
const COMPACT: &str = "compact.json";
const RESOLUTION: &str = "agents.resolution.json";
const DIAGNOSTICS: &str = "diagnostics.json";

#[test]
fn corpus_of_resolutions() {
    let mut failures = Failures::default();
    for case in cases("resolve") {
        let answers = resolved(&case);
        let locked = answers.contains_key(LOCK);
        if locked != case.accepted() {
            failures.add(&case.name(), format!("a lock: {locked}"));
        }
        let mut expected = Vec::new();
        for file in [LOCK, RESOLUTION, "summary.txt"] {
            expected.extend(answers.get(file).map(|text| (file, &**text)));
        }
        let results = sarif_results(&answers);
        if results != "[]\n" {
            expected.push((DIAGNOSTICS, answer(&answers, DIAGNOSTICS)));
            expected.push(("sarif-results.json", &results));
        }
        case.check(&[MANIFEST, INDEX], &expected, &mut failures);
    }
    failures.finish();
}

#[test]
fn corpus_of_validations() {
    let mut failures = Failures::default();
    for case in cases("validate") {
        let (input, answers) = validated(&case);
        let diagnostics = answer(&answers, DIAGNOSTICS);
        let valid = diagnostics.ends_with("\"valid\": true\n}\n");
        if valid != case.accepted() {
            failures.add(&case.name(), format!("valid: {valid}\n{diagnostics}"));
        }
        case.check(&[input], &[(DIAGNOSTICS, diagnostics)], &mut failures);
    }
    failures.finish();
}

#[test]
fn corpus_of_drifts() {
    let mut failures = Failures::default();
    for case in cases("drift") {
        let (inputs, answers) = drifted(&case);
        let expected = ["drifts.json", "drifts.txt"].map(|file| (file, answer(&answers, file)));
        case.check(&inputs, &expected, &mut failures);
    }
    failures.finish();
}

#[test]
fn corpus_of_views() {
    let mut failures = Failures::default();
    for case in cases("views") {
        let answers = resolved(&case);
        let expected: Vec<_> = answers
            .iter()
            // What somebody may ask about, and nobody can name a file so.
            .filter(|(file, _)| !file.starts_with("why ") || is_plain(file))
            // The parts of the texts tell of colours only.
            .filter(|(file, _)| !file.ends_with(".styled") || file.starts_with("summary"))
            .filter(|(file, _)| !file.starts_with("did you mean"))
            // The same as `agents.resolution.json`, which a property says.
            .filter(|(file, _)| *file != "expanded.json")
            .map(|(file, text)| (&**file, &**text))
            .collect();
        case.check(&[MANIFEST, INDEX], &expected, &mut failures);
    }
    failures.finish();
}

/// Every code is the answer to some case, in a file or made in code, and has a page.
#[test]
fn corpus_has_a_case_and_the_documentation_a_page_for_each_code() {
    let mut answered = BTreeSet::new();
    for area in ["resolve", "validate", "drift"] {
        for case in cases(area) {
            let answers = match area {
                "resolve" => resolved(&case),
                "validate" => validated(&case).1,
                _ => drifted(&case).1,
            };
            for file in [DIAGNOSTICS, RESOLUTION, "drifts.json"] {
                if let Some(text) = answers.get(file) {
                    collect_codes(&serde_json::from_str(text).expect("JSON"), &mut answered);
                }
            }
        }
    }
    // `hostile.rs` tests that these are given, and where.
    let hostile = hostile::cases();
    let hostile = hostile.iter().flat_map(|case| &case.expected);
    answered.extend(hostile.map(|(code, _, _)| code.name().to_owned()));
    // `specification.rs` tests this one, with an explanation of more than 256 MiB.
    answered.insert(Code::ExplanationTooLarge.name().to_owned());

    let mut failures = Failures::default();
    for code in Code::ALL {
        if !answered.remove(code.name()) {
            failures.add(code.name(), "no case has this code");
        }
        let page = root().join(format!("docs/reference/codes/{}.md", code.name()));
        let text = fs::read_to_string(&page).unwrap_or_default();
        if text.lines().next() != Some(&*format!("# {}", code.name())) {
            failures.add(code.name(), format!("no page {}", page.display()));
        }
    }
    for code in answered {
        failures.add(&code, "a code that is not in the catalogue");
    }
    failures.finish();
}

#[test]
fn the_example_is_a_case_as_it_stands() {
    let case = cases("views")
        .into_iter()
        .find(|case| case.name() == "views/hello-agent");
    let case = case.expect("views/hello-agent");
    for file in [MANIFEST, INDEX] {
        let example = root().join("examples/hello-agent").join(file);
        let example = fs::read(&example).expect("an example");
        assert!(
            given(&case, file) == example,
            "{file} of the example and of the case differ"
        );
    }
}

fn given(case: &Case, file: &str) -> Vec<u8> {
    case.input(file)
        .unwrap_or_else(|| panic!("{} has no {file}", case.name()))
}

fn resolved(case: &Case) -> Answers {
    native::resolve(&given(case, MANIFEST), &given(case, INDEX))
}

/// The one input of a case, and what is said about it.
fn validated(case: &Case) -> (&'static str, Answers) {
    let mut inputs = [MANIFEST, INDEX, LOCK, COMPACT]
        .into_iter()
        .filter_map(|file| Some((file, case.input(file)?)));
    let (Some((input, bytes)), None) = (inputs.next(), inputs.next()) else {
        panic!("{} has not one input", case.name());
    };
    let answers = match input {
        MANIFEST => native::validate_manifest(&bytes),
        INDEX => native::validate_index(&bytes),
        LOCK => native::validate_lock(&bytes),
        _ => {
            let mut answers = native::expand(&bytes);
            let valid = || "{\n  \"diagnostics\": [],\n  \"valid\": true\n}\n".to_owned();
            answers.entry(DIAGNOSTICS.to_owned()).or_insert_with(valid);
            answers
        }
    };
    (input, answers)
}

/// The inputs of a case, and the differences that it is about.
fn drifted(case: &Case) -> ([&'static str; 2], Answers) {
    match case.input("newer.lock") {
        Some(newer) => {
            let answers = native::drift(case.input("older.lock").as_deref(), &newer);
            (["older.lock", "newer.lock"], answers)
        }
        None => {
            let answers = native::verified(&given(case, LOCK), &given(case, INDEX));
            ([LOCK, INDEX], answers)
        }
    }
}

/// The results of the SARIF document, without the rules.
fn sarif_results(answers: &Answers) -> String {
    let sarif: Value = serde_json::from_str(answer(answers, "diagnostics.sarif")).expect("JSON");
    format!("{:#}\n", sarif["runs"][0]["results"])
}

fn collect_codes(value: &Value, codes: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            codes.extend(
                members
                    .get("code")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            );
            members
                .values()
                .for_each(|value| collect_codes(value, codes));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_codes(item, codes)),
        _ => {}
    }
}

/// Whether a name is one that every file system takes.
fn is_plain(name: &str) -> bool {
    name.chars()
        .all(|c| c.is_ascii_alphanumeric() || " .-_@".contains(c))
}
