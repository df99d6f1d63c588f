//! Any plan with any host: no effect that was not authorised, and evidence that verifies.

use super::misbehaviour::{Turn, drive_at, honest, outcome};
use super::plan_of;
use agent_run::{Action, Clock, Outcome};
use agent_tests::run::{clock, options};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// A step of some tool of the pool, or of none, with an input that fits or does not.
fn step() -> impl Strategy<Value = Value> {
    let tools = [
        ("connector_acme:audiences", "list"),
        ("connector_acme:audiences", "get"),
        ("connector_acme:audiences", "rename"),
        ("connector_core:http_generic", "get-report"),
        ("connector_core:http_generic", "post-report"),
        ("connector_core:noop", "keep"),
        ("connector_core:noop", "discard"),
        ("connector_core:noop", "nothing"),
        ("connector_core:shell", "list-files"),
    ];
    let inputs = [
        json!({ "limit": 2 }),
        json!({ "id": "a", "name": "A" }),
        json!({ "method": "GET", "url": "https://reports.example/" }),
        json!({ "method": "POST", "url": "https://api.reports.example:8443/", "body": 1 }),
        json!({ "method": "GET", "url": "https://169.254.169.254/latest/" }),
        json!({ "program": "/usr/bin/ls", "arguments": ["-l", "/srv/data"] }),
        json!({ "program": "/usr/bin/rm", "arguments": ["-r", "/srv"] }),
        json!(null),
    ];
    // Most steps fit their tool, or no plan of several would ever run.
    let fitting = [0, 1, 1, 2, 3, 0, 0, 0, 5];
    (0..tools.len(), 0..24_usize).prop_map(move |(tool, input)| {
        let input = inputs.get(input).unwrap_or(&inputs[fitting[tool]]);
        json!({ "connector_id": tools[tool].0, "tool_id": tools[tool].1, "input": input })
    })
}

/// Plans of up to five steps, which may take the output of any step as their input.
fn steps() -> impl Strategy<Value = Value> {
    let step = (step(), prop::option::weighted(0.2, 0..5_usize));
    prop::collection::vec(step, 1..6).prop_map(|steps| {
        let named = steps
            .into_iter()
            .enumerate()
            .map(|(number, (mut step, from))| {
                step["step_id"] = json!(format!("step-{number}"));
                if let Some(from) = from {
                    step.as_object_mut().expect("a step").remove("input");
                    step["input_from"] = json!({ "step": format!("step-{from}"), "pointer": "" });
                }
                step
            });
        Value::Array(named.collect())
    })
}

/// What the pool, the profile and the lock of the base allow, said once more.
fn assert_authorised(action: &Action, approved: &BTreeSet<String>, renames: &mut usize) {
    let is_public = |address: IpAddr| match address {
        IpAddr::V4(it) => {
            !(it.is_private()
                || it.is_loopback()
                || it.is_link_local()
                || it.is_unspecified()
                || it.is_multicast()
                || it.is_broadcast()
                || it.octets()[0] == 0)
        }
        IpAddr::V6(it) => {
            let first = it.segments()[0];
            (0x2000..0x4000).contains(&first)
        }
    };
    let origins = [
        ("reports.example", 443, "GET"),
        ("api.reports.example", 8443, "POST"),
        ("api.reports.example", 8443, "PUT"),
    ];
    match action {
        Action::Resolve(it) => {
            let known = origins.iter().map(|(host, port, _)| (*host, *port));
            let mut known = known.chain([("mcp.acme.example", 443)]);
            assert!(known.any(|known| known == (&*it.host, it.port)), "{it:?}");
        }
        Action::Request(it) => {
            let to = &it.connection;
            let used = (&*to.host, to.port, &*it.method);
            assert!(
                origins.contains(&used) && to.tls && is_public(to.address),
                "{it:?}"
            );
        }
        Action::RunProgram(it) => {
            let allowed = ["/usr/bin/ls", "/usr/bin/wc", "/usr/bin/uptime"];
            assert!(allowed.contains(&&*it.path), "{it:?}");
            assert!(
                it.arguments.iter().all(|it| it.starts_with(['-', '/'])),
                "{it:?}"
            );
            assert!(it.arguments.iter().all(|it| !it.contains("..")), "{it:?}");
        }
        Action::OpenServer(it) => {
            assert_eq!(it.endpoint, "https://mcp.acme.example/audiences");
            let to = it.connection.as_ref().expect("a connection");
            assert!(
                to.host == "mcp.acme.example" && to.tls && is_public(to.address),
                "{to:?}"
            );
        }
        Action::CallTool(it) => {
            let locked = ["list_audiences", "rename_audience"];
            assert!(locked.contains(&&*it.tool), "{it:?}");
            if it.tool == "rename_audience" {
                *renames += 1;
                assert!(*renames <= approved.len(), "{it:?}");
            }
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_effect_is_wanted_that_is_not_authorised(
        steps in steps(),
        answers in prop::collection::vec((0..8_u8, outcome()), 0..30),
        jumps in prop::collection::vec(0..400_u64, 1..20),
    ) {
        let mut answers = answers.into_iter();
        let (mut approved, mut renames) = (BTreeSet::new(), 0);
        // Time goes on unevenly, and now and then back.
        let at = |reading: u64| Clock {
            unix_ms: clock(reading).unix_ms - jumps[reading as usize % jumps.len()],
            monotonic_ms: reading * 3 + jumps[reading as usize % jumps.len()] / 4,
            utc_offset_minutes: 0,
        };
        let ended = drive_at(at, (plan_of(steps), options()), |_, action| {
            assert_authorised(action, &approved, &mut renames);
            let turn = match (action, answers.next()) {
                (Action::Store(_), _) => Turn::Answer(Outcome::Stored),
                // Most answers fit, or no run would reach its effects.
                (action, Some((0..2, answer))) if action.accepts(&answer) => Turn::Answer(answer),
                (action, _) => honest(action),
            };
            if let (Action::Approve(it), Turn::Answer(Outcome::Decision { approved: true, by })) =
                (action, &turn)
                && !by.is_empty()
            {
                approved.insert(it.step_id.clone());
            }
            turn
        });
        prop_assert!(ended.is_complete());
    }
}
