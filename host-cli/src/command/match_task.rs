//! `agent match`: decide which tools a task gets.

use super::Answer;
use super::session::Session;
use crate::args::{Format, Match};
use crate::failure::Failure;

pub(super) fn run(args: &Match, mut session: Session) -> Result<Answer, Failure> {
    let manifest = match &args.manifest {
        None => Some(None),
        Some(input) => session.manifest(Some(input))?.map(Some),
    };
    let index = session.index(&args.index.index)?;
    let circumstances = session.circumstances(Some(&args.task), &args.circumstances)?;
    let (Some(manifest), Some(index), Some(circumstances)) = (manifest, index, circumstances)
    else {
        return session.refuse();
    };
    let Some(matching) = session.matching(manifest.as_ref(), &index, &circumstances)? else {
        return session.refuse();
    };
    let unmatched = session.engine.unmatched(&matching)?;
    session.add(unmatched);
    // What programs get is the file that `resolve --explain` writes of an agent.
    let explanation = match args.output.format {
        Format::Json => match session.engine.matching_explanation(&matching)? {
            Ok(text) => text,
            Err(too_large) => {
                session.add([too_large]);
                session.report()?;
                return Ok(Answer::None);
            }
        },
        Format::Text | Format::Sarif | Format::Github => String::new(),
    };
    session.show(
        |engine| engine.match_summary(&matching),
        |_| Ok(explanation),
    )?;
    let satisfied = session.engine.matching_satisfied(&matching)?;
    Ok(Answer::yes_if(satisfied))
}
