//! The answer to a summary.

use super::difference::pieces;
use super::shown;
use crate::GroundingAnswer;
use agent_answer::{Claim, Evidence, Grounding, NearQuote, Place, Quote};
use agent_decide::{self as decide, Reason, Verdict};
use agent_explain::{cite, grounded, ungrounded_code, ungrounded_reason};

impl GroundingAnswer<'_> {
    /// Returns the answer as data.
    pub fn data(&self) -> Grounding {
        let decided = self.grounding();
        let mut failures = self.diagnostics().into_iter();
        let claims = decided.items().map(|(claim, verdict)| Claim {
            claim: shown(&claim.claim.value),
            evidence: shown(&claim.evidence.value),
            place: decided.summary.text.place(claim.evidence.span),
            verdict: match verdict {
                Verdict::Grounded { first, count } => Evidence::Found {
                    first: quote(decided, first),
                    count: u32::try_from(*count).unwrap_or(u32::MAX),
                },
                Verdict::Ungrounded { reason, nearest } => {
                    let found = failures.next();
                    let (fixes, notes) = found.map(|it| (it.fixes, it.notes)).unwrap_or_default();
                    let (quotes, others): (Vec<_>, Vec<_>) =
                        fixes.into_iter().partition(|fix| !fix.edits.is_empty());
                    let near = nearest.as_ref().zip(quotes.into_iter().next());
                    Evidence::Missed {
                        code: ungrounded_code(reason),
                        text: ungrounded_reason(decided, reason),
                        notes: others
                            .into_iter()
                            .map(|fix| fix.title)
                            .chain(notes)
                            .collect(),
                        parts: parts(decided, reason),
                        near: near.map(|(found, fix)| NearQuote {
                            quote: quote(decided, found),
                            pieces: pieces(&claim.evidence.value, cite(decided, found).text),
                            fix,
                        }),
                    }
                }
            },
        });
        Grounding {
            grounded: Some(decided.grounded()),
            text: grounded(decided.grounded()).to_owned(),
            diagnostics: Vec::new(),
            claims: claims.collect(),
        }
    }
}

fn quote(grounding: &decide::Grounding<'_>, quote: &decide::Quote) -> Quote {
    let cited = cite(grounding, quote);
    Quote {
        pointer: cited.pointer,
        text: shown(cited.text),
        place: cited.place,
    }
}

fn parts(grounding: &decide::Grounding<'_>, reason: &Reason) -> Vec<Place> {
    match reason {
        Reason::Name(place) | Reason::NoText(place) => vec![*place],
        Reason::AcrossLeaves(parts) => {
            let parts = parts.iter().map(|part| cite(grounding, part).place);
            parts.collect()
        }
        _ => Vec::new(),
    }
}
