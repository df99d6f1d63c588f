//! `agent check-handler`: whether a component can be admitted as a handler.

use crate::args::{CheckHandler, DataFormat, HandlerKind};
use crate::command::CommandAnswer;
use agent_effects::handler::Handlers;
use agent_host::contract::run::DriverKind;
use agent_host::{Failure, output};
use agent_syntax::json::Writer;
use clap::ValueEnum;
use std::path;

pub(super) fn run(args: &CheckHandler) -> Result<CommandAnswer, Failure> {
    let path = path::absolute(&args.file).map_err(Failure::new)?;
    let name = name(args.kind);
    let kind =
        DriverKind::named(&name).ok_or_else(|| Failure::internal("a kind without a driver"))?;
    let checked = Handlers::new(&[])?.check(kind, &path)?;
    let digest = match checked {
        Ok(digest) => digest,
        Err(refused) => {
            output::note(&refused);
            return Ok(CommandAnswer::No);
        }
    };
    let path = path.display().to_string();
    match args.format {
        DataFormat::Text => output::print_text(&format!(
            "{name}  {digest}\n\nto admit it, add to `servers.local.yaml`:\n\nhandlers:\n  - \
             {{ digest: {digest}, kind: {name}, path: {path:?} }}\n"
        ))?,
        DataFormat::Json => {
            let mut w = Writer::pretty();
            w.object(|w| {
                w.key("digest").string(&digest);
                w.key("kind").string(&name);
                w.key("path").string(&path);
            });
            output::print_data(&w.finish())?;
        }
    }
    Ok(CommandAnswer::Yes)
}

/// Returns the name of a kind, as bindings and this option spell it.
fn name(kind: HandlerKind) -> String {
    let value = kind.to_possible_value();
    value.map_or_else(String::new, |it| it.get_name().to_owned())
}
