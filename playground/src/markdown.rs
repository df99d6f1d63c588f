//! Everything as Markdown, for an issue.

use crate::inputs::INPUTS;
use crate::inputs::Texts;
use agent_protocol::{DocumentKind, Outcome, Verdict};
use agent_ui::editor::file_name;
use std::fmt::Write as _;

/// The inputs, the verdict and the version of the engine.
pub(crate) fn report(texts: &Texts, verdict: Option<&Verdict>, version: &str) -> String {
    let mut out = String::new();
    for source in INPUTS {
        let text = texts.get(source);
        let language = match source {
            DocumentKind::Index | DocumentKind::Lock => "json",
            DocumentKind::Policy => "rego",
            _ if text.starts_with(['{', '[']) => "json",
            _ => "yaml",
        };
        let required = matches!(source, DocumentKind::Manifest | DocumentKind::Index);
        if required || !text.trim().is_empty() {
            section(&mut out, file_name(source), language, text);
        }
    }
    if !texts.tenant_id.trim().is_empty() {
        // Writing to a string can't fail, here and below.
        let _ = writeln!(out, "Tenant: {}\n", code(&texts.tenant_id));
    }
    if let Some(verdict) = verdict {
        out += "### Verdict\n\n";
        tell(&mut out, verdict);
        out.push('\n');
    }
    let _ = writeln!(out, "agent engine {version}");
    out
}

fn section(out: &mut String, name: &str, language: &str, text: &str) {
    let fence = fence(text);
    let text = text.trim_end_matches('\n');
    let _ = writeln!(out, "### `{name}`\n\n{fence}{language}\n{text}\n{fence}\n");
}

/// More backquotes than stand together anywhere in the text, and at least three.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(3.max(longest + 1))
}

/// A name as code.
fn code(name: &str) -> String {
    let longest = name.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    format!("{ticks}{name}{ticks}")
}

fn tell(out: &mut String, verdict: &Verdict) {
    for found in &verdict.diagnostics {
        let at = found.labels.first().map_or_else(String::new, |label| {
            let place = label.place;
            let file = file_name(place.source);
            format!(" ({file}:{}:{})", place.start.line, place.start.column)
        });
        let _ = writeln!(out, "- {} {}{at}", code(&found.code), found.message);
    }
    for requirement in &verdict.requirements {
        let asked = code(&requirement.name());
        let _ = match &requirement.outcome {
            Outcome::Selected(selected) => {
                let tool = selected.tool.as_ref();
                let tool = tool.map_or_else(String::new, |tool| format!(" {}", tool.name));
                let server = format!("{} {}{tool}", selected.server.id, selected.server.version);
                writeln!(out, "- ✓ {asked}: {}", code(&server))
            }
            Outcome::Unsatisfied { .. } => {
                let noun = if requirement.capability.is_some() {
                    "tool"
                } else {
                    "server"
                };
                writeln!(out, "- ✗ {asked}: no {noun} is eligible")
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{Texts, report};
    use agent_protocol::{
        Diagnostic, DocumentKind, Label, Outcome, Place, Point, Requirement, Selected, ServerName,
        Severity, Verdict,
    };

    #[test]
    fn no_text_ends_its_own_fence() {
        let texts = Texts {
            manifest: "---\n````\n---\n".to_owned(),
            index: "[]".to_owned(),
            ..Texts::default()
        };
        assert_eq!(
            report(&texts, None, "0.1.0"),
            "### `agents.md`\n\n`````yaml\n---\n````\n---\n`````\n\n\
             ### `mcp.index.json`\n\n```json\n[]\n```\n\n\
             agent engine 0.1.0\n"
        );
    }

    #[test]
    fn the_verdict_names_problems_and_servers() {
        let point = |line, column| Point { line, column };
        let place = Place {
            source: DocumentKind::Manifest,
            start: point(6, 17),
            end: point(6, 26),
        };
        let diagnostic = |labels| Diagnostic {
            code: "UNSATISFIED".to_owned(),
            severity: Severity::Error,
            message: "no server is eligible for `b`".to_owned(),
            labels,
            help: vec![],
        };
        let requirement = |category: &str, outcome| Requirement {
            category: Some(category.to_owned()),
            capability: None,
            permissions: vec![],
            place,
            all: 1,
            funnel: vec![],
            ruling: None,
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
                diagnostic(vec![Label {
                    place,
                    text: String::new(),
                }]),
                diagnostic(vec![]),
            ],
            requirements: vec![
                requirement("a", selected),
                requirement("b", Outcome::Unsatisfied { nearest: vec![] }),
            ],
            ..Verdict::default()
        };
        let texts = Texts {
            manifest: "m\n\n".to_owned(),
            index: "i".to_owned(),
            lock: "l".to_owned(),
            ..Texts::default()
        };
        assert_eq!(
            report(&texts, Some(&verdict), "0.1.0"),
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
        let texts = Texts {
            lock: " \n".to_owned(),
            ..Texts::default()
        };
        assert!(!report(&texts, None, "0.1.0").contains("agents.lock"));
    }
}
