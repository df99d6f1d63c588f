//! `agent policy explain`: why a policy allows or denies a call.

use super::CommandAnswer;
use super::session::CommandSession;
use crate::args::PolicyExplain;
use agent_host::input::{Input, TEXT_MAX};
use agent_host::{Failure, call};

pub(super) fn run(
    args: &PolicyExplain,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let index = session.index(&args.index.index)?;
    let tenant = session.optional(args.tenant.as_ref(), |session, input| {
        session.tenant(input, args.tenant_id.as_deref())
    })?;
    let context = session.optional(args.policy_context.as_ref(), CommandSession::context)?;
    let policy = session.policy(&args.policy)?;
    let (Some(index), Some(tenant), Some(context), Some((policy, _))) =
        (index, tenant, context, policy)
    else {
        return session.refuse();
    };
    let mut read = |input: &Option<Input>, otherwise: &str| match input {
        Some(input) => session.read(input, TEXT_MAX),
        None => Ok(otherwise.as_bytes().to_vec()),
    };
    let arguments = read(&args.arguments, "{}")?;
    let history = read(&args.history, "")?;
    let explained = call!(
        session.engine,
        policy.explain_call(
            policy, tenant, index, context, &args.call, &arguments, &history
        )
    )?;
    match explained {
        Ok(explained) => {
            session.show(|_| Ok(explained.text), |_| Ok(explained.json))?;
            Ok(CommandAnswer::yes_if(explained.allowed))
        }
        Err(problems) => session.refuse_for(problems),
    }
}
