//! The words for evidence that is none.

use agent_decide::{Difference, EVIDENCE_MIN, Grounding, Quote, Reason, Verdict};
use agent_diagnostic::{Applicability, Code, Diagnostic, Edit, Fix};
use agent_model::Claim;
use agent_syntax::write_string;
use agent_text::Place;
use std::ops::Range;

/// How many characters of evidence a sentence has.
const SHOWN: usize = 60;

/// A part of a leaf, as it can be looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation<'p> {
    /// The JSON pointer to the leaf.
    pub pointer: String,
    /// The part.
    pub text: &'p str,
    /// Where it stands in the payload, perhaps with escapes; of a whole string with its quotes.
    pub place: Place,
    /// The bytes of the leaf's text.
    pub bytes: Range<usize>,
    /// The code points of the leaf's text.
    pub characters: Range<usize>,
}

/// What a quote says and where.
pub fn cite<'p>(grounding: &Grounding<'p>, quote: &Quote) -> Citation<'p> {
    let leaf = grounding.payload.leaf(quote.leaf);
    let bytes = quote.part.clone();
    let text = &leaf.text()[bytes.clone()];
    let start = leaf.text()[..bytes.start].chars().count();
    Citation {
        pointer: leaf.pointer(),
        text,
        place: leaf.place(&bytes),
        characters: start..start + text.chars().count(),
        bytes,
    }
}

/// The edit of the summary by which a quote is the evidence of a claim. Whether it proves what is
/// claimed is for people.
pub fn requote(grounding: &Grounding<'_>, claim: &Claim, quote: &Quote) -> Edit {
    let leaf = grounding.payload.leaf(quote.leaf);
    let mut replacement = String::new();
    write_string(&leaf.text()[quote.part.clone()], &mut replacement);
    Edit {
        place: grounding.summary.text.place(claim.evidence.span),
        replacement,
    }
}

/// The code of a reason.
pub fn ungrounded_code(reason: &Reason) -> Code {
    match reason {
        Reason::TooShort { .. } => Code::EvidenceTooShort,
        _ => Code::Ungrounded,
    }
}

/// Why evidence is none, as the predicate of a sentence about it.
pub fn ungrounded_reason(grounding: &Grounding<'_>, reason: &Reason) -> String {
    match reason {
        Reason::TooShort { code_points } => format!(
            "has {code_points} character{}, and is no whole value: a part of a text needs \
             {EVIDENCE_MIN}",
            if *code_points == 1 { "" } else { "s" }
        ),
        Reason::PartOfValue => {
            "is a part of a number or a boolean, which count only whole".to_owned()
        }
        Reason::Name(_) => "is the name of a member, and only values count".to_owned(),
        Reason::AcrossLeaves(parts) => {
            let [left, right] = parts.each_ref().map(|part| {
                let pointer = grounding.payload.leaf(part.leaf).pointer();
                format!("`{pointer}`")
            });
            format!("is put together from {left} and {right}")
        }
        Reason::Altered(differences) => {
            let differences: Vec<_> = differences.iter().map(|one| difference(*one)).collect();
            format!(
                "is in the payload only if {} did not count",
                differences.join(" and ")
            )
        }
        Reason::Absent => "is in no text of the payload".to_owned(),
    }
}

fn difference(difference: Difference) -> &'static str {
    match difference {
        Difference::Escaping => "escapes of JSON",
        Difference::Lookalikes => "characters that look alike",
        Difference::Case => "upper and lower case",
        Difference::WhiteSpace => "white space",
    }
}

/// Why a summary is rejected: an error for each item without evidence.
pub fn ungrounded(grounding: &Grounding<'_>) -> Vec<Diagnostic> {
    let failed = grounding.items().filter_map(|(claim, verdict)| {
        let Verdict::Ungrounded { reason, nearest } = verdict else {
            return None;
        };
        Some(failure(grounding, claim, reason, nearest.as_ref()))
    });
    failed.collect()
}

fn failure(
    grounding: &Grounding<'_>,
    claim: &Claim,
    reason: &Reason,
    nearest: Option<&Quote>,
) -> Diagnostic {
    let place = |quote: &Quote| {
        let leaf = grounding.payload.leaf(quote.leaf);
        leaf.place(&quote.part)
    };
    let code = ungrounded_code(reason);
    let message = format!(
        "the evidence {} {}",
        shown(&claim.evidence.value),
        ungrounded_reason(grounding, reason)
    );
    let label = match code {
        Code::EvidenceTooShort => "too short",
        _ => "not in the payload",
    };
    let at = grounding.summary.text.place(claim.evidence.span);
    let mut diagnostic = Diagnostic::new(code, message).label(at, label);
    diagnostic = match (reason, nearest) {
        (Reason::Name(name), _) => diagnostic.label(*name, "a name"),
        (Reason::AcrossLeaves([left, right]), _) => diagnostic
            .label(place(left), "the one part")
            .label(place(right), "the other part"),
        (_, Some(quote)) => diagnostic.label(place(quote), "nearest"),
        _ => diagnostic,
    };
    let Some(quote) = nearest else {
        return diagnostic.help(code.help());
    };
    let near = cite(grounding, quote);
    let mut title = format!(
        "quote the nearest text, at `{}`:\n\"evidence\": ",
        near.pointer
    );
    write_string(near.text, &mut title);
    diagnostic.fixes.push(Fix {
        title,
        // A quotation that was only written otherwise says the same.
        applicability: match reason {
            Reason::Altered(_) => Applicability::Safe,
            _ => Applicability::Display,
        },
        edits: vec![requote(grounding, claim, quote)],
    });
    let unseen = unseen(reason, &claim.evidence.value, near.text);
    diagnostic.notes.extend(unseen);
    diagnostic
}

/// The first character in which two texts differ, if that may not be seen.
fn unseen(reason: &Reason, evidence: &str, near: &str) -> Option<String> {
    let Reason::Altered(differences) = reason else {
        return None;
    };
    let unseen = [Difference::Lookalikes, Difference::WhiteSpace];
    if !unseen.iter().any(|one| differences.contains(one)) {
        return None;
    }
    let (asked, there) = evidence.chars().zip(near.chars()).find(|(a, b)| a != b)?;
    (!asked.is_ascii() || !there.is_ascii()).then(|| {
        format!(
            "the evidence has U+{:04X} first where the payload has U+{:04X}",
            u32::from(asked),
            u32::from(there)
        )
    })
}

/// Evidence in quotes, as much of it as a sentence can have.
fn shown(evidence: &str) -> String {
    let end = evidence.char_indices().nth(SHOWN).map(|(at, _)| at);
    match end {
        Some(end) => format!("{:?}…", &evidence[..end]),
        None => format!("{evidence:?}"),
    }
}
