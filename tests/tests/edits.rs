//! What an editor asks of the engine: which checks fail, what would be under other constraints,
//! where values stand, and the edits that make a rejected server eligible.

use agent_engine::decide::{Assessment, Failures, Resolution};
use agent_engine::diagnostic::Code;
use agent_engine::explain::offered_at;
use agent_engine::model::ServerView;
use agent_engine::render;
use agent_engine::text::{LineIndex, Source};
use agent_tests::native;
use agent_tests::text::Style;
use agent_tests::world::{Constraints, World, crowds, styles, worlds};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult};

fn config() -> Config {
    Config {
        // A case that fails belongs into the table, where it has a name.
        failure_persistence: None,
        ..Config::default()
    }
}

fn decide(world: &World, style: Style) -> Resolution {
    native::resolution(&world.manifest(style), &world.index(style))
}

/// The codes of all reasons, in the order of the checks.
fn codes(resolution: &Resolution, requirement: usize, server: ServerView<'_>) -> Vec<Code> {
    match resolution.assess(requirement, server) {
        Assessment::Eligible => Vec::new(),
        Assessment::Rejected(reasons) => reasons.as_slice().iter().map(|r| r.code()).collect(),
    }
}

/// Every requirement with every server.
fn pairs(resolution: &Resolution) -> impl Iterator<Item = (usize, ServerView<'_>)> {
    let requirements = 0..resolution.manifest().requirements.len();
    requirements.flat_map(|number| {
        let servers = resolution.index().servers();
        servers.map(move |server| (number, server))
    })
}

fn failures_are_the_codes_of_the_reasons(resolution: &Resolution) -> TestCaseResult {
    for (requirement, server) in pairs(resolution) {
        let expected = codes(resolution, requirement, server);
        let failures = resolution.failures(requirement, server);
        let found: Vec<_> = failures.codes().collect();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(failures.first(), expected.first().copied());
        prop_assert_eq!(failures.len(), expected.len());
        prop_assert_eq!(failures.is_empty(), expected.is_empty());
        prop_assert_eq!(
            failures.is_empty(),
            resolution.is_eligible(requirement, server)
        );
        let bits = expected.iter().fold(0, |bits, code| {
            bits | match code.name() {
                "MISSING_CATEGORY" => 1,
                "MISSING_SCOPE" => 2,
                "RESIDENCY_MISMATCH" => 4,
                "SENSITIVITY_EXCEEDED" => 8,
                "UNSIGNED_NOT_ALLOWED" => 16,
                other => panic!("{other} is no check"),
            }
        });
        prop_assert_eq!(failures.bits(), bits);
        prop_assert_eq!(failures, expected.into_iter().collect::<Failures>());
        for code in Code::ALL {
            prop_assert_eq!(failures.contains(*code), found.contains(code));
        }
    }
    Ok(())
}

/// Decide under the constraints of another world, in both ways.
fn supposing_is_resolving(mut world: World, constraints: Constraints) -> TestCaseResult {
    let before = decide(&world, Style::default());
    world.constraints = constraints;
    let asked = |label: &String| {
        let mut requirements = world.requirements.iter();
        requirements.any(|requirement| requirement.permissions.contains(label))
    };
    world.constraints.forbid.retain(|label| !asked(label));
    let expected = decide(&world, Style::default());
    let found = before.suppose(expected.constraints().clone());
    prop_assert_eq!(found.constraints(), expected.constraints());
    prop_assert_eq!(found.outcomes(), expected.outcomes());
    prop_assert_eq!(render::compact(&found), render::compact(&expected));
    prop_assert_eq!(
        render::resolution(&found).ok(),
        render::resolution(&expected).ok()
    );
    let lock = |resolution: &Resolution| resolution.lock().map(|lock| render::lock(&lock));
    prop_assert_eq!(lock(&found), lock(&expected));
    for number in 0..world.requirements.len() {
        prop_assert_eq!(found.funnel(number), expected.funnel(number));
        let nearest = |resolution: &Resolution| format!("{:?}", resolution.nearest(number, 3));
        prop_assert_eq!(nearest(&found), nearest(&expected));
    }
    for (requirement, server) in pairs(&expected) {
        prop_assert_eq!(
            found.failures(requirement, server),
            expected.failures(requirement, server)
        );
    }
    // What was decided first stays as it was.
    prop_assert!(std::ptr::eq(before.index(), found.index()));
    let again = before.suppose(before.constraints().clone());
    prop_assert_eq!(render::compact(&again), render::compact(&before));
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn to_suppose_constraints_is_to_resolve_a_manifest_that_says_them(
        world in worlds(), other in worlds(),
    ) {
        supposing_is_resolving(world, other.constraints)?;
    }

    #[test]
    fn what_a_check_looked_at_is_found_in_the_index(world in worlds(), style in styles()) {
        let text = String::from_utf8(world.index(style)).expect("UTF-8");
        let resolution = decide(&world, style);
        for server in resolution.index().servers() {
            let expected = world.servers.iter()
                .find(|other| other.id == server.id() && other.version == server.version())
                .expect("a server of the world");
            let mut found = 0;
            for code in Code::ALL {
                let Some(place) = offered_at(server, *code) else { continue };
                found += 1;
                prop_assert_eq!(place.source, Source::Index);
                let lines = LineIndex::new(&text);
                prop_assert_eq!(place.start, lines.position(&text, place.span.start as usize));
                prop_assert_eq!(place.end, lines.position(&text, place.span.end as usize));
                let value = place.span.of(&text);
                let value: serde_json::Value = serde_json::from_str(value).expect(value);
                let expected = match code.name() {
                    "MISSING_CATEGORY" => serde_json::json!(expected.categories),
                    "MISSING_SCOPE" => serde_json::json!(expected.scopes),
                    "RESIDENCY_MISMATCH" => match &expected.residency[..] {
                        [one] if !expected.residency_as_list => serde_json::json!(one),
                        list => serde_json::json!(list),
                    },
                    "SENSITIVITY_EXCEEDED" => serde_json::json!(expected.max_sensitivity),
                    "UNSIGNED_NOT_ALLOWED" => serde_json::json!(expected.signed),
                    other => panic!("{other} is no check"),
                };
                prop_assert_eq!(value, expected);
            }
            prop_assert_eq!(found, 5);
        }
    }

    #[test]
    fn failures_are_the_codes_of_all_reasons(world in worlds(), style in styles()) {
        failures_are_the_codes_of_the_reasons(&decide(&world, style))?;
    }
}

proptest! {
    // Each is a hundred times as large.
    #![proptest_config(Config { cases: config().cases / 8, ..config() })]

    #[test]
    fn to_suppose_constraints_is_to_resolve_a_manifest_that_says_them_in_a_crowd(
        world in crowds(), other in worlds(),
    ) {
        supposing_is_resolving(world, other.constraints)?;
    }

    #[test]
    fn failures_are_the_codes_of_all_reasons_in_a_crowd(world in crowds()) {
        failures_are_the_codes_of_the_reasons(&decide(&world, Style::default()))?;
    }
}
