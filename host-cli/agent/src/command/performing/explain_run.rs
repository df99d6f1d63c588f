//! `agent evidence explain`: explains a run from its evidence.

use crate::args::{MovaOption, RunFolder};
use crate::command::CommandAnswer;
use crate::command::session::CommandSession;
use agent_host::contract::view::{Style, StyledSpan};
use agent_host::{Failure, call};
use std::path::Path;

pub(super) fn run(
    args: &RunFolder,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    explain(&args.folder, &args.mova, session).map(CommandAnswer::yes_if)
}

/// Prints the explanation of a run. Returns whether its evidence verifies.
///
/// # Errors
///
/// When the folder can't be read.
pub(super) fn explain(
    folder: &Path,
    mova: &MovaOption,
    session: &mut CommandSession,
) -> Result<bool, Failure> {
    let core = session.core(mova)?;
    let folder = session.run_folder(folder)?;
    let explanation = call!(session.engine, evidence.run_folder.explain(folder, core))?;
    let verifies = explanation.problems.is_empty();
    session.add(explanation.problems);
    let text = StyledSpan {
        style: Style::Plain,
        text: explanation.markdown,
    };
    session.show(|_| Ok(vec![text]), |_| Ok(explanation.bundle))?;
    Ok(verifies)
}
