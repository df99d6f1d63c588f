//! `agent evidence open`: prints the folder of a run.

use crate::args::OpenEvidence;
use crate::command::CommandAnswer;
use agent_host::{Failure, output};

pub(super) fn run(args: &OpenEvidence) -> Result<CommandAnswer, Failure> {
    let folder = match (&args.evidence, &args.request_id) {
        (Some(folder), _) => agent_evidence::resolve(folder)?,
        (None, Some(request)) => {
            agent_evidence::find(&args.artifacts, request, args.run_id.as_deref())?
        }
        (None, None) => return Err(Failure::internal("the command line names no evidence")),
    };
    output::print_text(&format!("{}\n", folder.display()))?;
    Ok(CommandAnswer::Yes)
}
