//! The client `pip`: installing a package, and what it installed.

use crate::client::{Client, program, read};
use crate::store::Start;
use crate::{Error, Item, Package};
use agent_sandbox::Sandbox;
use serde::Deserialize;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of libraries, below that of the package.
const LIBRARIES: &str = "site";

/// The report of pip, below the folder of the package.
const REPORT: &str = "report.json";

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

/// Installs a package into a folder. Returns how it is started, and all that was installed.
pub(crate) async fn install(
    package: &Package,
    folder: &Path,
    sandbox: &Sandbox,
) -> Result<(Start, Vec<Item>), Error> {
    let (python, runtime) = python()?;
    let mut client = Client::new("pip", python.clone(), folder);
    client.arguments(OPTIONS);
    client.argument(folder.join(LIBRARIES));
    client.arguments(["--report"]);
    client.argument(folder.join(REPORT));
    client.argument(format!("{}=={}", package.name(), package.version()));
    if let Some(runtime) = &runtime {
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
    client.run(package, sandbox).await?;
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

/// Returns the interpreter, and its folder if it is not that of the system. `python3` itself may be a script
/// that chooses one.
fn python() -> Result<(PathBuf, Option<PathBuf>), Error> {
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
}

#[derive(Deserialize)]
struct Download {
    archive_info: Option<Archive>,
}

#[derive(Deserialize)]
struct Archive {
    hash: Option<String>,
}

/// Returns everything that pip installed.
fn closure(package: &Package, folder: &Path) -> Result<Vec<Item>, Error> {
    let report: Report = read(&folder.join(REPORT))?;
    let mut closure = Vec::new();
    for it in report.install {
        let Metadata { name, version } = it.metadata;
        let hash = it.download_info.archive_info.and_then(|it| it.hash);
        let integrity = hash.filter(|it| it.starts_with("sha256="));
        let Some(integrity) = integrity else {
            let message = format!("`{name}` of `{package}` has no digest: it comes from no index");
            return Err(Error::new(message));
        };
        closure.push(Item {
            path: normalized(&name),
            version,
            integrity,
        });
    }
    closure.sort_by(|a, b| a.path.cmp(&b.path));
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
