//! `agent verify`: check that the index still matches the lock.

use super::Answer;
use super::session::Session;
use crate::args::Verify;
use agent_host::contract::diagnostic::Code;
use agent_host::contract::explanation::Origin;
use agent_host::contract::lockfile::Drift;
use agent_host::{Failure, call};

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
    let drifts = call!(session.engine, lockfile.lock.call_verify(lock, index))?;
    let old_index = args.before.old_index.as_ref();
    let newer = Origin { lock, index };
    let Some(drifts) = session.detailed(drifts, old_index, lock, newer)? else {
        return session.refuse();
    };
    if drifts.is_empty() {
        session.note(format_args!("{} matches {}", args.index.index, args.lock));
    }
    session.show_drifts(&drifts)
}

/// Returns the drift of a lock that does not exist.
fn missing() -> Drift {
    Drift {
        code: Code::LockMissing,
        widening: false,
        category: None,
        capability: None,
        tool: None,
        before: None,
        after: None,
        details: Vec::new(),
        places: Vec::new(),
    }
}
