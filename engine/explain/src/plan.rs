//! The findings about a plan: its documents, and the reasons against it \[3\].

use super::plan_reason::Reasons;
use agent_decide::{PlanAnswer, PlanContext, PlanPolicy};
use agent_diagnostic::{Finding, Fix};
use agent_lower::Validated;
use agent_model::Plan;
use agent_syntax::json_string;
use agent_text::sort::sort_by_key;
use agent_text::{DocumentKind, Likeness};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// Returns every problem of a plan and its documents, ordered by document and place. The list is
/// empty if and only if the plan may run.
pub fn plan_findings(
    plan: &Validated<Plan>,
    rules: &PlanPolicy,
    context: PlanContext<'_>,
    answer: &PlanAnswer<'_>,
) -> Vec<Finding> {
    let request = context.request.into_iter().flat_map(|it| &it.findings);
    let mut found: Vec<_> = request.cloned().collect();
    let mut likeness = Likeness::new();
    found.extend(plan.findings.iter().cloned().map(|mut finding| {
        finding.diagnostic.step = step_of(finding.diagnostic.pointer());
        if let Some(meant) = malformed_name(plan, rules, &finding, &mut likeness) {
            let span = finding.diagnostic.place().map(|it| it.span);
            let place = plan.text.place(span.unwrap_or_default());
            let fix = Fix::write(place, json_string(&meant));
            finding.diagnostic.fixes = vec![fix];
        }
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
            index: context.index,
            likeness: RefCell::new(likeness),
        };
        let mut told = BTreeSet::new();
        let mut left = REASON_BYTES;
        for (number, denial) in answer.denials.iter().enumerate() {
            let Some(diagnostic) = reasons.diagnostic(denial) else {
                continue;
            };
            // Steps that share a binding share its problems.
            let place = diagnostic.place().copied();
            let of_pool = place.filter(|place| place.source == DocumentKind::ToolPool);
            if of_pool.is_some() && !told.insert((place, diagnostic.message.clone())) {
                continue;
            }
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

/// Returns the only connector or tool of the pool that a malformed name of a step was meant to be.
fn malformed_name(
    plan: &Validated<Plan>,
    rules: &PlanPolicy,
    finding: &Finding,
    search: &mut Likeness,
) -> Option<String> {
    let diagnostic = &finding.diagnostic;
    let (_, member) = diagnostic.pointer().rsplit_once('/')?;
    let is_pattern = diagnostic.rule.as_deref()?.ends_with("/pattern");
    let pool = rules.pool.value.as_ref().filter(|_| is_pattern)?;
    let said = diagnostic.place()?.span.of(plan.text.as_str());
    let said = said.trim_matches('"');
    let mut only = |known: Vec<&str>| match search.slips(said, known, 2)[..] {
        [meant] => Some(meant.to_owned()),
        _ => None,
    };
    match member {
        "connector_id" => only(pool.connectors.iter().map(|it| &**it).collect()),
        "tool_id" => {
            let step = plan.value.as_ref()?.steps.get(diagnostic.step?)?;
            let connector = &*step.connector.value;
            let tools = pool.of_connector(connector).iter().map(|it| &*it.tool);
            // Rules of profiles name a tool behind its connector.
            let rest = said.strip_prefix(connector);
            let bare = rest.and_then(|it| it.strip_prefix('/'));
            match bare.filter(|it| pool.binding(connector, it).is_some()) {
                Some(tool) => Some(tool.to_owned()),
                None => only(tools.collect()),
            }
        }
        _ => None,
    }
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
