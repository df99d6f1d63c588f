//! `agent index import`: merge third-party documents into the index.

use super::CommandAnswer;
use super::session::CommandSession;
use super::session::usual_links;
use crate::args::IndexImport;
use agent_host::Failure;
use agent_host::atomic_write::StagedFile;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::input::{INDEX_MAX, Input};

pub(super) fn run(
    args: &IndexImport,
    session: &mut CommandSession,
) -> Result<CommandAnswer, Failure> {
    let existing = Input::File(args.index.clone());
    let before = if existing.is_missing() {
        None
    } else {
        Some(session.text(DocumentKind::Index, &existing, INDEX_MAX)?)
    };
    let overlay = match &args.overlay {
        None => None,
        Some(input) => Some(session.overlay(input)?),
    };
    let Some(imported) = session.import(&args.documents, overlay.as_ref(), before.as_deref())?
    else {
        return session.refuse();
    };
    session.add(imported.warnings);
    let mut said = Vec::new();
    for (what, servers) in [
        ("added", imported.added),
        ("changed", imported.changed),
        ("unchanged", imported.unchanged),
        ("claimed", imported.claims),
    ] {
        said.extend(servers.into_iter().map(|server| format!("{what} {server}")));
    }
    let text = imported.index.into_bytes();
    let is_new = before.as_deref() != Some(&text);
    let is_dry = args.dry_run || !session.writes();
    if is_new && !is_dry {
        StagedFile::with_links(&args.index, &text, usual_links(&args.index))?.commit()?;
    }
    session.report()?;
    for line in said {
        session.note(line);
    }
    let index = args.index.display();
    session.note(match (is_new, is_dry) {
        (false, _) => format!("{index} is up to date"),
        (true, false) => format!("wrote {index}"),
        (true, true) => format!("would write {index}"),
    });
    Ok(CommandAnswer::Yes)
}
