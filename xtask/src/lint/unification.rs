//! Checks that all ways to build share one wasmtime, the tools for components, and one library of the host with its
//! embedded component.
//!
//! Cargo unifies the features of the packages that it builds together. If `cargo build` and `cargo
//! test` unify different features of a dependency of wasmtime, cargo compiles wasmtime for each,
//! which takes ten minutes. It also does so if one of them links a dependency that the other uses in procedural
//! macros alone, since `lto` applies to what programs link. The manifests of [`SHARED`] request the union; this check
//! finds what they lack.

use agent_pack::Workspace;
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::collections::BTreeSet;

use crate::cargo::{cargo, tested};
use crate::process;

/// The slow libraries, and the manifests that request the union of features.
const SHARED: [(&str, &str); 5] = [
    ("wasmtime", "host-cli/shared-features/Cargo.toml"),
    ("wit_component", "host-cli/shared-features/Cargo.toml"),
    ("agent_host", "host-cli/host/Cargo.toml"),
    ("agent_effects", "host-cli/host/Cargo.toml"),
    ("agent_runners", "host-cli/host/Cargo.toml"),
];

/// Returns the ways to build that must agree. The others are compared with the first.
fn ways() -> [String; 8] {
    [
        "build".to_owned(),
        "build --package xtask".to_owned(),
        "build --bin agent-aot".to_owned(),
        "build --package agent-aot".to_owned(),
        "build --package agent".to_owned(),
        "test --no-run".to_owned(),
        format!("test --no-run {}", tested().join(" ")),
        "test --no-run --package agent-parity".to_owned(),
    ]
}

/// A compiled package: its name and version, its kind, its features, and whether a program links it.
type Unit = (String, &'static str, String, bool);

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
    let roots = graph["roots"].as_array().into_iter().flatten();
    let linked = reachable(units, roots.filter_map(index), |unit| kind(unit) == LIBRARY)?;
    let below = reachable(units, [start], |_| true)?;
    Ok(Some(
        below
            .into_iter()
            .filter_map(|index| {
                units
                    .get(index)
                    .map(|unit| describe(unit, linked.contains(&index)))
            })
            .collect(),
    ))
}

/// Returns the indices of the units in `from` and of those that they depend on, as far as all on the way are `taken`.
fn reachable(
    units: &[Value],
    from: impl IntoIterator<Item = usize>,
    taken: impl Fn(&Value) -> bool,
) -> Result<BTreeSet<usize>> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<_> = from.into_iter().collect();
    while let Some(at) = waiting.pop() {
        let unit = units.get(at).context("a unit depends on an unknown unit")?;
        if taken(unit) && reached.insert(at) {
            let dependencies = unit["dependencies"].as_array().into_iter().flatten();
            waiting.extend(dependencies.filter_map(|dependency| index(&dependency["index"])));
        }
    }
    Ok(reached)
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64()?.try_into().ok()
}

/// The kind of what programs link, and of programs.
const LIBRARY: &str = "library";

fn kind(unit: &Value) -> &'static str {
    match unit["target"]["kind"][0].as_str() {
        Some("custom-build") => "build script",
        Some("proc-macro") => "procedural macro",
        _ => LIBRARY,
    }
}

fn describe(unit: &Value, is_linked: bool) -> Unit {
    let id = unit["pkg_id"].as_str().unwrap_or_default();
    let name = id.rsplit(['#', '/']).next().unwrap_or_default();
    let features = unit["features"].as_array().into_iter().flatten();
    let features = features
        .filter_map(Value::as_str)
        .collect::<Vec<_>>()
        .join(",");
    (name.to_owned(), kind(unit), features, is_linked)
}

fn list<'a>(units: impl Iterator<Item = &'a Unit>) -> String {
    let units: Vec<_> = units
        .map(|(name, kind, features, is_linked)| {
            let linked = if *is_linked { ", linked" } else { "" };
            format!(" {name} ({kind}, {features}{linked})")
        })
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
        json!({ "roots": [2], "units": [
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
            " memchr@1.0.0 (library, std, linked), wasmtime@1.0.0 (library, std, linked)"
        );
    }

    #[test]
    fn a_dependency_of_macros_alone_is_another() {
        let mut graph = graph(&["std"]);
        graph["units"][1]["target"]["kind"] = json!(["proc-macro"]);
        let units = below("memchr", &graph).unwrap().unwrap();
        assert_eq!(list(units.iter()), " memchr@1.0.0 (library, std)");
    }

    #[test]
    fn an_additional_feature_is_a_difference() {
        let few = below("wasmtime", &graph(&["std"])).unwrap().unwrap();
        let more = below("wasmtime", &graph(&["default", "std"]))
            .unwrap()
            .unwrap();
        assert_eq!(
            list(more.difference(&few)),
            " memchr@1.0.0 (library, default,std, linked)"
        );
    }
}
