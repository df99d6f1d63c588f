//! `Cargo.toml` of Cargo.

use super::{PLAIN, Reader};
use crate::failure::quoted;
use crate::language::{Language, Requirement};
use crate::toml::{Item, Table, Value, parse};

/// The tables with dependencies. A build also resolves those that it does not use.
const DEPENDENCIES: [&str; 5] = [
    "dependencies",
    "build-dependencies",
    "build_dependencies",
    "dev-dependencies",
    "dev_dependencies",
];

/// The members of the first table that change what is built or from where, each with what to do.
const REFUSED: [(&str, &str); 2] = [
    ("patch", "remove it: crates come from the registry"),
    ("replace", "remove it: crates come from the registry"),
];

/// The members of an empty workspace, which has one package.
const OF_WORKSPACE: [&str; 3] = ["resolver", "metadata", "lints"];

/// Reads the dependencies of a file.
pub(super) fn read(text: &str, reader: &mut Reader<'_>) -> Vec<Requirement> {
    let root = match parse(text) {
        Ok(root) => root,
        Err(fault) => {
            reader.refuse(fault.line, fault.message, "correct the TOML");
            return Vec::new();
        }
    };
    for (name, hint) in REFUSED {
        if let Some(item) = root.get(name) {
            reader.refuse(item.line, format!("`{name}` is not supported"), hint);
        }
    }
    if let Some(Item {
        line,
        value: Value::Table(workspace),
    }) = root.get("workspace")
    {
        for (name, _) in &workspace.0 {
            if !OF_WORKSPACE.contains(&&**name) {
                let message = format!("{} of a workspace is not supported", quoted(name));
                reader.refuse(*line, message, "write an application of one package");
            }
        }
    }
    // The requirement of each key.
    let mut found: Vec<(String, Requirement)> = Vec::new();
    section(&root, &mut found, reader);
    if let Some(Item {
        value: Value::Table(targets),
        ..
    }) = root.get("target")
    {
        for (_, item) in &targets.0 {
            if let Value::Table(target) = &item.value {
                section(target, &mut found, reader);
            }
        }
    }
    if let Some(Item {
        value: Value::Table(features),
        ..
    }) = root.get("features")
    {
        for (_, item) in &features.0 {
            enable(&item.value, &mut found);
        }
    }
    found
        .into_iter()
        .map(|(_, requirement)| requirement)
        .collect()
}

/// Reads the tables of dependencies in a table.
fn section(table: &Table, found: &mut Vec<(String, Requirement)>, reader: &mut Reader<'_>) {
    for name in DEPENDENCIES {
        if let Some(Item {
            value: Value::Table(dependencies),
            ..
        }) = table.get(name)
        {
            for (key, item) in &dependencies.0 {
                let requirement = dependency(key, item, reader);
                found.extend(requirement.map(|it| (key.clone(), it)));
            }
        }
    }
}

fn dependency(key: &str, item: &Item, reader: &mut Reader<'_>) -> Option<Requirement> {
    let line = item.line;
    let shown = quoted(key);
    let table = match &item.value {
        Value::Text(versions) => {
            let parts = (key, Vec::new(), &**versions);
            return reader.requirement(line, Language::Rust, parts);
        }
        Value::Table(table) => table,
        _ => {
            reader.refuse(line, format!("{shown} is no dependency"), PLAIN);
            return None;
        }
    };
    let mut requirement = Parts::default();
    for (name, item) in &table.0 {
        match (&**name, &item.value) {
            ("version", Value::Text(text)) => requirement.versions = Some(text),
            ("package", Value::Text(text)) => requirement.name = Some(text),
            ("features", Value::List(list)) => requirement.features.extend(texts(list)),
            ("default-features" | "default_features", Value::Bool(value)) => {
                requirement.is_bare = !value;
            }
            ("optional" | "public", Value::Bool(_)) => {}
            (other, _) => {
                let message = format!(
                    "{} of the dependency {shown} is not supported",
                    quoted(other)
                );
                reader.refuse(item.line, message, PLAIN);
                return None;
            }
        }
    }
    let Some(versions) = requirement.versions else {
        reader.refuse(
            line,
            format!("the dependency {shown} has no version"),
            PLAIN,
        );
        return None;
    };
    let name = requirement.name.unwrap_or(key);
    let read = reader.requirement(line, Language::Rust, (name, requirement.features, versions))?;
    Some(Requirement {
        default_features: !requirement.is_bare,
        ..read
    })
}

/// What a table says of a dependency.
#[derive(Default)]
struct Parts<'t> {
    name: Option<&'t str>,
    versions: Option<&'t str>,
    features: Vec<String>,
    is_bare: bool,
}

fn texts(list: &[Item]) -> impl Iterator<Item = String> {
    list.iter().filter_map(|item| match &item.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    })
}

/// Adds the features of dependencies that a feature of the application enables: a build resolves them, too.
fn enable(feature: &Value, found: &mut [(String, Requirement)]) {
    let Value::List(list) = feature else {
        return;
    };
    for text in texts(list) {
        let Some((key, feature)) = text.split_once('/') else {
            continue;
        };
        let key = key.strip_suffix('?').unwrap_or(key);
        for (_, requirement) in found.iter_mut().filter(|(name, _)| name == key) {
            if !requirement.extras.iter().any(|it| it == feature) {
                requirement.extras.push(feature.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::declared::tests::shown;
    use crate::language::Language;

    #[test]
    fn dependencies_are_crates_with_versions() {
        let shown = |content: &str| shown(Language::Rust, "Cargo.toml", content);
        for (content, expected) in [
            ("[package]\nname = \"x\"\n[workspace]\nresolver = \"2\"", ""),
            (
                "[dependencies]\nb = \"1\"\na = { version = \"=1.0.2\", features = [\"x\", \"y\"], default-features = false, optional = true }\n",
                "a[x,y]@1.0.2 bare b@1",
            ),
            (
                "dependencies.a = \"*\"\n[dependencies.b]\nversion = \"0.5\"\npackage = \"c_d\"",
                "a c_d@0.5",
            ),
            (
                "[build-dependencies]\na = \"1\"\n[dev-dependencies]\nb = \"2\"\n[target.'cfg(unix)'.dependencies]\nc = \"3\"",
                "a@1 b@2 c@3",
            ),
            (
                "[dependencies]\na = { version = \"1\", default-features = false, features = [\"x\"] }\n[dev-dependencies]\na = { version = \"1\", features = [\"y\"] }",
                "a[x,y]@1",
            ),
            (
                "[dependencies]\nb = { package = \"a\", version = \"1\" }\n[features]\nc = [\"b/x\", \"b?/y\", \"d\"]\n",
                "a[x,y]@1",
            ),
            (
                "[dependencies]\n\na = { path = \"../a\" }",
                "`Cargo.toml`, line 3: `path` of the dependency `a` is not supported",
            ),
            (
                "[dependencies.a]\nversion = \"1\"\ngit = \"https://x\"",
                "`Cargo.toml`, line 3: `git` of the dependency `a` is not supported",
            ),
            (
                "[dependencies]\na.workspace = true",
                "`Cargo.toml`, line 2: `workspace` of the dependency `a` is not supported",
            ),
            (
                "[dependencies]\na = { registry = \"x\", version = \"1\" }",
                "`Cargo.toml`, line 2: `registry` of the dependency `a` is not supported",
            ),
            (
                "[dependencies]\na = {}",
                "`Cargo.toml`, line 2: the dependency `a` has no version",
            ),
            (
                "[dependencies]\na = 1",
                "`Cargo.toml`, line 2: `a` is no dependency",
            ),
            (
                "[dependencies]\na = \"latest\"",
                "`Cargo.toml`, line 2: the dependency `a latest` has no version or range of versions",
            ),
            (
                "[dependencies]\n\"../a\" = \"1\"",
                "`Cargo.toml`, line 2: the dependency `../a 1` does not begin with the name of a package",
            ),
            (
                "\n[patch.crates-io]\na = { path = \"x\" }",
                "`Cargo.toml`, line 2: `patch` is not supported",
            ),
            (
                "[workspace]\nmembers = [\"a\"]",
                "`Cargo.toml`, line 1: `members` of a workspace is not supported",
            ),
            (
                "[dependencies]\na = \"1\"\na = \"2\"",
                "`Cargo.toml`, line 3: a key appears twice",
            ),
        ] {
            assert_eq!(shown(content), expected, "{content}");
        }
    }
}
