//! The policy at work, in tables.

use agent_api::answer::{
    CoveredRule, PairDecision, Place, PolicyCoverage, PolicyEvaluation, PolicyRule, coverage,
    evaluation,
};
use agent_api::decide::Resolution;
use agent_api::policy::Policy;
use agent_worker_protocol::{Cell, PolicyView, Table};

/// Shows a policy at work for a requirement. `edit`: the JSON pointer of a value of the input, and another text for it.
pub(crate) fn policy_view(
    policy: &Policy,
    resolution: &Resolution,
    requirement: u32,
    edit: Option<(&str, &str)>,
) -> Option<PolicyView> {
    let found = evaluation(policy, resolution, requirement, edit)?;
    let coverage = coverage(policy, resolution, requirement);
    Some(PolicyView {
        requirement,
        tables: vec![values(&found), parts(&coverage), decisions(&coverage)],
        values: found.values,
        input: found.input,
        input_bytes: found.input_bytes,
    })
}

fn cell(text: impl Into<String>, class: &str, place: Option<Place>) -> Cell {
    Cell {
        text: text.into(),
        class: class.to_owned(),
        place,
    }
}

fn table(title: String, head: &[&str], rows: impl Iterator<Item = Vec<Cell>>) -> Table {
    Table {
        title,
        head: head.iter().map(|it| (*it).to_owned()).collect(),
        rows: rows.collect(),
    }
}

/// The value of each rule, beside the one with the edit.
fn values(found: &PolicyEvaluation) -> Table {
    let rows = found.rules.iter().map(|rule| {
        let mut row = vec![cell(&rule.name, "code", Some(rule.place)), value(rule)];
        if let Some(tried) = &found.tried {
            let tried = tried.iter().find(|it| it.name == rule.name);
            row.push(match tried.map(value) {
                Some(tried) if tried == row[1] => cell("the same", "quiet", None),
                Some(tried) => tried,
                None => cell("not evaluated", "quiet", None),
            });
        }
        row
    });
    let head: &[&str] = match found.tried {
        Some(_) => &["Rule", "Value", "With the edit"],
        None => &["Rule", "Value"],
    };
    table("Values".to_owned(), head, rows)
}

fn value(rule: &PolicyRule) -> Cell {
    match (&rule.value, &rule.error) {
        (_, Some(error)) => cell(error, "no", None),
        (Some(value), None) => cell(value, "value", None),
        (None, None) => cell("undefined", "quiet", None),
    }
}

/// The part of each rule in the decision.
fn parts(coverage: &PolicyCoverage) -> Table {
    let PolicyCoverage { pairs, all, .. } = *coverage;
    let of = match pairs == all {
        true => format!("{pairs}"),
        false => format!("the first {pairs} of {all}"),
    };
    let row = |rule: &CoveredRule| {
        let part = match rule.pairs {
            0 => cell("never", "badge warning", None),
            held => cell(format!("{held}"), "", None),
        };
        vec![cell(&rule.name, "code", Some(rule.place)), part]
    };
    let title = format!("Coverage: {of} pairs of a requirement and a tool");
    table(
        title,
        &["Rule", "Took part in"],
        coverage.rules.iter().map(row),
    )
}

/// The last evaluations, and the rule that decided each.
fn decisions(coverage: &PolicyCoverage) -> Table {
    let row = |it: &PairDecision| {
        let (result, class) = match it.allowed {
            true => ("✓ allowed", "yes"),
            false => ("✗ denied", "no"),
        };
        let rule = match &it.rule {
            Some((name, place)) => cell(name, "code", Some(*place)),
            None => cell("no rule allows it", "quiet", None),
        };
        let result = match &it.reason {
            Some(reason) => format!("{result}: {reason}"),
            None => result.to_owned(),
        };
        vec![
            cell(&it.requirement, "code", None),
            cell(&it.tool, "code", None),
            cell(result, class, None),
            rule,
        ]
    };
    let title = match coverage.decisions.len() as u32 == coverage.all {
        true => "Evaluations".to_owned(),
        false => format!(
            "Evaluations: {} of {}",
            coverage.decisions.len(),
            coverage.all
        ),
    };
    let head = ["Requirement", "Tool", "Result", "Deciding rule"];
    table(title, &head, coverage.decisions.iter().map(row))
}
