//! Everything as Markdown, for an issue.

use crate::inputs::Texts;
use agent_protocol::{Outcome, Verdict};
use std::fmt::Write as _;

/// The inputs, the verdict and the version of the engine.
pub(crate) fn report(texts: &Texts, verdict: Option<&Verdict>, version: &str) -> String {
    let mut out = String::new();
    section(&mut out, "agents.md", "yaml", &texts.manifest);
    section(&mut out, "mcp.index.json", "json", &texts.index);
    if !texts.lock.trim().is_empty() {
        section(&mut out, "agents.lock", "json", &texts.lock);
    }
    if let Some(verdict) = verdict {
        out += "### Verdict\n\n";
        tell(&mut out, verdict);
        out.push('\n');
    }
    // Writing to a string can't fail, here and below.
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
            let file = crate::editor::file_name(place.source);
            format!(" ({file}:{}:{})", place.start.line, place.start.column)
        });
        let _ = writeln!(out, "- {} {}{at}", code(&found.code), found.message);
    }
    for requirement in &verdict.requirements {
        let asked = code(&requirement.category);
        let _ = match &requirement.outcome {
            Outcome::Selected(selected) => {
                let server = format!("{} {}", selected.server.id, selected.server.version);
                writeln!(out, "- ✓ {asked}: {}", code(&server))
            }
            Outcome::Unsatisfied { .. } => writeln!(out, "- ✗ {asked}: no server is eligible"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{Texts, report};

    #[test]
    fn no_text_ends_its_own_fence() {
        let texts = Texts {
            manifest: "---\n````\n---\n".to_owned(),
            index: "[]".to_owned(),
            lock: String::new(),
        };
        assert_eq!(
            report(&texts, None, "0.1.0"),
            "### `agents.md`\n\n`````yaml\n---\n````\n---\n`````\n\n\
             ### `mcp.index.json`\n\n```json\n[]\n```\n\n\
             agent engine 0.1.0\n"
        );
    }
}
