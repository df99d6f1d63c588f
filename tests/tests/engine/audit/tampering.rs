//! Evidence that was changed: each change by its name, with the code and the place of the problem.

use super::super::run::with_pool;
use super::{Files, completed, denied, files_of, found, three_steps};
use agent_diagnostic::Code;
use agent_run::{index_line, summary_digest};
use agent_tests::corpus::Failures;
use agent_tests::digest::digest;
use agent_tests::run::{behave, options, run};
use serde_json::{Value, json};

const INDEX: &str = "episodes/index.jsonl";
const SUMMARY: &str = "run_summary.json";

fn text(files: &Files, path: &str) -> String {
    String::from_utf8(files[path].clone()).expect("UTF-8")
}

fn value(files: &Files, path: &str) -> Value {
    serde_json::from_slice(&files[path]).expect("JSON")
}

fn store(files: &mut Files, path: &str, value: &Value) {
    let text = serde_json::to_string_pretty(value).expect("JSON") + "\n";
    files.insert(path.to_owned(), text.into_bytes());
}

fn edit(files: &mut Files, path: &str, change: impl FnOnce(&mut Value)) {
    let mut root = value(files, path);
    change(&mut root);
    store(files, path, &root);
}

/// Returns the path of the episode of a number, from 1.
fn episode(files: &Files, number: usize) -> String {
    let prefix = format!("episodes/{number:06}-");
    let mut paths = files.keys().filter(|it| it.starts_with(&prefix));
    paths.next().expect("an episode").clone()
}

/// Returns the path of the first episode whose details have some members.
fn having(files: &Files, members: &Value) -> String {
    let of = |path: &&String| {
        path.ends_with(".json") && path.starts_with("episodes/") && {
            let details = &value(files, path)["result_details"];
            let members = members.as_object().expect("members").iter();
            members
                .into_iter()
                .all(|(key, value)| details[key] == *value)
        }
    };
    files.keys().find(of).expect("an episode").clone()
}

fn step(files: &Files, id: &str) -> String {
    having(files, &json!({ "record": "step", "step_id": id }))
}

fn run_episode(files: &Files) -> String {
    having(files, &json!({ "record": "run" }))
}

fn lines(files: &Files) -> Vec<String> {
    text(files, INDEX).lines().map(str::to_owned).collect()
}

fn set_lines(files: &mut Files, lines: &[String]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    files.insert(INDEX.to_owned(), text.into_bytes());
}

/// Writes the chain anew over changed files, as a forger does who knows the format. `ids` are the
/// episodes, in order.
fn rechain(files: &mut Files, ids: &[String]) {
    rechain_over(files, ids, |summary| {
        summary_digest(summary).expect("a chain")
    });
}

/// As [`rechain`], with the digest of the summary that the last episode gets.
fn rechain_over(files: &mut Files, ids: &[String], summary_digest: fn(&str) -> String) {
    let mut covering = std::collections::BTreeMap::new();
    for id in ids {
        let path = format!("episodes/{id}.json");
        let episode = value(files, &path);
        let covered = episode["meta_episode"]["files"].as_array().cloned();
        for (place, file) in covered.unwrap_or_default().iter().enumerate() {
            let name = file["name"].as_str().expect("a path").to_owned();
            covering.insert(name, (path.clone(), place));
        }
    }
    for (name, (path, place)) in covering {
        let Some(content) = files.get(&name) else {
            continue;
        };
        let content = String::from_utf8_lossy(content).into_owned();
        edit(files, &path, |episode| {
            let file = &mut episode["meta_episode"]["files"][place];
            file["bytes"] = content.len().into();
            file["digest"] = digest(&content).into();
        });
    }
    let covered = summary_digest(&text(files, SUMMARY));
    for id in ids {
        let path = format!("episodes/{id}.json");
        if value(files, &path)["result_details"]["record"] == "run" {
            edit(files, &path, |it| {
                it["result_details"]["summary"] = covered.clone().into();
            });
        }
    }
    let mut head: Option<String> = None;
    let mut lines = Vec::new();
    for id in ids {
        let content = text(files, &format!("episodes/{id}.json"));
        let episode: Value = serde_json::from_str(&content).expect("JSON");
        let kind = episode["episode_type"].as_str().expect("a type");
        let line = index_line(&digest(&content), id, kind, head.as_deref());
        head = Some(digest(&line));
        lines.push(line);
    }
    edit(files, SUMMARY, |summary| {
        summary["chain"] = json!({ "episodes": lines.len(), "head": head });
    });
    set_lines(files, &lines);
}

fn ids(files: &Files) -> Vec<String> {
    let parse = |line: String| -> Value { serde_json::from_str(&line).expect("JSON") };
    let ids = lines(files).into_iter().map(parse);
    ids.map(|it| it["episode_id"].as_str().expect("an id").to_owned())
        .collect()
}

/// A change, and the problem that it must be reported as: code, path, and text at the place.
struct Change {
    name: &'static str,
    apply: fn(&mut Files),
    code: Code,
    path: fn(&Files) -> String,
    at: &'static str,
}

macro_rules! changes {
    ($($name:literal $code:ident in $path:expr, $at:literal: $apply:expr;)*) => {
        vec![$(Change { name: $name, apply: $apply, code: Code::$code, path: $path, at: $at },)*]
    };
}

fn replace(files: &mut Files, path: &str, from: &str, to: &str) {
    let before = text(files, path);
    let after = before.replacen(from, to, 1);
    assert_ne!(before, after, "{path} has no {from}");
    files.insert(path.to_owned(), after.into_bytes());
}

/// Changes of a forger who leaves the chain as it is.
fn careless() -> Vec<Change> {
    changes! {
        "a byte of the plan" EvidenceChanged in |_| "plan.envelope.json".into(), "":
            |files| replace(files, "plan.envelope.json", "a-model", "b-model");
        "a blank in the pool" EvidenceChanged in |_| "tool_pool.json".into(), "":
            |files| files.get_mut("tool_pool.json").unwrap().push(b' ');
        "another profile" EvidenceChanged in |_| "instruction_profile.json".into(), "":
            |files| edit(files, "instruction_profile.json", |it| it["status"] = "draft".into());
        "another request" EvidenceChanged in |_| "request.envelope.json".into(), "":
            |files| { files.insert("request.envelope.json".into(), b"{}\n".to_vec()); };
        "a report without its problems" EvidenceChanged in |_| "validation_report.json".into(), "":
            |files| edit(files, "validation_report.json", |it| it["obligations"] = json!([]));
        "a log" EvidenceChanged in |_| "logs/report.log".into(), "":
            |files| files.get_mut("logs/report.log").unwrap().push(b'x');
        "an episode" EvidenceChanged in |files| step(files, "rename"), "":
            |files| { let path = step(files, "rename"); replace(files, &path, "terminal", "nobody!!"); };
        "a blank at the end of an episode" EvidenceChanged in |files| episode(files, 3), "":
            |files| { let path = episode(files, 3); files.get_mut(&path).unwrap().push(b'\n'); };
        "the status of the summary" EvidenceChanged in |_| SUMMARY.into(), "":
            |files| replace(files, SUMMARY, "\"status\": \"completed\"", "\"status\": \"cancelled\"");
        "a blank in the summary" EvidenceChanged in |_| SUMMARY.into(), "":
            |files| replace(files, SUMMARY, "\"verb\": ", "\"verb\":  ");
        "the chain in one line" EvidenceChanged in |_| SUMMARY.into(), "":
            |files| replace(files, SUMMARY, "\"chain\": {\n", "\"chain\": {");
        "two episodes are swapped" EvidenceChanged in |files| episode(files, 2), "":
            |files| {
                let (a, b) = (episode(files, 2), episode(files, 3));
                let (one, two) = (files[&a].clone(), files[&b].clone());
                files.insert(a, two);
                files.insert(b, one);
            };
        "an episode is missing" EvidenceMissing in |_| INDEX.into(), "{":
            |files| { let path = episode(files, 2); files.remove(&path); };
        "a log is missing" EvidenceMissing in |files| step(files, "keep"), "{":
            |files| { files.remove("logs/keep.log"); };
        "a document is missing" EvidenceMissing in |files| episode(files, 1), "{":
            |files| { files.remove("tool_pool.json"); };
        "the report is missing" EvidenceMissing in |files| episode(files, 1), "{":
            |files| { files.remove("validation_report.json"); };
        "the summary is missing" EvidenceMissing in |_| INDEX.into(), "{":
            |files| { files.remove(SUMMARY); };
        "the index is missing" EvidenceMissing in |_| String::new(), "":
            |files| { files.remove(INDEX); };
        "a cut tail" EvidenceChanged in |_| SUMMARY.into(), "{":
            |files| { let mut it = lines(files); it.pop(); set_lines(files, &it); };
        "a cut tail, with its episode" EvidenceChanged in |_| SUMMARY.into(), "{":
            |files| {
                let mut it = lines(files);
                it.pop();
                set_lines(files, &it);
                let last = run_episode(files);
                files.remove(&last);
            };
        "a cut head" EvidenceChanged in |_| INDEX.into(), "{":
            |files| { let mut it = lines(files); it.remove(0); set_lines(files, &it); };
        "two lines are swapped" EvidenceChanged in |_| INDEX.into(), "{":
            |files| { let mut it = lines(files); it.swap(2, 3); set_lines(files, &it); };
        "a line is twice" EvidenceInconsistent in |_| INDEX.into(), "{":
            |files| { let mut it = lines(files); it.insert(2, it[1].clone()); set_lines(files, &it); };
        "a line without its end" EvidenceChanged in |_| INDEX.into(), "{":
            |files| { files.get_mut(INDEX).unwrap().pop(); };
        "half a line" EvidenceChanged in |_| INDEX.into(), "{":
            |files| { let it = files.get_mut(INDEX).unwrap(); let len = it.len() - 40; it.truncate(len); };
        "a blank line" EvidenceChanged in |_| INDEX.into(), "":
            |files| { let mut it = lines(files); it.insert(1, String::new()); set_lines(files, &it); };
        "a line written otherwise" EvidenceChanged in |_| INDEX.into(), "{":
            |files| { let mut it = lines(files); it[1] = it[1].replace("\":\"", "\": \""); set_lines(files, &it); };
        "another digest in a line" EvidenceChanged in |files| episode(files, 2), "":
            |files| {
                let mut it = lines(files);
                let other = digest("other");
                let entry: Value = serde_json::from_str(&it[1]).unwrap();
                it[1] = it[1].replace(entry["digest"].as_str().unwrap(), &other);
                set_lines(files, &it);
            };
        "more episodes in the summary" EvidenceChanged in |_| SUMMARY.into(), "{":
            |files| edit(files, SUMMARY, |it| it["chain"]["episodes"] = 99.into());
        "fewer episodes in the summary" EvidenceChanged in |_| SUMMARY.into(), "{":
            |files| edit(files, SUMMARY, |it| it["chain"]["episodes"] = 1.into());
        "another head" EvidenceChanged in |_| SUMMARY.into(), "{":
            |files| edit(files, SUMMARY, |it| it["chain"]["head"] = digest("").into());
        "no head" EvidenceChanged in |_| SUMMARY.into(), "{":
            |files| edit(files, SUMMARY, |it| it["chain"]["head"] = Value::Null);
        "an episode that is not in the index" EvidenceUnexpected in |_| "episodes/000099-0.json".into(), "":
            |files| { files.insert("episodes/000099-0.json".into(), files[&episode(files, 2)].clone()); };
        "an unknown file" EvidenceUnexpected in |_| "notes.txt".into(), "":
            |files| { files.insert("notes.txt".into(), b"x".to_vec()); };
        "a log of no step" EvidenceUnexpected in |_| "logs/other.log".into(), "":
            |files| { files.insert("logs/other.log".into(), Vec::new()); };
        "an episode that is no JSON" JsonSyntax in |files| episode(files, 2), "+":
            |files| { let path = episode(files, 2); replace(files, &path, "{", "+"); };
        "a summary that is not UTF-8" InvalidUtf8 in |_| SUMMARY.into(), "":
            |files| files.get_mut(SUMMARY).unwrap().insert(40, 0xff);
        "a key twice in an episode" DuplicateKey in |files| episode(files, 2), "\"episode_id\"":
            |files| { let path = episode(files, 2); replace(files, &path, "\"executor\":", "\"episode_id\": 1, \"executor\":"); };
    }
}

/// Changes of a forger who writes the chain anew.
fn careful() -> Vec<Change> {
    changes! {
        "a status of the summary" EvidenceInconsistent in |_| SUMMARY.into(), "\"cancelled\"":
            |files| edit(files, SUMMARY, |it| { it["status"] = "cancelled".into(); it["code"] = "handler_failed".into(); });
        "another message" EvidenceInconsistent in |_| SUMMARY.into(), "\"all is well\"":
            |files| edit(files, SUMMARY, |it| it["message"] = "all is well".into());
        "another run" EvidenceInconsistent in |_| SUMMARY.into(), "\"run-2\"":
            |files| edit(files, SUMMARY, |it| it["run_id"] = "run-2".into());
        "another request in an episode" EvidenceInconsistent in |_| SUMMARY.into(), "\"r\"":
            |files| { let path = episode(files, 4); edit(files, &path, |it| it["meta_episode"]["request_id"] = "q".into()); };
        "another digest of the plan" EvidenceInconsistent in |_| SUMMARY.into(), "\"sha256-":
            |files| edit(files, SUMMARY, |it| it["authorized"] = digest("").into());
        "another plan" EvidenceInconsistent in |_| SUMMARY.into(), "\"p\"":
            |files| edit(files, "plan.envelope.json", |it| it["plan"]["plan_id"] = "q".into());
        "a verdict against the report" EvidenceInconsistent in |_| "validation_report.json".into(), "\"allow\"":
            |files| { let path = episode(files, 1); edit(files, &path, |it| it["result_details"]["verdict"] = "deny".into()); };
        "a number of problems" EvidenceInconsistent in |files| episode(files, 1), "3":
            |files| { let path = episode(files, 1); edit(files, &path, |it| it["result_details"]["problems"] = 3.into()); };
        "the status of a step" EvidenceInconsistent in |_| SUMMARY.into(), "\"failed\"":
            |files| edit(files, SUMMARY, |it| { it["steps"][0]["status"] = "failed".into(); it["steps"][0]["code"] = "timeout".into(); });
        "the size of an output" EvidenceInconsistent in |_| SUMMARY.into(), "1":
            |files| edit(files, SUMMARY, |it| it["steps"][0]["output_bytes"] = 1.into());
        "a step of the summary" EvidenceInconsistent in |_| SUMMARY.into(), "\"other\"":
            |files| edit(files, SUMMARY, |it| it["steps"][1]["step_id"] = "other".into());
        "a step is gone from the summary" EvidenceInconsistent in |_| SUMMARY.into(), "[":
            |files| edit(files, SUMMARY, |it| drop(it["steps"].as_array_mut().unwrap().pop()));
        "a step was skipped" EvidenceInconsistent in |_| SUMMARY.into(), "{":
            |files| edit(files, SUMMARY, |it| it["steps"][2]["status"] = "skipped".into());
        "an approval is gone" EvidenceInconsistent in |_| SUMMARY.into(), "[]":
            |files| edit(files, SUMMARY, |it| it["approvals"] = json!([]));
        "another person approved" EvidenceInconsistent in |_| SUMMARY.into(), "\"me\"":
            |files| edit(files, SUMMARY, |it| it["approvals"][0]["by"] = "me".into());
        "an event about security" EvidenceInconsistent in |_| SUMMARY.into(), "[":
            |files| edit(files, SUMMARY, |it| it["security_events"] = json!(["000001-aa"]));
        "the number of steps" EvidenceInconsistent in run_episode, "7":
            |files| { let path = run_episode(files); edit(files, &path, |it| it["result_details"]["steps"] = 7.into()); };
        "the size of a log" EvidenceInconsistent in |files| step(files, "keep"), "{":
            |files| { let path = step(files, "keep"); edit(files, &path, |it| it["result_details"]["log"]["bytes"] = 5.into()); edit(files, SUMMARY, |it| it["steps"][2]["log_bytes"] = 5.into()); };
        "a longer log" EvidenceInconsistent in |files| step(files, "keep"), "{":
            |files| { files.insert("logs/keep.log".into(), b"hello".to_vec()); };
        "an effect without its decision" EvidenceInconsistent in |files| having(files, &json!({"record": "effect"})), "":
            |files| { let path = having(files, &json!({"record": "decision", "step_id": "report"})); edit(files, &path, |it| it["result_details"]["action"] = "store".into()); };
        "an effect of another step" EvidenceInconsistent in |files| having(files, &json!({"record": "effect"})), "":
            |files| { let path = having(files, &json!({"record": "effect"})); edit(files, &path, |it| it["result_details"]["step_id"] = "keep".into()); };
        "a step out of turn" EvidenceInconsistent in |files| having(files, &json!({"record": "step", "step_id": "report"})), "":
            |files| edit(files, "plan.envelope.json", |it| { let steps = it["plan"]["steps"].as_array_mut().unwrap(); steps.swap(0, 1); });
        "a record of nothing" EvidenceInconsistent in |files| episode(files, 2), "":
            |files| { let path = episode(files, 2); edit(files, &path, |it| it["result_details"]["record"] = "note".into()); };
        "a holiday" EvidenceInvalid in |files| episode(files, 2), "\"holiday\"":
            |files| { let path = episode(files, 2); edit(files, &path, |it| it["episode_type"] = "holiday".into()); };
        "a subtype without a name" EvidenceInvalid in |files| episode(files, 2), "\"execution/\"":
            |files| { let path = episode(files, 2); edit(files, &path, |it| it["episode_type"] = "execution/".into()); };
        "an envelope of no layer" EvidenceInvalid in |files| episode(files, 2), "\"verbs.file_cleanup\"":
            |files| { let path = episode(files, 2); edit(files, &path, |it| it["input_envelopes"][0]["envelope_type"] = "verbs.file_cleanup".into()); };
        "an unknown channel" EvidenceInvalid in |_| "plan.envelope.json".into(), "\"mixed_legacy\"":
            |files| edit(files, "plan.envelope.json", |it| it["plan"]["model_instruction"] = json!({"channel": "mixed_legacy", "text": "x"}));
        "an unknown status" EvidenceInvalid in |files| episode(files, 2), "\"splendid\"":
            |files| { let path = episode(files, 2); edit(files, &path, |it| it["result_status"] = "splendid".into()); };
        "a member that episodes don't have" EvidenceInvalid in |files| episode(files, 2), "\"note\"":
            |files| { let path = episode(files, 2); edit(files, &path, |it| it["note"] = "x".into()); };
        "a summary without its steps" EvidenceInvalid in |_| SUMMARY.into(), "{":
            |files| edit(files, SUMMARY, |it| drop(it.as_object_mut().unwrap().remove("steps")));
        "a report with another verdict" EvidenceInvalid in |_| "validation_report.json".into(), "\"maybe\"":
            |files| edit(files, "validation_report.json", |it| it["verdict"] = "maybe".into());
        "a profile without a name" EvidenceInvalid in |_| "instruction_profile.json".into(), "7":
            |files| edit(files, "instruction_profile.json", |it| it["profile_id"] = 7.into());
        "a plan that is absent" EvidenceInvalid in |_| "plan.envelope.json".into(), "":
            |files| store(files, "plan.envelope.json", &json!({"absent": true}));
        "a password" EvidenceSecret in |files| step(files, "keep"), "\"swordfish\"":
            |files| { let path = step(files, "keep"); edit(files, &path, |it| it["result_details"]["input"]["value"] = json!({"password": "swordfish"})); };
        "a header of a pool" EvidenceSecret in |_| "tool_pool.json".into(), "\"Bearer 1234\"":
            |files| edit(files, "tool_pool.json", |it| it["bindings"][0]["driver"]["headers"] = json!({"authorization": "Bearer 1234"}));
        "a secret of a name in a plan" EvidenceSecret in |_| "plan.envelope.json".into(), "\"NAME\"":
            |files| edit(files, "plan.envelope.json", |it| it["plan"]["steps"][0]["input"]["secret"] = "NAME".into());
    }
}

fn matches(change: &Change, files: &Files, problems: &[(Code, String, String)]) -> bool {
    let path = (change.path)(files);
    problems.iter().any(|(code, found, text)| {
        *code == change.code
            && *found == path
            && (text == change.at || (!change.at.is_empty() && text.starts_with(change.at)))
    })
}

#[test]
fn changed_evidence_is_reported_at_its_place() {
    let mut failures = Failures::default();
    let changes = careless();
    for change in &changes {
        let mut files = completed();
        // The place is that of the episode as it was.
        let path = (change.path)(&files);
        (change.apply)(&mut files);
        let problems = found(&files);
        let is_found = problems.iter().any(|(code, place, text)| {
            (*code, place) == (change.code, &path) && text.starts_with(change.at)
        });
        if !is_found {
            failures.add(change.name, format!("{problems:#?}"));
        }
    }
    failures.finish();
    assert!(changes.len() + careful().len() >= 70);
}

#[test]
fn a_chain_that_is_written_anew_hides_no_contradiction() {
    let mut failures = Failures::default();
    for change in careful() {
        let mut files = completed();
        let ids = ids(&files);
        (change.apply)(&mut files);
        rechain(&mut files, &ids);
        let problems = found(&files);
        let is_chained = problems
            .iter()
            .all(|(code, ..)| *code != Code::EvidenceChanged);
        if !is_chained || !matches(&change, &files, &problems) {
            failures.add(change.name, format!("{problems:#?}"));
        }
    }
    failures.finish();
}

#[test]
fn a_chain_that_is_written_anew_without_a_change_verifies() {
    for mut files in [completed(), denied()] {
        let ids = ids(&files);
        rechain(&mut files, &ids);
        assert_eq!(found(&files), []);
    }
}

/// Earlier versions left the value of `chain` out of the text.
#[test]
fn evidence_of_earlier_versions_verifies() {
    let mut files = completed();
    let ids = ids(&files);
    rechain_over(&mut files, &ids, |summary| {
        let (before, rest) = summary.split_once("\"chain\": {").expect("a chain");
        let (_, after) = rest.split_once('}').expect("its end");
        digest(&format!("{before}\"chain\": {after}"))
    });
    assert_eq!(found(&files), []);
    rechain_over(&mut files, &ids, digest);
    assert_ne!(found(&files), []);
}

#[test]
fn an_episode_that_is_left_out_leaves_a_gap() {
    let files = completed();
    let all = ids(&files);
    for left_out in 0..all.len() {
        let mut files = files.clone();
        let mut ids = all.clone();
        let id = ids.remove(left_out);
        rechain(&mut files, &ids);
        files.remove(&format!("episodes/{id}.json"));
        assert_ne!(found(&files), [], "without {id}");
    }
}

#[test]
fn a_secret_is_not_quoted() {
    let mut files = completed();
    let ids = ids(&files);
    let path = step(&files, "keep");
    edit(&mut files, &path, |it| it["password"] = "swordfish".into());
    rechain(&mut files, &ids);
    let problems = super::problems(&files);
    assert!(problems.iter().any(|it| it.code == Code::EvidenceSecret));
    for problem in problems {
        assert!(!format!("{problem:?}").contains("swordfish"), "{problem:?}");
    }
}

/// The evidence of a run whose pool marks an input and an output as secret.
fn marked() -> Files {
    let documents = with_pool(three_steps(), |pool| {
        for binding in pool["bindings"].as_array_mut().expect("bindings") {
            let visits = json!({ "properties": { "visits": { "writeOnly": true } } });
            match binding["tool_id"].as_str() {
                Some("get-report") => {
                    binding["output_schema"] = json!({ "properties": { "body": visits } });
                }
                Some("keep") => binding["input_schema"] = visits,
                _ => {}
            }
        }
    });
    let ended = run(documents, options(), behave);
    assert_eq!(
        ended.summary()["status"],
        "completed",
        "{}",
        ended.summary()
    );
    files_of(ended)
}

#[test]
fn a_value_that_a_schema_marks_is_redacted() {
    assert_eq!(found(&marked()), []);
    for (id, pointer) in [
        ("report", "/result_details/output/value/body/visits"),
        ("keep", "/result_details/input/value/visits"),
    ] {
        let mut files = marked();
        let ids = ids(&files);
        let path = step(&files, id);
        edit(&mut files, &path, |it| {
            let value = it.pointer_mut(pointer).expect("a value");
            assert_eq!(*value, json!({ "len": 1, "present": true }));
            *value = json!(3);
        });
        rechain(&mut files, &ids);
        let problem = (Code::EvidenceSecret, path, "3".to_owned());
        assert_eq!(found(&files), [problem], "{id}");
    }
}
