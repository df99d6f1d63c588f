//! Secrets in documents for a link.

use agent_diagnostic::{Code, Diagnostic};
use agent_explain::Mended;
use agent_text::{DocumentKind, REDACTED, Text, secrets};

/// Documents without their secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// A problem for each secret, in the order of documents and places.
    pub secrets: Vec<Diagnostic>,
    /// The documents that held secrets, each replaced by [`REDACTED`].
    pub documents: Vec<Mended>,
}

/// Finds the secrets of documents for a link, and replaces them.
pub fn redact(documents: &[(DocumentKind, &str)]) -> Redaction {
    let mut redaction = Redaction {
        secrets: Vec::new(),
        documents: Vec::new(),
    };
    for &(kind, text) in documents {
        let found = secrets(text);
        if found.is_empty() {
            continue;
        }
        let document = Text::new(kind, text.to_owned());
        let mut redacted = String::with_capacity(text.len());
        let mut at = 0;
        for secret in &found {
            let message = format!("a link would hold {}", secret.kind);
            let problem = Diagnostic::new(Code::SecretInLink, message);
            let problem = problem.label(document.place(secret.span), secret.kind);
            let problem =
                problem.help("remove it from the document, or replace it with `--redact`");
            redaction.secrets.push(problem);
            redacted.push_str(&text[at..secret.span.start as usize]);
            redacted.push_str(REDACTED);
            at = secret.span.end as usize;
        }
        redacted.push_str(&text[at..]);
        redaction.documents.push(Mended {
            kind,
            text: redacted,
            fixes: found.len(),
        });
    }
    redaction
}
