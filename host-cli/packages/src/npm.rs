//! The client `npm`: installing a package, and what it installed.

use crate::client::{RegistryClient, program, read};
use crate::look_up::{self, Facts};
use crate::requirement::Version;
use crate::store::Start;
use crate::{Error, Item, Network, Package, Registry, Requirement, Requirements};
use agent_sandbox::Sandbox;
use semver::Version as Semantic;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::env;
use std::fmt::Display;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

/// The commands that choose versions, and that take those of the lock file.
const INSTALL: &str = "install";
const INSTALL_LOCKED: &str = "ci";

/// The command that prints what the registry says of a package.
const VIEW: &str = "view";

/// The tag of the version that npm installs without another one.
const NEWEST: &str = "latest";

/// The fields of a version that decide which one of several is installed. npm prints an object only for several
/// fields.
const CHOICE: [&str; 4] = ["name", "version", "deprecated", "dist-tags.latest"];

/// The fields of a version that [`Facts`] are made of, but for its time.
const FACTS: [&str; 5] = ["name", "version", "_npmUser", "maintainers", "author"];

/// The versions of all packages, below the folder.
const LOCK: &str = "package-lock.json";

/// The version of a package that was asked for without one.
const ANY_VERSION: &str = "*";

/// The scripts of packages are not run, and nothing but the package and what it needs is fetched.
const OPTIONS: [&str; 6] = [
    "--ignore-scripts",
    "--omit=dev",
    "--save-exact",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
];

/// Variables that name the proxy for npm, before its configuration does.
const PROXIED: [&str; 2] = ["npm_config_https_proxy", "npm_config_proxy"];

/// Installs a package into a folder. Returns how it is started, and all that was installed.
pub(crate) async fn install(
    package: &Package,
    folder: &Path,
    sandbox: &Sandbox,
    network: &Network,
) -> Result<(Start, Vec<Item>), Error> {
    let npm = program("npm")?;
    let registries = registries(&npm, folder)?;
    let mut client = client(npm, INSTALL, folder);
    client.argument(package.to_string());
    let run = client.run(package, sandbox, network, &registries, &PROXIED);
    run.await?;
    let closure = closure(package, folder)?;
    let start = Start {
        program: program("node")?,
        runtime: None,
        file: start(package, folder)?,
        libraries: None,
    };
    Ok((start, closure))
}

/// Returns a call of npm with a command, for a folder.
fn client(npm: PathBuf, command: &'static str, folder: &Path) -> RegistryClient {
    let mut client = RegistryClient::new("npm", npm, folder);
    client.arguments([command]);
    client.arguments(OPTIONS);
    client.arguments(["--prefix"]);
    client.argument(folder);
    // The user's configuration of npm names registries and their tokens.
    let configuration = env::home_dir().map(|home| home.join(".npmrc"));
    client.configuration("NPM_CONFIG_USERCONFIG", configuration);
    client.pass(|name| name.starts_with("npm_config_"));
    client
}

/// Returns what an app's requirements come to, without installing it.
pub(crate) async fn resolve(
    requirements: &Requirements,
    folder: &Path,
    sandbox: &Sandbox,
    network: &Network,
) -> Result<Vec<Item>, Error> {
    let npm = program("npm")?;
    let registries = registries(&npm, folder)?;
    let wanted = requirements.list().iter().map(|it| {
        let version = match &it.version {
            Version::Any => ANY_VERSION,
            Version::Exact(version) | Version::Range(version) => version,
        };
        (it.name.clone(), version.into())
    });
    let manifest = json!({ "private": true, "dependencies": Value::Object(wanted.collect()) });
    let file = folder.join("package.json");
    fs::write(&file, manifest.to_string()).map_err(Error::file(&file))?;
    if let Some(lock) = requirements.lock() {
        let file = folder.join(LOCK);
        fs::write(&file, lock).map_err(Error::file(&file))?;
    }
    let mut client = client(npm, INSTALL, folder);
    client.arguments(["--package-lock-only"]);
    let run = client.run(requirements, sandbox, network, &registries, &PROXIED);
    run.await?;
    locked(requirements, folder)
}

/// Returns what the registry says of a package.
pub(crate) async fn look_up(
    wanted: &Requirement,
    folder: &Path,
    sandbox: &Sandbox,
    network: &Network,
) -> Result<Facts, Error> {
    let npm = program("npm")?;
    let registries = registries(&npm, folder)?;
    let view = async |version: &str, fields: &[&str]| {
        let mut client = client(npm.clone(), VIEW, folder);
        client.purpose(look_up::PURPOSE);
        client.arguments(["--json"]);
        client.argument(format!("{}@{version}", wanted.name));
        for field in fields {
            client.argument(*field);
        }
        let printed = client.output(wanted, sandbox, network, &registries, &PROXIED);
        Ok(views(wanted, &printed.await?))
    };
    let version = match &wanted.version {
        Version::Exact(version) => version.clone(),
        Version::Any => chosen(wanted, &view(NEWEST, &CHOICE).await?)?,
        Version::Range(range) => chosen(wanted, &view(range, &CHOICE).await?)?,
    };
    // The times of all versions are long.
    let time = format!("time[{version}]");
    let fields: Vec<_> = FACTS.into_iter().chain([&*time]).collect();
    facts(wanted, &version, &view(&version, &fields).await?)
}

/// Returns what `npm view` prints of a package's versions: an object, a list of several, or nothing.
fn views(wanted: &Requirement, printed: &[u8]) -> Vec<Value> {
    let views = match serde_json::from_slice(printed) {
        Ok(Value::Array(views)) => views,
        Ok(view) => vec![view],
        Err(_) => Vec::new(),
    };
    let is_of_package = |it: &Value| it["name"] == *wanted.name;
    views.into_iter().filter(is_of_package).collect()
}

/// Returns the version that npm installs, of those that fit: the newest by its tag, else by its number. A deprecated
/// one is the last choice.
fn chosen(wanted: &Requirement, views: &[Value]) -> Result<String, Error> {
    let numbered = views.iter().filter_map(|it| {
        let version = it["version"].as_str()?;
        let is_current = !matches!(&it["deprecated"], Value::String(why) if !why.is_empty());
        let is_newest = is_current && it["dist-tags.latest"] == version;
        let number = Semantic::parse(version).ok()?;
        Some(((is_current, is_newest, number), version))
    });
    let newest = numbered.max_by(|(a, _), (b, _)| a.cmp(b));
    newest
        .map(|(_, version)| version.to_owned())
        .ok_or_else(|| unknown(wanted))
}

/// Returns the facts of an exact version.
fn facts(wanted: &Requirement, version: &str, views: &[Value]) -> Result<Facts, Error> {
    let mut found = views.iter().filter(|it| it["version"] == version);
    let view = found.next().ok_or_else(|| unknown(wanted))?;
    let publishers = ["_npmUser", "maintainers", "author"].map(|field| &view[field]);
    let published = &view[format!("time[{version}]")];
    Facts::new(Registry::Npm, version, &publishers, published)
}

fn unknown(wanted: &Requirement) -> Error {
    Error::new(format!("`npm view` reports no version of `{wanted}`"))
}

/// Installs exactly the resolved packages, which have to have the recorded digests.
pub(crate) async fn install_resolved(
    requirements: &Requirements,
    closure: &[Item],
    folder: &Path,
    sandbox: &Sandbox,
    network: &Network,
) -> Result<(), Error> {
    let npm = program("npm")?;
    let registries = registries(&npm, folder)?;
    let client = client(npm, INSTALL_LOCKED, folder);
    let run = client.run(requirements, sandbox, network, &registries, &PROXIED);
    run.await?;
    match locked(requirements, folder)? == closure {
        true => Ok(()),
        false => Err(Error::new("npm installed something else than it resolved")),
    }
}

/// Returns the folder with an app's modules, below that of its packages.
pub(crate) fn modules(folder: &Path) -> PathBuf {
    folder.join("node_modules")
}

/// Returns the URLs of the registries of the user's configuration: that of all packages, and those of scopes.
/// A configuration below the working folder is not read.
fn registries(npm: &Path, folder: &Path) -> Result<Vec<String>, Error> {
    let listed = Command::new(npm)
        .args(["config", "list", "--json", "--prefix"])
        .arg(folder)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(Error::file(npm))?;
    let values: BTreeMap<String, Value> = serde_json::from_slice(&listed.stdout)
        .map_err(|_| Error::new("`npm config list` does not list the registries"))?;
    let named = values.into_iter().filter(|(key, _)| {
        let scope = key.strip_suffix(":registry");
        key == "registry" || scope.is_some_and(|scope| scope.starts_with('@'))
    });
    let urls = named.filter_map(|(_, url)| url.as_str().map(str::to_owned));
    Ok(urls.collect())
}

#[derive(Deserialize)]
struct Lock {
    packages: BTreeMap<String, Locked>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Locked {
    /// The name, if the folder has another one.
    name: Option<String>,
    version: Option<String>,
    integrity: Option<String>,
    #[serde(default)]
    dependencies: BTreeMap<String, String>,
    #[serde(default)]
    optional_dependencies: BTreeMap<String, String>,
}

/// Returns whether a package needs another one from elsewhere than a registry: by a URL, a path or a repository.
fn is_elsewhere(wanted: &str) -> bool {
    // Another name of a package of the registry.
    let wanted = match wanted.strip_prefix("npm:") {
        Some(alias) => alias.trim_start_matches('@').replacen('/', "", 1),
        None => wanted.to_owned(),
    };
    wanted.contains([':', '/'])
}

/// Returns everything in the lock file of npm.
fn locked(what: &impl Display, folder: &Path) -> Result<Vec<Item>, Error> {
    let lock: Lock = read(&folder.join(LOCK))?;
    let mut closure = Vec::new();
    // The entry without a path is the folder itself.
    for (path, locked) in lock
        .packages
        .into_iter()
        .filter(|(path, _)| !path.is_empty())
    {
        let needed = [&locked.dependencies, &locked.optional_dependencies];
        let needed = needed.into_iter().flatten();
        if let Some((name, place)) = needed.into_iter().find(|(_, it)| is_elsewhere(it)) {
            return Err(Error::new(format!(
                "`{path}` of `{what}` needs `{name}` from `{place}`, which is no registry"
            )));
        }
        let (Some(version), Some(integrity)) = (locked.version, locked.integrity) else {
            return Err(Error::new(format!(
                "`{path}` of `{what}` has no digest: it comes from no registry"
            )));
        };
        closure.push(Item {
            path,
            alias_of: locked.name,
            version,
            integrity,
        });
    }
    Ok(closure)
}

/// Returns everything that npm installed.
fn closure(package: &Package, folder: &Path) -> Result<Vec<Item>, Error> {
    let closure = locked(package, folder)?;
    let own = format!("node_modules/{}", package.name());
    match closure.iter().find(|item| item.path == own) {
        Some(item) if item.version == package.version() => Ok(closure),
        Some(item) => Err(Error::new(format!(
            "npm installed the version {} of `{package}`",
            item.version
        ))),
        None => Err(Error::new(format!("npm did not install `{package}`"))),
    }
}

#[derive(Deserialize)]
struct Manifest {
    bin: Option<Bin>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Bin {
    One(PathBuf),
    Named(BTreeMap<String, PathBuf>),
}

/// Returns the file that starts the server of a package, below the folder: its only program, or the one that
/// is called like the package.
fn start(package: &Package, folder: &Path) -> Result<PathBuf, Error> {
    let own = Path::new("node_modules").join(package.name());
    let manifest: Manifest = read(&folder.join(&own).join("package.json"))?;
    let called = package.name().rsplit('/').next().unwrap_or_default();
    let bin = match manifest.bin {
        Some(Bin::One(path)) => Some(path),
        Some(Bin::Named(mut named)) => match named.len() {
            1 => named.pop_first().map(|(_, path)| path),
            _ => named.remove(called),
        },
        None => None,
    };
    let bin = bin.ok_or_else(|| Error::new(format!("`{package}` has no program to start")))?;
    let is_inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    let start = own.join(&bin);
    if !bin.components().all(is_inside) || !folder.join(&start).is_file() {
        return Err(Error::new(format!(
            "the program `{}` of `{package}` is not a file of the package",
            bin.display()
        )));
    }
    Ok(start)
}

#[cfg(test)]
mod tests {
    use super::{chosen, facts, is_elsewhere, views};
    use crate::{Requirement, Version};
    use serde_json::json;
    use std::slice;

    fn acme() -> Requirement {
        Requirement::new("acme", Version::Any)
    }

    #[test]
    fn a_view_is_an_object_or_a_list() {
        let read = |printed: &str| views(&acme(), printed.as_bytes()).len();
        let one = r#"{ "name": "acme", "version": "1.0.0" }"#;
        assert_eq!(read(one), 1);
        assert_eq!(read(&format!("[{one}, {one}]")), 2);
        for none in [
            "",
            "\"1.0.0\"",
            "[[], 1, null]",
            "{",
            r#"{ "name": ["acme"] }"#,
            r#"{ "name": "other", "version": "1.0.0" }"#,
        ] {
            assert_eq!(read(none), 0, "{none}");
        }
    }

    #[test]
    fn npm_installs_the_newest_version_that_is_not_deprecated() {
        let view = |version: &str, latest: &str, deprecated: &str| json!({ "version": version, "deprecated": deprecated, "dist-tags.latest": latest });
        for (fit, expected) in [
            (
                vec![("1.9.0", "9.0.0", ""), ("1.10.0", "9.0.0", "")],
                "1.10.0",
            ),
            (
                vec![("1.9.0", "1.9.0", ""), ("1.10.0", "1.9.0", "")],
                "1.9.0",
            ),
            (
                vec![("1.9.0", "1.10.0", ""), ("1.10.0", "1.10.0", "broken")],
                "1.9.0",
            ),
            (
                vec![("1.9.0", "1.9.0", "old"), ("1.10.0", "1.9.0", "old")],
                "1.10.0",
            ),
            (
                vec![("2.0.0-rc.1", "1.0.0", ""), ("2.0.0-rc.10", "1.0.0", "")],
                "2.0.0-rc.10",
            ),
        ] {
            let fit: Vec<_> = fit.into_iter().map(|(a, b, c)| view(a, b, c)).collect();
            assert_eq!(chosen(&acme(), &fit).unwrap(), expected);
        }
        // A registry may leave fields out, or write others.
        let fit = [
            json!({ "version": "1.0.0" }),
            json!({ "version": 2 }),
            json!({ "version": "3.0" }),
        ];
        assert_eq!(chosen(&acme(), &fit).unwrap(), "1.0.0");
        let refused = chosen(&acme(), &fit[1..]).unwrap_err().to_string();
        assert_eq!(refused, "`npm view` reports no version of `acme`");
    }

    #[test]
    fn a_publisher_is_the_user_or_a_maintainer_or_the_author() {
        let publisher = |fields: &[&str]| {
            let mut view = json!({
                "version": "1.0.0", "_npmUser": "ann <ann@acme.example>",
                "maintainers": ["bob <bob@acme.example>", "eve"],
                "author": { "name": "Acme Ltd." }, "time[1.0.0]": "2025-03-01T10:00:00.000Z"
            });
            for field in fields {
                view.as_object_mut().unwrap().remove(*field);
            }
            let facts = facts(&acme(), "1.0.0", &[view]).unwrap();
            assert_eq!(facts.published.as_deref(), Some("2025-03-01"));
            facts.publisher
        };
        assert_eq!(publisher(&[]).as_deref(), Some("ann"));
        assert_eq!(publisher(&["_npmUser"]).as_deref(), Some("bob"));
        let found = publisher(&["_npmUser", "maintainers"]);
        assert_eq!(found.as_deref(), Some("Acme Ltd."));
        assert_eq!(publisher(&["_npmUser", "maintainers", "author"]), None);

        let view = json!({ "version": "1.0.0", "time[2.0.0]": "2025-03-01" });
        assert_eq!(
            facts(&acme(), "1.0.0", slice::from_ref(&view))
                .unwrap()
                .published,
            None
        );
        assert!(facts(&acme(), "1.0.1", &[view]).is_err());
    }

    #[test]
    fn packages_are_needed_from_the_registry() {
        for wanted in [
            "^1.0.0",
            "*",
            "latest",
            "1 || 2",
            "npm:b@^1",
            "npm:@s/b@1.0.0",
        ] {
            assert!(!is_elsewhere(wanted), "{wanted}");
        }
        for wanted in [
            "https://a.example/b.tgz",
            "file:../b",
            "git+ssh://x",
            "github:a/b",
            "a/b",
            "npm:a/b/c@1",
        ] {
            assert!(is_elsewhere(wanted), "{wanted}");
        }
    }
}
