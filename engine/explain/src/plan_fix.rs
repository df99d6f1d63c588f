//! What would make the problems of a plan go away, verified by deciding again.
//!
//! Each reason has proposals, those that permit no more than before first. A proposal is made if
//! its own problem is gone after it and no other one has come, by itself and together with what
//! is proposed for the problems before it, so that all of them together lead to a yes.

use super::edit::{apply, document_patches};
use super::plan::plan_findings;
use super::plan_proposal::plan_proposals;
use agent_decide::{PlanAnswer, PlanContext, PlanPolicy, authorize_plan};
use agent_diagnostic::{
    Applicability, Change, ChangeKind, ChangeSet, Code, Diagnostic, Edit, Finding, Fix,
};
use agent_json_schema::child;
use agent_lower::{self, Validated};
use agent_model::Plan;
use agent_syntax::json::{Reader, parse_value};
use agent_syntax::{Node, Value};
use agent_text::sort::sort_by;
use agent_text::{DocumentKind, Text};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// For so many problems of one plan a change is looked for.
pub const FIX_LIMIT: usize = 64;

/// So many bytes of documents are decided again at most, for all problems of one plan together.
pub const FIX_BYTES: usize = 16 << 20;

/// So many changes are there in all fixes of one plan together at most: nobody looks through more.
pub const FIX_CHANGES: usize = 256;

/// The fixes of findings, in their order: as they are found, and none for those that have none. It
/// is a pure function of the documents, and not of time.
pub fn plan_fixes(
    plan: &Arc<Validated<Plan>>,
    rules: &Arc<PlanPolicy>,
    context: PlanContext<'_>,
    answer: &PlanAnswer<'_>,
    findings: &[Finding],
) -> Vec<Option<ChangeSet>> {
    let mut search = Search {
        plan,
        rules,
        documents: Documents::new(&plan.text, rules),
        step_ids: step_ids(plan),
        context,
        // A step of the budget takes about as long as a byte that is read.
        spent: answer.spent.try_into().unwrap_or(usize::MAX),
        left: FIX_BYTES,
    };
    let before = keys(findings, &search.step_ids);
    // What takes more than its budget would do so again and again.
    let costly = findings
        .iter()
        .any(|finding| finding.diagnostic.reason == Some(Code::SchemaBudget));
    if costly {
        return findings.iter().map(|_| None).collect();
    }
    let mut chosen: Vec<Change> = Vec::new();
    let mut now = before.clone();
    let mut fixes: Vec<Option<ChangeSet>> = Vec::new();
    // What was chosen, with the problems that there are after it alone.
    let mut alone_after: Vec<(ChangeSet, Vec<Key>)> = Vec::new();
    for (number, finding) in findings.iter().enumerate() {
        let key = &before[number];
        if number >= FIX_LIMIT {
            fixes.push(None);
            continue;
        }
        let removes = |after: &[Key]| count(after, key) < count(&before, key);
        // What takes from a step is found in the text.
        let proposals = match search.charge(plan.text.as_str().len()) {
            Some(()) => {
                let root = search.documents.root(DocumentKind::Plan);
                plan_proposals(plan, rules, answer, finding, root)
            }
            None => Vec::new(),
        };
        let fix = proposals.into_iter().find_map(|proposal| {
            let alone = search.after(&proposal)?;
            if !removes(&alone) || !within(&alone, &before) {
                return None;
            }
            let together: Vec<_> = chosen.iter().chain(&proposal).cloned().collect();
            let after = search.after(&together)?;
            let gone = count(&now, key) == 0 || count(&after, key) < count(&now, key);
            let changes = (gone && within(&after, &now)).then_some(proposal)?;
            Some((ChangeSet { changes }, alone, together, after))
        });
        if let Some((fix, alone, together, after)) = fix {
            chosen = together;
            now = after;
            fixes.push(Some(fix.clone()));
            alone_after.push((fix, alone));
        } else {
            // What is chosen for another problem may do for this one as well.
            let mut others = alone_after.iter();
            let other = others.find(|(_, alone)| count(&now, key) == 0 && removes(alone));
            fixes.push(other.map(|(fix, _)| fix.clone()));
        }
    }
    fixes
}

/// Returns findings as they are shown. A safe fix goes before all other help, an unsafe one last.
pub fn plan_diagnostics(
    plan: &Text,
    rules: &PlanPolicy,
    findings: Vec<Finding>,
    fixes: &[Option<ChangeSet>],
) -> Vec<Diagnostic> {
    let documents = Documents::new(plan, rules);
    let fixed = findings.into_iter().zip(fixes).map(|(finding, changes)| {
        let mut diagnostic = finding.diagnostic;
        match changes {
            None => diagnostic.notes.push("no automatic fix".to_owned()),
            Some(changes) => {
                let more = match changes.widens() {
                    true => " (gives the agent more access)",
                    false => "",
                };
                let fix = Fix {
                    title: format!("{}{more}", fix_words(changes)),
                    applicability: applicability(changes),
                    edits: documents.all_edits(changes),
                };
                let first = fix.applicability == Applicability::Safe;
                let place = if first { 0 } else { diagnostic.fixes.len() };
                diagnostic.fixes.insert(place, fix);
            }
        }
        diagnostic
    });
    fixed.collect()
}

/// A change of the pool or the profile concerns every plan, so a person has to ask for it.
fn applicability(changes: &ChangeSet) -> Applicability {
    let of_plan = |change: &Change| change.source == DocumentKind::Plan;
    match changes.changes.iter().all(of_plan) && !changes.removes() && !changes.widens() {
        true => Applicability::Safe,
        false => Applicability::Unsafe,
    }
}

/// What carries out a fix: an instruction.
pub fn fix_words(fix: &ChangeSet) -> String {
    let changes: Vec<_> = fix.changes.iter().map(in_words).collect();
    changes.join("; ")
}

fn in_words(change: &Change) -> String {
    let document = match change.source {
        DocumentKind::ToolPool => "the pool",
        DocumentKind::Profile => "the profile",
        _ => "the plan",
    };
    let pointer = &change.pointer;
    match &change.kind {
        ChangeKind::Remove => format!("remove `{pointer}` of {document}"),
        ChangeKind::Replace(value) => format!("set `{pointer}` of {document} to `{value}`"),
        ChangeKind::Add(value) => match pointer.strip_suffix("/-") {
            Some(list) => format!("add `{value}` to `{list}` of {document}"),
            None => format!("add `{pointer}` to {document}: `{value}`"),
        },
    }
}

/// Returns the edits that carry out a fix, ordered by document and place.
pub fn fix_edits(plan: &Text, rules: &PlanPolicy, fix: &ChangeSet) -> Vec<Edit> {
    Documents::new(plan, rules).all_edits(fix)
}

/// The documents that a fix may change: the plan, the pool and the profile. Each is parsed once.
struct Documents<'t> {
    texts: [&'t Text; 3],
    /// The tree of each text, if it can be read.
    roots: [OnceCell<Option<Node<'t>>>; 3],
}

impl<'t> Documents<'t> {
    fn new(plan: &'t Text, rules: &'t PlanPolicy) -> Self {
        Self {
            texts: [plan, &rules.pool.text, &rules.profile.text],
            roots: Default::default(),
        }
    }

    fn root(&self, source: DocumentKind) -> Option<&Node<'t>> {
        let mut documents = self.texts.iter().zip(&self.roots);
        let (text, root) = documents.find(|(text, _)| text.source() == source)?;
        let root = root.get_or_init(|| parse_value(&mut Reader::new(text.as_str())).ok());
        root.as_ref()
    }

    fn all_edits(&self, fix: &ChangeSet) -> Vec<Edit> {
        let texts = self.texts.into_iter();
        let edits = texts.filter_map(|text| self.edits(text, &fix.changes));
        edits.flatten().collect()
    }

    /// Returns the edits of one document, or `None` if a change of it has no place.
    fn edits(&self, text: &Text, changes: &[Change]) -> Option<Vec<Edit>> {
        let changes = changes.iter();
        let changes: Vec<_> = changes.filter(|it| it.source == text.source()).collect();
        if changes.is_empty() {
            return Some(Vec::new());
        }
        let patches = document_patches(text.as_str(), self.root(text.source())?, &changes)?;
        let edits = patches.into_iter().map(|patch| Edit {
            place: text.place(patch.span),
            replacement: patch.text,
        });
        Some(edits.collect())
    }

    /// Returns the text of each document that changes, or `None` if a change has no place.
    fn changed(&self, changes: &[Change]) -> Option<[Option<Vec<u8>>; 3]> {
        let mut changed = [const { None }; 3];
        for (changed, text) in changed.iter_mut().zip(self.texts) {
            let edits = self.edits(text, changes)?;
            *changed = (!edits.is_empty()).then(|| apply(text.as_str(), &edits).into_bytes());
        }
        Some(changed)
    }
}

struct Search<'s, 'c> {
    plan: &'s Arc<Validated<Plan>>,
    rules: &'s Arc<PlanPolicy>,
    documents: Documents<'s>,
    /// The [`step_ids`] of the plan.
    step_ids: Vec<Option<String>>,
    context: PlanContext<'c>,
    /// What it took to decide, beside what there is to read.
    spent: usize,
    /// How many bytes may still be decided.
    left: usize,
}

/// By what a problem is known again where steps have other numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    code: &'static str,
    reason: Option<&'static str>,
    step: String,
    pointer: String,
    rule: String,
}

impl Search<'_, '_> {
    /// Spend bytes. None: there are not as many left.
    fn charge(&mut self, bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }

    /// The problems after changes. None if they can't be made, or that would be too much work.
    fn after(&mut self, changes: &[Change]) -> Option<Vec<Key>> {
        if changes.len() > FIX_CHANGES {
            return None;
        }
        let of_rules =
            |it: &Change| matches!(it.source, DocumentKind::ToolPool | DocumentKind::Profile);
        let rules_changed = changes.iter().any(of_rules);
        let sizes = self.documents.texts.map(|text| text.as_str().len());
        let rules_size = if rules_changed {
            sizes[1] + sizes[2]
        } else {
            0
        };
        self.charge(self.spent + sizes[0] + rules_size)?;
        // Only a document that changes is read again.
        let [plan, pool, profile] = self.documents.changed(changes)?;
        let plan = plan.map(|text| Arc::new(agent_lower::plan(text)));
        let rules = match rules_changed {
            true => &Arc::new(self.rules.with(pool, profile)),
            false => self.rules,
        };
        let validated = plan.as_ref().unwrap_or(self.plan);
        let answer = authorize_plan(validated, rules, self.context);
        let findings = plan_findings(validated, rules, self.context, &answer);
        Some(match &plan {
            Some(plan) => keys(&findings, &step_ids(plan)),
            None => keys(&findings, &self.step_ids),
        })
    }
}

fn keys(findings: &[Finding], step_ids: &[Option<String>]) -> Vec<Key> {
    let keys = findings.iter().map(|finding| {
        let diagnostic = &finding.diagnostic;
        let source = diagnostic.place().map(|place| place.source);
        let of_plan = source == Some(DocumentKind::Plan);
        let in_step = diagnostic
            .pointer()
            .strip_prefix("/plan/steps/")
            .filter(|_| of_plan);
        let (number, rest) = match in_step {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                (rest[..end].parse().ok(), &rest[end..])
            }
            None => (diagnostic.step, diagnostic.pointer()),
        };
        let step = number.map(|number: usize| match step_ids.get(number) {
            Some(Some(id)) => format!("{id:?}"),
            _ => number.to_string(),
        });
        Key {
            code: diagnostic.code.name(),
            reason: diagnostic.reason.map(Code::name),
            step: step.unwrap_or_default(),
            pointer: rest.to_owned(),
            rule: diagnostic.rule.clone().unwrap_or_default(),
        }
    });
    keys.collect()
}

/// Returns the `step_id` of each step of a plan, which may be refused.
fn step_ids(plan: &Validated<Plan>) -> Vec<Option<String>> {
    if let Some(plan) = &plan.value {
        let ids = plan.steps.iter().map(|step| Some(step.id.value.clone()));
        return ids.collect();
    }
    let root = parse_value(&mut Reader::new(plan.text.as_str())).ok();
    let nodes = root.iter().flat_map(steps);
    nodes.map(|step| string(child(step, "step_id"))).collect()
}

fn string(node: Option<&Node<'_>>) -> Option<String> {
    match &node?.value {
        Value::String(text) => Some(text.clone().into_owned()),
        _ => None,
    }
}

fn steps<'n, 'a>(root: &'n Node<'a>) -> &'n [Node<'a>] {
    let plan = child(root, "plan").and_then(|plan| child(plan, "steps"));
    match plan.map(|steps| &steps.value) {
        Some(Value::Sequence(steps)) => steps,
        _ => &[],
    }
}

fn count(keys: &[Key], key: &Key) -> usize {
    keys.iter().filter(|other| *other == key).count()
}

/// Whether some problems are all among others.
fn within(some: &[Key], others: &[Key]) -> bool {
    let mut others = sorted(others).into_iter();
    sorted(some).iter().all(|key| others.any(|it| it == *key))
}

fn sorted(keys: &[Key]) -> Vec<&Key> {
    let mut sorted: Vec<_> = keys.iter().collect();
    sort_by(&mut sorted, Ord::cmp);
    sorted
}

/// Returns the changes that remove a step and those that take their inputs from it, or `None` if no
/// step would be left. They come from the tree, because the plan may be refused.
pub(super) fn without_step(root: &Node<'_>, number: usize) -> Option<Vec<Change>> {
    let steps = steps(root);
    let mut gone = vec![number];
    let mut names = BTreeSet::from_iter(string(child(steps.get(number)?, "step_id")));
    for (later, step) in steps.iter().enumerate().skip(number + 1) {
        let from = child(step, "input_from").and_then(|from| child(from, "step"));
        if string(from).is_some_and(|from| names.contains(&from)) {
            gone.push(later);
            names.extend(string(child(step, "step_id")));
        }
    }
    let changes = gone.iter().map(|number| Change {
        source: DocumentKind::Plan,
        pointer: format!("/plan/steps/{number}"),
        kind: ChangeKind::Remove,
        widens: false,
    });
    (gone.len() < steps.len()).then(|| changes.collect())
}
