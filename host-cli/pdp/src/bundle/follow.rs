//! A bundle that is read again when its file or the keys change.

use super::acceptance::{Judge, Keys, Refused, read_bundle};
use super::sequences::Sequences;
use crate::basis::{Basis, Standing};
use agent_host::atomic_write::StagedFile;
use agent_host::contract::bundles::HighestBundle;
use agent_host::{Failure, Hangups, diagnostics, output};
use std::fs;
use std::mem::replace;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::select;
use tokio::sync::Semaphore;
use tokio::sync::watch::Sender;
use tokio::time::{Instant, sleep};

/// Time between two looks at the files.
const POLL: Duration = Duration::from_secs(1);

/// Looks at a file that always changes, after which it is read all the same.
const UNSTABLE_MAX: u32 = 3;

/// Maximum number of times that other instances may accept bundles meanwhile.
const TRIES: u32 = 8;

/// Time after which a bundle that was refused is judged again: a key may count by now.
const JUDGE_AGAIN: Duration = Duration::from_secs(30);

/// Where bundles come from, and which decide.
pub(crate) struct Source {
    pub(crate) judge: Judge,
    pub(crate) bundle: PathBuf,
    pub(crate) keys: PathBuf,
    pub(crate) sequences: Sequences,
    /// One bundle at a time is put in place: each may be large.
    pub(crate) publishing: Semaphore,
}

/// What decides, and what it was read from.
pub(crate) struct Current {
    keys: Keys,
    bundle: Vec<u8>,
    watched: [Watched; 2],
    /// When a bundle that is there was refused.
    refused: Option<Instant>,
    /// What was said last, which is not repeated.
    said: String,
}

/// What a look at a file shows: its device, number, size and times; `None` if it can't be looked at.
type Stamp = Option<[u64; 5]>;

/// A file that is looked at.
struct Watched {
    /// As it was read.
    read: Stamp,
    /// As it was at the last look.
    seen: Stamp,
    /// Number of looks since it was read at which it had changed again.
    unstable: u32,
}

impl Watched {
    fn new(path: &Path) -> Self {
        let now = stamp(path);
        Self {
            read: now,
            seen: now,
            unstable: 0,
        }
    }

    /// Looks at the file. Returns whether to read it: it changed, and is not being written.
    fn look(&mut self, path: &Path) -> bool {
        let now = stamp(path);
        let is_stable = replace(&mut self.seen, now) == now;
        if now == self.read {
            return false;
        }
        self.unstable += u32::from(!is_stable);
        is_stable || self.unstable > UNSTABLE_MAX
    }

    /// Takes what was seen last as read.
    fn is_read(&mut self) {
        self.read = self.seen;
        self.unstable = 0;
    }
}

fn stamp(path: &Path) -> Stamp {
    let it = fs::metadata(path).ok()?;
    let time = |seconds: i64, nanos: i64| {
        let nanos = seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos);
        nanos.cast_unsigned()
    };
    Some([
        it.dev(),
        it.ino(),
        it.len(),
        time(it.mtime(), it.mtime_nsec()),
        time(it.ctime(), it.ctime_nsec()),
    ])
}

impl Source {
    /// Reads the first bundle. The inner value is nothing if it is refused, which was said.
    ///
    /// # Errors
    ///
    /// When a file can't be read or written, or the engine fails.
    pub(crate) async fn open(&self) -> Result<Option<(Basis, Current)>, Failure> {
        let watched = [Watched::new(&self.bundle), Watched::new(&self.keys)];
        let keys = Keys::read(&self.keys)?;
        let bundle = read_bundle(&self.bundle)?;
        match self.accept_next(&keys, &bundle).await? {
            Err(refused) => {
                output::note_drawn(refused.drawn());
                Ok(None)
            }
            Ok(basis) => {
                let current = Current {
                    keys,
                    bundle,
                    watched,
                    refused: None,
                    said: String::new(),
                };
                Ok(Some((basis, current)))
            }
        }
    }

    /// Replaces the basis when the files change or SIGHUP comes, for ever. Says what is refused, and keeps the basis then.
    pub(crate) async fn follow(
        &self,
        mut current: Current,
        basis: Sender<Arc<Basis>>,
        mut hangups: Hangups,
    ) {
        let mut is_over = false;
        loop {
            let is_asked = select! {
                () = hangups.next() => true,
                () = sleep(POLL) => false,
            };
            let was_over = replace(&mut is_over, basis.borrow().is_over());
            let [bundle, keys] = &mut current.watched;
            // Both are looked at.
            let is_changed = bundle.look(&self.bundle) | keys.look(&self.keys);
            let is_due = current.refused.is_some_and(|at| at.elapsed() > JUDGE_AGAIN);
            if is_over && !was_over {
                let name = &self.judge.name;
                output::note(format_args!(
                    "the bundle `{name}` expired: every question gets status 503"
                ));
            } else if !is_asked && !is_changed && !is_due {
                continue;
            }
            let renewed = self.renew(&mut current, &basis).await;
            let said = match renewed {
                Ok(()) => {
                    current.watched.iter_mut().for_each(Watched::is_read);
                    continue;
                }
                // The files are read again at the next look.
                Err(Unrenewed::Failed(failure)) => {
                    current.refused = Some(Instant::now());
                    diagnostics::draw_failure(&failure)
                }
                Err(Unrenewed::Refused(refused)) => {
                    current.watched.iter_mut().for_each(Watched::is_read);
                    current.refused = Some(Instant::now());
                    refused.drawn().to_owned()
                }
            };
            if is_asked || current.said != said {
                output::note_drawn(&said);
                self.say_what_decides(&basis);
                current.said = said;
            }
        }
    }

    /// Puts a bundle in the place of the present file, if it is accepted. The inner error says why not.
    ///
    /// # Errors
    ///
    /// When a file can't be read or written, or the engine fails.
    pub(crate) async fn put(&self, bundle: &[u8]) -> Result<Result<Standing, Refused>, Failure> {
        let keys = Keys::read(&self.keys)?;
        if self.judge.refuse_keys(&keys)?.is_some() {
            let keys = self.keys.display();
            return Err(Failure::new(format_args!(
                "the keys in `{keys}` can't be read"
            )));
        }
        // Another one of the same name must not follow before this one decides.
        let standing = match self.accept_next(&keys, bundle).await? {
            Ok(basis) => basis.bundle,
            Err(refused) => return Ok(Err(refused)),
        };
        let standing = standing.ok_or_else(|| Failure::internal("a bundle has no label"))?;
        if read_bundle(&self.bundle).ok().as_deref() != Some(bundle) {
            StagedFile::new(&self.bundle, bundle)?.commit()?;
        }
        Ok(Ok(standing))
    }

    /// Reads the files again.
    async fn renew(
        &self,
        current: &mut Current,
        basis: &Sender<Arc<Basis>>,
    ) -> Result<(), Unrenewed> {
        let keys = Keys::read(&self.keys)?;
        if keys != current.keys {
            if let Some(refused) = self.judge.refuse_keys(&keys)? {
                return Err(Unrenewed::Refused(refused));
            }
            self.judge_again(&keys, &current.bundle, basis)?;
            current.keys = keys;
        }
        let bundle = read_bundle(&self.bundle)?;
        if bundle == current.bundle && basis.borrow().stands().is_ok() {
            current.refused = None;
            return Ok(());
        }
        match self.accept_next(&current.keys, &bundle).await? {
            Err(refused) => Err(Unrenewed::Refused(refused)),
            Ok(next) => {
                basis.send_replace(Arc::new(next));
                current.bundle = bundle;
                current.refused = None;
                current.said.clear();
                self.say_what_decides(basis);
                Ok(())
            }
        }
    }

    /// Asks whether the bundle that decides is still accepted under other keys, and withdraws it if not.
    fn judge_again(
        &self,
        keys: &Keys,
        bundle: &[u8],
        basis: &Sender<Arc<Basis>>,
    ) -> Result<(), Failure> {
        let refused = match self.judge.accept((keys, bundle), None)? {
            Ok(next) => {
                basis.send_replace(Arc::new(next));
                return Ok(());
            }
            Err(refused) => refused,
        };
        let present = basis.borrow().clone();
        let withdrawn = Basis {
            documents: present.documents.clone(),
            bundle: present.bundle.clone().map(|it| Standing {
                is_withdrawn: true,
                ..it
            }),
        };
        basis.send_replace(Arc::new(withdrawn));
        output::note_drawn(refused.drawn());
        let keys = self.keys.display();
        output::note(format_args!(
            "the keys in `{keys}` changed: every question gets status 503"
        ));
        Ok(())
    }

    /// Accepts a bundle as the next one, and remembers its sequence. The inner error says why not.
    async fn accept_next(
        &self,
        keys: &Keys,
        bundle: &[u8],
    ) -> Result<Result<Basis, Refused>, Failure> {
        for _ in 0..TRIES {
            let held = self.sequences.hold().await?;
            let accepted = self.judge.accept((keys, bundle), held.highest().as_ref())?;
            let Ok(Basis {
                bundle: Some(standing),
                ..
            }) = &accepted
            else {
                return Ok(accepted);
            };
            let highest = HighestBundle {
                sequence: standing.sequence,
                digest: Some(standing.digest.clone()),
            };
            if held.remember(highest).await? {
                return Ok(accepted);
            }
        }
        let text = format!("other instances accepted bundles {TRIES} times meanwhile");
        Err(Failure::new(text))
    }

    /// Says which bundle decides, if one does.
    fn say_what_decides(&self, basis: &Sender<Arc<Basis>>) {
        let basis = basis.borrow();
        match &basis.bundle {
            Some(standing) if basis.stands().is_ok() => {
                output::note(format_args!("decides by {standing}"));
            }
            _ => output::note("no bundle decides: every question gets status 503"),
        }
    }
}

/// Why the files were read again without an effect.
enum Unrenewed {
    Failed(Failure),
    Refused(Refused),
}

impl From<Failure> for Unrenewed {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}
