//! The messages between the page of reviews and its worker.
//!
//! A review compares two sets of documents. A page has one editor for each kind of document, and places name
//! documents by their kinds: the earlier documents take the kinds of [`EARLIER`], which no review has.

use agent_answer::{Diagnostic, DocumentKind, Review};
use serde::{Deserialize, Serialize};

/// The earlier lock.
pub const EARLIER_LOCK: DocumentKind = DocumentKind::Document;

/// The earlier `agents.md`.
pub const EARLIER_MANIFEST: DocumentKind = DocumentKind::Profile;

/// The earlier index.
pub const EARLIER_INDEX: DocumentKind = DocumentKind::Catalogue;

/// The earlier policy.
pub const EARLIER_POLICY: DocumentKind = DocumentKind::PolicyTest;

/// The documents of a review, each with the kind that stands for the earlier one.
pub const EARLIER: [(DocumentKind, DocumentKind); 4] = [
    (DocumentKind::Lock, EARLIER_LOCK),
    (DocumentKind::Manifest, EARLIER_MANIFEST),
    (DocumentKind::Index, EARLIER_INDEX),
    (DocumentKind::Policy, EARLIER_POLICY),
];

/// Returns the kind that stands for the earlier document of a kind.
pub fn earlier(kind: DocumentKind) -> DocumentKind {
    let known = EARLIER.iter().find(|(later, _)| *later == kind);
    known.map_or(kind, |(_, earlier)| *earlier)
}

/// The question: what do the later documents change? All of it is in the documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request;

/// An answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The problems of all documents.
    pub problems: Vec<Diagnostic>,
    /// The name and the version of the later lock's agent.
    pub agent: Option<String>,
    /// The differences; `None` if there is no later lock, or a lock can't be read or made.
    pub review: Option<Review>,
    /// The locks that were made from a manifest and an index, the earlier one first.
    pub made: [Option<String>; 2],
}

/// The properties of an engine. The page knows all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About;

#[cfg(test)]
mod tests {
    use super::{Answer, EARLIER, earlier};
    use crate::{from_bytes, to_bytes};
    use agent_answer::{DocumentKind, Review, ReviewedTool};

    #[test]
    fn every_document_has_one_kind() {
        let mut kinds: Vec<_> = EARLIER.iter().flat_map(|(a, b)| [*a, *b]).collect();
        kinds.sort();
        kinds.dedup();
        assert_eq!(kinds.len(), 2 * EARLIER.len());
        assert_eq!(earlier(DocumentKind::Lock), DocumentKind::Document);
        assert_eq!(earlier(DocumentKind::Task), DocumentKind::Task);
    }

    #[test]
    fn an_answer_comes_back_from_its_bytes() {
        let answer = Answer {
            review: Some(Review {
                sentence: Some("\u{202e}𝄞".to_owned()),
                tools: Some(vec![ReviewedTool {
                    server: "acme".to_owned(),
                    name: "read".to_owned(),
                    before: None,
                    after: Some("{}\n".to_owned()),
                }]),
                ..Review::default()
            }),
            made: [None, Some(String::new())],
            ..Answer::default()
        };
        let bytes = to_bytes(&answer);
        assert_eq!(from_bytes(&bytes), Some(answer));
        for length in 0..bytes.len() {
            assert_eq!(from_bytes::<Answer>(&bytes[..length]), None);
        }
    }
}
