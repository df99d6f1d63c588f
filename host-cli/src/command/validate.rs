//! `agent validate`: check the manifest and the index.

use super::Answer;
use super::session::Session;
use crate::args::{INDEX, Validate};
use crate::failure::Failure;
use crate::input::Input;

pub(super) fn run(args: &Validate, mut session: Session) -> Result<Answer, Failure> {
    session.manifest(args.manifest.manifest.as_ref())?;
    match &args.index {
        Some(index) => {
            session.index(index)?;
        }
        None if !Input::from(INDEX).is_missing() => {
            session.index(&Input::from(INDEX))?;
        }
        None => {}
    }
    session.report()?;
    Ok(session.verdict())
}
