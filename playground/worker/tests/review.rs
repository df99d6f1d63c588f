//! The session of the page of reviews: the examples, the order of differences, definitions, and places.
#![cfg(all(feature = "review", not(target_arch = "wasm32")))]

use agent_answer::{Code, DocumentKind, Review};
use agent_worker::review::Session;
use agent_worker_protocol::Texts;
use agent_worker_protocol::review::{
    Answer, EARLIER_INDEX, EARLIER_LOCK, EARLIER_MANIFEST, Request,
};

#[path = "../../ui/src/example.rs"]
pub mod example;
#[path = "../../review-page/src/gallery.rs"]
mod gallery;

/// Texts of an example in front of those of the first visit.
fn texts(own: example::Texts) -> Texts {
    let mut texts = Texts::default();
    for (kind, text) in gallery::BASIS.iter().chain(own) {
        texts = texts.with(*kind, *text);
    }
    texts
}

fn text(kind: DocumentKind) -> &'static str {
    let mut basis = gallery::BASIS.iter();
    basis.find(|(each, _)| *each == kind).unwrap().1
}

fn answer(texts: Texts) -> Answer {
    Session::default().answer(texts, Request)
}

fn review(texts: Texts) -> Review {
    let answer = answer(texts);
    assert_eq!(answer.problems, []);
    answer.review.expect("a review")
}

fn codes(drifts: &[agent_answer::Drift]) -> Vec<Code> {
    drifts.iter().map(|drift| drift.code).collect()
}

#[test]
fn each_example_leads_to_its_code() {
    for example in gallery::REVIEWS {
        let answer = answer(texts(example.texts));
        let found = match &answer.review {
            None => answer.problems.first().map(|it| it.code),
            Some(review) => {
                assert_eq!(answer.problems, [], "{}", example.title);
                let lists = [&review.more, &review.other, &review.less];
                lists.into_iter().flatten().next().map(|it| it.code)
            }
        };
        let code = found.map_or("", Code::name);
        assert_eq!(code, example.code, "{}", example.title);
    }
}

#[test]
fn more_access_comes_first_and_the_sentence_says_it() {
    let review = review(texts(&[]));
    assert_eq!(codes(&review.more), [Code::ScopeWidened]);
    let other = [Code::AgentChanged, Code::VersionChanged];
    assert_eq!(codes(&review.other), other);
    assert_eq!(codes(&review.less), []);
    let sentence = "audiences: the scope `write:audiences` is newly granted";
    assert_eq!(review.sentence.as_deref(), Some(sentence));
    assert!(review.markdown.starts_with("### 3 differences, 1 gives"));
}

#[test]
fn the_other_way_round_access_is_lost() {
    let review = review(texts(gallery::REVIEWS[1].texts));
    assert_eq!(codes(&review.more), []);
    assert_eq!(codes(&review.less), [Code::ScopeNarrowed]);
}

#[test]
fn definitions_are_compared_by_servers_and_names() {
    let review = review(texts(&[]));
    let tools = review.tools.expect("both indexes are given");
    let found: Vec<_> = tools
        .iter()
        .map(|it| (&*it.name, it.before.is_some(), it.after.is_some()))
        .collect();
    // The lock forbids the third tool of the server, and the other server did not change.
    let expected = [
        ("add_to_audience", false, true),
        ("list_audiences", true, true),
    ];
    assert_eq!(found, expected);
    let [before, after] = [&tools[1].before, &tools[1].after].map(|it| it.as_deref().unwrap());
    assert!(before.lines().any(|line| line.trim() == "\"maximum\": 50,"));
    assert!(
        after
            .lines()
            .any(|line| line.trim() == "\"maximum\": 5000,")
    );
}

#[test]
fn without_an_index_no_definition_is_known() {
    let review = review(texts(&[(EARLIER_INDEX, ""), (EARLIER_MANIFEST, "")]));
    assert_eq!(review.tools, None);
    assert_eq!(codes(&review.more), [Code::ScopeWidened]);
}

#[test]
fn places_and_problems_are_those_of_their_side() {
    let review = review(texts(&[]));
    let sources = review.more.iter().flat_map(|it| &it.places);
    let sources: Vec<_> = sources.map(|place| place.source).collect();
    assert_eq!(sources, [EARLIER_LOCK]);

    let cut = &text(EARLIER_LOCK)[..200];
    let cut = answer(texts(&[]).with(EARLIER_LOCK, cut));
    assert_eq!(cut.review, None);
    let places: Vec<_> = cut.problems.iter().filter_map(|it| it.place()).collect();
    assert!(!places.is_empty());
    assert!(places.iter().all(|place| place.source == EARLIER_LOCK));
}

#[test]
fn a_corrected_document_is_read_again_and_the_others_stay() {
    let mut session = Session::default();
    session.answer(texts(&[]), Request);
    let broken = Texts::default().with(DocumentKind::Lock, "{");
    assert_eq!(session.answer(broken, Request).review, None);
    let mended = Texts::default().with(DocumentKind::Lock, text(EARLIER_LOCK));
    let review = session.answer(mended, Request).review.expect("a review");
    assert_eq!(review.sentence, None);
}

#[test]
fn without_a_later_lock_there_is_nothing_to_compare() {
    let blank = texts(&[(DocumentKind::Lock, ""), (DocumentKind::Manifest, "")]);
    let answer = answer(blank);
    assert_eq!((answer.problems, answer.review), (vec![], None));
}

#[test]
fn locks_are_made_where_there_are_none() {
    let answer = answer(texts(gallery::REVIEWS[3].texts));
    for (made, lock) in answer.made.iter().zip([EARLIER_LOCK, DocumentKind::Lock]) {
        assert_eq!(made.as_deref(), Some(text(lock)));
    }
    assert_eq!(answer.agent.as_deref(), Some("newsletter 1.5.0"));
}
