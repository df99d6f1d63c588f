//! Packages of an app: first resolved, so that somebody can decide on all of them, and then installed.

use crate::package::{is_exact, is_name};
use crate::store::{AGAIN, RECORD, digest, private, sync_folder, trusted, write_synced};
use crate::tree;
use crate::{Error, Item, Network, Registry, Store, npm, pip};
use agent_sandbox::Sandbox;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Maximum number of packages that an app may ask for by name.
pub const MAX_REQUIREMENTS: usize = 256;

/// Where an app finds the libraries of Python.
const PYTHON_LIBRARIES: &str = "/deps";

/// Where an app finds the modules of Node.js: in a folder above its own, wherever that is.
const NODE_MODULES: &str = "/node_modules";

/// A package that an app asks for, with or without a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    name: String,
    version: Option<String>,
}

impl Requirement {
    /// Parses `name`, `name@1.2.3` or, for PyPI, `name==1.2.3`.
    ///
    /// # Errors
    ///
    /// When the name is not one of the registry, or the version is not exact.
    pub fn parse(registry: Registry, text: &str) -> Result<Self, Error> {
        let refused = |why: &str| Error::new(format!("`{text}` can't be installed: {why}"));
        let of_pypi = (registry == Registry::PyPi).then(|| text.split_once("=="));
        // A scope of npm begins with `@`, too.
        let at = || text.rsplit_once('@').filter(|(name, _)| !name.is_empty());
        let (name, version) = match of_pypi.flatten().or_else(at) {
            Some((name, version)) => (name, Some(version)),
            None => (text, None),
        };
        if !is_name(registry, name) {
            return Err(refused("its name is not one of the registry"));
        }
        if version.is_some_and(|version| !is_exact(registry, version)) {
            return Err(refused("its version is not exact"));
        }
        Ok(Self {
            name: name.to_owned(),
            version: version.map(str::to_owned),
        })
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the version, if it is asked for.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(out, "{}@{version}", self.name),
            None => out.write_str(&self.name),
        }
    }
}

/// The packages of one registry that an app asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirements {
    registry: Registry,
    list: Vec<Requirement>,
}

impl Requirements {
    /// Parses a list, whose order does not matter.
    ///
    /// # Errors
    ///
    /// When it is empty or longer than [`MAX_REQUIREMENTS`], one of them is invalid, or a name appears
    /// twice.
    pub fn parse<'a>(
        registry: Registry,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, Error> {
        let parsed = texts
            .into_iter()
            .take(MAX_REQUIREMENTS + 1)
            .map(|text| Requirement::parse(registry, text));
        let mut list = parsed.collect::<Result<Vec<_>, _>>()?;
        if list.is_empty() || list.len() > MAX_REQUIREMENTS {
            let message = format!("an app must ask for 1 to {MAX_REQUIREMENTS} packages");
            return Err(Error::new(message));
        }
        list.sort();
        if let Some(pair) = list.windows(2).find(|pair| pair[0].name == pair[1].name) {
            let message = format!("the package `{}` is asked for twice", pair[0].name);
            return Err(Error::new(message));
        }
        Ok(Self { registry, list })
    }

    pub(crate) fn list(&self) -> &[Requirement] {
        &self.list
    }
}

impl fmt::Display for Requirements {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.list.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(out, "{separator}{requirement}")?;
        }
        Ok(())
    }
}

/// The exact packages that an app's requirements come to. Nothing of them is installed.
#[derive(Debug)]
pub struct Resolved {
    requirements: Requirements,
    closure: Vec<Item>,
    /// The folder in which the client of the registry left what it needs to install them.
    staged: TempDir,
}

impl Resolved {
    /// Returns all packages, in the order of paths.
    #[must_use]
    pub fn closure(&self) -> &[Item] {
        &self.closure
    }

    /// Returns the digest of the closure: `sha256-` and 64 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        digest(&self.closure)
    }
}

/// What an app is given of its installed packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPackages {
    /// The folders that the app can read, by their path inside of its sandbox.
    pub folders: BTreeMap<PathBuf, PathBuf>,
    /// The environment by which the app finds them.
    pub env: BTreeMap<String, String>,
    /// The interpreter for which they were chosen.
    pub program: PathBuf,
    /// The folder of the interpreter, if it is not one of the system.
    pub runtime: Option<PathBuf>,
    /// All packages, in the order of paths.
    pub closure: Vec<Item>,
}

/// The content of the record of an app's packages.
#[derive(Serialize, Deserialize)]
struct Record {
    closure: Vec<Item>,
    /// The digest of all other files of the folder.
    tree: String,
}

impl Store {
    /// Finds out which packages an app's requirements come to, by the client of their registry in the
    /// sandbox. No package's archive is installed, and no code of one is run. Needs a tokio runtime with I/O.
    ///
    /// # Errors
    ///
    /// When the client fails, or a package has no digest.
    pub async fn resolve(
        &self,
        requirements: Requirements,
        sandbox: &Sandbox,
        network: &Network,
    ) -> Result<Resolved, Error> {
        private(self.root())?;
        let staged = tempfile::Builder::new()
            .prefix(".staged-")
            .tempdir_in(self.root())
            .map_err(Error::file(self.root()))?;
        let folder = staged.path();
        let closure = match requirements.registry {
            Registry::Npm => npm::resolve(&requirements, folder, sandbox, network).await?,
            Registry::PyPi => pip::resolve(&requirements, folder, sandbox, network).await?,
        };
        Ok(Resolved {
            requirements,
            closure,
            staged,
        })
    }

    /// Installs exactly the resolved packages, unless they are in the store. Needs a tokio runtime with I/O.
    ///
    /// # Errors
    ///
    /// When the client of the registry fails, an archive has another digest than the resolved one, or a file
    /// in the store was changed since the installation.
    pub async fn install_resolved(
        &self,
        resolved: Resolved,
        sandbox: &Sandbox,
        network: &Network,
    ) -> Result<AppPackages, Error> {
        let kind = match resolved.requirements.registry {
            Registry::Npm => "npm",
            Registry::PyPi => "pypi",
        };
        let folder = self
            .root()
            .join(format!("app-{kind}-{}", resolved.digest()));
        let Resolved {
            requirements,
            closure,
            staged,
        } = resolved;
        if !folder.exists() {
            let path = staged.path();
            match requirements.registry {
                Registry::Npm => {
                    npm::install_resolved(&requirements, &closure, path, sandbox, network).await?;
                }
                Registry::PyPi => {
                    pip::install_resolved(&requirements, &closure, path, sandbox, network).await?;
                }
            }
            let tree = tree::digest(path, RECORD)?;
            let record = serde_json::to_vec_pretty(&Record {
                closure: closure.clone(),
                tree,
            })
            .map_err(|error| Error::new(error.to_string()))?;
            let file = path.join(RECORD);
            write_synced(&file, &record).map_err(Error::file(&file))?;
            match fs::rename(path, &folder) {
                // Another program has installed the same meanwhile.
                Err(_) if folder.exists() => {}
                renamed => {
                    renamed.map_err(Error::file(&folder))?;
                    let _ = staged.keep();
                }
            }
            sync_folder(self.root()).map_err(Error::file(self.root()))?;
        }
        trusted(self.root())?;
        check(&folder, &closure)?;
        given(requirements.registry, &folder, closure)
    }
}

/// Refuses a folder that was changed since the installation.
fn check(folder: &Path, closure: &[Item]) -> Result<(), Error> {
    let record: Record = crate::client::read(&folder.join(RECORD))?;
    match record.closure == closure && tree::digest(folder, RECORD)? == record.tree {
        true => Ok(()),
        false => {
            let message = format!("`{}` was changed since its installation", folder.display());
            Err(Error::new(message).with_help(AGAIN))
        }
    }
}

fn given(registry: Registry, folder: &Path, closure: Vec<Item>) -> Result<AppPackages, Error> {
    let (inside, libraries) = match registry {
        Registry::Npm => (NODE_MODULES, npm::modules(folder)),
        Registry::PyPi => (PYTHON_LIBRARIES, pip::libraries(folder)),
    };
    let mut env = BTreeMap::new();
    let (program, runtime) = match registry {
        Registry::Npm => (crate::client::program("node")?, None),
        Registry::PyPi => {
            env.insert("PYTHONPATH".to_owned(), inside.to_owned());
            pip::python()?
        }
    };
    Ok(AppPackages {
        folders: [(inside.into(), libraries)].into(),
        env,
        program,
        runtime,
        closure,
    })
}

#[cfg(test)]
mod tests {
    use super::{MAX_REQUIREMENTS, Requirement, Requirements};
    use crate::{Item, Registry};

    #[test]
    fn requirements_are_names_with_or_without_an_exact_version() {
        for (registry, text, shown) in [
            (Registry::PyPi, "flask", "flask"),
            (Registry::PyPi, "flask==3.0.1", "flask@3.0.1"),
            (Registry::PyPi, "flask@3.0.1", "flask@3.0.1"),
            (Registry::Npm, "express", "express"),
            (Registry::Npm, "express@4.18.2", "express@4.18.2"),
            (Registry::Npm, "@acme/a", "@acme/a"),
            (Registry::Npm, "@acme/a@1.0.0", "@acme/a@1.0.0"),
        ] {
            let parsed = Requirement::parse(registry, text).unwrap();
            assert_eq!(parsed.to_string(), shown);
        }
        for (registry, text) in [
            (Registry::PyPi, ""),
            (Registry::PyPi, "--index-url=https://a.example"),
            (Registry::PyPi, "flask>=2"),
            (Registry::PyPi, "flask==2.*"),
            (Registry::PyPi, "flask==1 --hash=x"),
            (Registry::PyPi, "flask[async]"),
            (Registry::PyPi, "https://a.example/a.whl"),
            (Registry::PyPi, "./folder"),
            (Registry::Npm, "express@^4"),
            (Registry::Npm, "express@latest"),
            (Registry::Npm, "a@npm:b@1.0.0"),
            (Registry::Npm, "git+https://a.example/a"),
            (Registry::Npm, "../a"),
        ] {
            assert!(Requirement::parse(registry, text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_list_has_limits_and_no_name_twice() {
        let parse = |texts: &[&str]| Requirements::parse(Registry::PyPi, texts.iter().copied());
        assert_eq!(parse(&["b", "a==1.0"]).unwrap().to_string(), "a@1.0, b");
        assert!(parse(&[]).is_err());
        assert!(parse(&["a", "a==1.0"]).is_err());
        let names: Vec<_> = (0..=MAX_REQUIREMENTS).map(|n| format!("a{n}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        assert!(parse(&names).is_err());
        assert!(parse(&names[1..]).is_ok());
    }

    #[test]
    fn an_item_has_the_name_of_its_package() {
        for (path, name) in [
            ("flask", "flask"),
            ("node_modules/a", "a"),
            ("node_modules/a/node_modules/@s/b", "@s/b"),
        ] {
            let item = Item {
                path: path.to_owned(),
                version: String::new(),
                integrity: String::new(),
            };
            assert_eq!(item.name(), name);
        }
    }
}
