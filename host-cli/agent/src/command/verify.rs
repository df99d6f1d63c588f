//! `agent verify`: check that the index still matches the lock.

use super::CommandAnswer;
use super::session::{CommandSession, how_to_lock};
use crate::args::Verify;
use agent_host::contract::diagnostic::Code;
use agent_host::contract::explanation::Origin;
use agent_host::contract::lockfile::Drift;
use agent_host::input::Input;
use agent_host::{Failure, call};

pub(super) fn run(args: &Verify, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let lock = match session.existing_lock(&args.lock)? {
        None => {
            let answer = session.show_drifts(&[missing()])?;
            session.note(format_args!("help: {}", how_to_lock()));
            return Ok(answer);
        }
        Some(existing) => match existing.lock {
            Ok(lock) => lock,
            Err(problems) => return session.refuse_for(problems),
        },
    };
    let Some(index) = session.index(&args.index.index)? else {
        return session.refuse();
    };
    let policy = session.optional(args.policy.as_ref(), CommandSession::policy)?;
    let Some(policy) = policy else {
        return session.refuse();
    };
    let policy =
        policy.map(|(policy, _)| call!(session.engine, policy.policy.digest_for(policy, lock)));
    let policy = policy.transpose()?;
    let mut drifts = call!(
        session.engine,
        lockfile.lock.verify(lock, index, policy.as_deref())
    )?;
    let definitions = session.definitions(&args.lock)?;
    if args.lock != Input::Stdin {
        let definitions = definitions.as_deref();
        drifts.extend(call!(
            session.engine,
            lockfile.lock.verify_definitions(lock, index, definitions)
        )?);
    }
    let old_index = args.before.old_index.as_ref();
    let newer = Origin { lock, index };
    let Some(drifts) = session.detailed(drifts, old_index, (lock, definitions), newer)? else {
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
