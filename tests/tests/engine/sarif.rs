//! SARIF, judged by what the project did not write: the types of `serde-sarif` and the JSON Schema
//! of the standard, which that crate carries.

use agent_diagnostic::{Applicability, Code, Diagnostic, Edit, Fix};
use agent_render::{File, Format, report};
use agent_tests::corpus::{Failures, cases};
use agent_tests::hostile;
use agent_tests::native;
use agent_text::{DocumentKind, Place, Span, Text};
use jsonschema::Validator;
use serde_json::{Value, json};
use serde_sarif::sarif::Sarif;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

/// The schema of SARIF 2.1.0, from the sources of `serde-sarif`.
fn schema() -> Value {
    let metadata = metadata(&["--offline"]).or_else(|_| metadata(&[]));
    let metadata: Value = serde_json::from_slice(&metadata.expect("cargo metadata")).expect("JSON");
    let package = metadata["packages"].as_array().expect("a list").iter();
    let manifest = package
        .filter(|package| package["name"] == "serde-sarif")
        .find_map(|package| package["manifest_path"].as_str())
        .expect("serde-sarif is a dependency");
    let path = PathBuf::from(manifest)
        .with_file_name("src")
        .join("schema.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    // As published, the pattern of languages has a stray bracket, which is not a regular expression
    // to a strict reader.
    let mended = text.replace("[a-zA-Z]{2}]?$", "[a-zA-Z]{2}$");
    assert_ne!(mended, text);
    serde_json::from_str(&mended).expect("the schema is JSON")
}

/// What cargo says of the packages that are built for this machine: those of others may not have
/// been downloaded.
fn metadata(more: &[&str]) -> Result<Vec<u8>, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--locked"])
        .args(["--filter-platform", env!("AGENT_TARGET"), "--manifest-path"])
        .arg(agent_tests::root().join("Cargo.toml"))
        .args(more)
        .output()
        .expect("cargo runs");
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The SARIF and the JSON view of the same diagnostics, of every case.
fn documents() -> Vec<(String, String, String)> {
    let mut documents = Vec::new();
    let mut add = |name: String, mut answers: native::Answers| {
        let mut take = |view: &str| answers.remove(view).expect("a report");
        documents.push((name, take("diagnostics.sarif"), take("diagnostics.json")));
    };
    for case in cases("drift") {
        if let Some(newer) = case.input("newer.lock") {
            add(
                case.name(),
                native::drift(case.input("older.lock").as_deref(), &newer),
            );
        }
    }
    for area in ["resolve", "validate", "views"] {
        for case in cases(area) {
            match (case.input("agents.md"), case.input("mcp.index.json")) {
                (Some(manifest), Some(index)) => {
                    add(case.name(), native::resolve(&manifest, &index))
                }
                (Some(manifest), None) => add(case.name(), native::validate_manifest(&manifest)),
                (None, Some(index)) => add(case.name(), native::validate_index(&index)),
                (None, None) => {
                    if let Some(lock) = case.input("agents.lock") {
                        add(case.name(), native::validate_lock(&lock));
                    }
                }
            }
        }
    }
    for case in hostile::cases() {
        // The largest ones add time and nothing else.
        let diagnostics = if case.name.contains("as large as") {
            Vec::new()
        } else {
            case.diagnostics()
        };
        let name = format!("{:?}, {}", case.kind, case.name);
        let render = |format| report(format, &diagnostics, &[]);
        documents.push((name, render(Format::Sarif), render(Format::Json)));
    }
    documents
}

#[test]
fn sarif_is_valid_by_the_schema_of_the_standard_and_says_what_the_json_view_says() {
    let validator = jsonschema::validator_for(&schema()).expect("the schema is one");
    let mut failures = Failures::default();
    let (mut results, mut placed) = (0, None);
    for (name, text, json) in documents() {
        let value: Value = serde_json::from_str(&text).expect("JSON");
        for error in validator.iter_errors(&value) {
            failures.add(&name, format!("{} at {}", error, error.instance_path()));
        }
        let sarif = match serde_json::from_str::<Sarif>(&text) {
            Ok(sarif) => sarif,
            Err(error) => {
                failures.add(&name, error.to_string());
                continue;
            }
        };
        results += compare(&name, &sarif, &json, &mut failures);
        if placed.is_none() && text.contains(PLACED) {
            placed = Some(text);
        }
    }
    failures.finish();
    assert!(results > 200, "{results} results");
    the_validator_finds_what_is_wrong(&validator, &placed.expect("a result with a place"));
}

/// A member of a result with a place.
const PLACED: &str = "\"startLine\": 1\n";

fn the_validator_finds_what_is_wrong(validator: &Validator, sarif: &str) {
    for (old, new) in [
        (PLACED, "\"startLine\": 0\n"),
        ("\"version\": \"2.1.0\"", "\"version\": \"2.0\""),
        ("\"level\": \"error\"", "\"level\": \"fatal\""),
        ("\"runs\"", "\"ran\""),
    ] {
        let broken = sarif.replace(old, new);
        assert_ne!(broken, sarif, "{old}");
        assert!(
            !validator.is_valid(&serde_json::from_str(&broken).expect("JSON")),
            "{new}"
        );
    }
}

/// Compares SARIF with the JSON view of the same diagnostics. Returns the number of results.
fn compare(name: &str, sarif: &Sarif, json: &str, failures: &mut Failures) -> usize {
    let run = &sarif.runs[0];
    let rules = run.tool.driver.rules.clone().unwrap_or_default();
    assert_eq!(rules.len(), Code::ALL.len(), "every code is a rule");
    let results = run.results.clone().unwrap_or_default();
    let json: Value = serde_json::from_str(json).expect("JSON");
    let diagnostics = json["diagnostics"].as_array().expect("a list");
    if diagnostics.len() != results.len() {
        failures.add(
            name,
            format!("{} of {} results", results.len(), diagnostics.len()),
        );
    }
    for (diagnostic, result) in diagnostics.iter().zip(&results) {
        let code = diagnostic["code"].as_str().expect("a code");
        let rule = result
            .rule_index
            .and_then(|index| rules.get(usize::try_from(index).ok()?));
        let places = |labels: &[Value]| -> Vec<Value> {
            labels
                .iter()
                .map(|label| region_of(&label["place"]))
                .collect()
        };
        let labels = diagnostic["labels"].as_array().expect("a list");
        let sarif = serde_json::to_value(result).expect("JSON");
        let regions: Vec<_> = ["locations", "relatedLocations"]
            .iter()
            .filter_map(|key| sarif[key].as_array())
            .flatten()
            .map(|location| location["physicalLocation"]["region"].clone())
            .collect();
        let message = sarif["message"]["text"].as_str().unwrap_or_default();
        let fits = result.rule_id.as_deref() == Some(code)
            && rule.is_some_and(|rule| rule.id == code)
            && sarif["level"] == diagnostic["severity"]
            && message.starts_with(diagnostic["message"].as_str().unwrap_or("?"))
            && diagnostic["help"]
                .as_array()
                .expect("a list")
                .iter()
                .all(|help| message.contains(help.as_str().expect("a string")))
            && regions == places(labels);
        if !fits {
            failures.add(name, format!("{diagnostic:#}\n{sarif:#}"));
        }
    }
    results.len()
}

/// The region of SARIF for a place of the JSON view.
fn region_of(place: &Value) -> Value {
    let number = |key: &str| place[key].as_u64().expect("a number");
    serde_json::json!({
        "byteLength": number("endOffset") - number("offset"),
        "byteOffset": number("offset"),
        "endColumn": number("endColumn"),
        "endLine": number("endLine"),
        "startColumn": number("column"),
        "startLine": number("line"),
    })
}

/// A diagnostic of one character, in a text of that name.
fn pointing(source: DocumentKind) -> Diagnostic {
    let text = Text::new(source, "a\nbc\n".to_owned());
    let place: Place = text.place(Span::new(2, 3));
    Diagnostic::new(Code::UnknownKey, "100% odd: a,b\r\nc").label(place, "")
}

#[test]
fn every_view_has_the_fixes_of_a_diagnostic() {
    let mut diagnostic = pointing(DocumentKind::Index).help("think");
    let place = diagnostic.labels[0].place;
    diagnostic.reason = Some(Code::WrongType);
    diagnostic.rule = Some("a rule".to_owned());
    diagnostic.notes.push("a fact".to_owned());
    diagnostic.fixes.push(Fix {
        title: "write `d`".to_owned(),
        applicability: Applicability::Safe,
        edits: vec![Edit {
            place,
            replacement: "d".to_owned(),
        }],
    });
    let json = report(Format::Json, &[diagnostic.clone()], &[]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let json = &json["diagnostics"][0];
    assert_eq!(json["help"], json!(["think", "write `d`"]));
    assert_eq!(json["notes"], json!(["a fact"]));
    assert_eq!(json["reason"], "WRONG_TYPE");
    assert_eq!(json["rule"], "a rule");
    let fixes = json["fixes"].as_array().expect("fixes");
    assert_eq!(fixes.len(), 1, "only what can be applied: {fixes:?}");
    assert_eq!(fixes[0]["applicability"], "safe");
    assert_eq!(fixes[0]["edits"][0]["place"]["offset"], 2);
    assert_eq!(fixes[0]["edits"][0]["replacement"], "d");

    let sarif = report(Format::Sarif, &[diagnostic.clone()], &[]);
    let sarif: Sarif = serde_json::from_str(&sarif).expect("SARIF");
    let result = &sarif.runs[0].results.as_ref().expect("results")[0];
    let fix = &result.fixes.as_ref().expect("fixes")[0];
    let replacement = &fix.artifact_changes[0].replacements[0];
    assert_eq!(replacement.deleted_region.byte_offset, Some(2));
    let inserted = replacement.inserted_content.as_ref().expect("a text");
    assert_eq!(inserted.text.as_deref(), Some("d"));

    let github = report(Format::Github, &[diagnostic], &[]);
    let told = "reason: WRONG_TYPE%0Arule: a rule%0Anote: a fact%0Ahelp: think%0Ahelp: write `d`";
    assert!(github.contains(told), "{github}");
}

#[test]
fn paths_become_uris_that_mean_the_same() {
    let uri = |path: &str| {
        let files = [File {
            source: DocumentKind::Index,
            number: 0,
            path: path.to_owned(),
        }];
        let sarif = report(Format::Sarif, &[pointing(DocumentKind::Index)], &files);
        let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
        let location = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        location["artifactLocation"]["uri"]
            .as_str()
            .expect("a URI")
            .to_owned()
    };
    assert_eq!(uri("a/b.json"), "a/b.json");
    assert_eq!(uri("a b/ü#?.json"), "a%20b/%C3%BC%23%3F.json");
    assert_eq!(uri("/tmp/a.json"), "file:///tmp/a.json");
    assert_eq!(uri("100%.json"), "100%25.json");
    // No scheme may be seen in a relative path.
    assert_eq!(uri("a:b.json"), "a%3Ab.json");
}

#[test]
fn github_commands_can_not_be_broken_out_of() {
    let files = [File {
        source: DocumentKind::Manifest,
        number: 0,
        path: "a,b:c%\n.md".to_owned(),
    }];
    assert_eq!(
        report(Format::Github, &[pointing(DocumentKind::Manifest)], &files),
        "::error file=a%2Cb%3Ac%25%0A.md,line=2,endLine=2,col=1,endColumn=2,title=UNKNOWN_KEY::\
         100%25 odd: a,b%0D%0Ac\n"
    );
}

#[test]
fn a_diagnostic_without_a_place_is_valid_sarif_too() {
    let placeless = Diagnostic {
        code: Code::ExplanationTooLarge,
        labels: Vec::new(),
        ..pointing(DocumentKind::Manifest)
    };
    let validator = jsonschema::validator_for(&schema()).expect("the schema is one");
    let sarif = report(Format::Sarif, &[placeless], &[]);
    assert!(validator.is_valid(&serde_json::from_str(&sarif).expect("JSON")));
}
