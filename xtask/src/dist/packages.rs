//! The packages that programs and the component consist of, as cargo knows them.

use agent_pack::{TARGET, Workspace};
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use super::program;
use crate::{cargo, process};

/// The package of the component, which the program embeds.
const COMPONENT: &str = "agent-component";

/// A package.
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// The expression of SPDX, if the package has one.
    pub(super) licence: Option<String>,
    pub(super) repository: Option<String>,
    /// Whether it is ours.
    pub(super) is_own: bool,
    /// The digest of its archive in the registry.
    pub(super) checksum: Option<String>,
    /// The folder of its sources.
    pub(super) folder: PathBuf,
    /// The packages that it needs, by their ids.
    pub(super) needs: BTreeSet<String>,
}

impl Package {
    /// Returns its package URL.
    pub(super) fn url(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }
}

/// All packages, by ids of cargo.
pub(super) struct Packages {
    pub(super) all: BTreeMap<String, Package>,
    /// That of the first program.
    pub(super) root: String,
}

impl Packages {
    /// Reads what builds of a program and of others take, without what only tests and build scripts take.
    pub(super) fn read(workspace: &Workspace, program: &str, others: &[&str]) -> Result<Self> {
        let checksums = checksums(workspace)?;
        let mut all = BTreeMap::new();
        let mut add = |name, target| read(workspace, name, target, &checksums, &mut all);
        let root = add(program, program::TARGET)?;
        let others: Result<Vec<_>> = others.iter().map(|it| add(it, program::TARGET)).collect();
        let others = others?;
        let component = add(COMPONENT, TARGET)?;
        for program in [&root].into_iter().chain(&others) {
            // A build script embeds it.
            let embeds = all.get_mut(program).context("cargo knows no program")?;
            embeds.needs.insert(component.clone());
        }
        Ok(Self { all, root })
    }
}

/// Adds a package with all that it needs on a target. Returns its id.
fn read(
    workspace: &Workspace,
    name: &str,
    target: &str,
    checksums: &BTreeMap<(String, String), String>,
    all: &mut BTreeMap<String, Package>,
) -> Result<String> {
    let mut metadata = cargo::cargo(workspace);
    metadata.args([
        "metadata",
        "--format-version=1",
        "--locked",
        "--filter-platform",
        target,
    ]);
    let metadata: Value = serde_json::from_str(&process::output(&mut metadata)?)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let packages: BTreeMap<_, _> = packages
        .filter_map(|it| Some((it["id"].as_str()?, it)))
        .collect();
    let nodes = metadata["resolve"]["nodes"]
        .as_array()
        .into_iter()
        .flatten();
    let nodes: BTreeMap<_, _> = nodes
        .filter_map(|it| Some((it["id"].as_str()?, it)))
        .collect();
    let root = packages.iter().find(|(_, it)| it["name"] == name);
    let (root, _) = root.with_context(|| format!("cargo knows no package `{name}`"))?;
    let mut waiting = vec![*root];
    while let Some(id) = waiting.pop() {
        if all.contains_key(id) {
            continue;
        }
        let (Some(package), Some(node)) = (packages.get(id), nodes.get(id)) else {
            continue;
        };
        let needs: BTreeSet<_> = needs(node).collect();
        waiting.extend(&needs);
        let text = |member: &str| package[member].as_str().map(str::to_owned);
        let (name, version) = (text("name"), text("version"));
        let (name, version) = name.zip(version).context("a package has no name")?;
        let folder = text("manifest_path").map(PathBuf::from);
        all.insert(
            id.to_owned(),
            Package {
                licence: text("license"),
                repository: text("repository"),
                is_own: package["source"].is_null(),
                checksum: checksums.get(&(name.clone(), version.clone())).cloned(),
                folder: folder
                    .and_then(|it| Some(it.parent()?.to_owned()))
                    .unwrap_or_default(),
                needs: needs.into_iter().map(str::to_owned).collect(),
                name,
                version,
            },
        );
    }
    Ok((*root).to_owned())
}

/// Returns the packages that one needs to run, not to be built or tested.
fn needs(node: &Value) -> impl Iterator<Item = &str> {
    let dependencies = node["deps"].as_array().into_iter().flatten();
    let run = dependencies.filter(|it| {
        let mut kinds = it["dep_kinds"].as_array().into_iter().flatten();
        kinds.any(|it| it["kind"].is_null())
    });
    run.filter_map(|it| it["pkg"].as_str())
}

/// Reads the digests of the lock file.
fn checksums(workspace: &Workspace) -> Result<BTreeMap<(String, String), String>> {
    let lock = fs::read_to_string(workspace.root().join("Cargo.lock"))?;
    let packages = lock.split("[[package]]").filter_map(|package| {
        let value = |name: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.strip_prefix(" = \"")?.strip_suffix('"')?.to_owned())
        };
        Some(((value("name")?, value("version")?), value("checksum")?))
    });
    Ok(packages.collect())
}

#[cfg(test)]
mod tests {
    use super::needs;
    use serde_json::json;

    #[test]
    fn what_only_tests_or_build_scripts_take_is_not_needed() {
        let node = json!({ "deps": [
            { "pkg": "a", "dep_kinds": [{ "kind": "dev" }, { "kind": null }] },
            { "pkg": "b", "dep_kinds": [{ "kind": "build" }] },
            { "pkg": "c", "dep_kinds": [{ "kind": "dev" }] },
        ] });
        assert_eq!(needs(&node).collect::<Vec<_>>(), ["a"]);
    }
}
