//! The schemas of plans and of MOVA's core: what they accept and refuse, and that MOVA's own say
//! the same, except for the one defect that `schemas/mova/README.md` describes.

use agent_json_schema::{Budget, Documents, Draft, Schema};
use agent_syntax::Node;
use agent_syntax::json::{Reader, parse_value};
use agent_tests::corpus::Failures;
use agent_tests::root;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The originals of these refuse every document.
#[cfg_attr(not(mova_reference), allow(dead_code))]
const DEFECTIVE: [&str; 2] = [
    "ds.security_event_episode_core_v1",
    "env.security_event_store_v1",
];

const SCHEMA: &str = ".schema.json";

/// The JSON files of a folder by their names, sorted.
fn json_files(folder: &Path) -> Vec<(String, String)> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|it| it == "json"))
        .map(|path| {
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, fs::read_to_string(&path).expect("UTF-8"))
        })
        .collect();
    files.sort();
    files
}

fn tree(text: &str) -> Node<'_> {
    parse_value(&mut Reader::new(text)).expect("JSON")
}

/// The documents of the corpus: the name of what decides, of the case, whether it is accepted, and
/// the text.
fn documents() -> Vec<(String, String, bool, String)> {
    let mut found = Vec::new();
    for (verdict, accepted) in [("accept", true), ("reject", false)] {
        let folder = root().join("tests/corpus/mova").join(verdict);
        for entry in fs::read_dir(folder).expect("the corpus") {
            let folder = entry.expect("an entry").path();
            let name = folder
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            for (case, text) in json_files(&folder) {
                found.push((name.clone(), case, accepted, text));
            }
        }
    }
    found.sort();
    found
}

/// Decides every document by the schemas of the project and those of MOVA's core in a folder.
fn decide(core: &Path, exceptions: &[&str]) {
    let mut failures = Failures::default();
    let mut sources = json_files(&root().join("schemas"));
    sources.retain(|(name, _)| name.contains(".mova_agent_"));
    sources.extend(json_files(core));
    sources.retain(|(name, _)| name.ends_with(SCHEMA));
    let trees: Vec<_> = sources
        .iter()
        .map(|(name, text)| (name.trim_end_matches(SCHEMA), tree(text)))
        .collect();
    let ids: Vec<_> = sources
        .iter()
        .map(|(_, text)| {
            let json: Value = serde_json::from_str(text).expect("JSON");
            json["$id"].as_str().expect("an $id").to_owned()
        })
        .collect();
    let mut known = Documents::new();
    for ((_, node), id) in trees.iter().zip(&ids) {
        known.add(id, node, Draft::Draft202012);
    }
    let mut decided = 0;
    for (name, case, accepted, text) in documents() {
        if name.starts_with("global.") {
            continue;
        }
        let (schema, part) = match name.split_once("_v1.") {
            Some((schema, part)) => (format!("{schema}_v1"), format!("#/$defs/{part}")),
            None => (name.clone(), String::new()),
        };
        let place = trees.iter().position(|(known, _)| *known == schema);
        let Some(place) = place else {
            failures.add(&format!("{name}/{case}"), "there is no such schema");
            continue;
        };
        let reference = format!("{{\"$ref\": \"{}{part}\"}}", ids[place]);
        let reference = tree(&reference);
        let mut budget = Budget::new();
        let compiled = Schema::compile(&reference, &known, Draft::Draft202012, &mut budget);
        let compiled = compiled.unwrap_or_else(|refused| panic!("{name}: {refused:?}"));
        let found = compiled
            .check(&tree(&text), &mut budget)
            .expect("within the budget");
        let expected = accepted && !exceptions.contains(&schema.as_str());
        if found.is_empty() != expected {
            failures.add(&format!("{name}/{case}"), format!("{found:?}"));
        }
        decided += 1;
    }
    assert!(decided >= 60, "{decided}");
    failures.finish();
}

fn ours() -> PathBuf {
    root().join("schemas/mova")
}

#[test]
fn documents_have_their_verdicts() {
    decide(&ours(), &[]);
}

#[test]
#[cfg_attr(
    not(mova_reference),
    ignore = "there is no ../shared/reference/mova-4.1.1: see tests/README.md"
)]
fn movas_own_schemas_say_the_same_save_for_one_defect() {
    #[cfg(mova_reference)]
    decide(
        &Path::new(env!("AGENT_MOVA_REFERENCE")).join("schemas"),
        &DEFECTIVE,
    );
}

#[test]
fn every_example_of_a_plan_fits_its_schema() {
    let examples = root().join("examples/plans");
    let read = |name: &str| fs::read_to_string(examples.join(name)).expect("an example");
    let mut sources = json_files(&root().join("schemas"));
    sources.retain(|(name, _)| name.contains(".mova_agent_"));
    sources.extend(json_files(&ours()));
    sources.retain(|(name, _)| name.ends_with(SCHEMA));
    let trees: Vec<_> = sources
        .iter()
        .map(|(name, text)| (name, tree(text)))
        .collect();
    let mut known = Documents::new();
    for ((name, node), (_, text)) in trees.iter().zip(&sources) {
        let json: Value = serde_json::from_str(text).expect("JSON");
        known.add(json["$id"].as_str().expect(name), node, Draft::Draft202012);
    }
    for (example, schema) in [
        ("request.json", "env.mova_agent_request_v1"),
        ("mcp.plan.json", "env.mova_agent_plan_v1"),
        ("http.plan.json", "env.mova_agent_plan_v1"),
        ("tool-pool.json", "ds.mova_agent_tool_pool_v1"),
        ("profile.json", "ds.instruction_profile_core_v1"),
    ] {
        let (_, node) = trees
            .iter()
            .find(|(name, _)| name.trim_end_matches(SCHEMA) == schema)
            .expect("a schema");
        let mut budget = Budget::new();
        let compiled = Schema::compile(node, &known, Draft::Draft202012, &mut budget);
        let compiled = compiled.unwrap_or_else(|refused| panic!("{schema}: {refused:?}"));
        let text = read(example);
        let found = compiled.check(&tree(&text), &mut budget);
        assert_eq!(found, Ok(Vec::new()), "{example}");
    }
}

/// The members that say something to people and decide nothing.
#[cfg_attr(not(mova_reference), allow(dead_code))]
const PROSE: [&str; 3] = ["description", "note", "title"];

#[cfg_attr(not(mova_reference), allow(dead_code))]
fn without_prose(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !PROSE.contains(&name.as_str()));
            members.values_mut().for_each(without_prose);
        }
        Value::Array(items) => items.iter_mut().for_each(without_prose),
        _ => {}
    }
}

#[test]
#[cfg_attr(
    not(mova_reference),
    ignore = "there is no ../shared/reference/mova-4.1.1: see tests/README.md"
)]
fn the_catalogues_are_movas_in_other_words() {
    #[cfg(mova_reference)]
    {
        let mut compared = 0;
        for (name, text) in json_files(&ours()) {
            if !name.starts_with("global.") {
                continue;
            }
            let original = Path::new(env!("AGENT_MOVA_REFERENCE")).join(&name);
            let original = fs::read_to_string(original).expect("a catalogue of that name");
            let [mut ours, mut theirs]: [Value; 2] =
                [&text, &original].map(|text| serde_json::from_str(text).expect("JSON"));
            without_prose(&mut ours);
            without_prose(&mut theirs);
            assert_eq!(ours, theirs, "{name}");
            compared += 1;
        }
        assert_eq!(compared, 4);
    }
}

/// The catalogue of a name in `schemas/mova`.
fn catalogue(name: &str) -> Value {
    let text = fs::read_to_string(ours().join(format!("{name}.json"))).expect("a catalogue");
    serde_json::from_str(&text).expect("JSON")
}

/// Whether a list of a catalogue has an entry of an id, with the values that a claim has besides.
fn entry<'c>(list: &'c Value, id: &str) -> Option<&'c Value> {
    list.as_array()?.iter().find(|entry| entry["id"] == id)
}

/// Whether a claim about a catalogue is true: the rules are in `schemas/mova/README.md`.
fn claim_holds(name: &str, claim: &Value) -> bool {
    let catalogue = catalogue(name);
    let text = |key: &str| claim[key].as_str().unwrap_or_default().to_owned();
    let agrees = |entry: &Value, but: &str| {
        let members = claim.as_object().expect("an object").iter();
        members
            .filter(|(key, _)| *key != but)
            .all(|(key, value)| entry[key] == *value)
    };
    match name {
        "global.episode_type_catalog_v1" => {
            let kind = text("episode_type");
            let (id, subtype) = match kind.split_once('/') {
                Some((id, subtype)) => (id, Some(subtype)),
                None => (kind.as_str(), None),
            };
            entry(&catalogue["episode_type"], id).is_some_and(|entry| {
                subtype.is_none_or(|it| !it.is_empty() && entry["allows_subtypes"] == true)
                    && agrees(entry, "episode_type")
            })
        }
        "global.security_catalog_v1" => {
            let lists = [
                "security_event_type",
                "security_action_type",
                "security_policy_profile",
            ];
            let Some(list) = lists.into_iter().find(|list| claim.get(list).is_some()) else {
                return false;
            };
            let id = text(list);
            match entry(&catalogue[list], &id) {
                Some(entry) => agrees(entry, list),
                None => id
                    .split_once(':')
                    .is_some_and(|(space, rest)| !space.is_empty() && !rest.is_empty()),
            }
        }
        "global.text_channel_catalog_v1" => {
            let channel = entry(&catalogue["channels"], &text("channel"));
            channel.is_some_and(|it| it["status"] == "active" && agrees(it, "channel"))
        }
        _ => {
            let id = text("id");
            let Some((kind, rest)) = id.split_once('.') else {
                return false;
            };
            let layer = layer_of(&catalogue, &id, rest);
            let kinds = layer.and_then(|layer| layer["allowed_kinds"].as_array());
            layer.is_some_and(|layer| layer["id"] == claim["layer_id"])
                && kinds.is_some_and(|kinds| kinds.iter().any(|it| it == kind))
        }
    }
}

/// The layer that a name belongs to.
fn layer_of<'c>(catalogue: &'c Value, id: &str, rest: &str) -> Option<&'c Value> {
    let rules = catalogue["namespace_rules"].as_array()?;
    let by_example = rules.iter().find(|rule| {
        let examples = rule["examples"].as_array();
        examples.is_some_and(|it| it.iter().any(|example| example == id))
    });
    let layers = catalogue["layers"].as_array()?;
    if let Some(rule) = by_example {
        return layers.iter().find(|layer| layer["id"] == rule["layer_id"]);
    }
    let prefix = |layer: &Value| {
        let prefixes = layer["namespace_prefixes"].as_array()?.iter();
        let known = prefixes.filter_map(Value::as_str);
        known
            .filter(|prefix| {
                rest.strip_prefix(prefix)
                    .is_some_and(|it| it.starts_with('_'))
            })
            .map(str::len)
            .max()
    };
    let others = layers.iter().filter(|layer| layer["id"] != "skills");
    let nearest = others
        .filter_map(|layer| Some((prefix(layer)?, layer)))
        .max_by_key(|(len, _)| *len);
    nearest
        .map(|(_, layer)| layer)
        .or_else(|| layers.iter().find(|layer| layer["id"] == "skills"))
}

#[test]
fn catalogues_say_what_their_rules_say() {
    let mut failures = Failures::default();
    let mut decided = 0;
    for (name, case, accepted, text) in documents() {
        if !name.starts_with("global.") {
            continue;
        }
        let claim = serde_json::from_str(&text).expect("JSON");
        if claim_holds(&name, &claim) != accepted {
            failures.add(&format!("{name}/{case}"), &text);
        }
        decided += 1;
    }
    assert!(decided > 0);
    failures.finish();
}
