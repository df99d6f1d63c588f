//! `agent why`: the explanation of a server, a tool, a category or a capability.

use super::CommandAnswer;
use super::session::CommandSession;
use crate::args::Why;
use agent_host::contract::resolver::Resolution;
use agent_host::{Failure, Instance, call};

pub(super) fn run(args: &Why, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let subject = args.subject.as_str();
    let manifest = args.manifest.manifest.as_ref();
    let resolved = session.resolution(manifest, &args.index.index, &args.context)?;
    let Some((it, _)) = resolved else {
        return session.refuse();
    };
    let files = session.findings.files();
    session.show(
        |engine| {
            call!(engine, view.why(it, subject, &files))?
                .map_or_else(|| Err(unknown(engine, it, subject)?), Ok)
        },
        |engine| {
            call!(engine, view.why_json(it, subject))?
                .map_or_else(|| Err(unknown(engine, it, subject)?), Ok)
        },
    )?;
    Ok(CommandAnswer::Yes)
}

fn unknown(
    engine: &mut Instance,
    resolution: Resolution,
    subject: &str,
) -> Result<Failure, Failure> {
    let failure = Failure::new(format_args!(
        "there is no server, tool, category or capability `{subject}`"
    ));
    let alike = call!(engine, view.did_you_mean(resolution, subject))?;
    let list_all = "list all servers with `agent discover`";
    Ok(super::suggest(failure, &alike, list_all))
}
