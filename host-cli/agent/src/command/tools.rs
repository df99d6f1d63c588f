//! `agent tools`: the tools that the agent sees.

use super::CommandAnswer;
use super::session::CommandSession;
use crate::args::Tools;
use agent_host::contract::diagnostic::Diagnostic;
use agent_host::{Failure, call};

pub(super) fn run(args: &Tools, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let lock = session.lock(&args.lock)?;
    let index = session.index(&args.index.index)?;
    let (Some(lock), Some(index)) = (lock, index) else {
        return session.refuse();
    };
    match call!(session.engine, expansion.expose(lock, index))? {
        Ok(exposed) => {
            if let Some(client) = &args.client {
                let found = limits(client, &exposed.tools_list, session)?;
                session.add(found);
            }
            session.show(|_| Ok(exposed.text), |_| Ok(exposed.tools_list))?;
            Ok(CommandAnswer::Yes)
        }
        Err(problems) => session.refuse_for(problems),
    }
}

/// Returns a warning for each limit of a client that tools exceed.
pub(super) fn limits(
    client: &str,
    tools: &str,
    session: &mut CommandSession,
) -> Result<Vec<Diagnostic>, Failure> {
    let limits = call!(session.engine, clients.limits(client, tools))?;
    limits.map_err(|known| {
        Failure::new(format_args!("the limits of `{client}` are not known"))
            .help(format_args!("name one of {}", known.join(", ")))
    })
}
