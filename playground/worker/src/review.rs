//! The session of the page of reviews: two locks, with what they were made from.

use crate::inputs::{Inputs, Read};
use agent_api::LockText;
use agent_api::answer::{self, Diagnostic, DocumentKind, Place, ReviewSide};
use agent_api::decide::PolicyEngine;
use agent_api::diagnostic::Severity;
use agent_worker_protocol::Texts;
use agent_worker_protocol::review::{About, Answer, EARLIER, Request, earlier};

/// Keeps the inputs from one question to the next.
#[derive(Default)]
pub struct Session {
    before: Side,
    after: Side,
}

/// One of two sets of documents.
#[derive(Default)]
struct Side {
    inputs: Inputs,
    lock: Option<LockText>,
    /// The text of the lock, if it was made.
    made: Option<String>,
    problems: Vec<Diagnostic>,
}

impl Session {
    /// Describes the engine.
    pub fn about() -> About {
        About
    }

    /// Answers the question.
    pub fn answer(&mut self, mut texts: Texts, _: Request) -> Answer {
        let mut earlier_texts = Texts::default();
        for (kind, slot) in EARLIER {
            if let Some(text) = texts.take(slot as u32) {
                earlier_texts.set(kind as u32, text);
            }
        }
        if earlier_texts != Texts::default() {
            self.before.read(earlier_texts);
            self.before.problems.iter_mut().for_each(stand_for_earlier);
        }
        if texts != Texts::default() {
            self.after.read(texts);
        }
        let (before, after) = (&self.before, &self.after);
        let is_refused = before.is_refused() || after.is_refused();
        let later = after.lock.as_ref().filter(|_| !is_refused);
        let mut review = later.map(|lock| {
            let policy = after.inputs.policy.value.as_deref();
            answer::review(
                before.lock.as_ref().map(|lock| before.side(lock)),
                after.side(lock),
                policy.map(|policy| policy as &dyn PolicyEngine),
            )
        });
        if let Some(review) = &mut review {
            let lists = [&mut review.more, &mut review.other, &mut review.less];
            let drifts = lists.into_iter().flatten();
            drifts
                .flat_map(|it| &mut it.places)
                .for_each(place_in_earlier);
        }
        Answer {
            problems: [&*before.problems, &*after.problems].concat(),
            agent: later.map(|it| format!("{} {}", it.lock.agent.name, it.lock.agent.version)),
            review,
            made: [before.made.clone(), after.made.clone()],
        }
    }
}

impl Side {
    /// Reads those texts that are given, and makes the lock if there is none.
    fn read(&mut self, texts: Texts) {
        let is_blank = |kind: DocumentKind| {
            let mut texts = texts.0.iter();
            texts.any(|(number, text)| *number == kind as u32 && text.trim().is_empty())
        };
        let blank = [DocumentKind::Manifest, DocumentKind::Index].map(is_blank);
        self.inputs.read(texts);
        // Elsewhere these two are required.
        if blank[0] {
            self.inputs.manifest = Read::default();
        }
        if blank[1] {
            self.inputs.index = Read::default();
        }
        self.made = None;
        self.lock = self.inputs.lock.value.as_deref().cloned();
        if self.lock.is_some() || self.inputs.lock.refused() {
            self.problems = self.inputs.problems();
            return;
        }
        let resolution = self.inputs.resolve();
        let verdict = self.inputs.verdict(resolution.as_ref());
        self.problems = verdict.diagnostics;
        self.made = verdict.lock;
        self.lock = resolution.and_then(|it| it.lock()).map(|lock| LockText {
            lock,
            // The page shows it as a file: a drift has no place there.
            text: None,
        });
    }

    /// Returns whether there is no lock because of an error.
    fn is_refused(&self) -> bool {
        let mut problems = self.problems.iter();
        self.lock.is_none() && problems.any(|it| it.severity == Severity::Error)
    }

    fn side<'s>(&'s self, lock: &'s LockText) -> ReviewSide<'s> {
        ReviewSide {
            lock,
            index: self.inputs.index.value.as_deref(),
        }
    }
}

fn place_in_earlier(place: &mut Place) {
    place.source = earlier(place.source);
}

/// Moves a problem of the earlier documents to the kinds that stand for them.
fn stand_for_earlier(problem: &mut Diagnostic) {
    for label in &mut problem.labels {
        place_in_earlier(&mut label.place);
    }
    let edits = problem.fixes.iter_mut().flat_map(|fix| &mut fix.edits);
    edits.for_each(|edit| place_in_earlier(&mut edit.place));
    problem.belongs_in = problem.belongs_in.map(earlier);
}
