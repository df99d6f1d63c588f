//! `agent plan check`: may a plan be carried out?

use super::Answer;
use super::session::Session;
use crate::args::PlanCheck;
use crate::engine::CallVerdict;
use crate::failure::Failure;

pub(super) fn run(args: &PlanCheck, mut session: Session) -> Result<Answer, Failure> {
    let plan = session.call_plan(&args.plan)?;
    let index = session.index(&args.index.index)?;
    // That there is no lock is one of the answers.
    let lock = if args.lock.is_missing() {
        Some(None)
    } else {
        session.lock(&args.lock)?.map(Some)
    };
    let catalogue = match &args.catalog {
        None => Some(None),
        Some(input) => session.tool_catalogue(input)?.map(Some),
    };
    let (Some(plan), Some(index), Some(lock), Some(catalogue)) = (plan, index, lock, catalogue)
    else {
        return session.refuse();
    };
    let answer = session
        .engine
        .authorize_call(&plan, &index, lock.as_ref(), catalogue.as_ref())?;
    match answer.verdict {
        CallVerdict::Denied(reasons) => session.refuse_for(reasons),
        CallVerdict::Allowed(_) | CallVerdict::NeedsMoreInfo(_) => {
            session.show(|_| Ok(answer.text), |_| Ok(answer.json))?;
            Ok(Answer::Yes)
        }
    }
}
