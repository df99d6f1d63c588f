//! `agent tools`: the tools that the agent sees.

use super::Answer;
use super::session::Session;
use crate::args::Tools;
use agent_host::{Failure, call};

pub(super) fn run(args: &Tools, session: &mut Session) -> Result<Answer, Failure> {
    let lock = session.lock(&args.lock)?;
    let index = session.index(&args.index.index)?;
    let (Some(lock), Some(index)) = (lock, index) else {
        return session.refuse();
    };
    match call!(session.engine, expansion.call_expose(lock, index))? {
        Ok(exposed) => {
            session.show(|_| Ok(exposed.text), |_| Ok(exposed.tools_list))?;
            Ok(Answer::Yes)
        }
        Err(problems) => session.refuse_for(problems),
    }
}
