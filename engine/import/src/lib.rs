//! Imports foreign documents as entries of `mcp.index.json`.
//!
//! A registry's `server.json`, a captured `tools/list` and the configuration of an MCP client each
//! contain a part of an index entry. A manual overlay and the existing entry supply the rest. The
//! import guesses nothing: it reports a missing or ambiguous value with the lines to paste into the
//! overlay.
//!
//! | module | contents |
//! |---|---|
//! | `described` | a document's data about a server, independent of its form |
//! | `document` | detection of a document's form |
//! | `registry`, `capture`, `client` | the forms |
//! | `endpoint` | checks of endpoints |
//! | `field` | the fields of an entry that can be set |
//! | `overlay` | the overlay |
//! | `entry` | the merged entry |
//! | `first_manifest` | a first manifest, from an index or the configuration of a client |
//! | `output` | values with their origins, and the writer |
//! | `check` | mapping of the loader's problems back to the origins |
//!
//! Secrets are never copied: environments, headers and arguments are not read, a URL that may
//! contain a credential is refused, and no message quotes one.

#![forbid(unsafe_code)]

mod capture;
mod check;
mod client;
mod described;
mod document;
mod endpoint;
mod entry;
mod existing;
mod field;
mod first_manifest;
mod output;
mod overlay;
mod problems;
mod registry;

pub use first_manifest::{FirstManifest, NoFirstManifest, Offer, first_manifest};

use agent_diagnostic::{Code, Diagnostic, Severity};
use agent_lower::{self, Checked, INDEX_LIMIT, Lowered, Notation, decode};
use agent_model::{Index, ServerView};
use agent_text::sort::{sort_by, sort_by_key};
use agent_text::{DocumentKind, Span, Text};
use entry::{EntryMaker, NewEntry};
use existing::ExistingIndex;
use output::Printer;
use problems::ImportProblems;
use std::collections::BTreeSet;

/// Maximum size of an imported document, in bytes.
pub const DOCUMENT_LIMIT: usize = 16 << 20;

/// Maximum size of an overlay, in bytes.
pub const OVERLAY_LIMIT: usize = 16 << 20;

/// Manual additions to a document.
#[derive(Debug, Clone)]
pub struct Overlay {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The notation of the file.
    pub notation: Notation,
}

/// An index with an imported document.
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
}

/// Merges the servers of a document into an existing or a new index.
///
/// An entry of the same id and version keeps every field that neither the document nor the overlay
/// sets. All other entries stay unchanged. Importing the same document again changes nothing.
///
/// # Errors
/// Every problem of the document, the overlay and the index. A document is never imported in part.
pub fn import(
    document: Vec<u8>,
    overlay: Option<Overlay>,
    existing: Option<Vec<u8>>,
) -> Lowered<Imported> {
    let mut found = Vec::new();
    let notation = overlay
        .as_ref()
        .map_or_else(Notation::default, |it| it.notation);
    let document = decode(DocumentKind::Import, document, DOCUMENT_LIMIT);
    let document = keep(document, &mut found);
    let overlay = overlay.map(|it| decode(DocumentKind::Overlay, it.bytes, OVERLAY_LIMIT));
    let overlay = keep(overlay.transpose(), &mut found);
    let existing = keep(existing.map(agent_lower::index).transpose(), &mut found);
    match (document, overlay, existing) {
        (Some(document), Some(overlay), Some(existing)) if found.is_empty() => {
            // The result is loaded again, and its warnings are reported there.
            let existing = existing.map(|read| read.value);
            put(&document, overlay.as_ref(), notation, existing.as_ref())
        }
        _ => Err(in_order(found)),
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
    /// An entry that the document sets or changes.
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
    document: &Text,
    overlay: Option<&Text>,
    notation: Notation,
    existing: Option<&Index>,
) -> Lowered<Imported> {
    let none = |source| Text::new(source, String::new());
    let (no_overlay, no_index) = (none(DocumentKind::Overlay), none(DocumentKind::Index));
    let mut problems = ImportProblems::new(
        document,
        overlay.unwrap_or(&no_overlay),
        existing.map_or(&no_index, Index::text),
    );
    let root = document::parse(&mut problems.import);
    let overlay_root = overlay.map(|_| notation.parse(&mut problems.overlay));
    let (Some(root), None | Some(Some(_))) = (root, &overlay_root) else {
        return Err(problems.finish());
    };
    let overlay_root = overlay_root.flatten();
    let json = overlay.is_some_and(|text| notation.is_json(text.as_str()));
    let described = document::read(&root, &mut problems.import);
    let overlay = match &overlay_root {
        Some(root) => overlay::read(root, &mut problems.overlay),
        None => Some(overlay::Settings::default()),
    };
    let (Some(described), Some(overlay)) = (described, overlay) else {
        return Err(problems.finish());
    };
    let Some(existing) = ExistingIndex::read(existing, &mut problems.index) else {
        return Err(problems.finish());
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
    let entries: Vec<_> = described
        .iter()
        .zip(&targets)
        .zip(&before)
        .map(|((server, target), before)| {
            maker.make(server, target, before.as_ref(), &mut problems)
        })
        .collect();
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
                Slot::New(entry) => printer.new_value(&entry.value),
            }
        }
    });
    let Some((index, marks)) = printer.finish() else {
        let message =
            format!("the index with this document would exceed the limit of {INDEX_LIMIT} bytes");
        let label = "with this document";
        problems
            .import
            .report(Code::InputTooLarge, Span::default(), label, message)
            .help("import the document into another index");
        return Err(problems.finish());
    };
    let (loaded, refused) = match agent_lower::index(index.clone().into_bytes()) {
        Ok(Checked { warnings, .. }) => (warnings, false),
        Err(problems) => (problems, true),
    };
    let loaded = check::at_origins(loaded, &index, &marks, |origin| problems.place(origin));
    let mut found = problems.finish();
    let failed = refused || found.iter().any(|it| it.severity == Severity::Error);
    found.extend(loaded);
    let found = in_order(found);
    if failed {
        return Err(found);
    }
    let mut imported = Imported {
        index,
        ..Imported::default()
    };
    let mut named: Vec<_> = entries.iter().zip(&before).collect();
    sort_by(&mut named, |a, b| a.0.name().cmp(&b.0.name()));
    for (entry, before) in named {
        let (id, version) = entry.name();
        let list = match before {
            None => &mut imported.added,
            Some(before) if before.prints_as(&entry.value) => &mut imported.unchanged,
            Some(_) => &mut imported.changed,
        };
        list.push(format!("{id}@{version}"));
    }
    Ok(Checked {
        value: imported,
        warnings: found,
    })
}
