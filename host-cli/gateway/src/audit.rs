//! The log of a gateway: the session's records, one line each.

use agent_host::Failure;
use agent_host::contract::session::AuditRecord;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A file to which records are appended.
///
/// A record is handed to the system before its decision has an effect: it outlives the gateway, though not a
/// loss of power.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    file: File,
}

impl AuditLog {
    /// Opens a log, whose earlier records stay.
    ///
    /// # Errors
    ///
    /// When the file can't be opened for appending.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let file = OpenOptions::new().append(true).create(true).open(path);
        let file = file.map_err(|error| unwritable(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    /// Appends records.
    ///
    /// # Errors
    ///
    /// When they can't be written. What they decide about must not happen then.
    pub(crate) fn append(&mut self, records: &[AuditRecord]) -> Result<(), Failure> {
        if records.is_empty() {
            return Ok(());
        }
        let mut lines = String::new();
        for record in records {
            lines.push_str(&record.line);
            lines.push('\n');
        }
        let written = self.file.write_all(lines.as_bytes());
        written.map_err(|error| unwritable(&self.path, &error))
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format_args!(
        "the audit log `{}` can't be written: {error}",
        path.display()
    ))
    .help("name a writable file with `--audit`")
}
