//! `agent resolve`: select servers and tools for the agent, and write the lock.

use super::CommandAnswer;
use super::session::{CommandSession, NewLock};
use crate::args::{Explanation, LOCK, Resolve};
use agent_host::atomic_write::{Links, StagedFile};
use agent_host::contract::diagnostic::Diagnostic;
use agent_host::contract::explanation::Origin;
use agent_host::contract::inputs::Index;
use agent_host::contract::lockfile::{Drift, Lock, UnreadableLock};
use agent_host::contract::resolver::Resolution;
use agent_host::input::Input;
use agent_host::session_files::DEFINITIONS;
use agent_host::system::{Files as _, System};
use agent_host::{Failure, call};
use std::path::{Path, PathBuf};

/// The name of the full explanation, beside the lock.
const EXPLANATION: &str = "agents.resolution.json";

/// The name of the compact explanation, beside the lock.
const COMPACT_EXPLANATION: &str = "agents.resolution.compact.json";

/// A file to write.
struct NewFile {
    path: PathBuf,
    text: String,
}

pub(super) fn run(args: &Resolve, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let manifest = args.manifest.manifest.as_ref();
    let resolved = session.resolution(manifest, &args.index.index, &args.context)?;
    let Some((resolution, index)) = resolved else {
        return session.refuse();
    };
    let new = session.new_lock(resolution)?;
    let mut files = Vec::new();
    if let Some(form) = args.explain {
        let engine = &mut session.engine;
        let (name, text) = match form {
            Explanation::Full => (
                EXPLANATION,
                call!(engine, resolver.resolution.explanation(resolution))?,
            ),
            Explanation::Compact => (
                COMPACT_EXPLANATION,
                Ok(call!(engine, explanation.compact(resolution))?),
            ),
        };
        match text {
            Ok(text) => files.push(NewFile {
                path: args.lock.with_file_name(name),
                text,
            }),
            Err(too_large) => {
                session.add([too_large]);
                session.report()?;
                return Ok(CommandAnswer::None);
            }
        }
    }
    let Some(new) = new else {
        write(args, session, &files)?;
        show_summary(session, resolution)?;
        announce(args, session, &files);
        return Ok(CommandAnswer::No);
    };
    let Some(mut before) = Before::writing(&new, args, session)? else {
        return session.refuse();
    };
    let definitions = Definitions::read(&new, index, args, session)?;
    if args.locked {
        before.drifts.extend(definitions.drift.clone());
    }
    if args.locked && !before.drifts.is_empty() {
        write(args, session, &files)?;
        let Some(drifts) = before.detailed(&new, index, &definitions, args, session)? else {
            return session.refuse();
        };
        return session.show_drifts(&drifts);
    }
    if let Some(text) = definitions.to_write().filter(|_| !args.locked) {
        files.push(NewFile {
            path: definitions.path.clone(),
            text,
        });
    }
    if before.state != LockState::Same && !args.locked {
        // The lock comes last, so that no lock appears with an outdated explanation.
        files.push(NewFile {
            path: args.lock.clone(),
            text: new.text,
        });
    }
    write(args, session, &files)?;
    definitions.remove_old(args, session)?;
    show_summary(session, resolution)?;
    let lock = args.lock.display();
    match before.state {
        LockState::Missing => {}
        LockState::Same => session.note(format_args!("{lock} is up to date")),
        LockState::Other => session.note_drifts(&before.drifts)?,
        LockState::Damaged => session.note(format_args!("{lock} was damaged")),
    }
    announce(args, session, &files);
    Ok(CommandAnswer::Yes)
}

/// The file at the path of the lock, before the lock is written.
struct Before {
    state: LockState,
    /// The differences to the new lock; `LOCK_MISSING` if there is no lock.
    drifts: Vec<Drift>,
    /// The existing lock, if it can be read.
    lock: Option<Lock>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LockState {
    Missing,
    /// A lock of the same bytes.
    Same,
    /// A lock with other content, or the same content in other bytes.
    Other,
    /// A damaged lock.
    Damaged,
}

impl Before {
    /// Reads the existing file. Returns `None` if it must stay unchanged; the findings say why.
    fn writing(
        new: &NewLock,
        args: &Resolve,
        session: &mut CommandSession,
    ) -> Result<Option<Self>, Failure> {
        let Some(existing) = session.existing_lock(&Input::File(args.lock.clone()))? else {
            return Ok(Some(Self {
                state: LockState::Missing,
                drifts: compare(None, new, session)?,
                lock: None,
            }));
        };
        match existing.lock {
            Ok(lock) => Ok(Some(Self {
                state: if existing.text == new.text.as_bytes() {
                    LockState::Same
                } else {
                    LockState::Other
                },
                drifts: compare(Some(lock), new, session)?,
                lock: Some(lock),
            })),
            Err(mut problems) => match unreadable(&existing.text, &problems, session)? {
                UnreadableLock::Damaged if !args.locked => {
                    session.warn(problems)?;
                    Ok(Some(Self {
                        state: LockState::Damaged,
                        drifts: Vec::new(),
                        lock: None,
                    }))
                }
                kind => {
                    if kind == UnreadableLock::Foreign {
                        for problem in &mut problems {
                            let note = "this file is not a lock, and stays as it is";
                            problem.notes.push(note.to_owned());
                        }
                    }
                    session.add(problems);
                    Ok(None)
                }
            },
        }
    }

    /// Returns the drifts in detail, or `None` if the engine refuses the older index.
    fn detailed(
        self,
        new: &NewLock,
        index: Index,
        definitions: &Definitions,
        args: &Resolve,
        session: &mut CommandSession,
    ) -> Result<Option<Vec<Drift>>, Failure> {
        match self.lock {
            None => Ok(Some(self.drifts)),
            Some(lock) => {
                let old_index = args.before.old_index.as_ref();
                let newer = Origin {
                    lock: new.lock,
                    index,
                };
                session.detailed(
                    self.drifts,
                    old_index,
                    (lock, definitions.before.clone()),
                    newer,
                )
            }
        }
    }
}

/// The file of definitions beside the lock.
struct Definitions {
    path: PathBuf,
    /// The existing text.
    before: Option<Vec<u8>>,
    /// The text that belongs to the new lock; none if there must be no file.
    text: Option<String>,
    /// The difference of both.
    drift: Option<Drift>,
}

impl Definitions {
    fn read(
        new: &NewLock,
        index: Index,
        args: &Resolve,
        session: &mut CommandSession,
    ) -> Result<Self, Failure> {
        let before = session.definitions(&Input::File(args.lock.clone()))?;
        let engine = &mut session.engine;
        let text = call!(engine, lockfile.lock.definitions(new.lock, index))?;
        let stored = before.as_deref();
        let drift = call!(
            engine,
            lockfile.lock.verify_definitions(new.lock, index, stored)
        )?;
        Ok(Self {
            path: args.lock.with_file_name(DEFINITIONS),
            before,
            text,
            drift,
        })
    }

    /// Returns the new text, unless the file has it.
    fn to_write(&self) -> Option<String> {
        let text = self.text.as_ref()?;
        let is_there = self.before.as_deref() == Some(text.as_bytes());
        (!is_there).then(|| text.clone())
    }

    /// Removes a file that has no entries any more.
    fn remove_old(&self, args: &Resolve, session: &CommandSession) -> Result<(), Failure> {
        let writes = session.writes() && !args.dry_run && !args.locked;
        if self.text.is_some() || self.before.is_none() || !writes {
            return Ok(());
        }
        System::remove(&self.path).map_err(|error| {
            let path = self.path.display();
            Failure::new(format_args!("`{path}` can't be removed: {error}"))
        })
    }
}

fn compare(
    older: Option<Lock>,
    newer: &NewLock,
    session: &mut CommandSession,
) -> Result<Vec<Drift>, Failure> {
    call!(session.engine, lockfile.compare(older, newer.lock))
}

/// Classifies a file that the engine refuses as a lock with these problems.
fn unreadable(
    text: &[u8],
    problems: &[Diagnostic],
    session: &mut CommandSession,
) -> Result<UnreadableLock, Failure> {
    let codes: Vec<_> = problems.iter().map(|problem| problem.code).collect();
    call!(session.engine, lockfile.unreadable(text, &codes))
}

/// Writes all files, or none if the content of one of them can't be written.
fn write(args: &Resolve, session: &CommandSession, files: &[NewFile]) -> Result<(), Failure> {
    if args.dry_run || !session.writes() {
        return Ok(());
    }
    let staged = files
        .iter()
        .map(|file| {
            // The user names the lock at most.
            let is_named = file.path == args.lock && args.lock != Path::new(LOCK);
            let links = if is_named {
                Links::Followed
            } else {
                Links::Refused
            };
            StagedFile::with_links(&file.path, file.text.as_bytes(), links)
        })
        .collect::<Result<Vec<_>, _>>()?;
    staged.into_iter().try_for_each(StagedFile::commit)
}

fn show_summary(session: &mut CommandSession, resolution: Resolution) -> Result<(), Failure> {
    let quiet = session.quiet;
    session.show(
        |engine| {
            if quiet {
                Ok(Vec::new())
            } else {
                call!(engine, view.summary(resolution))
            }
        },
        |engine| call!(engine, view.summary_json(resolution)),
    )
}

/// Reports the files that were written.
fn announce(args: &Resolve, session: &mut CommandSession, files: &[NewFile]) {
    let is_dry = args.dry_run || !session.writes();
    let done = if is_dry { "would write" } else { "wrote" };
    for file in files {
        session.note(format_args!("{done} {}", file.path.display()));
    }
}
