//! `agent plan check`: may a plan be carried out?

use super::Answer;
use super::session::Session;
use crate::args::{INDEX, LOCK, PlanCheck};
use crate::engine::{CallVerdict, Lock, PlanVerdict, ToolCatalogue};
use crate::failure::Failure;
use crate::input::Input;

pub(super) fn run(args: &PlanCheck, session: Session) -> Result<Answer, Failure> {
    match (&args.tool_pool, &args.profile) {
        (Some(tool_pool), Some(profile)) => steps(args, tool_pool, profile, session),
        _ => call(args, session),
    }
}

/// A sequential plan.
fn steps(
    args: &PlanCheck,
    tool_pool: &Input,
    profile: &Input,
    mut session: Session,
) -> Result<Answer, Failure> {
    let core = session.core(&args.mova)?;
    let rules = session.plan_rules(tool_pool, profile, core.as_ref())?;
    let index = if is_absent(&args.index.index, INDEX) {
        Some(None)
    } else {
        session.index(&args.index.index)?.map(Some)
    };
    let lock = lock(args, &mut session)?;
    let catalogue = catalogue(args, &mut session)?;
    let (Some(index), Some(lock), Some(catalogue)) = (index, lock, catalogue) else {
        return session.refuse();
    };
    let answer = session.authorize_plan(
        (&args.plan, args.request.as_ref()),
        &rules,
        index.as_ref(),
        lock.as_ref(),
        catalogue.as_ref(),
    )?;
    let allowed = match answer.verdict {
        PlanVerdict::Allowed(_) => true,
        PlanVerdict::Denied(findings) => {
            session.add(findings.into_iter().map(|finding| finding.diagnostic));
            false
        }
    };
    session.show(|_| Ok(answer.text), |_| Ok(answer.report))?;
    Ok(Answer::yes_if(allowed))
}

/// The lock, if there is one.
fn lock(args: &PlanCheck, session: &mut Session) -> Result<Option<Option<Lock>>, Failure> {
    if is_absent(&args.lock, LOCK) {
        return Ok(Some(None));
    }
    Ok(session.lock(&args.lock)?.map(Some))
}

/// The tools that servers have at the moment, if they are given.
fn catalogue(
    args: &PlanCheck,
    session: &mut Session,
) -> Result<Option<Option<ToolCatalogue>>, Failure> {
    match &args.catalog {
        None => Ok(Some(None)),
        Some(input) => Ok(session.tool_catalogue(input)?.map(Some)),
    }
}

/// Whether there is no file that would be read because none was named: that is an answer, and not
/// an error, as it is of a file that was named.
fn is_absent(input: &Input, usual: &str) -> bool {
    input.to_string() == usual && input.is_missing()
}

/// A one-call plan.
fn call(args: &PlanCheck, mut session: Session) -> Result<Answer, Failure> {
    let plan = session.call_plan(&args.plan)?;
    let index = session.index(&args.index.index)?;
    let lock = lock(args, &mut session)?;
    let catalogue = catalogue(args, &mut session)?;
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
