//! Broken inputs, as people and language models break them, in `tests/corpus/broken`: is every cause
//! named in the first run, at its place, and do the fixes lead to what a competent person would write?
//!
//! `README.md` there says what a case is. What a case still misses stands in `open.txt`, which can only
//! shrink by itself: a case that misses more or less than its line says fails.

mod case;
mod question;
mod safety;

use agent_diagnostic::{Diagnostic, Severity};
use agent_tests::corpus::{Failures, corpus};
use agent_tests::root;
use case::{BrokenCase, Cause, Documents, broken_cases};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// At most this many rounds of fixes. A fix that makes the next one possible needs a separate round.
const ROUNDS: usize = 16;

/// The criteria, in the order of the table.
const CRITERIA: [&str; 5] = ["causes", "words", "places", "extra", "fix"];

/// The name of the sum, behind every class by code point.
const ALL: &str = "∑";

/// The number of cases, then how many meet each criterion. The last one is counted apart for the inputs that
/// fixes can mend and for those that only a person can: doing nothing is right for the latter alone.
#[derive(Debug, Default)]
struct Score {
    cases: usize,
    met: [usize; CRITERIA.len() - 1],
    /// Met, of how many.
    mended: (usize, usize),
    left: (usize, usize),
}

impl Score {
    fn count(&mut self, case: &BrokenCase, missed: &[&str]) {
        self.cases += 1;
        for (met, criterion) in self.met.iter_mut().zip(CRITERIA) {
            *met += usize::from(!missed.contains(&criterion));
        }
        let fixed = if case.is_left() {
            &mut self.left
        } else {
            &mut self.mended
        };
        fixed.0 += usize::from(!missed.contains(&"fix"));
        fixed.1 += 1;
    }

    fn row(&self, name: &str) -> String {
        let met = self.met.map(|number| format!(" {number} |")).concat();
        let of = |(met, all): (usize, usize)| format!(" {met} of {all} |");
        let (mended, left) = (of(self.mended), of(self.left));
        format!("| {name} | {} |{met}{mended}{left}\n", self.cases)
    }
}

#[test]
fn broken_inputs_are_explained_and_mended() {
    let mut open = String::new();
    let mut scores = BTreeMap::<String, Score>::new();
    for case in broken_cases() {
        let missed = missed(&case);
        for class in [&*case.class, ALL] {
            let score = scores.entry(class.to_owned()).or_default();
            score.count(&case, &missed);
        }
        if !missed.is_empty() {
            writeln!(open, "{}: {}", case.name(), missed.join(" ")).expect("a string");
        }
    }
    let mut failures = Failures::default();
    failures.compare("open.txt", &corpus().join("broken/open.txt"), &open);
    let page = root().join("docs/reference/broken-inputs.md");
    failures.compare("broken-inputs.md", &page, &self::page(&scores));
    failures.finish();
}

/// A base that is itself refused would make every case of it pass for the wrong reason.
#[test]
fn bases_of_broken_inputs_are_accepted() {
    let mut failures = Failures::default();
    for case in broken_cases() {
        // A tenant that is not there and a document that is not given are no part of the base.
        if case.tenant_id.is_none() && case.absent.is_none() && case.ask != "locked" {
            let found = question::ask(&case.ask, &case.base, None);
            for diagnostic in errors(&found) {
                failures.add(&case.name(), format!("its base: {}", diagnostic.message));
            }
        }
    }
    failures.finish();
}

/// What a competent person would end with is no new riddle.
#[test]
fn mended_inputs_of_the_corpus_are_accepted() {
    let mut failures = Failures::default();
    for case in broken_cases() {
        // Of several causes some may be left for a person.
        if !case.is_left() && !case.more {
            let found = question::ask(&case.ask, &case.goal, case.tenant_id.as_deref());
            for diagnostic in errors(&found) {
                failures.add(&case.name(), format!("its goal: {}", diagnostic.message));
            }
        }
    }
    failures.finish();
}

/// A case that names a place where its text isn't would be missed forever.
#[test]
fn places_of_broken_inputs_are_in_their_documents() {
    let mut failures = Failures::default();
    for case in broken_cases() {
        for Cause {
            files, place, text, ..
        } in &case.causes
        {
            let Some((line, column)) = place else {
                continue;
            };
            let document = String::from_utf8_lossy(&case.documents[&files[0]]);
            let there = document.split('\n').nth(line - 1).unwrap_or_default();
            let there = there.chars().skip(column - 1).collect::<String>();
            if !there.starts_with(text.as_str()) {
                failures.add(&case.name(), format!("{line}:{column} is not {text}"));
            }
        }
    }
    failures.finish();
}

/// Returns the criteria that the answer to a case does not meet.
fn missed(case: &BrokenCase) -> Vec<&'static str> {
    let found = question::ask(&case.ask, &case.documents, case.tenant_id.as_deref());
    let mut unused: Vec<_> = found.iter().collect();
    let [mut named, mut worded, mut placed] = [true; 3];
    for cause in &case.causes {
        // The best of the diagnostics that could mean this cause.
        let best = unused
            .iter()
            .enumerate()
            .filter(|(_, it)| cause.is_named_by(it))
            .max_by_key(|(number, it)| {
                let fits = [cause.is_placed_by(it), cause.is_worded_by(it)];
                (
                    fits.map(usize::from).iter().sum::<usize>(),
                    usize::MAX - number,
                )
            });
        let Some((number, diagnostic)) = best else {
            [named, worded, placed] = [false; 3];
            continue;
        };
        worded &= cause.is_worded_by(diagnostic);
        placed &= cause.is_placed_by(diagnostic);
        unused.remove(number);
    }
    let lone = case.more || errors(&found).len() <= case.causes.len();
    // Where only a person can know the intent, the answer must stay a no. A cause may be a warning.
    let refused = named || !errors(&found).is_empty();
    let is_left = case.is_left();
    let mended = mended(case, found);
    let mut goal = case.goal.iter();
    let fixed = goal.all(|(file, text)| mended.get(file) == Some(text)) && (refused || !is_left);
    let met = [named, worded, placed, lone, fixed];
    let missed = CRITERIA.into_iter().zip(met).filter(|(_, met)| !met);
    missed.map(|(criterion, _)| criterion).collect()
}

/// Returns the documents after the fixes of all rounds.
fn mended(case: &BrokenCase, found: Vec<Diagnostic>) -> Documents {
    let again = |it: &Documents| question::ask(&case.ask, it, case.tenant_id.as_deref());
    mended_by(&case.documents, found, case.unsafe_fixes, &again)
}

/// Returns documents after the fixes of all rounds. `again` asks the question about changed ones.
fn mended_by(
    documents: &Documents,
    mut found: Vec<Diagnostic>,
    unsafe_fixes: bool,
    again: &dyn Fn(&Documents) -> Vec<Diagnostic>,
) -> Documents {
    let mut documents = documents.clone();
    for _ in 0..ROUNDS {
        let texts: Vec<_> = documents
            .iter()
            .map(|(file, bytes)| {
                // What is not UTF-8 was read as an empty text, so a fix inserts all of it.
                let text = std::str::from_utf8(bytes).unwrap_or_default();
                (question::kind(file), text)
            })
            .collect();
        let changed = agent_api::mend(&texts, &found, unsafe_fixes);
        if changed.is_empty() {
            break;
        }
        for text in changed {
            documents.insert(text.kind.usual_name().to_owned(), text.text.into_bytes());
        }
        found = again(&documents);
    }
    documents
}

fn errors(found: &[Diagnostic]) -> Vec<&Diagnostic> {
    let errors = found.iter().filter(|it| it.severity == Severity::Error);
    errors.collect()
}

/// Returns the page of the book with the scores.
fn page(scores: &BTreeMap<String, Score>) -> String {
    let mut page = String::from(INTRODUCTION);
    for (class, score) in scores {
        page += &score.row(class);
    }
    page
}

const INTRODUCTION: &str = "\
# Broken inputs

`tests/corpus/broken` contains inputs that are broken as people and language models break them. The
expectations come from the specifications and were written before the engine was asked; some that were
wrong were corrected afterwards. A test asks the question of each case, and writes this table.

- *causes*: the first run names each cause with its code,
- *words*: and with the words that help, such as the right name,
- *places*: at the exact character to edit,
- *no follow-ups*: it reports no more errors than causes,
- *mended*: `--fix` writes what a competent person would write,
- *left*: it writes nothing where only a person can know the intent, and the answer stays a no.

`tests/corpus/broken/open.txt` lists what each case misses.

| class | cases | causes | words | places | no follow-ups | mended | left |
|---|---:|---:|---:|---:|---:|---:|---:|
";
