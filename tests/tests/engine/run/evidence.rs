//! The files that a run leaves.

use super::{audiences, files, keep, plan_of, rename, report};
use agent_api::schema::Library;
use agent_explain::nonconformities;
use agent_run::{Documents, summary_digest};
use agent_tests::corpus::Failures;
use agent_tests::digest::digest;
use agent_tests::run::{Ended, behave, options, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

fn ended() -> Vec<Ended> {
    let unreadable = Documents {
        plan: Some(b"{".to_vec()),
        ..plan_of(keep())
    };
    let mut documents: Vec<_> = [keep(), report(), audiences(), rename(), files()]
        .map(plan_of)
        .into();
    documents.push(unreadable);
    documents
        .into_iter()
        .map(|documents| run(documents, options(), behave))
        .collect()
}

#[test]
fn every_file_fits_its_schema() {
    let mut failures = Failures::default();
    for ended in ended() {
        for (name, text) in &ended.files {
            let schema = match &**name {
                "run_summary.json" => "ds.mova_agent_run_summary_v1",
                "validation_report.json" => "ds.mova_agent_validation_report_v1",
                name if name.starts_with("episodes/0") => {
                    let episode: Value = serde_json::from_str(text).expect("JSON");
                    match episode.get("security_event_type") {
                        Some(_) => "ds.security_event_episode_core_v1",
                        None => "ds.mova_episode_core_v1",
                    }
                }
                _ => continue,
            };
            let found = nonconformities(schema, text.clone().into_bytes(), Library::own());
            for problem in found.expect("a schema of the project") {
                failures.add(name, problem.message);
            }
        }
    }
    failures.finish();
}

#[test]
fn types_of_episodes_are_in_the_catalogues() {
    let read = |name: &str| -> Value {
        let path = agent_tests::root().join("schemas/mova").join(name);
        serde_json::from_slice(&fs::read(path).expect("a catalogue")).expect("JSON")
    };
    let ids = |catalogue: &Value, key: &str| -> Vec<String> {
        let entries = catalogue[key].as_array().expect("entries").iter();
        entries
            .map(|it| it["id"].as_str().expect("an id").to_owned())
            .collect()
    };
    let types = ids(&read("global.episode_type_catalog_v1.json"), "episode_type");
    let events = ids(
        &read("global.security_catalog_v1.json"),
        "security_event_type",
    );
    for episode in ended().iter().flat_map(Ended::episodes) {
        let kind = episode["episode_type"].as_str().expect("a type");
        let core = kind.split('/').next().expect("a part");
        assert!(types.iter().any(|it| it == core), "{kind}");
        if let Some(event) = episode["security_event_type"].as_str() {
            assert!(
                events.iter().any(|it| it == event) || event.starts_with("mova_agent:"),
                "{event}"
            );
            assert_eq!(kind, format!("security_event/{event}"));
        }
    }
}

#[test]
fn the_index_is_a_chain_and_the_summary_holds_its_head() {
    for ended in ended() {
        let mut previous = Value::Null;
        let mut count = 0;
        for line in ended.files["episodes/index.jsonl"].lines() {
            let entry: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(entry["previous"], previous);
            let id = entry["episode_id"].as_str().expect("an id");
            let episode = &ended.files[&format!("episodes/{id}.json")];
            assert_eq!(entry["digest"], digest(episode));
            previous = Value::String(digest(line));
            count += 1;
        }
        assert_eq!(ended.summary()["chain"]["head"], previous);
        assert_eq!(ended.summary()["chain"]["episodes"], count);
    }
}

#[test]
fn a_run_leaves_the_same_bytes_for_the_same_answers() {
    for (first, second) in ended().iter().zip(&ended()) {
        assert_eq!(first.files, second.files);
    }
}

#[test]
fn every_file_is_covered_by_an_episode() {
    for ended in ended() {
        let mut covered = BTreeMap::new();
        for episode in ended.episodes() {
            let files = episode["meta_episode"]["files"].as_array().cloned();
            for file in files.unwrap_or_default() {
                let path = file["name"].as_str().expect("a path").to_owned();
                covered.insert(path, (file["bytes"].clone(), file["digest"].clone()));
            }
        }
        for (path, text) in &ended.files {
            if path.starts_with("episodes/") || path == "run_summary.json" {
                continue;
            }
            let expected = (Value::from(text.len()), Value::String(digest(text)));
            assert_eq!(covered.remove(path), Some(expected), "{path}");
        }
        assert_eq!(covered, BTreeMap::new());
    }
}

#[test]
fn the_episode_of_the_run_covers_the_summary() {
    for ended in ended() {
        let episodes = ended.episodes();
        let recorded = &episodes.last().expect("an episode")["result_details"]["summary"];
        let summary = &ended.files["run_summary.json"];
        assert_eq!(*recorded, Value::from(summary_digest(summary)), "{summary}");
        // Of the chain, only the two values are not covered.
        let (before, after) = summary.split_once("\"chain\": {").expect("a chain");
        for (changed, covers) in [
            (format!("{before}\"chain\":  {{{after}"), true),
            (format!("{before}\"chain\": {{ {after}"), true),
            (summary.replace("\"episodes\": ", "\"episodes\": 1"), false),
        ] {
            assert_eq!(summary_digest(&changed) != summary_digest(summary), covers);
        }
    }
}
