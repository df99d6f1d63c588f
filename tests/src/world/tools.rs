//! Tools, required capabilities and the evaluation context.
//!
//! There are few verbs, resources, tags and names of tools, so that tools collide between servers,
//! and so that many requirements are met in part.

use super::{IDS, Server, World, names, others, worlds};
use crate::text::Tree;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use std::collections::BTreeSet;

/// An entry of `requires.capabilities` or of `required_capabilities`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityRequirement {
    /// `verb`
    pub verb: &'static str,
    /// `resource`
    pub resource: &'static str,
    /// `constraints`, in any order, duplicates allowed; may be left out.
    pub constraints: Option<Vec<String>>,
    /// `load`; may be left out.
    pub load: Option<&'static str>,
    /// `tools`; may be left out.
    pub tools: Option<&'static str>,
    /// `fallback`; may be left out, and is not true beside `tools: all`.
    pub fallback: Option<bool>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// `task_id`
    pub id: String,
    /// `required_capabilities`, not empty.
    pub required: Vec<CapabilityRequirement>,
}

/// An entry of `tenants`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// `id`
    pub id: String,
    /// `tier`
    pub tier: Option<&'static str>,
    /// `policy`
    pub policy: Option<&'static str>,
    /// `token_budget`
    pub token_budget: Option<i64>,
    /// `priorities.classes`
    pub classes: Vec<(&'static str, i64)>,
    /// `priorities.servers`
    pub servers: Vec<(&'static str, i64)>,
    /// Unknown members.
    pub others: Vec<(&'static str, Tree)>,
}

/// A tool of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its key in the server's entry.
    pub name: String,
    /// `description`
    pub description: Option<&'static str>,
    /// `inputSchema`, `outputSchema` and `annotations`, any of them, in any order.
    pub definition: Vec<(&'static str, Tree)>,
    /// `x-summit-capabilities`; may be left out.
    pub blocks: Option<Vec<Block>>,
    /// Unknown members.
    pub others: Vec<(&'static str, Tree)>,
}

/// An element of `x-summit-capabilities`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// `verb`
    pub verb: &'static str,
    /// `resource`
    pub resource: &'static str,
    /// `constraints`, in any order, duplicates allowed; may be left out.
    pub constraints: Option<Vec<String>>,
}

/// The verbs of the specification.
pub const VERBS: [&str; 6] = ["search", "read", "write", "execute", "notify", "reason"];

const RESOURCES: [&str; 5] = ["internet", "codebase", "x-crm", "fs", "größe.x"];
const TAGS: [&str; 5] = [
    "readonly",
    "pii_safe",
    "human_in_the_loop",
    "org:audited",
    "ä-\"ö\"",
];
const TOOLS: [&str; 8] = [
    "find",
    "run",
    "read_file",
    "Find",
    "listChanged",
    "größe \"x\"",
    "\u{fb33}",
    "😀",
];
const CLASSES: [&str; 4] = ["local", "paid", "free", "größe"];
const STATUSES: [&str; 5] = [
    "HEALTHY",
    "PROBATION",
    "QUARANTINE",
    "STARTING",
    "UNHEALTHY",
];
const PRIORITIES: [i64; 7] = [0, 0, 5, 5, 10, -5, -9_007_199_254_740_991];

impl CapabilityRequirement {
    /// `verb:resource`
    #[must_use]
    pub fn pair(&self) -> String {
        format!("{}:{}", self.verb, self.resource)
    }

    pub(super) fn tree(&self) -> Tree {
        let mut members = vec![
            ("verb", Tree::text(self.verb)),
            ("resource", Tree::text(self.resource)),
        ];
        let constraints = self.constraints.as_ref();
        members.extend(constraints.map(|tags| ("constraints", Tree::texts(tags))));
        members.extend(self.load.map(|load| ("load", Tree::text(load))));
        members.extend(self.tools.map(|tools| ("tools", Tree::text(tools))));
        members.extend(self.fallback.map(|it| ("fallback", Tree::Bool(it))));
        Tree::map(members)
    }
}

impl Task {
    pub(super) fn tree(&self) -> Tree {
        let required = self.required.iter().map(CapabilityRequirement::tree);
        Tree::map([
            ("task_id", Tree::text(&self.id)),
            ("required_capabilities", Tree::List(required.collect())),
        ])
    }
}

impl Tenant {
    /// Returns the entry of the configuration.
    #[must_use]
    pub fn tree(&self) -> Tree {
        let mut members = vec![("id", Tree::text(&self.id))];
        members.extend(self.tier.map(|tier| ("tier", Tree::text(tier))));
        members.extend(self.policy.map(|path| ("policy", Tree::text(path))));
        let budget = self.token_budget.map(Tree::Integer);
        members.extend(budget.map(|budget| ("token_budget", budget)));
        let numbers = |numbers: &[(&'static str, i64)]| {
            Tree::map(
                numbers
                    .iter()
                    .map(|(name, number)| (*name, Tree::Integer(*number))),
            )
        };
        let mut priorities = Vec::new();
        if !self.classes.is_empty() {
            priorities.push(("classes", numbers(&self.classes)));
        }
        if !self.servers.is_empty() {
            priorities.push(("servers", numbers(&self.servers)));
        }
        if !priorities.is_empty() {
            members.push(("priorities", Tree::map(priorities)));
        }
        members.extend(self.others.iter().cloned());
        Tree::map(members)
    }
}

/// Returns the whole configuration.
pub(super) fn tenants_tree(tenants: &[Tenant]) -> Tree {
    let tenants = tenants.iter().map(Tenant::tree);
    Tree::map([
        ("version", Tree::text("v0.1")),
        ("tenants", Tree::List(tenants.collect())),
    ])
}

impl Tool {
    /// Returns a tool with a name alone.
    #[must_use]
    pub fn named(name: String) -> Self {
        Self {
            name,
            description: None,
            definition: Vec::new(),
            blocks: None,
            others: Vec::new(),
        }
    }

    /// Returns the entry in that of the server.
    #[must_use]
    pub fn entry(&self) -> Tree {
        let mut members = Vec::new();
        members.extend(
            self.description
                .map(|text| ("description", Tree::text(text))),
        );
        members.extend(self.definition.iter().cloned());
        if let Some(blocks) = &self.blocks {
            let blocks = blocks.iter().map(|block| {
                let mut members = vec![
                    ("verb", Tree::text(block.verb)),
                    ("resource", Tree::text(block.resource)),
                ];
                let constraints = block.constraints.as_ref();
                members.extend(constraints.map(|tags| ("constraints", Tree::texts(tags))));
                Tree::map(members)
            });
            members.push(("x-summit-capabilities", Tree::List(blocks.collect())));
        }
        members.extend(self.others.iter().cloned());
        Tree::map(members)
    }
}

impl World {
    /// Returns the required capabilities: those of the manifest, then those of the task.
    pub fn all_capabilities(&self) -> impl Iterator<Item = &CapabilityRequirement> {
        let of_task = self.task.iter().flat_map(|task| &task.required);
        self.capabilities.iter().chain(of_task)
    }

    /// Removes labels that forbid a requirement, so that the world does not contradict itself.
    pub fn allow_what_is_required(&mut self) {
        let none = Vec::new();
        let required: BTreeSet<String> = self
            .all_capabilities()
            .flat_map(|required| [required.verb.to_owned(), required.pair()])
            .chain(
                self.requirements
                    .iter()
                    .flat_map(|it| [&it.permissions, it.only.as_ref().unwrap_or(&none)])
                    .flatten()
                    .cloned(),
            )
            .collect();
        self.constraints
            .forbid
            .retain(|label| !required.contains(label));
    }

    /// Returns the world of the task alone, without the content of the manifest.
    #[must_use]
    pub fn without_manifest(&self) -> Self {
        Self {
            requirements: Vec::new(),
            capabilities: Vec::new(),
            constraints: super::Constraints::default(),
            ..self.clone()
        }
    }
}

/// Generates the tools of a server in a world without capabilities: sometimes a few.
pub(super) fn offers()
-> impl Strategy<Value = (Option<&'static str>, Option<Vec<Tool>>, Option<bool>)> {
    (
        proptest::option::weighted(0.2, select(&CLASSES[..])),
        proptest::option::weighted(0.2, tools(0..=2)),
        proptest::option::weighted(0.2, any::<bool>()),
    )
        .prop_map(|(class, tools, list_changed)| {
            let list_changed = list_changed.filter(|_| may_flag(tools.as_deref()));
            (class, tools, list_changed)
        })
}

/// Returns whether a flag can appear beside the tools: no tool has its name.
fn may_flag(tools: Option<&[Tool]>) -> bool {
    let mut tools = tools.into_iter().flatten();
    tools.all(|tool| tool.name != "listChanged")
}

/// Generates worlds with tools. The manifest requires categories, capabilities, or both.
pub fn tool_worlds() -> impl Strategy<Value = World> {
    let asked = prop_oneof![
        4 => (Just(0), 1..=3_usize, 0..=2_usize),
        2 => (Just(1), 0..=2_usize, 1..=2_usize),
        1 => (Just(1), Just(0), Just(0)),
    ];
    let forbid = names(
        &["run", "find", "search", "read:codebase", "purge", "😀"],
        0..=2,
    );
    let offer = (
        proptest::option::weighted(0.7, select(&CLASSES[..])),
        proptest::option::weighted(0.9, tools(0..=5)),
        proptest::option::weighted(0.2, any::<bool>()),
        any::<bool>(),
    );
    let only = proptest::option::weighted(0.4, only());
    (
        (worlds(), only),
        vec(offer, 8),
        (
            asked,
            vec(requirement(), 5),
            select(&["t", "größe 1", "no"][..]),
        ),
        (vec(tenant(), 0..=2), select(&[true, true, false][..])),
        health(),
        (forbid, proptest::option::weighted(0.3, context())),
    )
        .prop_map(
            |(
                (mut world, only),
                offers,
                (asked, required, task),
                (tenants, lax),
                health,
                (forbid, context),
            )| {
                let (mcp, own, of_task) = asked;
                world.requirements.truncate(mcp);
                if let Some(first) = world.requirements.first_mut() {
                    first.only = only;
                }
                world.capabilities = required[..own].to_vec();
                world.task = (of_task > 0).then(|| Task {
                    id: task.to_owned(),
                    required: required[own..own + of_task].to_vec(),
                });
                if lax {
                    // Otherwise few would reach the ranking.
                    world.constraints.residency = None;
                    world.constraints.sensitivity = None;
                }
                world.constraints.forbid = forbid;
                world.allow_what_is_required();
                for (server, (class, tools, list_changed, same)) in
                    world.servers.iter_mut().zip(offers)
                {
                    server.class = class;
                    server.list_changed = list_changed.filter(|_| may_flag(tools.as_deref()));
                    server.tools = tools;
                    // Some tools advertise a required capability.
                    if same
                        && let Some(one) = required.first()
                        && let Some(tool) = server.tools.iter_mut().flatten().next()
                    {
                        tool.blocks.get_or_insert_default().push(Block {
                            verb: one.verb,
                            resource: one.resource,
                            constraints: one.constraints.clone(),
                        });
                    }
                }
                world.tenants = tenants;
                if let [first, second] = &mut world.tenants[..] {
                    first.id.push('1');
                    second.id.push('2');
                }
                world.health = health;
                world.context = context;
                world
            },
        )
}

/// Generates worlds of many servers with tools, of a few kinds.
pub fn tool_crowds() -> impl Strategy<Value = World> {
    let kinds = vec(
        (proptest::option::of(select(&CLASSES[..])), tools(1..=4)),
        3,
    );
    (
        tool_worlds(),
        kinds,
        vec((0..3_usize, any::<bool>()), 60..=200),
    )
        .prop_map(|(mut world, kinds, members)| {
            let Some(one) = world.servers.first().cloned() else {
                return world;
            };
            let crowd = members.into_iter().enumerate();
            world.servers.extend(crowd.map(|(number, (kind, signed))| {
                let (class, tools) = kinds[kind].clone();
                Server {
                    id: format!("n{}", number * 7 % 10_007),
                    version: "1".to_owned(),
                    signed,
                    class,
                    tools: Some(tools),
                    list_changed: None,
                    ..one.clone()
                }
            }));
            world
        })
}

fn tags() -> impl Strategy<Value = Option<Vec<String>>> {
    let tags = prop_oneof![3 => names(&["readonly", "pii_safe"], 0..=2), 1 => names(&TAGS, 0..=3)];
    let tags = (tags, any::<bool>(), any::<bool>()).prop_map(|(mut tags, reversed, twice)| {
        if twice {
            tags.extend(tags.first().cloned());
        }
        if reversed {
            tags.reverse();
        }
        tags
    });
    proptest::option::weighted(0.8, tags)
}

fn verb_and_resource() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop_oneof![
        4 => (select(&VERBS[..2]), select(&RESOURCES[..2])),
        1 => (select(&VERBS[..]), select(&RESOURCES[..])),
    ]
}

pub(super) fn load() -> impl Strategy<Value = Option<&'static str>> {
    proptest::option::of(select(&["essential", "on_demand"][..]))
}

/// Generates the tools of a requirement that names some, in any order; one may appear twice.
pub(super) fn only() -> impl Strategy<Value = Vec<String>> {
    let tools = prop_oneof![4 => names(&TOOLS[..3], 1..=1), 1 => names(&TOOLS, 1..=3)];
    (tools, any::<bool>()).prop_map(|(mut tools, twice)| {
        if twice {
            tools.insert(0, tools[tools.len() - 1].clone());
        }
        tools
    })
}

/// Generates `serve`.
pub(super) fn serve() -> impl Strategy<Value = Option<Vec<&'static str>>> {
    let kinds = prop_oneof![
        Just(vec!["resources"]),
        Just(vec!["resources", "prompts", "resources"]),
    ];
    proptest::option::weighted(0.2, kinds)
}

fn requirement() -> impl Strategy<Value = CapabilityRequirement> {
    let tools = proptest::option::of(select(&["one", "all"][..]));
    let fallback = prop_oneof![1 => Just(None), 1 => Just(Some(false)), 4 => Just(Some(true))];
    (verb_and_resource(), tags(), load(), tools, fallback).prop_map(
        |((verb, resource), constraints, load, tools, fallback)| CapabilityRequirement {
            verb,
            resource,
            constraints,
            load,
            tools,
            fallback: fallback.filter(|it| !it || tools != Some("all")),
        },
    )
}

fn tools(count: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<Tool>> {
    let name = prop_oneof![3 => select(&TOOLS[..3]), 1 => select(&TOOLS[..])];
    btree_map(name, tool(), count).prop_map(|tools| {
        let tools = tools.into_iter().map(|(name, tool)| Tool {
            name: name.to_owned(),
            ..tool
        });
        tools.collect()
    })
}

/// Generates a tool without a name.
fn tool() -> impl Strategy<Value = Tool> {
    let block = (verb_and_resource(), tags()).prop_map(|((verb, resource), constraints)| Block {
        verb,
        resource,
        constraints,
    });
    let description = prop_oneof![
        30 => select(&["Find things.", "Größe\n\"x\" \\ \t", ""][..]),
        1 => Just("Find\u{200b} things."),
    ];
    (
        proptest::option::of(description),
        subsequence(definitions(), 0..=3).prop_shuffle(),
        proptest::option::weighted(0.85, vec(block, 0..=4)),
        subsequence(others(), 0..=1),
    )
        .prop_map(|(description, definition, blocks, others)| Tool {
            name: String::new(),
            description,
            definition,
            blocks,
            others,
        })
}

fn definitions() -> Vec<(&'static str, Tree)> {
    let numbers = Tree::map([
        ("\u{fb33}", Tree::Number("1.0", "1")),
        ("😀", Tree::Number("-0", "0")),
    ]);
    vec![
        (
            "inputSchema",
            Tree::map([("type", Tree::text("object")), ("z", Tree::Bool(false))]),
        ),
        ("outputSchema", Tree::map([("x", numbers)])),
        (
            "annotations",
            Tree::map([
                ("readOnlyHint", Tree::Bool(true)),
                ("title", Tree::text("ä\"\n")),
            ]),
        ),
    ]
}

fn tenant() -> impl Strategy<Value = Tenant> {
    let priorities = |names: &'static [&'static str]| {
        btree_map(select(names), select(&PRIORITIES[..]), 0..=4)
            .prop_map(|map| map.into_iter().collect::<Vec<_>>())
    };
    (
        select(&["acme", "größe", "1"][..]),
        proptest::option::of(select(&["gold", "no", "1.0", "null"][..])),
        proptest::option::weighted(0.1, Just("policy.rego")),
        proptest::option::of(select(&[0, 4_000][..])),
        (priorities(&CLASSES), priorities(&IDS)),
        subsequence(
            vec![
                ("note", Tree::text("a \"b\"")),
                (
                    "limits",
                    Tree::map([("per_day", Tree::Integer(5)), ("strict", Tree::Bool(true))]),
                ),
                ("zones", Tree::texts(["eu", "us"])),
            ],
            0..=2,
        ),
    )
        .prop_map(
            |(id, tier, policy, token_budget, (classes, servers), others)| Tenant {
                id: id.to_owned(),
                tier,
                policy,
                token_budget,
                classes,
                servers,
                others,
            },
        )
}

fn health() -> impl Strategy<Value = Option<Vec<(String, &'static str)>>> {
    let status = prop_oneof![4 => Just("HEALTHY"), 2 => select(&STATUSES[..])];
    let servers = prop_oneof![
        3 => btree_map(select(&IDS[..]), status.clone(), 6..=9),
        1 => btree_map(select(&IDS[..]), status, 0..=9),
    ];
    let snapshot = servers.prop_map(|servers| {
        let servers = servers.into_iter();
        servers
            .map(|(id, status)| (id.to_owned(), status))
            .collect()
    });
    proptest::option::of(snapshot)
}

fn context() -> impl Strategy<Value = Tree> {
    select(vec![
        Tree::map([("freeze", Tree::Bool(true)), ("hour", Tree::Integer(9))]),
        Tree::map([
            ("now", Tree::text("2026-01-01T00:00:00Z")),
            ("on_call", Tree::texts(["a", "ä"])),
        ]),
        Tree::map::<String>([]),
    ])
}
