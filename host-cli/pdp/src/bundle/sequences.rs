//! The highest sequence that was accepted under a name: since the start, and in a file that instances on one machine share.

use agent_host::Failure;
use agent_host::atomic_write::StagedFile;
use agent_host::contract::bundles::HighestBundle;
use agent_host::input::{Input, TEXT_MAX};
use agent_mcp_server::private;
use agent_ownership::refuse_foreign;
use agent_syntax::Value;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{entries, member, number, string};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError, symlink_metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Maximum time until another instance has let go of the file.
const LOCK_TIME: Duration = Duration::from_secs(10);

/// Time between two tries.
const PAUSE: Duration = Duration::from_millis(10);

/// What is known of earlier bundles of one name.
pub(crate) struct Sequences {
    name: String,
    /// The file, if there is one.
    path: Option<PathBuf>,
    /// The lowest sequence that the user accepts.
    min: Option<u64>,
    /// What this instance accepted last: no file that is lost or damaged takes it back.
    accepted: Mutex<Option<HighestBundle>>,
}

impl Sequences {
    /// Takes the options of the command line.
    ///
    /// # Errors
    ///
    /// When there is neither: a bundle of any age would be accepted.
    pub(crate) fn new(
        name: String,
        path: Option<&Path>,
        min: Option<u64>,
    ) -> Result<Self, Failure> {
        if path.is_none() && min.is_none() {
            let message =
                "without `--sequences` and `--min-sequence`, old bundles would be accepted";
            let help =
                "name a file with `--sequences`, or the lowest sequence with `--min-sequence`";
            return Err(Failure::new(message).help(help));
        }
        Ok(Self {
            name,
            path: path.map(Path::to_owned),
            min,
            accepted: Mutex::new(None),
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
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        refuse_foreign(folder.unwrap_or(Path::new(".")))
            .map_err(|foreign| unusable(foreign.to_string()))?;
        let lock = lock(path).map_err(unusable)?;
        let known = match symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
            _ => {
                refuse_foreign(path).map_err(|foreign| unusable(foreign.to_string()))?;
                let text = Input::File(path.clone()).read(TEXT_MAX)?;
                read(&text).ok_or_else(|| {
                    unusable("it is no file of sequences".to_owned())
                        .help("restore the file; without it, old bundles would be accepted")
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
    /// Those of the file.
    known: BTreeMap<String, HighestBundle>,
    /// Unlocked when it is closed.
    _lock: Option<File>,
}

impl Held<'_> {
    /// Returns what was accepted before.
    pub(crate) fn highest(&self) -> Option<HighestBundle> {
        let accepted = self.sequences.accepted.lock();
        let accepted = accepted.map_or_else(|it| it.into_inner().clone(), |it| it.clone());
        let known = self.known.get(&self.sequences.name).cloned();
        let min = self.sequences.min.map(|sequence| HighestBundle {
            sequence,
            digest: None,
        });
        // Of equal ones, one with a digest says more.
        let all = [min, known, accepted].into_iter().flatten();
        all.max_by_key(|it| (it.sequence, it.digest.is_some()))
    }

    /// Writes down what is accepted.
    ///
    /// # Errors
    ///
    /// When the file can't be written: the bundle must not decide then.
    pub(crate) fn remember(mut self, highest: HighestBundle) -> Result<(), Failure> {
        let Sequences {
            name,
            path,
            accepted,
            ..
        } = self.sequences;
        let is_known = |it: &HighestBundle| it.sequence == highest.sequence;
        if let Some(path) = path
            && !self.known.get(name).is_some_and(is_known)
        {
            self.known.insert(name.clone(), highest.clone());
            StagedFile::private(path, written(&self.known).as_bytes())?.commit()?;
        }
        if let Ok(mut accepted) = accepted.lock() {
            *accepted = Some(highest);
        }
        Ok(())
    }
}

/// Locks the file beside one that is replaced.
fn lock(path: &Path) -> Result<File, String> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".lock");
    let file = private().create(true).truncate(false).open(beside);
    let file = file.map_err(|error| error.to_string())?;
    let end = Instant::now() + LOCK_TIME;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < end => sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                let seconds = LOCK_TIME.as_secs();
                return Err(format!("another program holds it for {seconds} s"));
            }
            Err(TryLockError::Error(error)) => return Err(error.to_string()),
        }
    }
}

fn read(text: &[u8]) -> Option<BTreeMap<String, HighestBundle>> {
    let root = parse_strict(str::from_utf8(text).ok()?)?;
    let Value::Mapping(_) = root.value else {
        return None;
    };
    let known = entries(&root).iter().map(|it| {
        let highest = HighestBundle {
            sequence: member(&it.value, "sequence").and_then(number)?,
            digest: Some(member(&it.value, "digest").and_then(string)?.to_owned()),
        };
        Some((it.key.to_string(), highest))
    });
    known.collect()
}

fn written(known: &BTreeMap<String, HighestBundle>) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        for (name, highest) in known {
            w.key(name).object(|w| {
                w.key("digest").optional(highest.digest.as_deref());
                w.key("sequence").json(&highest.sequence.to_string());
            });
        }
    });
    w.finish()
}
