//! `agent share`: a link to the playground that holds this folder's files.

use super::CommandAnswer;
use super::session::documents::ShownDocuments;
use super::session::{CommandSession, usual_manifest};
use crate::args::{FolderDocuments, INDEX, LOCK, Share};
use crate::link::SharedInputs;
use agent_host::contract::diagnostic::{Diagnostic, DocumentKind};
use agent_host::contract::fixes::{Document, MendedDocument};
use agent_host::session_files::present;
use agent_host::{Failure, call, output};

pub(super) fn run(args: &Share, session: &mut CommandSession) -> Result<CommandAnswer, Failure> {
    let base = args.base.as_deref().map(address).transpose()?;
    let mut documents = read(&args.folder, session)?;
    let redaction = call!(session.engine, fixes.redact(&documents))?;
    if args.redact {
        note_replaced(&redaction.secrets, session);
        replace(&mut documents, redaction.documents);
    } else if !redaction.secrets.is_empty() {
        session.add(redaction.secrets);
        session.report()?;
        return Ok(CommandAnswer::No);
    }
    let tenant = args.folder.context.others.policy.tenant_id.as_deref();
    let inputs = SharedInputs::of("", &documents, tenant);
    output::print_data(&(inputs.link(base.unwrap_or_default())? + "\n"))?;
    if base.is_none() {
        session.note("append it to the address of a playground, or name one with `--base URL`");
    }
    Ok(CommandAnswer::Yes)
}

/// Reads the documents of a folder.
pub(super) fn read(
    args: &FolderDocuments,
    session: &mut CommandSession,
) -> Result<Vec<Document>, Failure> {
    let manifest = args.manifest.manifest.clone();
    let manifest = manifest.map_or_else(usual_manifest, Ok)?;
    let context = &args.context.others;
    let shown = ShownDocuments {
        inputs: vec![
            (DocumentKind::Manifest, Some(&manifest)),
            (DocumentKind::Index, present(&args.index.index, INDEX)),
            (DocumentKind::Lock, present(&args.lock, LOCK)),
            (DocumentKind::Task, args.context.task.as_ref()),
            (DocumentKind::Health, context.health.as_ref()),
        ],
        policy: &context.policy,
    };
    shown.read(session)
}

/// Returns the address of a page, to which a link can be appended.
fn address(base: &str) -> Result<&str, Failure> {
    let is_url = ["https://", "http://"]
        .iter()
        .any(|it| base.starts_with(it));
    if !is_url || base.contains(|c: char| c == '#' || c.is_whitespace() || c.is_control()) {
        let message = format_args!("`{base}` is not the address of a page");
        let help = "name an http or https URL without `#`, such as `https://playground.example/`";
        return Err(Failure::new(message).help(help));
    }
    Ok(base)
}

/// Says which secrets are replaced.
fn note_replaced(secrets: &[Diagnostic], session: &mut CommandSession) {
    let files = session.findings.files();
    for label in secrets.iter().filter_map(|it| it.labels.first()) {
        let (source, start) = (label.place.span.source, label.place.start);
        let file = files.iter().find(|it| it.source == source);
        let path = file.map_or("", |it| &it.path);
        let (kind, line, column) = (&label.text, start.line, start.column);
        session.note(format_args!("replaced {kind} at {path}:{line}:{column}"));
    }
}

/// Replaces the texts of documents by those without secrets.
fn replace(documents: &mut [Document], redacted: Vec<MendedDocument>) {
    for new in redacted {
        if let Some(document) = documents.iter_mut().find(|it| it.kind == new.kind) {
            document.text = new.text.into_bytes();
        }
    }
}
