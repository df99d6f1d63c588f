//! The clauses of specification 4, by name, with their settled interpretations.

use agent_decide::PolicyEngine;
use agent_tests::difference::difference;
use agent_tests::files::{File as _, Match, Preference, Reason, ToolRequirement};
use agent_tests::inputs::{Given, Inputs};
use agent_tests::native;
use agent_tests::policy::DIGEST;
use agent_tests::policy::{Fake, Rule};
use serde_json::{Value, json};
use std::sync::Arc;

/// `verb:resource` with tags, as a tool advertises it.
fn block(verb: &str, resource: &str, tags: &[&str]) -> Value {
    json!({ "constraints": tags, "resource": resource, "verb": verb })
}

/// An entry of the index.
fn server(id: &str, tools: Value) -> Value {
    json!({
        "id": id,
        "version": "1.0.0",
        "endpoint": format!("https://{id}.example/mcp"),
        "categories": [],
        "scopes": [],
        "data": { "residency": "any", "maxSensitivity": "pii.high" },
        "trust": { "signed": true, "publisher": "Acme, Inc." },
        "capabilities": { "tools": tools },
    })
}

/// A server that searches the internet.
fn searcher(id: &str, class: Option<&str>, tags: &[&str]) -> Value {
    let tool = json!({ "x-summit-capabilities": [block("search", "internet", tags)] });
    let mut server = server(id, json!({ "search_web": tool }));
    if let Some(class) = class {
        server["class"] = json!(class);
    }
    server
}

fn inputs(task: &str, servers: &[Value]) -> Inputs {
    Inputs {
        index: json!(servers).to_string().into_bytes(),
        task: Some(Given::text(task)),
        ..Inputs::default()
    }
}

const SEARCH: &str = "task_id: t\nrequired_capabilities:\n  - {verb: search, resource: internet}\n";

fn matched(inputs: &Inputs, policy: Option<Arc<dyn PolicyEngine>>) -> Match {
    let read = native::read(inputs, policy).unwrap_or_else(|found| panic!("{found:#?}"));
    let text = agent_render::matching(&read.matching()).expect("small enough");
    Match::read(&text).expect("its type")
}

fn answer(inputs: &Inputs) -> ToolRequirement {
    matched(inputs, None).requirements.remove(0)
}

/// `server/tool` of what was selected.
fn selected(inputs: &Inputs) -> Option<String> {
    answer(inputs)
        .selected
        .first()
        .map(|it| format!("{}/{}", it.id, it.tool))
}

/// Everything for which the inputs are refused: code, line and column of each label.
fn refused(inputs: &Inputs) -> Vec<(String, Vec<(u32, u32)>)> {
    let Err(found) = native::read(inputs, None) else {
        return Vec::new();
    };
    let places = found.iter().map(|problem| {
        let starts = problem.labels.iter().map(|label| label.place.start);
        let starts = starts.map(|start| (start.line, start.column)).collect();
        (problem.code.name().to_owned(), starts)
    });
    places.collect()
}

/// [4, 2.1]: the six verbs and no other.
#[test]
fn clause_2_1_verbs_are_a_closed_list() {
    for verb in ["search", "read", "write", "execute", "reason", "notify"] {
        let task = SEARCH.replace("search", verb);
        let tool = json!({ "x-summit-capabilities": [block(verb, "internet", &[])] });
        let found = selected(&inputs(&task, &[server("a", json!({ "t": tool }))]));
        assert_eq!(found.as_deref(), Some("a/t"), "{verb}");
    }
    for verb in ["delete", "Search", "x-search", "\"search \""] {
        let task = SEARCH.replace("search", verb);
        let found = refused(&inputs(&task, &[]));
        assert_eq!(
            found,
            [("UNKNOWN_VALUE".to_owned(), vec![(3, 12)])],
            "{verb}"
        );
    }
    let tool = json!({ "x-summit-capabilities": [block("delete", "internet", &[])] });
    let found = refused(&inputs(SEARCH, &[server("a", json!({ "t": tool }))]));
    assert_eq!(found[0].0, "UNKNOWN_VALUE");
}

/// [4, 2.2], [4, 2.3]: the listed words, and custom words, which contain a dash, a dot or a colon;
/// misspelt names contain none.
#[test]
fn clauses_2_2_and_2_3_resources_and_constraints_are_listed_or_of_ones_own() {
    let resources = [
        "internet",
        "codebase",
        "knowledge_graph",
        "aws",
        "slack",
        "fs",
    ];
    let tags = ["readonly", "human_in_the_loop", "pii_safe", "rate_limited"];
    let own = ["x-crm", "org.crm", "org:crm"];
    for resource in resources.into_iter().chain(own) {
        for tag in tags.into_iter().chain(own) {
            let task = SEARCH.replace(
                "internet",
                &format!("\"{resource}\", constraints: [\"{tag}\"]"),
            );
            let tool = json!({ "x-summit-capabilities": [block("search", resource, &[tag])] });
            let found = selected(&inputs(&task, &[server("a", json!({ "t": tool }))]));
            assert_eq!(found.as_deref(), Some("a/t"), "{resource} {tag}");
        }
    }
    for (wrong, meant) in [
        ("intranet", "internet"),
        ("internet, constraints: [read_only]", "readonly"),
        ("internet, constraints: [readonly, pii_save]", "pii_safe"),
    ] {
        let inputs = inputs(&SEARCH.replace("internet", wrong), &[]);
        let found = native::read(&inputs, None).expect_err("it is misspelt");
        assert_eq!(found[0].code.name(), "UNKNOWN_VALUE");
        assert!(
            found[0].fixes.iter().any(|fix| fix.title.contains(meant)),
            "{found:#?}"
        );
    }
    for block in [
        block("search", "intranet", &[]),
        block("search", "internet", &["read_only"]),
    ] {
        let tool = json!({ "x-summit-capabilities": [block] });
        let found = refused(&inputs(SEARCH, &[server("a", json!({ "t": tool }))]));
        assert_eq!(found[0].0, "UNKNOWN_VALUE");
    }
}

/// [4, 3]: what a server advertises stands under the name of each tool; the example.
#[test]
fn clause_3_each_tool_advertises_for_itself() {
    let mut brave = server(
        "brave-search",
        json!({
            "search_web": {
                "description": "Search the public internet via Brave.",
                "x-summit-capabilities": [
                    { "verb": "search", "resource": "internet", "constraints": ["readonly"] }
                ]
            },
            "summarize": { "x-summit-capabilities": [block("reason", "knowledge_graph", &[])] },
            "silent": {},
            "listChanged": true
        }),
    );
    let task = SEARCH.replace("internet}", "internet, constraints: [readonly]}");
    let found = answer(&inputs(&task, &[brave.clone()]));
    let best = found.selected.first().expect("it is advertised");
    assert_eq!((&*best.id, &*best.tool), ("brave-search", "search_web"));
    // Promises of two tools, or of two blocks of one tool, are not added up.
    let rejected: Vec<_> = found
        .rejected
        .iter()
        .map(|it| (it.tool.as_deref(), &it.reasons[0]))
        .collect();
    let offered = |list: &[&str]| Reason::MissingCapability {
        offered: list.iter().map(|pair| (*pair).to_owned()).collect(),
    };
    assert_eq!(
        rejected,
        [
            (Some("silent"), &offered(&[])),
            (Some("summarize"), &offered(&["reason:knowledge_graph"])),
        ]
    );
    // A boolean `listChanged` is a flag; any other value except an object is an error.
    brave["capabilities"]["tools"]["listChanged"] = json!({});
    assert_eq!(answer(&inputs(&task, &[brave.clone()])).rejected.len(), 3);
    for (key, value) in [
        ("listChanged", json!(1)),
        ("listChanged", json!(null)),
        ("other", json!(true)),
    ] {
        brave["capabilities"]["tools"][key] = value;
        assert_eq!(refused(&inputs(&task, &[brave.clone()]))[0].0, "WRONG_TYPE");
    }
}

/// [4, 4]: the example, as YAML and as JSON.
#[test]
fn clause_4_a_task_declares_what_it_requires() {
    let yaml = "\
task_id: \"investigate-domain-spoofing\"
required_capabilities:
  - verb: \"search\"
    resource: \"internet\"
  - verb: \"read\"
    resource: \"codebase\"
    constraints: [\"readonly\"]
";
    let json = json!({
        "task_id": "investigate-domain-spoofing",
        "required_capabilities": [
            { "verb": "search", "resource": "internet" },
            { "verb": "read", "resource": "codebase", "constraints": ["readonly"] },
        ],
    });
    let reader =
        json!({ "read": { "x-summit-capabilities": [block("read", "codebase", &["readonly"])] } });
    let servers = [searcher("a", None, &[]), server("b", reader)];
    let expected = matched(&inputs(yaml, &servers), None);
    assert!(expected.satisfied);
    assert_eq!(
        expected.task.as_ref().map(|task| &*task.id),
        Some("investigate-domain-spoofing")
    );
    for (text, is_json) in [
        (json.to_string(), false),
        (json.to_string(), true),
        (format!("\u{feff}{json}"), true),
        (format!("\u{feff}{}", json!(json)), false),
        (format!("\u{feff}{yaml}"), false),
        (format!("---\n{yaml}"), false),
        (yaml.replace('\n', "\r\n"), false),
    ] {
        let mut inputs = inputs("", &servers);
        inputs.task = Some(Given {
            bytes: text.clone().into_bytes(),
            json: is_json,
        });
        assert_eq!(matched(&inputs, None), expected, "{text}");
    }
    // A file whose name says JSON is nothing else.
    let mut named = inputs("", &servers);
    named.task = Some(Given {
        bytes: yaml.into(),
        json: true,
    });
    assert_eq!(refused(&named)[0].0, "JSON_SYNTAX");
    for (old, new, code) in [
        (
            "task_id: \"investigate-domain-spoofing\"\n",
            "",
            "MISSING_FIELD",
        ),
        ("\"investigate-domain-spoofing\"", "''", "EMPTY_VALUE"),
        ("    resource: \"internet\"\n", "", "MISSING_FIELD"),
        (
            "\"codebase\"\n",
            "\"codebase\"\n    load: lazy\n",
            "UNKNOWN_VALUE",
        ),
    ] {
        let found = refused(&inputs(&yaml.replace(old, new), &servers));
        assert_eq!(found[0].0, code, "{new:?}");
    }
    let nothing = inputs("task_id: t\nrequired_capabilities: []\n", &servers);
    assert_eq!(refused(&nothing)[0].0, "EMPTY_VALUE");
}

/// [4, 5] step by step: each step sees only what the steps before it left.
#[test]
fn clause_5_steps_are_taken_in_their_order() {
    let task = SEARCH.replace("internet}", "internet, constraints: [readonly]}");
    let other = json!({ "x-summit-capabilities": [block("read", "internet", &["readonly"])] });
    let servers = [
        server("a-filtered", json!({ "t": other })),
        searcher("b-pruned", None, &["pii_safe"]),
        searcher("c-denied", None, &["readonly"]),
        searcher("d-low", Some("free"), &["readonly"]),
        searcher("e-ill", Some("local"), &["readonly"]),
        searcher("f-best", Some("paid"), &["pii_safe", "readonly"]),
    ];
    let mut inputs = inputs(&task, &servers);
    inputs.tenant = Some(Given::text(
        "tenants: [{id: acme, tier: gold, priorities: {classes: {local: 30, paid: 20, free: 10}}}]",
    ));
    inputs.health = Some(Given::text(
        "{\"c-denied\": \"HEALTHY\", \"d-low\": \"HEALTHY\", \"e-ill\": \"UNHEALTHY\", \"f-best\": \"PROBATION\"}",
    ));
    let fake = Arc::new(DenyC::default());
    let found = matched(&inputs, Some(fake.clone())).requirements.remove(0);
    let asked: Value = serde_json::from_str(&fake.0.lock().expect("no panic")[0]).expect("JSON");
    let candidates = asked["candidate_tools"].as_array().expect("a list").iter();
    let ids: Vec<_> = candidates
        .map(|it| it["id"].as_str().expect("a string"))
        .collect();
    // The policy is asked before health, and not about what was filtered or pruned.
    assert_eq!(
        ids,
        ["c-denied", "d-low", "e-ill", "f-best"].map(|id| format!("{id}@1.0.0/search_web"))
    );
    let members: Vec<_> = asked.as_object().expect("an object").keys().collect();
    assert_eq!(
        members,
        [
            "arguments",
            "candidate_tools",
            "context",
            "phase",
            "requirement",
            "subject",
            "task",
            "tenant_policy",
            "user_tier"
        ]
    );
    assert_eq!(asked["user_tier"], "gold");
    assert_eq!(asked["phase"], "resolve");
    let codes: Vec<_> = found
        .rejected
        .iter()
        .map(|it| (&*it.id, it.reasons[0].code()))
        .collect();
    assert_eq!(
        codes,
        [
            ("a-filtered", "MISSING_CAPABILITY"),
            ("b-pruned", "CONSTRAINT_UNMET"),
            ("c-denied", "POLICY_DENIED"),
            ("e-ill", "HEALTH_VETO"),
        ]
    );
    assert_eq!(found.selected.first().expect("one is left").id, "f-best");
    assert_eq!(found.eligible[0].id, "d-low");
    assert_eq!(found.eligible[0].lost_on, Preference::Priority);
}

/// Denies what begins with `c`.
#[derive(Debug, Default)]
struct DenyC(std::sync::Mutex<Vec<String>>);

impl PolicyEngine for DenyC {
    fn digest(&self) -> String {
        DIGEST.to_owned()
    }

    fn ask(&self, input: &str) -> agent_decide::PolicyDecision {
        self.0.lock().expect("no panic").push(input.to_owned());
        let input: Value = serde_json::from_str(input).expect("JSON");
        let ids = input["candidate_tools"].as_array().expect("a list").iter();
        let ids = ids.map(|it| it["id"].as_str().expect("a string").to_owned());
        agent_decide::PolicyDecision {
            answer: Ok(agent_decide::Allowed {
                tools: ids.filter(|id| !id.starts_with('c')).collect(),
                ..Default::default()
            }),
            lines: Vec::new(),
        }
    }
}

/// [4, 5.3]: without an answer nothing is allowed.
#[test]
fn clause_5_3_a_policy_that_fails_denies() {
    let inputs = inputs(
        SEARCH,
        &[searcher("a", None, &[]), searcher("b", None, &[])],
    );
    for why in ["budget", "runtime", "type", "undefined"] {
        let found = matched(&inputs, Some(Fake::new(Rule::Fails(why))))
            .requirements
            .remove(0);
        assert_eq!(found.selected.first(), None);
        for rejected in found.rejected {
            let reason = why.to_owned();
            assert_eq!(rejected.reasons, [Reason::PolicyError { reason }]);
        }
    }
    // So is a policy that the tenant names and that is missing.
    let mut named = inputs;
    named.tenant = Some(Given::text("tenants: [{id: acme, policy: policy.rego}]"));
    assert_eq!(selected(&named), None);
}

/// [4, 5.4]: the tenant's priorities, a server's own before that of its class, 0 without.
#[test]
fn clause_5_4_priorities_rank() {
    let servers = [
        searcher("a", Some("free"), &[]),
        searcher("b", Some("paid"), &[]),
        searcher("c", Some("local"), &[]),
        searcher("d", None, &[]),
    ];
    let best = |tenant: &str| {
        let mut inputs = inputs(SEARCH, &servers);
        inputs.tenant = Some(Given::text(format!(
            "tenants:\n  - id: acme\n    priorities: {tenant}\n"
        )));
        let answer = answer(&inputs);
        let lost: Vec<_> = answer.eligible.iter().map(|it| it.lost_on).collect();
        let best = answer.selected.first().expect("all will do");
        (best.id.clone(), lost)
    };
    let (by_priority, by_id) = (Preference::Priority, Preference::Id);
    assert_eq!(
        best("{classes: {local: 30, paid: 20, free: 10}}"),
        ("c".to_owned(), vec![by_priority; 3])
    );
    assert_eq!(
        best("{classes: {local: 30, paid: 20}, servers: {b: 31}}"),
        ("b".to_owned(), vec![by_priority; 3])
    );
    assert_eq!(
        best("{classes: {local: 30, paid: 20}, servers: {c: -1}}"),
        ("b".to_owned(), vec![by_priority; 3])
    );
    assert_eq!(
        best("{classes: {free: -1}}"),
        ("b".to_owned(), vec![by_priority, by_id, by_id])
    );
    assert_eq!(
        best("{servers: {a: 0, d: 0}}"),
        ("a".to_owned(), vec![by_id; 3])
    );
    for wrong in [
        "{classes: {local: 1.5}}",
        "{servers: {a: high}}",
        "{servers: {a: null}}",
        "{classes: [1]}",
    ] {
        let mut inputs = inputs(SEARCH, &servers);
        inputs.tenant = Some(Given::text(format!(
            "tenants:\n  - id: acme\n    priorities: {wrong}\n"
        )));
        assert_eq!(refused(&inputs)[0].0, "WRONG_TYPE", "{wrong}");
    }
}

/// [4, 5] tie-breaking: by the name of the server, then its version, then the name of the tool,
/// all by code point.
#[test]
fn clause_5_ties_are_broken_by_name() {
    let tool = || json!({ "x-summit-capabilities": [block("search", "internet", &[])] });
    let versioned = |id: &str, version: &str, tools: Value| {
        let mut server = server(id, tools);
        server["version"] = json!(version);
        server
    };
    let servers = [
        versioned("Z", "2", json!({ "b": tool(), "B": tool() })),
        versioned("a", "10.0.0", json!({ "z": tool() })),
        versioned("a", "2.0.0", json!({ "y": tool() })),
        versioned("\u{ffff}", "1", json!({ "x": tool() })),
        versioned("\u{10000}", "1", json!({ "w": tool() })),
    ];
    let order = ["B", "b", "z", "y", "x", "w"];
    for turn in 0..servers.len() {
        let mut turned = servers.to_vec();
        turned.rotate_left(turn);
        let inputs = inputs(SEARCH, &turned);
        let read = native::read(&inputs, None).expect("valid");
        let matching = read.matching();
        let found: Vec<_> = matching
            .eligible(0)
            .map(|tool| tool.name().to_owned())
            .collect();
        assert_eq!(found, order);
    }
    let found = answer(&inputs(SEARCH, &servers));
    let lost: Vec<_> = found
        .eligible
        .iter()
        .map(|it| (&*it.tool, it.lost_on))
        .collect();
    let id = Preference::Id;
    assert_eq!(
        lost,
        [
            ("b", Preference::Tool),
            ("z", id),
            ("y", id),
            ("x", id),
            ("w", id)
        ]
    );
    let found = answer(&inputs(SEARCH, &servers[1..]));
    assert_eq!(found.eligible[0].lost_on, Preference::Version);
}

/// [4, 6.1]: `essential` unless it is said otherwise; the lock keeps it.
#[test]
fn clause_6_1_a_requirement_says_when_its_tool_is_loaded() {
    let manifest = "---\nname: a\nversion: 1\nrequires:\n  capabilities:\n    \
        - {verb: search, resource: internet}\n    \
        - {verb: search, resource: internet, load: on_demand}\n    \
        - {verb: search, resource: internet, load: essential}\n---\n";
    let inputs = Inputs {
        manifest: Some(manifest.into()),
        index: json!([searcher("a", None, &[])]).to_string().into_bytes(),
        ..Inputs::default()
    };
    let answers = native::under(&inputs);
    let lock: Value = serde_json::from_str(&answers["agents.lock"]).expect("JSON");
    let loads: Vec<_> = lock["selections"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| &it["load"])
        .collect();
    // Identical selections are all kept.
    assert_eq!(loads, ["essential", "essential", "on_demand"]);
}

/// [4, 7.1]: two servers offer the same; the tenant's order decides.
#[test]
fn clause_7_1_conflicting_capabilities_are_ranked() {
    let servers = [
        searcher("brave", Some("paid"), &[]),
        searcher("google", Some("free"), &[]),
    ];
    let with = |tenant: &str| {
        let mut inputs = inputs(SEARCH, &servers);
        inputs.tenant = Some(Given::text(tenant));
        selected(&inputs)
    };
    let order = |first: u8, second: u8| {
        format!(
            "tenants: [{{id: t, priorities: {{servers: {{brave: {first}, google: {second}}}}}}}]"
        )
    };
    assert_eq!(with(&order(2, 1)).as_deref(), Some("brave/search_web"));
    assert_eq!(with(&order(1, 2)).as_deref(), Some("google/search_web"));
    assert_eq!(with(&order(1, 1)).as_deref(), Some("brave/search_web"));
}

/// [4, 7.2]: a partial match does not count.
#[test]
fn clause_7_2_partial_matches_fail_closed() {
    let task = SEARCH.replace("internet}", "internet, constraints: [pii_safe]}");
    let lacking = searcher("a", None, &["readonly"]);
    let found = matched(&inputs(&task, std::slice::from_ref(&lacking)), None);
    assert!(!found.satisfied);
    let missing = vec!["pii_safe".to_owned()];
    assert_eq!(
        found.requirements[0].rejected[0].reasons,
        [Reason::ConstraintUnmet { missing }]
    );
    // One block must meet all of them; the reason has the shortest list, then the smallest.
    let task = SEARCH.replace(
        "internet}",
        "internet, constraints: [pii_safe, readonly, x-a, x-b]}",
    );
    let tool = json!({ "x-summit-capabilities": [
        block("search", "internet", &["x-a"]),
        block("search", "internet", &["pii_safe", "readonly"]),
        block("search", "internet", &["x-a", "x-b"]),
        block("search", "codebase", &["pii_safe", "readonly", "x-a", "x-b"]),
    ] });
    let found = answer(&inputs(&task, &[server("a", json!({ "t": tool }))]));
    let missing = ["pii_safe", "readonly"].map(str::to_owned).to_vec();
    assert_eq!(
        found.rejected[0].reasons,
        [Reason::ConstraintUnmet { missing }]
    );
    // No lock, and nothing in its place.
    let manifest = "---\nname: a\nversion: 1\nrequires:\n  capabilities: \
        [{verb: search, resource: internet, constraints: [pii_safe]}]\n---\n";
    let answers = native::under(&Inputs {
        manifest: Some(manifest.into()),
        index: json!([lacking]).to_string().into_bytes(),
        ..Inputs::default()
    });
    assert!(!answers.contains_key("agents.lock"));
}

/// [4, 7.3]: the next in rank takes the place of one that is not healthy; without any, it fails.
#[test]
fn clause_7_3_health_has_a_veto() {
    let servers = [
        searcher("a", None, &[]),
        searcher("b", None, &[]),
        searcher("c", None, &[]),
    ];
    let with = |health: Option<&str>| {
        let mut inputs = inputs(SEARCH, &servers);
        inputs.health = health.map(Given::text);
        let answer = answer(&inputs);
        let vetoes: Vec<_> = answer
            .rejected
            .into_iter()
            .map(|it| (it.id, it.reasons))
            .collect();
        (answer.selected.first().map(|it| it.id.clone()), vetoes)
    };
    let veto = |id: &str, status: Option<&str>| {
        let status = status.map(str::to_owned);
        (id.to_owned(), vec![Reason::HealthVeto { status }])
    };
    assert_eq!(with(None), (Some("a".to_owned()), vec![]));
    assert_eq!(
        with(Some("a: HEALTHY\nb: HEALTHY\nc: PROBATION\n")),
        (Some("a".to_owned()), vec![])
    );
    for status in ["UNHEALTHY", "STARTING", "QUARANTINE"] {
        // Also what is ranked below the selected one is asked.
        let health = format!("a: {status}\nb: HEALTHY\nc: {status}\n");
        let expected = vec![veto("a", Some(status)), veto("c", Some(status))];
        assert_eq!(with(Some(&health)), (Some("b".to_owned()), expected));
    }
    assert_eq!(
        with(Some("c: PROBATION\n")),
        (Some("c".to_owned()), vec![veto("a", None), veto("b", None)])
    );
    for nothing in ["{}", "{ }\n", "---\n{}\n", "zed: HEALTHY\n"] {
        let (selected, vetoes) = with(Some(nothing));
        assert_eq!((selected, vetoes.len()), (None, 3), "{nothing:?}");
    }
    for wrong in ["a: healthy\n", "a: 1\n", "[a]\n"] {
        let mut inputs = inputs(SEARCH, &servers);
        inputs.health = Some(Given::text(wrong));
        assert!(!refused(&inputs).is_empty(), "{wrong:?}");
    }
}

/// What is forbidden can't be required, by a manifest or by its task; a tool of a forbidden name
/// is rejected.
#[test]
fn forbidden_capabilities_contradict_and_forbidden_tools_are_rejected() {
    let manifest = |forbid: &str, requires: &str| {
        format!(
            "---\nname: a\nversion: 1\nrequires:\n  {requires}\nconstraints:\n  actions: {{forbid: ['{forbid}']}}\n---\n"
        )
    };
    let own = "capabilities: [{verb: search, resource: internet}]";
    let other = "capabilities: [{verb: read, resource: fs}]";
    let servers = [searcher("a", None, &[]), searcher("b", None, &[])];
    for label in ["search", "search:internet"] {
        let place = if label == "search" { 25 } else { 43 };
        let mut inputs = inputs(SEARCH, &servers);
        inputs.task = None;
        inputs.manifest = Some(manifest(label, own).into());
        assert_eq!(
            refused(&inputs),
            [("FORBIDDEN_ACTION".to_owned(), vec![(5, place), (7, 22)])]
        );
        // The same in the task: both places, each in its own text.
        let mut inputs = self::inputs(SEARCH, &servers);
        inputs.manifest = Some(manifest(label, other).into());
        let place = if label == "search" { 12 } else { 30 };
        assert_eq!(
            refused(&inputs),
            [("FORBIDDEN_ACTION".to_owned(), vec![(3, place), (7, 22)])]
        );
    }
    let mut inputs = inputs(SEARCH, &servers);
    inputs.manifest = Some(manifest("search_web", other).into());
    let read = native::read(&inputs, None).expect("no contradiction");
    let matching = read.matching();
    assert_eq!(matching.eligible(1).count(), 0);
    for tool in matching.index().tools() {
        let codes: Vec<_> = matching
            .reasons(1, tool)
            .iter()
            .map(|it| it.code().name())
            .collect();
        assert_eq!(codes, ["FORBIDDEN_ACTION"]);
    }
}

/// The reported block is the one that gets a tag, also if others lack as much.
#[test]
fn a_tag_that_is_told_to_be_missing_can_be_added() {
    let task = SEARCH.replace("internet}", "internet, constraints: [pii_safe, readonly]}");
    let tool = json!({ "x-summit-capabilities": [
        block("search", "internet", &["pii_safe"]),
        block("search", "internet", &["readonly"]),
    ] });
    let inputs = inputs(&task, &[server("a", json!({ "t": tool }))]);
    let read = native::read(&inputs, None).expect("valid");
    let matching = read.matching();
    let near = matching.nearest(0, 1);
    let changes: Vec<_> = near[0]
        .fixes
        .iter()
        .map(|fix| format!("{:?}", fix.changes))
        .collect();
    assert_eq!(
        changes,
        [
            "[AddConstraint(\"pii_safe\")]",
            "[DropConstraint(\"pii_safe\")]"
        ]
    );
}

/// The requirements of a task stand behind those of the manifest, and under its constraints.
#[test]
fn requirements_of_a_task_are_appended_to_those_of_the_manifest() {
    let manifest = "---\nname: a\nversion: 1\nrequires:\n  capabilities: [{verb: search, resource: internet, load: on_demand}]\n\
        constraints:\n  trust: {requireSigned: true}\n---\n";
    let mut unsigned = searcher("a", None, &[]);
    unsigned["trust"]["signed"] = json!(false);
    let mut inputs = inputs(SEARCH, &[unsigned, searcher("b", None, &[])]);
    inputs.manifest = Some(manifest.into());
    let found = matched(&inputs, None);
    assert!(found.constraints.require_signed);
    let ids: Vec<_> = found
        .requirements
        .iter()
        .map(|it| it.selected.first().map(|it| &*it.id))
        .collect();
    assert_eq!(ids, [Some("b"), Some("b")]);
    inputs.manifest = None;
    let found = matched(&inputs, None);
    assert_eq!(
        found.requirements[0].selected.first().map(|it| &*it.id),
        Some("a")
    );
    assert!(!found.constraints.require_signed);
}

/// A tool that promises a human in the loop is selected with an obligation.
#[test]
fn human_in_the_loop_is_an_obligation_of_what_was_selected() {
    let manifest = "---\nname: a\nversion: 1\nrequires:\n  capabilities: [{verb: search, resource: internet}]\n---\n";
    for (tags, expected) in [
        (&["human_in_the_loop"][..], json!(["approval"])),
        (&["readonly"], json!([])),
    ] {
        let answers = native::under(&Inputs {
            manifest: Some(manifest.into()),
            index: json!([searcher("a", None, tags)]).to_string().into_bytes(),
            ..Inputs::default()
        });
        let summary: Value = serde_json::from_str(&answers["summary.json"]).expect("JSON");
        assert_eq!(
            summary["requirements"][0]["selected"]["obligations"],
            expected
        );
    }
}

/// One tenant is meant, or one of several is named.
#[test]
fn a_tenant_is_the_only_one_or_named() {
    let with = |text: &str, id: Option<&str>| {
        let mut inputs = inputs(SEARCH, &[searcher("a", None, &[])]);
        inputs.tenant = Some(Given::text(text));
        inputs.tenant_id = id.map(str::to_owned);
        refused(&inputs)
            .into_iter()
            .map(|(code, _)| code)
            .collect::<Vec<_>>()
    };
    let (one, two) = ("tenants: [{id: a}]", "tenants: [{id: a}, {id: b}]");
    assert_eq!(with(one, None), [""; 0]);
    assert_eq!(with(one, Some("a")), [""; 0]);
    assert_eq!(with(two, Some("b")), [""; 0]);
    assert_eq!(with(two, None), ["TENANT_UNKNOWN"]);
    assert_eq!(with(two, Some("c")), ["TENANT_UNKNOWN"]);
    assert_eq!(with(one, Some("A")), ["TENANT_UNKNOWN"]);
    assert_eq!(with("tenants: []", None), ["TENANT_UNKNOWN"]);
    assert_eq!(
        with("tenants: [{id: a}, {id: a}]", Some("a")),
        ["DUPLICATE_KEY"]
    );
    assert_eq!(
        with("version: v0.2\ntenants: [{id: a}]", None),
        ["UNKNOWN_VALUE"]
    );
    // All of them are checked, whichever is meant.
    assert_eq!(
        with("tenants: [{id: a}, {id: b, token_budget: -1}]", Some("a")),
        ["WRONG_TYPE"]
    );
}

/// The bytes of a lock: categories first, then by verb, resource, constraints.
#[test]
fn capabilities_stand_in_the_lock_behind_categories() {
    let manifest = "---\nname: a\nversion: 1\nrequires:\n  mcp: [{category: c, permissions: [s]}]\n  capabilities:\n    \
        - {verb: search, resource: internet, constraints: [readonly, pii_safe, readonly]}\n    \
        - {verb: execute, resource: x-b}\n---\n";
    let mut one = server(
        "a",
        json!({
            "find": {
                "description": "Find.",
                "inputSchema": { "type": "object", "b": 1.0, "a": [] },
                "x-summit-capabilities": [block("search", "internet", &["readonly", "pii_safe"])],
                "unknown": 1,
            },
            "run": { "x-summit-capabilities": [block("execute", "x-b", &[])] },
        }),
    );
    one["categories"] = json!(["c"]);
    one["scopes"] = json!(["s"]);
    let answers = native::under(&Inputs {
        manifest: Some(manifest.into()),
        index: json!([one]).to_string().into_bytes(),
        ..Inputs::default()
    });
    let expected = EXPECTED_LOCK;
    assert_eq!(difference(expected, &answers["agents.lock"]), None);
    let again = native::validate_lock(expected.as_bytes());
    assert_eq!(difference(expected, &again["agents.lock"]), None);
}

// The digests were made by Python's hashlib.
const EXPECTED_LOCK: &str = r#"{
  "agent": {
    "name": "a",
    "version": "1"
  },
  "forbid": [],
  "lockVersion": 1,
  "selections": [
    {
      "category": "c",
      "endpoint": "https://a.example/mcp",
      "hash": "62007390fa343a8669eea6d062f594216b426792f38fc0d4da837331bbe496ab",
      "id": "a",
      "integrity": "sha256-lcS2kbcAJ2h9345+jnNlXccxkDTB/pjch98zS89kifM=",
      "scopes": [
        "s"
      ],
      "version": "1.0.0"
    },
    {
      "capability": {
        "constraints": [],
        "resource": "x-b",
        "verb": "execute"
      },
      "definition": "sha256-Rr2qoWpIPHzbN4ar9jpkA6QzTBeP+WQTbUD3FH2MwnU=",
      "endpoint": "https://a.example/mcp",
      "hash": "c0599fcd9e886f4e68a112020ca20d0c575c72d8854c7d9a4fe3270a56839275",
      "id": "a",
      "integrity": "sha256-lcS2kbcAJ2h9345+jnNlXccxkDTB/pjch98zS89kifM=",
      "load": "essential",
      "scopes": [],
      "tool": "run",
      "version": "1.0.0"
    },
    {
      "capability": {
        "constraints": [
          "pii_safe",
          "readonly"
        ],
        "resource": "internet",
        "verb": "search"
      },
      "definition": "sha256-WX3zP06Jl6y9be5dNKqVTaYKG4wUixXUqCAj99fRSTY=",
      "endpoint": "https://a.example/mcp",
      "hash": "c0599fcd9e886f4e68a112020ca20d0c575c72d8854c7d9a4fe3270a56839275",
      "id": "a",
      "integrity": "sha256-lcS2kbcAJ2h9345+jnNlXccxkDTB/pjch98zS89kifM=",
      "load": "essential",
      "scopes": [],
      "tool": "find",
      "version": "1.0.0"
    }
  ]
}
"#;
