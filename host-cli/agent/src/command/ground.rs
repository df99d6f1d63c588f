//! `agent ground`: find evidence for a summary's claims in a payload.

use super::Answer;
use super::session::Session;
use crate::args::Ground;
use agent_host::Failure;

pub(super) fn run(args: &Ground, session: &mut Session) -> Result<Answer, Failure> {
    let Some(grounding) = session.ground(&args.summary, &args.payload)? else {
        return session.refuse();
    };
    session.add(grounding.diagnostics);
    session.show(|_| Ok(grounding.text), |_| Ok(grounding.json))?;
    Ok(Answer::yes_if(grounding.grounded))
}
