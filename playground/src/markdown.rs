//! The inputs and the verdict as Markdown, for an issue.

use crate::content::TENANT_ID;
use crate::state::{Page, Servers};
use agent_answer::{DocumentKind, Outcome, Verdict};
use agent_ui::answer::ENGINE;
use agent_ui::content::Documents as _;
use agent_ui::saved::SavedInputs;
use std::fmt::Write as _;

/// Returns the inputs, the verdict and the version of the engine.
pub(crate) fn report(page: &Page) -> String {
    let verdict = page.content().verdict.as_deref();
    write(&SavedInputs::of(page), verdict, ENGINE)
}

fn write(saved: &SavedInputs, verdict: Option<&Verdict>, version: &str) -> String {
    let mut out = String::new();
    for kind in Servers::kinds() {
        let text = saved.text(kind);
        let language = match kind {
            DocumentKind::Index | DocumentKind::Lock => "json",
            DocumentKind::Policy => "rego",
            _ if text.starts_with(['{', '[']) => "json",
            _ => "yaml",
        };
        let required = matches!(kind, DocumentKind::Manifest | DocumentKind::Index);
        if required || !text.trim().is_empty() {
            let (name, fence, text) = (kind.usual_name(), fence(text), text.trim_end_matches('\n'));
            // Writing to a string can't fail, here and below.
            let _ = writeln!(out, "### `{name}`\n\n{fence}{language}\n{text}\n{fence}\n");
        }
    }
    if !saved.field(TENANT_ID).trim().is_empty() {
        let _ = writeln!(out, "Tenant: {}\n", code(saved.field(TENANT_ID)));
    }
    if let Some(verdict) = verdict {
        out += "### Verdict\n\n";
        write_verdict(&mut out, verdict);
        out.push('\n');
    }
    let _ = writeln!(out, "agent engine {version}");
    out
}

/// Returns the length of the longest run of backquotes.
fn backquotes(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Returns a fence longer than every run of backquotes in the text.
fn fence(text: &str) -> String {
    "`".repeat(3.max(backquotes(text) + 1))
}

/// Returns a name as code.
fn code(name: &str) -> String {
    let ticks = "`".repeat(backquotes(name) + 1);
    format!("{ticks}{name}{ticks}")
}

fn write_verdict(out: &mut String, verdict: &Verdict) {
    for found in &verdict.diagnostics {
        let at = found.labels.first().map_or_else(String::new, |label| {
            let (file, start) = (label.place.source.usual_name(), label.place.start);
            format!(" ({file}:{}:{})", start.line, start.utf16_column)
        });
        let _ = writeln!(out, "- {} {}{at}", code(found.code.name()), found.message);
    }
    for requirement in &verdict.requirements {
        let name = code(&requirement.name());
        let _ = match &requirement.outcome {
            Outcome::Selected(selected) => {
                let tool = selected.tool.as_ref();
                let tool = tool.map_or_else(String::new, |tool| format!(" {}", tool.name));
                let server = format!("{} {}{tool}", selected.server.id, selected.server.version);
                writeln!(out, "- ✓ {name}: {}", code(&server))
            }
            Outcome::Unsatisfied { .. } if requirement.capability.is_some() => {
                writeln!(out, "- ✗ {name}: no tool is eligible")
            }
            Outcome::Unsatisfied { .. } => writeln!(out, "- ✗ {name}: no server is eligible"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{SavedInputs, write};
    use crate::state::Servers;
    use agent_answer::{
        Code, Diagnostic, DocumentKind, Label, Outcome, Place, Position, Requirement, Selected,
        ServerName, Span, Verdict,
    };
    use agent_ui::content::Documents as _;

    fn texts(texts: &[(DocumentKind, &str)]) -> SavedInputs {
        let find = |kind| texts.iter().find(|(each, _)| *each == kind);
        let text = |kind| find(kind).map_or("", |(_, text)| text).to_owned();
        SavedInputs::new(Servers::kinds(), text)
    }

    #[test]
    fn no_text_ends_its_own_fence() {
        let texts = texts(&[
            (DocumentKind::Manifest, "---\n````\n---\n"),
            (DocumentKind::Index, "[]"),
        ]);
        assert_eq!(
            write(&texts, None, "0.1.0"),
            "### `agents.md`\n\n`````yaml\n---\n````\n---\n`````\n\n\
             ### `mcp.index.json`\n\n```json\n[]\n```\n\n\
             agent engine 0.1.0\n"
        );
    }

    #[test]
    fn the_verdict_names_problems_and_servers() {
        let point = |line, column| Position {
            line,
            column,
            utf16_column: column,
        };
        let place = Place {
            source: DocumentKind::Manifest,
            number: 0,
            span: Span::default(),
            start: point(6, 17),
            end: point(6, 26),
        };
        let diagnostic = |labels| Diagnostic {
            labels,
            ..Diagnostic::new(Code::Unsatisfied, "no server is eligible for `b`")
        };
        let requirement = |category: &str, outcome| Requirement {
            category: Some(category.to_owned()),
            capability: None,
            permissions: vec![],
            place,
            all: 1,
            funnel: vec![],
            policy_decision: None,
            outcome,
        };
        let selected = Outcome::Selected(Selected {
            server: ServerName {
                id: "x`y".to_owned(),
                version: "1.0.0".to_owned(),
            },
            tool: None,
            endpoint: String::new(),
            hash: String::new(),
            over: None,
        });
        let verdict = Verdict {
            diagnostics: vec![
                diagnostic(vec![Label::new(place, String::new())]),
                diagnostic(vec![]),
            ],
            requirements: vec![
                requirement("a", selected),
                requirement("b", Outcome::Unsatisfied { nearest: vec![] }),
            ],
            ..Verdict::default()
        };
        let texts = texts(&[
            (DocumentKind::Manifest, "m\n\n"),
            (DocumentKind::Index, "i"),
            (DocumentKind::Lock, "l"),
        ]);
        assert_eq!(
            write(&texts, Some(&verdict), "0.1.0"),
            "### `agents.md`\n\n```yaml\nm\n```\n\n\
             ### `mcp.index.json`\n\n```json\ni\n```\n\n\
             ### `agents.lock`\n\n```json\nl\n```\n\n\
             ### Verdict\n\n\
             - `UNSATISFIED` no server is eligible for `b` (agents.md:6:17)\n\
             - `UNSATISFIED` no server is eligible for `b`\n\
             - ✓ `a`: ``x`y 1.0.0``\n\
             - ✗ `b`: no server is eligible\n\n\
             agent engine 0.1.0\n"
        );
    }

    #[test]
    fn a_blank_lock_is_left_out() {
        let texts = texts(&[(DocumentKind::Lock, " \n")]);
        assert!(!write(&texts, None, "0.1.0").contains("agents.lock"));
    }
}
