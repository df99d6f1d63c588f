//! An answer and its documents as Markdown, for an issue or a chat.

use crate::answer::{ENGINE, Sign};
use crate::content::Content;
use crate::names::document_name;
use crate::page::Page;
use crate::words::thousands;
use agent_answer::{Diagnostic, DocumentKind, Fix, unmistakable, visible};
use std::fmt::Write as _;
use yew::prelude::*;

/// Maximum length of a document, in UTF-16 units. A log may be too large to paste.
const LONGEST: u32 = 100_000;

/// The answer of an area in words.
#[derive(Debug)]
pub struct InWords {
    /// Yes, no, or neither.
    pub sign: Sign,
    /// The headline.
    pub sentence: String,
    /// What belongs to it beside the problems, a line of Markdown each.
    pub lines: Vec<String>,
}

/// Shows a button that copies the answer of the visible area, its problems and its documents.
pub fn copy_answer<C: Content>(page: &Page<C>) -> Html {
    let copy = page.callback(|page, _| {
        page.copy("answer and inputs as Markdown", report(page));
    });
    html! { <button onclick={copy}>{ "Copy as Markdown" }</button> }
}

fn report<C: Content>(page: &Page<C>) -> String {
    let mut out = String::new();
    if let Some(it) = page.content().in_words() {
        write_answer(&mut out, &it, &page.content().problems());
    }
    for kind in C::kinds().filter(|kind| C::shows(page.state.area, *kind)) {
        let (name, text) = (document_name(kind), page.editors.text(kind));
        match text.length() {
            0 => {}
            length if length > LONGEST => {
                let length = thousands(length);
                // Writing to a string can't fail, here and below.
                let _ = writeln!(out, "### `{name}`\n\n{length} characters are left out.\n");
            }
            _ => write_document(&mut out, name, kind, &String::from(text)),
        }
    }
    let _ = writeln!(out, "agent engine {ENGINE}");
    out
}

fn write_answer(out: &mut String, answer: &InWords, problems: &[Diagnostic]) {
    write_heading(out, answer.sign, &answer.sentence);
    for line in &answer.lines {
        let _ = writeln!(out, "- {line}");
    }
    for found in problems {
        write_problem(out, found);
        write_fixes(out, &found.fixes);
    }
    out.push('\n');
}

/// Writes an answer as a heading.
pub fn write_heading(out: &mut String, sign: Sign, sentence: &str) {
    let _ = writeln!(out, "### {} {}\n", sign.mark, visible(sentence));
}

/// Writes a problem with its place.
pub fn write_problem(out: &mut String, found: &Diagnostic) {
    let at = found.labels.first().map_or_else(String::new, |label| {
        let (file, start) = (label.place.source.usual_name(), label.place.start);
        format!(" ({file}:{}:{})", start.line, start.utf16_column)
    });
    let (code, message) = (code(found.code.name()), visible(&found.message));
    let _ = writeln!(out, "- {code} {message}{at}");
}

/// Writes fixes below what they belong to.
pub fn write_fixes<'f>(out: &mut String, fixes: impl IntoIterator<Item = &'f Fix>) {
    for fix in fixes {
        // The lines after the first are a snippet.
        let title = fix.title.lines().next().unwrap_or_default();
        let name = fix.applicability.name();
        let _ = writeln!(out, "  - fix ({name}): {}", title.trim_end_matches(':'));
    }
}

/// Writes a document under its name.
pub fn write_document(out: &mut String, name: &str, kind: DocumentKind, text: &str) {
    let language = match kind {
        DocumentKind::Index | DocumentKind::Lock | DocumentKind::Evidence => "json",
        DocumentKind::Policy => "rego",
        _ if text.starts_with(['{', '[']) => "json",
        _ => "yaml",
    };
    let (fence, text) = (fence(text), text.trim_end_matches('\n'));
    let _ = writeln!(out, "### `{name}`\n\n{fence}{language}\n{text}\n{fence}\n");
}

/// Returns the length of the longest run of backquotes.
fn backquotes(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Returns a fence longer than every run of backquotes in the text.
fn fence(text: &str) -> String {
    "`".repeat(3.max(backquotes(text) + 1))
}

/// Returns a name as code, with code points where it could be taken for another.
pub fn code(name: &str) -> String {
    let name = unmistakable(name);
    let ticks = "`".repeat(backquotes(&name) + 1);
    format!("{ticks}{name}{ticks}")
}

#[cfg(test)]
mod tests {
    use super::{InWords, code, write_answer, write_document};
    use crate::answer::Sign;
    use agent_answer::{Code, Diagnostic, DocumentKind, Fix};

    #[test]
    fn no_text_ends_its_own_fence() {
        let mut out = String::new();
        write_document(&mut out, "call.json", DocumentKind::Call, "a\n````\n\n");
        assert_eq!(out, "### `call.json`\n\n`````yaml\na\n````\n`````\n\n");
        assert_eq!(code("x`y"), "``x`y``");
    }

    #[test]
    fn the_answer_is_first_and_nothing_is_hidden() {
        let answer = InWords {
            sign: Sign::no("no"),
            sentence: "Refused".to_owned(),
            lines: vec!["a line".to_owned()],
        };
        let problem = Diagnostic {
            fixes: vec![Fix::display("write `c`:\nc")],
            ..Diagnostic::new(Code::ToolUnknown, "no tool is called \u{202e}a")
        };
        let mut out = String::new();
        write_answer(&mut out, &answer, &[problem]);
        assert_eq!(
            out,
            "### ✗ Refused\n\n- a line\n- `TOOL_UNKNOWN` no tool is called <U+202E>a\n  \
               - fix (display): write `c`\n\n"
        );
    }
}
