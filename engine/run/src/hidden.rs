//! Diagnostics of a run without secrets. Hosts draw them with the lines that they point at, so a
//! diagnostic at a line with a secret loses its places.

use super::documents::{Documents, Read};
use agent_api::diagnostic::{Applicability, Diagnostic, Fix, Label};
use agent_api::text::{DocumentKind, Span};
use agent_record::Redactor;

/// Maximum size of a document that is searched for secrets, in bytes. No line of a larger one is shown.
const SEARCHED_BYTES: usize = 4 << 20;

/// Lines around a place that a host may draw with it.
const LINES_AROUND: u32 = 3;

/// The lines of documents that hold secrets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hidden {
    lines: Vec<(DocumentKind, u32)>,
    /// Documents of which every line is hidden.
    whole: Vec<DocumentKind>,
}

impl Hidden {
    /// Finds the secrets of the secret store, and values behind keys that name secrets.
    pub(crate) fn of(documents: &Documents, redactor: &Redactor) -> Self {
        let texts = [
            (DocumentKind::Plan, &documents.plan),
            (DocumentKind::Request, &documents.request),
            (DocumentKind::ToolPool, &documents.tool_pool),
            (DocumentKind::Profile, &documents.profile),
            (DocumentKind::Lock, &documents.lock),
            (DocumentKind::Index, &documents.index),
            (DocumentKind::Task, &documents.task),
            (DocumentKind::Tenant, &documents.tenant),
            (DocumentKind::Policy, &documents.policy),
            (DocumentKind::Context, &documents.policy_context),
        ];
        let mut hidden = Self::default();
        for (kind, bytes) in texts {
            let Some(bytes) = bytes else { continue };
            if bytes.len() > SEARCHED_BYTES {
                hidden.whole.push(kind);
                continue;
            }
            let text = String::from_utf8_lossy(bytes);
            let mut places = redactor.places(&text);
            places.extend(redactor.behind_keys(&text));
            hidden.add(kind, &text, places.into_iter());
        }
        hidden
    }

    fn add(
        &mut self,
        kind: DocumentKind,
        text: &str,
        places: impl Iterator<Item = core::ops::Range<usize>>,
    ) {
        for place in places {
            let line = |end: usize| {
                1 + text.as_bytes()[..end]
                    .iter()
                    .filter(|it| **it == b'\n')
                    .count()
            };
            let lines = line(place.start)..=line(place.end);
            self.lines
                .extend(lines.map(|line| (kind, u32::try_from(line).unwrap_or(u32::MAX))));
        }
    }

    /// Returns diagnostics without secrets. `secret` are places in the plan.
    pub(crate) fn redact(
        mut self,
        diagnostics: Vec<Diagnostic>,
        redactor: &Redactor,
        documents: &Read,
        secret: &[Span],
    ) -> Vec<Diagnostic> {
        let plan = documents.plan.text.as_str();
        let places = secret.iter().map(|it| it.start as usize..it.end as usize);
        self.add(DocumentKind::Plan, plan, places);
        if documents.is_planned {
            let mut places = redactor.places(plan);
            places.extend(redactor.behind_keys(plan));
            self.add(DocumentKind::Plan, plan, places.into_iter());
        }
        let redacted = diagnostics
            .into_iter()
            .map(|it| self.diagnostic(it, redactor));
        redacted.collect()
    }

    fn diagnostic(&self, diagnostic: Diagnostic, redactor: &Redactor) -> Diagnostic {
        let mut notes: Vec<_> = diagnostic
            .notes
            .iter()
            .map(|it| redactor.text(it))
            .collect();
        let is_hidden = self.hides(&diagnostic.labels);
        if let (true, Some(label)) = (is_hidden, diagnostic.labels.first()) {
            notes.push(format!(
                "the problem is in line {}, which is not shown because it is near a secret",
                label.place.start.line
            ));
        }
        let labels = diagnostic.labels.into_iter().filter(|_| !is_hidden);
        let labels = labels.map(|label| Label {
            text: redactor.text(&label.text),
            ..label
        });
        Diagnostic {
            message: redactor.text(&diagnostic.message),
            rule: diagnostic.rule.map(|rule| redactor.text(&rule)),
            labels: labels.collect(),
            notes,
            fixes: diagnostic
                .fixes
                .into_iter()
                .map(|it| fix(it, redactor, is_hidden))
                .collect(),
            ..diagnostic
        }
    }

    /// Returns whether a host would draw a hidden line with one of the labels.
    fn hides(&self, labels: &[Label]) -> bool {
        labels.iter().any(|label| {
            let place = &label.place;
            let near = place.start.line.saturating_sub(LINES_AROUND)
                ..=place.end.line.saturating_add(LINES_AROUND);
            self.whole.contains(&place.source)
                || self
                    .lines
                    .iter()
                    .any(|(kind, line)| *kind == place.source && near.contains(line))
        })
    }
}

/// Returns a fix without secrets. One that would write a secret, or write near one, is for people.
fn fix(fix: Fix, redactor: &Redactor, is_hidden: bool) -> Fix {
    let title = redactor.text(&fix.title);
    let is_changed = title != fix.title
        || is_hidden
        || fix
            .edits
            .iter()
            .any(|edit| !redactor.places(&edit.replacement).is_empty());
    match is_changed {
        true => Fix {
            title,
            applicability: Applicability::Display,
            edits: Vec::new(),
        },
        false => Fix { title, ..fix },
    }
}
