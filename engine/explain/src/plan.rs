//! The findings about a plan: its documents, and the reasons against it \[3\].

use super::plan_reason::Reasons;
use agent_decide::{PlanAnswer, PlanContext, PlanPolicy};
use agent_diagnostic::Finding;
use agent_lower::Validated;
use agent_model::Plan;
use agent_text::DocumentKind;
use agent_text::sort::sort_by_key;

/// Returns every problem of a plan and its documents, ordered by document and place. There is none
/// if and only if the plan may run.
pub fn plan_findings(
    plan: &Validated<Plan>,
    rules: &PlanPolicy,
    context: PlanContext<'_>,
    answer: &PlanAnswer<'_>,
) -> Vec<Finding> {
    let request = context.request.into_iter().flat_map(|it| &it.findings);
    let mut found: Vec<_> = request.cloned().collect();
    found.extend(plan.findings.iter().cloned().map(|mut finding| {
        finding.diagnostic.step = step_of(finding.diagnostic.pointer());
        finding
    }));
    found.extend(rules.pool.findings.iter().cloned());
    found.extend(rules.profile.findings.iter().cloned());
    if let Some(value) = &plan.value {
        let reasons = Reasons {
            text: &plan.text,
            request: context.request.map(|it| &it.text),
            plan: value,
            rules,
        };
        let mut left = REASON_BYTES;
        for (number, denial) in answer.denials.iter().enumerate() {
            let Some(diagnostic) = reasons.diagnostic(denial) else {
                continue;
            };
            let finding = Finding {
                denial: Some(number),
                ..diagnostic.into()
            };
            left = left.saturating_sub(size(&finding));
            found.push(finding);
            if left == 0 {
                break;
            }
        }
    }
    sort_by_key(&mut found, |finding| {
        let place = finding.diagnostic.place().copied();
        (place.map(|place| document_rank(place.source)), place)
    });
    found
}

/// Maximum size of all reasons in bytes. Each may name a rule or a pattern as long as its document.
const REASON_BYTES: usize = 4 << 20;

fn size(finding: &Finding) -> usize {
    let diagnostic = &finding.diagnostic;
    let titles = diagnostic.fixes.iter().map(|fix| fix.title.len());
    let rule = diagnostic.rule.as_deref().unwrap_or_default();
    rule.len() + diagnostic.pointer().len() + diagnostic.message.len() + titles.sum::<usize>()
}

/// Returns the rank of a document in a report: the order in which documents are read.
fn document_rank(source: DocumentKind) -> usize {
    match source {
        DocumentKind::Request => 0,
        DocumentKind::Plan => 1,
        DocumentKind::ToolPool => 2,
        DocumentKind::Profile => 3,
        _ => 4,
    }
}

/// Returns the number of the step that a pointer into a plan leads to.
fn step_of(pointer: &str) -> Option<usize> {
    let rest = pointer.strip_prefix("/plan/steps/")?;
    rest.split('/').next()?.parse().ok()
}
