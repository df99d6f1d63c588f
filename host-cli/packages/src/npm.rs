//! The client `npm`: installing a package, and what it installed.

use crate::client::{RegistryClient, program, read};
use crate::requirement::Version;
use crate::store::Start;
use crate::{Error, Item, Network, Package, Requirements};
use agent_sandbox::Sandbox;
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

/// The command that shows what the registry says of a package.
const VIEW: &str = "view";

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

/// Returns what the registry says of the version that a requirement comes to, as npm prints it.
pub(crate) async fn view(
    requirements: &Requirements,
    folder: &Path,
    sandbox: &Sandbox,
    network: &Network,
) -> Result<Value, Error> {
    let npm = program("npm")?;
    let registries = registries(&npm, folder)?;
    let mut client = client(npm, VIEW, folder);
    for requirement in requirements.list() {
        let version = match &requirement.version {
            Version::Any => "latest",
            Version::Exact(version) | Version::Range(version) => version,
        };
        client.argument(format!("{}@{version}", requirement.name));
    }
    client.arguments([
        "version",
        "_npmUser",
        "maintainers",
        "author",
        "time",
        "--json",
    ]);
    let run = client.output(requirements, sandbox, network, &registries, &PROXIED);
    serde_json::from_slice(&run.await?)
        .map_err(|error| Error::new(format!("`npm view` of `{requirements}`: {error}")))
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
    use super::is_elsewhere;

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
