//! What holds for every world, tried on generated ones.
//!
//! `PROPTEST_CASES` says how many for each property, 256 if it doesn't. A world that fails is
//! printed as the two texts to be pasted into a new case of the corpus.

use agent_decide::{
    Change, Counterfactual, LockState, NearMiss, Resolution as Decided, compare, verify,
};
use agent_lower as lower;
use agent_model::{Grant, Lock as EngineLock, Sensitivity, lock_order, with_fallbacks};
use agent_render as render;
use agent_tests::compact::expand;
use agent_tests::difference::difference;
use agent_tests::files::{self, File as _, Reason};
use agent_tests::text::Style;
use agent_tests::world::{SENSITIVITIES, World, crowds, styles, tool_worlds, worlds};
use agent_tests::{native, oracle};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, FileFailurePersistence, TestCaseResult, TestRunner};
use std::collections::{BTreeMap, BTreeSet};

mod tools;

fn config() -> Config {
    Config {
        // A case that fails belongs into the corpus, where it has a name.
        failure_persistence: None::<Box<FileFailurePersistence>>.map(|it| it as _),
        ..Config::default()
    }
}

/// Returns the texts of a world, for the message of a failed property.
fn texts(world: &World) -> String {
    world.inputs(Style::default()).texts()
}

fn decide(world: &World) -> Decided {
    decide_in(world, Style::default())
}

fn decide_in(world: &World, style: Style) -> Decided {
    let read = native::read(&world.inputs(style), None);
    read.unwrap_or_else(|found| panic!("{found:#?}\n{}", texts(world)))
        .resolution()
}

/// Worlds of either kind.
fn any_worlds() -> impl Strategy<Value = World> {
    prop_oneof![worlds(), tool_worlds()]
}

fn lock_text(resolution: &Decided) -> Option<String> {
    resolution.lock().map(|lock| render::lock(&lock))
}

fn full_text(resolution: &Decided) -> String {
    render::resolution(resolution).expect("small enough")
}

fn read(resolution: &Decided) -> files::Resolution {
    files::Resolution::read(&full_text(resolution)).expect("the file is of its type")
}

fn same(what: &str, expected: &str, found: &str, world: &World) -> TestCaseResult {
    match difference(expected, found) {
        None => Ok(()),
        Some(lines) => {
            let message = format!(
                "{what}: expected -, found +, from {lines}\n{}",
                texts(world)
            );
            Err(TestCaseError::fail(message))
        }
    }
}

/// The eligible servers of each requirement, the selected one included.
fn eligible(world: &World) -> Vec<BTreeSet<(String, String)>> {
    let resolution = read(&decide(world));
    let names = resolution.categories().cloned().map(|requirement| {
        let others = requirement
            .eligible
            .into_iter()
            .map(|other| (other.id, other.version));
        let selected = requirement
            .selected
            .map(|selected| (selected.id, selected.version));
        others.chain(selected).collect()
    });
    names.collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_engine_decides_as_the_oracle(world in worlds(), style in styles()) {
        decides_as_the_oracle(&world, &decide_in(&world, style))?;
    }

    #[test]
    fn no_spelling_and_no_order_changes_a_byte(world in any_worlds(), a in styles(), b in styles()) {
        let (a, b) = (decide_in(&world, a), decide_in(&world, b));
        same("resolution", &full_text(&a), &full_text(&b), &world)?;
        same("lock", &lock_text(&a).unwrap_or_default(), &lock_text(&b).unwrap_or_default(), &world)?;
        same("compact", &render::compact(&a), &render::compact(&b), &world)?;
        let text = |resolution| -> String {
            render::summary(resolution).into_iter().map(|part| part.text).collect()
        };
        same("summary", &text(&a), &text(&b), &world)?;
    }

    #[test]
    fn the_order_of_lists_in_an_entry_counts_for_its_integrity_alone(mut world in worlds()) {
        let before = read(&decide(&world));
        for server in &mut world.servers {
            server.categories.reverse();
            server.scopes.reverse();
            server.residency.reverse();
        }
        prop_assert_eq!(before, read(&decide(&world)), "{}", texts(&world));
    }

    #[test]
    fn the_order_of_requirements_does_not_count_for_the_lock(mut world in any_worlds()) {
        let before = lock_text(&decide(&world)).unwrap_or_default();
        world.requirements.reverse();
        world.capabilities.reverse();
        same("lock", &before, &lock_text(&decide(&world)).unwrap_or_default(), &world)?;
    }

    #[test]
    fn a_server_that_was_not_selected_can_be_removed_without_any_change_of_selection(
        mut world in worlds(), one in any::<Index>(),
    ) {
        prop_assume!(!world.servers.is_empty());
        let before = read(&decide(&world));
        let gone = world.servers.remove(one.index(world.servers.len()));
        let after = read(&decide(&world));
        for (before, after) in before.categories().zip(after.categories()) {
            let was = before.selected.as_ref().map(|server| (&server.id, &server.version));
            if was != Some((&gone.id, &gone.version)) {
                prop_assert_eq!(&before.selected, &after.selected, "{:?}\n{}", gone, texts(&world));
            }
        }
    }

    #[test]
    fn a_further_constraint_makes_no_server_eligible(world in worlds(), one in any::<Index>()) {
        let before = eligible(&world);
        let mut stricter = Vec::new();
        for residency in ["us-only", "eu-only"] {
            if matches!(world.constraints.residency, None | Some("any")) {
                let mut world = world.clone();
                world.constraints.residency = Some(residency);
                stricter.push(world);
            }
        }
        let level = world.constraints.sensitivity
            .and_then(|old| SENSITIVITIES.iter().position(|level| *level == old));
        for higher in &SENSITIVITIES[level.unwrap_or(0)..] {
            let mut world = world.clone();
            world.constraints.sensitivity = Some(higher);
            stricter.push(world);
        }
        let mut signed = world.clone();
        signed.constraints.require_signed = Some(true);
        stricter.push(signed);
        let mut asking = world.clone();
        let asked = one.index(asking.requirements.len());
        asking.constraints.forbid.clear();
        asking.requirements[asked].permissions.push("delete:a".to_owned());
        stricter.push(asking);
        for stricter in stricter {
            for (before, after) in before.iter().zip(eligible(&stricter)) {
                prop_assert!(after.is_subset(before), "{after:?} of {before:?}\n{}", texts(&stricter));
            }
        }
    }

    #[test]
    fn each_counterfactual_makes_the_server_eligible_and_each_of_its_changes_is_needed(
        world in worlds(),
    ) {
        let decided = decide(&world);
        for (number, requirement) in read(&decided).categories().enumerate() {
            for rejected in &requirement.rejected {
                let server = decided.index().versions(&rejected.id)
                    .find(|server| server.version() == rejected.version).expect("it is in the index");
                let fixes = decided.near(number, server).expect("it is rejected").fixes;
                let context = format!("requirement {number}, {rejected:?}: {fixes:?}\n{}", texts(&world));

                // On the server's side there is always one, and it comes first.
                prop_assert!(fixes.first().is_some_and(|fix| !fix.widening), "{context}");
                let constraints_alone = rejected.reasons.iter().all(|reason| {
                    !matches!(reason, Reason::MissingCategory { .. } | Reason::ToolMissing { .. } | Reason::MissingScope { .. })
                });
                prop_assert_eq!(fixes.iter().any(|fix| fix.widening), constraints_alone, "{}", context);

                let flips = |changes: &[Change<'_>]| {
                    let mut world = world.clone();
                    let id = (&*rejected.id, &*rejected.version);
                    changes.iter().for_each(|change| apply(*change, &mut world, number, id));
                    let id = (rejected.id.clone(), rejected.version.clone());
                    eligible(&world)[number].contains(&id)
                };
                for Counterfactual { changes, widening } in &fixes {
                    prop_assert_eq!(changes.iter().any(|change| change.widening()), *widening);
                    prop_assert!(flips(changes), "{changes:?} do not do\n{context}");
                    // Levels are moved no further than needed.
                    for (place, change) in changes.iter().enumerate() {
                        let levels = Sensitivity::ALL;
                        let less = match change {
                            Change::RaiseSensitivity(level) => {
                                let below = levels.iter().rev().find(|other| *other < level);
                                below.map(|below| Change::RaiseSensitivity(*below))
                            }
                            Change::LowerSensitivity(level) => {
                                let above = levels.iter().find(|other| *other > level);
                                above.map(|above| Change::LowerSensitivity(*above))
                            }
                            _ => None,
                        };
                        if let Some(less) = less {
                            let mut changes = changes.clone();
                            changes[place] = less;
                            prop_assert!(!flips(&changes), "{less:?} is enough\n{context}");
                        }
                    }
                    for left_out in 0..changes.len() {
                        let mut fewer = changes.clone();
                        let change = fewer.remove(left_out);
                        prop_assert!(!flips(&fewer), "{change:?} is not needed\n{context}");
                    }
                }
            }
        }
    }

    #[test]
    fn each_reason_goes_away_by_itself_and_leaves_the_others(world in worlds()) {
        let decided = decide(&world);
        for (number, requirement) in read(&decided).categories().enumerate() {
            for rejected in &requirement.rejected {
                for (place, reason) in rejected.reasons.iter().enumerate() {
                    let mut better = world.clone();
                    remedy(reason, &mut better, number, (&rejected.id, &rejected.version));
                    let mut others = rejected.reasons.clone();
                    others.remove(place);
                    let found = read(&decide(&better)).categories().nth(number).expect("a category").rejected.iter()
                        .find(|server| server.id == rejected.id && server.version == rejected.version)
                        .map_or_else(Vec::new, |server| server.reasons.clone());
                    // What the server offers has changed, and with it what a reason shows.
                    let codes = |reasons: &[Reason]| reasons.iter().map(Reason::code).collect::<Vec<_>>();
                    prop_assert_eq!(codes(&found), codes(&others), "without {:?}\n{}", reason, texts(&world));
                }
            }
        }
    }

    #[test]
    fn a_lock_that_was_written_is_read_as_it_was_and_is_fresh(world in any_worlds()) {
        let decided = decide(&world);
        if let Some(lock) = decided.lock() {
            let text = render::lock(&lock);
            let read = lower::lock(text.clone().into_bytes()).expect("it was just written");
            prop_assert!(read.warnings.is_empty());
            prop_assert_eq!(&read.value, &lock);
            same("lock", &text, &render::lock(&read.value), &world)?;
            prop_assert_eq!(compare(Some(&lock), &lock), LockState::Fresh);
            prop_assert_eq!(verify(&lock, decided.index()), LockState::Fresh);
        }
    }

    #[test]
    fn the_files_are_those_of_their_types_and_serde_json_writes_them_alike(world in any_worlds()) {
        let decided = decide(&world);
        let full = full_text(&decided);
        same("resolution", &files::Resolution::read(&full).expect("its type").write(), &full, &world)?;
        if let Some(lock) = lock_text(&decided) {
            same("lock", &files::Lock::read(&lock).expect("its type").write(), &lock, &world)?;
        }
    }

    #[test]
    fn a_compact_explanation_expands_to_the_full_one(world in any_worlds()) {
        let decided = decide(&world);
        let expanded = expand(&render::compact(&decided));
        same("expanded", &full_text(&decided), &expanded, &world)?;
    }

    #[test]
    fn two_locks_are_fresh_to_each_other_if_and_only_if_they_are_equal(
        world in any_worlds(), other in any_worlds(), changes in any::<u16>(),
    ) {
        let Some(lock) = decide(&world).lock() else { return Ok(()) };
        let mut changed = lock.clone();
        alter(&mut changed, &other, changes);
        for (a, b) in [(&lock, &changed), (&changed, &lock)] {
            let drifts = compare(Some(a), b);
            let equal = render::lock(a) == render::lock(b);
            prop_assert_eq!(drifts.drifts().is_empty(), equal, "{:?}\n{:#?}\n{:#?}", drifts, a, b);
        }
    }

    #[test]
    fn only_what_gives_more_is_a_widening(world in any_worlds(), other in any_worlds(), changes in any::<u16>()) {
        let Some(lock) = decide(&world).lock() else { return Ok(()) };
        let mut changed = lock.clone();
        alter(&mut changed, &other, changes);
        // What a lock grants: each scope and tool of each category (and its use without any), and what
        // is served of its server, as often as it is granted, and whatever it does not forbid.
        // Every tool of a server is each that one of both locks names, and the others.
        let selections = lock.selections.iter().chain(&changed.selections);
        let mut named: BTreeSet<String> = selections
            .flat_map(|it| match &it.grant {
                Grant::Category { only, .. } => &only[..],
                Grant::Capability { .. } => &[],
            })
            .map(ToString::to_string)
            .collect();
        named.insert("the others".to_owned());
        let granted = |lock: &EngineLock| {
            let mut granted: BTreeMap<(String, Option<String>), usize> = BTreeMap::new();
            for selection in &lock.selections {
                let category = match &selection.grant {
                    Grant::Category { category, only, serve, .. } => {
                        let tools = match only[..] {
                            [] => named.iter().cloned().collect(),
                            _ => only.iter().map(ToString::to_string).collect::<Vec<_>>(),
                        };
                        let tools = tools.into_iter().map(|tool| format!("tool {tool}"));
                        let served = serve.iter().map(|kind| format!("serve {}", kind.as_str()));
                        for what in tools.chain(served) {
                            *granted.entry((category.to_string(), Some(what))).or_default() += 1;
                        }
                        category.to_string()
                    }
                    // Another tool for the same is another selection, and no more.
                    Grant::Capability { capability, .. } => capability.to_string(),
                };
                *granted.entry((category.clone(), None)).or_default() += 1;
                for scope in &selection.scopes {
                    *granted.entry((category.clone(), Some(scope.to_string()))).or_default() += 1;
                }
            }
            granted
        };
        let (old, new) = (granted(&lock), granted(&changed));
        let more = new.iter().any(|(what, count)| old.get(what).is_none_or(|old| old < count))
            || lock.forbid.iter().any(|label| !changed.forbid.contains(label));
        let drifts = compare(Some(&lock), &changed);
        let widening = drifts.drifts().iter().any(|drift| drift.widening());
        prop_assert!(widening || !more, "{drifts:?}\n{lock:#?}\n{changed:#?}");
    }

    #[test]
    fn an_altered_index_is_noticed_by_verify_for_what_was_selected(
        mut world in worlds(), one in any::<Index>(), what in 0..4,
    ) {
        let Some(lock) = decide(&world).lock() else { return Ok(()) };
        let selection = &lock.selections[one.index(lock.selections.len())];
        let is_server = matches!(selection.grant, Grant::Category { .. });
        prop_assert!(is_server);
        let place = world.servers.iter()
            .position(|server| server.id == selection.id.to_string() && server.version == selection.version.to_string())
            .expect("it was selected");
        let expected: &[&str] = match what {
            0 => {
                world.servers.remove(place);
                &["SERVER_REMOVED"]
            }
            1 => {
                world.servers[place].endpoint.push('x');
                &["ENDPOINT_CHANGED", "INTEGRITY_CHANGED"]
            }
            2 => {
                world.servers[place].publisher.push('x');
                &["INTEGRITY_CHANGED"]
            }
            _ => {
                world.servers[place].scopes.push("x".to_owned());
                &["INTEGRITY_CHANGED"]
            }
        };
        let index = lower::index(world.index(Style::default())).expect("valid").value;
        let found = verify(&lock, &index);
        let found: BTreeSet<_> = found.drifts().iter().map(|drift| drift.code.name()).collect();
        prop_assert_eq!(found, expected.iter().copied().collect(), "{}", texts(&world));
    }

    #[test]
    fn the_views_count_what_the_files_list(world in worlds()) {
        views_count(&world, &decide(&world))?;
    }
}

proptest! {
    // Each is a hundred times as large.
    #![proptest_config(Config { cases: config().cases / 8, ..config() })]

    #[test]
    fn the_engine_decides_as_the_oracle_and_counts_right_in_a_crowd(world in crowds()) {
        let decided = decide(&world);
        decides_as_the_oracle(&world, &decided)?;
        views_count(&world, &decided)?;
        let expanded = expand(&render::compact(&decided));
        same("expanded", &full_text(&decided), &expanded, &world)?;
    }
}

fn decides_as_the_oracle(world: &World, decided: &Decided) -> TestCaseResult {
    let expected = oracle::resolution(world, None).write();
    same("resolution", &expected, &full_text(decided), world)?;
    let expected = oracle::lock(world, None)
        .map(|lock| lock.write())
        .unwrap_or_default();
    let found = lock_text(decided).unwrap_or_default();
    same("lock", &expected, &found, world)
}

fn views_count(world: &World, decided: &Decided) -> TestCaseResult {
    for (number, requirement) in read(decided).categories().enumerate() {
        let funnel = decided.funnel(number);
        let eligible = requirement.eligible.len() + usize::from(requirement.selected.is_some());
        prop_assert_eq!(funnel.all as usize, world.servers.len());
        prop_assert_eq!(funnel.signature as usize, eligible, "{}", texts(world));
        prop_assert_eq!(
            decided.eligible(number).count(),
            eligible,
            "{}",
            texts(world)
        );
        // Each stage loses those whose first reason it is.
        let first = |code| {
            let rejected = requirement.rejected.iter();
            rejected
                .filter(|server| server.reasons[0].code() == code)
                .count() as u32
        };
        let lost = [
            ("MISSING_CATEGORY", funnel.all - funnel.category),
            ("TOOL_MISSING", funnel.category - funnel.tools),
            ("MISSING_SCOPE", funnel.tools - funnel.scopes),
            ("RESIDENCY_MISMATCH", funnel.scopes - funnel.residency),
            (
                "SENSITIVITY_EXCEEDED",
                funnel.residency - funnel.sensitivity,
            ),
            (
                "UNSIGNED_NOT_ALLOWED",
                funnel.sensitivity - funnel.signature,
            ),
        ];
        for (code, lost) in lost {
            prop_assert_eq!(first(code), lost, "{} {}", code, texts(world));
        }

        // All of the rejected, by the number of changes, then those of the category, then by
        // preference; and a few of them are the first of all.
        let nearest = decided.nearest(number, usize::MAX);
        prop_assert_eq!(nearest.len(), requirement.rejected.len());
        let place = |near: &NearMiss<'_>| {
            let elsewhere = near.reasons.as_slice()[0].code().name() == "MISSING_CATEGORY";
            (near.fixes[0].changes.len(), elsewhere, near.server.rank())
        };
        let places: Vec<_> = nearest.iter().map(place).collect();
        prop_assert!(places.is_sorted(), "{places:?} {}", texts(world));
        for limit in [0, 1, 2, 5] {
            let few: Vec<_> = decided.nearest(number, limit).iter().map(place).collect();
            prop_assert_eq!(
                &few[..],
                &places[..limit.min(places.len())],
                "{}",
                texts(world)
            );
        }
    }
    Ok(())
}

/// Make a change to a world as a person would.
fn apply(change: Change<'_>, world: &mut World, requirement: usize, (id, version): (&str, &str)) {
    let _ = requirement;
    let server = world
        .servers
        .iter_mut()
        .find(|server| server.id == id && server.version == version);
    let server = server.expect("a server of the world");
    match change {
        Change::AddCategory(category) => server.categories.push(category.to_owned()),
        Change::AddTool(tool) => server.add_tools([tool.to_owned()]),
        Change::AddScope(scope) => server.scopes.push(scope.to_owned()),
        Change::AddResidency(residency) => server.residency.push(residency.as_str()),
        Change::RaiseSensitivity(level) => server.max_sensitivity = level.as_str(),
        Change::Sign => server.signed = true,
        Change::DropResidency => world.constraints.residency = None,
        Change::LowerSensitivity(level) => world.constraints.sensitivity = Some(level.as_str()),
        Change::AllowUnsigned => world.constraints.require_signed = None,
        other => panic!("{other:?} is no change of a category"),
    }
}

/// Make a reason go away, and nothing else.
fn remedy(reason: &Reason, world: &mut World, requirement: usize, (id, version): (&str, &str)) {
    let category = world.requirements[requirement].category.clone();
    let server = world
        .servers
        .iter_mut()
        .find(|server| server.id == id && server.version == version);
    let server = server.expect("a server of the world");
    match reason {
        Reason::MissingCategory { .. } => server.categories.push(category),
        Reason::ToolMissing { missing } => server.add_tools(missing.iter().cloned()),
        Reason::MissingScope { missing } => server.scopes.extend(missing.iter().cloned()),
        Reason::ResidencyMismatch { .. } => server.residency.push("any"),
        Reason::SensitivityExceeded { .. } => server.max_sensitivity = "pii.high",
        Reason::UnsignedNotAllowed { .. } => server.signed = true,
        other => panic!("{other:?} is no reason against a server"),
    }
}

/// Alter a lock in ways that no index would give: each bit of `changes` is one.
fn alter(lock: &mut EngineLock, other: &World, changes: u16) {
    let set = |bit: u16| changes >> bit & 1 == 1;
    let other = decide(other);
    if set(0) && set(1) {
        lock.agent = other.manifest().agent.clone();
    }
    if set(2) && set(3) {
        lock.forbid = other
            .constraints()
            .forbid
            .iter()
            .map(|label| label.value.clone())
            .collect();
    }
    let others = other.lock().map_or_else(Vec::new, |lock| lock.selections);
    if set(4) && set(5) {
        lock.selections.extend(others.clone());
    }
    if set(6) && set(7) {
        lock.selections.truncate(1);
    }
    for (selection, other) in lock.selections.iter_mut().zip(&others) {
        if set(8) {
            selection.scopes = other.scopes.clone();
        }
        if set(9) {
            selection.endpoint = other.endpoint.clone();
        }
        if set(10) {
            selection.version = other.version.clone();
        }
        if set(11) {
            selection.id = other.id.clone();
        }
        if set(12) {
            selection.integrity = other.integrity.clone();
        }
        if set(13) {
            selection.hash = other.hash.clone();
        }
        if let (
            Grant::Capability {
                definition,
                load,
                tool,
                ..
            },
            Grant::Capability {
                definition: other_definition,
                load: other_load,
                tool: other_tool,
                ..
            },
        ) = (&mut selection.grant, &other.grant)
        {
            if set(14) {
                definition.clone_from(other_definition);
            }
            if set(15) {
                *load = *other_load;
            }
            if set(11) {
                *tool = other_tool.clone();
            }
        }
        if let (
            Grant::Category {
                load, only, serve, ..
            },
            Grant::Category {
                load: other_load,
                only: other_only,
                serve: other_serve,
                ..
            },
        ) = (&mut selection.grant, &other.grant)
        {
            if set(14) {
                only.clone_from(other_only);
            }
            if set(15) {
                *load = *other_load;
                serve.clone_from(other_serve);
            }
        }
    }
    let groups = with_fallbacks(&lock.selections).map(<[_]>::to_vec);
    let mut groups: Vec<_> = groups.collect();
    groups.sort_by(|a, b| lock_order(a, b));
    lock.selections = groups.concat();
}

/// The properties would hold for worlds without a server as well. These are not such.
#[test]
fn generated_worlds_have_everything_in_them() {
    let mut runner = TestRunner::deterministic();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let cases = 900;
    for _ in 0..cases {
        let world = worlds().new_tree(&mut runner).expect("a world").current();
        let resolution = oracle::resolution(&world, None);
        let mut see = |what: String| *seen.entry(what).or_default() += 1;
        see(format!("satisfied: {}", resolution.satisfied));
        for requirement in resolution.categories().cloned() {
            see(format!("selected: {}", requirement.selected.is_some()));
            for eligible in requirement.eligible {
                see(format!("{:?}", eligible.lost_on));
            }
            for rejected in requirement.rejected {
                see(format!("{} reasons", rejected.reasons.len()));
                rejected
                    .reasons
                    .iter()
                    .for_each(|reason| see(reason.code().to_owned()));
            }
        }
    }
    for (what, least) in [
        ("satisfied: true", cases / 10),
        ("satisfied: false", cases / 8),
        ("selected: true", cases / 4),
        ("selected: false", cases / 4),
        ("Signed", 20),
        ("Id", 20),
        ("Version", 2),
        ("MISSING_CATEGORY", cases),
        ("TOOL_MISSING", cases / 20),
        ("MISSING_SCOPE", cases),
        ("RESIDENCY_MISMATCH", cases / 4),
        ("SENSITIVITY_EXCEEDED", cases / 2),
        ("UNSIGNED_NOT_ALLOWED", cases / 4),
        ("1 reasons", cases),
        ("4 reasons", 10),
    ] {
        let found = seen.get(what).copied().unwrap_or(0);
        assert!(found >= least, "{what}: {found} of {least}\n{seen:#?}");
    }
}
