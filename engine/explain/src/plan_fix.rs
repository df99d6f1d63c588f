//! Fixes of a plan's problems, verified by deciding again.
//!
//! Each problem has proposals; those that permit no more than before come first. A proposal becomes a
//! fix if it removes its problem and causes no other one. That must hold for the proposal alone, and
//! together with the fixes of earlier problems, so that all fixes together lead to a yes.

use super::message::slip_of;
use super::plan::plan_findings;
use super::plan_documents::PlanDocuments;
use super::plan_proposal::plan_proposals;
use super::plan_tree::step_ids;
use agent_decide::{PlanAnswer, PlanContext, authorize_plan};
use agent_diagnostic::{
    Applicability, Change, ChangeKind, ChangeSet, Code, Diagnostic, Finding, Fix,
};
use agent_json_schema::at_pointer;
use agent_syntax::Value;
use agent_text::DocumentKind;
use agent_text::sort::sort_by;
use std::sync::Arc;

/// Maximum number of problems of one plan to search fixes for.
const FIX_LIMIT: usize = 64;

/// Maximum number of bytes of documents to decide again, for all problems of one plan together.
const FIX_BYTES: usize = 16 << 20;

/// Maximum number of changes in all fixes of one plan together.
const FIX_CHANGES: usize = 256;

/// Returns the fix of each finding, or `None` if no proposal is one.
pub fn plan_fixes(
    documents: &PlanDocuments<'_>,
    context: PlanContext<'_>,
    answer: &PlanAnswer<'_>,
    findings: &[Finding],
) -> Vec<Option<ChangeSet>> {
    let plan = documents.plan;
    let mut search = Search {
        documents,
        step_ids: step_ids(plan),
        context,
        // A step of the budget takes about as long as a byte that is read.
        spent: answer.spent.try_into().unwrap_or(usize::MAX),
        left: FIX_BYTES,
    };
    let before = keys(findings, &search.step_ids);
    // A plan that exceeds its budget would exceed it with each candidate.
    let costly = findings
        .iter()
        .any(|finding| finding.diagnostic.reason == Some(Code::SchemaBudget));
    if costly {
        return findings.iter().map(|_| None).collect();
    }
    let mut chosen: Vec<Change> = Vec::new();
    let mut now = before.clone();
    let mut fixes: Vec<Option<ChangeSet>> = Vec::new();
    // The fixes, each with the problems that remain after it alone.
    let mut alone_after: Vec<(ChangeSet, Vec<Key>)> = Vec::new();
    for (number, finding) in findings.iter().enumerate() {
        let key = &before[number];
        if number >= FIX_LIMIT || finding.is_corrected() {
            fixes.push(None);
            continue;
        }
        let removes = |after: &[Key]| count(after, key) < count(&before, key);
        // The steps that depend on another one are found in the text.
        let proposals = match search.charge(plan.text.as_str().len()) {
            Some(()) => plan_proposals(documents, answer, finding),
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

/// Returns the diagnostics of findings. A safe fix comes before all other help, an unsafe one last.
pub fn plan_diagnostics(
    documents: &PlanDocuments<'_>,
    findings: Vec<Finding>,
    fixes: &[Option<ChangeSet>],
) -> Vec<Diagnostic> {
    let fixed = findings.into_iter().zip(fixes).map(|(finding, changes)| {
        let is_corrected = finding.is_corrected();
        let mut diagnostic = finding.diagnostic;
        match changes {
            None if is_corrected => {}
            None => diagnostic.notes.push("no automatic fix".to_owned()),
            Some(changes) => {
                let more = match changes.widens() {
                    true => " (gives the agent more access)",
                    false => "",
                };
                let fix = Fix {
                    title: format!("{}{more}", fix_words(changes)),
                    applicability: applicability(documents, changes),
                    edits: documents.edits(changes),
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

/// Returns the applicability of a fix. A change of the pool or the profile affects every plan, and
/// another word than a near one is another plan: a person must request both.
fn applicability(documents: &PlanDocuments<'_>, changes: &ChangeSet) -> Applicability {
    let of_plan = |change: &Change| change.source == DocumentKind::Plan;
    let keeps_meaning = |change| of_plan(change) && corrects_spelling(documents, change);
    match changes.changes.iter().all(keeps_meaning) && !changes.widens() {
        true => Applicability::Safe,
        false => Applicability::Unsafe,
    }
}

/// Returns whether a change replaces a word that names nothing by the only near one.
fn corrects_spelling(documents: &PlanDocuments<'_>, change: &Change) -> bool {
    let root = documents.root(DocumentKind::Plan);
    let old = root.and_then(|root| at_pointer(root, &change.pointer));
    let (ChangeKind::Replace(new), Some(Value::String(old))) =
        (&change.kind, old.map(|node| &node.value))
    else {
        return false;
    };
    let new = new.trim_matches('"');
    let pool = documents.rules.pool.value.as_ref();
    let (at, member) = change.pointer.rsplit_once('/').unwrap_or_default();
    let known: Vec<&str> = match (member, pool) {
        ("url", _) => return is_near_host(old, new),
        ("connector_id", Some(pool)) => pool.connectors.iter().map(|it| &**it).collect(),
        ("tool_id", Some(pool)) => {
            let connector = root.and_then(|root| at_pointer(root, &format!("{at}/connector_id")));
            match connector.map(|node| &node.value) {
                Some(Value::String(connector)) => {
                    let tools = pool.of_connector(connector).iter();
                    tools.map(|it| &*it.tool).collect()
                }
                _ => return false,
            }
        }
        ("pool_version" | "profile_version", _) => return release(old) == release(new),
        _ => vec![new],
    };
    // A tool that exists was meant, even if no rule allows it.
    !known.contains(&&**old) && slip_of(old, &known) == Some(new)
}

/// Returns a version without what is left out in short.
fn release(version: &str) -> &str {
    version.trim_start_matches('v').trim_end_matches(".0")
}

/// Returns whether a URL has the host of another with a slip, and no weaker scheme. The pool allows the
/// other one.
fn is_near_host(old: &str, new: &str) -> bool {
    let parts = |url: &str| {
        let (scheme, rest) = url.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (host, path) = rest.split_at(end);
        Some([scheme, host, path].map(str::to_owned))
    };
    let (Some(old), Some(new)) = (parts(old), parts(new)) else {
        return false;
    };
    // A host below another one is another one.
    let labels = |host: &str| host.matches('.').count();
    let same_host = old[1] == new[1] || slip_of(&old[1], &[&new[1]]).is_some();
    (old[0] == new[0] || new[0] == "https")
        && same_host
        && labels(&old[1]) == labels(&new[1])
        && !new[1].contains('*')
        && old[2] == new[2]
}

/// Returns the instruction of a fix.
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

struct Search<'s, 'd, 'c> {
    documents: &'s PlanDocuments<'d>,
    /// The [`step_ids`] of the plan.
    step_ids: Vec<Option<String>>,
    context: PlanContext<'c>,
    /// The budget that deciding took, besides reading.
    spent: usize,
    /// The number of bytes that may still be decided.
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

impl Search<'_, '_, '_> {
    /// Spends bytes. Returns `None` if too few are left.
    fn charge(&mut self, bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }

    /// Returns the problems after changes, or `None` if they have no place or exceed the limits.
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
            true => &Arc::new(self.documents.rules.with(pool, profile)),
            false => self.documents.rules,
        };
        let validated = plan.as_ref().unwrap_or(self.documents.plan);
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

fn count(keys: &[Key], key: &Key) -> usize {
    keys.iter().filter(|other| *other == key).count()
}

/// Returns whether all of some problems are among others.
fn within(some: &[Key], others: &[Key]) -> bool {
    let mut others = sorted(others).into_iter();
    sorted(some).iter().all(|key| others.any(|it| it == *key))
}

fn sorted(keys: &[Key]) -> Vec<&Key> {
    let mut sorted: Vec<_> = keys.iter().collect();
    sort_by(&mut sorted, Ord::cmp);
    sorted
}
