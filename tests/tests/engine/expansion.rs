//! Lazy expansion \[4, 6\], a test for each rule.

use agent_decide::{
    Allowed, Definition, DenialReason, EvaluationContext, Expand, Expanded, Exposed, Holder,
    NotExpanded, NotExposed, PolicyDecision, PolicyEngine, PolicyError, PolicyErrorKind, expand,
    exposed, exposed_under, hash, locked_definitions, services, services_under, token_estimate,
};
use agent_diagnostic::Code;
use agent_explain::{not_expanded, not_exposed};
use agent_lower as lower;
use agent_lower::{Notation, definition, definition_digest, integrity};
use agent_model::{
    Agent, AgentName, AgentVersion, Capability, CapabilityVerb, Category, Context, Endpoint,
    ForbidLabel, Grant, HealthStatus, Index, Load, Lock, Name, Resource, Selection, ServerId,
    ServerVersion, Tenant, ToolName,
};
use agent_render as render;
use agent_render::StyledSpan;
use agent_syntax::canonical;
use agent_text::DocumentKind;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// A server of an index: id, version, and tools as `"name": {members}`; each tool gets the
/// capability `search:internet`.
fn server(id: &str, version: &str, tools: &[(&str, &str)]) -> String {
    let tools: Vec<_> = tools
        .iter()
        .map(|(name, members)| {
            let comma = if members.is_empty() { "" } else { "," };
            format!(
                r#""{name}":{{{members}{comma}"x-summit-capabilities":[{{"verb":"search","resource":"internet"}}]}}"#
            )
        })
        .collect();
    format!(
        r#"{{"id":"{id}","version":"{version}","categories":["web"],"scopes":["read:web"],
        "endpoint":"https://x.example/{version}","trust":{{"signed":true,"publisher":"P"}},
        "data":{{"residency":"eu-only","maxSensitivity":"internal"}},
        "capabilities":{{"tools":{{{}}}}}}}"#,
        tools.join(",")
    )
}

fn index(servers: &[String]) -> Index {
    let text = format!("{{\"servers\":[{}]}}", servers.join(","));
    lower::index(text.into_bytes()).expect("an index").value
}

const ESSENTIAL: Load = Load::Essential;
const ON_DEMAND: Load = Load::OnDemand;

/// A lock of tools: id, version, tool, when it is shown.
fn lock(index: &Index, tools: &[(&str, &str, &str, Load)]) -> Lock {
    let mut selections: Vec<_> = tools
        .iter()
        .map(|(id, version, name, load)| {
            let server = index
                .versions(id)
                .find(|server| server.version() == *version)
                .expect("a server");
            let tool = server.tool(name).expect("a tool");
            Selection {
                grant: Grant::Capability {
                    capability: Capability {
                        verb: CapabilityVerb::Search,
                        resource: Resource::new("internet").expect("a resource"),
                        constraints: Vec::new(),
                    },
                    definition: definition_digest(tool),
                    load: *load,
                    tool: ToolName::new(*name).expect("a name"),
                    fallback: false,
                },
                scopes: Vec::new(),
                id: ServerId::new(*id).expect("an id"),
                version: ServerVersion::new(*version).expect("a version"),
                endpoint: Endpoint::new(server.endpoint()).expect("an endpoint"),
                hash: hash(tool),
                integrity: integrity(server).to_owned(),
                patterns: Vec::new(),
            }
        })
        .collect();
    selections.sort_by(|a, b| a.order().cmp(&b.order()));
    Lock {
        agent: Agent {
            name: AgentName::new("a").expect("a name"),
            version: AgentVersion::new("1").expect("a version"),
        },
        forbid: Vec::new(),
        policy: None,
        selections,
    }
}

fn names(exposed: &Exposed<'_>) -> Vec<String> {
    let entries = exposed.entries.iter();
    entries.map(|entry| entry.name.clone()).collect()
}

fn expanded_names(expanded: &Expanded<'_>) -> Vec<String> {
    let tools = expanded.tools.iter();
    tools.map(|one| one.tool.name().to_owned()).collect()
}

fn text(parts: &[StyledSpan]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect()
}

/// The world of most tests: `aws` with three tools, `brave` with one.
fn world() -> Index {
    index(&[
        server(
            "aws",
            "2",
            &[
                (
                    "s3_list",
                    r#""description":"Lists buckets.\nAll of them.","inputSchema":{"type":"object"}"#,
                ),
                ("s3_put", ""),
                ("ec2_run", r#""description":"Runs.""#),
            ],
        ),
        server(
            "brave",
            "1",
            &[(
                "search_web",
                r#""description":"Search.","inputSchema":{"type":"object"}"#,
            )],
        ),
    ])
}

fn world_lock(index: &Index) -> Lock {
    lock(
        index,
        &[
            ("aws", "2", "s3_list", ON_DEMAND),
            ("aws", "2", "s3_put", ON_DEMAND),
            ("aws", "2", "ec2_run", ESSENTIAL),
            ("brave", "1", "search_web", ESSENTIAL),
        ],
    )
}

fn tools(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Expand with all the budget there can be, and nothing used.
fn ask<'i>(
    lock: &Lock,
    index: &'i Index,
    evaluation_context: &EvaluationContext,
    server: &str,
    names: &[&str],
) -> Result<Expanded<'i>, NotExpanded> {
    let asked = Expand {
        server,
        tools: &tools(names),
        used: 0,
        budget: Some(u64::MAX),
    };
    expand(lock, index, evaluation_context, asked)
}

/// The denials of a refusal: id and reason.
fn denials(refused: Result<Expanded<'_>, NotExpanded>) -> Vec<(String, DenialReason)> {
    match refused {
        Err(NotExpanded::Denied { denials, .. }) => denials
            .as_slice()
            .iter()
            .map(|denial| (denial.id.clone(), denial.reason.clone()))
            .collect(),
        other => panic!("not denied: {other:?}"),
    }
}

/// A policy with a fixed answer, which keeps what it was asked.
#[derive(Debug)]
struct Fake {
    answer: Result<Allowed, PolicyError>,
    asked: Mutex<Vec<String>>,
}

impl PolicyEngine for Fake {
    fn digest(&self) -> String {
        "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=".to_owned()
    }

    fn ask(&self, input: &str) -> PolicyDecision {
        self.asked.lock().expect("a list").push(input.to_owned());
        PolicyDecision {
            answer: self.answer.clone(),
            lines: vec![7],
        }
    }
}

fn policy(answer: Result<Allowed, PolicyError>) -> (Arc<Fake>, EvaluationContext) {
    let fake = Arc::new(Fake {
        answer,
        asked: Mutex::default(),
    });
    let evaluation_context = EvaluationContext {
        policy: Some(fake.clone()),
        ..EvaluationContext::default()
    };
    (fake, evaluation_context)
}

fn allowing(ids: &[&str]) -> Allowed {
    Allowed {
        tools: ids.iter().map(|id| (*id).to_owned()).collect(),
        reasons: BTreeMap::new(),
    }
}

fn tenant(fields: &str) -> Arc<Tenant> {
    let text = format!(r#"{{"version":"v0.1","tenants":[{{"id":"acme"{fields}}}]}}"#);
    let read = lower::tenant(text.into_bytes(), Notation::Json, None);
    Arc::new(read.expect("a tenant").value)
}

// What is exposed

#[test]
fn essential_tools_are_exposed_and_a_stub_for_each_server_with_others() {
    let index = world();
    let exposed = exposed(&world_lock(&index), &index).expect("exposed");
    assert_eq!(names(&exposed), ["aws_helper", "ec2_run", "search_web"]);
    let [stub, ec2, web] = &exposed.entries[..] else {
        panic!("{exposed:?}");
    };
    let behind = stub.stub_of.iter().flatten();
    let behind: Vec<_> = behind.map(|tool| tool.name()).collect();
    assert_eq!(behind, ["s3_list", "s3_put"]);
    assert!(ec2.stub_of.is_none() && web.stub_of.is_none());
    let tool = ec2.server.tool("ec2_run").expect("the tool");
    assert_eq!(ec2.json, definition(tool));
}

#[test]
fn a_tool_selected_twice_is_exposed_once_and_essential_beats_on_demand() {
    let index = world();
    let lock = lock(
        &index,
        &[
            ("aws", "2", "s3_list", ON_DEMAND),
            ("aws", "2", "s3_list", ESSENTIAL),
            ("aws", "2", "s3_list", ESSENTIAL),
        ],
    );
    let exposed = exposed(&lock, &index).expect("exposed");
    assert_eq!(names(&exposed), ["s3_list"]);
    assert_eq!(
        denials(ask(
            &lock,
            &index,
            &EvaluationContext::default(),
            "aws",
            &["s3_list"]
        )),
        [("aws@2/s3_list".to_owned(), DenialReason::Essential)]
    );
}

/// A lock whose first selection grants its whole server.
fn lock_of_category(index: &Index, load: Load, others: &[(&str, &str, &str, Load)]) -> Lock {
    let mut lock = lock(index, &[&[("aws", "2", "s3_list", load)], others].concat());
    lock.selections[0].grant = Grant::Category {
        category: Category::new("web").expect("a category"),
        load,
        only: Vec::new(),
        serve: Vec::new(),
    };
    lock.selections.sort_by(|a, b| a.order().cmp(&b.order()));
    lock
}

#[test]
fn a_selection_for_a_category_exposes_every_tool_of_its_server_that_no_label_forbids() {
    let index = world();
    let mut lock = lock_of_category(&index, ESSENTIAL, &[]);
    let shown = exposed(&lock, &index).expect("exposed");
    assert_eq!(names(&shown), ["ec2_run", "s3_list", "s3_put"]);
    lock.forbid = vec![ForbidLabel::new("s3_put").expect("a label")];
    let shown = exposed(&lock, &index).expect("exposed");
    assert_eq!(names(&shown), ["ec2_run", "s3_list"]);
    lock.forbid = vec![ForbidLabel::new("search:internet").expect("a label")];
    let shown = exposed(&lock, &index).expect("exposed");
    assert!(shown.entries.is_empty());
}

#[test]
fn a_category_on_demand_has_a_stub_and_a_capability_decides_the_load_of_its_tool() {
    let index = world();
    let lock = lock_of_category(&index, ON_DEMAND, &[("aws", "2", "s3_put", ESSENTIAL)]);
    let shown = exposed(&lock, &index).expect("exposed");
    assert_eq!(names(&shown), ["aws_helper", "s3_put"]);
    let expanded = ask(
        &lock,
        &index,
        &EvaluationContext::default(),
        "aws",
        &["ec2_run", "s3_list"],
    );
    let expanded = expanded.expect("expanded");
    let names: Vec<_> = expanded.tools.iter().map(|it| it.tool.name()).collect();
    assert_eq!(names, ["ec2_run", "s3_list"]);
}

/// Have the first selection name tools.
fn name_tools(lock: &mut Lock, names: &[&str]) {
    let Grant::Category { only, .. } = &mut lock.selections[0].grant else {
        panic!("no category");
    };
    let names = names.iter().map(|name| ToolName::new(*name));
    *only = names.map(|name| name.expect("a name")).collect();
}

#[test]
fn a_category_with_named_tools_exposes_these_alone() {
    let index = world();
    let mut lock = lock_of_category(&index, ESSENTIAL, &[]);
    name_tools(&mut lock, &["ec2_run", "s3_put"]);
    let shown = exposed(&lock, &index).expect("exposed");
    assert_eq!(names(&shown), ["ec2_run", "s3_put"]);
    let stored = locked_definitions(&lock, &index).into_values();
    let mut stored: Vec<_> = stored.map(|tool| tool.name()).collect();
    stored.sort_unstable();
    assert_eq!(stored, ["ec2_run", "s3_put"]);
    lock.forbid = vec![ForbidLabel::new("search:internet").expect("a label")];
    let shown = exposed(&lock, &index).expect("exposed");
    assert!(shown.entries.is_empty());
}

#[test]
fn named_tools_on_demand_are_behind_the_stub_alone() {
    let index = world();
    let mut lock = lock_of_category(&index, ON_DEMAND, &[]);
    name_tools(&mut lock, &["s3_list"]);
    let found = services(&lock, &index, "aws").expect("services");
    let tools: Vec<_> = found.tools.iter().map(|it| it.tool.name()).collect();
    assert_eq!(tools, ["s3_list"]);
    let context = EvaluationContext::default();
    ask(&lock, &index, &context, "aws", &["s3_list"]).expect("expanded");
    assert_eq!(
        denials(ask(&lock, &index, &context, "aws", &["s3_list", "s3_put"])),
        [("aws@2/s3_put".to_owned(), DenialReason::NotLocked)]
    );
}

#[test]
fn a_tool_is_essential_if_one_of_the_categories_that_cover_it_says_so() {
    let index = world();
    let mut lock = lock_of_category(&index, ESSENTIAL, &[]);
    let every = Selection {
        grant: Grant::Category {
            category: Category::new("web").expect("a category"),
            load: ON_DEMAND,
            only: Vec::new(),
            serve: Vec::new(),
        },
        ..lock.selections[0].clone()
    };
    name_tools(&mut lock, &["s3_list"]);
    lock.selections.push(every);
    let shown = exposed(&lock, &index).expect("exposed");
    assert_eq!(names(&shown), ["aws_helper", "s3_list"]);
    let found = services(&lock, &index, "aws").expect("services");
    let tools: Vec<_> = found.tools.iter().map(|it| it.tool.name()).collect();
    assert_eq!(tools, ["ec2_run", "s3_put"]);
}

#[test]
fn the_policy_is_asked_for_the_categories_that_cover_a_tool_alone() {
    let index = world();
    let mut lock = lock_of_category(&index, ON_DEMAND, &[]);
    let other = Selection {
        grant: Grant::Category {
            category: Category::new("files").expect("a category"),
            load: ON_DEMAND,
            only: vec![ToolName::new("s3_put").expect("a name")],
            serve: Vec::new(),
        },
        ..lock.selections[0].clone()
    };
    let index = self::index(&[server("aws", "2", &[("s3_list", ""), ("s3_put", "")])
        .replace(r#"["web"]"#, r#"["files","web"]"#)]);
    let integrity = integrity(index.find("aws", "2").expect("a server"));
    lock.selections.insert(0, other);
    lock.selections
        .iter_mut()
        .for_each(|it| integrity.clone_into(&mut it.integrity));
    for (tool, expected) in [("s3_list", &["web"][..]), ("s3_put", &["files", "web"])] {
        let id = format!("aws@2/{tool}");
        let (fake, context) = policy(Ok(allowing(&[&id])));
        ask(&lock, &index, &context, "aws", &[tool]).expect("expanded");
        let asked = fake.asked.lock().expect("a list");
        let categories = asked.iter().map(|input| {
            let input: Value = serde_json::from_str(input).expect("JSON");
            input["requirement"]["category"].clone()
        });
        assert_eq!(categories.collect::<Vec<_>>(), expected);
    }
}

/// A lock of one tool of `aws` whose fallback is that of `brave`.
fn lock_with_fallback(index: &Index, load: Load) -> Lock {
    let tools = [
        ("aws", "2", "s3_list", load),
        ("brave", "1", "search_web", load),
    ];
    let mut lock = lock(index, &tools);
    let Grant::Capability { fallback, .. } = &mut lock.selections[1].grant else {
        panic!("no capability");
    };
    *fallback = true;
    lock
}

#[test]
fn a_fallback_takes_the_place_of_its_first_while_that_is_vetoed() {
    let index = world();
    let lock = lock_with_fallback(&index, ESSENTIAL);
    let shown = |vetoed: &[&'static str]| {
        let vetoed = vetoed.iter().copied().collect();
        names(&exposed_under(&lock, &index, &vetoed).expect("exposed"))
    };
    assert_eq!(
        names(&exposed(&lock, &index).expect("exposed")),
        ["s3_list"]
    );
    assert_eq!(shown(&[]), ["s3_list"]);
    assert_eq!(shown(&["brave"]), ["s3_list"]);
    assert_eq!(shown(&["aws"]), ["search_web"]);
    assert_eq!(shown(&["aws", "brave"]), ["search_web"]);
    // It is locked all the time.
    let stored = locked_definitions(&lock, &index).into_values();
    let mut stored: Vec<_> = stored.map(|tool| tool.name()).collect();
    stored.sort_unstable();
    assert_eq!(stored, ["s3_list", "search_web"]);
}

#[test]
fn a_first_stays_exposed_if_another_selection_exposes_it() {
    let index = world();
    let mut lock = lock_with_fallback(&index, ESSENTIAL);
    let other = lock.selections[0].clone();
    lock.selections.insert(0, other);
    let vetoed = BTreeSet::from(["aws"]);
    let shown = exposed_under(&lock, &index, &vetoed).expect("exposed");
    assert_eq!(names(&shown), ["s3_list", "search_web"]);
}

#[test]
fn a_fallback_on_demand_is_behind_the_stub_of_its_server_while_its_first_is_vetoed() {
    let index = world();
    let lock = lock_with_fallback(&index, ON_DEMAND);
    let vetoed = BTreeSet::from(["aws"]);
    assert_eq!(
        names(&exposed(&lock, &index).expect("exposed")),
        ["aws_helper"]
    );
    let shown = exposed_under(&lock, &index, &vetoed).expect("exposed");
    assert_eq!(names(&shown), ["brave_helper"]);
    let listed = services_under(&lock, &index, "brave", &vetoed).expect("services");
    assert_eq!(listed.tools[0].tool.name(), "search_web");
    assert!(services(&lock, &index, "brave").is_err());
    assert!(services_under(&lock, &index, "aws", &vetoed).is_err());
    // A definition is no call, and health counts for calls.
    let context = EvaluationContext::default();
    for (server, tool) in [("aws", "s3_list"), ("brave", "search_web")] {
        ask(&lock, &index, &context, server, &[tool]).expect("expanded");
    }
}

#[test]
fn the_policy_reads_the_category_that_a_tool_was_locked_for() {
    let index = world();
    let lock = lock_of_category(&index, ON_DEMAND, &[]);
    let (fake, context) = policy(Ok(allowing(&["aws@2/s3_list"])));
    ask(&lock, &index, &context, "aws", &["s3_list"]).expect("expanded");
    let asked = fake.asked.lock().expect("a list");
    let input: Value = serde_json::from_str(&asked[0]).expect("JSON");
    let requirement = json!({ "category": "web", "load": "on_demand", "permissions": [] });
    assert_eq!(input["requirement"], requirement);
    assert_eq!(input["phase"], "expand");
    assert_eq!(input["arguments"], Value::Null);
}

#[test]
fn what_was_locked_under_a_policy_is_expanded_under_the_same_one_only() {
    let index = world();
    let mut lock = lock(&index, &[("aws", "2", "s3_list", ON_DEMAND)]);
    let (_, context) = policy(Ok(allowing(&["aws@2/s3_list"])));
    let mismatch = |lock: &Lock, context: &EvaluationContext| match ask(
        lock,
        &index,
        context,
        "aws",
        &["s3_list"],
    ) {
        Err(NotExpanded::OtherPolicy(mismatch)) => Some(mismatch.given),
        other => {
            other.expect("expanded");
            None
        }
    };
    let none = EvaluationContext::default();
    assert_eq!(mismatch(&lock, &none), None);
    assert_eq!(mismatch(&lock, &context), None, "a lock may be given one");
    let given = context.policy.as_ref().map(|policy| policy.digest());
    lock.policy = given.clone();
    assert_eq!(mismatch(&lock, &context), None);
    assert_eq!(mismatch(&lock, &none), Some(None));
    lock.policy = Some("sha256-BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=".to_owned());
    assert_eq!(mismatch(&lock, &context), Some(given));
}

#[test]
fn the_name_of_a_stub_is_made_of_the_id() {
    for (id, name) in [
        ("aws", "aws_helper"),
        ("a.b/c d", "a_b_c_d_helper"),
        ("A-z_09", "A-z_09_helper"),
        ("bücher😀", "b_cher__helper"),
    ] {
        assert_eq!(lower::stub_name(id), name);
    }
    let long = "é".repeat(56) + "xyz";
    assert_eq!(
        lower::stub_name(&long),
        "_".repeat(56) + "x_helper",
        "57 characters, not bytes"
    );
    assert_eq!(lower::stub_name(&"x".repeat(57)).len(), 64);
    assert_eq!(
        lower::stub_name(&"x".repeat(56)),
        "x".repeat(56) + "_helper"
    );
}

/// The names in collision and how many have each, and the diagnostics.
fn collisions(lock: &Lock, index: &Index) -> (Vec<(String, usize)>, Vec<String>) {
    let Err(refused) = exposed(lock, index) else {
        panic!("exposed");
    };
    let diagnostics = not_exposed(&refused);
    for diagnostic in &diagnostics {
        assert_eq!(diagnostic.code, Code::StubCollision);
        assert!(diagnostic.labels.len() > 1 && !diagnostic.fixes.is_empty());
        for label in &diagnostic.labels {
            assert_eq!(label.place.source, DocumentKind::Index);
            assert!(label.place.span.end > label.place.span.start);
        }
    }
    let NotExposed::Collisions(found) = refused else {
        panic!("{refused:?}");
    };
    let found = found.as_slice().iter();
    let found = found.map(|one| (one.name.clone(), one.holders.len()));
    let messages = diagnostics.into_iter().map(|one| one.message);
    (found.collect(), messages.collect())
}

#[test]
fn stubs_of_ids_that_differ_in_replaced_characters_collide() {
    let index = index(&[
        server("a.b", "1", &[("x", "")]),
        server("a/b", "1", &[("y", "")]),
    ]);
    let both = [("a.b", "1", "x", ON_DEMAND), ("a/b", "1", "y", ON_DEMAND)];
    let (found, messages) = collisions(&lock(&index, &both), &index);
    assert_eq!(found, [("a_b_helper".to_owned(), 2)]);
    assert_eq!(
        messages,
        ["the name `a_b_helper` would belong to the stub of `a.b 1` and to the stub of `a/b 1`"]
    );
    // Only one of them has a stub.
    let one = [("a.b", "1", "x", ON_DEMAND), ("a/b", "1", "y", ESSENTIAL)];
    assert_eq!(
        names(&exposed(&lock(&index, &one), &index).expect("exposed")),
        ["a_b_helper", "y"]
    );
}

#[test]
fn stubs_of_ids_that_differ_behind_the_cut_collide() {
    let (a, b) = ("x".repeat(57) + "a", "x".repeat(57) + "b");
    let index = index(&[server(&a, "1", &[("x", "")]), server(&b, "1", &[("y", "")])]);
    let both = [(&*a, "1", "x", ON_DEMAND), (&*b, "1", "y", ON_DEMAND)];
    let (found, _) = collisions(&lock(&index, &both), &index);
    assert_eq!(found, [("x".repeat(57) + "_helper", 2)]);
}

#[test]
fn stubs_of_two_versions_collide_and_an_expansion_needs_the_version() {
    let index = index(&[
        server("a", "1", &[("x", "")]),
        server("a", "2", &[("y", ""), ("z", "")]),
    ]);
    let both = lock(
        &index,
        &[("a", "1", "x", ON_DEMAND), ("a", "2", "y", ON_DEMAND)],
    );
    assert_eq!(collisions(&both, &index).0, [("a_helper".to_owned(), 2)]);
    let all = EvaluationContext::default();
    let versions = vec!["1".to_owned(), "2".to_owned()];
    assert_eq!(
        denials(ask(&both, &index, &all, "a", &["x"])),
        [("a/x".to_owned(), DenialReason::Ambiguous { versions })]
    );
    let named = ask(&both, &index, &all, "a@2", &["y"]).expect("expanded");
    assert_eq!(named.server.version(), "2");
    // Where one version only has tools on demand, the id is enough.
    let one = lock(
        &index,
        &[("a", "1", "x", ESSENTIAL), ("a", "2", "y", ON_DEMAND)],
    );
    assert!(exposed(&one, &index).is_ok());
    assert!(ask(&one, &index, &all, "a", &["y"]).is_ok());
    // Versions that only the index has do not count.
    assert_eq!(
        denials(ask(&one, &index, &all, "a@3", &["y"])),
        [("a@3/y".to_owned(), DenialReason::NotLocked)]
    );
}

#[test]
fn a_stub_and_a_tool_collide() {
    let index = index(&[
        server("aws", "1", &[("list", "")]),
        server("z", "1", &[("aws_helper", "")]),
    ]);
    for load in [ESSENTIAL, ON_DEMAND] {
        let both = [
            ("aws", "1", "list", ON_DEMAND),
            ("z", "1", "aws_helper", load),
        ];
        let (found, messages) = collisions(&lock(&index, &both), &index);
        assert_eq!(found, [("aws_helper".to_owned(), 2)]);
        assert!(messages[0].contains("the stub of `aws 1` and to a tool"));
    }
}

#[test]
fn tools_of_one_name_from_two_servers_collide_whenever_they_are_exposed() {
    let index = index(&[
        server("a", "1", &[("find", "")]),
        server("b", "1", &[("find", "")]),
        server("c", "1", &[("find", "")]),
    ]);
    for (first, second) in [
        (ESSENTIAL, ESSENTIAL),
        (ESSENTIAL, ON_DEMAND),
        (ON_DEMAND, ON_DEMAND),
    ] {
        let both = [("a", "1", "find", first), ("b", "1", "find", second)];
        let (found, _) = collisions(&lock(&index, &both), &index);
        assert_eq!(found, [("find".to_owned(), 2)]);
    }
    let three = ["a", "b", "c"].map(|id| (id, "1", "find", ESSENTIAL));
    let lock = lock(&index, &three);
    assert_eq!(collisions(&lock, &index).0, [("find".to_owned(), 3)]);
    let Err(NotExposed::Collisions(found)) = exposed(&lock, &index) else {
        panic!("exposed");
    };
    let ids = found.as_slice()[0]
        .holders
        .iter()
        .map(|holder| match holder {
            Holder::Stub(server) => server.id(),
            Holder::Tool(tool, _) => tool.server().id(),
        });
    assert_eq!(ids.collect::<Vec<_>>(), ["a", "b", "c"]);
}

/// The codes for which a lock is refused against an index, which are the same everywhere.
fn drift_codes(lock: &Lock, index: &Index) -> Vec<Code> {
    let Err(refused @ NotExposed::Drifted(_)) = exposed(lock, index) else {
        panic!("not drifted");
    };
    let diagnostics = not_exposed(&refused);
    let expansion = ask(
        lock,
        index,
        &EvaluationContext::default(),
        "aws",
        &["s3_list"],
    );
    let expansion = expansion.expect_err("refused");
    assert!(matches!(expansion, NotExpanded::Drifted(_)));
    assert_eq!(not_expanded(&expansion), diagnostics);
    let listed = services(lock, index, "aws").expect_err("refused");
    assert_eq!(listed, expansion);
    diagnostics.iter().map(|one| one.code).collect()
}

#[test]
fn nothing_is_exposed_or_expanded_of_a_lock_that_does_not_hold() {
    let before = world();
    let lock = lock(&before, &[("aws", "2", "s3_list", ON_DEMAND)]);
    let changed = index(&[server(
        "aws",
        "2",
        &[("s3_list", r#""description":"Evil.""#)],
    )]);
    assert_eq!(
        drift_codes(&lock, &changed),
        [Code::DefinitionChanged, Code::IntegrityChanged]
    );
    let without_tool = index(&[server("aws", "2", &[("other", "")])]);
    assert_eq!(
        drift_codes(&lock, &without_tool),
        [Code::ToolChanged, Code::IntegrityChanged]
    );
    let without_server = index(&[server("aws", "3", &[("s3_list", "")])]);
    assert_eq!(drift_codes(&lock, &without_server), [Code::ServerRemoved]);
}

// Tokens

#[test]
fn the_estimate_is_a_quarter_of_the_bytes_rounded_up() {
    for (text, tokens) in [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("éé", 1),
        ("ééa", 2),
    ] {
        assert_eq!(token_estimate(text), tokens, "{text}");
    }
}

#[test]
fn the_total_counts_stubs_and_definitions_as_they_stand_in_the_index() {
    let index = world();
    let exposed = exposed(&world_lock(&index), &index).expect("exposed");
    // {"description":"Runs.","name":"ec2_run"} and the one of `search_web`, without what MCP adds.
    let ec2 = r#"{"description":"Runs.","name":"ec2_run"}"#;
    let web = r#"{"description":"Search.","inputSchema":{"type":"object"},"name":"search_web"}"#;
    let tools = ec2.len().div_ceil(4) + web.len().div_ceil(4);
    assert_eq!(exposed.tool_tokens(), tools as u64);
    let stub = &exposed.entries[0];
    assert!(stub.stub_of.is_some(), "no stub");
    assert_eq!(stub.tokens, token_estimate(&stub.json));
    assert!(stub.tokens > 50);
    assert_eq!(exposed.stub_tokens(), stub.tokens);
    assert_eq!(exposed.tokens(), tools as u64 + stub.tokens);
}

#[test]
fn the_definition_of_a_stub_is_canonical() {
    let index = index(&[server("ü \\\"x", "1", &[("x", "")])]);
    let server = index.server(0);
    let tools: Vec<_> = server.tools().map(|it| (it.name(), it)).collect();
    let json = lower::stub_definition(server, &tools);
    assert_eq!(canonical(&json).as_deref(), Some(&*json));
}

// Expansion

#[test]
fn an_expansion_gives_definitions_by_name_without_duplicates() {
    let index = world();
    let lock = world_lock(&index);
    let all = EvaluationContext::default();
    let found =
        ask(&lock, &index, &all, "aws", &["s3_put", "s3_list", "s3_put"]).expect("expanded");
    assert_eq!(expanded_names(&found), ["s3_list", "s3_put"]);
    let sum = found
        .tools
        .iter()
        .map(|Definition { json, .. }| token_estimate(json));
    assert_eq!(found.needed, sum.sum::<u64>());
    let again = ask(&lock, &index, &all, "aws@2", &["s3_list", "s3_put"]).expect("expanded");
    assert_eq!(render::expanded_json(&again), render::expanded_json(&found));
}

#[test]
fn only_what_is_locked_on_demand_of_that_server_is_expanded_and_all_or_nothing() {
    let index = world();
    let lock = world_lock(&index);
    let all = EvaluationContext::default();
    let asked = ["s3_list", "ec2_run", "search_web", "no\u{e9}"];
    let not = |name: &str| (format!("aws@2/{name}"), DenialReason::NotLocked);
    assert_eq!(
        denials(ask(&lock, &index, &all, "aws", &asked)),
        [
            ("aws@2/ec2_run".to_owned(), DenialReason::Essential),
            not("noé"),
            not("search_web"),
        ]
    );
    assert_eq!(
        denials(ask(&lock, &index, &all, "gcp", &["s3_list"])),
        [("gcp/s3_list".to_owned(), DenialReason::NotLocked)]
    );
    // The name of a stub is not a server.
    assert_eq!(
        denials(ask(&lock, &index, &all, "aws_helper", &["s3_list"])),
        [("aws_helper/s3_list".to_owned(), DenialReason::NotLocked)]
    );
}

#[test]
fn an_expansion_of_no_tool_is_denied() {
    let index = world();
    let lock = world_lock(&index);
    let refused = ask(&lock, &index, &EvaluationContext::default(), "aws", &[]);
    assert_eq!(
        denials(refused),
        [("aws".to_owned(), DenialReason::Nothing)]
    );
}

#[test]
fn the_policy_is_asked_about_the_requirement_that_tools_were_locked_for() {
    let index = world();
    let (fake, mut evaluation_context) = policy(Ok(allowing(&["aws@2/s3_list", "aws@2/s3_put"])));
    let task =
        r#"{"task_id":"t","required_capabilities":[{"verb":"search","resource":"internet"}]}"#;
    let task = lower::task(task.as_bytes().to_vec(), Notation::Json);
    evaluation_context.task = Some(Arc::new(task.expect("a task").value));
    evaluation_context.tenant = Some(tenant(r#","tier":"gold","policy":"p.rego""#));
    evaluation_context.context = Some(Arc::new(Context {
        json: "{\"hour\":3}".to_owned(),
    }));
    let lock = world_lock(&index);
    ask(
        &lock,
        &index,
        &evaluation_context,
        "aws",
        &["s3_put", "s3_list"],
    )
    .expect("expanded");
    let asked = fake.asked.lock().expect("a list");
    let [input] = &asked[..] else {
        panic!("{asked:?}");
    };
    for part in [
        r#""arguments":null"#,
        r#""phase":"expand""#,
        r#""requirement":{"constraints":[],"load":"on_demand","resource":"internet","verb":"search"}"#,
        r#""task":{"id":"t"}"#,
        r#""user_tier":"gold""#,
        r#""context":{"hour":3}"#,
    ] {
        assert!(input.contains(part), "{input}");
    }
    let ids: Vec<_> = input.match_indices("\"id\":\"aws@2/").collect();
    assert_eq!(ids.len(), 2, "{input}");
    let (list, put) = (input.find("aws@2/s3_list"), input.find("aws@2/s3_put"));
    assert!(list < put, "{input}");
}

/// A world in which `s3_put` writes to AWS, and its lock.
fn writing_world() -> (Index, Lock) {
    const READS: &str = r#""search","resource":"internet"}]}"#;
    const WRITES: &str = r#""write","resource":"aws"}]}"#;
    let server = server("aws", "2", &[("s3_list", ""), ("s3_put", "")]);
    let put = server.find("\"s3_put\"").expect("a tool");
    let writing = server[put..].replacen(READS, WRITES, 1);
    let index = index(&[server[..put].to_owned() + &writing]);
    let tools = [
        ("aws", "2", "s3_list", ON_DEMAND),
        ("aws", "2", "s3_put", ON_DEMAND),
    ];
    let mut lock = lock(&index, &tools);
    for selection in &mut lock.selections {
        if let Grant::Capability {
            capability, tool, ..
        } = &mut selection.grant
            && tool.as_str() == "s3_put"
        {
            capability.verb = CapabilityVerb::Write;
            capability.resource = Resource::new("aws").expect("a resource");
        }
    }
    lock.selections.sort_by(|a, b| a.order().cmp(&b.order()));
    (index, lock)
}

#[test]
fn the_policy_is_asked_once_for_each_requirement() {
    let (index, lock) = writing_world();
    let (fake, evaluation_context) = policy(Ok(allowing(&["aws@2/s3_list", "aws@2/s3_put"])));
    let names = ["s3_put", "s3_list"];
    ask(&lock, &index, &evaluation_context, "aws", &names).expect("expanded");
    let asked = fake.asked.lock().expect("a list");
    let told: Vec<_> = asked
        .iter()
        .map(|input| {
            let input: Value = serde_json::from_str(input).expect("JSON");
            let tools = input["candidate_tools"].as_array().expect("a list").clone();
            let ids: Vec<_> = tools.iter().map(|it| it["id"].to_string()).collect();
            (input["requirement"]["verb"].to_string(), ids.join(" "))
        })
        .collect();
    let expected = [
        ("\"search\"", "\"aws@2/s3_list\""),
        ("\"write\"", "\"aws@2/s3_put\""),
    ];
    assert_eq!(told, expected.map(|(verb, ids)| (verb.into(), ids.into())));
}

#[test]
fn the_shipped_policy_expands_nothing_that_writes_in_business_hours() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/policies/business-hours.rego"
    );
    let text = std::fs::read(path).expect("a policy");
    let (index, lock) = writing_world();
    let at = |hour: u32| EvaluationContext {
        policy: Some(Arc::new(
            agent_rego::read(text.clone()).expect("a policy").value,
        )),
        context: Some(Arc::new(Context {
            json: format!(r#"{{"hour":{hour},"weekday":"tuesday"}}"#),
        })),
        ..EvaluationContext::default()
    };
    let frozen = DenialReason::Policy {
        reason: Some("nothing changes on aws from Monday to Friday, 9 to 17".to_owned()),
    };
    let refused = ask(&lock, &index, &at(14), "aws", &["s3_put", "s3_list"]);
    assert_eq!(denials(refused), [("aws@2/s3_put".to_owned(), frozen)]);
    assert!(ask(&lock, &index, &at(14), "aws", &["s3_list"]).is_ok());
    assert!(ask(&lock, &index, &at(18), "aws", &["s3_put"]).is_ok());
}

#[test]
fn one_tool_that_the_policy_denies_denies_all_with_its_reason() {
    let index = world();
    let mut allowed = allowing(&["aws@2/s3_list"]);
    let reason = "No S3 write access during business hours";
    allowed
        .reasons
        .insert("aws@2/s3_put".to_owned(), reason.to_owned());
    let (_, evaluation_context) = policy(Ok(allowed));
    let lock = world_lock(&index);
    let refused = ask(
        &lock,
        &index,
        &evaluation_context,
        "aws",
        &["s3_put", "s3_list"],
    );
    let diagnostics = not_expanded(refused.as_ref().expect_err("denied"));
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].code, Code::ExpansionDenied);
    assert_eq!(
        diagnostics[0].message,
        format!("`aws@2/s3_put` is denied by the policy: {reason}")
    );
    let policy = DenialReason::Policy {
        reason: Some(reason.to_owned()),
    };
    assert_eq!(denials(refused), [("aws@2/s3_put".to_owned(), policy)]);
    assert!(ask(&lock, &index, &evaluation_context, "aws", &["s3_list"]).is_ok());
}

#[test]
fn a_policy_without_an_answer_denies_every_tool() {
    let index = world();
    let lock = world_lock(&index);
    let kind = PolicyErrorKind::Budget;
    let (_, evaluation_context) = policy(Err(PolicyError {
        kind,
        detail: "too long".to_owned(),
        place: None,
    }));
    let refused = ask(
        &lock,
        &index,
        &evaluation_context,
        "aws",
        &["s3_put", "s3_list"],
    );
    let diagnostics = not_expanded(refused.as_ref().expect_err("denied"));
    assert!(diagnostics[0].message.ends_with("too long"));
    let error = |id: &str| (id.to_owned(), DenialReason::PolicyError { kind });
    assert_eq!(
        denials(refused),
        [error("aws@2/s3_list"), error("aws@2/s3_put")]
    );
    // A policy that the tenant names and that is missing.
    let named = EvaluationContext {
        tenant: Some(tenant(r#","policy":"p.rego""#)),
        ..EvaluationContext::default()
    };
    let kind = PolicyErrorKind::Undefined;
    assert_eq!(
        denials(ask(&lock, &index, &named, "aws", &["s3_list"])),
        [(
            "aws@2/s3_list".to_owned(),
            DenialReason::PolicyError { kind }
        )]
    );
}

#[test]
fn health_is_not_asked() {
    let index = world();
    let lock = world_lock(&index);
    let read = lower::health(b"{\"aws\":\"UNHEALTHY\"}".to_vec(), Notation::Json);
    let health = read.expect("a snapshot").value;
    assert_eq!(health.status("aws"), Some(HealthStatus::Unhealthy));
    let evaluation_context = EvaluationContext {
        health: Some(Arc::new(health)),
        ..EvaluationContext::default()
    };
    assert!(ask(&lock, &index, &evaluation_context, "aws", &["s3_list"]).is_ok());
}

/// Whether one tool may be expanded, and what it needs.
fn budgeted(used: u64, budget: Option<u64>, evaluation_context: &EvaluationContext) -> (bool, u64) {
    let index = world();
    let asked = Expand {
        server: "aws",
        tools: &tools(&["s3_list"]),
        used,
        budget,
    };
    match expand(&world_lock(&index), &index, evaluation_context, asked) {
        Ok(expanded) => {
            assert!(expanded.used + expanded.needed <= expanded.budget);
            (true, expanded.needed)
        }
        Err(refused) => {
            let diagnostics = not_expanded(&refused);
            assert_eq!(diagnostics.len(), 1);
            assert_eq!(diagnostics[0].code, Code::TokenBudgetExceeded);
            let NotExpanded::OverBudget {
                needed,
                used: told,
                budget: told_budget,
            } = refused
            else {
                panic!("{refused:?}");
            };
            let of_tenant = evaluation_context
                .tenant
                .as_ref()
                .and_then(|t| t.token_budget);
            assert_eq!((told, told_budget), (used, budget.or(of_tenant)));
            (false, needed)
        }
    }
}

#[test]
fn a_budget_may_be_reached_and_not_passed() {
    let all = EvaluationContext::default();
    let (_, needed) = budgeted(0, Some(u64::MAX), &all);
    assert_eq!(budgeted(100, Some(100 + needed), &all), (true, needed));
    assert_eq!(budgeted(100, Some(99 + needed), &all), (false, needed));
    assert_eq!(budgeted(101, Some(100 + needed), &all), (false, needed));
    assert_eq!(budgeted(0, Some(0), &all), (false, needed));
}

#[test]
fn a_sum_that_no_number_holds_passes_every_budget() {
    let all = EvaluationContext::default();
    let (_, needed) = budgeted(0, Some(u64::MAX), &all);
    assert!(!budgeted(u64::MAX, Some(u64::MAX), &all).0);
    assert!(!budgeted(u64::MAX - needed + 1, Some(u64::MAX), &all).0);
    assert!(budgeted(u64::MAX - needed, Some(u64::MAX), &all).0);
}

#[test]
fn the_budget_is_that_given_or_the_tenants_and_without_one_it_is_refused() {
    let all = EvaluationContext::default();
    let (_, needed) = budgeted(0, None, &all);
    assert!(!budgeted(0, None, &all).0);
    let with = |budget: u64| EvaluationContext {
        tenant: Some(tenant(&format!(",\"token_budget\":{budget}"))),
        ..EvaluationContext::default()
    };
    assert!(budgeted(0, None, &with(needed)).0);
    assert!(!budgeted(0, None, &with(needed - 1)).0);
    assert!(budgeted(0, Some(needed), &with(0)).0);
    assert!(!budgeted(0, Some(0), &with(needed)).0);
}

#[test]
fn drift_is_checked_first_then_what_is_locked_then_policy_then_budget() {
    let index_before = world();
    let lock = world_lock(&index_before);
    let drifted = index(&[]);
    let (fake, evaluation_context) = policy(Ok(allowing(&[])));
    let try_with = |index, name: &str| {
        let asked = Expand {
            server: "aws",
            tools: &tools(&[name]),
            used: 0,
            budget: None,
        };
        expand(&lock, index, &evaluation_context, asked).expect_err("refused")
    };
    let asked = || fake.asked.lock().expect("a list").len();
    assert!(matches!(
        try_with(&drifted, "none"),
        NotExpanded::Drifted(_)
    ));
    assert!(matches!(
        try_with(&index_before, "none"),
        NotExpanded::Denied {
            policy_decision: None,
            ..
        }
    ));
    assert_eq!(asked(), 0, "what can't be expanded is no question");
    assert!(matches!(
        try_with(&index_before, "s3_list"),
        NotExpanded::Denied {
            policy_decision: Some(_),
            ..
        }
    ));
    assert_eq!(asked(), 1);
    let (_, allowed) = policy(Ok(allowing(&["aws@2/s3_list"])));
    assert!(!budgeted(0, None, &allowed).0);
}

// list_services

#[test]
fn services_are_the_tools_on_demand_and_no_others() {
    let index = world();
    let lock = world_lock(&index);
    for server in ["aws", "aws@2"] {
        let found = services(&lock, &index, server).expect("services");
        let names: Vec<_> = found.tools.iter().map(|one| one.tool.name()).collect();
        assert_eq!(names, ["s3_list", "s3_put"]);
    }
    let found = services(&lock, &index, "aws").expect("services");
    let tokens = found.tools[0].tokens;
    let json = render::services_json(&found);
    assert!(
        json.contains(&format!(
            "\"description\": \"Lists buckets.\",\n      \"name\": \"s3_list\",\n      \"tokenEstimate\": {tokens}\n"
        )),
        "{json}"
    );
    assert!(json.contains("\"description\": null"), "{json}");
    for server in ["brave", "gcp", "aws@1"] {
        let refused = services(&lock, &index, server).expect_err("refused");
        assert_eq!(not_expanded(&refused)[0].code, Code::ExpansionDenied);
    }
}

// Views

/// What a test for JSON looks at: no tool of another definition, all that MCP wants.
#[test]
fn the_list_is_a_result_of_tools_list() {
    let index = index(&[
        server("a", "1", &[("bare", "")]),
        server(
            "b",
            "1",
            &[(
                "full",
                r#""annotations":{"readOnlyHint":true},"inputSchema":{"z":[1.50,null],"properties":{}},"outputSchema":{"type":"object"}"#,
            )],
        ),
    ]);
    let lock = lock(
        &index,
        &[("a", "1", "bare", ESSENTIAL), ("b", "1", "full", ESSENTIAL)],
    );
    let exposed = exposed(&lock, &index).expect("exposed");
    let bare = token_estimate(r#"{"name":"bare"}"#);
    let full = token_estimate(
        r#"{"annotations":{"readOnlyHint":true},"inputSchema":{"properties":{},"z":[1.5,null]},"name":"full","outputSchema":{"type":"object"}}"#,
    );
    let own = |server: &str, tokens: u64| {
        format!(
            r#""_meta":{{"io.github.agent-engine/kind":"tool","io.github.agent-engine/server":{{"id":"{server}","version":"1"}},"io.github.agent-engine/token-estimate":{tokens}}}"#
        )
    };
    let expected = format!(
        r#"{{"_meta":{{"io.github.agent-engine/token-estimate":{{"stubs":0,"tools":{total},"total":{total}}}}},"cacheScope":"private","resultType":"complete","tools":[{{{},"inputSchema":{{"type":"object"}},"name":"bare"}},{{{},"annotations":{{"readOnlyHint":true}},"inputSchema":{{"properties":{{}},"type":"object","z":[1.5,null]}},"name":"full","outputSchema":{{"type":"object"}}}}],"ttlMs":0}}"#,
        own("a", bare),
        own("b", full),
        total = bare + full,
    );
    let json = render::exposed_json(&exposed);
    assert_eq!(canonical(&json), Some(expected));
    assert!(json.ends_with("}\n"));
}

#[test]
fn definitions_as_deep_as_an_index_may_be_are_written() {
    let depth = 110;
    let deep = format!(
        r#""inputSchema":{{"type":"object","x":{}{}}}"#,
        "[".repeat(depth),
        "]".repeat(depth)
    );
    let index = index(&[server("a", "1", &[("deep", &deep)])]);
    let lock = lock(&index, &[("a", "1", "deep", ESSENTIAL)]);
    let json = render::exposed_json(&exposed(&lock, &index).expect("exposed"));
    let dense: String = json.split_whitespace().collect();
    assert!(dense.contains(&"[".repeat(depth)));
}

#[test]
fn keys_of_every_script_are_written() {
    // U+1F600 comes before U+FB33 in the canonical form, and behind it in our files.
    let members = "\"inputSchema\":{\"type\":\"object\",\"\u{fb33}\":1,\"\u{1f600}\":2,\"\":3}";
    let index = index(&[server("a", "1", &[("ü😀", members)])]);
    let lock = lock(&index, &[("a", "1", "ü😀", ESSENTIAL)]);
    let json = render::exposed_json(&exposed(&lock, &index).expect("exposed"));
    assert!(json.find('\u{fb33}') < json.find('\u{1f600}'), "{json}");
    assert!(json.contains("\"name\": \"ü😀\""), "{json}");
}

#[test]
fn refusals_are_written_with_their_code() {
    let index = world();
    let lock = world_lock(&index);
    let mut allowed = allowing(&["aws@2/s3_list"]);
    allowed
        .reasons
        .insert("aws@2/s3_put".to_owned(), "no".to_owned());
    let (_, evaluation_context) = policy(Ok(allowed));
    let json = |evaluation_context: &EvaluationContext, name: &str| {
        let asked = Expand {
            server: "aws",
            tools: &tools(&[name]),
            used: 5,
            budget: None,
        };
        let refused = expand(&lock, &index, evaluation_context, asked).expect_err("refused");
        canonical(&render::not_expanded_json(&refused)).expect("JSON")
    };
    assert_eq!(
        json(&evaluation_context, "s3_put"),
        r#"{"code":"EXPANSION_DENIED","denied":[{"id":"aws@2/s3_put","policyError":null,"policyReason":"no","reason":"policy","text":"is denied by the policy: no"}],"policy":{"error":null,"lines":[7]}}"#
    );
    assert_eq!(
        json(&EvaluationContext::default(), "ec2_run"),
        r#"{"code":"EXPANSION_DENIED","denied":[{"id":"aws@2/ec2_run","policyError":null,"policyReason":null,"reason":"essential","text":"is locked as `essential`, so it is exposed already"}],"policy":null}"#
    );
    assert_eq!(
        json(&EvaluationContext::default(), "s3_put"),
        r#"{"code":"TOKEN_BUDGET_EXCEEDED","text":"about 5 tokens are needed and 5 used, by an estimate, and there is no budget","tokenEstimate":{"budget":null,"needed":5,"used":5}}"#
    );
    let drifted = services(&lock, &self::index(&[]), "aws").expect_err("refused");
    let json = render::not_expanded_json(&drifted);
    assert!(json.starts_with("{\n  \"code\": \"SERVER_REMOVED\",\n  \"drifts\": ["));
}

#[test]
fn people_get_a_line_for_each_tool_and_the_word_estimate() {
    let index = world();
    let lock = world_lock(&index);
    let shown = exposed(&lock, &index).expect("exposed");
    let stub = shown.stub_tokens();
    assert_eq!(
        text(&render::exposed(&shown)),
        format!(
            "3 tools exposed, about {} tokens by an estimate\n  \
             aws_helper  ~{stub}  aws 2    for 2 tools on demand\n  \
             ec2_run     ~ 10  aws 2\n  \
             search_web  ~ 20  brave 1\n",
            shown.tokens()
        )
    );
    let found = ask(
        &lock,
        &index,
        &EvaluationContext::default(),
        "aws",
        &["s3_put", "s3_list"],
    );
    let found = found.expect("expanded");
    assert_eq!(
        text(&render::expanded(&Expanded {
            used: 100,
            budget: 200,
            ..found
        })),
        "✓ 2 tools of aws 2 expanded: about 29 tokens by an estimate  100 used before, 129 of 200 \
         now\n  s3_list  ~24  Lists buckets.\n  s3_put   ~ 5\n"
    );
    let found = services(&lock, &index, "aws").expect("services");
    assert_eq!(
        text(&render::services(&found)),
        "2 tools on demand of aws 2, about 29 tokens by an estimate\n  s3_list  ~24  Lists \
         buckets.\n  s3_put   ~ 5\n"
    );
    let distinct: BTreeSet<_> = names(&shown).into_iter().collect();
    assert_eq!(distinct.len(), shown.entries.len());
}
