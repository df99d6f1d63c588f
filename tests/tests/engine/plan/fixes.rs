//! What would make the problems of a plan go away.

use super::corpus::{Case, cases};
use agent_decide::{PlanPolicy, authorize_plan};
use agent_diagnostic::{Change, ChangeSet, Edit, Finding};
use agent_explain::{PlanDocuments, apply, plan_findings, plan_fixes, plan_proposals};
use agent_lower as lower;
use agent_text::{DocumentKind, Text};
use std::sync::Arc;

impl Case {
    fn findings(&self) -> Vec<Finding> {
        let answer = authorize_plan(&self.plan, &self.rules, self.context());
        plan_findings(&self.plan, &self.rules, self.context(), &answer)
    }

    /// Returns every finding with its proposals and its fix.
    fn fixes(&self) -> Vec<(Vec<Vec<Change>>, Finding, Option<ChangeSet>)> {
        let answer = authorize_plan(&self.plan, &self.rules, self.context());
        let findings = plan_findings(&self.plan, &self.rules, self.context(), &answer);
        let documents = PlanDocuments::new(&self.plan, &self.rules);
        let fixes = plan_fixes(&documents, self.context(), &answer, &findings);
        assert_eq!(findings.len(), fixes.len());
        let all = findings.into_iter().zip(fixes);
        all.map(|(finding, fix)| {
            let proposals = plan_proposals(&documents, &answer, &finding);
            (proposals, finding, fix)
        })
        .collect()
    }

    /// The case after the edits of fixes, which are made as an editor makes them.
    fn after(self, fixes: &[&ChangeSet]) -> Self {
        let all = ChangeSet {
            changes: fixes.iter().flat_map(|fix| fix.changes.clone()).collect(),
        };
        let edits = PlanDocuments::new(&self.plan, &self.rules).edits(&all);
        let changed = |text: &Text, source: DocumentKind| {
            let edits: Vec<Edit> = edits
                .iter()
                .filter(|edit| edit.place.source == source)
                .cloned()
                .collect();
            apply(text.as_str(), &edits).into_bytes()
        };
        Self {
            plan: Arc::new(lower::plan(changed(&self.plan.text, DocumentKind::Plan))),
            rules: Arc::new(PlanPolicy::new(
                changed(&self.rules.pool.text, DocumentKind::ToolPool),
                changed(&self.rules.profile.text, DocumentKind::Profile),
                None,
            )),
            ..self
        }
    }
}

#[test]
fn each_removes_its_own_problem_and_all_together_are_a_yes() {
    let (mut fixed, mut whole, mut without) = (0, 0, 0);
    for folder in cases("reject") {
        let name = folder.name();
        let all = Case::read(&folder).fixes();
        for (_, finding, fix) in &all {
            let Some(fix) = fix else {
                without += 1;
                continue;
            };
            fixed += 1;
            let after = Case::read(&folder).after(&[fix]).findings();
            assert!(
                after.len() < all.len(),
                "{name}: {finding:#?} {fix:#?} {after:#?}"
            );
        }
        if all.iter().all(|(.., fix)| fix.is_some()) {
            whole += 1;
            let fixes: Vec<_> = all.iter().filter_map(|(.., fix)| fix.as_ref()).collect();
            let after = Case::read(&folder).after(&fixes);
            let answer = authorize_plan(&after.plan, &after.rules, after.context());
            assert!(
                answer.authorized.is_some(),
                "{name}: {:#?}",
                after.findings()
            );
        }
    }
    assert!(fixed > 200 && whole > 150, "{fixed} {whole} {without}");
}

#[test]
fn what_permits_more_is_marked_and_never_first() {
    let mut widening = 0;
    for folder in cases("reject") {
        let case = Case::read(&folder);
        for (proposals, finding, fix) in case.fixes() {
            let Some(fix) = fix else { continue };
            // A changed plan requires less, and never permits anything.
            let of_plan = fix.changes.iter().all(|it| it.source == DocumentKind::Plan);
            assert!(!(of_plan && fix.widens()), "{fix:?}");
            widening += usize::from(fix.widens());
            let first = proposals
                .iter()
                .position(|it| it.iter().any(|it| it.widens));
            let narrow_after = first.is_some_and(|first| {
                proposals[first..]
                    .iter()
                    .any(|it| it.iter().all(|it| !it.widens))
            });
            assert!(!narrow_after, "{}: {finding:?}", folder.name());
        }
    }
    assert!(widening > 10, "{widening}");
}
