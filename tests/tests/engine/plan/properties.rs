//! What holds for every plan, whatever its documents say.

use super::corpus::{Case, Outcome};
use super::worlds::{Maker, World, list, pick, take};
use crate::random::Random;
use agent_lower as lower;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many worlds each property is tried on.
const WORLDS: usize = 400;

/// Every world of a seed.
fn worlds(seed: u64) -> impl Iterator<Item = (World, Random)> {
    let mut maker = Maker::new(seed);
    (1..=WORLDS).map(move |number| (maker.world(), Random(seed ^ number as u64)))
}

#[test]
fn what_is_made_up_is_allowed_and_denied_for_every_reason() {
    let (mut allowed, mut codes, mut waiting) = (0, BTreeMap::new(), BTreeSet::new());
    for (world, _) in worlds(1) {
        let outcome = world.case().decide();
        allowed += usize::from(outcome.is_allowed());
        for line in &outcome.problems {
            let (code, _) = line.split_once(' ').expect("a code");
            *codes.entry(code.to_owned()).or_insert(0) += 1;
        }
        for line in &outcome.waiting {
            let (check, _) = line.rsplit_once(' ').expect("a step");
            waiting.insert(check.to_owned());
        }
    }
    let seen: Vec<_> = codes.keys().map(String::as_str).collect();
    let expected = [
        "destination_denied",
        "limit_exceeded",
        "policy_denied",
        "validation_failed",
    ];
    assert_eq!(seen, expected);
    assert!(codes.values().all(|count| *count >= 20), "{codes:?}");
    assert_eq!(waiting.len(), 6, "{waiting:?}");
    assert!(
        allowed > WORLDS / 6 && allowed < WORLDS / 2,
        "{allowed} of {WORLDS}"
    );
}

#[test]
fn a_plan_that_may_run_may_do_less() {
    let mut ended = 0;
    for (world, _) in worlds(2) {
        let count = world.clone().steps().len();
        let mut case = world.first(0).case();
        let empty = case.decide();
        assert!(
            empty
                .problems
                .contains(&"validation_failed plan /plan/steps".to_owned()),
            "{empty:#?}"
        );
        let mut before: Option<Outcome> = None;
        for steps in 1..=count {
            case.plan = Arc::new(lower::plan(
                world.first(steps).plan.to_string().into_bytes(),
            ));
            let outcome = case.decide();
            if let Some(before) = before {
                // With the same steps in front nothing can get better, and nothing is forgotten.
                let about = || format!("{world}\n{before:#?}\n{outcome:#?}");
                assert!(before.is_allowed() || !outcome.is_allowed(), "{}", about());
                if case.plan.value.is_some() {
                    let mut left = outcome.problems.clone();
                    for line in &before.problems {
                        let place = left.iter().position(|it| it == line);
                        left.remove(place.unwrap_or_else(|| panic!("{line}: {}", about())));
                    }
                }
                ended += usize::from(before.is_allowed() && !outcome.is_allowed());
            }
            before = Some(outcome);
        }
    }
    assert!(ended >= 50, "{ended}");
}

/// A change that takes a permission away. The answer is whether there was one to take.
type Narrowing = fn(&mut World, &mut Random) -> bool;

fn is_allow(rule: &Value) -> bool {
    rule["effect"] == "allow"
}

/// A binding that a step names, if it will do.
fn used<'w>(
    world: &'w mut World,
    random: &mut Random,
    will_do: impl Fn(&Value) -> bool,
) -> Option<&'w mut Value> {
    let steps = world.steps().clone();
    let same = |binding: &Value, step: &Value| {
        ["connector_id", "tool_id"]
            .iter()
            .all(|it| binding[it] == step[it])
    };
    pick(list(&mut world.pool, "bindings"), random, |it| {
        will_do(it) && steps.iter().any(|step| same(it, step))
    })
}

fn has(member: &str) -> impl Fn(&Value) -> bool {
    move |it| it.get(member).is_some()
}

/// The tool of a step, as rules select it.
fn selected(world: &mut World, random: &mut Random) -> String {
    let step = random.one_of(world.steps()).clone();
    let name = |key: &str| step[key].as_str().unwrap_or_default().to_owned();
    format!("{}/{}", name("connector_id"), name("tool_id"))
}

fn cap<'w>(world: &'w mut World, random: &mut Random) -> Option<(&'w mut Value, String)> {
    let caps = world.profile.get_mut("caps")?;
    let names: Vec<_> = caps.as_object()?.keys().cloned().collect();
    let name = names.get(random.below(names.len().max(1)))?.clone();
    Some((caps, name))
}

/// The ways to allow less.
const NARROWINGS: [(&str, Narrowing); 21] = [
    ("an allow rule is removed", |world, random| {
        take(list(&mut world.profile, "rules"), random, is_allow).is_some()
    }),
    ("an allow rule only warns", |world, random| {
        let rule = pick(list(&mut world.profile, "rules"), random, is_allow);
        rule.map(|rule| rule["effect"] = json!("warn")).is_some()
    }),
    ("an allow rule is for another tool", |world, random| {
        let rule = pick(list(&mut world.profile, "rules"), random, is_allow);
        rule.map(|rule| rule["target"]["selector"] = json!("connector_core:noop/other"))
            .is_some()
    }),
    ("an allow rule is for no tool", |world, random| {
        let rule = pick(list(&mut world.profile, "rules"), random, is_allow);
        rule.map(|rule| rule["target"] = json!({"kind": "tool"}))
            .is_some()
    }),
    ("a deny rule is added", |world, random| {
        let selector = match random.below(4) {
            0 => "*".to_owned(),
            _ => selected(world, random),
        };
        let target = json!({"kind": "tool", "selector": selector});
        let rule = json!({"rule_id": "no", "effect": "deny", "target": target});
        list(&mut world.profile, "rules").push(rule);
        true
    }),
    ("a cap is lowered", |world, random| {
        let Some((caps, name)) = cap(world, random) else {
            return false;
        };
        let before = caps[&name].as_u64().unwrap_or_default();
        let after = random.below(before as usize + 1);
        caps[name] = json!(after);
        (after as u64) < before
    }),
    ("a cap is removed", |world, random| {
        let found = cap(world, random);
        found
            .is_some_and(|(caps, name)| caps.as_object_mut().expect("caps").remove(&name).is_some())
    }),
    ("the profile is a draft", |world, _| {
        world.profile["status"] = json!("draft");
        true
    }),
    ("the profile is for other envelopes", |world, _| {
        world.profile["applies_to"] = json!({"envelope_ids": ["env.another_v1"]});
        true
    }),
    ("a destination is removed", |world, random| {
        // Of those that connect. Another may have no destination, and is malformed with one.
        let binding = used(world, random, |it| has("methods")(it) || has("server")(it));
        binding.is_some_and(|it| take(list(it, "destinations"), random, |_| true).is_some())
    }),
    ("a method is removed", |world, random| {
        let binding = used(world, random, has("methods"));
        binding.is_some_and(|it| take(list(it, "methods"), random, |_| true).is_some())
    }),
    ("a program is removed", |world, random| {
        let binding = used(world, random, has("programs"));
        binding.is_some_and(|it| take(list(it, "programs"), random, |_| true).is_some())
    }),
    ("a pattern matches nothing", |world, random| {
        let binding = used(world, random, has("programs"));
        let program = binding.and_then(|it| {
            pick(list(it, "programs"), random, |it| {
                it["arguments"] != json!([])
            })
        });
        let pattern = program.and_then(|it| pick(list(it, "arguments"), random, |_| true));
        pattern.map(|it| *it = json!(r"[^\s\S]")).is_some()
    }),
    ("a program takes no more arguments", |world, random| {
        let binding = used(world, random, has("programs"));
        let program =
            binding.and_then(|it| pick(list(it, "programs"), random, has("more_arguments")));
        program.is_some_and(|it| {
            it.as_object_mut()
                .expect("a program")
                .remove("more_arguments")
                .is_some()
        })
    }),
    ("less input is taken", |world, random| {
        let most = world.profile["caps"]["max_input_bytes"].as_u64();
        let binding = used(world, random, has("limits"));
        let limit = binding.map(|it| &mut it["limits"]["max_input_bytes"]);
        limit.is_some_and(|limit| {
            let before = limit.as_u64().unwrap_or_default();
            let after = 1 + random.below(40) as u64;
            *limit = json!(after);
            // What is above its cap may not be used at all.
            after < before && Some(before) <= most
        })
    }),
    ("an input has to fit a schema as well", |world, random| {
        let binding = used(world, random, |it| {
            it.get("input_schema").is_none() && it.get("input_schema_ref").is_none()
        });
        let schemas = [
            json!({"type": "object"}),
            json!({"type": ["string", "integer"]}),
            json!({"not": {}}),
            json!({"maxProperties": 1, "properties": {"limit": {"maximum": 2}}}),
        ];
        binding
            .map(|it| it["input_schema"] = random.one_of(&schemas).clone())
            .is_some()
    }),
    ("a binding is removed", |world, random| {
        take(list(&mut world.pool, "bindings"), random, |_| true).is_some()
    }),
    ("a schema is removed", |world, random| {
        take(list(&mut world.pool, "schemas"), random, |_| true).is_some()
    }),
    ("a selection of the lock is removed", |world, random| {
        let lock = world.lock.as_mut();
        lock.is_some_and(|it| take(list(it, "selections"), random, |_| true).is_some())
    }),
    ("the lock forbids a label", |world, random| {
        let labels = [
            "list_audiences",
            "read:x-audience",
            "rename_audience",
            "write",
        ];
        let Some(lock) = &mut world.lock else {
            return false;
        };
        lock["forbid"] = json!([random.one_of(&labels)]);
        // A file that grants a forbidden label is not a lock.
        lower::lock(lock.to_string().into_bytes()).is_ok()
    }),
    ("there is neither lock nor index", |world, random| {
        world.lock = None;
        if random.below(2) == 0 {
            world.index = None;
        }
        true
    }),
];

#[test]
fn with_a_permission_less_nothing_more_is_allowed() {
    let mut denied: BTreeMap<_, usize> = NARROWINGS.iter().map(|(name, _)| (*name, 0)).collect();
    for (world, mut random) in worlds(2).chain(worlds(7)) {
        let before = world.case().decide().is_allowed();
        for (name, narrow) in NARROWINGS {
            let mut less = world.clone();
            // Nearly all of what was denied stays so for other reasons.
            let tried = if before { 2 } else { 8 };
            if random.below(tried) > 0 || !narrow(&mut less, &mut random) {
                continue;
            }
            let after = less.case().decide();
            assert!(
                before || !after.is_allowed(),
                "{name}:\n{world}is denied, and this is not:\n{less}"
            );
            if before && !after.is_allowed() {
                *denied.entry(name).or_default() += 1;
            }
        }
    }
    // Each way takes away what some plan needs.
    assert!(denied.values().all(|count| *count > 0), "{denied:#?}");
}

/// A case with another text of its plan.
fn again(world: &World, plan: String) -> Case {
    let mut case = world.case();
    case.plan = Arc::new(lower::plan(plan.into_bytes()));
    case
}

#[test]
fn what_may_run_may_run_as_it_is_written_in_the_answer() {
    let mut seen = 0;
    for (world, mut random) in worlds(4) {
        let outcome = again(&world, spelled(&world.plan, &mut random)).decide();
        let Some(authorized) = &outcome.authorized else {
            continue;
        };
        let answer: Value = serde_json::from_str(authorized).expect("JSON");
        let from_canonical = again(&world, answer["plan"].to_string()).decide();
        assert_eq!(
            from_canonical.authorized.as_ref(),
            Some(authorized),
            "{world}"
        );
        assert_eq!(from_canonical.waiting, outcome.waiting);
        seen += 1;
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn the_same_inputs_give_the_same_bytes() {
    let mut maker = Maker::new(5);
    for _ in 0..WORLDS {
        let (world, other) = (maker.world(), maker.world());
        let mut case = world.case();
        let first = case.decide_with_fixes();
        assert_eq!(world.case().decide_with_fixes(), first, "{world}");
        // What was decided before by the same rules counts for nothing.
        let plan = Arc::clone(&case.plan);
        case.plan = Arc::new(lower::plan(other.plan.to_string().into_bytes()));
        case.decide();
        case.plan = plan;
        let report = case.decide_with_fixes();
        assert_eq!(report, first, "{world}\n{other}");
    }
}

/// A text of a value with white space, keys in another order and characters in another notation.
fn spelled(value: &Value, random: &mut Random) -> String {
    let space = |random: &mut Random| *random.one_of(&["", "", " ", "\n", "\r\n\t"]);
    let text = match value {
        Value::String(text) => {
            let chars = text.chars().map(|c| match random.below(8) {
                0 if c < '\u{10000}' => format!("\\u{:04X}", u32::from(c)),
                _ => {
                    let quoted = json!(c.to_string()).to_string();
                    quoted[1..quoted.len() - 1].to_owned()
                }
            });
            format!("\"{}\"", chars.collect::<String>())
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|it| spelled(it, random)).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(entries) => {
            let mut texts: Vec<_> = entries
                .iter()
                .map(|(key, value)| {
                    let key = spelled(&json!(key), random);
                    format!("{key}:{}", spelled(value, random))
                })
                .collect();
            for place in (1..texts.len()).rev() {
                texts.swap(place, random.below(place + 1));
            }
            format!("{{{}}}", texts.join(","))
        }
        _ => value.to_string(),
    };
    format!("{}{text}{}", space(random), space(random))
}

#[test]
fn how_a_plan_is_spelled_decides_nothing_but_the_size_of_inputs() {
    let is_size =
        |line: &String| line.starts_with("limit_exceeded plan ") && line.ends_with("/input");
    let mut compared = 0;
    for (world, mut random) in worlds(6) {
        let outcome = world.case().decide();
        let text = spelled(&world.plan, &mut random);
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value, world.plan, "{text}");
        let other = again(&world, text.clone()).decide();
        let [(others, sizes), (usual, usual_sizes)] = [&other, &outcome].map(|it| {
            let problems = it.problems.iter().cloned();
            let (sizes, mut rest): (Vec<_>, Vec<_>) = problems.partition(is_size);
            rest.sort_unstable();
            (rest, BTreeSet::from_iter(sizes))
        });
        assert_eq!(others, usual, "{text}");
        // Escapes and white space only lengthen an input.
        assert!(sizes.is_superset(&usual_sizes), "{text}");
        if sizes == usual_sizes {
            assert_eq!(other.waiting, outcome.waiting, "{text}");
            assert_eq!(other.authorized, outcome.authorized, "{text}");
            compared += 1;
        } else {
            assert_eq!(other.authorized, None, "{text}");
        }
    }
    assert!(compared > 100, "{compared}");
}
