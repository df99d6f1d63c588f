//! `agent explain-run`: explains a run from its evidence.

use super::Answer;
use super::session::Session;
use crate::args::ExplainRun;
use agent_host::contract::view::{Style, StyledSpan};
use agent_host::{Failure, call};

pub(super) fn run(args: &ExplainRun, session: &mut Session) -> Result<Answer, Failure> {
    let core = session.core(&args.mova)?;
    let folder = session.run_folder(&args.folder)?;
    let explanation = call!(
        session.engine,
        evidence.run_folder.call_explain(folder, core)
    )?;
    let verifies = explanation.problems.is_empty();
    session.add(explanation.problems);
    let text = StyledSpan {
        style: Style::Plain,
        text: explanation.markdown,
    };
    session.show(|_| Ok(vec![text]), |_| Ok(explanation.bundle))?;
    Ok(Answer::yes_if(verifies))
}
