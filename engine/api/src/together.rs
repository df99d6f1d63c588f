//! What refused documents say together.
//!
//! A document that can't be read hides every problem that only a comparison shows: a category that no
//! server offers, a tool that the lock lacks. So refused documents are read once more as if their safe
//! fixes were applied, and what the answer then adds is reported together with the problems found.
//! Nothing that is read in this way is decided upon.

use super::{CallAnswer, GroundingAnswer, LockText, PlanAnswer, match_tools, resolve, verify};
use agent_decide::{CallContext, EvaluationContext, PlanContext, PlanPolicy};
use agent_diagnostic::{Applicability, Code, Diagnostic, Edit, Fix, Round, Severity};
use agent_explain::{drift_diagnostic, matching_diagnostics, resolution_diagnostics};
use agent_lower::{Lowered, Notation};
use agent_syntax::{Repaired, repair_json};
use agent_text::{DocumentKind, Span, Text};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of rounds of fixes. A fix that makes another possible needs a separate round.
const ROUNDS: usize = 4;

/// Maximum size of all documents in bytes: each is read again in every round.
const SIZE_LIMIT: usize = 16 << 20;

/// Completes the problems of documents that one question is about. Documents in each other's place become
/// one problem. If a document is refused, the problems are added that it hides in the others.
pub fn together(documents: &[(DocumentKind, &str)], found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut found = swapped(found);
    let size: usize = documents.iter().map(|(_, text)| text.len()).sum();
    let mut drafts: BTreeMap<DocumentKind, Draft> = BTreeMap::new();
    for (kind, text) in documents {
        // A place names a kind alone.
        if drafts.insert(*kind, Draft::new(*kind, text)).is_some() {
            return found;
        }
    }
    let is_refused = found.iter().any(|it| it.severity == Severity::Error);
    if !is_refused || size > SIZE_LIMIT {
        return found;
    }
    // The answer to a plan has the problems of its documents too, so it is known already.
    let is_plan = drafts.contains_key(&DocumentKind::Plan);
    if is_plan && !mend(&mut drafts, &found) {
        return found;
    }
    for round in usize::from(is_plan)..ROUNDS {
        match answer(&drafts) {
            // What can be read as it is hides nothing, but for the tool behind an almost correct name.
            Some(Ok(denials)) if round == 0 => {
                if !drafts.contains_key(&DocumentKind::Call) || !mend(&mut drafts, &denials) {
                    return found;
                }
            }
            Some(Ok(hidden)) => {
                let hidden = hidden.into_iter().filter_map(|mut problem| {
                    drafts_back(&mut problem, &drafts).then_some(problem)
                });
                let hidden: Vec<_> = hidden.filter(|it| !is_known(it, &found)).collect();
                found.extend(hidden);
                return found;
            }
            Some(Err(problems)) => {
                if !mend(&mut drafts, &problems) {
                    return found;
                }
            }
            None => return found,
        }
    }
    found
}

/// Merges two documents that are each where the other belongs.
fn swapped(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let is = |problem: &Diagnostic, code| problem.code == code || problem.reason == Some(code);
    let kinds = |problem: &Diagnostic| {
        let words = problem.message.strip_prefix("this is ")?;
        let (is, expected) = words.split_once(", not ")?;
        is_word(is).then(|| (is.to_owned(), expected.to_owned()))
    };
    let mut merged: Vec<Diagnostic> = Vec::new();
    for problem in found {
        let wrong = is(&problem, Code::WrongDocument);
        let words = kinds(&problem).filter(|_| wrong);
        let other = words.and_then(|(is, expected)| {
            let other = merged.iter_mut().find(|other| {
                other.place().map(|it| it.source) != problem.place().map(|it| it.source)
                    && kinds(other) == Some((expected.clone(), is.clone()))
            })?;
            Some((other, is, expected))
        });
        let Some((other, is, expected)) = other else {
            merged.push(problem);
            continue;
        };
        let bare = |kind: &str| kind.split_once(' ').map_or("", |(_, name)| name).to_owned();
        other.message = format!("the {} and the {} are swapped", bare(&expected), bare(&is));
        other.labels.extend(problem.labels);
        let helps = [&other.fixes, &problem.fixes].map(|fixes| {
            let titles = fixes.iter().map(|fix| &*fix.title);
            titles.filter_map(|title| title.split('`').nth(1)).next()
        });
        if let [Some(one), Some(two)] = helps {
            let title = format!("swap the two files, so that they fit `{one}` and `{two}`");
            other.fixes = vec![Fix::display(title)];
        }
    }
    merged
}

fn is_word(kind: &str) -> bool {
    kind.starts_with("a ") || kind.starts_with("an ")
}

/// A document with the fixes of the rounds so far.
struct Draft {
    original: Text,
    rounds: Vec<Repaired>,
}

impl Draft {
    fn new(kind: DocumentKind, text: &str) -> Self {
        Self {
            original: Text::new(kind, text.to_owned()),
            rounds: Vec::new(),
        }
    }

    fn text(&self) -> &str {
        (self.rounds.last()).map_or_else(|| self.original.as_str(), |it| &it.text)
    }
}

/// Applies a round of safe fixes. Returns whether a text changed.
fn mend(drafts: &mut BTreeMap<DocumentKind, Draft>, problems: &[Diagnostic]) -> bool {
    let fixes = problems.iter().map(|it| &*it.fixes);
    let round = Round::new(fixes, Applicability::Safe, |edit| {
        let kind = edit.place.source;
        kind.may_be_edited() && drafts.contains_key(&kind)
    });
    let mut is_changed = false;
    for (kind, draft) in &mut *drafts {
        let own = |edit: &&&Edit| edit.place.source == *kind;
        let own = round.edits.iter().filter(own);
        let mut edits: Vec<_> = own.map(|it| (it.place.span, &*it.replacement)).collect();
        if edits.is_empty() {
            edits = noted_keys(*kind, problems);
        }
        if !edits.is_empty() {
            draft.rounds.push(Repaired::new(draft.text(), edits));
            is_changed = true;
        }
    }
    let is_of_lock = |it: &Diagnostic| it.place().is_some_and(|at| at.source == DocumentKind::Lock);
    let is_broken = |it: &Diagnostic| it.code == Code::JsonSyntax && is_of_lock(it);
    is_changed | (problems.iter().any(is_broken) && repaired_lock(drafts))
}

/// Returns the edits that make notes of keys without effect, which hide what the rest lacks.
fn noted_keys(kind: DocumentKind, problems: &[Diagnostic]) -> Vec<(Span, &'static str)> {
    if !matches!(kind, DocumentKind::Manifest | DocumentKind::Task) {
        return Vec::new();
    }
    let without_effect = problems
        .iter()
        .filter(|it| matches!(it.code, Code::UnknownKey | Code::MisplacedKey));
    let places = without_effect.filter_map(Diagnostic::place);
    let own = places.filter(|it| it.source == kind);
    let starts: BTreeSet<_> = own.map(|it| it.span.start as usize).collect();
    starts
        .into_iter()
        .map(|at| (Span::new(at, at), "x-"))
        .collect()
}

/// Repairs the syntax of a lock, which no fix may write, so that it can be compared. Returns whether its text changed.
fn repaired_lock(drafts: &mut BTreeMap<DocumentKind, Draft>) -> bool {
    let Some(draft) = drafts.get_mut(&DocumentKind::Lock) else {
        return false;
    };
    let text = draft.text();
    let repairs = repair_json(text, Span::new(0, text.len()));
    if repairs.list.is_empty() || !repairs.complete {
        return false;
    }
    let edits = repairs.list.iter().map(|it| (it.edit, &*it.replacement));
    draft.rounds.push(Repaired::new(text, edits));
    true
}

/// Maps the places of a problem back. Returns whether it is about nothing that a fix wrote, which would be
/// a problem of the fix. A fix that touches another one has no edits.
fn drafts_back(problem: &mut Diagnostic, drafts: &BTreeMap<DocumentKind, Draft>) -> bool {
    let place = |place: &mut agent_text::Place| {
        let Some(draft) = drafts.get(&place.source) else {
            return false;
        };
        let mut touches = false;
        for round in draft.rounds.iter().rev() {
            let (span, touched) = round.original(place.span);
            place.span = span;
            touches |= touched;
        }
        *place = draft.original.place(place.span);
        touches
    };
    let mut is_own = true;
    for (number, label) in problem.labels.iter_mut().enumerate() {
        is_own &= !place(&mut label.place) || number > 0;
    }
    for fix in &mut problem.fixes {
        let mut touches = false;
        for edit in &mut fix.edits {
            touches |= place(&mut edit.place);
        }
        if touches {
            fix.edits.clear();
            fix.applicability = Applicability::Display;
        }
    }
    is_own
}

fn is_known(problem: &Diagnostic, found: &[Diagnostic]) -> bool {
    let same = |it: &Diagnostic| it.code == problem.code && it.place() == problem.place();
    found.iter().any(same)
}

/// Returns the problems that only an answer shows, or those of reading. `None` if the documents belong to
/// no question.
fn answer(
    drafts: &BTreeMap<DocumentKind, Draft>,
) -> Option<Result<Vec<Diagnostic>, Vec<Diagnostic>>> {
    let mut refused = Refused::default();
    let bytes = |kind| {
        let draft = drafts.get(&kind);
        draft.map(|draft| draft.text().as_bytes().to_vec())
    };
    let notation = Notation::ByContent;
    if let (Some(summary), Some(payload)) =
        (bytes(DocumentKind::Summary), bytes(DocumentKind::Payload))
    {
        let read = refused.value(Some(agent_lower::summarised(summary, payload)));
        return Some(refused.or(|| {
            let Some((summary, payload)) = read else {
                return Vec::new();
            };
            GroundingAnswer::new(&summary, &payload).diagnostics()
        }));
    }
    if let (Some(plan), Some(pool), Some(profile)) = (
        bytes(DocumentKind::Plan),
        bytes(DocumentKind::ToolPool),
        bytes(DocumentKind::Profile),
    ) {
        let index = refused.value(bytes(DocumentKind::Index).map(agent_lower::index));
        let lock = refused.value(bytes(DocumentKind::Lock).map(agent_lower::lock));
        return Some(refused.or(|| {
            let plan = Arc::new(agent_lower::plan(plan));
            let rules = Arc::new(PlanPolicy::new(pool, profile, None));
            let request = bytes(DocumentKind::Request).map(agent_lower::request);
            let context = PlanContext {
                request: request.as_ref(),
                index: index.as_ref(),
                lock: lock.as_ref(),
                catalogue: None,
                evaluation_context: None,
            };
            PlanAnswer::new(&plan, &rules, context).diagnostics()
        }));
    }
    let index = refused.value(Some(agent_lower::index(bytes(DocumentKind::Index)?)));
    if let Some(call) = bytes(DocumentKind::Call) {
        let plan = refused.value(Some(agent_lower::call_plan(call)));
        let lock = refused.value(bytes(DocumentKind::Lock).map(agent_lower::lock));
        return Some(refused.or(|| {
            let (Some(plan), Some(index)) = (&plan, &index) else {
                return Vec::new();
            };
            let context = CallContext {
                index,
                lock: lock.as_ref(),
                catalogue: None,
                evaluation_context: None,
            };
            CallAnswer::new(plan, context).diagnostics()
        }));
    }
    let (manifest, task) = (bytes(DocumentKind::Manifest), bytes(DocumentKind::Task));
    if manifest.is_none() && task.is_none() {
        let lock = refused.value(Some(LockText::read(bytes(DocumentKind::Lock)?)));
        return Some(refused.or(|| {
            let (Some(lock), Some(index)) = (&lock, &index) else {
                return Vec::new();
            };
            let drifts = verify(lock, index, None);
            drifts.iter().map(drift_diagnostic).collect()
        }));
    }
    let manifest = refused.value(manifest.map(agent_lower::manifest));
    let task = refused.value(task.map(|it| agent_lower::task(it, notation)));
    let health = bytes(DocumentKind::Health).map(|it| agent_lower::health(it, notation));
    let health = refused.value(health);
    // Which of several tenants is asked for is not known here, and no policy is evaluated.
    let context = EvaluationContext {
        task: task.map(Arc::new),
        health: health.map(Arc::new),
        ..EvaluationContext::default()
    };
    Some(refused.or(|| {
        let Some(index) = index.map(Arc::new) else {
            return Vec::new();
        };
        match manifest.map(Arc::new) {
            Some(manifest) => match resolve(manifest, index, context) {
                Ok(resolution) => resolution_diagnostics(&resolution),
                Err(found) => found,
            },
            None => match match_tools(None, index, context) {
                Ok(matching) => matching_diagnostics(&matching),
                Err(found) => found,
            },
        }
    }))
}

/// The problems of reading.
#[derive(Default)]
struct Refused {
    problems: Vec<Diagnostic>,
}

impl Refused {
    /// Returns the value of a reading, or keeps its problems.
    fn value<T>(&mut self, read: Option<Lowered<T>>) -> Option<T> {
        match read? {
            Ok(checked) => Some(checked.value),
            Err(problems) => {
                self.problems.extend(problems);
                None
            }
        }
    }

    /// Returns the problems, or the answer without any.
    fn or(
        self,
        answer: impl FnOnce() -> Vec<Diagnostic>,
    ) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        match self.problems.is_empty() {
            true => Ok(answer()),
            false => Err(self.problems),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::together;
    use agent_diagnostic::{Code, Diagnostic};
    use agent_text::DocumentKind::{Index, Manifest};

    const INDEX: &str = r#"[{"id": "a", "version": "1", "endpoint": "https://a.example", "categories":
        ["reports"], "scopes": [], "data": {"residency": [], "maxSensitivity": "public"},
        "trust": {"signed": false, "publisher": "A"}}]"#;

    fn manifest(version: &str, category: &str) -> String {
        let requires = format!("requires:\n  mcp:\n    - category: {category}\n");
        format!("---\nname: a\n{version}: 1\n{requires}      permissions: []\n---\n")
    }

    /// Returns the code and the line of each problem.
    fn of(manifest: &str, index: &str) -> Vec<(Code, u32)> {
        let read = [
            agent_lower::manifest(manifest.into()).map(drop_value),
            agent_lower::index(index.into()).map(drop_value),
        ];
        let found = read.into_iter().filter_map(Result::err).flatten().collect();
        let found = together(&[(Manifest, manifest), (Index, index)], found);
        let line = |it: &Diagnostic| it.place().map_or(0, |place| place.start.line);
        found.iter().map(|it| (it.code, line(it))).collect()
    }

    fn drop_value<T>(_: T) {}

    #[test]
    fn what_a_refused_document_hides_is_told() {
        let hidden = [(Code::MisspeltKey, 3), (Code::Unsatisfied, 6)];
        assert_eq!(of(&manifest("verison", "report"), INDEX), hidden);
        // The place is that in the manifest as it is, also behind a longer line.
        let tabs = manifest("version", "report").replace("    - category", "\t\t- category");
        assert_eq!(of(&tabs, INDEX).last(), Some(&(Code::Unsatisfied, 6)));
    }

    #[test]
    fn only_what_can_be_mended_is_compared() {
        let misspelt = [(Code::MisspeltKey, 3)];
        assert_eq!(of(&manifest("verison", "reports"), INDEX), misspelt);
        // A residency that can't be guessed leaves no index to compare with.
        let index = INDEX.replace("\"residency\": []", "\"residency\": \"moon\"");
        let found = of(&manifest("verison", "report"), &index);
        assert_eq!(found, [(Code::MisspeltKey, 3), (Code::UnknownValue, 2)]);
        // Nothing is compared if nothing was refused.
        assert_eq!(of(&manifest("version", "report"), INDEX), []);
    }

    #[test]
    fn documents_in_each_other_s_place_are_one_problem() {
        let found = of(INDEX, &manifest("version", "reports"));
        assert_eq!(found, [(Code::WrongDocument, 1)]);
        let both = together(
            &[],
            vec![
                Diagnostic::new(Code::WrongDocument, "this is a task, not a manifest"),
                Diagnostic::new(Code::WrongDocument, "this is an index, not a task"),
            ],
        );
        assert_eq!(both.len(), 2);
    }
}
