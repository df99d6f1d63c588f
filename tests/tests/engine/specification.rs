//! The subjects of specification 0, section 5, by name, and what only a large input shows; and the
//! clauses of specification 4.

use agent_tests::difference::difference;
use agent_tests::files::{Agent, Answer, File as _, LostOn, Requirement as Answered, Resolution};
use agent_tests::native;
use agent_tests::text::{Space, Style, Tree};
use agent_tests::world::{Constraints, RESIDENCIES, Requirement, SENSITIVITIES, Server, World};

mod capabilities;

fn server(id: &str) -> Server {
    Server {
        id: id.to_owned(),
        version: "1.0.0".to_owned(),
        endpoint: format!("https://{id}.example/mcp"),
        categories: vec!["audiences".to_owned()],
        scopes: vec!["read".to_owned(), "write".to_owned()],
        residency: vec!["any"],
        residency_as_list: false,
        max_sensitivity: "pii.high",
        signed: true,
        publisher: "Acme, Inc.".to_owned(),
        class: None,
        tools: None,
        list_changed: None,
        others: Vec::new(),
    }
}

fn world(constraints: Constraints, servers: &[Server]) -> World {
    World {
        agent: Agent {
            name: "agent".to_owned(),
            version: "1.0.0".to_owned(),
        },
        requirements: vec![Requirement {
            category: "audiences".to_owned(),
            permissions: vec!["read".to_owned()],
            load: None,
            only: None,
            serve: None,
        }],
        constraints,
        servers: servers.to_vec(),
        capabilities: Vec::new(),
        task: None,
        tenants: Vec::new(),
        health: None,
        context: None,
    }
}

fn resolve(world: &World) -> Resolution {
    let style = Style::default();
    let answers = native::resolve(&world.manifest(style), &world.index(style));
    let text = answers
        .get("agents.resolution.json")
        .unwrap_or_else(|| panic!("{answers:#?}"));
    Resolution::read(text).expect("the file is of its type")
}

/// The answer to the one requirement.
fn answered(world: &World) -> Answered {
    let resolution = resolve(world);
    let satisfied = resolution.satisfied;
    let Some(Answer::Category(answer)) = resolution.requirements.into_iter().next() else {
        panic!("a category is required");
    };
    assert_eq!(satisfied, answer.selected.is_some());
    answer
}

/// The id and version that the one requirement got.
fn selected(world: &World) -> Option<(String, String)> {
    answered(world)
        .selected
        .map(|server| (server.id, server.version))
}

/// The codes for which the only server is rejected; none if it is selected.
fn codes(world: &World) -> Vec<&'static str> {
    assert_eq!(world.servers.len(), 1);
    let requirement = answered(world);
    let rejected = requirement.rejected.first();
    assert_eq!(rejected.is_none(), requirement.selected.is_some());
    rejected.map_or(Vec::new(), |server| {
        server.reasons.iter().map(|r| r.code()).collect()
    })
}

/// [0, 2.2]: `us-only` rejects `eu-only`, `eu-only` rejects `us-only`, `any` accepts all.
#[test]
fn residency_filtering() {
    for required in [None, Some("any"), Some("us-only"), Some("eu-only")] {
        // Every non-empty set of offers.
        for offers in 1..8 {
            let offered: Vec<_> = (0..3)
                .filter(|i| offers >> i & 1 == 1)
                .map(|i| RESIDENCIES[i])
                .collect();
            let accepted = match required {
                None | Some("any") => true,
                Some(required) => offered.contains(&required) || offered.contains(&"any"),
            };
            let constraints = Constraints {
                residency: required,
                ..Constraints::default()
            };
            let found = codes(&world(
                constraints,
                &[Server {
                    residency: offered.clone(),
                    ..server("a")
                }],
            ));
            let expected: &[_] = if accepted {
                &[]
            } else {
                &["RESIDENCY_MISMATCH"]
            };
            assert_eq!(
                found, expected,
                "{required:?} required, {offered:?} offered"
            );
        }
    }
}

/// [0, 2.2]: rejected if the sensitivity is above the server's highest.
#[test]
fn sensitivity_filtering() {
    for (level, required) in SENSITIVITIES.into_iter().enumerate() {
        for (highest, offered) in SENSITIVITIES.into_iter().enumerate() {
            let constraints = Constraints {
                sensitivity: Some(required),
                ..Constraints::default()
            };
            let found = codes(&world(
                constraints,
                &[Server {
                    max_sensitivity: offered,
                    ..server("a")
                }],
            ));
            let expected: &[_] = if level <= highest {
                &[]
            } else {
                &["SENSITIVITY_EXCEEDED"]
            };
            assert_eq!(found, expected, "{required} required, {offered} offered");
        }
    }
    let least = Server {
        max_sensitivity: "public",
        ..server("a")
    };
    assert_eq!(
        codes(&world(Constraints::default(), &[least])),
        [""; 0],
        "no constraint, no check"
    );
}

/// [0, 2.1]: the permissions must be a subset of the server's scopes, by exact equality.
#[test]
fn scope_subset_matching() {
    let names = ["read", "write", "Read", "read "];
    let subset = |bits: usize| -> Vec<String> {
        (0..names.len())
            .filter(|i| bits >> i & 1 == 1)
            .map(|i| names[i].to_owned())
            .collect()
    };
    for asked in 0..16 {
        for offered in 0..16 {
            let mut world = world(
                Constraints::default(),
                &[Server {
                    scopes: subset(offered),
                    ..server("a")
                }],
            );
            world.requirements[0].permissions = subset(asked);
            let expected: &[_] = if asked & !offered == 0 {
                &[]
            } else {
                &["MISSING_SCOPE"]
            };
            assert_eq!(
                codes(&world),
                expected,
                "{:?} of {:?}",
                subset(asked),
                subset(offered)
            );
        }
    }
}

/// [0, 2.3]: signed, then the smallest id, then the smallest version, all by code point.
#[test]
fn deterministic_tie_break_selection() {
    let server = |signed: bool, id: &str, version: &str| Server {
        signed,
        version: version.to_owned(),
        ..server(id)
    };
    // In the order of preference.
    let ranked = [
        server(true, "Z", "1"),
        server(true, "a", "1.0.0"),
        server(true, "a", "10.0.0"),
        server(true, "a", "2.0.0"),
        server(true, "é", "1"),
        server(true, "\u{ffff}", "1"),
        // Behind U+FFFF by code point, before it in UTF-16 code units.
        server(true, "\u{10000}", "1"),
        server(false, "A", "0"),
        server(false, "b", "1.0.0"),
    ];
    let lost = [
        LostOn::Id,
        LostOn::Id,
        LostOn::Version,
        LostOn::Version,
        LostOn::Id,
        LostOn::Id,
        LostOn::Id,
        LostOn::Signed,
        LostOn::Signed,
    ];
    for first in 0..ranked.len() {
        let mut left = ranked[first..].to_vec();
        for turn in 0..left.len() {
            left.rotate_left(turn);
            let best = &ranked[first];
            let found = selected(&world(Constraints::default(), &left));
            assert_eq!(found, Some((best.id.clone(), best.version.clone())));
        }
    }
    let answer = answered(&world(Constraints::default(), &ranked[1..]));
    for eligible in &answer.eligible {
        let place = ranked
            .iter()
            .position(|server| server.id == eligible.id && server.version == eligible.version);
        assert_eq!(
            eligible.lost_on,
            lost[place.expect("a server of the index")],
            "{eligible:?}"
        );
    }
}

/// [0, 3.1]: keys and lists are sorted, whatever the order in the inputs.
#[test]
fn stable_lockfile_output_ordering() {
    let requirement = |category: &str, permissions: &[&str]| Requirement {
        category: category.to_owned(),
        permissions: permissions.iter().map(|&p| p.to_owned()).collect(),
        load: None,
        only: None,
        serve: None,
    };
    let mut world = world(Constraints::default(), &[server("b"), server("a")]);
    world.constraints.forbid = vec!["z".to_owned(), "Y".to_owned(), "z".to_owned()];
    world.servers[0].categories.push("reporting".to_owned());
    world.requirements = vec![
        requirement("reporting", &[]),
        requirement("audiences", &["write", "read", "write"]),
        requirement("audiences", &["write"]),
        requirement("audiences", &[]),
    ];
    let lock = |seed| {
        let style = Style {
            seed,
            flow: seed % 2 == 1,
            space: Space::Everywhere,
            ..Style::default()
        };
        native::resolve(&world.manifest(style), &world.index(style))
            .remove("agents.lock")
            .expect("a lock")
    };
    // The digests were made by Python's hashlib.
    let expected = r#"{
  "agent": {
    "name": "agent",
    "version": "1.0.0"
  },
  "forbid": [
    "Y",
    "z"
  ],
  "lockVersion": 1,
  "selections": [
    {
      "category": "audiences",
      "endpoint": "https://a.example/mcp",
      "hash": "c0599fcd9e886f4e68a112020ca20d0c575c72d8854c7d9a4fe3270a56839275",
      "id": "a",
      "integrity": "sha256-E1+Jv0DAQgAQreMb8Guis+F9ABS/3mYRSBE5Q51Ki5w=",
      "scopes": [],
      "version": "1.0.0"
    },
    {
      "category": "audiences",
      "endpoint": "https://a.example/mcp",
      "hash": "746baf62eac019a028b86f0adeb7e9f89a219e228348df82de0aea3c8e16189b",
      "id": "a",
      "integrity": "sha256-E1+Jv0DAQgAQreMb8Guis+F9ABS/3mYRSBE5Q51Ki5w=",
      "scopes": [
        "read",
        "write"
      ],
      "version": "1.0.0"
    },
    {
      "category": "audiences",
      "endpoint": "https://a.example/mcp",
      "hash": "7393cc991fd7a0c7787e08e3e09ad3e584cd731ea364a39a0b6c99c2d0489ac2",
      "id": "a",
      "integrity": "sha256-E1+Jv0DAQgAQreMb8Guis+F9ABS/3mYRSBE5Q51Ki5w=",
      "scopes": [
        "write"
      ],
      "version": "1.0.0"
    },
    {
      "category": "reporting",
      "endpoint": "https://b.example/mcp",
      "hash": "fc8e395ad21843323fb7d4b18de626932fc0f04eb202f6578a60260d4d4e1d19",
      "id": "b",
      "integrity": "sha256-d48pn7r0G8WD1MK5ELwYFgcTSnvGRhGBr+Z/nUl0Vkc=",
      "scopes": [],
      "version": "1.0.0"
    }
  ]
}
"#;
    assert_eq!(difference(expected, &lock(0)), None);
    for seed in 1..20 {
        assert_eq!(lock(seed), lock(0));
    }
}

/// The full explanation is refused when it would pass 256 MiB, and the compact one is not.
#[test]
fn an_explanation_that_is_too_large_is_refused_and_the_compact_one_is_given() {
    let mut one = world(Constraints::default(), &[]);
    one.requirements = vec![
        Requirement {
            category: "none".to_owned(),
            permissions: Vec::new(),
            load: None,
            only: None,
            serve: None,
        };
        200
    ];
    // One rejection takes about 200 bytes.
    one.servers = (0..8_000)
        .map(|n| server(&format!("server-{n:05}")))
        .collect();
    let style = Style {
        space: Space::None,
        ..Style::default()
    };
    let resolution = native::resolution(&one.manifest(style), &one.index(style));
    let refused = agent_render::resolution(&resolution).expect_err("it is too large");
    assert_eq!(refused.code.name(), "EXPLANATION_TOO_LARGE");
    assert!(
        refused.fixes[0].title.contains("--explain=compact"),
        "{refused:?}"
    );
    let compact = agent_render::compact(&resolution);
    assert!(compact.len() < 1 << 20, "{}", compact.len());
}

/// [0, 2.1]: nothing but the two lists decides who is a candidate.
#[test]
fn a_tree_of_unknown_keys_decides_nothing() {
    let plain = world(Constraints::default(), &[server("a")]);
    let mut odd = plain.clone();
    odd.servers[0].others = vec![
        ("categorys", Tree::texts(["x"])),
        ("data.residency", Tree::text("y")),
    ];
    assert_eq!(selected(&plain), selected(&odd));
}
