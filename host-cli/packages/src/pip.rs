//! The client `pip`: installing a package, and what it installed.

use crate::client::{RegistryClient, program, read};
use crate::look_up::{self, Facts};
use crate::requirement::Version;
use crate::store::Start;
use crate::{Error, Item, Network, Package, Registry, Requirement, Requirements};
use agent_sandbox::Sandbox;
use serde::Deserialize;
use serde_json::Value;
use std::env;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::slice;

/// The folder of libraries, below that of the package.
const LIBRARIES: &str = "site";

/// The report of pip, below the folder of the package.
const REPORT: &str = "report.json";

/// The resolved packages with their digests, below the folder of the package.
const PINNED: &str = "requirements.txt";

/// Only wheels: building a package would run its code.
const OPTIONS: [&str; 9] = [
    "-m",
    "pip",
    "install",
    "--only-binary=:all:",
    "--no-compile",
    "--no-input",
    "--no-cache-dir",
    "--disable-pip-version-check",
    "--target",
];

/// Prints the interpreter and its folder.
const WHICH: &str = "import sys; print(sys.executable); print(sys.base_prefix)";

/// The folder of the system's interpreter, which every sandbox can read.
const SYSTEM: &str = "/usr";

/// The variable that names the proxy for pip, before its configuration does.
const PROXIED: [&str; 1] = ["PIP_PROXY"];

/// The host of the index that pip uses without a configuration, and that of its files.
const PYPI: [&str; 2] = ["pypi.org", "files.pythonhosted.org"];

/// Installs a package into a folder. Returns how it is started, and all that was installed.
pub(crate) async fn install(
    package: &Package,
    folder: &Path,
    sandbox: &Sandbox,
    network: &Network,
) -> Result<(Start, Vec<Item>), Error> {
    let (python, runtime) = python()?;
    let mut client = client(&python, runtime.as_ref(), folder);
    client.argument(format!("{}=={}", package.name(), package.version()));
    let indexes = indexes(&python, folder)?;
    let run = client.run(package, sandbox, network, &indexes, &PROXIED);
    run.await?;
    let closure = closure(package, folder)?;
    let file = Path::new(LIBRARIES).join("bin").join(package.name());
    if !folder.join(&file).is_file() {
        let message = format!("`{package}` has no program that is called like it");
        return Err(Error::new(message));
    }
    let start = Start {
        program: python,
        runtime,
        file,
        libraries: Some(("PYTHONPATH".to_owned(), LIBRARIES.into())),
    };
    Ok((start, closure))
}

/// Returns a call of pip that installs into a folder and reports what it does.
fn client(python: &Path, runtime: Option<&PathBuf>, folder: &Path) -> RegistryClient {
    let mut client = RegistryClient::new("pip", python.to_owned(), folder);
    client.arguments(OPTIONS);
    client.argument(folder.join(LIBRARIES));
    client.arguments(["--report"]);
    client.argument(folder.join(REPORT));
    if let Some(runtime) = runtime {
        client.read(runtime.clone());
    }
    // The user's configuration of pip names indexes and their passwords.
    let of_user = env::home_dir().map(|home| home.join(".config/pip/pip.conf"));
    client.configuration("PIP_CONFIG_FILE", of_user);
    let of_machine = PathBuf::from("/etc/pip.conf");
    if of_machine.is_file() {
        client.read(of_machine);
    }
    client.pass(|name| name.starts_with("pip_"));
    client
}

/// Returns what an app's requirements come to, without installing it.
pub(crate) async fn resolve(
    requirements: &Requirements,
    folder: &Path,
    sandbox: &Sandbox,
    network: &Network,
) -> Result<Vec<Item>, Error> {
    let (python, runtime) = python()?;
    let client = dry_run(&python, runtime.as_ref(), folder, requirements.list());
    let indexes = indexes(&python, folder)?;
    let run = client.run(requirements, sandbox, network, &indexes, &PROXIED);
    run.await?;
    reported(requirements, folder)
}

/// Returns what the index says of a package.
pub(crate) async fn look_up(
    wanted: &Requirement,
    folder: &Path,
    sandbox: &Sandbox,
    network: &Network,
) -> Result<Facts, Error> {
    let (python, runtime) = python()?;
    let list = slice::from_ref(wanted);
    let mut client = dry_run(&python, runtime.as_ref(), folder, list);
    client.purpose(look_up::PURPOSE);
    client.arguments(["--no-deps"]);
    let indexes = indexes(&python, folder)?;
    let run = client.run(wanted, sandbox, network, &indexes, &PROXIED);
    run.await?;
    facts(wanted, read(&folder.join(REPORT))?)
}

/// Returns a call of pip that reports what it would install, and installs nothing.
fn dry_run(
    python: &Path,
    runtime: Option<&PathBuf>,
    folder: &Path,
    list: &[Requirement],
) -> RegistryClient {
    let mut client = client(python, runtime, folder);
    client.arguments(["--dry-run", "--ignore-installed"]);
    for requirement in list {
        client.argument(wanted(requirement));
    }
    client
}

/// Returns a requirement as an argument of pip (PEP 508).
fn wanted(requirement: &Requirement) -> String {
    let mut text = requirement.name.clone();
    if !requirement.extras.is_empty() {
        text.push_str(&format!("[{}]", requirement.extras.join(",")));
    }
    match &requirement.version {
        Version::Any => {}
        Version::Exact(version) => text.push_str(&format!("=={version}")),
        Version::Range(range) => text.push_str(range),
    }
    text
}

/// Installs exactly the resolved packages, which have to have the recorded digests.
pub(crate) async fn install_resolved(
    requirements: &Requirements,
    closure: &[Item],
    folder: &Path,
    sandbox: &Sandbox,
    network: &Network,
) -> Result<(), Error> {
    let (python, runtime) = python()?;
    let mut client = client(&python, runtime.as_ref(), folder);
    client.arguments(["--no-deps", "--require-hashes", "--requirement"]);
    let pinned = closure.iter().map(|item| {
        let digest = item.integrity.replacen('=', ":", 1);
        format!("{}=={} --hash={digest}\n", item.path, item.version)
    });
    let file = folder.join(PINNED);
    fs::write(&file, pinned.collect::<String>()).map_err(Error::file(&file))?;
    client.argument(file);
    let indexes = indexes(&python, folder)?;
    let run = client.run(requirements, sandbox, network, &indexes, &PROXIED);
    run.await?;
    match reported(requirements, folder)? == closure {
        true => Ok(()),
        false => Err(Error::new("pip installed something else than it resolved")),
    }
}

/// Returns the folder with an app's libraries, below that of its packages.
pub(crate) fn libraries(folder: &Path) -> PathBuf {
    folder.join(LIBRARIES)
}

/// Returns the interpreter, and its folder if it is not that of the system. `python3` itself may be a script
/// that chooses one.
///
/// # Errors
///
/// When there is no `python3`, or it does not run.
pub fn python() -> Result<(PathBuf, Option<PathBuf>), Error> {
    let launcher = program("python3")?;
    let named = Command::new(&launcher)
        .args(["-I", "-c", WHICH])
        .stdin(Stdio::null())
        .output()
        .map_err(Error::file(&launcher))?;
    let text = String::from_utf8_lossy(&named.stdout).into_owned();
    let mut lines = text.lines().map(PathBuf::from);
    match (lines.next(), lines.next()) {
        (Some(python), Some(prefix)) if python.is_absolute() => {
            Ok((python, (!prefix.starts_with(SYSTEM)).then_some(prefix)))
        }
        _ => Err(Error::new("`python3` does not run")),
    }
}

/// Returns the URLs of the indexes of the user's configuration. Python looks for modules in the working
/// folder, which is an own one.
fn indexes(python: &Path, folder: &Path) -> Result<Vec<String>, Error> {
    let listed = Command::new(python)
        .args(["-m", "pip", "config", "list"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(Error::file(python))?;
    if !listed.status.success() {
        return Err(Error::new("`pip config list` does not list the indexes"));
    }
    Ok(indexes_of(&String::from_utf8_lossy(&listed.stdout)))
}

/// Returns the URLs of the indexes in lines such as `global.index-url='https://a.example/simple'`. A value
/// with several URLs separates them by spaces and escaped line breaks.
fn indexes_of(listed: &str) -> Vec<String> {
    let values = |name: &'static str| {
        let lines = listed.lines().filter_map(move |line| {
            let (key, value) = line.split_once('=')?;
            key.ends_with(name).then(|| value.trim_matches(['\'', '"']))
        });
        lines.flat_map(|value| {
            let urls = value.replace("\\n", " ");
            let urls: Vec<_> = urls.split_whitespace().map(str::to_owned).collect();
            urls
        })
    };
    let own: Vec<_> = values(".index-url").collect();
    let more = values(".extra-index-url").chain(values(".find-links"));
    let of_pypi = format!("https://{}/", PYPI[0]);
    let is_usual = own.is_empty() || own.iter().any(|url| url.starts_with(&of_pypi));
    let usual = PYPI.iter().filter(|_| is_usual);
    usual
        .map(|host| format!("https://{host}/"))
        .chain(own.iter().cloned())
        .chain(more)
        .collect()
}

#[derive(Deserialize)]
struct Report {
    install: Vec<Downloaded>,
}

#[derive(Deserialize)]
struct Downloaded {
    metadata: Metadata,
    download_info: Download,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    version: String,
    #[serde(flatten)]
    people: People,
}

/// The people that the metadata of a package may name.
#[derive(Deserialize)]
struct People {
    #[serde(default)]
    author: Value,
    #[serde(default)]
    author_email: Value,
    #[serde(default)]
    maintainer: Value,
    #[serde(default)]
    maintainer_email: Value,
}

#[derive(Deserialize)]
struct Download {
    archive_info: Option<Archive>,
}

#[derive(Deserialize)]
struct Archive {
    hash: Option<String>,
}

/// Returns everything that pip reports to install, in the order of names.
fn reported(what: &impl Display, folder: &Path) -> Result<Vec<Item>, Error> {
    let report: Report = read(&folder.join(REPORT))?;
    let mut closure = Vec::new();
    for it in report.install {
        let Metadata { name, version, .. } = it.metadata;
        let hash = it.download_info.archive_info.and_then(|it| it.hash);
        let integrity = hash.filter(|it| it.starts_with("sha256="));
        let Some(integrity) = integrity else {
            let message = format!("`{name}` of `{what}` has no digest: it comes from no index");
            return Err(Error::new(message));
        };
        closure.push(Item {
            path: normalized(&name),
            alias_of: None,
            version,
            integrity,
        });
    }
    closure.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(closure)
}

/// Returns the facts of a package in the report. The report has no time of a publication.
fn facts(wanted: &Requirement, report: Report) -> Result<Facts, Error> {
    let mut found = report.install.into_iter().map(|it| it.metadata);
    let metadata = found.find(|it| normalized(&it.name) == normalized(&wanted.name));
    let Some(Metadata {
        version, people, ..
    }) = metadata
    else {
        return Err(Error::new(format!("pip reports no version of `{wanted}`")));
    };
    let publishers = [
        &people.author,
        &people.author_email,
        &people.maintainer,
        &people.maintainer_email,
    ];
    Facts::new(Registry::PyPi, &version, &publishers, &Value::Null)
}

/// Returns everything that pip installed.
fn closure(package: &Package, folder: &Path) -> Result<Vec<Item>, Error> {
    let closure = reported(package, folder)?;
    let own = normalized(package.name());
    let is_own = |it: &Item| it.path == own && it.version == package.version();
    match closure.iter().any(is_own) {
        true => Ok(closure),
        false => Err(Error::new(format!("pip did not install `{package}`"))),
    }
}

/// Returns a name as PyPI compares it: in lower case, with `-` for each run of `-`, `_` and `.`.
fn normalized(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    let parts: Vec<_> = parts.map(str::to_ascii_lowercase).collect();
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::{PYPI, Report, facts, indexes_of};
    use crate::{Facts, Requirement, Version};
    use serde_json::{Value, json};

    fn facts_of(metadata: Value) -> Result<Facts, String> {
        let report = json!({ "install": [{ "metadata": metadata, "download_info": {} }] });
        let report: Report = serde_json::from_value(report).map_err(|it| it.to_string())?;
        let wanted = Requirement::new("Acme_server", Version::Any);
        facts(&wanted, report).map_err(|it| it.to_string())
    }

    #[test]
    fn a_publisher_is_the_author_or_the_maintainer() {
        for (mut metadata, publisher) in [
            (json!({}), None),
            (json!({ "author": "Ann", "maintainer": "Bob" }), Some("Ann")),
            (
                json!({ "author_email": "\"Acme, Ltd.\" <a@acme.example>" }),
                Some("Acme, Ltd."),
            ),
            (
                json!({ "author_email": "a@acme.example" }),
                Some("a@acme.example"),
            ),
            (json!({ "author": "", "maintainer": "Bob" }), Some("Bob")),
            (
                json!({ "author": 1, "maintainer_email": "Bob <b@acme.example>" }),
                Some("Bob"),
            ),
        ] {
            metadata["name"] = json!("acme-server");
            metadata["version"] = json!("1.0rc1");
            let facts = facts_of(metadata).unwrap();
            assert_eq!(facts.version, "1.0rc1");
            assert_eq!(facts.publisher.as_deref(), publisher);
            assert_eq!(facts.published, None);
        }
    }

    #[test]
    fn a_report_without_an_exact_version_is_refused() {
        for metadata in [
            json!({ "name": "other", "version": "1.0" }),
            json!({ "name": "acme-server", "version": "1.*" }),
            json!({ "name": "acme-server", "version": 1 }),
            json!({ "name": "acme-server" }),
        ] {
            assert!(facts_of(metadata.clone()).is_err(), "{metadata}");
        }
    }

    #[test]
    fn indexes_are_those_of_the_configuration() {
        let pypi = PYPI.map(|host| format!("https://{host}/"));
        assert_eq!(indexes_of("global.cert='/x'\n"), pypi);
        let listed = ":env:.index-url='https://a.example/simple'\n\
                      global.extra-index-url='\\nhttps://b.example/x\\nhttps://c.example'\n\
                      install.find-links='/srv/wheels'\n";
        let found = [
            "https://a.example/simple",
            "https://b.example/x",
            "https://c.example",
            "/srv/wheels",
        ];
        assert_eq!(indexes_of(listed), found);
        let listed = "user.index-url='https://pypi.org/simple/'";
        assert_eq!(indexes_of(listed)[..2], pypi);
    }
}
