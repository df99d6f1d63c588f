//! `agent ground`: find evidence for a summary's claims in a payload.

use super::CommandAnswer;
use super::session::CommandSession;
use crate::args::Ground;
use agent_host::Failure;

pub(super) fn run(args: &Ground, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let Some(grounding) = session.ground(&args.summary, &args.payload)? else {
        return session.refuse();
    };
    session.add(grounding.diagnostics);
    session.show(|_| Ok(grounding.text), |_| Ok(grounding.json))?;
    Ok(CommandAnswer::yes_if(grounding.grounded))
}
