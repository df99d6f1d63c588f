//! Generated plans, the same in every run.

use crate::random::Random;
use serde_json::{Value, json};

/// The number of plans for each invalid one.
const INVALID: usize = 5;

/// The subjects of steps.
const SUBJECTS: [&str; 8] = [
    "the largest audiences of the season",
    "the visits of the last month, by country",
    "café terraces that took part in the survey",
    "orders that were returned within a week",
    "the newsletter's readers, the oldest first",
    "what was said of \"Project 7\" in the press",
    "the campaigns that end before the holidays",
    "prices of the competitors in both regions",
];

/// Returns plans over the tools of `examples/plans/tool-pool.json`, one per line. A fifth of them
/// is an invalid `env.mova_agent_plan_v1`, each for up to three reasons.
pub(crate) fn generate(plans: usize) -> Vec<u8> {
    let mut random = Random::new();
    let mut lines = String::new();
    for number in 0..plans {
        let mut plan = plan(number, &mut random);
        if random.below(INVALID) == 0 {
            for _ in 0..1 + random.below(3) {
                spoil(&mut plan, &mut random);
            }
        }
        lines.push_str(&plan.to_string());
        lines.push('\n');
    }
    lines.into_bytes()
}

fn plan(number: usize, random: &mut Random) -> Value {
    let subject = random.one_of(&SUBJECTS);
    let steps: Vec<_> = (0..5 + random.below(3))
        .map(|place| step(place, random))
        .collect();
    json!({
        "envelope_id": "env.mova_agent_plan_v1",
        "verb": "create",
        "roles": { "planner": "planner of the marketing team", "executor": "agent" },
        "plan": {
            "plan_id": format!("plan {number} about {subject}"),
            "request_id": format!("request-{:09}", random.below(1_000_000_000)),
            "tool_pool_ref": { "pool_id": "hello-plans", "pool_version": "1.0.0" },
            "instruction_profile_ref": { "profile_id": "hello-plans", "profile_version": "1.0.0" },
            "model_instruction": {
                "channel": "model_instruction",
                "lang": "en",
                "text": format!(
                    "Find {subject}.\nUse the fewest steps that will do, keep what was found, and \
                     say where it comes from."
                ),
            },
            "steps": steps,
        },
        "meta": {
            "created_at": format!("2026-11-{:02}T08:{:02}:00Z", 1 + random.below(30), random.below(60)),
            "correlation_id": format!("{:08x}-{:08x}", random.below(1 << 31), random.below(1 << 31)),
        },
    })
}

/// Returns a step that lists, gets, keeps an earlier output, or keeps its own input.
fn step(place: usize, random: &mut Random) -> Value {
    let (subject, other) = (random.one_of(&SUBJECTS), random.one_of(&SUBJECTS));
    let step_id = format!("step-{place}");
    match random.below(4) {
        0 => json!({
            "step_id": step_id,
            "title": format!("List {subject}, and then those that are about {other}"),
            "connector_id": "connector_acme:audiences",
            "tool_id": "list",
            "input": { "limit": 1 + random.below(100) },
            "output_schema_ref": "urn:example:audiences",
        }),
        1 => json!({
            "step_id": step_id,
            "title": format!("Get the report about {subject}, as it was at the end of the month"),
            "connector_id": "connector_core:http_generic",
            "tool_id": "get-report",
            "input": {
                "method": "GET",
                "url": format!(
                    "https://reports.example/{}/{:02}/report-{}.json?language=en&format=full",
                    2020 + random.below(7),
                    1 + random.below(12),
                    random.below(100_000),
                ),
            },
        }),
        2 if place > 0 => json!({
            "step_id": step_id,
            "title": format!("Keep what was found about {subject}, for those who ask about {other}"),
            "connector_id": "connector_core:noop",
            "tool_id": "keep",
            "input_from": { "step": format!("step-{}", random.below(place)), "pointer": "" },
        }),
        _ => json!({
            "step_id": step_id,
            "title": format!("Keep a note about {subject}"),
            "connector_id": "connector_core:noop",
            "tool_id": "keep",
            "input": {
                "about": subject,
                "final": random.below(2) == 0,
                "scores": [random.below(100), 0.25, -1.5e3],
                "sources": [{ "title": other, "page": random.below(500), "quoted": null }],
            },
        }),
    }
}

/// The invalid changes: a member's new value, or null to remove the member. A question mark
/// represents any of the first five steps.
fn faults() -> [(&'static str, Value); 20] {
    let from = json!({ "step": "step-0", "pointer": "no pointer" });
    [
        // Unknown members.
        ("/comment", json!("what no plan has")),
        ("/plan/model", json!({ "name": "any" })),
        ("/plan/steps/?/condition", json!("$.visits > 7")),
        ("/plan/steps/?/titel", json!("a slip")),
        // Missing ones.
        ("/roles", json!(null)),
        ("/roles/executor", json!(null)),
        ("/plan/request_id", json!(null)),
        ("/plan/steps/?/step_id", json!(null)),
        // Neither input, and both of them.
        ("/plan/steps/0/input", json!(null)),
        ("/plan/steps/0/input_from", from),
        // Other types.
        ("/meta/created_at", json!(1_793_520_000)),
        ("/plan/steps/?/title", json!(["a", "list"])),
        ("/plan/steps/?", json!("a step in words")),
        // Other constants.
        ("/verb", json!("update")),
        ("/envelope_id", json!("env.mova_agent_request_v1")),
        // Other forms.
        ("/plan/plan_id", json!("two\nlines")),
        ("/plan/request_id", json!("Request 7")),
        ("/plan/steps/?/tool_id", json!("keep/all")),
        // Empty values of non-empty members.
        ("/plan/model_instruction/text", json!("")),
        ("/plan/steps", json!([])),
    ]
}

/// Makes a plan invalid. A missing member stays unchanged.
fn spoil(plan: &mut Value, random: &mut Random) {
    let (pointer, value) = random.one_of(&faults()).clone();
    let pointer = pointer.replace('?', &random.below(5).to_string());
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    match plan.pointer_mut(parent) {
        Some(Value::Object(members)) if value.is_null() => drop(members.remove(name)),
        Some(Value::Object(members)) => drop(members.insert(name.to_owned(), value)),
        Some(Value::Array(items)) => {
            let place: usize = name.parse().expect("a place");
            items.splice(place.min(items.len()).., [value]);
        }
        _ => {}
    }
}

impl Random {
    fn one_of<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }
}
