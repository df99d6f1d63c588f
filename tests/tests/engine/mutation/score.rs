//! The scores of mutants, and the page of the book that holds them.

use super::Mutant;
use super::question::Question;
use agent_diagnostic::Diagnostic;
use agent_tests::corpus::Failures;
use std::collections::BTreeMap;

/// The outcome of a mutant.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Of each break, whether the first answer names it.
    pub(super) named: Vec<bool>,
    pub(super) refused: bool,
    /// Whether the fixes lead to the decision on the unbroken input.
    pub(super) restored: bool,
    /// Whether the fixes lead to another yes.
    pub(super) answered_otherwise: bool,
    pub(super) granted_more: bool,
    pub(super) found: Vec<Diagnostic>,
    pub(super) left: Vec<Diagnostic>,
    pub(super) mended: Question,
}

impl Outcome {
    pub(super) fn is_fine(&self) -> bool {
        !self.refused || self.restored && self.named.iter().all(|named| *named)
    }

    pub(super) fn summary(&self) -> &'static str {
        match self {
            Self {
                granted_more: true, ..
            } => "GRANTED MORE",
            Self { refused: false, .. } => "valid by itself",
            Self { restored: true, .. } => "restored",
            Self {
                answered_otherwise: true,
                ..
            } => "ANSWERED OTHERWISE",
            _ => "LEFT",
        }
    }
}

/// The counts of one row.
#[derive(Debug, Default, Clone, Copy)]
struct Score {
    mutants: usize,
    valid: usize,
    /// Breaks of refused mutants, and how many of them are named.
    breaks: usize,
    named: usize,
    /// Refused mutants that the text alone tells how to mend, and how many are restored.
    plain: usize,
    restored: usize,
    /// The other refused ones, and how many of them stay a no.
    ambiguous: usize,
    left: usize,
    otherwise: usize,
}

impl Score {
    fn add(&mut self, mutant: &Mutant, outcome: &Outcome) {
        self.mutants += 1;
        if !outcome.refused {
            self.valid += 1;
            return;
        }
        self.breaks += outcome.named.len();
        self.named += outcome.named.iter().filter(|named| **named).count();
        self.otherwise += usize::from(outcome.answered_otherwise);
        if mutant.breaks.iter().any(|it| it.slip.is_ambiguous) {
            self.ambiguous += 1;
            self.left += usize::from(!outcome.restored && !outcome.answered_otherwise);
        } else {
            self.plain += 1;
            self.restored += usize::from(outcome.restored);
        }
    }

    fn row(&self, name: &str) -> String {
        let Self {
            mutants,
            valid,
            breaks,
            named,
            plain,
            restored,
            ambiguous,
            left,
            otherwise,
        } = self;
        format!(
            "| {name} | {mutants} | {valid} | {named} of {breaks} | {restored} of {plain} | \
             {left} of {ambiguous} | {otherwise} |\n"
        )
    }

    fn check(&self, name: &str, least_named: usize, failures: &mut Failures) {
        let least = [
            ("named", self.named, self.breaks, least_named),
            ("restored", self.restored, self.plain, RESTORED),
        ];
        for (what, met, all, percent) in least {
            if met * 100 < all * percent {
                failures.add(name, format!("{what}: {met} of {all}"));
            }
        }
    }
}

/// The rows of all tables.
#[derive(Debug, Default)]
pub(super) struct Scores {
    places: BTreeMap<String, Score>,
    manners: BTreeMap<String, Score>,
    numbers: BTreeMap<String, Score>,
    all: Score,
}

/// The least share of mutants whose decision is restored, in percent.
const RESTORED: usize = 95;

/// The least share of breaks that are named: of a lone one, and of all. A name that refers to another
/// document is compared with it only once both can be read.
const NAMED_ALONE: usize = 98;
const NAMED: usize = 92;

impl Scores {
    pub(super) fn add(&mut self, mutant: &Mutant, outcome: &Outcome) {
        let add = |rows: &mut BTreeMap<String, Score>, row: String| {
            rows.entry(row).or_default().add(mutant, outcome);
        };
        add(&mut self.numbers, mutant.breaks.len().to_string());
        if let [placed] = &*mutant.breaks {
            let slip = &placed.slip;
            let kind = mutant.question.documents[placed.document].0;
            add(
                &mut self.places,
                format!("{}, {}", kind.usual_name(), slip.class),
            );
            add(&mut self.manners, slip.manner.to_owned());
        }
        self.all.add(mutant, outcome);
    }

    pub(super) fn check(&self, failures: &mut Failures) {
        self.numbers["1"].check("one break", NAMED_ALONE, failures);
        self.all.check("all", NAMED, failures);
    }

    pub(super) fn page(&self) -> String {
        let mut page = String::from(INTRODUCTION);
        let tables = [
            ("One break, by document and class", &self.places),
            ("One break, by its manner", &self.manners),
            ("By the number of breaks", &self.numbers),
        ];
        for (title, rows) in tables {
            page += &format!("\n## {title}\n\n{HEAD}");
            for (name, score) in rows {
                page += &score.row(name);
            }
        }
        page + &self.all.row("∑")
    }
}

const HEAD: &str = "\
| | mutants | valid | named | restored | left | otherwise |
|---|---:|---:|---:|---:|---:|---:|
";

const INTRODUCTION: &str = "\
# Mutations

A test breaks the valid inputs of `tests/corpus` in one to three places, as people do: it misspells keys,
closed values and references, and forgets or replaces punctuation. It asks the question of the case, applies
the safe fixes as `--fix` does, and compares the decision with that on the unbroken input: the lock with its
explanation, the match, the authorised plan, or the call. It writes these tables.

- *valid*: the mutant is valid by itself, so nothing is broken; these count in no other column,
- *named*: the first answer has a place on the line of the break, or quotes the broken word,
- *restored*: the safe fixes lead to the same decision, of the mutants that the text alone tells how to mend,
- *left*: the answer stays a no, of the mutants that only a person can mend: another word is as near, or the
  word is so short that a wrong letter makes another one (fewer than three letters, four of a name),
- *otherwise*: the fixes lead to a yes with another decision.

No fixed input grants more than the unbroken one; otherwise the test fails.

Three kinds of breaks are open:

- A name that refers to another document is compared with it only once both documents can be read. Beside
  another break it is named in the second run.
- A misspelt selector in a rule of a profile is named, and stays: the repaired rule would allow a tool.
- `agent plan check` does not look for misspelt optional keys in a locked entry of the index, which has
  changed anyway.
";
