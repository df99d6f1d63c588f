//! Fixes for the problems of a plan, verified by deciding again.
//!
//! Each reason has proposals; those that permit no more than before come first. A fix is a proposal
//! that removes its own problem and adds no other one: alone, and together with the fixes of the
//! problems before it. So all fixes together lead to a plan that may run.

use super::edit::{apply, document_patches};
use super::plan::plan_findings;
use super::plan_proposal::plan_proposals;
use super::plan_steps::step_name;
use agent_decide::{PlanAnswer, PlanContext, PlanPolicy, authorize_plan};
use agent_diagnostic::{
    Applicability, Change, ChangeKind, ChangeSet, Code, Diagnostic, Edit, Finding, Fix,
};
use agent_lower::Validated;
use agent_model::Plan;
use agent_syntax::json::{Reader, parse_value};
use agent_text::sort::sort_by;
use agent_text::{DocumentKind, Text};
use std::sync::Arc;

/// Maximum number of problems of one plan that fixes are searched for.
const FIX_LIMIT: usize = 64;

/// Maximum number of bytes of documents that are decided again for one plan.
const FIX_BYTES: usize = 16 << 20;

/// Maximum number of changes in all fixes of one plan: nobody reads more.
const FIX_CHANGES: usize = 256;

/// Returns the fix of each finding, if one was found. It is a pure function of the documents, and
/// not of time.
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
    // A schema that exceeds its budget would do so for every proposal.
    let costly = findings
        .iter()
        .any(|finding| finding.diagnostic.reason == Some(Code::SchemaBudget));
    if costly {
        return findings.iter().map(|_| None).collect();
    }
    let mut chosen: Vec<Change> = Vec::new();
    let mut now = before.clone();
    let mut fixes: Vec<Option<ChangeSet>> = Vec::new();
    // Each fix, with the problems that remain after it alone.
    let mut alone_after: Vec<(ChangeSet, Vec<Key>)> = Vec::new();
    for (number, finding) in findings.iter().enumerate() {
        let key = &before[number];
        if number >= FIX_LIMIT {
            fixes.push(None);
            continue;
        }
        let removes = |after: &[Key]| count(after, key) < count(&before, key);
        // Proposals search the text for the steps that take from a removed one.
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
            // The fix of another problem may remove this one as well.
            let mut others = alone_after.iter();
            let other = others.find(|(_, alone)| count(&now, key) == 0 && removes(alone));
            fixes.push(other.map(|(fix, _)| fix.clone()));
        }
    }
    fixes
}

/// Returns findings with their fixes. A safe fix comes before all other help, an unsafe one last.
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

/// Returns who may carry out a fix. A change of the pool or the profile affects every plan, so a
/// person must ask for it.
fn applicability(changes: &ChangeSet) -> Applicability {
    let of_plan = |change: &Change| change.source == DocumentKind::Plan;
    match changes.changes.iter().all(of_plan) && !changes.removes() && !changes.widens() {
        true => Applicability::Safe,
        false => Applicability::Unsafe,
    }
}

/// Returns a fix as an instruction.
fn fix_words(fix: &ChangeSet) -> String {
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

/// Returns the edits of one document, or `None` if a change has no place.
fn edits(text: &Text, changes: &[&Change]) -> Option<Vec<Edit>> {
    if changes.is_empty() {
        return Some(Vec::new());
    }
    let root = parse_value(&mut Reader::new(text.as_str())).ok()?;
    let patches = document_patches(text.as_str(), &root, changes)?;
    Some(patches.into_iter().map(|it| it.edit(text)).collect())
}

struct Search<'s, 'c> {
    plan: &'s Arc<Validated<Plan>>,
    rules: &'s Arc<PlanPolicy>,
    context: PlanContext<'c>,
    /// The cost of a decision beside that of reading the documents.
    spent: usize,
    /// The remaining bytes.
    left: usize,
}

/// The identity of a problem, which does not depend on the numbers of steps.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    code: &'static str,
    reason: Option<&'static str>,
    step: String,
    pointer: String,
    rule: String,
}

impl Search<'_, '_> {
    /// Spends bytes. Returns `None` if there are not as many left.
    fn charge(&mut self, bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }

    /// Returns the problems after changes, or `None` if they can't be made within the limits.
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
        let [plan, pool, profile] = texts.map(|text| text.as_str().len());
        let of_rules = if rules_changed { pool + profile } else { 0 };
        self.charge(self.spent + plan + of_rules)?;
        let [plan, pool, profile] = texts.map(changed);
        let (plan, pool, profile) = (plan?, pool?, profile?);
        let examined = match plan {
            Some(text) => Arc::new(agent_lower::plan(text.into_bytes())),
            None => Arc::clone(self.plan),
        };
        let rules = if rules_changed {
            let bytes = |changed: Option<String>, text: &Text| {
                let text = changed.unwrap_or_else(|| text.as_str().to_owned());
                text.into_bytes()
            };
            let pool = bytes(pool, &rules.pool.text);
            Arc::new(rules.with(pool, bytes(profile, &rules.profile.text)))
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

fn count(keys: &[Key], key: &Key) -> usize {
    keys.iter().filter(|other| *other == key).count()
}

/// Returns whether all problems are among others.
fn within(some: &[Key], others: &[Key]) -> bool {
    let mut others = sorted(others).into_iter();
    sorted(some).iter().all(|key| others.any(|it| it == *key))
}

fn sorted(keys: &[Key]) -> Vec<&Key> {
    let mut sorted: Vec<_> = keys.iter().collect();
    sort_by(&mut sorted, Ord::cmp);
    sorted
}
