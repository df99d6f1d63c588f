//! What a policy says in vain.

use super::Policy;
use super::paths::{Names, Paths};
use super::tree::{Expr, ExprKind, Op, StatementKind, visit};
use agent_decide::Ruling;
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_text::nearest;
use std::collections::{BTreeMap, BTreeSet};

/// The strings that occur at places of the input, by path: `input.user_tier`,
/// `input.candidate_tools[_].publisher`. Where there is no entry, or an empty one, anything may
/// occur.
pub type Vocabulary = BTreeMap<String, BTreeSet<String>>;

/// Comparisons of a policy with strings that never occur there. What a comparison is with is only
/// said where it is sure, so that each of these is a mistake, or is needed by nothing.
pub fn dead_rules(policy: &Policy, known: &Vocabulary) -> Vec<Diagnostic> {
    let mut problems = Problems::new(&policy.text);
    let paths = Paths::new(&policy.module);
    let rules = &policy.module.rules;
    // With another input, paths mean something else.
    if rules.iter().any(|rule| has_with(rule.parts().1)) {
        return Vec::new();
    }
    for rule in rules {
        let names = paths.names(rule);
        let mut pairs = Vec::new();
        let (_, queries) = rule.parts();
        queries
            .into_iter()
            .for_each(|query| unified(query, &mut pairs));
        visit(rule.parts(), &mut |expr| {
            expr.query()
                .into_iter()
                .for_each(|query| unified(query, &mut pairs));
            compared(expr, &mut pairs);
        });
        for (of, members, text) in pairs {
            report(&paths, &names, known, of, members, text, &mut problems);
        }
    }
    problems.finish()
}

/// An expression, whether its members are meant, and what is compared with it.
type Pair<'e> = (&'e Expr, bool, &'e Expr);

fn has_with(queries: Vec<&super::tree::Query>) -> bool {
    queries.into_iter().any(|query| {
        query.statements.iter().any(|statement| {
            let (parts, inner) = statement.parts();
            let mut within = false;
            visit((parts, Vec::new()), &mut |expr| {
                within |= has_with(expr.query().into_iter().collect());
            });
            !statement.with.is_empty() || within || has_with(inner.into_iter().collect())
        })
    })
}

fn unified<'e>(query: &'e super::tree::Query, pairs: &mut Vec<Pair<'e>>) {
    for statement in &query.statements {
        match &statement.kind {
            StatementKind::Unify {
                declares: false,
                left,
                right,
                ..
            } => {
                pairs.push((left, false, right));
                pairs.push((right, false, left));
            }
            StatementKind::Every(_, _, inner) => unified(inner, pairs),
            _ => {}
        }
    }
}

fn compared<'e>(expr: &'e Expr, pairs: &mut Vec<Pair<'e>>) {
    match &expr.kind {
        ExprKind::Binary(left, Op::Equal, right) => {
            pairs.push((left, false, right));
            pairs.push((right, false, left));
        }
        ExprKind::In(None, value, of) => {
            pairs.push((of, true, value));
            if let ExprKind::Array(items) | ExprKind::Set(items) = &of.kind {
                pairs.extend(items.iter().map(|item| (&**value, false, item)));
            }
        }
        _ => {}
    }
}

fn report(
    paths: &Paths<'_>,
    names: &Names<'_>,
    known: &Vocabulary,
    of: &Expr,
    members: bool,
    text: &Expr,
    problems: &mut Problems<'_>,
) {
    let ExprKind::Text(value) = &text.kind else {
        return;
    };
    let Some(mut path) = paths.resolve(of, names) else {
        return;
    };
    if members {
        path.push_str("[_]");
    }
    let Some(occurring) = known.get(&path).filter(|known| !known.is_empty()) else {
        return;
    };
    if occurring.contains(value) {
        return;
    }
    let mut report = problems.report(
        Code::PolicyDeadRule,
        text.span,
        "never occurs",
        format!("`{path}` is never {value:?}"),
    );
    let near = nearest(value, occurring.iter().map(|text| &**text), 1);
    if let Some(meant) = near.first() {
        report = report.help(format!("did you mean {meant:?}?"));
    }
    const SHOWN: usize = 8;
    let mut shown: Vec<_> = occurring
        .iter()
        .take(SHOWN)
        .map(|text| format!("{text:?}"))
        .collect();
    if occurring.len() > SHOWN {
        shown.push(format!("{} others", occurring.len() - SHOWN));
    }
    report.help(format!("what occurs is {}", shown.join(", ")));
}

/// The rules whose bodies held in none of some rulings, with what they read. Where a ruling failed
/// nothing is known.
pub fn unused_rules<'r>(
    policy: &Policy,
    rulings: impl IntoIterator<Item = &'r Ruling>,
) -> Vec<Diagnostic> {
    let mut held = BTreeSet::new();
    for ruling in rulings {
        if ruling.answer.is_err() {
            return Vec::new();
        }
        held.extend(ruling.lines.iter().copied());
    }
    let mut problems = Problems::new(&policy.text);
    let paths = Paths::new(&policy.module);
    for rule in &policy.module.rules {
        let line = policy.text.place(rule.span).start.line;
        if rule.bodies.is_empty() || held.contains(&line) {
            continue;
        }
        let read: Vec<_> = paths
            .read(rule)
            .into_iter()
            .map(|path| format!("`{path}`"))
            .collect();
        let reads = if read.is_empty() {
            String::new()
        } else {
            format!("; it reads {}", read.join(", "))
        };
        problems.report(
            Code::PolicyRuleUnused,
            rule.name_span,
            "held for nothing",
            format!(
                "the rule `{}` held for nothing here{reads}",
                rule.name.join(".")
            ),
        );
    }
    problems.finish()
}
