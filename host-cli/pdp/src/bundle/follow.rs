//! A bundle that is read again when its file or the keys change.

use super::acceptance::{Judge, Keys, Refused, read_bundle};
use super::sequences::Sequences;
use crate::basis::{Basis, Standing};
use agent_host::atomic_write::StagedFile;
use agent_host::contract::bundles::HighestBundle;
use agent_host::{Failure, Hangups, diagnostics, output, unix_ms};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::select;
use tokio::sync::watch::Sender;
use tokio::time::sleep;

/// Time between two looks at the files.
const POLL: Duration = Duration::from_secs(1);

/// Where bundles come from, and which decide.
pub(crate) struct Source {
    pub(crate) judge: Judge,
    pub(crate) bundle: PathBuf,
    pub(crate) keys: PathBuf,
    pub(crate) sequences: Sequences,
}

/// What was read last.
pub(crate) struct Read {
    keys: Keys,
    bundle: Vec<u8>,
    files: [Stamp; 2],
}

/// The time and the size of a file; `None` if it can't be looked at.
type Stamp = Option<(SystemTime, u64)>;

fn stamp(path: &Path) -> Stamp {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

impl Source {
    /// Reads the first bundle. The inner value is nothing if it is refused, which was said.
    ///
    /// # Errors
    ///
    /// When a file can't be read or written, or the engine fails.
    pub(crate) fn open(&self) -> Result<Option<(Basis, Read)>, Failure> {
        let files = self.stamps();
        let keys = Keys::read(&self.keys)?;
        let bundle = read_bundle(&self.bundle)?;
        let accepted = self.accept_next(&keys, &bundle)?;
        Ok(accepted.map(|basis| {
            let read = Read {
                keys,
                bundle,
                files,
            };
            (basis, read)
        }))
    }

    /// Replaces the basis when the files change or SIGHUP comes, for ever. Says what is refused, and keeps the basis then.
    pub(crate) async fn follow(
        &self,
        mut read: Read,
        basis: Sender<Arc<Basis>>,
        mut hangups: Hangups,
    ) {
        let mut seen = read.files;
        let mut is_over = false;
        loop {
            let is_asked = select! {
                () = hangups.next() => true,
                () = sleep(POLL) => false,
            };
            let until_ms = basis.borrow().bundle.as_ref().map(|it| it.until_ms);
            let was_over =
                std::mem::replace(&mut is_over, until_ms.is_some_and(|it| unix_ms() > it));
            if is_over && !was_over {
                let name = &self.judge.name;
                output::note(format_args!(
                    "the bundle `{name}` is over: no call is decided"
                ));
            }
            let now = self.stamps();
            // What is being written is read when it changes no more.
            let is_stable = std::mem::replace(&mut seen, now) == now;
            if !is_asked && (now == read.files || !is_stable) {
                continue;
            }
            read.files = now;
            if let Err(failure) = self.renew(&mut read, &basis) {
                output::note_drawn(&diagnostics::draw_failure(&failure));
                self.say_nothing_changed(&basis);
            }
        }
    }

    /// Puts a bundle in the place of the present file, if it is accepted. The inner error says why not.
    ///
    /// # Errors
    ///
    /// When a file can't be read or written, or the engine fails.
    pub(crate) fn put(&self, bundle: &[u8]) -> Result<Result<Standing, Refused>, Failure> {
        let keys = Keys::read(&self.keys)?;
        let held = self.sequences.hold()?;
        let highest = held.highest(&self.judge.name);
        let accepted = self.judge.accept((&keys, bundle), highest.as_ref())?;
        match accepted {
            Ok(Basis {
                bundle: Some(standing),
                ..
            }) => {
                StagedFile::new(&self.bundle, bundle)?.commit()?;
                Ok(Ok(standing))
            }
            Ok(_) => Err(Failure::internal("a bundle was accepted as files")),
            Err(refused) => Ok(Err(refused)),
        }
    }

    /// Reads the files again.
    fn renew(&self, read: &mut Read, basis: &Sender<Arc<Basis>>) -> Result<(), Failure> {
        let keys = Keys::read(&self.keys)?;
        let current = basis.borrow().clone();
        if keys != read.keys {
            if let Some(refused) = self.judge.refuse_keys(&keys)? {
                output::note_drawn(refused.drawn());
                self.say_nothing_changed(basis);
                return Ok(());
            }
            self.judge_again(&keys, &read.bundle, basis)?;
            read.keys = keys;
        }
        let bundle = read_bundle(&self.bundle)?;
        if bundle == read.bundle && !is_withdrawn(&current) {
            return Ok(());
        }
        match self.accept_next(&read.keys, &bundle)? {
            None => self.say_nothing_changed(basis),
            Some(next) => {
                basis.send_replace(Arc::new(next));
                read.bundle = bundle;
                output::note(format_args!("decides by {}", self.standing(basis)));
            }
        }
        Ok(())
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
        let current = basis.borrow().clone();
        let withdrawn = Basis {
            documents: current.documents.clone(),
            bundle: current.bundle.clone().map(|it| Standing {
                is_withdrawn: true,
                ..it
            }),
        };
        basis.send_replace(Arc::new(withdrawn));
        output::note_drawn(refused.drawn());
        let keys = self.keys.display();
        output::note(format_args!(
            "no call is decided: the keys in `{keys}` changed"
        ));
        Ok(())
    }

    /// Accepts a bundle as the next one, and remembers its sequence. Says why not, if not.
    fn accept_next(&self, keys: &Keys, bundle: &[u8]) -> Result<Option<Basis>, Failure> {
        let held = self.sequences.hold()?;
        let highest = held.highest(&self.judge.name);
        match self.judge.accept((keys, bundle), highest.as_ref())? {
            Ok(basis) => {
                if let Some(Standing {
                    sequence, digest, ..
                }) = &basis.bundle
                {
                    let highest = HighestBundle {
                        sequence: *sequence,
                        digest: Some(digest.clone()),
                    };
                    held.remember(&self.judge.name, highest)?;
                }
                Ok(Some(basis))
            }
            Err(refused) => {
                output::note_drawn(refused.drawn());
                Ok(None)
            }
        }
    }

    /// Says that the bundle before decides.
    fn say_nothing_changed(&self, basis: &Sender<Arc<Basis>>) {
        let standing = self.standing(basis);
        output::note(format_args!("nothing else decides: {standing}"));
    }

    /// Describes the bundle that decides.
    fn standing(&self, basis: &Sender<Arc<Basis>>) -> String {
        let basis = basis.borrow();
        basis
            .bundle
            .as_ref()
            .map(Standing::to_string)
            .unwrap_or_default()
    }

    fn stamps(&self) -> [Stamp; 2] {
        [stamp(&self.bundle), stamp(&self.keys)]
    }
}

fn is_withdrawn(basis: &Basis) -> bool {
    basis.bundle.as_ref().is_some_and(|it| it.is_withdrawn)
}
