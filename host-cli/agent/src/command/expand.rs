//! `agent expand`: print the definitions behind a stub.

use super::CommandAnswer;
use super::session::CommandSession;
use crate::args::{Expand, Format};
use agent_host::contract::expansion::Refusal;
use agent_host::{Failure, call};

pub(super) fn run(args: &Expand, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let lock = session.lock(&args.lock)?;
    let index = session.index(&args.index.index)?;
    let context = session.evaluation_context(args.context.task.as_ref(), &args.context.others)?;
    let (Some(lock), Some(index), Some(context)) = (lock, index, context) else {
        return session.refuse();
    };
    let answer = if args.tools.is_empty() {
        call!(
            session.engine,
            expansion.services(lock, index, &args.server)
        )?
    } else {
        let used = match args.used {
            Some(used) => used,
            None => match call!(session.engine, expansion.expose(lock, index))? {
                Ok(exposed) => exposed.tokens,
                Err(problems) => return session.refuse_for(problems),
            },
        };
        let (server, tools) = (&args.server, &args.tools);
        call!(
            session.engine,
            expansion.expand(lock, index, context, server, tools, used, args.budget)
        )?
    };
    match answer {
        Ok(answer) => {
            session.show(|_| Ok(answer.text), |_| Ok(answer.json))?;
            Ok(CommandAnswer::Yes)
        }
        Err(refusal) => refuse(args, session, refusal),
    }
}

/// Answers no. With `--format json`, programs get the ids, reasons and numbers.
fn refuse(
    args: &Expand,
    session: &mut CommandSession,
    refusal: Refusal,
) -> Result<CommandAnswer, Failure> {
    session.add(refusal.diagnostics);
    if args.report.output.format == Format::Json {
        session.show(|_| Ok(Vec::new()), |_| Ok(refusal.json))?;
        return Ok(CommandAnswer::No);
    }
    session.refuse()
}
