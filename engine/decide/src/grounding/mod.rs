//! Whether a summary says what a payload says \[1\]: every claim with evidence, character for
//! character, and for each that has none what its author may have meant.

mod fold;
mod nearest;
mod quote;
mod seam;
mod sought;

use agent_lower::ITEM_LIMIT;
use agent_model::{Claim, LeafNumber, Payload, Summary};
use agent_text::Place;
use fold::Folder;
use nearest::NearMiss;
use sought::{Sought, sought};
use std::ops::Range;

pub use fold::Difference;
pub use nearest::{PIECE, WORK};

/// How many code points a part of a text has at least to be evidence, white space at its ends not
/// counted.
pub const EVIDENCE_MIN: usize = 8;

/// The answer to a summary.
#[derive(Debug, Clone)]
pub struct Grounding<'i> {
    /// What was summed up.
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
        /// Where it is first, in document order.
        first: Quote,
        /// How often it is there, counted from the front without overlaps.
        count: usize,
    },
    /// It is not.
    Ungrounded {
        /// Why not.
        reason: Reason,
        /// What would be evidence and is most like it. None if nothing is like it, if that is
        /// more than anybody reads, or if to look for it would have been more than [`WORK`].
        nearest: Option<Quote>,
    },
}

/// A part of a leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// The leaf.
    pub leaf: LeafNumber,
    /// The bytes of its text.
    pub part: Range<usize>,
}

/// Why evidence is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// It is no whole leaf, and has fewer code points than [`EVIDENCE_MIN`].
    TooShort {
        /// How many it has, without white space at its ends.
        code_points: usize,
    },
    /// It is a part of a number or of a boolean.
    PartOfValue,
    /// It is the name of a member, here.
    Name(Place),
    /// It begins with the end of one leaf and goes on with the beginning of another.
    AcrossLeaves([Quote; 2]),
    /// It would be there if these did not count; there is at least one.
    Altered(Vec<Difference>),
    /// It is not there.
    Absent,
}

impl Reason {
    /// The stable name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TooShort { .. } => "too-short",
            Self::PartOfValue => "part-of-value",
            Self::Name(_) => "name",
            Self::AcrossLeaves(_) => "across-leaves",
            Self::Altered(_) => "altered",
            Self::Absent => "absent",
        }
    }
}

impl Grounding<'_> {
    /// Whether every item has its evidence.
    pub fn grounded(&self) -> bool {
        self.failed() == 0
    }

    /// How many items have none.
    pub fn failed(&self) -> usize {
        let failed = |verdict: &&Verdict| matches!(verdict, Verdict::Ungrounded { .. });
        self.verdicts.iter().filter(failed).count()
    }

    /// The items and the answer to each.
    pub fn items(&self) -> impl Iterator<Item = (&Claim, &Verdict)> {
        self.summary.items.as_slice().iter().zip(&self.verdicts)
    }
}

/// Decide on a summary.
///
/// Time is linear in the sizes of both for each item, of which there are at most [`ITEM_LIMIT`];
/// what is looked for besides ends with [`WORK`].
pub fn ground<'i>(summary: &'i Summary, payload: &'i Payload) -> Grounding<'i> {
    let items = summary.items.as_slice();
    debug_assert!(items.len() <= ITEM_LIMIT);
    let mut search = Search {
        payload,
        folder: Folder::default(),
        work: WORK,
    };
    let sought = sought(items, payload);
    let verdicts = sought.into_iter().map(|it| search.verdict(it));
    Grounding {
        payload,
        summary,
        verdicts: verdicts.collect(),
    }
}

/// Looks for evidence in a payload.
struct Search<'p> {
    payload: &'p Payload,
    folder: Folder,
    /// How much may still be done besides looking for evidence as it is.
    work: usize,
}

impl Search<'_> {
    fn verdict(&mut self, sought: Sought<'_>) -> Verdict {
        let count = sought.count;
        match sought.first {
            Some(first) => Verdict::Grounded { first, count },
            None => self.ungrounded(sought),
        }
    }

    /// Why evidence is none.
    fn ungrounded(&mut self, sought: Sought<'_>) -> Verdict {
        let evidence = sought.evidence;
        let too_short = (!sought.is_long()).then_some(Reason::TooShort {
            code_points: sought.code_points,
        });
        if let Some(quote) = sought.partial {
            return Verdict::Ungrounded {
                reason: too_short.unwrap_or(Reason::PartOfValue),
                nearest: self.sufficient(quote, true),
            };
        }
        if too_short.is_none()
            && let Some([left, right]) = self.across(evidence)
        {
            let longer = match right.part.len() > left.part.len() {
                true => right.clone(),
                false => left.clone(),
            };
            return Verdict::Ungrounded {
                reason: Reason::AcrossLeaves([left, right]),
                nearest: self.sufficient(longer, true),
            };
        }
        let near = self.nearest(evidence);
        let of_name = || self.payload.place_of_name(evidence).map(Reason::Name);
        let reason = too_short
            .or_else(of_name)
            .or_else(|| altered(near.as_ref()?))
            .unwrap_or(Reason::Absent);
        // What is the same but for a few marks begins and ends where the evidence does.
        let whole_words = !matches!(reason, Reason::Altered(_));
        Verdict::Ungrounded {
            reason,
            nearest: near.and_then(|near| self.sufficient(near.quote, whole_words)),
        }
    }

    /// As much more of a leaf as makes it evidence.
    fn sufficient(&self, quote: Quote, whole_words: bool) -> Option<Quote> {
        quote::sufficient(self.payload.leaf(quote.leaf), quote.part, whole_words)
    }

    /// Do so much more, unless it would be too much.
    fn afford(&mut self, work: usize) -> bool {
        let left = self.work.checked_sub(work);
        if let Some(left) = left {
            self.work = left;
        }
        left.is_some()
    }
}

/// That only what does not look or mean different keeps evidence from being there.
fn altered(near: &NearMiss) -> Option<Reason> {
    let differences = &near.differences;
    (!differences.is_empty()).then(|| Reason::Altered(differences.clone()))
}
