//! `agent diff`: what differs between two locks, or between a lock and what would be resolved now.

use super::Answer;
use super::session::Session;
use crate::args::{Diff, LOCK};
use crate::engine::Lock;
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
        Some(new) => session.lock(new)?,
        None => resolved_now(args, &mut session)?,
    };
    let Some(newer) = newer else {
        return session.refuse();
    };
    let drifts = session.engine.compare(older.as_ref(), &newer)?;
    if drifts.is_empty() {
        session.note("no differences");
    }
    session.show_drifts(&drifts)
}

/// The lock that `agent resolve` would write. None if it would write none; the findings say why.
fn resolved_now(args: &Diff, session: &mut Session) -> Result<Option<Lock>, Failure> {
    let Some(resolution) = session.resolution(
        args.manifest.as_ref(),
        &args.index.index,
        &args.task,
        &args.circumstances,
    )?
    else {
        return Ok(None);
    };
    Ok(session.new_lock(&resolution)?.map(|new| new.lock))
}
