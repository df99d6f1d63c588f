//! `agent resolve`: decide which servers the agent gets, and write the lock.

use super::Answer;
use super::session::{NewLock, Session};
use crate::args::{Explanation, Resolve};
use crate::engine::{Code, Diagnostic, Drift, Index, Lock, Resolution};
use crate::failure::Failure;
use crate::input::Input;
use crate::replace::Staged;
use std::path::PathBuf;

/// The full explanation, beside the lock.
const EXPLANATION: &str = "agents.resolution.json";

/// The compact explanation, beside the lock.
const COMPACT_EXPLANATION: &str = "agents.resolution.compact.json";

/// What stands in every lock, whatever else has happened to it.
const LOCK_MARK: &[u8] = b"\"lockVersion\"";

/// A file that is to be written.
struct NewFile {
    path: PathBuf,
    text: String,
}

pub(super) fn run(args: &Resolve, mut session: Session) -> Result<Answer, Failure> {
    let manifest = args.manifest.manifest.as_ref();
    let Some((resolution, index)) =
        session.resolution(manifest, &args.index.index, &args.task, &args.circumstances)?
    else {
        return session.refuse();
    };
    let new = session.new_lock(&resolution)?;
    let mut files = Vec::new();
    if let Some(form) = args.explain {
        let text = match form {
            Explanation::Full => session.engine.explanation(&resolution)?,
            Explanation::Compact => Ok(session.engine.compact(&resolution)?),
        };
        match text {
            Ok(text) => files.push(NewFile {
                path: explanation_path(args, form),
                text,
            }),
            Err(too_large) => {
                session.add([too_large]);
                session.report()?;
                return Ok(Answer::None);
            }
        }
    }
    let Some(new) = new else {
        write(args, &files)?;
        show_summary(&mut session, &resolution)?;
        announce(args, &mut session, &files);
        return Ok(Answer::No);
    };
    let Some(before) = Before::writing(&new, args, &mut session)? else {
        return session.refuse();
    };
    if args.locked && !before.drifts.is_empty() {
        write(args, &files)?;
        let Some(drifts) = before.detailed(&new, &index, args, &mut session)? else {
            return session.refuse();
        };
        return session.show_drifts(&drifts);
    }
    if before.state != State::Same && !args.locked {
        // Last, so that there never is a lock whose explanation is still the one before.
        files.push(NewFile {
            path: args.lock.clone(),
            text: new.text,
        });
    }
    write(args, &files)?;
    show_summary(&mut session, &resolution)?;
    let lock = args.lock.display();
    match before.state {
        State::Missing => {}
        State::Same => session.note(format_args!("{lock} is up to date")),
        State::Other => session.note_drifts(&before.drifts)?,
        State::Damaged => session.note(format_args!("{lock} was damaged")),
    }
    announce(args, &mut session, &files);
    Ok(Answer::Yes)
}

fn explanation_path(args: &Resolve, form: Explanation) -> PathBuf {
    args.lock.with_file_name(match form {
        Explanation::Full => EXPLANATION,
        Explanation::Compact => COMPACT_EXPLANATION,
    })
}

/// What is there before the lock is written.
struct Before {
    state: State,
    /// What the lock says that is no longer so; that there is none, if there is none.
    drifts: Vec<Drift>,
    /// The lock that is there, if it can be read.
    lock: Option<Lock>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Missing,
    /// The lock that would be written, byte for byte.
    Same,
    /// A lock that says something else, or the same in other bytes.
    Other,
    /// What is left of a lock.
    Damaged,
}

impl Before {
    /// Looks at the existing file. None if it must stay as it is; the findings say why.
    fn writing(
        new: &NewLock,
        args: &Resolve,
        session: &mut Session,
    ) -> Result<Option<Self>, Failure> {
        let Some(existing) = session.existing_lock(&Input::File(args.lock.clone()))? else {
            return Ok(Some(Self {
                state: State::Missing,
                drifts: session.engine.compare(None, &new.lock)?,
                lock: None,
            }));
        };
        match existing.lock {
            Ok(lock) => Ok(Some(Self {
                state: if existing.text == new.text.as_bytes() {
                    State::Same
                } else {
                    State::Other
                },
                drifts: session.engine.compare(Some(&lock), &new.lock)?,
                lock: Some(lock),
            })),
            Err(mut problems) if !was_lock(&existing.text) => {
                for problem in &mut problems {
                    problem
                        .help
                        .push("this never was a lock, and is left as it is".to_owned());
                }
                session.add(problems);
                Ok(None)
            }
            Err(problems) if !args.locked && !problems.iter().any(is_beyond_reading) => {
                session.warn(problems)?;
                Ok(Some(Self {
                    state: State::Damaged,
                    drifts: Vec::new(),
                    lock: None,
                }))
            }
            Err(problems) => {
                session.add(problems);
                Ok(None)
            }
        }
    }

    /// The drifts in detail. None if the older index is refused.
    fn detailed(
        self,
        new: &NewLock,
        index: &Index,
        args: &Resolve,
        session: &mut Session,
    ) -> Result<Option<Vec<Drift>>, Failure> {
        match self.lock {
            None => Ok(Some(self.drifts)),
            Some(lock) => {
                let old_index = args.before.old_index.as_ref();
                session.detailed(self.drifts, old_index, &lock, (&new.lock, index))
            }
        }
    }
}

/// Whether a file that can't be read as a lock is one that was damaged, and not somebody's work.
fn was_lock(text: &[u8]) -> bool {
    text.is_empty() || text.windows(LOCK_MARK.len()).any(|it| it == LOCK_MARK)
}

/// The lock may hold what is not known here, and is not damaged.
fn is_beyond_reading(problem: &Diagnostic) -> bool {
    matches!(problem.code, Code::LockVersion | Code::InputTooLarge)
}

/// Writes all files, or none if the content of one can't be written.
fn write(args: &Resolve, files: &[NewFile]) -> Result<(), Failure> {
    if args.dry_run {
        return Ok(());
    }
    let staged = files
        .iter()
        .map(|file| Staged::new(&file.path, &file.text))
        .collect::<Result<Vec<_>, _>>()?;
    staged.into_iter().try_for_each(Staged::commit)
}

fn show_summary(session: &mut Session, resolution: &Resolution) -> Result<(), Failure> {
    let quiet = session.quiet;
    session.show(
        |engine| {
            if quiet {
                Ok(Vec::new())
            } else {
                engine.summary(resolution)
            }
        },
        |engine| engine.summary_json(resolution),
    )
}

/// Says which files were written.
fn announce(args: &Resolve, session: &mut Session, files: &[NewFile]) {
    let done = if args.dry_run { "would write" } else { "wrote" };
    for file in files {
        session.note(format_args!("{done} {}", file.path.display()));
    }
}
