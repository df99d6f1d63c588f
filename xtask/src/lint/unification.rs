//! Checks that all ways to build share one wasmtime, and one library of the host with its embedded
//! component.
//!
//! Cargo unifies the features of the packages that it builds together. If `cargo build` and `cargo
//! test` unify different features of a dependency of wasmtime, cargo compiles wasmtime for each,
//! which takes ten minutes. The manifests of [`SHARED`] request the union; this check finds missing
//! features.

use agent_pack::Workspace;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

use crate::cargo::{cargo, tested};
use crate::process;

/// The slow libraries, and the manifests that request the union of features.
const SHARED: [(&str, &str); 2] = [
    ("wasmtime", "host-cli/aot/Cargo.toml"),
    ("agent_host", "host-cli/host/Cargo.toml"),
];

/// Returns the ways to build that must agree. The others are compared with the first.
fn ways() -> [String; 6] {
    [
        "build".to_owned(),
        "build --package agent-aot".to_owned(),
        "build --package agent".to_owned(),
        "test --no-run".to_owned(),
        format!("test --no-run {}", tested().join(" ")),
        "test --no-run --package agent-parity".to_owned(),
    ]
}

/// A compiled package: its name and version, its kind, and its features.
type Unit = (String, &'static str, String);

pub(super) fn check(workspace: &Workspace) -> Result<()> {
    let mut plans = Vec::new();
    for way in ways() {
        let graph = unit_graph(workspace, &way)?;
        plans.push((way, graph));
    }
    for (library, manifest) in SHARED {
        // The first way builds them all.
        let usual = below(library, &plans[0].1)?;
        let usual = usual.with_context(|| format!("{library} is not among the units"))?;
        for (way, graph) in &plans[1..] {
            if let Some(units) = below(library, graph)?
                && units != usual
            {
                bail!(
                    "`cargo {way}` compiles {library} again, with{} instead of{}; \
                     add the features of both to {manifest}",
                    list(units.difference(&usual)),
                    list(usual.difference(&units)),
                );
            }
        }
    }
    Ok(())
}

/// Returns cargo's build plan. Only nightly cargo prints it, but the plan is the same for all.
fn unit_graph(workspace: &Workspace, way: &str) -> Result<Value> {
    let mut command = cargo(workspace);
    command.env("RUSTC_BOOTSTRAP", "1").args(way.split(' '));
    command.args(["-Zunstable-options", "--unit-graph"]);
    Ok(serde_json::from_str(&process::output(&mut command)?)?)
}

/// Returns the units that a library depends on, itself included, or `None` if it is not built.
fn below(library: &str, graph: &Value) -> Result<Option<BTreeSet<Unit>>> {
    let units = graph["units"]
        .as_array()
        .context("cargo planned no units")?;
    let is_start = |unit: &Value| unit["target"]["name"] == library && unit["mode"] == "build";
    let Some(start) = units.iter().position(is_start) else {
        return Ok(None);
    };

    let mut reached = BTreeMap::new();
    let mut waiting = vec![start];
    while let Some(index) = waiting.pop() {
        let unit = units
            .get(index)
            .context("a unit depends on an unknown unit")?;
        if reached.insert(index, describe(unit)).is_none() {
            let dependencies = unit["dependencies"].as_array().into_iter().flatten();
            let indices = dependencies.filter_map(|dependency| dependency["index"].as_u64());
            waiting.extend(indices.filter_map(|index| usize::try_from(index).ok()));
        }
    }
    Ok(Some(reached.into_values().collect()))
}

fn describe(unit: &Value) -> Unit {
    let id = unit["pkg_id"].as_str().unwrap_or_default();
    let name = id.rsplit(['#', '/']).next().unwrap_or_default();
    let kind = match unit["target"]["kind"][0].as_str() {
        Some("custom-build") => "build script",
        Some("proc-macro") => "procedural macro",
        _ => "library",
    };
    let features = unit["features"].as_array().into_iter().flatten();
    let features = features
        .filter_map(Value::as_str)
        .collect::<Vec<_>>()
        .join(",");
    (name.to_owned(), kind, features)
}

fn list<'a>(units: impl Iterator<Item = &'a Unit>) -> String {
    let units: Vec<_> = units
        .map(|(name, kind, features)| format!(" {name} ({kind}, {features})"))
        .collect();
    if units.is_empty() {
        " none".to_owned()
    } else {
        units.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::{below, list};
    use serde_json::{Value, json};

    fn graph(memchr_features: &[&str]) -> Value {
        let unit = |name: &str, features: &[&str], dependencies: Value| {
            json!({
                "pkg_id": format!("registry+https://example.org/list#{name}@1.0.0"),
                "target": { "name": name, "kind": ["lib"] },
                "mode": "build",
                "features": features,
                "dependencies": dependencies,
            })
        };
        json!({ "units": [
            unit("memchr", memchr_features, json!([])),
            unit("wasmtime", &["std"], json!([{ "index": 0 }])),
            unit("agent", &[], json!([{ "index": 1 }])),
        ]})
    }

    #[test]
    fn dependencies_of_wasmtime_count_and_dependents_do_not() {
        let units = below("wasmtime", &graph(&["std"])).unwrap().unwrap();
        assert_eq!(
            list(units.iter()),
            " memchr@1.0.0 (library, std), wasmtime@1.0.0 (library, std)"
        );
    }

    #[test]
    fn an_additional_feature_is_a_difference() {
        let few = below("wasmtime", &graph(&["std"])).unwrap().unwrap();
        let more = below("wasmtime", &graph(&["default", "std"]))
            .unwrap()
            .unwrap();
        assert_eq!(
            list(more.difference(&few)),
            " memchr@1.0.0 (library, default,std)"
        );
    }
}
