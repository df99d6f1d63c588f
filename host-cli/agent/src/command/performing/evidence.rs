//! `agent evidence`: verifies the evidence of a run, or exports it.

use crate::args::{EvidenceExport, RunFolder};
use crate::command::CommandAnswer;
use crate::command::session::CommandSession;
use agent_evidence::SigningKey;
use agent_host::atomic_write::StagedFile;
use agent_host::{Failure, call, output};

pub(super) fn verify(
    args: &RunFolder,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let core = session.core(&args.mova)?;
    let folder = session.run_folder(&args.folder)?;
    let problems = call!(session.engine, evidence.run_folder.verify(folder, core))?;
    let verifies = problems.is_empty();
    session.add(problems);
    session.report()?;
    if verifies {
        session.note(format_args!("{} verifies", args.folder.display()));
    }
    Ok(CommandAnswer::yes_if(verifies))
}

pub(super) fn export(
    args: &EvidenceExport,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let key = args.key.as_deref().map(SigningKey::read).transpose()?;
    let core = session.core(&args.mova)?;
    let folder = session.run_folder(&args.folder)?;
    let stated = call!(session.engine, evidence.run_folder.state(folder, core))?;
    let statement = match stated {
        Ok(statement) => statement,
        Err(problems) => {
            session.add(problems);
            session.report()?;
            return Ok(CommandAnswer::No);
        }
    };
    let exported = match key {
        None => statement.json,
        Some(key) => {
            let signature = key.sign(&statement.to_sign);
            let (json, id) = (&statement.json, key.id());
            call!(session.engine, evidence.envelope(json, &id, &signature))?
        }
    };
    match &args.out {
        None => output::print_data(&exported)?,
        Some(path) => StagedFile::new(path, exported.as_bytes())?.commit()?,
    }
    Ok(CommandAnswer::Yes)
}
