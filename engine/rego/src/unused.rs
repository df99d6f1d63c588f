//! Comparisons and rules that have no effect.

use super::module::SourceModule;
use super::paths::{Names, Paths};
use super::policy::Policy;
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

/// Reports comparisons of a policy with strings that never occur. Only comparisons with a path that
/// is certain are reported: each of them is a mistake, or has no effect.
pub fn dead_rules(policy: &Policy, known: &Vocabulary) -> Vec<Diagnostic> {
    let SourceModule { text, tree } = policy.module();
    let mut statements = tree.rules.iter().flat_map(|rule| rule.statements());
    // With another input, paths mean something else.
    if statements.any(|statement| !statement.with.is_empty()) {
        return Vec::new();
    }
    let mut problems = Problems::new(text);
    let paths = Paths::new(tree);
    for rule in &tree.rules {
        let names = paths.names(rule);
        let mut pairs = Vec::new();
        for statement in rule.statements() {
            if let StatementKind::Unify {
                declares: false,
                left,
                right,
                ..
            } = &statement.kind
            {
                pairs.extend([(left, false, right), (right, false, left)]);
            }
        }
        rule.visit(&mut |expr| compared(expr, &mut pairs));
        for pair in pairs {
            report(&paths, &names, known, pair, &mut problems);
        }
    }
    problems.finish()
}

/// An expression, whether its members are compared, and the expression that it is compared with.
type Pair<'e> = (&'e Expr, bool, &'e Expr);

fn compared<'e>(expr: &'e Expr, pairs: &mut Vec<Pair<'e>>) {
    match &expr.kind {
        ExprKind::Binary(left, Op::Equal, right) => {
            pairs.extend([(&**left, false, &**right), (right, false, left)]);
        }
        ExprKind::In(None, value, of) => {
            pairs.push((of, true, value));
            if let ExprKind::List(items) = &of.kind {
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
    (of, members, text): Pair<'_>,
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
    let message = format!("`{path}` is never {value:?}");
    let mut report = problems.report(Code::PolicyDeadRule, text.span, "never occurs", message);
    let near = nearest(value, occurring.iter().map(|text| &**text), 1);
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
