//! Generated manifests and indexes, the same in every run.

use crate::random::Random;
use crate::tool::tool;
use serde_json::{Value, json};
use std::fmt::Write;

/// A manifest and an index.
pub(crate) struct World {
    pub(crate) servers: usize,
    pub(crate) requirements: usize,
    pub(crate) manifest: Vec<u8>,
    pub(crate) index: Vec<u8>,
}

const CATEGORIES: usize = 100;
const SCOPES: usize = 200;
const RESIDENCIES: [&str; 3] = ["any", "eu-only", "us-only"];
const LEVELS: [&str; 6] = [
    "public",
    "internal",
    "confidential",
    "pii.low",
    "pii.moderate",
    "pii.high",
];

impl World {
    /// Servers of one to three categories and three to eight scopes each, and requirements of one
    /// to three permissions, each met by some server. A few per cent of the servers are eligible
    /// for each.
    pub(crate) fn generate(servers: usize, requirements: usize) -> Self {
        let mut random = Random::new();
        let entries: Vec<_> = (0..servers).map(|i| server(i, &mut random)).collect();
        let fitting: Vec<_> = entries.iter().filter(|entry| fits(entry)).collect();
        let mut manifest = String::from(
            "---\nname: bench\nversion: 1.0.0\nconstraints:\n  data:\n    residency: us-only\n    \
             sensitivity: internal\nrequires:\n  mcp:\n",
        );
        for _ in 0..requirements {
            let entry = fitting[random.below(fitting.len())];
            let category = random.pick(&entry["categories"]);
            let count = 1 + random.below(3);
            let scopes: Vec<_> = (0..count).map(|_| random.pick(&entry["scopes"])).collect();
            let permissions = scopes.join(", ");
            // Writing to a string can't fail.
            let _ = writeln!(
                manifest,
                "    - category: {category}\n      permissions: [{permissions}]"
            );
        }
        manifest.push_str("---\n");
        let index = serde_json::to_vec_pretty(&json!({ "servers": entries }));
        Self {
            servers,
            requirements,
            manifest: manifest.into_bytes(),
            index: index.expect("values can be written"),
        }
    }
}

impl World {
    /// A short description of the world.
    pub(crate) fn title(&self) -> String {
        format!(
            "{} servers × {} requirements, index of {:.1} MB",
            self.servers,
            self.requirements,
            self.index.len() as f64 / 1e6
        )
    }

    /// Servers with tools of a realistic kilobyte each, and requirements of capabilities, each met
    /// by some tool.
    pub(crate) fn with_tools(servers: usize, tools: usize, requirements: usize) -> Self {
        let mut random = Random::new();
        let entries: Vec<_> = (0..servers)
            .map(|i| {
                let mut entry = server(i, &mut random);
                entry["class"] = json!(CLASSES[random.below(CLASSES.len())]);
                let tools: serde_json::Map<_, _> =
                    (0..tools).map(|i| tool(i, &mut random)).collect();
                entry["capabilities"] = json!({ "tools": tools });
                entry
            })
            .collect();
        let mut manifest =
            String::from("---\nname: bench\nversion: 1.0.0\nrequires:\n  capabilities:\n");
        for _ in 0..requirements {
            let entry = &entries[random.below(servers)];
            let tools = entry["capabilities"]["tools"].as_object().expect("tools");
            let tool = tools.values().nth(random.below(tools.len()));
            let block = &tool.expect("a tool")["x-summit-capabilities"][0];
            let (verb, resource) = (&block["verb"], &block["resource"]);
            // Writing to a string can't fail.
            let _ = writeln!(manifest, "    - {{ verb: {verb}, resource: {resource} }}");
        }
        manifest.push_str("---\n");
        let index = serde_json::to_vec(&json!({ "servers": entries }));
        Self {
            servers,
            requirements,
            manifest: manifest.into_bytes(),
            index: index.expect("values can be written"),
        }
    }
}

const CLASSES: [&str; 3] = ["free", "local", "paid"];

fn server(number: usize, random: &mut Random) -> Value {
    let categories = random.distinct(1, 3, CATEGORIES, |i| format!("category-{i:02}"));
    let scopes = random.distinct(3, 8, SCOPES, |i| {
        let verb = ["read", "write", "delete", "admin"][i % 4];
        format!("{verb}:object-{:02}", i / 4)
    });
    let residency = match random.below(4) {
        3 => json!(["eu-only", "us-only"]),
        i => json!(RESIDENCIES[i]),
    };
    json!({
        "id": format!("acme-server-{:09}", random.below(1_000_000_000)),
        // The number makes the pair of id and version unique.
        "version": format!("{}.{}.{number}", random.below(10), random.below(20)),
        "endpoint": format!("https://mcp{}.example/servers/{number}", random.below(1_000)),
        "categories": categories,
        "scopes": scopes,
        "data": {
            "residency": residency,
            "maxSensitivity": LEVELS[random.below(LEVELS.len())],
        },
        "trust": {
            "signed": random.below(10) < 6,
            "publisher": format!("Publisher {}, Inc.", random.below(500)),
        },
        "policy": { "rateLimitPerMin": random.below(1_000) },
    })
}

/// Returns whether a server passes the constraints of the manifest.
fn fits(entry: &Value) -> bool {
    let data = &entry["data"];
    let residency = data["residency"].to_string();
    (residency.contains("any") || residency.contains("us-only"))
        && data["maxSensitivity"] != "public"
}

impl Random {
    fn pick<'v>(&mut self, list: &'v Value) -> &'v str {
        let list = list.as_array().expect("a list of names");
        list[self.below(list.len())].as_str().expect("a name")
    }
}
