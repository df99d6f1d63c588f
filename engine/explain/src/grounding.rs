//! Messages about claims without evidence.

use agent_decide::{Difference, EVIDENCE_MIN, Grounding, Quote, Reason, Verdict, WHOLE_MIN};
use agent_diagnostic::{Applicability, Code, Diagnostic, Edit, Fix};
use agent_model::Claim;
use agent_syntax::json_string;
use agent_text::Place;
use std::ops::Range;

/// Maximum number of characters of evidence in a sentence.
const SHOWN: usize = 60;

/// A quotation of a leaf, with its places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation<'p> {
    /// The JSON pointer to the leaf.
    pub pointer: String,
    /// The quoted text.
    pub text: &'p str,
    /// The place in the payload, including escapes, and the quotes of a whole string.
    pub place: Place,
    /// The bytes of the leaf's text.
    pub bytes: Range<usize>,
    /// The code points of the leaf's text.
    pub characters: Range<usize>,
}

/// Returns the verdict on a summary as a sentence. A verbatim quotation is all that is proved: the
/// claim may still say the opposite.
pub fn grounded(grounded: bool) -> &'static str {
    match grounded {
        true => "each claim quotes the payload; whether it follows is for a reader to judge",
        false => "not every claim quotes the payload",
    }
}

/// Returns a quote with its text and places.
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

/// Returns the edit of the summary that makes a quote the evidence of a claim. A person must judge
/// whether it proves the claim.
pub fn requote(grounding: &Grounding<'_>, claim: &Claim, quote: &Quote) -> Edit {
    let leaf = grounding.payload.leaf(quote.leaf);
    Edit {
        place: grounding.summary.text.place(claim.evidence.span),
        replacement: json_string(&leaf.text()[quote.part.clone()]),
    }
}

/// Returns the code of a reason.
pub fn ungrounded_code(reason: &Reason) -> Code {
    match reason {
        Reason::TooShort { .. } => Code::EvidenceTooShort,
        _ => Code::Ungrounded,
    }
}

/// Returns a reason as the predicate of a sentence about the evidence.
pub fn ungrounded_reason(grounding: &Grounding<'_>, reason: &Reason) -> String {
    match reason {
        Reason::TooShort { code_points: 1 } => {
            format!("has 1 character: a whole text needs {WHOLE_MIN}, a part of one {EVIDENCE_MIN}")
        }
        Reason::TooShort { code_points } => format!(
            "has {code_points} characters, and is not a whole value: a part of a text needs \
             {EVIDENCE_MIN}"
        ),
        Reason::PartOfValue => "is part of a number, which must be quoted whole".to_owned(),
        Reason::Name(_) => "is the name of a member, and only values are evidence".to_owned(),
        Reason::NoText(_) => {
            "is not a text of the result: its types, names and flags are no evidence".to_owned()
        }
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
                "matches the payload only without regard to {}",
                differences.join(" and ")
            )
        }
        Reason::Absent => "is not in the payload".to_owned(),
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

/// Returns an error for each claim without evidence.
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
        (Reason::NoText(value), _) => diagnostic.label(*value, "not a text of the result"),
        (Reason::AcrossLeaves([left, right]), _) => diagnostic
            .label(place(left), "one half")
            .label(place(right), "the other half"),
        (_, Some(quote)) => diagnostic.label(place(quote), "nearest"),
        _ => diagnostic,
    };
    let Some(quote) = nearest else {
        return diagnostic.help(code.help());
    };
    let near = cite(grounding, quote);
    diagnostic.fixes.push(Fix {
        title: format!(
            "quote the nearest text, at `{}`:\n\"evidence\": {}",
            near.pointer,
            json_string(near.text)
        ),
        // A quotation in another spelling has the same meaning.
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

/// Returns a note about the first different character, if the difference may be invisible.
fn unseen(reason: &Reason, evidence: &str, near: &str) -> Option<String> {
    let Reason::Altered(differences) = reason else {
        return None;
    };
    let unseen = [Difference::Lookalikes, Difference::WhiteSpace];
    if !unseen.iter().any(|one| differences.contains(one)) {
        return None;
    }
    let (quoted, there) = evidence.chars().zip(near.chars()).find(|(a, b)| a != b)?;
    (!quoted.is_ascii() || !there.is_ascii()).then(|| {
        format!(
            "the evidence has U+{:04X} first where the payload has U+{:04X}",
            u32::from(quoted),
            u32::from(there)
        )
    })
}

/// Returns the beginning of evidence in quotes.
fn shown(evidence: &str) -> String {
    let end = evidence.char_indices().nth(SHOWN).map(|(at, _)| at);
    match end {
        Some(end) => format!("{:?}…", &evidence[..end]),
        None => format!("{evidence:?}"),
    }
}
