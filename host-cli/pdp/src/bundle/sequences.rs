//! The highest sequence of each name that was accepted, in a file that instances on one machine share.

use agent_host::Failure;
use agent_host::atomic_write::StagedFile;
use agent_host::contract::bundles::HighestBundle;
use agent_host::input::{Input, TEXT_MAX};
use agent_mcp_server::private;
use agent_ownership::refuse_foreign;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{entries, member, number, string};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What is known of earlier bundles.
pub(crate) struct Sequences {
    /// The file, if there is one.
    path: Option<PathBuf>,
    /// The lowest sequence that the user accepts.
    min: Option<u64>,
}

impl Sequences {
    /// Takes the options of the command line.
    ///
    /// # Errors
    ///
    /// When there is neither: a bundle of any age would be accepted.
    pub(crate) fn new(path: Option<&Path>, min: Option<u64>) -> Result<Self, Failure> {
        if path.is_none() && min.is_none() {
            let help =
                "name a file with `--sequences`, or the lowest sequence with `--min-sequence`";
            return Err(Failure::new("an old bundle would be accepted again").help(help));
        }
        Ok(Self {
            path: path.map(Path::to_owned),
            min,
        })
    }

    /// Keeps other instances away from the file until the returned value is dropped.
    ///
    /// # Errors
    ///
    /// When the file can't be read or locked, another user can change it, or it has another form.
    pub(crate) fn hold(&self) -> Result<Held<'_>, Failure> {
        let Some(path) = &self.path else {
            return Ok(Held {
                sequences: self,
                known: BTreeMap::new(),
                _lock: None,
            });
        };
        let shown = path.display();
        let unusable = |why: String| {
            Failure::new(format_args!(
                "the sequences in `{shown}` can't be used: {why}"
            ))
        };
        // The file is replaced, so another one beside it is locked.
        let beside = beside(path);
        let lock = private().create(true).truncate(false).open(&beside);
        let lock = lock.and_then(|file| file.lock().map(|()| file));
        let lock = lock.map_err(|error| unusable(error.to_string()))?;
        let known = match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
            _ => {
                refuse_foreign(path).map_err(|foreign| unusable(foreign.to_string()))?;
                let text = Input::File(path.clone()).read(TEXT_MAX)?;
                read(&text).ok_or_else(|| {
                    unusable("it is no file of sequences".to_owned())
                        .help("restore the file; without it, an old bundle would be accepted again")
                })?
            }
        };
        Ok(Held {
            sequences: self,
            known,
            _lock: Some(lock),
        })
    }
}

/// The sequences, which nobody else changes meanwhile.
pub(crate) struct Held<'s> {
    sequences: &'s Sequences,
    known: BTreeMap<String, HighestBundle>,
    /// Unlocked when it is closed.
    _lock: Option<File>,
}

impl Held<'_> {
    /// Returns what was accepted before under a name.
    pub(crate) fn highest(&self, name: &str) -> Option<HighestBundle> {
        let known = self.known.get(name).cloned();
        let min = self.sequences.min.map(|sequence| HighestBundle {
            sequence,
            digest: None,
        });
        match (known, min) {
            (Some(known), Some(min)) if known.sequence < min.sequence => Some(min),
            (known, min) => known.or(min),
        }
    }

    /// Writes down what is accepted under a name.
    ///
    /// # Errors
    ///
    /// When the file can't be written: the bundle must not decide then.
    pub(crate) fn remember(mut self, name: &str, highest: HighestBundle) -> Result<(), Failure> {
        let Some(path) = &self.sequences.path else {
            return Ok(());
        };
        if self
            .known
            .get(name)
            .is_some_and(|it| it.sequence == highest.sequence)
        {
            return Ok(());
        }
        self.known.insert(name.to_owned(), highest);
        let mut w = Writer::pretty();
        w.object(|w| {
            for (name, highest) in &self.known {
                w.key(name).object(|w| {
                    w.key("digest").optional(highest.digest.as_deref());
                    w.key("sequence").json(&highest.sequence.to_string());
                });
            }
        });
        StagedFile::private(path, w.finish().as_bytes())?.commit()
    }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

fn read(text: &[u8]) -> Option<BTreeMap<String, HighestBundle>> {
    let root = parse_strict(str::from_utf8(text).ok()?)?;
    let known = entries(&root).iter().map(|it| {
        let highest = HighestBundle {
            sequence: member(&it.value, "sequence").and_then(number)?,
            digest: Some(member(&it.value, "digest").and_then(string)?.to_owned()),
        };
        Some((it.key.to_string(), highest))
    });
    known.collect()
}
