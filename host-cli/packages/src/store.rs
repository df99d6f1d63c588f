//! The folder of installed packages.

use crate::tree::{self, hexadecimal};
use crate::{Error, Network, Package, Registry, npm, pip};
use agent_ownership::{UserFolder, create_private, refuse_foreign};
use agent_sandbox::Sandbox;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The record of an installation, in its folder.
pub(crate) const RECORD: &str = "installed.json";

/// What to do about an installation that can't be used.
pub(crate) const AGAIN: &str = "remove the folder and install the package again";

/// The folder of installed packages, one folder for each.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// An installed package of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The program that starts the server, and its first arguments.
    pub command: [PathBuf; 2],
    /// The environment that the program needs.
    pub env: BTreeMap<OsString, OsString>,
    /// What the server has to read.
    pub read: Vec<PathBuf>,
    /// Everything that was installed, in the order of paths.
    pub closure: Vec<Item>,
    /// The digest of the closure: `sha256-` and 64 hexadecimal digits.
    pub digest: String,
}

/// A package of a closure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// The path below the folder, such as `node_modules/acme`, or the name of a package of the other registries.
    pub path: String,
    /// The name of the package, if the folder of the path has another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias_of: Option<String>,
    /// The version.
    pub version: String,
    /// The digest of the registry's archive, as its client writes it: `sha512-...`, `sha256=...` or `h1:...`.
    pub integrity: String,
}

impl Item {
    /// Returns the name of the package, without its place.
    #[must_use]
    pub fn name(&self) -> &str {
        let last = || self.path.rsplit("node_modules/").next();
        let own = self.alias_of.as_deref().or_else(last);
        own.unwrap_or(&self.path)
    }
}

/// The content of [`RECORD`].
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    package: String,
    #[serde(flatten)]
    start: Start,
    closure: Vec<Item>,
    digest: String,
    /// The digest of all other files of the folder.
    tree: String,
}

/// How a server is started.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Start {
    /// The program that runs the file.
    pub(crate) program: PathBuf,
    /// The folder of the program, if it is not one of the system.
    pub(crate) runtime: Option<PathBuf>,
    /// The file that starts the server, below the folder.
    pub(crate) file: PathBuf,
    /// The variable that names a folder with libraries, and that folder below the folder.
    pub(crate) libraries: Option<(String, PathBuf)>,
}

impl Store {
    /// Returns the store below a folder.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the user's store: `$XDG_DATA_HOME/agent/packages`, or below `~/.local/share`.
    #[must_use]
    pub fn usual() -> Option<Self> {
        let folder = UserFolder::Data.path()?;
        Some(Self::new(folder.join("agent/packages")))
    }

    /// Returns an installed package; `None` if it is not installed.
    ///
    /// # Errors
    ///
    /// When its record can't be read, when another user could change the folder, and when a file in it was
    /// changed since the installation.
    pub fn installed(&self, package: &Package) -> Result<Option<Installed>, Error> {
        let folder = self.folder(package);
        let record = folder.join(RECORD);
        let text = match fs::read(&record) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::file(&record)(error)),
        };
        trusted(&self.root)?;
        let read: Record = serde_json::from_slice(&text).map_err(|error| {
            Error::new(format!("`{}`: {error}", record.display())).with_help(AGAIN)
        })?;
        if read.package != package.to_string() {
            return Err(Error::new(format!(
                "`{}` is the record of `{}`",
                record.display(),
                read.package
            )));
        }
        if tree::digest(&folder, RECORD)? != read.tree {
            let message = format!(
                "`{}` was changed since `{package}` was installed",
                folder.display()
            );
            return Err(Error::new(message).with_help(AGAIN));
        }
        let start = read.start;
        let libraries = start.libraries.into_iter();
        let libraries = libraries.map(|(name, path)| (name.into(), folder.join(path).into()));
        Ok(Some(Installed {
            command: [start.program, folder.join(start.file)],
            env: libraries.collect(),
            read: start.runtime.into_iter().chain([folder]).collect(),
            closure: read.closure,
            digest: read.digest,
        }))
    }

    /// Installs a package, unless it is installed. Needs a tokio runtime with I/O.
    ///
    /// # Errors
    ///
    /// When the client of the registry fails, the package has another version or no program, or a part
    /// of the closure has no digest.
    pub async fn install(
        &self,
        package: &Package,
        sandbox: &Sandbox,
        network: &Network,
    ) -> Result<Installed, Error> {
        if let Some(installed) = self.installed(package)? {
            return Ok(installed);
        }
        let staged = self.stage()?;
        let (start, closure) = match package.registry() {
            Registry::Npm => npm::install(package, staged.path(), sandbox, network).await?,
            Registry::PyPi => pip::install(package, staged.path(), sandbox, network).await?,
            Registry::CratesIo | Registry::Go => return Err(not_of_servers()),
        };
        let record = Record {
            package: package.to_string(),
            start,
            digest: digest(&closure),
            closure,
            tree: tree::digest(staged.path(), RECORD)?,
        };
        let path = staged.path().join(RECORD);
        let text = serde_json::to_vec_pretty(&record);
        let text = text.map_err(|error| Error::new(error.to_string()))?;
        write_synced(&path, &text).map_err(Error::file(&path))?;
        let folder = self.folder(package);
        fs::rename(staged.keep(), &folder).map_err(Error::file(&folder))?;
        sync_folder(&self.root).map_err(Error::file(&self.root))?;
        let installed = self.installed(package)?;
        installed.ok_or_else(|| Error::new("the installed package is gone"))
    }

    /// Creates an empty folder for a client of a registry. It is removed unless it is kept.
    pub(crate) fn stage(&self) -> Result<TempDir, Error> {
        private(&self.root)?;
        let mut builder = tempfile::Builder::new();
        let staged = builder.prefix(".staged-").tempdir_in(&self.root);
        staged.map_err(Error::file(&self.root))
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    fn folder(&self, package: &Package) -> PathBuf {
        let digest = Sha256::digest(format!("{:?} {package}", package.registry()));
        self.root.join(hexadecimal(&digest))
    }
}

/// Returns the error for a registry that has packages of apps alone.
pub(crate) fn not_of_servers() -> Error {
    Error::new("a server is a package of npm or PyPI")
}

/// Writes a file that is whole on disk before its folder gets its name.
pub(crate) fn write_synced(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text)?;
    file.sync_all()
}

/// Makes the names in a folder last.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Returns the digest of a closure.
pub(crate) fn digest(closure: &[Item]) -> String {
    let mut digest = Sha256::new();
    for item in closure {
        digest.update(format!(
            "{} {} {}\n",
            item.path, item.version, item.integrity
        ));
    }
    format!("sha256-{}", hexadecimal(&digest.finalize()))
}

/// Creates a folder that only this user can read and write.
pub(crate) fn private(folder: &Path) -> Result<(), Error> {
    create_private(folder).map_err(Error::file(folder))?;
    trusted(folder)
}

/// Refuses a folder that another user could change, who could replace programs.
pub(crate) fn trusted(folder: &Path) -> Result<(), Error> {
    refuse_foreign(folder).map_err(|foreign| Error::new(foreign.to_string()))
}
