//! Imports foreign documents as entries of `mcp.index.json`.
//!
//! A registry's `server.json`, a captured `tools/list`, a server's manifest and the configuration of
//! an MCP client each contain a part of an index entry. A manual overlay and the existing entry supply the rest. The
//! import guesses nothing: it reports a missing or ambiguous value with the lines to paste into the
//! overlay. What nothing rates promises nothing, and is listed.
//!
//! | module | contents |
//! |---|---|
//! | `described` | a document's data about a server, independent of its form |
//! | `notation` | JSON, JSON with comments, TOML, YAML, a stream of events |
//! | `document` | detection of a document's form |
//! | `registry`, `capture`, `listed`, `manifest`, `bundle`, `card`, `client` | the forms |
//! | `launch` | the package that a command runs |
//! | `installed`, `setting` | how a client starts or reaches a server, and which values are secrets |
//! | `endpoint` | checks of endpoints |
//! | `conflict` | descriptions of one server that contradict each other |
//! | `field` | the fields of an entry that can be set |
//! | `claims` | what sources say that a tool can do |
//! | `left_out` | tools that are left out, and why |
//! | `overlay` | the overlay |
//! | `blank` | what an overlay has to set, as text to paste |
//! | `entry` | the merged entry |
//! | `live` | what a host captured from a live server, as a document |
//! | `governed` | a configuration with a gateway in the place of servers |
//! | `first_manifest` | a first manifest, from an index or the configuration of a client |
//! | `output` | values with their origins, and the writer |
//! | `check` | mapping of the loader's problems back to the origins |
//!
//! Secrets are never copied: environments, headers and arguments are not read, a URL that may
//! contain a credential is refused, and no message quotes one.

#![forbid(unsafe_code)]

mod blank;
mod bundle;
mod capture;
mod card;
mod check;
mod claims;
mod client;
mod conflict;
mod described;
mod document;
mod endpoint;
mod entry;
mod existing;
mod field;
mod first_manifest;
mod governed;
mod installed;
mod launch;
mod left_out;
mod listed;
mod live;
mod manifest;
mod notation;
mod output;
mod overlay;
mod problems;
mod registry;
mod setting;

pub use client::{CLIENT_FORMS, ClientForm};
pub use field::overlay_fields;
pub use first_manifest::{FirstManifest, NoFirstManifest, Offer, first_manifest};
pub use governed::{Gateway, govern, release};
pub use installed::{
    InstalledServer, RemoteServer, RunPackage, ServerCommand, ServerStart, installed_servers,
    run_package,
};
pub use left_out::LeftOutTool;
pub use live::{LiveServer, Renamed, renamed};
pub use setting::{Setting, SettingPart, Variable};

use agent_diagnostic::{Applicability, Code, Diagnostic, Fix, Problems, Severity};
use agent_lower::{
    self, Checked, INDEX_LIMIT, Lowered, Notation, decode, uncallable, uncallable_warnings,
};
use agent_model::{Index, ServerView};
use agent_text::sort::{sort_by, sort_by_key};
use agent_text::{DocumentKind, Span, Text};
use entry::{EntryMaker, NewEntry};
use existing::ExistingIndex;
use notation::{Document, STRICT};
use output::Printer;
use problems::ImportProblems;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum size of an imported document, in bytes.
pub const DOCUMENT_LIMIT: usize = 16 << 20;

/// Maximum size of an overlay, in bytes.
pub const OVERLAY_LIMIT: usize = 16 << 20;

/// Maximum size of everything that is read again to report what refused texts hide, in bytes.
const REREAD_LIMIT: usize = 64 << 20;

/// Manual additions to a document.
#[derive(Debug, Clone)]
pub struct Overlay {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The notation of the file.
    pub notation: Notation,
}

/// An index with imported documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// The text of the index: servers sorted by id and version, keys sorted, two spaces of
    /// indentation, ended by a newline.
    pub index: String,
    /// The new servers, as `id@version`.
    pub added: Vec<String>,
    /// The servers whose entry differs from before.
    pub changed: Vec<String>,
    /// The servers whose entry is the same as before.
    pub unchanged: Vec<String>,
    /// What servers say that their tools can do, where the overlay does not decide it.
    pub claims: Vec<String>,
    /// The tools that are left out. The warnings group them by their defects.
    pub left_out: Vec<LeftOutTool>,
}

/// Merges the servers of documents into an existing or a new index.
///
/// An entry of the same id and version keeps every field that neither a document nor the overlay
/// sets; a later document takes precedence over an earlier one. All other entries stay unchanged.
/// Importing the same documents again changes nothing.
///
/// # Errors
/// Every problem of the documents, the overlay and the index. A place's number is that of its
/// document. Of a document without errors, only tools that no client can use are left out.
pub fn import(
    documents: Vec<Vec<u8>>,
    overlay: Option<Overlay>,
    existing: Option<Vec<u8>>,
) -> Lowered<Imported> {
    let mut found = Vec::new();
    let notation = overlay
        .as_ref()
        .map_or_else(Notation::default, |it| it.notation);
    let numbered = documents.into_iter().zip(0..);
    let documents: Vec<_> = numbered
        .filter_map(|(document, number)| keep(decode_document(document, number), &mut found))
        .collect();
    let overlay = overlay.map(|it| decode(DocumentKind::Overlay, it.bytes, OVERLAY_LIMIT));
    let overlay = keep(overlay.transpose(), &mut found);
    let existing = keep(existing.map(agent_lower::index).transpose(), &mut found);
    match (overlay, existing) {
        (Some(overlay), Some(existing)) if found.is_empty() => {
            // The result is loaded again, and its warnings are reported there.
            let existing = existing.map(|read| read.value);
            let made = put(&documents, overlay.as_ref(), notation, existing.as_ref());
            let (overlay, existing) = (overlay.as_ref(), existing.as_ref());
            made.map_err(|found| explained(found, &documents, overlay, notation, existing))
        }
        _ => Err(in_order(found)),
    }
}

/// Adds what a refused text is instead, and its further problems. A text without an error is only looked
/// at if it is an overlay, which may be another document.
fn explained(
    mut found: Vec<Diagnostic>,
    documents: &[Document],
    overlay: Option<&Text>,
    notation: Notation,
    existing: Option<&Index>,
) -> Vec<Diagnostic> {
    let size: usize = documents.iter().map(|it| it.text.as_str().len()).sum();
    let mut left = REREAD_LIMIT;
    let texts = documents.iter().map(Document::to_repair);
    let texts: Vec<_> = texts.chain([overlay.cloned()]).flatten().collect();
    for text in &texts {
        let name = (text.source(), text.number());
        let is_here = |problem: &Diagnostic| {
            let place = problem.place();
            place.is_some_and(|at| (at.source, at.number) == name)
        };
        let is_own = |problem: &Diagnostic| problem.severity == Severity::Error && is_here(problem);
        if !found.iter().any(is_own) {
            continue;
        }
        let (own, others) = found.into_iter().partition(is_own);
        let own = agent_lower::explain_refusal(text, own, &mut |repaired| {
            let Some(rest) = left.checked_sub(size) else {
                return Vec::new();
            };
            left = rest;
            // The fields of an entry come from all inputs.
            let documents = documents.iter().map(|it| {
                let is_it = (it.text.source(), it.text.number()) == name;
                if is_it {
                    it.repaired(repaired)
                } else {
                    it.clone()
                }
            });
            let documents: Vec<_> = documents.collect();
            let is_overlay = |it: &Text| (it.source(), it.number()) == name;
            let overlay = overlay.map(|it| if is_overlay(it) { repaired } else { it });
            let found = match put(&documents, overlay, notation, existing) {
                Ok(read) => read.warnings,
                Err(found) => found,
            };
            found.into_iter().filter(is_here).collect()
        });
        // What a wrong document lacks is a follow-up.
        if own.iter().any(|it| it.code == Code::WrongDocument) {
            return own;
        }
        found = others;
        found.extend(own.into_iter().map(|mut problem| {
            // A program edits no document of others.
            if text.source() == DocumentKind::Import {
                for fix in &mut problem.fixes {
                    fix.edits.clear();
                    fix.applicability = Applicability::Display;
                }
                if problem.code == Code::JsonSyntax {
                    problem.fixes.push(Fix::display(STRICT));
                }
            }
            problem
        }));
    }
    in_order(found)
}

/// Returns the form of a document in words, such as `the configuration of a client`; `None` if it has none or
/// several.
pub fn form(document: Vec<u8>) -> Option<&'static str> {
    let document = decode_document(document, 0).ok()?;
    let root = document.parse(&mut Problems::new(&document.text))?;
    document::form_name(&root)
}

/// Decodes the document of a number.
fn decode_document(document: Vec<u8>, number: u32) -> Result<Document, Vec<Diagnostic>> {
    match decode(DocumentKind::Import, document, DOCUMENT_LIMIT) {
        Ok(text) => Ok(Document::new(text.numbered(number))),
        Err(mut problems) => {
            for label in problems.iter_mut().flat_map(|problem| &mut problem.labels) {
                label.place.number = number;
            }
            Err(problems)
        }
    }
}

/// Returns the value, or adds its problems to `found`.
fn keep<T>(read: Result<T, Vec<Diagnostic>>, found: &mut Vec<Diagnostic>) -> Option<T> {
    read.map_err(|problems| found.extend(problems)).ok()
}

fn in_order(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    sort_by_key(&mut found, |problem| {
        problem.labels.first().map(|label| label.place)
    });
    found
}

/// An entry of the new index.
enum Slot<'e, 'a> {
    /// An entry that stays unchanged.
    Kept(ServerView<'a>),
    /// An entry that a document sets or changes.
    New(&'e NewEntry<'a>),
}

impl Slot<'_, '_> {
    /// Returns the sort key of the entry: id and version.
    fn name(&self) -> (&str, &str) {
        match self {
            Self::Kept(server) => (server.id(), server.version()),
            Self::New(entry) => entry.name(),
        }
    }
}

fn put(
    documents: &[Document],
    overlay: Option<&Text>,
    notation: Notation,
    existing: Option<&Index>,
) -> Lowered<Imported> {
    let none = |source| Text::new(source, String::new());
    let (no_overlay, no_index) = (none(DocumentKind::Overlay), none(DocumentKind::Index));
    let mut problems = ImportProblems::new(
        documents,
        overlay.unwrap_or(&no_overlay),
        existing.map_or(&no_index, Index::text),
    );
    let parsed = documents.iter().zip(&mut problems.import);
    let roots: Vec<_> = parsed
        .map(|(document, problems)| document.parse(problems))
        .collect();
    let overlay_root = overlay.map(|_| notation.parse(&mut problems.overlay));
    let json = overlay.is_some_and(|text| notation.is_json(text.as_str()));
    let read: Vec<_> = (documents.iter().zip(&roots))
        .zip(&mut problems.import)
        .map(|((document, root), problems)| document::read(document, root.as_ref()?, problems))
        .collect();
    let settings = match &overlay_root {
        Some(root) => root
            .as_ref()
            .and_then(|root| overlay::read(root, &mut problems.overlay)),
        None => Some(overlay::Settings::default()),
    };
    let all_read = read.iter().all(Option::is_some);
    let described: Vec<_> = read.into_iter().flatten().flatten().collect();
    let (Some(overlay), true) = (settings, all_read) else {
        return Err(in_order(problems.finish()));
    };
    let Some(existing) = ExistingIndex::read(existing, &mut problems.index) else {
        return Err(in_order(problems.finish()));
    };
    let targets: Vec<_> = described
        .iter()
        .enumerate()
        .map(|(number, server)| overlay.target(number, server))
        .collect();
    let before: Vec<_> = targets
        .iter()
        .map(|target| existing.find(&target.id, &target.version))
        .collect();
    let maker = EntryMaker::new(&overlay, json, overlay_root.is_some());
    let mut entries: Vec<NewEntry<'_>> = Vec::new();
    let mut numbers = BTreeMap::new();
    for ((server, target), before) in described.iter().zip(&targets).zip(&before) {
        let next = entries.len();
        let number = numbers
            .entry((&*target.id, &*target.version))
            .or_insert(next);
        // A repetition in one document becomes another entry, which the loader refuses.
        let known = entries.get(*number);
        if let Some(entry) = known.filter(|entry| entry.document == server.document)
            && maker.report_conflict(server, target, entry, &mut problems)
        {
            continue;
        }
        if known.is_none_or(|entry| entry.document == server.document) {
            *number = next;
            entries.push(NewEntry::new(target, before.as_ref()));
        }
        maker.merge(server, target, &mut entries[*number], &mut problems);
    }
    for entry in &mut entries {
        maker.complete(entry, &mut problems);
    }
    problems.report_missing();
    maker.warn_unrated(&mut problems);
    overlay.check_defaults(described.len(), &mut problems.overlay);
    overlay.warn_unused(&targets, &described, &existing, &mut problems.overlay);

    let replaced: BTreeSet<_> = before.iter().flatten().map(|it| it.server.rank()).collect();
    let kept = existing
        .servers()
        .filter(|kept| !replaced.contains(&kept.rank()));
    let mut order: Vec<Slot<'_, '_>> = kept
        .map(Slot::Kept)
        .chain(entries.iter().map(Slot::New))
        .collect();
    order.sort_by(|a, b| a.name().cmp(&b.name()));

    let mut printer = Printer::new();
    existing.print(&mut printer, |printer| {
        for slot in order {
            match slot {
                Slot::Kept(server) => printer.kept(server),
                Slot::New(entry) => printer.new_object(&entry.value),
            }
        }
    });
    let Some((index, marks)) = printer.finish() else {
        let message =
            format!("the index with this document would exceed the limit of {INDEX_LIMIT} bytes");
        let label = "with this document";
        if let Some(last) = problems.import.last_mut() {
            last.report(Code::InputTooLarge, Span::default(), label, message)
                .help("import the document into another index");
        }
        return Err(problems.finish());
    };
    let (loaded, refused) = match agent_lower::index(index.clone().into_bytes()) {
        Ok(Checked {
            value,
            mut warnings,
        }) => {
            let names = entries.iter().map(NewEntry::name);
            let imported = names.filter_map(|(id, version)| value.find(id, version));
            let tools = imported.flat_map(ServerView::tools);
            warnings.extend(uncallable_warnings(tools.filter_map(uncallable)));
            (warnings, false)
        }
        Err(problems) => (problems, true),
    };
    let loaded = check::at_origins(loaded, &index, &marks, |origin| problems.place(origin));
    let blanks = std::mem::take(&mut problems.blanks);
    let mut found = problems.finish();
    let failed = refused || found.iter().any(|it| it.severity == Severity::Error);
    found.extend(loaded);
    let mut found = in_order(found);
    let overlay_sets =
        |it: &&mut Diagnostic| it.code == Code::MissingField || it.code == Code::ImportValue;
    if blanks.len() > 1
        && let Some(first) = found.iter_mut().find(overlay_sets)
    {
        first.fixes.push(Fix::display(maker.overlay(&blanks)));
    }
    if failed {
        // What an error prevents is not rated yet.
        found.retain(|it| it.code != Code::ImportUnrated);
        return Err(found);
    }
    let mut imported = Imported {
        index,
        ..Imported::default()
    };
    sort_by(&mut entries, |a, b| a.name().cmp(&b.name()));
    for entry in &entries {
        let (id, version) = entry.name();
        let list = match entry.before {
            None => &mut imported.added,
            Some(before) if before.prints_as(&entry.value) => &mut imported.unchanged,
            Some(_) => &mut imported.changed,
        };
        list.push(format!("{id}@{version}"));
        let claims = entry.claimed.iter();
        imported
            .claims
            .extend(claims.map(|claim| format!("{id}@{version}/{claim}")));
        imported.left_out.extend(entry.left_out.tools());
    }
    Ok(Checked {
        value: imported,
        warnings: found,
    })
}
