//! `agent share`: a link to the playground that holds this folder's files.

use super::CommandAnswer;
use super::session::documents::ShownDocuments;
use super::session::{CommandSession, usual_manifest};
use crate::args::{Diff, DiffFormat, FolderDocuments, INDEX, LOCK, Share};
use crate::link::SharedInputs;
use agent_host::contract::diagnostic::{Diagnostic, DocumentKind};
use agent_host::contract::fixes::{Document, MendedDocument};
use agent_host::input::Input;
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

/// Prints the link to the review of the two locks of `agent diff`, or notes why there is none: the answer does not depend
/// on it.
pub(super) fn print_review(
    page: &str,
    before: Vec<u8>,
    args: &Diff,
    session: &mut CommandSession,
) -> Result<(), Failure> {
    let after = session.findings.text(DocumentKind::Lock);
    let locks = [
        (DocumentKind::Document, before),
        (DocumentKind::Lock, after.map(Vec::from).unwrap_or_default()),
    ];
    let locks = locks.map(|(kind, text)| Document { kind, text });
    let secrets = call!(session.engine, fixes.redact(&locks))?.secrets;
    for label in secrets.iter().filter_map(|it| it.labels.first()) {
        let (place, what) = (&label.place, &label.text);
        let name = match place.span.source {
            DocumentKind::Lock => &args.new,
            _ => &args.old,
        };
        let name = name.as_ref().map(Input::to_string).unwrap_or_default();
        let (line, column) = (place.start.line, place.start.column);
        session.note(format_args!(
            "no link is printed: {name}:{line}:{column} looks like {what}"
        ));
    }
    if !secrets.is_empty() {
        return Ok(());
    }
    let link = match SharedInputs::review(&locks).link(page) {
        Ok(link) => link,
        Err(failure) => {
            session.note(format_args!("no link is printed: {failure}"));
            return Ok(());
        }
    };
    output::print_data(&match args.output.format {
        DiffFormat::Markdown => format!("\n[Review this change in the playground]({link})\n"),
        _ => format!("{link}\n"),
    })
}

/// Returns the address of the page that reviews two locks, if one is asked for.
pub(super) fn review_page(args: &Diff) -> Result<Option<&str>, Failure> {
    let page = args.share.as_deref().map(address).transpose()?;
    if page.is_some() && args.output.format.is_for_programs() {
        let failure =
            Failure::new("`--share` prints a link for people, and the format is one for programs");
        return Err(failure.help("choose `--format markdown`, or leave out `--format`"));
    }
    Ok(page)
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
