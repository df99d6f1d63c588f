//! `agent validate`: check the manifest and the index.

use super::Answer;
use super::session::Session;
use crate::args::{INDEX, Validate};
use crate::failure::Failure;
use crate::input::Input;

pub(super) fn run(args: &Validate, mut session: Session) -> Result<Answer, Failure> {
    session.manifest(args.manifest.manifest.as_ref())?;
    let usual = Some(Input::from(INDEX)).filter(|index| !index.is_missing());
    if let Some(index) = args.index.as_ref().or(usual.as_ref()) {
        session.index(index)?;
    }
    session.report()?;
    session.note_verdict();
    Ok(session.verdict())
}
