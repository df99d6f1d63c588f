//! `agent verify`: check that the index still has what was locked.

use super::Answer;
use super::session::{Existing, Session};
use crate::args::Verify;
use crate::engine::{Code, Drift};
use crate::failure::Failure;

pub(super) fn run(args: &Verify, mut session: Session) -> Result<Answer, Failure> {
    let lock = match session.existing_lock(&args.lock)? {
        Existing::Lock { lock, .. } => lock,
        Existing::Missing => return session.show_drifts(&[missing()]),
        Existing::Refused(problems) => {
            session.add(problems);
            return session.refuse();
        }
    };
    let Some(index) = session.index(&args.index.index)? else {
        return session.refuse();
    };
    let drifts = session.engine.verify(&lock, &index)?;
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
        before: None,
        after: None,
    }
}
