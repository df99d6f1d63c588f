//! `agent diff`: what differs between two locks, or between a lock and what would be resolved now.

use super::Answer;
use super::session::Session;
use crate::args::{Diff, LOCK};
use crate::engine::{Index, Lock};
use crate::failure::Failure;
use crate::input::Input;

pub(super) fn run(args: &Diff, mut session: Session) -> Result<Answer, Failure> {
    let older = match &args.old {
        Some(old) => match session.lock(old)? {
            Some(lock) => Some(lock),
            None => return session.refuse(),
        },
        None => match session.existing_lock(&Input::from(LOCK))? {
            None => None,
            Some(existing) => match existing.lock {
                Ok(lock) => Some(lock),
                Err(problems) => return session.refuse_for(problems),
            },
        },
    };
    let newer = match &args.new {
        Some(new) => session.lock(new)?.map(|lock| (lock, None)),
        None => resolved_now(args, &mut session)?,
    };
    let Some((newer, index)) = newer else {
        return session.refuse();
    };
    let mut drifts = session.engine.compare(older.as_ref(), &newer)?;
    if let (Some(older), Some(index)) = (&older, &index) {
        let old_index = args.before.old_index.as_ref();
        let Some(detailed) = session.detailed(drifts, old_index, older, (&newer, index))? else {
            return session.refuse();
        };
        drifts = detailed;
    }
    if drifts.is_empty() {
        session.note("no differences");
    }
    session.show_drifts(&drifts)
}

/// The lock that `agent resolve` would write. None if it would write none; the findings say why.
fn resolved_now(
    args: &Diff,
    session: &mut Session,
) -> Result<Option<(Lock, Option<Index>)>, Failure> {
    let Some((resolution, index)) = session.resolution(
        args.manifest.as_ref(),
        &args.index.index,
        &args.task,
        &args.circumstances,
    )?
    else {
        return Ok(None);
    };
    let new = session.new_lock(&resolution)?;
    Ok(new.map(|new| (new.lock, Some(index))))
}
