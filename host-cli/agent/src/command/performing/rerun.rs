//! `agent rerun`: carries out the plan of an earlier run again.

use super::running::{Running, shared_documents};
use crate::args::Rerun;
use crate::command::CommandAnswer;
use crate::command::session::CommandSession;
use crate::command::session::documents::text;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::run::Documents;
use agent_host::input::Input;
use agent_host::{Failure, call};
use std::path::PathBuf;

pub(super) fn run(args: &Rerun, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let folder = folder(args)?;
    let core = session.core(&args.run.mova)?;
    let evidence = session.run_folder(&folder)?;
    let problems = call!(session.engine, evidence.run_folder.verify(evidence, core))?;
    let is_unverified = !problems.is_empty();
    session.add(problems);
    if is_unverified && !args.unverified {
        session.report()?;
        session.note(format_args!(
            "{} does not verify: nothing was carried out; `--unverified` goes on, and the new evidence says so",
            folder.display()
        ));
        return Ok(CommandAnswer::No);
    }
    let mut stored = |kind, name| {
        let input = Input::File(folder.join(name));
        text(session, kind, Some(&input))
    };
    let plan = stored(DocumentKind::Plan, "plan.envelope.json")?;
    let request = stored(DocumentKind::Request, "request.envelope.json")?;
    let tool_pool = stored(DocumentKind::ToolPool, "tool_pool.json")?;
    let instruction_profile = stored(DocumentKind::Profile, "instruction_profile.json")?;
    let documents = Documents {
        plan,
        // A run without a request has `{"absent": true}` in its place.
        request: request.filter(|it| !is_absent(it)),
        tool_pool,
        instruction_profile,
        ..shared_documents(&args.run, session)?
    };
    let running = Running {
        is_unverified,
        ..Running::of_plan(&args.run)
    };
    let finished = running.carry_out(&documents, session)?;
    running.show(finished, |it| it.summary.clone(), session)
}

/// Returns whether evidence says that there was no document.
fn is_absent(document: &[u8]) -> bool {
    let text: Vec<_> = document
        .iter()
        .filter(|it| !it.is_ascii_whitespace())
        .collect();
    text.into_iter().eq(br#"{"absent":true}"#)
}

/// Returns the folder of the run.
fn folder(args: &Rerun) -> Result<PathBuf, Failure> {
    match (&args.evidence, &args.request_id) {
        (Some(folder), _) => agent_evidence::resolve(folder),
        (None, Some(request)) => {
            agent_evidence::find(&args.run.artifacts, request, args.run_id.as_deref())
        }
        (None, None) => Err(Failure::internal("the command line names no evidence")),
    }
}
