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
        context,
        // A step of the budget takes about as long as a byte that is read.
        spent: answer.spent.try_into().unwrap_or(usize::MAX),
        left: FIX_BYTES,
    };
    let before = keys(findings, plan.text.as_str());
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
            Some(()) => plan_proposals(plan, rules, answer, finding),
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
                    edits: fix_edits(plan, rules, changes),
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

/// What carries out a fix: the edits of each document, ordered by document and place.
pub fn fix_edits(plan: &Text, rules: &PlanPolicy, fix: &ChangeSet) -> Vec<Edit> {
    let texts = [plan, &rules.pool.text, &rules.profile.text];
    let edits = texts.into_iter().filter_map(|text| {
        let changes: Vec<_> = of(&fix.changes, text.source());
        edits(text, &changes)
    });
    edits.flatten().collect()
}

fn of(changes: &[Change], source: DocumentKind) -> Vec<&Change> {
    let changes = changes.iter();
    changes.filter(|change| change.source == source).collect()
}

/// The edits of one document; nothing where nothing is changed, none if a change has no place.
fn edits(text: &Text, changes: &[&Change]) -> Option<Vec<Edit>> {
    if changes.is_empty() {
        return Some(Vec::new());
    }
    let root = parse_value(&mut Reader::new(text.as_str())).ok()?;
    let patches = document_patches(text.as_str(), &root, changes)?;
    let edits = patches.into_iter().map(|patch| Edit {
        place: text.place(patch.span),
        replacement: patch.text,
    });
    Some(edits.collect())
}

struct Search<'s, 'c> {
    plan: &'s Arc<Validated<Plan>>,
    rules: &'s Arc<PlanPolicy>,
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
        let changed = |text: &Text| {
            let edits = edits(text, &of(changes, text.source()))?;
            Some((!edits.is_empty()).then(|| apply(text.as_str(), &edits)))
        };
        let rules = self.rules;
        let texts = [&self.plan.text, &rules.pool.text, &rules.profile.text];
        let sizes = texts.map(|text| text.as_str().len());
        let work = self.spent
            + sizes[0]
            + if rules_changed {
                sizes[1] + sizes[2]
            } else {
                0
            };
        self.charge(work)?;
        let [plan, pool, profile] = texts.map(changed);
        let (plan, pool, profile) = (plan?, pool?, profile?);
        let examined = match plan {
            Some(text) => Arc::new(agent_lower::plan(text.into_bytes())),
            None => Arc::clone(self.plan),
        };
        let rules = if rules_changed {
            let text = |changed: Option<String>, text: &Text| {
                changed
                    .unwrap_or_else(|| text.as_str().to_owned())
                    .into_bytes()
            };
            Arc::new(rules.with(
                text(pool, &rules.pool.text),
                text(profile, &rules.profile.text),
            ))
        } else {
            Arc::clone(rules)
        };
        let answer = authorize_plan(&examined, &rules, self.context);
        let findings = plan_findings(&examined, &rules, self.context, &answer);
        Some(keys(&findings, examined.text.as_str()))
    }
}

fn keys(findings: &[Finding], plan: &str) -> Vec<Key> {
    let root = parse_value(&mut Reader::new(plan)).ok();
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
        let step = root.as_ref().zip(number);
        Key {
            code: diagnostic.code.name(),
            reason: diagnostic.reason.map(Code::name),
            step: step.map_or_else(String::new, |(root, number)| step_name(root, number)),
            pointer: rest.to_owned(),
            rule: diagnostic.rule.clone().unwrap_or_default(),
        }
    });
    keys.collect()
}

/// The `step_id` of a step of a plan that may be no plan, else its number.
fn step_name(root: &Node<'_>, number: usize) -> String {
    let step = steps(root).get(number);
    let id = step.and_then(|step| child(step, "step_id"));
    match id.map(|id| &id.value) {
        Some(Value::String(id)) => format!("{id:?}"),
        _ => number.to_string(),
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

/// What removes a step, and those that take their inputs from it: from the text, for the plan may be
/// refused. None if nothing would be left.
pub(super) fn without_step(plan: &str, number: usize) -> Option<Vec<Change>> {
    let root = parse_value(&mut Reader::new(plan)).ok()?;
    let steps = steps(&root);
    let name = |node: Option<&Node<'_>>| match node.map(|node| &node.value) {
        Some(Value::String(name)) => Some(name.clone().into_owned()),
        _ => None,
    };
    let mut gone = vec![number];
    let mut names = BTreeSet::from_iter(name(child(steps.get(number)?, "step_id")));
    for (later, step) in steps.iter().enumerate().skip(number + 1) {
        let from = child(step, "input_from").and_then(|from| child(from, "step"));
        if name(from).is_some_and(|from| names.contains(&from)) {
            gone.push(later);
            names.extend(name(child(step, "step_id")));
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
