//! `agent plan check`: whether a plan may run.

use super::CommandAnswer;
use super::session::CommandSession;
use crate::args::{INDEX, LOCK, PlanCheck};
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::lockfile::Lock;
use agent_host::contract::plan::{CallVerdict, PlanVerdict};
use agent_host::input::{Input, TEXT_MAX};
use agent_host::session_files::present;
use agent_host::{Failure, call};

pub(super) fn run(
    args: &PlanCheck,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    match (&args.tool_pool, &args.profile) {
        (Some(tool_pool), Some(profile)) => steps(args, tool_pool, profile, session),
        _ => call(args, session),
    }
}

/// Checks a sequential plan.
fn steps(
    args: &PlanCheck,
    tool_pool: &Input,
    profile: &Input,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let core = session.core(&args.mova)?;
    let tool_pool = session.text(DocumentKind::ToolPool, tool_pool, TEXT_MAX)?;
    let profile = session.text(DocumentKind::Profile, profile, TEXT_MAX)?;
    // The problems of both are reported with the plan.
    let rules = call!(
        session.engine,
        plan.plan_policy.parse(&tool_pool, &profile, core)
    )?;
    let index = present(&args.index.index, INDEX);
    let index = session.optional(index, CommandSession::index)?;
    let lock = lock(args, session)?;
    let catalogue = session.optional(args.catalog.as_ref(), CommandSession::tools_snapshot)?;
    let context = session.governed(None, &args.policy, None)?;
    let (Some(index), Some(lock), Some(catalogue), Some(context)) =
        (index, lock, catalogue, context)
    else {
        return session.refuse();
    };
    let plan = session.text(DocumentKind::Plan, &args.plan, TEXT_MAX)?;
    let request = args.request.as_ref();
    let request = request.map(|it| session.text(DocumentKind::Request, it, TEXT_MAX));
    let request = request.transpose()?;
    let answer = call!(
        session.engine,
        plan.authorize_plan(
            &plan,
            rules,
            request.as_deref(),
            index,
            lock,
            catalogue,
            Some(context)
        )
    )?;
    session.add(answer.warnings);
    let allowed = match answer.verdict {
        PlanVerdict::Allowed(_) => true,
        PlanVerdict::Denied(found) => {
            session.add(found);
            session.relate()?;
            false
        }
    };
    session.show(|_| Ok(answer.text), |_| Ok(answer.report))?;
    Ok(CommandAnswer::yes_if(allowed))
}

/// Reads the lock, if it exists.
fn lock(args: &PlanCheck, session: &mut CommandSession) -> Result<Option<Option<Lock>>, Failure> {
    session.optional(present(&args.lock, LOCK), CommandSession::lock)
}

/// Checks a one-call plan.
fn call(args: &PlanCheck, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let plan = session.call_plan(&args.plan)?;
    let index = session.index(&args.index.index)?;
    let lock = lock(args, session)?;
    let catalogue = session.optional(args.catalog.as_ref(), CommandSession::tools_snapshot)?;
    let context = session.governed(None, &args.policy, None)?;
    let (Some(plan), Some(index), Some(lock), Some(catalogue), Some(context)) =
        (plan, index, lock, catalogue, context)
    else {
        return session.refuse();
    };
    let answer = call!(
        session.engine,
        plan.authorize_call(plan, index, lock, catalogue, Some(context))
    )?;
    match answer.verdict {
        CallVerdict::Denied(reasons) => session.refuse_for(reasons),
        CallVerdict::Allowed(_) | CallVerdict::NeedsMoreInfo(_) => {
            session.show(|_| Ok(answer.text), |_| Ok(answer.json))?;
            Ok(CommandAnswer::Yes)
        }
    }
}
