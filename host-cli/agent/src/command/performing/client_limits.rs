//! The limits of a client, where its tools come from a lock.

use crate::command::session::CommandSession;
use crate::command::tools::limits;
use agent_host::input::Input;
use agent_host::{Failure, call};

/// Prints a warning for each limit of a client that the tools of a lock exceed. A lock that exposes no tools exceeds
/// none.
pub(super) fn warn_of_limits(
    client: &str,
    lock: &Input,
    index: &Input,
    session: &mut CommandSession,
) -> Result<(), Failure> {
    let (Some(lock), Some(index)) = (session.lock(lock)?, session.index(index)?) else {
        return Ok(());
    };
    if let Ok(exposed) = call!(session.engine, expansion.expose(lock, index))? {
        let found = limits(client, &exposed.tools_list, session)?;
        session.warn(found)?;
    }
    Ok(())
}
