//! Instrumentation: calls that are added to a policy, so that it pays for its work.
//!
//! The evaluator counts steps, and a step may compare two values of a million parts. So it evaluates
//! not the policy itself, but one with calls added. A call pays for a value wherever
//! one is built, compared, or passed to a built-in. A call at the end of each body records that the
//! body held. Lines stay the same; columns are translated back in errors.
//!
//! `a with input as b` becomes `a with input as __with1; __with1 = b`. The evaluator forgets the rules that it evaluates for `b`, and
//! takes them for evaluated: in `a` they would be undefined, and one that denies would not hold.

use super::builtins::{Cost, added, find};
use super::tree::{Body, Expr, ExprKind, Module, Op, Query, Rule, Statement, StatementKind};
use agent_text::Span;
use std::collections::{BTreeMap, BTreeSet};

/// An instrumented policy.
#[derive(Debug)]
pub(super) struct Instrumented {
    pub(super) text: String,
    /// The changes of the original text, in their order.
    edits: Vec<Edit>,
    /// The expression that the evaluator means by an offset: the shortest one that starts there, or
    /// the call whose arguments start there.
    pub(super) places: BTreeMap<u32, Span>,
    /// The bodies that record that they held.
    pub(super) bodies: Vec<RecordedBody>,
}

/// A body that records that it held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordedBody {
    /// The place of its query.
    pub(super) query: Span,
    /// The place of its rule.
    pub(super) rule: Span,
}

/// A text in place of another one, which is mostly empty.
#[derive(Debug)]
struct Edit {
    at: u32,
    removed: u32,
    text: String,
}

/// Adds the calls to a module. Bodies are numbered from `first`.
pub(super) fn instrument(text: &str, module: &Module, first: usize) -> Instrumented {
    let values = module.rules.iter().filter(|rule| rule.parameters.is_none());
    let mut calls = Calls {
        text,
        first,
        values: values
            .filter_map(|rule| Some(&**rule.name.first()?))
            .collect(),
        ..Calls::default()
    };
    for rule in &module.rules {
        calls.rule(rule);
    }
    // Edits of one offset stay in their order: from the outside in where something starts, from the
    // inside out where it ends.
    let mut edits = calls.edits;
    agent_text::sort::sort_by_key(&mut edits, |edit| edit.at);
    let mut instrumented = String::with_capacity(text.len() * 2);
    let mut from = 0;
    for edit in &edits {
        instrumented.push_str(&text[from..edit.at as usize]);
        instrumented.push_str(&edit.text);
        from = (edit.at + edit.removed) as usize;
    }
    instrumented.push_str(&text[from..]);
    Instrumented {
        text: instrumented,
        edits,
        places: places(module),
        bodies: calls.bodies,
    }
}

fn places(module: &Module) -> BTreeMap<u32, Span> {
    let mut places: BTreeMap<u32, Span> = BTreeMap::new();
    for rule in &module.rules {
        rule.visit(&mut |expr| {
            let known = places.entry(expr.span.start).or_insert(expr.span);
            known.end = known.end.min(expr.span.end);
            if let ExprKind::Call(function, _) = &expr.kind {
                places.insert(function.span.end, expr.span);
            }
        });
    }
    places
}

impl Instrumented {
    /// Returns the offset in the original text of an offset in the instrumented one.
    pub(super) fn original(&self, offset: usize) -> usize {
        // The ends of the last edit, in both texts.
        let (mut from, mut to) = (0, 0);
        for edit in &self.edits {
            let start = to + edit.at as usize - from;
            if start > offset {
                break;
            }
            if offset < start + edit.text.len() {
                return edit.at as usize;
            }
            from = (edit.at + edit.removed) as usize;
            to = start + edit.text.len();
        }
        from + offset - to
    }
}

/// The calls to add to a module.
#[derive(Default)]
struct Calls<'m> {
    text: &'m str,
    edits: Vec<Edit>,
    bodies: Vec<RecordedBody>,
    first: usize,
    /// The rules of the module that are no functions.
    values: BTreeSet<&'m str>,
    /// The number of values of `with` that were moved.
    moved: usize,
}

impl Calls<'_> {
    fn insert(&mut self, at: u32, text: impl Into<String>) {
        self.replace(Span { start: at, end: at }, text);
    }

    fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.edits.push(Edit {
            at: span.start,
            removed: span.end - span.start,
            text: text.into(),
        });
    }

    fn wrap(&mut self, call: &str, expr: &Expr) {
        self.insert(expr.span.start, format!("{call}("));
        self.inside(expr);
        self.insert(expr.span.end, ")");
    }

    fn rule(&mut self, rule: &Rule) {
        if rule.default {
            return;
        }
        for key in &rule.keys {
            // In the paths of some heads the evaluator accepts calls only around constructed values.
            if is_built(key) {
                self.wrap(added::KEY, key);
            } else {
                self.pattern(key);
            }
        }
        for pattern in rule.parameters.iter().flatten() {
            self.pattern(pattern);
        }
        if let Some(element) = &rule.element {
            self.paid(added::KEY, element);
        }
        self.result(rule, rule.value.as_ref());
        for body in &rule.bodies {
            self.body(rule, body);
        }
    }

    fn result(&mut self, rule: &Rule, value: Option<&Expr>) {
        match value {
            Some(value) if rule.keys.is_empty() => self.value(value),
            Some(value) => self.paid(added::PAY, value),
            None => {}
        }
    }

    fn body(&mut self, rule: &Rule, body: &Body) {
        self.result(rule, body.value.as_ref());
        let Some(query) = &body.query else {
            return;
        };
        let Span { start, end } = query.span;
        if !body.braced {
            self.insert(start, "{ ");
        }
        self.query(query);
        let number = self.first + self.bodies.len();
        self.insert(end, format!("; {}({number})", added::HELD));
        self.bodies.push(RecordedBody {
            query: query.span,
            rule: rule.span,
        });
        if !body.braced {
            self.insert(end, " }");
        }
    }

    fn query(&mut self, query: &Query) {
        for statement in &query.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let mut names = Vec::new();
        match &statement.kind {
            StatementKind::Some(_) => {}
            StatementKind::SomeIn(key, value, of) => {
                key.iter().for_each(|key| self.pattern(key));
                self.pattern(value);
                self.value(of);
            }
            StatementKind::Every(_, of, query) => {
                self.value(of);
                self.query(query);
            }
            StatementKind::Holds(expr) => self.value(expr),
            StatementKind::Unify {
                declares: true,
                left,
                right,
                ..
            } => {
                self.pattern(left);
                self.value(right);
            }
            StatementKind::Unify {
                not, left, right, ..
            } => {
                self.side(left, right);
                self.side(right, left);
                if !not && (is_built(left) || is_built(right)) {
                    for side in [left, right] {
                        side.declared(&mut |name, _| {
                            if name != "_" && !names.contains(&name) {
                                names.push(name);
                            }
                        });
                    }
                }
            }
        }
        self.with(&statement.with);
        for name in names {
            self.insert(statement.span.end, format!("; {}({name})", added::PAID));
        }
    }

    /// Moves the values of `with` behind the statement, where they are evaluated before it.
    fn with(&mut self, with: &[(Expr, Expr)]) {
        let first = with.iter().position(|it| self.is_moved(it));
        let (before, rest) = with.split_at(first.unwrap_or(with.len()));
        before.iter().for_each(|(_, value)| self.value(value));
        let Some((_, first)) = rest.first() else {
            return;
        };
        // Behind the first, no literal stays either: it may have several lines.
        let moved = |it: &(Expr, Expr)| it.1.path().is_none() || self.is_moved(it);
        let moved: Vec<_> = rest.iter().map(moved).collect();
        let mut modifiers = String::new();
        let mut names = Vec::new();
        for ((target, value), is_moved) in rest.iter().zip(&moved) {
            if !modifiers.is_empty() {
                modifiers.push_str(&format!(" with {} as ", self.path(target)));
            }
            let name = match is_moved {
                true => {
                    self.moved += 1;
                    format!("{}{}", added::WITH, self.moved)
                }
                false => self.path(value),
            };
            modifiers.push_str(&name);
            names.push(name);
        }
        let mut end = first.span.start;
        self.insert(end, modifiers);
        for (((_, value), is_moved), name) in rest.iter().zip(moved).zip(names) {
            let Span { start, end: until } = value.span;
            let gap = Span {
                start: end,
                end: if is_moved { start } else { until },
            };
            // Lines stay the same.
            let lines = self.text[gap.start as usize..gap.end as usize].matches('\n');
            let lines = "\n".repeat(lines.count());
            if is_moved {
                self.replace(gap, format!("{lines}; {name} = "));
                // As the argument of a call, the evaluator does not take it apart.
                self.wrap(added::PAY, value);
            } else {
                self.replace(gap, lines);
            }
            end = until;
        }
    }

    /// Returns the text of a path on one line.
    fn path(&self, path: &Expr) -> String {
        self.text[path.span.start as usize..path.span.end as usize].replace('\n', " ")
    }

    /// Returns whether a value of `with` may evaluate a rule. A path may also name a function, but not for the input.
    fn is_moved(&self, (target, value): &(Expr, Expr)) -> bool {
        if value.is_literal() {
            return false;
        }
        match (root(target), root(value)) {
            (Some("input"), _) | (_, None) => true,
            (_, Some(name)) => self.values.contains(name),
        }
    }

    /// Instruments one side of a unification: it matches a value, or is compared with the other.
    fn side(&mut self, side: &Expr, other: &Expr) {
        if matches!(side.kind, ExprKind::Name(_)) || is_built(side) || other.is_literal() {
            self.pattern(side);
        } else {
            self.paid(added::PAY, side);
        }
    }

    /// Instruments an expression that matches a value, and builds none.
    fn pattern(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::List(parts) | ExprKind::Object(parts) => {
                parts.iter().for_each(|part| self.pattern(part));
            }
            _ => self.value(expr),
        }
    }

    /// Instruments an expression that may build a value.
    fn value(&mut self, expr: &Expr) {
        if is_built(expr) {
            self.wrap(added::PAY, expr);
        } else {
            self.inside(expr);
        }
    }

    /// Instruments an expression whose value is compared, copied or kept: a call pays for it.
    fn paid(&mut self, call: &str, expr: &Expr) {
        if expr.is_literal() {
            self.inside(expr);
        } else {
            self.wrap(call, expr);
        }
    }

    fn inside(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Comprehension { key, value, query } => {
                key.iter().for_each(|key| self.paid(added::KEY, key));
                value.iter().for_each(|value| self.paid(added::PAY, value));
                self.query(query);
            }
            ExprKind::Call(function, arguments) => {
                let path = function.path().map(|(path, _)| path.join("."));
                let builtin = path.and_then(|path| find(&path));
                let pays = builtin.is_some_and(|builtin| matches!(builtin.cost, Cost::Arguments));
                for argument in arguments {
                    if pays {
                        self.paid(added::PAY, argument);
                    } else {
                        self.value(argument);
                    }
                }
            }
            ExprKind::Index(of, key) => {
                self.value(of);
                self.pattern(key);
            }
            // A comparison with a literal costs no more than the literal.
            ExprKind::Binary(left, Op::Equal | Op::Unequal | Op::Order, right)
                if !left.is_literal() && !right.is_literal() =>
            {
                self.paid(added::PAY, left);
                self.value(right);
            }
            ExprKind::Binary(left, Op::Costly, right) => {
                self.paid(added::PAY, left);
                self.paid(added::PAY, right);
            }
            ExprKind::In(key, value, of) => {
                key.iter().for_each(|key| self.value(key));
                self.paid(added::PAY, value);
                self.paid(added::LOOK, of);
            }
            _ => expr.parts().0.into_iter().for_each(|part| self.value(part)),
        }
    }
}

/// Returns whether an expression builds an array, a set or an object that is not a literal.
fn is_built(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::List(_) | ExprKind::Object(_)) && !expr.is_literal()
}

/// Returns the first name of a path; `None` for another expression.
fn root(expr: &Expr) -> Option<&str> {
    expr.path()?.0.first().copied()
}
