//! The component gives the same bytes as the engine: on the whole corpus, on generated worlds, and
//! on hostile inputs; and its typed functions say what its texts say.

use agent_engine::diagnostic::Code;
use agent_engine::text::LineIndex;
use agent_tests::component::{Component, Instance};
use agent_tests::corpus::{Failures, cases};
use agent_tests::difference::difference;
use agent_tests::files::{File as _, Lock, Resolution};
use agent_tests::hostile::{self, Kind};
use agent_tests::native::{self, Answers};
use agent_tests::text::Style;
use agent_tests::world::{World, crowds, styles, worlds};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use std::collections::BTreeSet;

/// How many worlds are generated, unless `PROPTEST_CASES` asks for more.
const WORLDS: u32 = 2_000;

/// What a component is given here at most, in bytes: copying hundreds of megabytes in and out says
/// nothing about parity.
const LARGE: usize = 32 << 20;

/// What differs, view by view. None if nothing does.
fn differences(native: &Answers, component: &Answers) -> Option<String> {
    let views: BTreeSet<_> = native.keys().chain(component.keys()).collect();
    let mut all = String::new();
    for view in views {
        let [ours, theirs] =
            [native, component].map(|answers| answers.get(view).map(|text| &**text));
        let absent = "(no such view)";
        if let Some(lines) = difference(ours.unwrap_or(absent), theirs.unwrap_or(absent)) {
            all.push_str(&format!("{view}: engine -, component +, from {lines}"));
        }
    }
    (!all.is_empty()).then_some(all)
}

fn compare(failures: &mut Failures, name: &str, native: &Answers, component: &Answers) {
    if let Some(differences) = differences(native, component) {
        failures.add(name, differences);
    }
}

/// What both have to say to a lock: a lock that is valid has no diagnostics in the contract.
fn validated_lock(bytes: &[u8]) -> Answers {
    let mut answers = native::validate_lock(bytes);
    if let Some(lock) = answers.remove("agents.lock") {
        answers = Answers::from([("agents.lock".to_owned(), lock)]);
    }
    answers
}

#[test]
fn component_and_engine_agree_on_the_whole_corpus() {
    let component = Component::of_this_workspace();
    let mut failures = Failures::default();
    let mut views = 0;
    for area in ["resolve", "validate", "drift", "views"] {
        for case in cases(area) {
            // Whatever a file is meant to be, it is an input as any other.
            let file = |name: &str| case.input(name);
            let mut instance = component.instance();
            let mut check = |name: &str, native: Answers, component: Answers| {
                views += native.len();
                compare(
                    &mut failures,
                    &format!("{} {name}", case.name()),
                    &native,
                    &component,
                );
            };
            let (manifest, index) = (file("agents.md"), file("mcp.index.json"));
            if let (Some(manifest), Some(index)) = (&manifest, &index) {
                check(
                    "resolve",
                    native::resolve(manifest, index),
                    instance.resolve(manifest, index),
                );
            }
            if let Some(manifest) = manifest {
                check(
                    "manifest",
                    native::validate_manifest(&manifest),
                    instance.validate_manifest(&manifest),
                );
            }
            if let Some(index) = index {
                check(
                    "index",
                    native::validate_index(&index),
                    instance.validate_index(&index),
                );
                if area == "drift" {
                    let lock = file("agents.lock").expect("the lock beside the index");
                    check(
                        "verify",
                        native::verified(&lock, &index),
                        instance.verified(&lock, &index),
                    );
                }
            }
            for lock in ["agents.lock", "older.lock", "newer.lock"] {
                if let Some(lock) = file(lock) {
                    check("lock", validated_lock(&lock), instance.validate_lock(&lock));
                }
            }
            if let Some(newer) = file("newer.lock") {
                let older = file("older.lock");
                let native = native::drift(older.as_deref(), &newer);
                check("drift", native, instance.drift(older.as_deref(), &newer));
            }
            for compact in ["compact.json", "agents.resolution.compact.json"] {
                if let Some(compact) = file(compact) {
                    check(
                        "expand",
                        native::expand(&compact),
                        instance.expand(&compact),
                    );
                }
            }
        }
    }
    assert!(views > 1_000, "{views} views");
    failures.finish();
}

#[test]
fn component_and_engine_agree_on_hostile_inputs() {
    let component = Component::of_this_workspace();
    let mut failures = Failures::default();
    for case in hostile::cases() {
        let bytes = (case.make)();
        if bytes.len() > LARGE {
            continue;
        }
        let mut instance = component.instance();
        let (native, found) = match case.kind {
            Kind::Manifest => (
                native::validate_manifest(&bytes),
                instance.validate_manifest(&bytes),
            ),
            Kind::Index => (
                native::validate_index(&bytes),
                instance.validate_index(&bytes),
            ),
            Kind::Lock => (validated_lock(&bytes), instance.validate_lock(&bytes)),
            Kind::Explanation => (native::expand(&bytes), instance.expand(&bytes)),
        };
        compare(&mut failures, case.name, &native, &found);
    }
    failures.finish();
}

/// Runs as many cases as this file asks for, each against a fresh instance.
fn on_worlds(cases: u32, check: impl Fn(&mut Instance, &World, Style) -> Result<(), String>) {
    let component = Component::of_this_workspace();
    let cases = Config::default().cases.max(cases);
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&(worlds(), styles()), |(world, style)| {
        check(&mut component.instance(), &world, style).map_err(TestCaseError::fail)
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn component_and_engine_agree_on_generated_worlds() {
    on_worlds(WORLDS, |instance, world, style| {
        let (manifest, index) = (world.manifest(style), world.index(style));
        let ours = native::resolve(&manifest, &index);
        let theirs = instance.resolve(&manifest, &index);
        differences(&ours, &theirs).map_or(Ok(()), Err)
    });
}

/// Larger ones, in which the engine takes other ways.
#[test]
fn component_and_engine_agree_in_a_crowd() {
    let component = Component::of_this_workspace();
    let mut runner = TestRunner::deterministic();
    for _ in 0..10 {
        let world = crowds().new_tree(&mut runner).expect("a world").current();
        let style = styles().new_tree(&mut runner).expect("a style").current();
        let (manifest, index) = (world.manifest(style), world.index(style));
        let ours = native::resolve(&manifest, &index);
        let theirs = component.instance().resolve(&manifest, &index);
        assert_eq!(differences(&ours, &theirs), None);
    }
}

#[test]
fn typed_functions_of_the_component_say_what_its_texts_say() {
    on_worlds(256, |instance, world, style| {
        let (manifest, index) = (world.manifest(style), world.index(style));
        let texts = instance.resolve(&manifest, &index);
        let typed = instance.typed(&manifest, &index);
        let resolution =
            Resolution::read(&texts["agents.resolution.json"]).map_err(|e| e.to_string())?;
        if typed.resolution != resolution {
            return Err(
                difference(&resolution.write(), &typed.resolution.write()).unwrap_or_default()
            );
        }
        if let Some(lock) = texts.get("agents.lock") {
            let mut selections = typed.selections;
            selections.sort_by(|a, b| {
                (&a.category, &a.scopes, &a.id).cmp(&(&b.category, &b.scopes, &b.id))
            });
            let lock = Lock::read(lock).map_err(|e| e.to_string())?;
            let read = instance.typed_lock(texts["agents.lock"].as_bytes());
            if read != lock.selections {
                return Err(format!("{:#?}\n{read:#?}", lock.selections));
            }
            if lock.selections != selections {
                return Err(format!("{:#?}\n{selections:#?}", lock.selections));
            }
        }
        let found = instance.out_of_range(&manifest, &index);
        if !found.is_empty() {
            return Err(format!("out of range: {found:#?}"));
        }
        let mut summary: Value =
            serde_json::from_str(&texts["summary.json"]).map_err(|e| e.to_string())?;
        forget_words(&mut summary);
        let found = instance.typed_summary(&manifest, &index);
        if let Some(lines) = difference(&format!("{summary:#}\n"), &format!("{found:#}\n")) {
            return Err(format!("summary: text -, typed +, from {lines}"));
        }
        let discover: Value =
            serde_json::from_str(&texts["discover.json"]).map_err(|e| e.to_string())?;
        let found = instance.typed_discover(&index);
        if let Some(lines) = difference(&format!("{discover:#}\n"), &format!("{found:#}\n")) {
            return Err(format!("discover: text -, typed +, from {lines}"));
        }
        if typed.verdicts != verdicts(world, &resolution) {
            return Err(format!("{:#?}\n{resolution:#?}", typed.verdicts));
        }
        Ok(())
    });
}

/// Take the words of the fixes out of a summary.
fn forget_words(summary: &mut Value) {
    for requirement in summary["requirements"].as_array_mut().into_iter().flatten() {
        for near in requirement["nearest"].as_array_mut().into_iter().flatten() {
            for fix in near["fixes"].as_array_mut().into_iter().flatten() {
                let words = fix.as_object_mut().and_then(|fix| fix.remove("text"));
                assert!(words.is_some(), "a fix has words");
            }
        }
    }
}

#[test]
fn typed_diagnostics_of_the_component_are_those_of_the_engine() {
    let component = Component::of_this_workspace();
    let mut failures = Failures::default();
    let mut count = 0;
    let mut compare = |name: String, ours: Vec<String>, theirs: Vec<String>| {
        count += ours.len();
        if let Some(lines) = difference(&ours.join("\n"), &theirs.join("\n")) {
            failures.add(&name, format!("engine -, component +, from {lines}"));
        }
    };
    for case in cases("validate") {
        let mut instance = component.instance();
        if let Some(manifest) = case.input("agents.md") {
            let ours = native::manifest_diagnostics(&manifest);
            compare(case.name(), ours, instance.manifest_diagnostics(&manifest));
        }
        if let Some(index) = case.input("mcp.index.json") {
            let ours = native::index_diagnostics(&index);
            compare(case.name(), ours, instance.index_diagnostics(&index));
        }
    }
    assert!(count > 200, "{count} diagnostics");
    failures.finish();
}

#[test]
fn positions_are_the_same_at_every_offset_of_a_text() {
    let mut instance = Component::of_this_workspace().instance();
    let text = "\u{feff}a𝄞b\r\nä\n\nz";
    let lines = LineIndex::new(text);
    for offset in 0..text.len() + 3 {
        let at = lines.position(text, offset);
        let ours = (at.line, at.column, at.utf16_column);
        assert_eq!(instance.position_at(text, offset as u32), ours, "{offset}");
    }
}

/// What became of each server, from the file.
fn verdicts(world: &World, resolution: &Resolution) -> Vec<Vec<String>> {
    let mut names: Vec<_> = world
        .servers
        .iter()
        .map(|server| (&server.id, &server.version))
        .collect();
    names.sort();
    let verdict = |(id, version): (&String, &String)| {
        let requirements = resolution.requirements.iter().map(|requirement| {
            let eligible = requirement
                .eligible
                .iter()
                .find(|e| (&e.id, &e.version) == (id, version));
            let rejected = requirement
                .rejected
                .iter()
                .find(|r| (&r.id, &r.version) == (id, version));
            match (eligible, rejected) {
                (Some(eligible), _) => format!("{:?}", eligible.lost_on),
                (_, Some(rejected)) => rejected
                    .reasons
                    .iter()
                    .map(|reason| reason.code())
                    .collect::<Vec<_>>()
                    .join(" "),
                _ => "selected".to_owned(),
            }
        });
        requirements.collect()
    };
    names.into_iter().map(verdict).collect()
}

#[test]
fn an_instance_remembers_nothing_of_what_it_was_asked_before() {
    let component = Component::of_this_workspace();
    let mut runner = TestRunner::deterministic();
    let mut one = component.instance();
    for _ in 0..50 {
        let world = worlds().new_tree(&mut runner).expect("a world").current();
        let style = styles().new_tree(&mut runner).expect("a style").current();
        let (manifest, index) = (world.manifest(style), world.index(style));
        let fresh = component.instance().resolve(&manifest, &index);
        // Something invalid in between leaves nothing behind either.
        one.validate_index(&index[..index.len() / 2]);
        let used = one.resolve(&manifest, &index);
        assert_eq!(differences(&fresh, &used), None);
    }
}

#[test]
fn the_catalogue_of_the_component_is_that_of_the_engine() {
    let found = Component::of_this_workspace().instance().catalogue();
    let expected = Code::ALL.iter().map(|code| {
        // Each code is the case of its name.
        let (name, severity) = (code.name(), code.severity().name());
        [name, name, severity, code.title(), code.help()].map(str::to_owned)
    });
    assert_eq!(found, expected.collect::<Vec<_>>());
}
