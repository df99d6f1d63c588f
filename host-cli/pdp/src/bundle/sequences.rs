//! The highest sequence that was accepted under a name: since the start, in a file that instances on one machine share, and in a
//! store that all instances share.

use crate::store::{Entry, Nats, Store, Unavailable, Values as _};
use agent_host::Failure;
use agent_host::atomic_write::StagedFile;
use agent_host::contract::bundles::HighestBundle;
use agent_host::input::{Input, TEXT_MAX};
use agent_mcp_server::private;
use agent_ownership::refuse_foreign;
use agent_syntax::json::{Writer, parse_strict};
use agent_syntax::members::{entries, member, number, string};
use agent_syntax::{Node, Value};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError, symlink_metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
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
    /// The store, if there is one.
    store: Option<Arc<Store<Nats>>>,
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
        store: Option<Arc<Store<Nats>>>,
    ) -> Result<Self, Failure> {
        let store = store.filter(|it| it.values.forgets_nothing());
        if path.is_none() && min.is_none() && store.is_none() {
            let message =
                "without `--sequences` and `--min-sequence`, old bundles would be accepted";
            let help = "name a file with `--sequences`, the lowest sequence with `--min-sequence`, or a \
                        `--store` whose bucket has no limit of age";
            return Err(Failure::new(message).help(help));
        }
        Ok(Self {
            name,
            path: path.map(Path::to_owned),
            min,
            store,
            accepted: Mutex::new(None),
        })
    }

    /// Keeps other instances away from the file until the returned value is dropped, and reads the store.
    ///
    /// # Errors
    ///
    /// When the file can't be read or locked, another user can change it, or it has another form; or when the store does
    /// not answer.
    pub(crate) async fn hold(&self) -> Result<Held<'_>, Failure> {
        let stored = match &self.store {
            None => None,
            Some(store) => Some(self.stored(store).await?),
        };
        let (known, lock) = match &self.path {
            None => (BTreeMap::new(), None),
            Some(path) => of_file(path)?,
        };
        Ok(Held {
            sequences: self,
            known,
            stored,
            _lock: lock,
        })
    }

    /// Returns the highest bundle that the store knows of the name, and its revision.
    async fn stored(&self, store: &Store<Nats>) -> Result<(Option<HighestBundle>, u64), Failure> {
        let Entry { value, revision } = store.values.read(&self.key()).await.map_err(silent)?;
        let highest = match value {
            None => None,
            Some(value) => {
                let text = str::from_utf8(&value).ok();
                let root = text.and_then(parse_strict);
                let highest = root.and_then(|it| read_highest(&it));
                Some(highest.ok_or_else(|| {
                    Failure::new("the store has something else than a sequence of bundles")
                })?)
            }
        };
        Ok((highest, revision))
    }

    /// Returns the key of the name in the store. A name may have characters that no key has.
    fn key(&self) -> String {
        let digits = self.name.bytes().map(|it| format!("{it:02x}"));
        format!("bundle.{}", digits.collect::<String>())
    }
}

/// Reads a file of sequences, and keeps other instances away from it.
fn of_file(path: &Path) -> Result<(BTreeMap<String, HighestBundle>, Option<File>), Failure> {
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
            let text = Input::File(path.to_owned()).read(TEXT_MAX)?;
            read(&text).ok_or_else(|| {
                unusable("it is no file of sequences".to_owned())
                    .help("restore the file; without it, old bundles would be accepted")
            })?
        }
    };
    Ok((known, Some(lock)))
}

/// The sequences, which nobody else changes meanwhile.
pub(crate) struct Held<'s> {
    sequences: &'s Sequences,
    /// Those of the file.
    known: BTreeMap<String, HighestBundle>,
    /// That of the store, and its revision.
    stored: Option<(Option<HighestBundle>, u64)>,
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
        let stored = self
            .stored
            .as_ref()
            .and_then(|(highest, _)| highest.clone());
        // Of equal ones, one with a digest says more.
        let all = [min, known, accepted, stored].into_iter().flatten();
        all.max_by_key(|it| (it.sequence, it.digest.is_some()))
    }

    /// Writes down what is accepted. Returns whether nobody else did meanwhile; otherwise it has to be judged again.
    ///
    /// # Errors
    ///
    /// When it can't be written: the bundle must not decide then.
    pub(crate) async fn remember(mut self, highest: HighestBundle) -> Result<bool, Failure> {
        let Sequences {
            name,
            path,
            accepted,
            store,
            ..
        } = self.sequences;
        let is_same = |it: &HighestBundle| it.sequence == highest.sequence;
        if let (Some(store), Some((stored, revision))) = (store, &self.stored)
            && !stored.as_ref().is_some_and(is_same)
        {
            let mut w = Writer::dense();
            w.object(|w| write_highest(w, &highest));
            let text = w.finish().into_bytes();
            let key = self.sequences.key();
            let is_written = store.values.write(&key, text, *revision).await;
            if !is_written.map_err(silent)? {
                return Ok(false);
            }
        }
        if let Some(path) = path
            && !self.known.get(name).is_some_and(is_same)
        {
            self.known.insert(name.clone(), highest.clone());
            StagedFile::private(path, written(&self.known).as_bytes())?.commit()?;
        }
        if let Ok(mut accepted) = accepted.lock() {
            *accepted = Some(highest);
        }
        Ok(true)
    }
}

fn silent(Unavailable(why): Unavailable) -> Failure {
    Failure::new(format_args!(
        "the sequences of bundles are not known: {why}"
    ))
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
    let known = entries(&root).iter();
    let known = known.map(|it| Some((it.key.to_string(), read_highest(&it.value)?)));
    known.collect()
}

fn read_highest(node: &Node<'_>) -> Option<HighestBundle> {
    Some(HighestBundle {
        sequence: member(node, "sequence").and_then(number)?,
        digest: Some(member(node, "digest").and_then(string)?.to_owned()),
    })
}

fn write_highest(w: &mut Writer, highest: &HighestBundle) {
    w.key("digest").optional(highest.digest.as_deref());
    w.key("sequence").json(&highest.sequence.to_string());
}

fn written(known: &BTreeMap<String, HighestBundle>) -> String {
    let mut w = Writer::pretty();
    w.object(|w| {
        for (name, highest) in known {
            w.key(name).object(|w| write_highest(w, highest));
        }
    });
    w.finish()
}
