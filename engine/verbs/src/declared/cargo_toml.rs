//! `Cargo.toml` of Cargo.

use super::{PLAIN, Reader};
use crate::failure::quoted;
use crate::language::{Language, Requirement};
use agent_syntax::members::{entries, entry, items, string};
use agent_syntax::{Entry, Node, Value, toml};
use agent_text::{LineIndex, Span};

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

/// The lines of a text.
pub(super) struct Lines<'t>(&'t str, LineIndex);

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self(text, LineIndex::new(text))
    }

    /// Returns the number of the line in which a span begins, from 1.
    pub(super) fn of(&self, span: Span) -> usize {
        self.1.position(self.0, span.start as usize).line as usize
    }
}

/// Reads the dependencies of a file.
pub(super) fn read(text: &str, reader: &mut Reader<'_>) -> Vec<Requirement> {
    let lines = Lines::new(text);
    let root = match toml::parse(text) {
        Ok(root) => root,
        Err(error) => {
            reader.refuse(lines.of(error.span), error.message, "correct the TOML");
            return Vec::new();
        }
    };
    for (name, hint) in REFUSED {
        if let Some(refused) = entry(&root, name) {
            let line = lines.of(refused.key_span);
            reader.refuse(line, format!("`{name}` is not supported"), hint);
        }
    }
    if let Some(workspace) = entry(&root, "workspace") {
        let line = lines.of(workspace.key_span);
        for Entry { key, .. } in entries(&workspace.value) {
            if !OF_WORKSPACE.contains(&&**key) {
                let message = format!("{} of a workspace is not supported", quoted(key));
                reader.refuse(line, message, "write an application of one package");
            }
        }
    }
    // The requirement of each key.
    let mut found: Vec<(String, Requirement)> = Vec::new();
    section(&root, &mut found, &lines, reader);
    for target in members(&root, "target") {
        section(&target.value, &mut found, &lines, reader);
    }
    for feature in members(&root, "features") {
        enable(&feature.value, &mut found);
    }
    found
        .into_iter()
        .map(|(_, requirement)| requirement)
        .collect()
}

/// Returns the members of a table in a table.
fn members<'n, 't>(table: &'n Node<'t>, name: &str) -> &'n [Entry<'t>] {
    entry(table, name).map_or(&[], |it| entries(&it.value))
}

/// Reads the tables of dependencies in a table.
fn section(
    table: &Node<'_>,
    found: &mut Vec<(String, Requirement)>,
    lines: &Lines<'_>,
    reader: &mut Reader<'_>,
) {
    for name in DEPENDENCIES {
        for declared in members(table, name) {
            let requirement = dependency(declared, lines, reader);
            found.extend(requirement.map(|it| (declared.key.to_string(), it)));
        }
    }
}

fn dependency(
    declared: &Entry<'_>,
    lines: &Lines<'_>,
    reader: &mut Reader<'_>,
) -> Option<Requirement> {
    let key = &*declared.key;
    let line = lines.of(declared.key_span);
    let shown = quoted(key);
    let table = match &declared.value.value {
        Value::String(versions) => {
            let parts = (key, Vec::new(), &**versions);
            return reader.requirement(line, Language::Rust, parts);
        }
        Value::Mapping(table) => table,
        _ => {
            reader.refuse(line, format!("{shown} is no dependency"), PLAIN);
            return None;
        }
    };
    let mut requirement = Parts::default();
    for Entry {
        key: name,
        key_span,
        value,
    } in table
    {
        match (&**name, &value.value) {
            ("version", Value::String(text)) => requirement.versions = Some(text),
            ("package", Value::String(text)) => requirement.name = Some(text),
            ("features", Value::Sequence(list)) => requirement.features.extend(texts(list)),
            ("default-features" | "default_features", Value::Bool(value)) => {
                requirement.is_bare = !value;
            }
            ("optional" | "public", Value::Bool(_)) => {}
            (other, _) => {
                let message = format!(
                    "{} of the dependency {shown} is not supported",
                    quoted(other)
                );
                reader.refuse(lines.of(*key_span), message, PLAIN);
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

fn texts(list: &[Node<'_>]) -> impl Iterator<Item = String> {
    list.iter().filter_map(string).map(str::to_owned)
}

/// Adds the features of dependencies that a feature of the application enables: a build resolves them, too.
fn enable(feature: &Node<'_>, found: &mut [(String, Requirement)]) {
    for text in texts(items(feature).unwrap_or_default()) {
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
