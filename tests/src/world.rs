//! Small worlds: a manifest, an index and the evaluation context as plain data, generated and
//! rendered.
//!
//! There are few categories, scopes and ids, so that requirements are met, names collide and ties
//! happen; some names are odd: quotes, spaces, other scripts, characters outside the BMP.

mod tools;

pub use tools::{
    Block, CapabilityRequirement, Task, Tenant, Tool, VERBS, tool_crowds, tool_worlds,
};

use crate::files::Agent;
use crate::inputs::{Given, Inputs};
use crate::text::{Choices, Space, Style, Tree};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// A manifest, an index and the evaluation context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct World {
    /// `name` and `version`
    pub agent: Agent,
    /// `requires.mcp`; absent if empty.
    pub requirements: Vec<Requirement>,
    /// `requires.capabilities`; absent if empty.
    pub capabilities: Vec<CapabilityRequirement>,
    /// `constraints`
    pub constraints: Constraints,
    /// The index.
    pub servers: Vec<Server>,
    /// The task.
    pub task: Option<Task>,
    /// The tenants; the first is the selected one. No configuration if empty.
    pub tenants: Vec<Tenant>,
    /// The snapshot of health: an id and its status.
    pub health: Option<Vec<(String, &'static str)>>,
    /// The context of a policy.
    pub context: Option<Tree>,
}

/// An entry of `requires.mcp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// `category`
    pub category: String,
    /// `permissions`, in any order, duplicates allowed.
    pub permissions: Vec<String>,
    /// `load`; may be left out.
    pub load: Option<&'static str>,
    /// `only`, not empty, in any order, duplicates allowed; may be left out.
    pub only: Option<Vec<String>>,
    /// `serve`, likewise.
    pub serve: Option<Vec<&'static str>>,
}

/// `constraints`
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Constraints {
    /// `data.residency`
    pub residency: Option<&'static str>,
    /// `data.sensitivity`
    pub sensitivity: Option<&'static str>,
    /// `trust.requireSigned`
    pub require_signed: Option<bool>,
    /// `actions.forbid`
    pub forbid: Vec<String>,
}

/// An entry of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// `id`
    pub id: String,
    /// `version`
    pub version: String,
    /// `endpoint`
    pub endpoint: String,
    /// `categories`, in any order, duplicates allowed.
    pub categories: Vec<String>,
    /// `scopes`, in any order, duplicates allowed.
    pub scopes: Vec<String>,
    /// `data.residency`, not empty.
    pub residency: Vec<&'static str>,
    /// Whether a single residency is written as a list.
    pub residency_as_list: bool,
    /// `data.maxSensitivity`
    pub max_sensitivity: &'static str,
    /// `trust.signed`
    pub signed: bool,
    /// `trust.publisher`
    pub publisher: String,
    /// `class`
    pub class: Option<&'static str>,
    /// `capabilities.tools`: of different names. None: no `capabilities`.
    pub tools: Option<Vec<Tool>>,
    /// `capabilities.tools.listChanged`, where there are `tools`.
    pub list_changed: Option<bool>,
    /// Unknown members, and `policy`.
    pub others: Vec<(&'static str, Tree)>,
}

/// The allowed values of `residency`.
pub const RESIDENCIES: [&str; 3] = ["any", "us-only", "eu-only"];

/// The allowed values of `sensitivity`, least first.
pub const SENSITIVITIES: [&str; 6] = [
    "public",
    "internal",
    "confidential",
    "pii.low",
    "pii.moderate",
    "pii.high",
];

const CATEGORIES: [&str; 4] = ["audiences", "reporting", "größe", "a \"b\\ c"];
const SCOPES: [&str; 6] = [
    "read:a",
    "write:a",
    "delete:a",
    "Read:a",
    "чтение",
    "😀 'x' # y: z",
];
const IDS: [&str; 9] = [
    "a",
    "b",
    "ab",
    "Z",
    "acme-audiences",
    "é",
    "e\u{301}",
    "\u{fb33}",
    "😀",
];
const VERSIONS: [&str; 5] = ["1.0.0", "2.0.0", "10.0.0", "1", "v2@x"];

impl World {
    /// The text of `agents.md`.
    #[must_use]
    pub fn manifest(&self, style: Style) -> Vec<u8> {
        style
            .frontmatter(&self.manifest_tree(&mut style.choices()))
            .into_bytes()
    }

    /// The text of `mcp.index.json`.
    #[must_use]
    pub fn index(&self, style: Style) -> Vec<u8> {
        let mut servers: Vec<_> = self.servers.iter().map(Server::entry).collect();
        style.choices().shuffle(&mut servers);
        let servers = Tree::List(servers);
        let tree = if style.wrapped {
            Tree::map([("servers", servers), ("generated", Tree::text("by a test"))])
        } else {
            servers
        };
        style.json(&tree).into_bytes()
    }

    /// Returns all texts.
    #[must_use]
    pub fn inputs(&self, style: Style) -> Inputs {
        // JSON that begins with a byte order mark is recognised only by its file name.
        let given = |tree: &Tree| match style.wrapped {
            true => Given {
                bytes: style.json(tree).into_bytes(),
                json: style.mark || style.seed.is_multiple_of(2),
            },
            false => Given {
                bytes: style.yaml(tree).into_bytes(),
                json: false,
            },
        };
        Inputs {
            manifest: Some(self.manifest(style)),
            index: self.index(style),
            task: self.task.as_ref().map(|task| given(&task.tree())),
            tenant: (!self.tenants.is_empty()).then(|| given(&tools::tenants_tree(&self.tenants))),
            tenant_id: match &self.tenants[..] {
                [first, _, ..] => Some(first.id.clone()),
                _ => None,
            },
            health: self.health.as_ref().map(|health| {
                let members = health.iter();
                given(&Tree::map(
                    members.map(|(id, status)| (id, Tree::text(*status))),
                ))
            }),
            context: self.context.as_ref().map(given),
        }
    }

    /// Returns all texts except the manifest.
    #[must_use]
    pub fn inputs_of_task(&self, style: Style) -> Inputs {
        Inputs {
            manifest: None,
            ..self.inputs(style)
        }
    }

    fn manifest_tree(&self, choices: &mut Choices) -> Tree {
        let mut names = |names: &[String]| {
            let mut names = names.to_vec();
            choices.shuffle(&mut names);
            Tree::texts(names)
        };
        let requirements = self.requirements.iter().map(|requirement| {
            let mut members = vec![
                ("category", Tree::text(&requirement.category)),
                ("permissions", names(&requirement.permissions)),
            ];
            members.extend(requirement.load.map(|load| ("load", Tree::text(load))));
            let only = requirement.only.as_deref();
            members.extend(only.map(|tools| ("only", names(tools))));
            let serve = requirement.serve.as_ref();
            members.extend(serve.map(|kinds| ("serve", Tree::texts(kinds.iter().copied()))));
            Tree::map(members)
        });
        let requirements = Tree::List(requirements.collect());
        let mut requires = Vec::new();
        if !self.requirements.is_empty() {
            requires.push(("mcp", requirements));
        }
        if !self.capabilities.is_empty() {
            let list = self.capabilities.iter().map(CapabilityRequirement::tree);
            requires.push(("capabilities", Tree::List(list.collect())));
        }
        let constraints = &self.constraints;
        let mut data = Vec::new();
        data.extend(
            constraints
                .residency
                .map(|value| ("residency", Tree::text(value))),
        );
        data.extend(
            constraints
                .sensitivity
                .map(|value| ("sensitivity", Tree::text(value))),
        );
        let mut groups = Vec::new();
        if !data.is_empty() {
            groups.push(("data", Tree::map(data)));
        }
        if !constraints.forbid.is_empty() {
            groups.push((
                "actions",
                Tree::map([("forbid", names(&constraints.forbid))]),
            ));
        }
        if let Some(required) = constraints.require_signed {
            groups.push((
                "trust",
                Tree::map([("requireSigned", Tree::Bool(required))]),
            ));
        }
        let mut fields = vec![
            ("name", Tree::text(&self.agent.name)),
            ("version", Tree::text(&self.agent.version)),
            ("requires", Tree::map(requires)),
        ];
        if !groups.is_empty() {
            fields.push(("constraints", Tree::map(groups)));
        }
        Tree::map(fields)
    }
}

impl Server {
    /// Adds tools that it does not have.
    pub fn add_tools(&mut self, names: impl IntoIterator<Item = String>) {
        let tools = self.tools.get_or_insert_default();
        tools.extend(names.into_iter().map(Tool::named));
        // A tool of this name leaves no place for the flag.
        self.list_changed = self
            .list_changed
            .filter(|_| tools.iter().all(|tool| tool.name != "listChanged"));
    }

    /// Returns the entry of the index.
    #[must_use]
    pub fn entry(&self) -> Tree {
        let residency = match &self.residency[..] {
            [one] if !self.residency_as_list => Tree::text(*one),
            list => Tree::texts(list.iter().copied()),
        };
        let mut members = vec![
            ("id", Tree::text(&self.id)),
            ("version", Tree::text(&self.version)),
            ("endpoint", Tree::text(&self.endpoint)),
            ("categories", Tree::texts(&self.categories)),
            ("scopes", Tree::texts(&self.scopes)),
            (
                "data",
                Tree::map([
                    ("residency", residency),
                    ("maxSensitivity", Tree::text(self.max_sensitivity)),
                ]),
            ),
            (
                "trust",
                Tree::map([
                    ("signed", Tree::Bool(self.signed)),
                    ("publisher", Tree::text(&self.publisher)),
                ]),
            ),
        ];
        members.extend(self.class.map(|class| ("class", Tree::text(class))));
        if let Some(tools) = &self.tools {
            let flag = self.list_changed.map(Tree::Bool);
            let flag = flag.map(|flag| ("listChanged".to_owned(), flag));
            let tools = tools.iter().map(|tool| (tool.name.clone(), tool.entry()));
            let tools = Tree::map(tools.chain(flag));
            let capabilities = [
                ("tools", tools),
                ("prompts", Tree::map([("x", Tree::Bool(true))])),
            ];
            members.push(("capabilities", Tree::map(capabilities)));
        }
        members.extend(self.others.iter().cloned());
        Tree::map(members)
    }
}

/// Generates small worlds whose manifest does not contradict itself.
pub fn worlds() -> impl Strategy<Value = World> {
    let requirement = (
        name(&CATEGORIES),
        names(&SCOPES, 0..=3),
        tools::load(),
        proptest::option::weighted(0.1, tools::only()),
        tools::serve(),
    )
        .prop_map(|(category, permissions, load, only, serve)| Requirement {
            category,
            permissions,
            load,
            only,
            serve,
        });
    (
        select(&["hello-agent", "größe 1", "\"agent\""][..]),
        select(&["1.0.0", "1.0", "no", "2026-01-01"][..]),
        vec(requirement, 1..=3),
        constraints(),
        servers(),
    )
        .prop_map(|(name, version, requirements, mut constraints, servers)| {
            let asked = |label: &String| {
                requirements
                    .iter()
                    .any(|requirement| requirement.permissions.contains(label))
            };
            constraints.forbid.retain(|label| !asked(label));
            World {
                agent: Agent {
                    name: name.to_owned(),
                    version: version.to_owned(),
                },
                requirements,
                constraints,
                servers,
                capabilities: Vec::new(),
                task: None,
                tenants: Vec::new(),
                health: None,
                context: None,
            }
        })
}

/// Generates worlds of many servers, most of a few kinds and some of a rare one: the engine takes
/// other paths for long lists and for rare names.
pub fn crowds() -> impl Strategy<Value = World> {
    let kind = prop_oneof![60 => 0..3_usize, 1 => Just(3)];
    // The engine processes 64 servers in a word and 512 in a block.
    let member = (kind, any::<bool>());
    let servers = prop_oneof![vec(member.clone(), 60..=200), vec(member, 500..=1_100)];
    let rare = proptest::option::of(prop_oneof![Just((true, false)), Just((true, true))]);
    (worlds(), vec(server(), 4), servers, rare).prop_map(|(mut world, mut kinds, servers, rare)| {
        kinds[3].categories.push("rare".to_owned());
        kinds[3].scopes.push("rare:scope".to_owned());
        if let Some((category, scope)) = rare {
            let requirement = &mut world.requirements[0];
            if category {
                requirement.category = "rare".to_owned();
            }
            if scope {
                requirement.permissions = vec!["rare:scope".to_owned()];
            }
        }
        let crowd = servers.into_iter().enumerate();
        world
            .servers
            .extend(crowd.map(|(number, (kind, signed))| Server {
                id: format!("n{}", number * 7 % 10_007),
                version: "1".to_owned(),
                signed,
                ..kinds[kind].clone()
            }));
        world
    })
}

/// Generates any style.
pub fn styles() -> impl Strategy<Value = Style> {
    let spaces = select(&[Space::Indented, Space::None, Space::Everywhere][..]);
    (
        any::<u64>(),
        any::<bool>(),
        spaces,
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(seed, flow, space, wrapped, mark, crlf)| Style {
            seed,
            flow,
            space,
            wrapped,
            mark,
            crlf,
        })
}

/// Generates a name of a list; the first ones are likelier.
fn name(all: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop_oneof![3 => select(&all[..2]), 1 => select(all)].prop_map(str::to_owned)
}

/// Generates some names of a list, without duplicates.
fn names(
    all: &'static [&'static str],
    count: std::ops::RangeInclusive<usize>,
) -> impl Strategy<Value = Vec<String>> {
    subsequence(all, count).prop_map(|names| names.into_iter().map(str::to_owned).collect())
}

fn constraints() -> impl Strategy<Value = Constraints> {
    (
        proptest::option::weighted(0.7, select(&RESIDENCIES[..])),
        proptest::option::weighted(0.7, select(&SENSITIVITIES[..])),
        proptest::option::of(any::<bool>()),
        names(&["delete:a", "purge", "чтение", "a,b|c"], 0..=2),
    )
        .prop_map(
            |(residency, sensitivity, require_signed, forbid)| Constraints {
                residency,
                sensitivity,
                require_signed,
                forbid,
            },
        )
}

fn servers() -> impl Strategy<Value = Vec<Server>> {
    let keys = (select(&IDS[..]), select(&VERSIONS[..]));
    btree_map(keys, server(), 0..=7).prop_map(|servers| {
        let servers = servers.into_iter().map(|((id, version), mut server)| {
            server.id = id.to_owned();
            server.version = version.to_owned();
            server
        });
        servers.collect()
    })
}

/// Generates a server without id and version.
fn server() -> impl Strategy<Value = Server> {
    let scopes = prop_oneof![1 => names(&SCOPES, 0..=6), 2 => names(&SCOPES, 4..=6)];
    let residencies = prop_oneof![
        3 => subsequence(&RESIDENCIES[1..], 1),
        1 => subsequence(&RESIDENCIES[..], 0..=3),
    ];
    (
        (
            select(
                &[
                    "https://mcp.example/a",
                    "http://[::1]:8080/ä?x=1#y",
                    "pkg:generic/a@1",
                ][..],
            ),
            names(&CATEGORIES, 0..=4),
            scopes,
            any::<bool>(),
        ),
        (residencies, any::<bool>(), select(&SENSITIVITIES[..])),
        (any::<bool>(), select(&["Acme, Inc.", "Größe \"GmbH\""][..])),
        (subsequence(others(), 0..=3), tools::offers()),
    )
        .prop_map(
            |(
                (endpoint, mut categories, mut scopes, twice),
                (residency, residency_as_list, max_sensitivity),
                (signed, publisher),
                (others, (class, tools, list_changed)),
            )| {
                if twice {
                    categories.extend(categories.first().cloned());
                    scopes.extend(scopes.first().cloned());
                }
                Server {
                    id: String::new(),
                    version: String::new(),
                    endpoint: endpoint.to_owned(),
                    categories,
                    scopes,
                    residency,
                    residency_as_list,
                    max_sensitivity,
                    signed,
                    publisher: publisher.to_owned(),
                    class,
                    tools,
                    list_changed,
                    others,
                }
            },
        )
}

/// Generates members that affect the integrity but no decision.
fn others() -> Vec<(&'static str, Tree)> {
    let numbers = [
        Tree::Number("1.0", "1"),
        Tree::Number("-0", "0"),
        Tree::Number("1E2", "100"),
        Tree::Number("123456789012345678901234567890", "1.2345678901234568e+29"),
        Tree::Number("1e21", "1e+21"),
        Tree::Number("0.000001", "0.000001"),
        Tree::Number("1e-7", "1e-7"),
    ];
    vec![
        (
            "policy",
            Tree::map([("rateLimitPerMin", Tree::Number("60.0", "60"))]),
        ),
        ("numbers", Tree::List(numbers.to_vec())),
        (
            "nested",
            Tree::map([
                ("\u{fb33}", Tree::text("\u{1f}\u{7f}\u{2028}")),
                ("😀", Tree::List(Vec::new())),
            ]),
        ),
        // After and before `id` in the order of UTF-16 code units.
        ("\u{ffff}", Tree::Bool(true)),
        ("\u{10000}", Tree::Map(Vec::new())),
    ]
}
