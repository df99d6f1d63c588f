//! The component gives the same bytes as the engine: on the whole corpus, on generated worlds, and
//! on hostile inputs; and its typed functions agree with its texts.

use agent_diagnostic::Code;
use agent_parity::{Component, Instance};
use agent_tests::corpus::{Case, Failures, cases};
use agent_tests::difference::difference;
use agent_tests::files::{Answer, File as _, Lock, Locked, Match, Resolution};
use agent_tests::hostile::{self, Kind};
use agent_tests::inputs::{Given, Inputs};
use agent_tests::native::{self, Answers};
use agent_tests::plan::{PlanInputs, contract_case, plan_cases};
use agent_tests::root;
use agent_tests::text::Style;
use agent_tests::world::{World, crowds, styles, tool_crowds, tool_worlds, worlds};
use agent_text::LineIndex;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// With more generated worlds than this, by `PROPTEST_CASES`, the tests run at length.
const WORLDS: u32 = 256;

/// Of how many cases of policies one is compared, unless `PROPTEST_CASES` sets more than [`WORLDS`].
const POLICY_CASES: usize = 64;

/// Maximum size of an input here, in bytes, and at length: copying hundreds of megabytes proves nothing about
/// parity.
const LARGE: [usize; 2] = [2 << 20, 32 << 20];

/// Returns whether the tests run at length.
fn is_at_length() -> bool {
    Config::default().cases > WORLDS
}

/// Returns the differences view by view, or `None` without any.
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

/// Returns the expected answers to a lock: a valid lock has no diagnostics in the contract.
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
            // Every file is an input, whatever its kind.
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
        }
    }
    assert!(views > 1_000, "{views} views");
    failures.finish();
}

/// Policies of every kind: the shipped ones, and one for each way to fail.
fn policies() -> Vec<(String, Vec<u8>)> {
    let folder = root().join("examples/policies");
    let shipped = ["no-external-network", "tier", "business-hours"].map(|name| {
        let text = std::fs::read(folder.join(format!("{name}.rego")));
        (name.to_owned(), text.expect("a policy"))
    });
    let failing = [
        ("of another type", "allowed_tools := []"),
        ("undefined", "x := 1"),
        ("no Rego", "allowed_tools := {"),
        ("a clock", "allowed_tools contains x if x := time.now_ns()"),
        (
            "beyond its budget",
            "allowed_tools contains x if {\n\tn := [i | some i in \"0123456789abcdef\"; true]\n\t\
             some a in input.candidate_tools\n\tx := a.id\n}\n\n\
             y := {[a, b, c, d, e, f, g] | some a, b, c, d, e, f, g in input.candidate_tools}",
        ),
        (
            "a cartesian product",
            "s := split(\"0,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f\", \",\")\n\n\
             allowed_tools contains x if {\n\tsome a in s\n\tsome b in s\n\tsome c in s\n\tsome d in s\n\t\
             some e in s\n\tsome f in s\n\tsome g in s\n\tx := concat(\"\", [a, b, c, d, e, f, g])\n}",
        ),
    ];
    let failing = failing.map(|(name, rules)| {
        let text = format!("package switchboard\n\n{rules}\n");
        (name.to_owned(), text.into_bytes())
    });
    shipped.into_iter().chain(failing).collect()
}

#[test]
fn component_and_engine_agree_on_policies() {
    let component = Component::of_this_workspace();
    let mut failures = Failures::default();
    let mut reasons = BTreeSet::new();
    let given = |case: &Case, name: &str| {
        let text = case.input(&format!("{name}.yaml"));
        text.map(Given::text)
    };
    let accepted = |case: &Case| case.name().starts_with("match/accept");
    let step = if is_at_length() { 1 } else { POLICY_CASES };
    for case in cases("match").into_iter().filter(accepted).step_by(step) {
        let Some(task) = given(&case, "task") else {
            continue;
        };
        let inputs = Inputs {
            index: case.input("mcp.index.json").expect("an index"),
            task: Some(task),
            context: Some(Given::text("hour: 10\nweekday: monday\n")),
            ..Inputs::default()
        };
        for (name, policy) in policies() {
            let ours = native::governed(&inputs, &policy);
            let theirs = component.instance().governed(&inputs, &policy);
            compare(
                &mut failures,
                &format!("{} {name}", case.name()),
                &ours,
                &theirs,
            );
            for reason in ["budget", "type", "undefined"] {
                let said = format!("\"reason\": \"{reason}\"");
                let found = ours
                    .get("match.json")
                    .is_some_and(|text| text.contains(&said));
                reasons.extend(found.then_some(reason));
            }
        }
    }
    assert_eq!(reasons.len(), 3, "{reasons:?}");
    for (name, policy) in policies() {
        let tests = root().join(format!("examples/policies/{name}_test.rego"));
        let Ok(tests) = std::fs::read(tests) else {
            continue;
        };
        let ours = native::policy_tests(&policy, &tests);
        assert!(ours["tests"].lines().count() > 1, "{ours:?}");
        let theirs = component.instance().policy_tests(&policy, &tests);
        compare(&mut failures, &name, &ours, &theirs);
    }
    failures.finish();
}

#[test]
fn component_and_engine_agree_on_calls() {
    let component = Component::of_this_workspace();
    let mut failures = Failures::default();
    let mut compared = 0;
    for case in cases("call") {
        let file = |name| case.input(name);
        let (Some(plan), Some(index)) = (file("plan.json"), file("mcp.index.json")) else {
            failures.add(&case.name(), "no plan or no index");
            continue;
        };
        let (lock, catalogue) = (file("agents.lock"), file("catalogue.json"));
        let (lock, catalogue) = (lock.as_deref(), catalogue.as_deref());
        let ours = native::called(&plan, &index, lock, catalogue);
        let theirs = component.instance().called(&plan, &index, lock, catalogue);
        compare(&mut failures, &case.name(), &ours, &theirs);
        compared += 1;
    }
    assert!(compared > 0, "no case was compared");
    failures.finish();
}

#[test]
fn component_and_engine_agree_on_sequential_plans() {
    let component = Component::of_this_workspace();
    let mut failures = Failures::default();
    for case in plan_cases() {
        let inputs = PlanInputs::of(&case);
        let ours = native::planned(&inputs);
        let theirs = component.instance().planned(&inputs);
        compare(&mut failures, &case.name(), &ours, &theirs);
    }
    failures.finish();
}

#[test]
fn component_and_engine_agree_on_what_is_exposed_and_imported() {
    let component = Component::of_this_workspace();
    let mut failures = Failures::default();
    let mut exposed = 0;
    for case in cases("resolve") {
        let file = |name| case.input(name);
        let (Some(lock), Some(index)) = (file("agents.lock"), file("mcp.index.json")) else {
            continue;
        };
        let ours = native::exposed(&lock, &index);
        exposed += usize::from(
            ours.get("tools.json")
                .is_some_and(|it| it.contains("inputSchema")),
        );
        compare(
            &mut failures,
            &case.name(),
            &ours,
            &component.instance().exposed(&lock, &index),
        );
    }
    assert!(exposed > 0, "no tool was exposed");
    let overlay = b"version: v0.1\nservers:\n  x:\n    version: 1.0.0\n    categories: [a]\n    scopes: []\n    \
        data: { residency: any, maxSensitivity: public }\n    trust: { signed: false, publisher: X }\n";
    for document in [
        r#"{"mcpServers": {"x": {"url": "https://x.example/mcp"}}}"#,
        r#"{"mcpServers": {"x": {"command": "npx"}}}"#,
        "{}",
        "[",
    ] {
        let ours = native::imported(document.as_bytes(), overlay);
        let theirs = component.instance().imported(document.as_bytes(), overlay);
        compare(&mut failures, document, &ours, &theirs);
    }
    failures.finish();
}

#[test]
fn component_and_engine_agree_on_grounding() {
    let component = Component::of_this_workspace();
    let mut failures = Failures::default();
    for case in cases("ground") {
        let file = |name: &str| case.input(name).unwrap_or_default();
        let (summary, payload) = (file("summary.json"), file("payload.json"));
        let ours = native::grounded(&summary, &payload);
        let mut instance = component.instance();
        let theirs = instance.grounded(&summary, &payload);
        compare(&mut failures, &case.name(), &ours, &theirs);
        if let Some(json) = ours.get("grounding.json") {
            let mut told: Value = serde_json::from_str(json).expect("JSON");
            for item in told["items"].as_array_mut().into_iter().flatten() {
                if let Some(reason) = item["reason"].as_object_mut() {
                    let words = [reason.remove("code"), reason.remove("text")];
                    assert!(words.iter().all(Option::is_some), "a reason has words");
                }
            }
            let typed = instance.typed_grounding(&summary, &payload);
            if let Some(lines) = difference(&format!("{told:#}\n"), &format!("{typed:#}\n")) {
                failures.add(&case.name(), format!("text -, typed +, from {lines}"));
            }
        }
    }
    failures.finish();
}

#[test]
fn component_and_engine_agree_on_hostile_inputs() {
    let component = Component::of_this_workspace();
    let mut failures = Failures::default();
    for case in hostile::cases() {
        let bytes = case.bytes();
        if bytes.len() > LARGE[usize::from(is_at_length())] {
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
            Kind::Task | Kind::Tenant | Kind::Health => {
                let given = Some(Given::text(bytes));
                let mut inputs = Inputs {
                    index: hostile::INDEX.into(),
                    ..Inputs::default()
                };
                match case.kind {
                    Kind::Task => inputs.task = given,
                    Kind::Tenant => inputs.tenant = given,
                    _ => inputs.health = given,
                }
                (native::under(&inputs), instance.under(&inputs))
            }
        };
        compare(&mut failures, case.name, &native, &found);
    }
    failures.finish();
}

/// Runs the usual number of cases, each against a new instance.
fn on_worlds(check: impl Fn(&mut Instance, &World, Style) -> Result<(), String>) {
    on(worlds(), check);
}

fn on(
    worlds: impl Strategy<Value = World>,
    check: impl Fn(&mut Instance, &World, Style) -> Result<(), String>,
) {
    let component = Component::of_this_workspace();
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&(worlds, styles()), |(world, style)| {
        check(&mut component.instance(), &world, style).map_err(TestCaseError::fail)
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn component_and_engine_agree_on_generated_worlds() {
    on_worlds(|instance, world, style| {
        let (manifest, index) = (world.manifest(style), world.index(style));
        let ours = native::resolve(&manifest, &index);
        let theirs = instance.resolve(&manifest, &index);
        differences(&ours, &theirs).map_or(Ok(()), Err)
    });
}

#[test]
fn component_and_engine_agree_on_capabilities_in_an_evaluation_context() {
    on(tool_worlds(), |instance, world, style| {
        let mut all = vec![world.inputs(style)];
        if world.task.is_some() {
            all.push(world.inputs_of_task(style));
        }
        for inputs in all {
            let (ours, theirs) = (native::under(&inputs), instance.under(&inputs));
            if let Some(differences) = differences(&ours, &theirs) {
                return Err(format!("{differences}\n{}", inputs.texts()));
            }
            if !ours.contains_key("match.json") {
                return Err(format!("{ours:#?}\n{}", inputs.texts()));
            }
            if let Some(lock) = ours.get("agents.lock") {
                let lock = lock.as_bytes();
                let ours = native::verified(lock, &inputs.index);
                let theirs = instance.verified(lock, &inputs.index);
                if let Some(differences) = differences_of_lock(&ours, &theirs, lock, instance) {
                    return Err(differences);
                }
            }
        }
        Ok(())
    });
}

fn differences_of_lock(
    ours: &Answers,
    theirs: &Answers,
    lock: &[u8],
    instance: &mut Instance,
) -> Option<String> {
    differences(ours, theirs)
        .or_else(|| differences(&validated_lock(lock), &instance.validate_lock(lock)))
        .or_else(|| {
            // The same selections without capability and with another load.
            let text = String::from_utf8_lossy(lock);
            let other = text.replace("\"load\": \"essential\"", "\"load\": \"on_demand\"");
            let other = other.as_bytes();
            let (ours, theirs) = (validated_lock(other), instance.validate_lock(other));
            differences(&ours, &theirs).or_else(|| {
                // Equal selections with another load, of which one has a fallback, are no longer sorted.
                ours.get("agents.lock")?;
                let ours = native::drift(Some(lock), other);
                differences(&ours, &instance.drift(Some(lock), other))
            })
        })
}

#[test]
fn component_and_engine_agree_on_capabilities_in_a_crowd() {
    let component = Component::of_this_workspace();
    let mut runner = TestRunner::deterministic();
    for _ in 0..10 {
        let world = tool_crowds()
            .new_tree(&mut runner)
            .expect("a world")
            .current();
        let style = styles().new_tree(&mut runner).expect("a style").current();
        let inputs = world.inputs(style);
        let theirs = component.instance().under(&inputs);
        assert_eq!(differences(&native::under(&inputs), &theirs), None);
    }
}

#[test]
fn the_interface_of_capabilities_says_what_the_texts_say() {
    on(tool_worlds(), |instance, world, style| {
        let inputs = world.inputs(style);
        let texts = instance.under(&inputs);
        let (typed, selections) = instance.typed_tools(&inputs);
        let answer = Match::read(&texts["match.json"]).map_err(|e| e.to_string())?;
        let summary: Value =
            serde_json::from_str(&texts["summary.json"]).map_err(|e| e.to_string())?;
        let summaries = summary["requirements"].as_array().into_iter().flatten();
        let summaries = summaries.filter(|requirement| requirement.get("capability").is_some());
        let expected = answer
            .requirements
            .iter()
            .zip(summaries)
            .map(|(answer, summary)| {
                let selected = match &summary["selected"] {
                    Value::Array(tools) => tools.clone(),
                    Value::Null => Vec::new(),
                    tool => vec![tool.clone()],
                };
                let approvals = selected.iter();
                let approvals = approvals.map(|it| it["obligations"] == json!(["approval"]));
                json!({
                    "capability": answer.capability,
                    "fallback": answer.fallback.is_some(),
                    "load": answer.load,
                    "needsApproval": approvals.collect::<Vec<_>>(),
                    "place": summary["place"],
                    "selected": answer.selected.all(),
                })
            });
        let expected: Vec<_> = expected.collect();
        let expected = json!({ "requirements": expected, "satisfied": answer.satisfied });
        if let Some(lines) = difference(&format!("{expected:#}\n"), &format!("{typed:#}\n")) {
            return Err(format!("text -, typed +, from {lines}\n{}", inputs.texts()));
        }
        // The lock has them in another order.
        if let Some(lock) = texts.get("agents.lock") {
            let lock = Lock::read(lock).map_err(|e| e.to_string())?;
            let sorted = |it: Vec<Locked>| -> BTreeSet<String> {
                it.iter().map(|one| format!("{one:?}")).collect()
            };
            let ours = lock
                .capabilities()
                .cloned()
                .map(Locked::Capability)
                .collect();
            if sorted(ours) != sorted(selections) {
                return Err(format!("{lock:#?}"));
            }
        }
        let resolution =
            Resolution::read(&texts["agents.resolution.json"]).map_err(|e| e.to_string())?;
        let tools = resolution
            .requirements
            .into_iter()
            .filter_map(|answer| match answer {
                Answer::Capability(requirement) => Some(requirement),
                Answer::Category(_) => None,
            });
        let same = answer.requirements == tools.collect::<Vec<_>>();
        same.then_some(())
            .ok_or_else(|| "two explanations of one decision".to_owned())
    });
}

/// Larger worlds, in which the engine takes other paths.
#[test]
fn component_and_engine_agree_in_a_crowd() {
    let component = Component::of_this_workspace();
    let mut runner = TestRunner::deterministic();
    for _ in 0..Config::default().cases.div_ceil(25).min(10) {
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
    on_worlds(|instance, world, style| {
        let (manifest, index) = (world.manifest(style), world.index(style));
        let texts = instance.resolve(&manifest, &index);
        let (typed, mut selections) = instance.typed(&manifest, &index);
        if let Some(lock) = texts.get("agents.lock") {
            selections.sort_by_key(|one| match one {
                Locked::Category(one) => {
                    let server = (one.id.clone(), one.version.clone());
                    let rest = (one.load, one.only.clone(), one.serve.clone());
                    (one.category.clone(), one.scopes.clone(), server, rest)
                }
                Locked::Capability(one) => panic!("{one:?} of a category"),
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
        let summary: Value =
            serde_json::from_str(&texts["summary.json"]).map_err(|e| e.to_string())?;
        let expected = outcomes_of(summary);
        if let Some(lines) = difference(&format!("{expected:#}\n"), &format!("{typed:#}\n")) {
            return Err(format!("text -, typed +, from {lines}"));
        }
        Ok(())
    });
}

/// Returns the typed answer to a summary.
fn outcomes_of(mut summary: Value) -> Value {
    for requirement in summary["requirements"].as_array_mut().into_iter().flatten() {
        let kept = ["category", "permissions", "place", "selected"];
        let requirement = requirement.as_object_mut().expect("a requirement");
        requirement.retain(|key, _| kept.contains(&&**key));
        if let Some(selected) = requirement["selected"].as_object_mut() {
            selected.remove("place").expect("the place of a server");
        }
    }
    json!({ "requirements": summary["requirements"], "satisfied": summary["satisfied"] })
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
        // An invalid input in between leaves no trace either.
        one.validate_index(&index[..index.len() / 2]);
        let used = one.resolve(&manifest, &index);
        assert_eq!(differences(&fresh, &used), None);
    }
}

#[test]
fn the_catalogue_of_the_component_is_that_of_the_engine() {
    let found = Component::of_this_workspace().instance().catalogue();
    let expected = Code::ALL.iter().map(|code| {
        let (name, severity) = (code.name(), code.severity().name());
        let case = contract_case(*code);
        [name, &case, severity, code.title(), code.help()].map(str::to_owned)
    });
    assert_eq!(found, expected.collect::<Vec<_>>());
}
