//! `agent why`: the whole story of a server or of a category.

use super::Answer;
use super::session::Session;
use crate::args::Why;
use crate::engine::{Instance, Resolution};
use crate::failure::Failure;

pub(super) fn run(args: &Why, mut session: Session) -> Result<Answer, Failure> {
    let subject = args.subject.as_str();
    let manifest = args.manifest.manifest.as_ref();
    let Some((resolution, _)) =
        session.resolution(manifest, &args.index.index, &args.task, &args.circumstances)?
    else {
        return session.refuse();
    };
    let files = session.findings().files();
    session.show(
        |engine| match engine.why(&resolution, subject, &files)? {
            Some(story) => Ok(story),
            None => Err(unknown(engine, &resolution, subject)?),
        },
        |engine| match engine.why_json(&resolution, subject)? {
            Some(story) => Ok(story),
            None => Err(unknown(engine, &resolution, subject)?),
        },
    )?;
    Ok(Answer::Yes)
}

fn unknown(
    engine: &mut Instance,
    resolution: &Resolution,
    subject: &str,
) -> Result<Failure, Failure> {
    let failure = Failure::new(format_args!(
        "there is no server, tool, category or capability `{subject}`"
    ));
    let alike = engine.did_you_mean(resolution, subject)?;
    Ok(match alike.as_slice() {
        [] => failure.help("`agent discover` lists them all"),
        alike => failure.help(super::did_you_mean(alike)),
    })
}
