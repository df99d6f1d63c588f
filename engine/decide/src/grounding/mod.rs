//! The decision on a summary of a payload \[1\]: every claim needs verbatim evidence. A claim without
//! evidence gets the nearest text that would be.

mod cross_leaf;
mod evidence_match;
mod nearest;
mod normalize;
mod quote;
mod search;

use agent_lower::ITEM_LIMIT;
use agent_model::{Claim, Payload, Summary};
use agent_text::Place;
use evidence_match::{EvidenceMatch, matches};
use normalize::Normalizer;
use search::Search;

pub use nearest::PIECE;
pub use normalize::Difference;
pub use quote::{EVIDENCE_MIN, Quote, WHOLE_MIN};
pub use search::WORK;

/// The answer to a summary.
#[derive(Debug, Clone)]
pub struct Grounding<'i> {
    /// The summarised payload.
    pub payload: &'i Payload,
    /// The summary.
    pub summary: &'i Summary,
    /// The answer to each item, in the order of the summary.
    pub verdicts: Vec<Verdict>,
}

/// The answer to an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The evidence is in the payload.
    Grounded {
        /// The first match, in document order.
        first: Quote,
        /// The number of matches, from the front without overlaps.
        count: usize,
    },
    /// The evidence is not in the payload.
    Ungrounded {
        /// The reason.
        reason: Reason,
        /// The most similar text that would be evidence. It is absent if no text is similar, if it
        /// is too long to read, or if the search exceeds [`WORK`].
        nearest: Option<Quote>,
    },
}

/// A reason to refuse evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The evidence is a part of a text with fewer code points than [`EVIDENCE_MIN`], or a whole text
    /// with fewer than [`WHOLE_MIN`].
    TooShort {
        /// Its number of code points, without white space at its ends.
        code_points: usize,
    },
    /// The evidence is a part of a number.
    PartOfValue,
    /// The evidence is the name of the member at this place.
    Name(Place),
    /// The evidence is the value at this place, which is not a text of the result: a type, a name or a
    /// flag of its envelope, or a boolean.
    NoText(Place),
    /// The evidence joins the end of one leaf with the beginning of another.
    AcrossLeaves([Quote; 2]),
    /// The payload contains the evidence with these differences, of which there is at least one.
    Altered(Vec<Difference>),
    /// The payload does not contain the evidence.
    Absent,
}

impl Reason {
    /// Returns the stable name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => "too-short",
            Self::PartOfValue => "part-of-value",
            Self::Name(_) => "name",
            Self::NoText(_) => "no-text",
            Self::AcrossLeaves(_) => "across-leaves",
            Self::Altered(_) => "altered",
            Self::Absent => "absent",
        }
    }
}

impl Grounding<'_> {
    /// Returns whether every item is grounded.
    pub fn grounded(&self) -> bool {
        self.failed() == 0
    }

    /// Returns the number of items that are not grounded.
    pub fn failed(&self) -> usize {
        let failed = |verdict: &&Verdict| matches!(verdict, Verdict::Ungrounded { .. });
        self.verdicts.iter().filter(failed).count()
    }

    /// Returns each item with its verdict.
    pub fn items(&self) -> impl Iterator<Item = (&Claim, &Verdict)> {
        self.summary.items.as_slice().iter().zip(&self.verdicts)
    }
}

/// Decides on a summary.
///
/// Time is linear in the sizes of both for each item, of which there are at most [`ITEM_LIMIT`];
/// the search for the nearest text ends with [`WORK`].
pub fn ground<'i>(summary: &'i Summary, payload: &'i Payload) -> Grounding<'i> {
    let items = summary.items.as_slice();
    debug_assert!(items.len() <= ITEM_LIMIT);
    let mut search = Search {
        payload,
        normalizer: Normalizer::default(),
        work: WORK,
    };
    let matches = matches(items, payload).into_iter();
    Grounding {
        payload,
        summary,
        verdicts: matches.map(|it| verdict(&mut search, it)).collect(),
    }
}

fn verdict(search: &mut Search<'_>, found: EvidenceMatch<'_>) -> Verdict {
    if let Some(first) = found.first {
        let count = found.count;
        return Verdict::Grounded { first, count };
    }
    let evidence = found.evidence;
    let too_short = (!found.is_long()).then_some(Reason::TooShort {
        code_points: found.code_points,
    });
    if let Some(quote) = found.partial {
        return Verdict::Ungrounded {
            reason: too_short.unwrap_or(Reason::PartOfValue),
            nearest: search.sufficient(quote, true),
        };
    }
    if too_short.is_none()
        && let Some([left, right]) = search.across(evidence)
    {
        let longer = match right.part.len() > left.part.len() {
            true => right.clone(),
            false => left.clone(),
        };
        return Verdict::Ungrounded {
            reason: Reason::AcrossLeaves([left, right]),
            nearest: search.sufficient(longer, true),
        };
    }
    let near = search.nearest(evidence);
    let no_text = search.payload.place_of_other(evidence).map(Reason::NoText);
    let of_name = || search.payload.place_of_name(evidence).map(Reason::Name);
    let altered = || {
        let differences = near.as_ref()?.differences.clone();
        (!differences.is_empty()).then_some(Reason::Altered(differences))
    };
    let reason = no_text
        .or(too_short)
        .or_else(of_name)
        .or_else(altered)
        .unwrap_or(Reason::Absent);
    // Altered evidence begins and ends with the match.
    let whole_words = !matches!(reason, Reason::Altered(_));
    Verdict::Ungrounded {
        reason,
        nearest: near.and_then(|near| search.sufficient(near.quote, whole_words)),
    }
}
