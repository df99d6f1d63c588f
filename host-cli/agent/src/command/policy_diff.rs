//! `agent policy diff`: what another policy would allow and deny.

use super::CommandAnswer;
use super::session::CommandSession;
use crate::args::PolicyDiff;
use agent_host::contract::capability::Tenant;
use agent_host::contract::policy::{Policy, PolicyDifference};
use agent_host::input::Input;
use agent_host::{Failure, call};

pub(super) fn run(
    args: &PolicyDiff,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let Some(index) = session.index(&args.index.index)? else {
        return session.refuse();
    };
    let context = session.optional(args.policy_context.as_ref(), CommandSession::context)?;
    let old_tenant = args.old_tenant.as_ref().or(args.tenant.as_ref());
    // Problems of one side are drawn in its own text.
    let Some(before) = side(args, (&args.old, old_tenant), session)? else {
        return session.refuse();
    };
    let after = side(args, (&args.new, args.tenant.as_ref()), session)?;
    let (Some(context), Some(after)) = (context, after) else {
        return session.refuse();
    };
    let ((before, before_tenant), (after, after_tenant)) = (before, after);
    let found = call!(
        session.engine,
        policy.difference(before, before_tenant, after, after_tenant, index, context)
    )?;
    session.note(asked(&found));
    let answer = session.show_differences(&args.output, &found.drifts)?;
    // What was not asked may be newly allowed.
    let is_whole = found.left_out == 0;
    Ok(CommandAnswer::yes_if(
        is_whole && answer == CommandAnswer::Yes,
    ))
}

/// Reads a policy with its tenant.
fn side(
    args: &PolicyDiff,
    (policy, tenant): (&Input, Option<&Input>),
    session: &mut CommandSession,
) -> Result<Option<(Policy, Option<Tenant>)>, Failure> {
    let tenant = session.optional(tenant, |session, input| {
        session.tenant(input, args.tenant_id.as_deref())
    })?;
    let policy = session.policy(policy)?;
    let side = policy.zip(tenant);
    Ok(side.map(|((policy, _), tenant)| (policy, tenant)))
}

/// Returns how much was asked, and which part of it is a sample.
fn asked(found: &PolicyDifference) -> String {
    let mut text = format!("asked both policies {} questions", found.asked);
    if found.left_out > 0 {
        text += &format!(", and left out {}", found.left_out);
    }
    let sampled: Vec<_> = found.sampled.iter().map(|it| format!("`{it}`")).collect();
    match &sampled[..] {
        [] => text,
        [one] => format!("{text}; of {one} a sample"),
        several => format!("{text}; of {} samples", several.join(", ")),
    }
}
