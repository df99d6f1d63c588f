//! `agent init`: write a first manifest.

use crate::args::{CLIENT, INDEX, Init};
use crate::command::CommandAnswer;
use crate::command::session::{CommandSession, MANIFESTS};
use agent_host::atomic_write::StagedFile;
use agent_host::contract::diagnostic::DocumentKind;
use agent_host::contract::first_manifest::{Offer, Refusal};
use agent_host::input::{Input, TEXT_MAX};
use agent_host::{Failure, call, diagnostics, output};
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn run(args: &Init, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let path = args.manifest.clone().unwrap_or_else(usual_manifest);
    let manifest = Input::File(path.clone());
    let existing = match manifest.is_missing() {
        true => Vec::new(),
        false => session.text(DocumentKind::Manifest, &manifest, TEXT_MAX)?,
    };
    let (source, is_index) = source(args)?;
    let offer = if is_index {
        match session.index(&source)? {
            Some(index) => Offer::Index(index),
            None => return session.refuse(),
        }
    } else {
        Offer::Client(session.text(DocumentKind::Import, &source, TEXT_MAX)?)
    };
    let name = folder_name(&path);
    let made = call!(
        session.engine,
        first_manifest.make(&name, &existing, &offer)
    )?;
    let draft = match made {
        Ok(draft) => draft,
        Err(Refusal::Unreadable(problems)) => return session.refuse_for(problems),
        Err(Refusal::HasFrontmatter) => {
            let message = format!("`{manifest}` has frontmatter, and stays as it is");
            return Ok(refuse(&message, "check it with `agent validate`"));
        }
        Err(Refusal::NothingOffered) => {
            let message = format!("`{source}` lists nothing that an agent could require");
            let help = "import a server first: `agent index import`";
            return Ok(refuse(&message, help));
        }
    };
    let assumptions = draft.assumptions.iter();
    let assumed: String = assumptions
        .map(|assumption| format!("assumed: {}\n", output::visible(assumption)))
        .collect();
    if args.dry_run {
        output::print_data(&draft.text)?;
        session.note(assumed.trim_end());
        session.note(format_args!("would write {manifest}"));
        return Ok(CommandAnswer::Yes);
    }
    StagedFile::new(&path, draft.text.as_bytes())?.commit()?;
    output::print_text(&assumed)?;
    session.note(format_args!("wrote {manifest} from {source}"));
    session.note(match is_index {
        true => "next: check each assumption, then run `agent resolve`".to_owned(),
        false => format!("next: `agent index import {source} --overlay overlay.yaml`"),
    });
    Ok(CommandAnswer::Yes)
}

/// Returns the existing manifest, or else the usual name of a new one.
fn usual_manifest() -> PathBuf {
    let is_there = |name: &&str| !Input::from(*name).is_missing();
    let existing = MANIFESTS.into_iter().find(is_there);
    existing.unwrap_or(MANIFESTS[0]).into()
}

/// Returns the input to make the manifest from, and whether it is an index.
fn source(args: &Init) -> Result<(Input, bool), Failure> {
    match (&args.index, &args.client) {
        (Some(index), _) => Ok((index.clone(), true)),
        (None, Some(client)) => Ok((client.clone(), false)),
        (None, None) => [(INDEX, true), (CLIENT, false)]
            .into_iter()
            .map(|(name, is_index)| (Input::from(name), is_index))
            .find(|(input, _)| !input.is_missing())
            .ok_or_else(|| {
                let message =
                    format_args!("there is no `{INDEX}` and no `{CLIENT}` in this folder");
                Failure::new(message).help(
                    "name an index with `--index`, or a client's configuration with `--client`; `agent adopt` governs the \
                     servers of your clients",
                )
            }),
    }
}

/// Returns the name of the folder that contains a file, or `None` if the folder has no name.
fn folder_name(file: &Path) -> String {
    let folder = file.parent().filter(|folder| *folder != "");
    let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok();
    let name = folder.as_ref().and_then(|it| it.file_name()?.to_str());
    name.unwrap_or_default().to_owned()
}

/// Answers no for a reason that no input is to blame for.
fn refuse(message: &str, help: &str) -> CommandAnswer {
    let failure = Failure::new(message).help(help);
    output::note_drawn(&diagnostics::draw_failure(&failure));
    CommandAnswer::No
}
