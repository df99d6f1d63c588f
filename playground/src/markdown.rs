//! The verdict and the inputs as Markdown, for an issue: with reasons, fixes and the commands that give
//! the same answer.

use crate::reservations::reservations;
use crate::state::{Page, Servers};
use crate::verdict::decision;
use agent_answer::link_form::TENANT_ID;
use agent_answer::{Applicability, Code, DocumentKind, NearMiss, Outcome, Verdict};
use agent_ui::answer::ENGINE;
use agent_ui::content::Documents as _;
use agent_ui::markdown::{code, write_document, write_fixes, write_heading, write_problem};
use agent_ui::saved::SavedInputs;
use std::fmt::Write as _;

/// Returns the verdict, the inputs and the version of the engine.
pub(crate) fn report(page: &Page) -> String {
    let verdict = page.content().verdict.as_deref();
    write(&SavedInputs::of(page), verdict, ENGINE)
}

fn write(saved: &SavedInputs, verdict: Option<&Verdict>, version: &str) -> String {
    let mut out = String::new();
    if let Some(verdict) = verdict {
        let (sign, reason) = decision(verdict);
        write_heading(&mut out, sign, reason);
        write_verdict(&mut out, verdict);
        out.push('\n');
    }
    for kind in Servers::kinds() {
        let text = saved.text(kind);
        let required = matches!(kind, DocumentKind::Manifest | DocumentKind::Index);
        if required || !text.trim().is_empty() {
            write_document(&mut out, kind.usual_name(), kind, text);
        }
    }
    if !saved.field(TENANT_ID).trim().is_empty() {
        // Writing to a string can't fail, here and below.
        let _ = writeln!(out, "Tenant: {}\n", code(saved.field(TENANT_ID)));
    }
    let _ = writeln!(out, "### The same on the command line\n\n```sh");
    for command in commands(saved) {
        let _ = writeln!(out, "{command}");
    }
    out += "```\n\n";
    let _ = writeln!(out, "agent engine {version}");
    out
}

/// The options of the commands, by the documents that they name.
const OPTIONS: [(DocumentKind, &str); 6] = [
    (DocumentKind::Index, "--index"),
    (DocumentKind::Task, "--task"),
    (DocumentKind::Tenant, "--tenant"),
    (DocumentKind::Health, "--health"),
    (DocumentKind::Policy, "--policy"),
    (DocumentKind::Context, "--policy-context"),
];

/// Returns the commands that give the same answer, with the texts in files of their usual names.
fn commands(saved: &SavedInputs) -> impl Iterator<Item = String> {
    let mut inputs = String::new();
    for (kind, option) in OPTIONS {
        if kind == DocumentKind::Index || !saved.text(kind).trim().is_empty() {
            let _ = write!(inputs, " {option} {}", kind.usual_name());
        }
    }
    let tenant = saved.field(TENANT_ID).trim();
    if !tenant.is_empty() {
        let _ = write!(inputs, " --tenant-id '{}'", tenant.replace('\'', "'\\''"));
    }
    let has_lock = !saved.text(DocumentKind::Lock).trim().is_empty();
    let modes = [
        Some("--dry-run"),
        has_lock.then_some("--locked --lock agents.lock"),
    ];
    let modes = modes.into_iter().flatten();
    modes.map(move |mode| format!("agent resolve {mode}{inputs} agents.md"))
}

fn write_near_miss(out: &mut String, near: &NearMiss) {
    let tool = near.tool.iter();
    let tool = tool.map(|tool| format!(" / {tool}"));
    let name = format!("{} {}", near.server.id, near.server.version);
    let name = code(&(name + &tool.collect::<String>()));
    for reason in &near.reasons {
        let _ = writeln!(
            out,
            "  - {name}: {} {}",
            code(reason.code.name()),
            reason.text
        );
    }
    for supposition in &near.suppositions {
        let _ = writeln!(out, "  - {name} {supposition} (a claim about the server)");
    }
    write_fixes(out, &near.fixes);
}

fn write_verdict(out: &mut String, verdict: &Verdict) {
    for found in &verdict.diagnostics {
        write_problem(out, found);
        // The requirement has the others.
        let own = found.code != Code::Unsatisfied;
        let fixes = found.fixes.iter();
        write_fixes(
            out,
            fixes.filter(|it| own || it.applicability == Applicability::Safe),
        );
    }
    let drifts = verdict.existing.iter().flat_map(|it| &it.changes).flatten();
    for drift in drifts {
        let more = if drift.widening { " (a widening)" } else { "" };
        let _ = writeln!(out, "- {} {}{more}", code(drift.code.name()), drift.text);
    }
    let open = reservations(verdict);
    if verdict.satisfied == Some(true) && !open.is_empty() {
        let _ = writeln!(out, "- {}", open.join(", "));
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
        if let Outcome::Unsatisfied { nearest } = &requirement.outcome {
            for near in nearest {
                write_near_miss(out, near);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SavedInputs, TENANT_ID, commands, write};
    use crate::state::Servers;
    use agent_answer::{
        Applicability, Code, Diagnostic, DocumentKind, Fix, Label, NearMiss, Outcome, Place,
        Position, Reason, Requirement, Selected, ServerName, Span, Verdict,
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
             ### The same on the command line\n\n```sh\n\
             agent resolve --dry-run --index mcp.index.json agents.md\n```\n\n\
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
            only: vec![],
            serve: vec![],
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
            unknown: vec![],
            hash: String::new(),
            over: None,
            fallback: None,
        });
        let near = NearMiss {
            server: ServerName {
                id: "\u{430}cme".to_owned(),
                version: "1".to_owned(),
            },
            tool: None,
            reasons: vec![Reason {
                code: Code::UnsignedNotAllowed,
                text: "is not signed".to_owned(),
            }],
            fixes: vec![Fix::display("drop `trust`")],
            suppositions: vec!["would be eligible if it were signed".to_owned()],
        };
        let verdict = Verdict {
            satisfied: Some(false),
            diagnostics: vec![
                Diagnostic {
                    fixes: vec![
                        Fix {
                            applicability: Applicability::Safe,
                            ..Fix::display("write `c`:\nc")
                        },
                        Fix::display("drop `trust`"),
                    ],
                    ..diagnostic(vec![Label::new(place, String::new())])
                },
                diagnostic(vec![]),
            ],
            requirements: vec![
                requirement("a", selected),
                requirement(
                    "b",
                    Outcome::Unsatisfied {
                        nearest: vec![near],
                    },
                ),
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
            "### ✗ Not every requirement has a server\n\n\
             - `UNSATISFIED` no server is eligible for `b` (agents.md:6:17)\n  \
               - fix (safe): write `c`\n\
             - `UNSATISFIED` no server is eligible for `b`\n\
             - ✓ `a`: ``x`y 1.0.0``\n\
             - ✗ `b`: no server is eligible\n  \
               - `<U+0430>cme 1`: `UNSIGNED_NOT_ALLOWED` is not signed\n  \
               - `<U+0430>cme 1` would be eligible if it were signed (a claim about the server)\n  \
               - fix (display): drop `trust`\n\n\
             ### `agents.md`\n\n```yaml\nm\n```\n\n\
             ### `mcp.index.json`\n\n```json\ni\n```\n\n\
             ### `agents.lock`\n\n```json\nl\n```\n\n\
             ### The same on the command line\n\n```sh\n\
             agent resolve --dry-run --index mcp.index.json agents.md\n\
             agent resolve --locked --lock agents.lock --index mcp.index.json agents.md\n```\n\n\
             agent engine 0.1.0\n"
        );
    }

    #[test]
    fn the_commands_name_every_input_and_quote_the_tenant() {
        let kinds = [
            DocumentKind::Policy,
            DocumentKind::Tenant,
            DocumentKind::Health,
        ];
        let text = |kind| if kinds.contains(&kind) { "x" } else { "" };
        let mut texts = SavedInputs::new(Servers::kinds(), |kind| text(kind).to_owned());
        texts.set(TENANT_ID, "it's".to_owned());
        let expected = "agent resolve --dry-run --index mcp.index.json --tenant tenant.yaml \
                        --health health.yaml --policy policy.rego --tenant-id 'it'\\''s' agents.md";
        assert_eq!(commands(&texts).collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn a_blank_lock_is_left_out() {
        let texts = texts(&[(DocumentKind::Lock, " \n")]);
        assert!(!write(&texts, None, "0.1.0").contains("agents.lock"));
    }
}
