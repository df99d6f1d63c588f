//! The client `cargo`: resolving and vendoring crates. No build script is run.

use crate::client::{Client, program, read, write};
use crate::requirement::Version;
use crate::{Error, Item, Network, Requirement, Requirements};
use agent_sandbox::Sandbox;
use serde::Deserialize;
use serde_json::Value;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where an app finds its crates.
pub(crate) const CRATES: &str = "/crates";

/// The settings that make cargo take crates from there, below that folder.
const SETTINGS: &str = "config.toml";

/// The crates, below that folder.
const VENDOR: &str = "vendor";

/// The versions of all crates, below that folder.
const LOCK: &str = "Cargo.lock";

/// The package that asks for the crates. Its folder is gone after the installation.
const ASKING: &str = "asking";

/// The home of cargo, with its own copies. It is gone after the installation.
const HOME: &str = "home";

/// The files of the user's home of cargo that name registries, and the tokens for them.
const CONFIGURATION: [&str; 2] = ["config.toml", "credentials.toml"];

/// The host of the sparse index of crates.io, which is used without a configuration.
const INDEX: &str = "index.crates.io";

/// The source of the crates of crates.io, in configurations and in lock files.
const CRATES_IO: &str = "crates-io";
const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The algorithm of the digests.
const DIGEST: &str = "sha256=";

/// Maximum number of sources that replace one another.
const REPLACEMENTS: usize = 8;

/// The variable that names the proxy for cargo, before its configuration does.
const PROXIED: [&str; 1] = ["CARGO_HTTP_PROXY"];

/// The variables of a user that say how registries are reached.
const PASSED: [&str; 4] = [
    "cargo_http_",
    "cargo_net_",
    "cargo_registries_",
    "cargo_registry_",
];

/// The folder of the system's toolchain, which every sandbox can read.
const SYSTEM: &str = "/usr";

/// The toolchain in use.
pub(crate) struct Toolchain {
    /// The program `cargo`.
    pub(crate) cargo: PathBuf,
    /// Its folder, if it is not one of the system.
    pub(crate) runtime: Option<PathBuf>,
    root: PathBuf,
}

/// Returns the toolchain that `rustc` names. `cargo` itself may be a program that chooses one, by files of the
/// working folder.
pub(crate) fn toolchain(folder: &Path) -> Result<Toolchain, Error> {
    let rustc = program("rustc")?;
    let named = Command::new(&rustc)
        .args(["--print", "sysroot"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(Error::file(&rustc))?;
    let root = PathBuf::from(String::from_utf8_lossy(&named.stdout).trim());
    let cargo = root.join("bin/cargo");
    match root.is_absolute() && cargo.is_file() {
        true => Ok(Toolchain {
            cargo,
            runtime: (!root.starts_with(SYSTEM)).then(|| root.clone()),
            root,
        }),
        false => Err(Error::new("the toolchain of `rustc` has no `cargo`")),
    }
}

/// Returns what an app's requirements come to, without downloading a crate.
pub(crate) async fn resolve(
    requirements: &Requirements,
    folder: &Path,
    sandbox: &Sandbox,
    network: &Network,
) -> Result<Vec<Item>, Error> {
    let asking = folder.join(ASKING);
    let sources = asking.join("src");
    for path in [&sources, &folder.join(HOME)] {
        fs::create_dir_all(path).map_err(Error::file(path))?;
    }
    write(&sources.join("lib.rs"), "")?;
    write(&asking.join("Cargo.toml"), &manifest(requirements))?;
    if let Some(lock) = requirements.lock() {
        write(&asking.join(LOCK), lock)?;
    }
    // It keeps the versions of a lock file as far as they fit.
    run(
        &["update", "--workspace"],
        requirements,
        folder,
        sandbox,
        network,
    )
    .await?;
    locked(folder)
}

/// Downloads exactly the resolved crates, which have to have the recorded digests.
pub(crate) async fn install_resolved(
    requirements: &Requirements,
    closure: &[Item],
    folder: &Path,
    sandbox: &Sandbox,
    network: &Network,
) -> Result<(), Error> {
    let vendor = folder.join(VENDOR);
    let to = vendor.display().to_string();
    let arguments = [
        "vendor",
        "--locked",
        "--respect-source-config",
        "--versioned-dirs",
        &to,
    ];
    run(&arguments, requirements, folder, sandbox, network).await?;
    if locked(folder)? != closure || !is_vendored(&vendor, closure)? {
        return Err(Error::new(
            "cargo downloaded something else than it resolved",
        ));
    }
    let lock = folder.join(LOCK);
    fs::rename(folder.join(ASKING).join(LOCK), &lock).map_err(Error::file(&lock))?;
    for gone in [ASKING, HOME] {
        let gone = folder.join(gone);
        fs::remove_dir_all(&gone).map_err(Error::file(&gone))?;
    }
    let settings = format!(
        "[source.{CRATES_IO}]\nreplace-with = \"vendored-sources\"\n\n\
         [source.vendored-sources]\ndirectory = \"{CRATES}/{VENDOR}\"\n\n\
         [net]\noffline = true\n"
    );
    write(&folder.join(SETTINGS), &settings)
}

/// Runs cargo for the package that asks for the crates.
async fn run(
    arguments: &[&str],
    requirements: &Requirements,
    folder: &Path,
    sandbox: &Sandbox,
    network: &Network,
) -> Result<(), Error> {
    let toolchain = toolchain(folder)?;
    let index = index(&toolchain, folder)?;
    let home = folder.join(HOME);
    let mut client = Client::new("cargo", toolchain.cargo, folder);
    for argument in arguments {
        client.argument(argument);
    }
    client.arguments(["--manifest-path"]);
    client.argument(folder.join(ASKING).join("Cargo.toml"));
    client.variable("CARGO_HOME", &home);
    client.variable("RUSTC", toolchain.root.join("bin/rustc"));
    // The user's wrapper is not in the sandbox.
    client.variable("RUSTC_WRAPPER", "");
    if let Some(runtime) = toolchain.runtime {
        client.read(runtime);
    }
    // The user's configuration of cargo names registries and their tokens.
    for name in CONFIGURATION {
        let Some(file) = user_home()
            .map(|it| it.join(name))
            .filter(|it| it.is_file())
        else {
            continue;
        };
        let name = home.join(name);
        if fs::symlink_metadata(&name).is_err() {
            link(&file, &name)?;
        }
        client.read(file);
    }
    client.pass(|name| PASSED.iter().any(|it| name.starts_with(it)));
    // The index says where the crates are, which may be another host.
    for host in downloads(&home)? {
        client.reach(host);
    }
    client
        .run(requirements, sandbox, network, &[index], &PROXIED)
        .await
}

/// Returns the user's home of cargo.
fn user_home() -> Option<PathBuf> {
    let named = env::var_os("CARGO_HOME").map(PathBuf::from);
    let named = named.filter(|path| path.is_absolute());
    named.or_else(|| Some(env::home_dir()?.join(".cargo")))
}

/// Returns the URL of the index that replaces crates.io, by the user's configuration. That below
/// the working folder, which is an own one, is not read.
fn index(toolchain: &Toolchain, folder: &Path) -> Result<String, Error> {
    let listed = Command::new(&toolchain.cargo)
        .args(["-Zunstable-options", "config", "get", "--format", "json"])
        // The command is not stable, and the only one that shows what cargo read.
        .env("RUSTC_BOOTSTRAP", "1")
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(Error::file(&toolchain.cargo))?;
    let configuration: Value = serde_json::from_slice(&listed.stdout)
        .map_err(|_| Error::new("`cargo config get` does not list the registries"))?;
    index_of(&configuration)
}

fn index_of(configuration: &Value) -> Result<String, Error> {
    let at = |path: [&str; 3]| {
        let mut found = configuration;
        for name in path {
            found = found.get(name)?;
        }
        found.as_str()
    };
    let mut name = CRATES_IO;
    for _ in 0..REPLACEMENTS {
        if let Some(other) = at(["source", name, "replace-with"]) {
            name = other;
            continue;
        }
        let url = at(["source", name, "registry"]).or_else(|| at(["registries", name, "index"]));
        return match url {
            None if name == CRATES_IO => Ok(format!("sparse+https://{INDEX}/")),
            Some(url) if url.starts_with("sparse+") => Ok(url.to_owned()),
            _ => {
                let message = format!("the source `{name}` of cargo's configuration is not sparse");
                let help = "name a registry whose URL begins with `sparse+`";
                Err(Error::new(message).with_help(help))
            }
        };
    }
    let message = "cargo's configuration replaces sources in a circle";
    Err(Error::new(message))
}

/// Returns the URLs of the crates, which the indexes name that cargo has read.
fn downloads(home: &Path) -> Result<Vec<String>, Error> {
    #[derive(Deserialize)]
    struct Index {
        dl: String,
    }
    let mut urls = Vec::new();
    let indexes = home.join("registry/index");
    for entry in fs::read_dir(indexes).into_iter().flatten().flatten() {
        let file = entry.path().join("config.json");
        if file.is_file() {
            let index: Index = read(&file)?;
            urls.push(index.dl);
        }
    }
    Ok(urls)
}

/// Returns the manifest of the package that asks for the crates.
fn manifest(requirements: &Requirements) -> String {
    let mut text =
        "[package]\nname = \"asking\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[dependencies]\n"
            .to_owned();
    for Requirement {
        name,
        extras,
        default_features,
        version,
    } in requirements.list()
    {
        let version = match version {
            Version::Any => "*".to_owned(),
            Version::Exact(version) => format!("={version}"),
            Version::Range(range) => range.clone(),
        };
        // Their characters need no escapes.
        let extras: Vec<_> = extras.iter().map(|it| format!("\"{it}\"")).collect();
        let extras = extras.join(", ");
        text.push_str(&format!(
            "{name} = {{ version = \"{version}\", features = [{extras}], \
             default-features = {default_features} }}\n"
        ));
    }
    text
}

/// Returns everything in the lock file of cargo.
fn locked(folder: &Path) -> Result<Vec<Item>, Error> {
    let file = folder.join(ASKING).join(LOCK);
    let text = fs::read_to_string(&file).map_err(Error::file(&file))?;
    locked_in(&text)
}

/// Reads a lock file, in which cargo writes each member of a package on a line.
fn locked_in(text: &str) -> Result<Vec<Item>, Error> {
    let mut closure = Vec::new();
    for package in text.split("\n[[package]]\n").skip(1) {
        let member = |name: &str| {
            let mut lines = package.lines();
            lines.find_map(|line| {
                let value = line.strip_prefix(name)?.strip_prefix(" = \"")?;
                value.strip_suffix('"').map(str::to_owned)
            })
        };
        let (Some(name), Some(version)) = (member("name"), member("version")) else {
            return Err(Error::new("a package of `Cargo.lock` has no version"));
        };
        match (member("source"), member("checksum")) {
            // The package that asks.
            (None, None) if name == ASKING => {}
            (Some(source), Some(checksum)) if source == SOURCE => closure.push(Item {
                path: name,
                alias_of: None,
                version,
                integrity: format!("{DIGEST}{checksum}"),
            }),
            _ => {
                let message = format!("`{name}` has no digest: it comes from no registry");
                return Err(Error::new(message));
            }
        }
    }
    closure.sort_by(|a, b| (&a.path, &a.version).cmp(&(&b.path, &b.version)));
    Ok(closure)
}

/// Returns whether a folder has exactly the crates of a closure.
fn is_vendored(folder: &Path, closure: &[Item]) -> Result<bool, Error> {
    #[derive(Deserialize)]
    struct Checksums {
        package: String,
    }
    let entries = fs::read_dir(folder).map_err(Error::file(folder))?;
    if entries.count() != closure.len() {
        return Ok(false);
    }
    for item in closure {
        let of_crate = folder.join(format!("{}-{}", item.path, item.version));
        let checksums: Checksums = read(&of_crate.join(".cargo-checksum.json"))?;
        if item.integrity != format!("{DIGEST}{}", checksums.package) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Gives a file another name.
fn link(file: &Path, name: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    let linked = std::os::unix::fs::symlink(file, name);
    #[cfg(not(unix))]
    let linked = fs::copy(file, name).map(|_| ());
    linked.map_err(Error::file(name))
}

#[cfg(test)]
mod tests {
    use super::{INDEX, index_of, locked_in, manifest};
    use crate::{Registry, Requirement, Requirements, Version};
    use serde_json::json;

    #[test]
    fn the_index_is_that_of_the_configuration() {
        let mirror = "sparse+https://mirror.example/index/";
        let usual = format!("sparse+https://{INDEX}/");
        for (configuration, url) in [
            (json!({}), &*usual),
            (
                json!({ "registries": { "acme": { "index": mirror } } }),
                &*usual,
            ),
            (
                json!({ "source": { "crates-io": { "replace-with": "a" }, "a": { "registry": mirror } } }),
                mirror,
            ),
            (
                json!({
                    "source": { "crates-io": { "replace-with": "acme" } },
                    "registries": { "acme": { "index": mirror } }
                }),
                mirror,
            ),
        ] {
            assert_eq!(index_of(&configuration).unwrap(), url);
        }
        for source in [
            json!({ "crates-io": { "replace-with": "a" }, "a": { "replace-with": "crates-io" } }),
            json!({ "crates-io": { "replace-with": "a" }, "a": { "directory": "/srv/crates" } }),
            json!({ "crates-io": { "replace-with": "a" }, "a": { "registry": "https://a.example" } }),
        ] {
            assert!(index_of(&json!({ "source": source })).is_err());
        }
    }

    #[test]
    fn crates_are_asked_for_with_their_features() {
        let mut serde = Requirement::new("serde", Version::Exact("1.0.0".to_owned()));
        serde.extras = vec!["derive".to_owned(), "rc".to_owned()];
        serde.default_features = false;
        let list = vec![
            serde,
            Requirement::new("b", Version::Range("0.5, <0.7".to_owned())),
            Requirement::new("a", Version::Any),
        ];
        let requirements = Requirements::new(Registry::CratesIo, list).unwrap();
        let manifest = manifest(&requirements);
        let (_, dependencies) = manifest.split_once("[dependencies]\n").unwrap();
        let expected = "a = { version = \"*\", features = [], default-features = true }\n\
            b = { version = \"0.5, <0.7\", features = [], default-features = true }\n\
            serde = { version = \"=1.0.0\", features = [\"derive\", \"rc\"], default-features = false }\n";
        assert_eq!(dependencies, expected);
    }

    #[test]
    fn a_lock_file_has_crates_of_the_registry_alone() {
        let lock = |source: &str| {
            format!(
                "# This file is generated.\nversion = 4\n\n[[package]]\nname = \"b\"\nversion = \"2.0.0\"\n{source}\n\
                 \n[[package]]\nname = \"asking\"\nversion = \"0.0.0\"\ndependencies = [\n \"b\",\n]\n"
            )
        };
        let of_registry =
            "source = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"ab\"";
        let [item] = &locked_in(&lock(of_registry)).unwrap()[..] else {
            panic!("one crate");
        };
        let parts = (&*item.path, &*item.version, &*item.integrity);
        assert_eq!(parts, ("b", "2.0.0", "sha256=ab"));
        for source in [
            "",
            "source = \"git+https://a.example/b#1\"",
            "source = \"registry+https://a.example\"\nchecksum = \"ab\"",
            "source = \"registry+https://github.com/rust-lang/crates.io-index\"",
        ] {
            assert!(locked_in(&lock(source)).is_err(), "{source}");
        }
    }
}
