//! The policy at work, in tables.

use agent_api::answer::{
    CoveredRule, PairDecision, Place, PolicyCoverage, PolicyEvaluation, PolicyRule, coverage,
    evaluation,
};
use agent_api::decide::Resolution;
use agent_api::policy::Policy;
use agent_worker_protocol::{Cell, PolicyView, Table, to_bytes};

/// Shows a policy at work for a requirement, as the bytes of a [`PolicyView`]. `tried`: the JSON pointer of a value of the
/// input, a space, and another value.
pub(crate) fn policy_view(
    policy: &Policy,
    resolution: &Resolution,
    requirement: u32,
    tried: &str,
) -> Option<Vec<u8>> {
    let found = evaluation(policy, resolution, requirement, tried.split_once(' '))?;
    let coverage = coverage(policy, resolution, requirement);
    let texts = found.values.iter().map(|(at, text)| format!("{at} {text}"));
    let (shown, all) = (found.input.len(), found.input_bytes);
    let view = PolicyView {
        requirement,
        tables: vec![
            values(&found, tried),
            parts(&coverage),
            decisions(&coverage),
        ],
        values: texts.collect(),
        input_title: match shown < all as usize {
            true => format!("input: the first {shown} of {all} bytes"),
            false => "input".to_owned(),
        },
        input: found.input,
    };
    Some(to_bytes(&view))
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
        cells: rows.flatten().collect(),
    }
}

/// The value of each rule, beside the one with the tried value.
fn values(found: &PolicyEvaluation, tried: &str) -> Table {
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
        Some(_) => &["Rule", "Value", "Tried"],
        None => &["Rule", "Value"],
    };
    let title = match found.tried {
        None if !tried.trim().is_empty() => "Values: the input has no such value to try",
        _ => "Values",
    };
    table(title.to_owned(), head, rows)
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
