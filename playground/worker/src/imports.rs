//! The session that imports a document into the index of the page.

use agent_api::answer::DocumentKind;
use agent_api::diagnostic::{Applicability, Diagnostic, Edit, Fix, Severity};
use agent_api::documents::{Offer, Overlay, form};
use agent_api::lower::{self, Checked, Notation};
use agent_api::model::Index;
use agent_api::text::{Place, Text};
use agent_api::{documents, first_manifest, import};
use agent_worker_protocol::Texts;
use agent_worker_protocol::import::{Answer, Imported, Request};

use crate::questions::questions;
use std::collections::BTreeSet;

/// Maximum number of servers to name in a list.
const NAMED: usize = 12;

/// No agent can have this name, so the draft has another one. A page has no folder to name it by.
const NO_NAME: &str = "";

/// What adds tools to a server.
const ADD_TOOLS: &str = ": paste an answer to tools/list to add them";

/// Keeps the texts from one question to the next.
#[derive(Default)]
pub struct Session {
    document: String,
    overlay: String,
    index: String,
    manifest: String,
}

impl Session {
    /// Describes the engine. The page knows all of it.
    pub fn about() {}

    /// Answers the question what an import would do.
    pub fn answer(&mut self, mut texts: Texts, _: Request) -> Answer {
        for (kind, text) in [
            (DocumentKind::Import, &mut self.document),
            (DocumentKind::Overlay, &mut self.overlay),
            (DocumentKind::Index, &mut self.index),
            (DocumentKind::Manifest, &mut self.manifest),
        ] {
            if let Some(given) = texts.take(kind as u32) {
                *text = given;
            }
        }
        let document = self.document.clone().into_bytes();
        let overlay = given(&self.overlay).map(|bytes| Overlay {
            bytes,
            notation: Notation::ByContent,
        });
        let form = form(document.clone()).unwrap_or("no document that can be imported");
        let imported = import(vec![document], overlay, given(&self.index));
        let (mut problems, rest, imported) = match imported {
            Ok(Checked { value, warnings }) => (warnings, servers(&value), Some(value)),
            Err(problems) => {
                let rest = errors(&problems);
                (problems, rest, None)
            }
        };
        // The page shows those of the index without an import too.
        problems.retain(|it| it.place().is_none_or(|at| at.source != DocumentKind::Index));
        let mut overlay = String::new();
        if self.overlay.trim().is_empty() {
            overlay = fill_overlay(&mut problems, &self.overlay);
        }
        let text = if overlay.is_empty() {
            &self.overlay
        } else {
            &overlay
        };
        let questions = match &imported {
            Some(_) => Vec::new(),
            None => questions(text),
        };
        Answer {
            text: format!("This is {form}{rest}."),
            imported: imported.map(|it| self.imported(it)),
            problems,
            questions,
            overlay,
        }
    }

    fn imported(&self, value: documents::Imported) -> Imported {
        let index = lower::index(value.index.clone().into_bytes());
        let index = index.ok().map(|it| it.value);
        let draft = index.as_ref().filter(|_| self.manifest.trim().is_empty());
        let written: BTreeSet<_> = value.added.iter().chain(&value.changed).collect();
        let unknown = index
            .as_ref()
            .map_or(0, |index| without_tools(index, &written));
        let rest = match (unknown, written.len()) {
            (0, _) => String::new(),
            (1, 1) => format!("; its tools are unknown{ADD_TOOLS}"),
            (unknown, _) => format!("; the tools of {unknown} are unknown{ADD_TOOLS}"),
        };
        Imported {
            draft: draft.and_then(draft_of),
            done: format!("Imported {}{rest}", count(written.len(), "server")),
            index: value.index,
        }
    }
}

/// Returns the number of servers, and those that the index gets.
fn servers(imported: &documents::Imported) -> String {
    let lists = [
        ("new", &imported.added),
        ("changed", &imported.changed),
        ("in the index already", &imported.unchanged),
    ];
    let all = lists.iter().map(|(_, names)| names.len()).sum();
    let mut text = format!(", with {}", count(all, "server"));
    for (at, (what, names)) in lists.into_iter().filter(|it| !it.1.is_empty()).enumerate() {
        let separator = if at == 0 { ": " } else { "; " };
        let shown = names.iter().take(NAMED).map(|name| format!("`{name}`"));
        let shown = shown.collect::<Vec<_>>().join(", ");
        let rest = match names.len().saturating_sub(NAMED) {
            0 => String::new(),
            rest => format!(" and {rest} more"),
        };
        text.push_str(&format!("{separator}{what} {shown}{rest}"));
    }
    text
}

/// Returns what prevents an import.
fn errors(problems: &[Diagnostic]) -> String {
    let errors = problems.iter().filter(|it| it.severity == Severity::Error);
    let (index, own): (Vec<_>, Vec<_>) = errors.partition(|it| {
        let source = it.place().map(|at| at.source);
        source == Some(DocumentKind::Index)
    });
    let own = match own.len() {
        0 => String::new(),
        number => format!(", with {}", count(number, "error")),
    };
    match index.len() {
        0 => own,
        _ => format!("{own}; correct `mcp.index.json` first"),
    }
}

/// Returns a number with its noun.
fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Returns an optional text. A blank one counts as absent.
fn given(text: &str) -> Option<Vec<u8>> {
    (!text.trim().is_empty()).then(|| text.as_bytes().to_vec())
}

/// Drafts a manifest for an index, if the index offers anything.
fn draft_of(index: &Index) -> Option<String> {
    let made = first_manifest(NO_NAME, Vec::new(), Offer::Index(index));
    Some(made.ok()?.text)
}

/// Returns the number of these servers, as `id@version`, of which the index has no tool.
fn without_tools(index: &Index, names: &BTreeSet<&String>) -> usize {
    let servers = index.servers().filter(|it| it.tools().len() == 0);
    let named = servers.map(|it| format!("{}@{}", it.id(), it.version()));
    named.filter(|name| names.contains(name)).count()
}

/// Gives the instructions for an overlay that does not exist edits: the page has an editor for it, and no
/// option of the command line. Returns the lines for all errors.
fn fill_overlay(problems: &mut [Diagnostic], blank: &str) -> String {
    let place = whole(blank);
    let mut all = String::new();
    for problem in problems {
        let is_lines = |fix: &Fix| fix.edits.is_empty() && fix.title.contains("`--overlay`");
        let Some(at) = problem.fixes.iter().rposition(is_lines) else {
            continue;
        };
        // The last one has the lines for all problems.
        let mut fix = problem.fixes.swap_remove(at);
        problem.fixes.retain(|it| !is_lines(it));
        if let Some((_, lines)) = fix.title.split_once('\n') {
            let replacement = format!("{lines}\n");
            if problem.severity == Severity::Error && replacement.len() > all.len() {
                all.clone_from(&replacement);
            }
            let edit = Edit { place, replacement };
            fix = Fix {
                title: "write these lines into `overlay.yaml`, and replace each `<…>`".to_owned(),
                applicability: Applicability::Display,
                edits: vec![edit],
            };
        }
        problem.fixes.push(fix);
    }
    all
}

/// Returns the place of a whole overlay.
fn whole(text: &str) -> Place {
    let text = Text::new(DocumentKind::Overlay, text.to_owned());
    text.place(agent_api::text::Span::new(0, text.as_str().len()))
}
