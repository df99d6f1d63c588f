//! `agent discover`: list the servers by category, or the tools.

use super::CommandAnswer;
use super::session::CommandSession;
use crate::args::Discover;
use agent_host::{Failure, call};

pub(super) fn run(args: &Discover, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let Some(index) = session.index(&args.index.index)? else {
        return session.refuse();
    };
    if args.tools {
        session.show(
            |engine| call!(engine, view.discover_tools(index)),
            |engine| call!(engine, view.discover_tools_json(index)),
        )?;
    } else {
        session.show(
            |engine| call!(engine, view.discover(index)),
            |engine| call!(engine, view.discover_json(index)),
        )?;
    }
    Ok(CommandAnswer::Yes)
}
