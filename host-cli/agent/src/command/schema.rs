//! `agent schema`: the JSON Schemas of the project.

use super::session::CommandSession;
use super::{CommandAnswer, suggest};
use crate::args::{SchemaCheck, SchemaShow};
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::view::{Style, StyledSpan};
use agent_host::input::TEXT_MAX;
use agent_host::{Failure, call};

pub(super) fn list(session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let listing = call!(session.engine, schemas.list_all())?;
    session.show(|_| Ok(listing.text), |_| Ok(listing.json))?;
    Ok(CommandAnswer::Yes)
}

pub(super) fn show(
    args: &SchemaShow,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let Some(text) = call!(session.engine, schemas.show(&args.name))? else {
        return Err(unknown(&args.name, session)?);
    };
    let part = StyledSpan {
        style: Style::Plain,
        text: text.clone(),
    };
    session.show(|_| Ok(vec![part]), |_| Ok(text))?;
    Ok(CommandAnswer::Yes)
}

pub(super) fn check(
    args: &SchemaCheck,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let core = session.core(&args.mova)?;
    let text = session.text(DocumentKind::Document, &args.document, TEXT_MAX)?;
    let problems = call!(session.engine, schemas.check(&args.name, &text, core))?;
    let Some(problems) = problems else {
        return Err(unknown(&args.name, session)?);
    };
    let valid = problems.is_empty();
    session.add(problems);
    session.report()?;
    if valid {
        session.note(format_args!("{} fits {}", args.document, args.name));
    }
    Ok(CommandAnswer::yes_if(valid))
}

fn unknown(name: &str, session: &mut CommandSession) -> Result<Failure, Failure> {
    let failure = Failure::new(format_args!("there is no schema `{name}`"));
    let nearest = call!(session.engine, schemas.nearest(name))?;
    let list_all = "list all schemas with `agent schema list`";
    Ok(suggest(failure, &nearest, list_all))
}
