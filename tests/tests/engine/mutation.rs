//! Valid inputs of the corpus, broken in one to three places: does the answer name every break, and does
//! `--fix` restore the decision?
//!
//! `AGENT_MUTANTS` says how many mutants of each case are tried; the page of the book, which has the figures
//! of the ordinary run, is then neither compared nor written. `AGENT_MUTANTS_LOG` names a file for everything
//! that is not as it should be.

mod question;
mod score;
mod slip;

use crate::random::Random;
use agent_api::Mended;
use agent_diagnostic::{Diagnostic, Severity};
use agent_tests::corpus::{Failures, cases};
use agent_tests::plan::plan_cases;
use agent_tests::root;
use question::{Answer, Kind, Question};
use score::{Outcome, Scores};
use serde_json::Value;
use slip::{Break, Breakable, Class, Names};
use std::fmt::Write as _;
use std::{env, fs};

/// Mutants of each case in the ordinary run.
const MUTANTS: usize = 12;

/// At most this many rounds of fixes, as `--fix` has them.
const ROUNDS: usize = 16;

/// A slip in one of the documents, with its places in the broken text.
struct Placed {
    document: usize,
    slip: Break,
    /// First and last line.
    lines: (u32, u32),
}

struct Mutant {
    question: Question,
    breaks: Vec<Placed>,
}

#[test]
fn broken_valid_inputs_are_named_and_restored() {
    let wanted = env::var("AGENT_MUTANTS").ok();
    let mutants = wanted
        .as_ref()
        .map_or(MUTANTS, |it| it.parse().expect("a number"));
    let log = env::var("AGENT_MUTANTS_LOG").ok();
    let mut scores = Scores::default();
    let mut told = String::new();
    let mut more = Vec::new();
    let areas = ["resolve", "match", "call"].into_iter().flat_map(cases);
    let all = areas.chain(plan_cases()).filter(|case| case.accepted());
    for case in all {
        let sound = Question::of(&case);
        let answer = sound.ask();
        let Some(decision) = &answer.decision else {
            continue;
        };
        // An input that has fixes itself is no sound one.
        if !mended(&sound, &answer).is_empty() {
            continue;
        }
        // A plan may be nested deeper than what reads its authorisation here.
        if serde_json::from_str::<Value>(decision).is_err() {
            continue;
        }
        let mut random = Random(seed(&case.name()));
        for count in 0..mutants {
            let Some(mutant) = broken(&sound, count, &mut random) else {
                continue;
            };
            let outcome = judged(&mutant, decision);
            if outcome.granted_more {
                more.push(described(&case.name(), &mutant, &outcome));
            }
            if log.is_some() && !outcome.is_fine() {
                told += &described(&case.name(), &mutant, &outcome);
            }
            scores.add(&mutant, &outcome);
        }
    }
    if let Some(file) = log {
        fs::write(file, told + &scores.page()).expect("a file that can be written");
    }
    assert!(more.is_empty(), "a fix grants more:\n{}", more.concat());
    let mut failures = Failures::default();
    scores.check(&mut failures);
    if wanted.is_none() {
        let page = root().join("docs/reference/mutations.md");
        failures.compare("mutations.md", &page, &scores.page());
    }
    failures.finish();
}

/// Returns a seed that no other case of the corpus changes: FNV-1a.
fn seed(name: &str) -> u64 {
    let bytes = name.bytes().map(u64::from);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ byte).wrapping_mul(0x100_0000_01b3)
    })
}

/// Breaks a question in one to three places on separate lines.
fn broken(sound: &Question, count: usize, random: &mut Random) -> Option<Mutant> {
    let mut breakable = Vec::new();
    let mut names = Names::new();
    for (document, (kind, text)) in sound.documents.iter().enumerate() {
        if let Some(it) = Breakable::new(*kind, text) {
            it.define(&mut names);
            breakable.push((document, it));
        }
    }
    let mut slips: Vec<(usize, Break)> = Vec::new();
    // Half of the mutants have one break.
    let wanted = [1, 2, 1, 3][count % 4];
    for _ in 0..60 {
        if slips.len() == wanted {
            break;
        }
        let (document, breakable) = random.one_of(&breakable);
        let class = *random.one_of(&Class::ALL);
        let Some(slip) = breakable.broken(class, &names, random) else {
            continue;
        };
        let lines = |slip: &Break| lines(&sound.documents[*document].1, slip);
        let (first, last) = lines(&slip);
        let is_apart = |(other, it): &(usize, Break)| {
            other != document || {
                let (start, end) = lines(it);
                last < start || end < first
            }
        };
        let is_apart = slips.iter().all(is_apart);
        // A mutation that breaks nothing by itself is tried alone.
        let is_one = wanted == 1
            || is_apart && {
                let alone = applied(sound, vec![(*document, slip.clone())]);
                alone.question.ask().decision.is_none()
            };
        if is_apart && is_one {
            slips.push((*document, slip));
        }
    }
    if slips.len() < wanted {
        return None;
    }
    Some(applied(sound, slips))
}

fn applied(sound: &Question, mut slips: Vec<(usize, Break)>) -> Mutant {
    let mut question = sound.clone();
    slips.sort_by_key(|(document, slip)| (*document, slip.span.start));
    for (document, slip) in slips.iter().rev() {
        let text = &mut question.documents[*document].1;
        text.replace_range(slip.span.clone(), &slip.replacement);
    }
    let breaks = slips.into_iter().map(|(document, slip)| Placed {
        // No slip but that at the end changes the number of lines.
        lines: lines(&sound.documents[document].1, &slip),
        document,
        slip,
    });
    let breaks = breaks.collect();
    Mutant { question, breaks }
}

fn lines(text: &str, slip: &Break) -> (u32, u32) {
    let line = |at: usize| 1 + text[..at].matches('\n').count() as u32;
    (line(slip.around.start), line(slip.around.end))
}

fn judged(mutant: &Mutant, decision: &str) -> Outcome {
    let first = mutant.question.ask();
    let named: Vec<_> = mutant
        .breaks
        .iter()
        .map(|it| is_named(mutant, it, &first))
        .collect();
    let refused = first.decision.is_none();
    let mut question = mutant.question.clone();
    let mut answer = first.clone();
    let mut changed = false;
    for _ in 0..ROUNDS {
        let mended = mended(&question, &answer);
        if mended.is_empty() {
            break;
        }
        changed = true;
        for text in mended {
            let mut documents = question.documents.iter_mut();
            let document = documents.find(|(kind, _)| *kind == text.kind);
            document.expect("a document that was given").1 = text.text;
        }
        answer = question.ask();
    }
    let restored = answer.decision.as_deref() == Some(decision);
    // What another decision grants is compared with what the sound input and the mutant granted.
    let sound = question::grants(mutant.question.kind, decision);
    let own = first
        .decision
        .as_ref()
        .map(|it| question::grants(mutant.question.kind, it));
    let granted_more = changed
        && answer.decision.as_ref().is_some_and(|decision| {
            let grants = question::grants(mutant.question.kind, decision);
            let is_more = |before: &question::Grants| !grants.is_within(before);
            is_more(&sound) && own.as_ref().is_none_or(is_more)
        });
    Outcome {
        named,
        refused,
        restored,
        granted_more,
        answered_otherwise: refused && !restored && answer.decision.is_some(),
        found: first.diagnostics,
        left: answer.diagnostics,
        mended: question,
    }
}

/// Returns the documents that the safe fixes of an answer change.
fn mended(question: &Question, answer: &Answer) -> Vec<Mended> {
    let documents = question.documents.iter();
    let texts: Vec<_> = documents.map(|(kind, text)| (*kind, &**text)).collect();
    agent_api::mend(&texts, &answer.diagnostics, false)
}

/// Returns whether a diagnostic has a place on the lines of a break, or quotes its word.
fn is_named(mutant: &Mutant, placed: &Placed, answer: &Answer) -> bool {
    let kind = mutant.question.documents[placed.document].0;
    let (first, last) = placed.lines;
    answer.diagnostics.iter().any(|diagnostic| {
        let is_there = diagnostic.labels.iter().any(|label| {
            let line = label.place.start.line;
            label.place.source == kind && (first..=last).contains(&line)
        });
        let quotes = placed.slip.words.as_ref().is_some_and(|(_, wrong)| {
            let quoted = format!("`{wrong}`");
            texts(diagnostic).any(|text| text.contains(&quoted))
        });
        is_there || quotes
    })
}

fn texts(diagnostic: &Diagnostic) -> impl Iterator<Item = &str> {
    let labels = diagnostic.labels.iter().map(|label| &*label.text);
    let fixes = diagnostic.fixes.iter().map(|fix| &*fix.title);
    let notes = diagnostic.notes.iter().map(|note| &**note);
    [&*diagnostic.message]
        .into_iter()
        .chain(labels)
        .chain(notes)
        .chain(fixes)
}

/// What grants more must not pass for the same.
#[test]
fn a_wider_decision_grants_more() {
    let lock = |selections: &str, constraints: &str| {
        let text =
            format!(r#"[{{"selections": [{selections}]}}, {{"constraints": {constraints}}}]"#);
        question::grants(Kind::Resolve, &text)
    };
    let (one, other) = (
        r#"{"id": "a", "scopes": ["s"]}"#,
        r#"{"id": "b", "scopes": []}"#,
    );
    let narrow = r#"{"forbid": ["x"], "requireSigned": true, "residency": "eu-only"}"#;
    let sound = lock(one, narrow);
    assert!(lock(one, narrow).is_within(&sound) && lock("", narrow).is_within(&sound));
    let wider = narrow.replace("true", "false");
    for (selections, constraints) in [
        (format!("{one}, {other}"), narrow),
        (one.replace("s\"]", "t\"]"), narrow),
        (one.to_owned(), &wider),
        (
            one.to_owned(),
            r#"{"forbid": [], "requireSigned": true, "residency": "eu-only"}"#,
        ),
    ] {
        assert!(
            !lock(&selections, constraints).is_within(&sound),
            "{selections} {constraints}"
        );
    }
}

/// Returns everything about a mutant for printing.
fn described(case: &str, mutant: &Mutant, outcome: &Outcome) -> String {
    let mut text = format!("=== {case}: {}\n", outcome.summary());
    for (placed, named) in mutant.breaks.iter().zip(&outcome.named) {
        let slip = &placed.slip;
        let (kind, sound) = &mutant.question.documents[placed.document];
        let line = sound
            .lines()
            .nth(placed.lines.0 as usize - 1)
            .unwrap_or_default();
        let name = kind.usual_name();
        writeln!(
            text,
            "{}{}: {}, {} {:?}: {name}:{}: {}",
            if *named { "" } else { "UNNAMED " },
            slip.class,
            slip.manner,
            if slip.is_ambiguous {
                "ambiguous"
            } else {
                "plain"
            },
            slip.words,
            placed.lines.0,
            line.trim()
        )
        .expect("a string");
    }
    for (when, found) in [("first", &outcome.found), ("left", &outcome.left)] {
        for it in found {
            let place = it.labels.first().map(|label| label.place);
            let place = place.map(|it| (it.source.usual_name(), it.start.line, it.start.column));
            let fixes: Vec<_> = it
                .fixes
                .iter()
                .map(|fix| (fix.applicability, &fix.title))
                .collect();
            let severity = match it.severity {
                Severity::Error => "error",
                _ => "warning",
            };
            writeln!(
                text,
                "  {when}: {severity} {} {place:?} {} {fixes:?}",
                it.code.name(),
                it.message
            )
            .expect("a string");
        }
    }
    if outcome.found != outcome.left {
        for ((kind, now), (_, before)) in outcome
            .mended
            .documents
            .iter()
            .zip(&mutant.question.documents)
        {
            if now != before {
                let lines = now
                    .lines()
                    .zip(before.lines())
                    .filter(|(now, before)| now != before);
                for (now, before) in lines.take(4) {
                    writeln!(text, "  {}: {before} -> {now}", kind.usual_name()).expect("a string");
                }
            }
        }
    }
    text
}
