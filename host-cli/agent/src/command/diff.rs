//! `agent diff`: the differences between two locks, or between a lock and one resolved now.

use super::session::{CommandSession, NewLock};
use super::{CommandAnswer, share};
use crate::args::{Diff, LOCK};
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::explanation::Origin;
use agent_host::input::Input;
use agent_host::{Failure, call};

pub(super) fn run(args: &Diff, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let page = share::review_page(args)?;
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
    // The text of the newer lock takes its place.
    let before = session.findings.text(DocumentKind::Lock).map(Vec::from);
    let newer = match &args.new {
        Some(new) => session.lock(new)?.map(|lock| (lock, None)),
        None => resolved_now(args, session)?.map(|newer| (newer.lock, Some(newer))),
    };
    let Some((lock, newer)) = newer else {
        return session.refuse();
    };
    let mut drifts = call!(session.engine, lockfile.compare(older, lock))?;
    if let (Some(older), Some(newer)) = (older, newer) {
        let old_index = args.before.old_index.as_ref();
        let lock = args.old.clone().unwrap_or_else(|| Input::from(LOCK));
        let definitions = session.definitions(&lock)?;
        let Some(detailed) = session.detailed(drifts, old_index, (older, definitions), newer)?
        else {
            return session.refuse();
        };
        drifts = detailed;
    }
    let answer = session.show_differences(&args.output, &drifts)?;
    if let (Some(page), Some(before)) = (page, before) {
        share::print_review(page, before, args, session)?;
    }
    Ok(answer)
}

/// Returns the lock that `agent resolve` would write, with its index, or `None` if it would write
/// none. The findings say why.
fn resolved_now(args: &Diff, session: &mut CommandSession) -> Result<Option<Origin>, Failure> {
    let manifest = args.manifest.as_ref();
    let resolved = session.resolution(manifest, &args.index.index, &args.context)?;
    let Some((resolution, index)) = resolved else {
        return Ok(None);
    };
    let new = session.new_lock(resolution)?;
    Ok(new.map(|NewLock { lock, .. }| Origin { lock, index }))
}
