//! The unit: the time to read the index into natural types.

#![expect(dead_code, reason = "only the reading of the fields is measured")]

use crate::table::Table;
use crate::timing::shortest;
use crate::world::World;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Index {
    servers: Vec<Server>,
}

#[derive(Deserialize)]
struct Server {
    id: String,
    version: String,
    endpoint: String,
    categories: Vec<String>,
    scopes: Vec<String>,
    data: Data,
    trust: Trust,
    policy: Option<Policy>,
    #[serde(default)]
    capabilities: Capabilities,
}

#[derive(Deserialize, Default)]
struct Capabilities {
    tools: BTreeMap<String, Tool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tool {
    description: String,
    // Ignored, as in the engine.
    input_schema: IgnoredAny,
    annotations: IgnoredAny,
    #[serde(rename = "x-summit-capabilities")]
    advertised: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    verb: String,
    resource: String,
    constraints: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    residency: OneOrMany,
    max_sensitivity: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
struct Trust {
    signed: bool,
    publisher: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Policy {
    rate_limit_per_min: Option<f64>,
}

/// Returns a table of a world that contains the unit.
pub(crate) fn table(world: &World) -> Table {
    let unit = shortest(|| {
        let index: Index = serde_json::from_slice(&world.index).expect("the index is JSON");
        assert_eq!(index.servers.len(), world.servers);
        index
    });
    Table::new(world.title(), "serde_json: typed parse", unit)
}
