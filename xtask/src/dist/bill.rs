//! The bill of materials, in CycloneDX 1.6.

use agent_pack::write_if_changed;
use anyhow::Result;
use serde_json::{Value, json};

use super::packages::{Package, Packages};
use super::{Dist, version};

const FILE: &str = "bom.cdx.json";

/// Writes every package with its licence, its digest and what it needs. There is neither a time nor a serial number,
/// so that equal releases have equal bills.
pub(super) fn write(dist: &Dist<'_>, packages: &Packages) -> Result<()> {
    let mut text = serde_json::to_string_pretty(&bill(packages))?;
    text.push('\n');
    write_if_changed(&dist.path(FILE), text.as_bytes())?;
    Ok(())
}

fn bill(packages: &Packages) -> Value {
    let root = &packages.all[&packages.root];
    let others = packages.all.iter().filter(|(id, _)| **id != packages.root);
    let components: Vec<_> = others.map(|(_, package)| component(package)).collect();
    let dependencies = packages.all.values().map(|package| {
        let needs = package.needs.iter().filter_map(|id| packages.all.get(id));
        let needs: Vec<_> = needs.map(Package::url).collect();
        json!({ "ref": package.url(), "dependsOn": needs })
    });
    json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": component(root),
            "tools": { "components": [{ "type": "application", "name": "cargo xtask dist", "version": version() }] },
        },
        "components": components,
        "dependencies": dependencies.collect::<Vec<_>>(),
    })
}

fn component(package: &Package) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": package.url(),
        "name": package.name,
        "version": package.version,
        "purl": package.url(),
    });
    if let Some(licence) = &package.licence {
        // Some packages still separate alternatives by a slash.
        let expression = licence.replace('/', " OR ");
        component["licenses"] = json!([{ "expression": expression }]);
    }
    if let Some(checksum) = &package.checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    if let Some(repository) = &package.repository {
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    component
}
