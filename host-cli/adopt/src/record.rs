//! What an adoption changed, so that it can be undone.
//!
//! A record and the content of the client's file before it lie in a folder of their own below
//! `$XDG_STATE_HOME/agent/adopt`, which only this user can read: that content may have secrets.

use crate::replace::{content, private_folder, replace_private};
use agent_host::Failure;
use agent_operator::SecretSource;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the record in its folder.
const RECORD: &str = "record.json";

/// The name of the client's file before the adoption.
const BEFORE: &str = "before";

/// An adoption of servers of one configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The client, or the name of its file.
    pub client: String,
    /// The client's file.
    pub file: PathBuf,
    /// Its content afterwards.
    pub after: String,
    /// The keys to the servers.
    pub place: String,
    /// The paths of the adopted servers.
    pub servers: Vec<String>,
    /// The name of the gateway in the file.
    pub gateway: String,
    /// The program of the gateway, and its arguments.
    pub command: Vec<String>,
    /// The operator's configuration.
    pub operator: PathBuf,
    /// The lines that were added to it.
    pub lines: Vec<String>,
    /// The secrets that were kept.
    pub secrets: Vec<KeptSecret>,
    /// The files that were made or replaced, with their content before and afterwards.
    pub made: BTreeMap<PathBuf, (Option<String>, String)>,
}

/// A secret that was moved out of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KeptSecret {
    /// An item of the user's keyring.
    Keyring(String),
    /// A file that only this user can read.
    File(PathBuf),
}

impl KeptSecret {
    /// Returns the place as the operator's configuration has it.
    #[must_use]
    pub fn source(&self) -> SecretSource {
        match self {
            Self::Keyring(item) => SecretSource::Keyring(item.clone()),
            Self::File(path) => SecretSource::File(path.clone()),
        }
    }
}

/// The records of this user.
#[derive(Clone, Debug)]
pub struct Records {
    root: PathBuf,
}

/// A record with its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The folder.
    pub folder: PathBuf,
    /// The record.
    pub record: Record,
}

impl Records {
    /// Returns the records below a folder of this user's state.
    #[must_use]
    pub fn new(state: &Path) -> Self {
        Self {
            root: state.join("agent/adopt"),
        }
    }

    /// Returns all records, the newest first. A folder without a whole record is none.
    ///
    /// # Errors
    ///
    /// When a record can't be read.
    pub fn all(&self) -> Result<Vec<Kept>, Failure> {
        let Ok(folders) = fs::read_dir(&self.root) else {
            return Ok(Vec::new());
        };
        let mut folders: Vec<_> = folders.flatten().map(|it| it.path()).collect();
        folders.sort_by_key(|folder| std::cmp::Reverse(number(folder)));
        let mut all = Vec::new();
        for folder in folders {
            let path = folder.join(RECORD);
            let Some(text) = content(&path)? else {
                continue;
            };
            let record = serde_json::from_slice(&text);
            let record = record.map_err(|error| {
                let path = path.display();
                Failure::new(format_args!(
                    "`{path}` is no record of an adoption: {error}"
                ))
            })?;
            all.push(Kept { folder, record });
        }
        Ok(all)
    }

    /// Removes the folders without a whole record, which an ended run has left: one may have the content of a client's
    /// file. The client's file has changed only while there is a record.
    ///
    /// # Errors
    ///
    /// When one can't be removed.
    pub fn remove_partial(&self) -> Result<(), Failure> {
        for entry in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            let folder = entry.path();
            if number(&folder) > 0 && !folder.join(RECORD).exists() {
                fs::remove_dir_all(&folder).map_err(|error| irremovable(&folder, &error))?;
            }
        }
        Ok(())
    }

    /// Keeps a record and the content of the client's file before it. Returns the folder.
    ///
    /// # Errors
    ///
    /// When it can't be written.
    pub fn keep(&self, record: &Record, before: &[u8]) -> Result<PathBuf, Failure> {
        private_folder(&self.root)?;
        let folders = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let last = folders.map(|it| number(&it.path())).max();
        let folder = self.root.join((last.unwrap_or_default() + 1).to_string());
        private_folder(&folder)?;
        replace_private(&folder.join(BEFORE), None, before)?;
        let text = serde_json::to_vec_pretty(record);
        let text = text.map_err(|error| Failure::internal(error.to_string()))?;
        // A record is whole when its backup is.
        replace_private(&folder.join(RECORD), None, &text)?;
        Ok(folder)
    }
}

impl Kept {
    /// Returns the content of the client's file before the adoption.
    ///
    /// # Errors
    ///
    /// When the backup can't be read.
    pub fn before(&self) -> Result<Vec<u8>, Failure> {
        let path = self.folder.join(BEFORE);
        content(&path)?.ok_or_else(|| {
            let path = path.display();
            Failure::new(format_args!("the backup `{path}` is gone"))
        })
    }

    /// Removes the record with its backup.
    ///
    /// # Errors
    ///
    /// When it can't be removed.
    pub fn remove(self) -> Result<(), Failure> {
        // Without the record, the rest of the folder is none.
        let removed = fs::remove_file(self.folder.join(RECORD));
        removed
            .and_then(|()| fs::remove_dir_all(&self.folder))
            .map_err(|error| irremovable(&self.folder, &error))
    }
}

fn irremovable(folder: &Path, error: &std::io::Error) -> Failure {
    let folder = folder.display();
    Failure::new(format_args!("`{folder}` can't be removed: {error}"))
}

/// Returns the number that is the name of a folder; 0 for another name.
fn number(folder: &Path) -> u64 {
    let name = folder.file_name().and_then(|it| it.to_str());
    name.and_then(|it| it.parse().ok()).unwrap_or_default()
}
