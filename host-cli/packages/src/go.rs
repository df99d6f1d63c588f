//! The client `go`: resolving and downloading modules. No code of a module is run.

use crate::client::{Client, write};
use crate::requirement::Version;
use crate::tree::hexadecimal;
use crate::{Error, Item, Network, Requirement, Requirements};
use agent_sandbox::Sandbox;
use serde::Deserialize;
use serde_json::Deserializer;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where an app finds its modules.
pub(crate) const MODULES: &str = "/modules";

/// The archives of the modules as a proxy has them, below that folder.
const PROXY: &str = "proxy";

/// The module that stands for the app, and the digests, below that folder. A build reads them instead
/// of its own.
const MANIFEST: &str = "go.mod";
const SUMS: &str = "go.sum";

/// The file that says so to the compiler.
const OVERLAY: &str = "overlay.json";

/// The module that asks for the others. Its folder is gone after the installation.
const ASKING: &str = "asking";

/// The home of the client, with its caches. It is gone after the installation.
const HOME: &str = "home";

/// The name of the module of an app that names none.
const NAME: &str = "app";

/// The suffix of a version in `go.sum` for the digest of the manifest alone.
const OF_MANIFEST: &str = "/go.mod";

/// What the user's configuration says about registries.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE", default)]
struct Configuration {
    goproxy: String,
    gonoproxy: String,
    gosumdb: String,
    gonosumdb: String,
    goversion: String,
}

/// A module that was downloaded.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Module {
    path: String,
    version: String,
    sum: String,
    go_mod_sum: String,
}

/// Returns the program and the folders that it has to read.
pub(crate) fn toolchain() -> Result<(PathBuf, Vec<PathBuf>), Error> {
    let missing = || Error::new("there is no program `go`");
    let found = agent_sandbox::toolchain("go").ok_or_else(missing)?;
    Ok((found.path(), found.read))
}

/// Returns what an app's requirements come to. The archives of modules are downloaded: their digests are nowhere else.
pub(crate) async fn resolve(
    requirements: &Requirements,
    folder: &Path,
    sandbox: &Sandbox,
    network: &Network,
) -> Result<Vec<Item>, Error> {
    let configuration = configuration(folder)?;
    let asking = folder.join(ASKING);
    fs::create_dir(&asking).map_err(Error::file(&asking))?;
    let (manifest, sums) = (asking.join(MANIFEST), asking.join(SUMS));
    let own = own_directives(requirements.manifest(), &configuration.goversion);
    write(&manifest, &asked(&own, requirements.list()))?;
    write(&sums, requirements.lock().unwrap_or_default())?;

    let call = Call {
        configuration,
        requirements,
        folder,
        sandbox,
        network,
    };
    let named: Vec<_> = requirements.list().iter().filter_map(named).collect();
    if !named.is_empty() {
        let get: Vec<_> = ["get"]
            .into_iter()
            .map(str::to_owned)
            .chain(named)
            .collect();
        call.run(&get).await?;
    }
    let download = ["mod", "download", "-json", "all"].map(str::to_owned);
    let downloaded = call.run(&download).await?;
    let modules = Deserializer::from_slice(&downloaded).into_iter::<Module>();
    let modules: Vec<_> = modules
        .collect::<Result<_, _>>()
        .map_err(|error| Error::new(format!("`go mod download` lists no modules: {error}")))?;

    // A module may need a later version of the language than the app names.
    let asked = fs::read_to_string(&manifest).map_err(Error::file(&manifest))?;
    write(&manifest, &whole(&with_language(&own, &asked), &modules))?;
    let present = fs::read_to_string(&sums).map_err(Error::file(&sums))?;
    write(&sums, &all_sums(&present, &modules))?;
    let closure = modules.into_iter().map(|module| Item {
        path: module.path,
        alias_of: None,
        version: module.version,
        integrity: module.sum,
    });
    Ok(closure.collect())
}

/// Leaves what an app needs of what was downloaded: the proxy, and the manifest.
pub(crate) fn install_resolved(folder: &Path) -> Result<(), Error> {
    let asking = folder.join(ASKING);
    for (from, to) in [
        (modules(folder).join("cache/download"), PROXY),
        (asking.join(MANIFEST), MANIFEST),
        (asking.join(SUMS), SUMS),
    ] {
        let to = folder.join(to);
        // An app without modules has no archives.
        if from.exists() {
            fs::rename(&from, &to).map_err(Error::file(&to))?;
        }
    }
    for gone in [asking, folder.join(HOME)] {
        if gone.exists() {
            fs::remove_dir_all(&gone).map_err(Error::file(&gone))?;
        }
    }
    // Names without a folder are those in the folder of the app.
    let replaced = [MANIFEST, SUMS].map(|name| format!("\"{name}\":\"{MODULES}/{name}\""));
    let overlay = format!("{{\"Replace\":{{{}}}}}\n", replaced.join(","));
    write(&folder.join(OVERLAY), &overlay)
}

/// Returns the digest of the manifest and the digests that the resolution left in a folder.
pub(crate) fn manifest_digest(folder: &Path) -> Result<String, Error> {
    let mut digest = Sha256::new();
    for name in [MANIFEST, SUMS] {
        let file = folder.join(ASKING).join(name);
        let text = fs::read(&file).map_err(Error::file(&file))?;
        digest.update(Sha256::digest(text));
    }
    Ok(hexadecimal(&digest.finalize()))
}

/// Returns the environment in which a build finds the modules without a network.
pub(crate) fn environment() -> BTreeMap<String, String> {
    let variables = [
        (
            "GOFLAGS",
            format!("-buildvcs=false -overlay={MODULES}/{OVERLAY}"),
        ),
        ("GOPROXY", format!("file://{MODULES}/{PROXY}")),
        ("GOSUMDB", "off".to_owned()),
    ];
    variables
        .map(|(name, value)| (name.to_owned(), value))
        .into()
}

/// Calls of the client for one folder.
struct Call<'a> {
    configuration: Configuration,
    requirements: &'a Requirements,
    folder: &'a Path,
    sandbox: &'a Sandbox,
    network: &'a Network,
}

impl Call<'_> {
    /// Runs the client for the module that asks. Returns what it prints.
    async fn run(&self, arguments: &[String]) -> Result<Vec<u8>, Error> {
        let (program, read) = toolchain()?;
        let mut client = Client::new("go", program, self.folder);
        for argument in arguments {
            client.argument(argument);
        }
        client.within(self.folder.join(ASKING));
        for path in read {
            client.read(path);
        }
        let configured = &self.configuration;
        let proxies = proxies(&configured.goproxy)?;
        for url in &proxies.split([',', '|']).collect::<Vec<_>>() {
            if let Some(path) = url.strip_prefix("file://") {
                client.read(path.into());
            }
        }
        let home = self.folder.join(HOME);
        for (name, value) in [
            ("GO111MODULE", "on".into()),
            ("GOCACHE", home.join("build").into_os_string()),
            // The user's values are below.
            ("GOENV", "off".into()),
            ("GOFLAGS", "-modcacherw".into()),
            ("GOMODCACHE", modules(self.folder).into()),
            ("GONOPROXY", configured.gonoproxy.clone().into()),
            ("GONOSUMDB", configured.gonosumdb.clone().into()),
            ("GOPATH", home.into()),
            ("GOPROXY", proxies.clone().into()),
            ("GOSUMDB", configured.gosumdb.clone().into()),
            ("GOTOOLCHAIN", "local".into()),
            // What is not in a proxy would be fetched by programs from anywhere.
            ("GOVCS", "*:off".into()),
            ("GOWORK", "off".into()),
        ] {
            client.variable(name, value);
        }
        let of_user = env::var_os("NETRC").map(PathBuf::from);
        let of_user = of_user.or_else(|| Some(env::home_dir()?.join(".netrc")));
        client.configuration("NETRC", of_user);
        client.pass(|_| false);
        let mut registries: Vec<_> = proxies.split([',', '|']).map(str::to_owned).collect();
        registries.extend(sums_url(&configured.gosumdb));
        let run = client.output(
            self.requirements,
            self.sandbox,
            self.network,
            &registries,
            &[],
        );
        run.await
    }
}

fn modules(folder: &Path) -> PathBuf {
    folder.join(HOME).join("mod")
}

/// Returns the user's configuration. A folder of an own can't change it.
fn configuration(folder: &Path) -> Result<Configuration, Error> {
    let (program, _) = toolchain()?;
    let names = ["GOPROXY", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOVERSION"];
    let listed = Command::new(&program)
        .args(["env", "-json"])
        .args(names)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(Error::file(&program))?;
    serde_json::from_slice(&listed.stdout)
        .map_err(|_| Error::new("`go env` does not list the configuration"))
}

/// Returns the proxies of a list with its separators. The origin of a module, which could be any
/// host, is not a proxy.
fn proxies(list: &str) -> Result<String, Error> {
    let mut kept = String::new();
    let mut separator = "";
    for entry in list.split_inclusive([',', '|']) {
        let url = entry.trim_end_matches([',', '|']);
        if !matches!(url.trim(), "" | "direct" | "off") {
            kept.push_str(separator);
            kept.push_str(url.trim());
            separator = if entry.ends_with('|') { "|" } else { "," };
        }
    }
    match kept.is_empty() {
        false => Ok(kept),
        true => Err(Error::new("Go's configuration names no module proxy")
            .with_help("set `GOPROXY` to the URL of one, such as `https://proxy.golang.org`")),
    }
}

/// Returns the URL of the database of digests; `None` if it is off.
fn sums_url(gosumdb: &str) -> Option<String> {
    let mut words = gosumdb.split_whitespace();
    let name = words.next().filter(|it| *it != "off")?;
    let host = || format!("https://{}", name.split('+').next().unwrap_or_default());
    Some(words.next().map_or_else(host, str::to_owned))
}

/// Returns the directives that an app is compiled with, with a name and a version of the language.
fn own_directives(manifest: Option<&str>, version: &str) -> String {
    let manifest = manifest.unwrap_or_default();
    let has = |directive: &str| {
        let mut lines = manifest.lines();
        lines.any(|line| line.split(' ').next() == Some(directive))
    };
    let mut own = match has("module") {
        true => String::new(),
        false => format!("module {NAME}\n"),
    };
    own.push_str(manifest);
    if let Some(language) = language_of(version).filter(|_| !has("go")) {
        own.push_str(&format!("go {language}\n"));
    }
    own
}

/// Returns directives with the version of the language that a manifest has, which the client may have raised.
fn with_language(own: &str, manifest: &str) -> String {
    let is_language = |line: &&str| line.starts_with("go ");
    let own = own.lines().filter(|line| !is_language(line));
    let lines = own.chain(manifest.lines().find(is_language));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Returns the version of the language of a toolchain: `1.19` of `go1.19.8`.
fn language_of(version: &str) -> Option<String> {
    let mut numbers = version.strip_prefix("go")?.split('.');
    let (major, minor) = (numbers.next()?, numbers.next()?);
    let minor: String = minor.chars().take_while(char::is_ascii_digit).collect();
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit());
    (is_number(major) && is_number(&minor)).then(|| format!("{major}.{minor}"))
}

/// Returns the manifest with the modules that the app's own names. Their versions are the least ones.
fn asked(own: &str, requirements: &[Requirement]) -> String {
    let mut text = own.to_owned();
    for Requirement { name, version, .. } in requirements {
        if let Version::Range(least) = version {
            text.push_str(&format!("require {name} {least}\n"));
        }
    }
    text
}

/// Returns the argument of `go get` for a module or a package that a command names.
fn named(requirement: &Requirement) -> Option<String> {
    let Requirement { name, version, .. } = requirement;
    match version {
        Version::Any => Some(format!("{name}@latest")),
        Version::Exact(version) => Some(format!("{name}@{version}")),
        Version::Range(_) => None,
    }
}

/// Returns the manifest with all modules, so that a build adds no module.
fn whole(own: &str, modules: &[Module]) -> String {
    let mut text = own.to_owned();
    for Module { path, version, .. } in modules {
        text.push_str(&format!("require {path} {version}\n"));
    }
    text
}

/// Returns the digests that the client wrote, and those of all modules.
fn all_sums(present: &str, modules: &[Module]) -> String {
    let mut lines: BTreeSet<String> = present.lines().map(str::to_owned).collect();
    for module in modules {
        let (path, version) = (&module.path, &module.version);
        lines.insert(format!("{path} {version} {}", module.sum));
        lines.insert(format!(
            "{path} {version}{OF_MANIFEST} {}",
            module.go_mod_sum
        ));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::{asked, language_of, named, own_directives, proxies, sums_url, with_language};
    use crate::{Registry, Requirement, Requirements, Version};

    #[test]
    fn only_proxies_are_asked() {
        for (list, expected) in [
            (
                "https://proxy.golang.org,direct",
                "https://proxy.golang.org",
            ),
            (
                "https://a.example|https://b.example,c,direct",
                "https://a.example|https://b.example,c",
            ),
            ("direct,https://a.example", "https://a.example"),
            ("file:///srv/modules", "file:///srv/modules"),
        ] {
            assert_eq!(proxies(list).unwrap(), expected);
        }
        for none in ["direct", "off", "", "direct,off"] {
            let error = proxies(none).unwrap_err();
            assert!(error.help().unwrap().contains("GOPROXY"));
        }
    }

    #[test]
    fn digests_are_checked_by_the_configured_database() {
        for (value, url) in [
            ("sum.golang.org", Some("https://sum.golang.org")),
            ("sums.example+ab+cd", Some("https://sums.example")),
            (
                "sums.example+ab https://mirror.example",
                Some("https://mirror.example"),
            ),
            ("off", None),
            ("", None),
        ] {
            assert_eq!(sums_url(value).as_deref(), url);
        }
    }

    #[test]
    fn a_module_has_a_name_and_a_version_of_the_language() {
        for (manifest, version, expected) in [
            (None, "go1.19.8", "module app\ngo 1.19\n"),
            (
                Some("module a.b/c\n"),
                "go1.21rc2",
                "module a.b/c\ngo 1.21\n",
            ),
            (Some("module x\ngo 1.17\n"), "go1.19", "module x\ngo 1.17\n"),
            (Some("go 1.17\n"), "go1.19", "module app\ngo 1.17\n"),
            (None, "devel +abc", "module app\n"),
        ] {
            assert_eq!(own_directives(manifest, version), expected);
        }
        assert_eq!(language_of("go1"), None);
        let raised = with_language("module x\ngo 1.24\n", "module x\n\ngo 1.24.0\n");
        assert_eq!(raised, "module x\ngo 1.24.0\n");
        assert_eq!(with_language("module x\n", "module x\n"), "module x\n");
    }

    #[test]
    fn modules_are_required_and_named() {
        let requirement = Requirement::new;
        let list = vec![
            requirement("a.b/least", Version::Range("v1.2.3".to_owned())),
            requirement("a.b/exact/package", Version::Exact("v1.0.0".to_owned())),
            requirement("a.b/any", Version::Any),
        ];
        let requirements = Requirements::new(Registry::Go, list).unwrap();
        let list = requirements.list();
        assert_eq!(
            asked("module x\n", list),
            "module x\nrequire a.b/least v1.2.3\n"
        );
        let named: Vec<_> = list.iter().filter_map(named).collect();
        assert_eq!(named, ["a.b/any@latest", "a.b/exact/package@v1.0.0"]);
        for wrong in ["-x/y", "../x", "x//y", "x", "a.b/c@v1"] {
            let list = vec![requirement(wrong, Version::Any)];
            assert!(Requirements::new(Registry::Go, list).is_err(), "{wrong}");
        }
    }
}
