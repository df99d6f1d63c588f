//! `agent match`: select tools for the capabilities that a task requires.

use super::CommandAnswer;
use super::session::CommandSession;
use crate::args::{Format, Match};
use agent_host::{Failure, call};

pub(super) fn run(args: &Match, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let manifest = session.optional(args.manifest.as_ref(), |session, input| {
        session.manifest(Some(input))
    })?;
    let index = session.index(&args.index.index)?;
    let context = session.evaluation_context(Some(&args.task), &args.evaluation_context)?;
    let (Some(manifest), Some(index), Some(context)) = (manifest, index, context) else {
        return session.refuse();
    };
    let Some(it) = session.matching(manifest, index, context)? else {
        return session.refuse();
    };
    let unmatched = call!(session.engine, capability.matching.diagnostics(it))?;
    session.add(unmatched);
    // Programs get the form that `resolve --explain` writes for an agent.
    let explanation = match args.report.output.format {
        Format::Json => match call!(session.engine, capability.matching.explanation(it))? {
            Ok(text) => text,
            Err(too_large) => {
                session.add([too_large]);
                session.report()?;
                return Ok(CommandAnswer::None);
            }
        },
        Format::Text | Format::Sarif | Format::Github => String::new(),
    };
    session.show(
        |engine| call!(engine, view.match_summary(it)),
        |_| Ok(explanation),
    )?;
    let satisfied = call!(session.engine, capability.matching.satisfied(it))?;
    Ok(CommandAnswer::yes_if(satisfied))
}
