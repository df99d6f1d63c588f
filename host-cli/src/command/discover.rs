//! `agent discover`: list the servers by category.

use super::Answer;
use super::session::Session;
use crate::args::Discover;
use crate::failure::Failure;

pub(super) fn run(args: &Discover, mut session: Session) -> Result<Answer, Failure> {
    let Some(index) = session.index(&args.index.index)? else {
        return session.refuse();
    };
    session.show(
        |engine| engine.discover(&index),
        |engine| engine.discover_json(&index),
    )?;
    Ok(Answer::Yes)
}
