//! Comparisons and rules that have no effect.

use super::module::SourceModule;
use super::paths::{Names, OBJECTS, Paths};
use super::policy::Policy;
use super::shadowed::shadowed;
use super::tree::{Expr, ExprKind, Op, StatementKind};
use agent_decide::PolicyDecision;
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_text::nearest;
use std::collections::{BTreeMap, BTreeSet};

/// The strings that occur at paths of the input, such as `input.user_tier` and
/// `input.candidate_tools[_].publisher`. Any string may occur at a path without strings.
pub type Vocabulary = BTreeMap<String, BTreeSet<String>>;

/// Maximum strings that a help lists.
const LISTED: usize = 8;

/// Reports comparisons of a policy with strings that never occur, and paths that no input has. Only
/// paths that are certain are reported: each of them is a mistake, or has no effect.
/// Definitions that add nothing to others are reported too.
pub fn dead_rules(policy: &Policy, known: &Vocabulary) -> Vec<Diagnostic> {
    let mut found = never_holding(policy, known);
    found.extend(shadowed(policy.module()));
    found
}

/// Returns what a check of a policy remarks: its [`dead_rules`], and a note where it costs an evaluation of each candidate.
pub fn policy_remarks(policy: &Policy, known: &Vocabulary) -> Vec<Diagnostic> {
    let mut found = dead_rules(policy, known);
    found.extend(policy.together());
    found
}

fn never_holding(policy: &Policy, known: &Vocabulary) -> Vec<Diagnostic> {
    let SourceModule { text, tree } = policy.module();
    let mut statements = tree.rules.iter().flat_map(|rule| rule.statements());
    // With another input, paths mean something else.
    if statements.any(|statement| !statement.with.is_empty()) {
        return Vec::new();
    }
    let mut problems = Problems::new(text);
    let mut reported = BTreeSet::new();
    let paths = Paths::new(tree);
    for rule in &tree.rules {
        let names = paths.names(rule);
        let mut comparisons = Vec::new();
        for statement in rule.statements() {
            if let StatementKind::Unify {
                declares: false,
                left,
                right,
                ..
            } = &statement.kind
            {
                comparisons.extend(both_ways(left, right, false));
            }
        }
        rule.visit(&mut |expr| compared(expr, &mut comparisons));
        for comparison in comparisons {
            report(&paths, &names, known, comparison, &mut problems);
        }
        rule.visit(&mut |expr| absent(&paths, &names, expr, &mut reported, &mut problems));
    }
    problems.finish()
}

/// Reports a path that no input has, once.
fn absent(
    paths: &Paths<'_>,
    names: &Names<'_>,
    expr: &Expr,
    reported: &mut BTreeSet<String>,
    problems: &mut Problems<'_>,
) {
    let Some(path) = paths.resolve(expr, names) else {
        return;
    };
    let span = match &expr.kind {
        ExprKind::Index(_, key) => key.span,
        _ => expr.span,
    };
    let Some((of, member)) = path.rsplit_once('.') else {
        return;
    };
    let known = OBJECTS.iter().find(|(object, _)| *object == of);
    // An item is reported where its list is.
    let is_absent = |known: &[&str]| !member.contains('[') && !known.contains(&member);
    let Some((_, known)) = known.filter(|(_, known)| is_absent(known)) else {
        return;
    };
    if !reported.insert(path.clone()) {
        return;
    }
    let near = nearest(member, known.iter().copied(), 1);
    // `tools` is no slip of `candidate_tools`, and can mean nothing else.
    let part = known
        .iter()
        .find(|known| known.split('_').any(|part| part == member));
    let message = format!("the input has no `{path}`");
    let report = problems.report(Code::PolicyDeadRule, span, "never defined", message);
    let known: Vec<_> = known
        .iter()
        .map(|known| format!("`{of}.{known}`"))
        .collect();
    match near.first().or(part) {
        Some(meant) => report.help(format!("did you mean `{of}.{meant}`?")),
        None => report.help(format!("use one of {}", known.join(", "))),
    };
}

/// An expression and what it is compared with.
struct Comparison<'e> {
    of: &'e Expr,
    /// Whether its members are compared.
    members: bool,
    with: &'e Expr,
    /// Whether the comparison is `!=`.
    unequal: bool,
}

fn compared<'e>(expr: &'e Expr, comparisons: &mut Vec<Comparison<'e>>) {
    match &expr.kind {
        ExprKind::Binary(left, op @ (Op::Equal | Op::Unequal), right) => {
            comparisons.extend(both_ways(left, right, matches!(op, Op::Unequal)));
        }
        ExprKind::In(None, value, of) => {
            let comparison = |of, members, with| Comparison {
                of,
                members,
                with,
                unequal: false,
            };
            comparisons.push(comparison(of, true, value));
            if let ExprKind::List(items) = &of.kind {
                comparisons.extend(items.iter().map(|item| comparison(value, false, item)));
            }
        }
        _ => {}
    }
}

fn both_ways<'e>(left: &'e Expr, right: &'e Expr, unequal: bool) -> [Comparison<'e>; 2] {
    [(left, right), (right, left)].map(|(of, with)| Comparison {
        of,
        members: false,
        with,
        unequal,
    })
}

fn report(
    paths: &Paths<'_>,
    names: &Names<'_>,
    known: &Vocabulary,
    comparison: Comparison<'_>,
    problems: &mut Problems<'_>,
) {
    let ExprKind::Text(value) = &comparison.with.kind else {
        return;
    };
    let Some(mut path) = paths.resolve(comparison.of, names) else {
        return;
    };
    if comparison.members {
        path.push_str("[_]");
    }
    let Some(occurring) = known.get(&path).filter(|known| !known.is_empty()) else {
        return;
    };
    if occurring.contains(value) {
        return;
    }
    let near = nearest(value, occurring.iter().map(|text| &**text), 1);
    // A guard such as `input.user_tier != "gold"` holds, unless the value is misspelt.
    if comparison.unequal && near.is_empty() {
        return;
    }
    let message = format!("`{path}` is never {value:?}");
    let span = comparison.with.span;
    let mut report = problems.report(Code::PolicyDeadRule, span, "never occurs", message);
    if let Some(meant) = near.first() {
        report = report.help(format!("did you mean {meant:?}?"));
    }
    let listed = occurring.iter().take(LISTED);
    let mut listed: Vec<_> = listed.map(|text| format!("{text:?}")).collect();
    if occurring.len() > LISTED {
        listed.push(format!("{} others", occurring.len() - LISTED));
    }
    let listed = listed.join(", ");
    report.help(format!("use one of the known values: {listed}"));
}

/// Reports the rules that held in no decision, with the paths that they read. Reports nothing if a
/// decision failed.
pub fn unused_rules<'r>(
    policy: &Policy,
    decisions: impl IntoIterator<Item = &'r PolicyDecision>,
) -> Vec<Diagnostic> {
    let mut held = BTreeSet::new();
    for decision in decisions {
        if decision.answer.is_err() {
            return Vec::new();
        }
        held.extend(decision.lines.iter().copied());
    }
    let SourceModule { text, tree } = policy.module();
    let mut problems = Problems::new(text);
    let paths = Paths::new(tree);
    for rule in &tree.rules {
        let line = text.place(rule.span).start.line;
        if rule.bodies.is_empty() || held.contains(&line) {
            continue;
        }
        let read = paths.read(rule).into_iter();
        let read: Vec<_> = read.map(|path| format!("`{path}`")).collect();
        let mut message = format!("the rule `{}` never applied", rule.name.join("."));
        if !read.is_empty() {
            message.push_str(&format!("; it reads {}", read.join(", ")));
        }
        let code = Code::PolicyRuleUnused;
        problems.report(code, rule.name_span, "never applied", message);
    }
    problems.finish()
}
