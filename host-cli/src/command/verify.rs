//! `agent verify`: check that the index still has what was locked.

use super::Answer;
use super::session::Session;
use crate::args::Verify;
use crate::engine::{Code, Drift};
use crate::failure::Failure;

pub(super) fn run(args: &Verify, mut session: Session) -> Result<Answer, Failure> {
    let lock = match session.existing_lock(&args.lock)? {
        None => return session.show_drifts(&[missing()]),
        Some(existing) => match existing.lock {
            Ok(lock) => lock,
            Err(problems) => return session.refuse_for(problems),
        },
    };
    let Some(index) = session.index(&args.index.index)? else {
        return session.refuse();
    };
    let drifts = session.engine.verify(&lock, &index)?;
    let Some(drifts) = session.detailed(
        drifts,
        args.before.old_index.as_ref(),
        &lock,
        (&lock, &index),
    )?
    else {
        return session.refuse();
    };
    if drifts.is_empty() {
        session.note(format_args!(
            "{} has all that {} holds",
            args.index.index, args.lock
        ));
    }
    session.show_drifts(&drifts)
}

/// There is no lock, so that nothing in it is as it was.
fn missing() -> Drift {
    Drift {
        code: Code::LockMissing,
        widening: false,
        category: None,
        capability: None,
        before: None,
        after: None,
        details: Vec::new(),
    }
}
