//! Packages of an app: first resolved, so that a policy can decide on all of them, and then installed.

use crate::store::{AGAIN, RECORD, digest, sync_folder, trusted, write_synced};
use crate::tree;
use crate::{Error, Item, Network, Registry, Requirements, Store, cargo, go, npm, pip};
use agent_sandbox::Sandbox;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Where an app finds the libraries of Python.
const PYTHON_LIBRARIES: &str = "/deps";

/// Where an app finds the modules of Node.js: in a folder above its own, wherever that is.
const NODE_MODULES: &str = "/node_modules";

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
///
/// Packages of PyPI are at `/deps`, and those of npm at `/node_modules`. Crates are at `/crates`, for a build without
/// a network, which calls `cargo --config /crates/config.toml`:
///
/// | path | content |
/// |---|---|
/// | `/crates/config.toml` | settings that make cargo take crates of crates.io from `/crates/vendor`, and is offline |
/// | `/crates/vendor` | a folder for each crate, which cargo checks against the digests in it |
/// | `/crates/Cargo.lock` | the resolved versions, for an app without a lock file |
///
/// A build script runs where the app is built, not before.
///
/// Modules of Go are at `/modules`, for a build without a network:
///
/// | path | content |
/// |---|---|
/// | `/modules/proxy` | the archives and manifests, as `GOPROXY` has them |
/// | `/modules/go.mod`, `/modules/go.sum` | the module that stands for the app, with all versions and digests |
/// | `/modules/overlay.json` | what makes a build read these two instead of the app's own |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPackages {
    /// The folders that the app can read, by their path inside of its sandbox.
    pub folders: BTreeMap<PathBuf, PathBuf>,
    /// The environment in which the app finds them.
    pub env: BTreeMap<String, String>,
    /// The interpreter for which they were chosen, or the program that builds with them.
    pub program: PathBuf,
    /// The folders of that program, if it is not one of the system.
    pub runtime: Vec<PathBuf>,
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
    /// sandbox. No package's archive is installed, and no code of one is run. Those of Go are downloaded: their digests
    /// are nowhere else. Needs a tokio runtime with I/O.
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
        let staged = self.stage()?;
        let folder = staged.path();
        let closure = match requirements.registry {
            Registry::Npm => npm::resolve(&requirements, folder, sandbox, network).await?,
            Registry::PyPi => pip::resolve(&requirements, folder, sandbox, network).await?,
            Registry::CratesIo => cargo::resolve(&requirements, folder, sandbox, network).await?,
            Registry::Go => go::resolve(&requirements, folder, sandbox, network).await?,
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
            Registry::CratesIo => "crates",
            Registry::Go => "go",
        };
        let mut name = format!("app-{kind}-{}", resolved.digest());
        if resolved.requirements.registry == Registry::Go {
            // It has the name of the app's module, too.
            let manifest = go::manifest_digest(resolved.staged.path())?;
            name.push_str(&format!("-{manifest}"));
        }
        let folder = self.root().join(name);
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
                Registry::CratesIo => {
                    cargo::install_resolved(&requirements, &closure, path, sandbox, network)
                        .await?;
                }
                Registry::Go => go::install_resolved(path)?,
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
    let mut env = BTreeMap::new();
    let (inside, libraries, program, runtime) = match registry {
        Registry::Npm => {
            let node = crate::client::program("node")?;
            (NODE_MODULES, npm::modules(folder), node, Vec::new())
        }
        Registry::PyPi => {
            env.insert("PYTHONPATH".to_owned(), PYTHON_LIBRARIES.to_owned());
            let (python, runtime) = pip::python()?;
            let runtime = runtime.into_iter().collect();
            (PYTHON_LIBRARIES, pip::libraries(folder), python, runtime)
        }
        Registry::CratesIo => {
            let toolchain = cargo::toolchain(folder)?;
            let runtime = toolchain.runtime.into_iter().collect();
            (cargo::CRATES, folder.to_owned(), toolchain.cargo, runtime)
        }
        Registry::Go => {
            env.extend(go::environment());
            let (go, runtime) = go::toolchain()?;
            (go::MODULES, folder.to_owned(), go, runtime)
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
    use crate::Item;

    #[test]
    fn an_item_has_the_name_of_its_package() {
        for (path, name) in [
            ("flask", "flask"),
            ("node_modules/a", "a"),
            ("node_modules/a/node_modules/@s/b", "@s/b"),
        ] {
            let item = Item {
                path: path.to_owned(),
                alias_of: None,
                version: String::new(),
                integrity: String::new(),
            };
            assert_eq!(item.name(), name);
            let alias = Item {
                alias_of: Some("real".to_owned()),
                ..item
            };
            assert_eq!(alias.name(), "real");
        }
    }
}
