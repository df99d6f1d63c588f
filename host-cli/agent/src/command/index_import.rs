//! `agent index import`: merge third-party documents into the index.

use super::Answer;
use super::session::Session;
use crate::args::IndexImport;
use agent_host::Failure;
use agent_host::atomic_write::StagedFile;
use agent_host::contract::diagnostic::{Code, DocumentKind};
use agent_host::input::{INDEX_MAX, Input};

pub(super) fn run(args: &IndexImport, session: &mut Session) -> Result<Answer, Failure> {
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
    let mut index = before.clone();
    let mut said = Vec::new();
    for (document, left) in args.documents.iter().zip((0..args.documents.len()).rev()) {
        let Some(mut imported) = session.import(document, overlay.as_ref(), index.as_deref())?
        else {
            return session.refuse();
        };
        // An overlay entry may belong to a later document. Only the last import knows which entries
        // are unused.
        imported
            .warnings
            .retain(|warning| left == 0 || warning.code != Code::ImportUnused);
        session.add(imported.warnings);
        for (what, servers) in [
            ("added", imported.added),
            ("changed", imported.changed),
            ("unchanged", imported.unchanged),
        ] {
            said.extend(servers.into_iter().map(|server| format!("{what} {server}")));
        }
        index = Some(imported.index.into_bytes());
    }
    let text = index.unwrap_or_default();
    let is_new = before.as_deref() != Some(&text);
    let is_dry = args.dry_run || !session.writes();
    if is_new && !is_dry {
        StagedFile::new(&args.index, &text)?.commit()?;
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
    Ok(Answer::Yes)
}
