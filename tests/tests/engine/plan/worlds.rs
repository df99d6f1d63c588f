//! Plans that are made up, with everything that they are decided by: from the steps and the base
//! documents of the corpus, with changes.

use super::corpus::{Case, accepted, base, cases, sound};
use crate::random::Random;
use agent_decide::PlanPolicy;
use agent_lower as lower;
use agent_tests::plan::PlanInputs;
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;

/// Everything that a plan is decided by, as values that can be changed.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) plan: Value,
    pub(crate) pool: Value,
    pub(crate) profile: Value,
    pub(crate) lock: Option<Value>,
    pub(crate) index: Option<Value>,
    pub(crate) request: Option<Value>,
}

impl World {
    /// The same as texts, examined.
    pub(crate) fn case(&self) -> Case {
        let bytes = |value: &Value| value.to_string().into_bytes();
        let [lock, index, request] =
            [&self.lock, &self.index, &self.request].map(|it| it.as_ref().map(bytes));
        Case {
            plan: Arc::new(lower::plan(bytes(&self.plan))),
            rules: Arc::new(PlanPolicy::new(
                bytes(&self.pool),
                bytes(&self.profile),
                None,
            )),
            request: request.map(lower::request),
            index: index.map(|text| sound(lower::index(text))),
            lock: lock.map(|text| sound(lower::lock(text))),
            catalogue: None,
        }
    }

    pub(crate) fn steps(&mut self) -> &mut Vec<Value> {
        list(&mut self.plan["plan"], "steps")
    }

    /// The same plan without its last steps.
    pub(crate) fn first(&self, count: usize) -> Self {
        let mut world = self.clone();
        world.steps().truncate(count);
        world
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others = [&self.lock, &self.index, &self.request];
        let all = [&self.plan, &self.pool, &self.profile].into_iter();
        for document in all.chain(others.into_iter().flatten()) {
            writeln!(f, "{document}")?;
        }
        Ok(())
    }
}

/// A list that is a member of an object; an empty one if the member is missing.
pub(crate) fn list<'v>(value: &'v mut Value, name: &str) -> &'v mut Vec<Value> {
    let member = &mut value[name];
    if !member.is_array() {
        *member = json!([]);
    }
    member.as_array_mut().expect("a list")
}

/// Take one item out of a list, if it has one that will do.
pub(crate) fn take(
    list: &mut Vec<Value>,
    random: &mut Random,
    will_do: impl Fn(&Value) -> bool,
) -> Option<Value> {
    let places: Vec<_> = (0..list.len()).filter(|it| will_do(&list[*it])).collect();
    let place = *places.get(random.below(places.len().max(1)))?;
    Some(list.remove(place))
}

/// One item of a list that will do.
pub(crate) fn pick<'v>(
    list: &'v mut [Value],
    random: &mut Random,
    will_do: impl Fn(&Value) -> bool,
) -> Option<&'v mut Value> {
    let mut found: Vec<_> = list.iter_mut().filter(|it| will_do(it)).collect();
    let place = random.below(found.len().max(1));
    (place < found.len()).then(|| found.swap_remove(place))
}

/// What worlds are made of.
pub(crate) struct Maker {
    random: Random,
    base: World,
    /// A lock that has the category of the server, and not its tools.
    category: Value,
    /// Steps of plans that may run under the base documents, by tool.
    good: Vec<Vec<Value>>,
    /// Steps of the other plans.
    bad: Vec<Value>,
}

/// Parts that inputs are taken from, and some that no output has.
const POINTERS: [&str; 9] = [
    "",
    "/audiences",
    "/audiences/0",
    "/audiences/0/name",
    "/body/visits",
    "/exit_code",
    "/status",
    "/no such part",
    "no pointer",
];

/// Inputs for tools that may not expect them.
fn inputs() -> [Value; 10] {
    [
        json!(null),
        json!(7),
        json!("text"),
        json!([]),
        json!({}),
        json!({"limit": 7}),
        json!({"limit": 0}),
        json!({"method": "GET", "url": "https://reports.example/a"}),
        json!({"method": "PUT", "url": "https://reports.example.:443/a"}),
        json!({"program": "/usr/bin/wc", "arguments": ["-l", "/srv/a.txt"]}),
    ]
}

impl Maker {
    pub(crate) fn new(seed: u64) -> Self {
        let json = |text: &[u8]| serde_json::from_slice(text).expect("JSON");
        let read = |name: &str| json(&base(name));
        let of_category = accepted("an-mcp-tool-of-a-locked-category");
        let pool = base("tool-pool.json");
        let stock = |cases: Vec<agent_tests::corpus::Case>| {
            let inputs = cases.iter().map(PlanInputs::of);
            // Under another tool pool other steps are good.
            let inputs = inputs.filter(|inputs| inputs.tool_pool == pool);
            let texts = inputs.map(|inputs| inputs.plan);
            let plans = texts.filter_map(|text| serde_json::from_slice::<Value>(&text).ok());
            let steps = plans.filter_map(|mut plan| {
                let steps = plan.get_mut("plan")?.get_mut("steps")?;
                Some(steps.as_array()?.clone())
            });
            let mut steps: Vec<_> = steps.flatten().filter(Value::is_object).collect();
            // Repetitions of a step in the corpus have no meaning.
            steps.sort_by_key(|it| (it["tool_id"].to_string(), it.to_string()));
            steps.dedup();
            steps
        };
        let (good, bad) = (stock(cases("accept")), stock(cases("reject")));
        assert!(
            good.len() >= 25 && bad.len() >= 60,
            "{} {}",
            good.len(),
            bad.len()
        );
        let good = good.chunk_by(|a, b| a["tool_id"] == b["tool_id"]);
        let good: Vec<_> = good.map(<[_]>::to_vec).collect();
        let roles = json!({"planner": "a-model", "executor": "agent"});
        let pool_ref = json!({"pool_id": "pool", "pool_version": "1.0.0"});
        let profile_ref = json!({"profile_id": "profile", "profile_version": "1.0.0"});
        Self {
            random: Random(seed),
            category: json(&of_category.input("agents.lock").expect("a lock")),
            good,
            bad,
            base: World {
                plan: json!({
                    "envelope_id": "env.mova_agent_plan_v1",
                    "verb": "create",
                    "roles": roles,
                    "plan": {
                        "plan_id": "p",
                        "request_id": "r",
                        "tool_pool_ref": pool_ref,
                        "instruction_profile_ref": profile_ref,
                        "steps": [],
                    },
                }),
                pool: read("tool-pool.json"),
                profile: read("profile.json"),
                lock: Some(read("agents.lock")),
                index: Some(read("mcp.index.json")),
                request: Some(json!({
                    "envelope_id": "env.mova_agent_request_v1",
                    "verb": "create",
                    "roles": {"requester": "ada", "planner": "a-model"},
                    "request": {
                        "request_id": "r",
                        "goal": "Which audiences are the largest?",
                        "context": {},
                        "tool_pool_ref": pool_ref,
                        "instruction_profile_ref": profile_ref,
                    },
                })),
            },
        }
    }

    /// One in so many.
    fn rarely(&mut self, of: usize) -> bool {
        self.random.below(of) == 0
    }

    /// A plan of up to five steps, and the documents of the corpus with up to two changes.
    pub(crate) fn world(&mut self) -> World {
        let mut world = self.base.clone();
        if self.rarely(2) {
            world.request = None;
        }
        if self.rarely(2) {
            world.lock = Some(self.category.clone());
        }
        for _ in 0..=self.random.below(5) {
            let step = self.step(world.steps());
            world.steps().push(step);
        }
        for _ in 0..self.random.below(3) {
            change(&mut world, &mut self.random);
        }
        world
    }

    /// A step behind others.
    pub(crate) fn step(&mut self, earlier: &[Value]) -> Value {
        let random = &mut self.random;
        let from = if random.below(8) == 0 {
            &self.bad
        } else {
            // Each tool is called as often as the others.
            random.one_of(&self.good)
        };
        let mut step = random.one_of(from).clone();
        if random.below(12) == 0 {
            step["input"] = random.one_of(&inputs()).clone();
        }
        if let Some(before) = earlier.get(random.below(earlier.len().max(1)))
            && (step.get("input_from").is_some() || random.below(4) == 0)
        {
            let name = match random.below(20) {
                0 => json!("nowhere"),
                1 => json!(format!("s{}", earlier.len())),
                _ => before["step_id"].clone(),
            };
            let step = step.as_object_mut().expect("an object");
            step.remove("input");
            let from = json!({"step": name, "pointer": random.one_of(&POINTERS)});
            step.insert("input_from".to_owned(), from);
        }
        step["step_id"] = match random.below(40) {
            0 => json!("s0"),
            _ => json!(format!("s{}", earlier.len())),
        };
        step
    }
}

/// Make one change, which may allow more or less than before, or make a document of another kind.
fn change(world: &mut World, random: &mut Random) {
    let number = random.below(100);
    let bindings = world.pool["bindings"].as_array_mut().expect("bindings");
    let binding = random.below(bindings.len());
    let binding = &mut bindings[binding];
    let caps = [
        "max_steps",
        "max_timeout_ms",
        "max_input_bytes",
        "max_output_bytes",
        "max_log_bytes",
    ];
    let cap = *random.one_of(&caps);
    match random.below(14) {
        0 => {
            let most = if cap == "max_steps" { 6 } else { 5_000 };
            world.profile["caps"][cap] = json!(random.below(most));
        }
        1 => {
            let selectors = [
                "*",
                "connector_core:noop/keep",
                "connector_core:noop/discard",
            ];
            let rule = json!({
                "rule_id": "another",
                "effect": random.one_of(&["allow", "allow", "deny", "warn", "log_only"]),
                "target": {"kind": "tool", "selector": random.one_of(&selectors)},
            });
            list(&mut world.profile, "rules").push(rule);
        }
        2 => {
            let rules = list(&mut world.profile, "rules");
            take(rules, random, |rule| rule["effect"] == "deny");
        }
        3 => binding["limits"]["max_input_bytes"] = json!(1 + number),
        4 => binding["limits"]["timeout_ms"] = json!(100 * number),
        5 => binding["limits"]["max_log_bytes"] = json!(100 * number),
        6 => list(binding, "destinations").push(json!("https://other.example")),
        7 => {
            binding
                .as_object_mut()
                .expect("an object")
                .remove("output_schema");
        }
        8 => binding["output_schema"] = json!({"type": "object", "properties": {"status": {}}}),
        9 => binding["input_schema"] = json!({"type": ["object", "integer"]}),
        10 => world.request = None,
        11 => world.plan["plan"]["request_id"] = json!("another"),
        12 => {
            // The lock is then of another index.
            let tools = world
                .index
                .as_mut()
                .map(|index| &mut index["servers"][0]["capabilities"]);
            if let Some(tools) = tools {
                tools["tools"]["list_audiences"]["description"] = json!("Other words.");
            }
        }
        _ => world.profile["label"] = json!("Another one"),
    }
}
