//! A policy that pays for what it does.
//!
//! The evaluator counts steps, and a step may be the comparison of two values of a million parts.
//! So it is not the policy itself that is evaluated, but one with calls added: wherever a value is
//! built, compared, or handed to a built-in, a call pays for it, and a call at the end of each body
//! notes that it held. Lines stay as they are; columns are moved back when something is said of
//! them.

use super::builtins::{Cost, added, find};
use super::tree::{Body, Expr, ExprKind, Module, Op, Query, Rule, Statement, StatementKind, visit};
use agent_text::{Source, Span, Text};
use std::collections::BTreeMap;

/// A policy with calls added.
#[derive(Debug)]
pub(super) struct Guarded {
    pub(super) source: Source,
    pub(super) text: String,
    /// Where something was added, in the text as it was, and how many bytes.
    added: Vec<(u32, u32)>,
    /// What an offset stands for when the evaluator names it: the shortest expression that starts
    /// there, or the call whose arguments start there.
    pub(super) places: BTreeMap<u32, Span>,
    /// The definitions that note that they held, by number: the index of the rule, and the place.
    pub(super) bodies: Vec<(usize, Span)>,
}

/// Add the calls. Bodies are numbered from `first`.
pub(super) fn guard(of: &Text, module: &Module, first: usize) -> Guarded {
    let text = of.as_str();
    let mut guard = Guard {
        first,
        ..Guard::default()
    };
    for (at, rule) in module.rules.iter().enumerate() {
        guard.rule(at, rule);
    }
    // What is added at one place stays in the order in which it was: from the outside in where
    // something starts, from the inside out where it ends.
    let mut edits = guard.edits;
    agent_text::sort::sort_by_key(&mut edits, |(at, _)| *at);
    let mut guarded = String::with_capacity(text.len() * 2);
    let mut from = 0;
    for (at, edit) in &edits {
        guarded.push_str(&text[from..*at as usize]);
        guarded.push_str(edit);
        from = *at as usize;
    }
    guarded.push_str(&text[from..]);
    Guarded {
        source: of.source(),
        text: guarded,
        added: edits
            .into_iter()
            .map(|(at, edit)| (at, edit.len() as u32))
            .collect(),
        places: places(module),
        bodies: guard.bodies,
    }
}

fn places(module: &Module) -> BTreeMap<u32, Span> {
    let mut places: BTreeMap<u32, Span> = BTreeMap::new();
    for rule in &module.rules {
        visit(rule.parts(), &mut |expr| {
            let known = places.entry(expr.span.start).or_insert(expr.span);
            known.end = known.end.min(expr.span.end);
            if let ExprKind::Call(function, _) = &expr.kind {
                places.insert(function.span.end, expr.span);
            }
        });
    }
    places
}

impl Guarded {
    /// Where a byte of the text was before.
    pub(super) fn original(&self, offset: usize) -> usize {
        let mut moved = 0;
        for (at, length) in &self.added {
            let start = *at as usize + moved;
            if start > offset {
                break;
            }
            if offset < start + *length as usize {
                return *at as usize;
            }
            moved += *length as usize;
        }
        offset - moved
    }
}

#[derive(Default)]
struct Guard {
    edits: Vec<(u32, String)>,
    bodies: Vec<(usize, Span)>,
    first: usize,
}

impl Guard {
    fn before(&mut self, span: Span, text: String) {
        self.edits.push((span.start, text));
    }

    fn after(&mut self, span: Span, text: String) {
        self.edits.push((span.end, text));
    }

    fn wrap(&mut self, call: &str, expr: &Expr) {
        self.before(expr.span, format!("{call}("));
        self.inside(expr);
        self.after(expr.span, ")".to_owned());
    }

    fn rule(&mut self, at: usize, rule: &Rule) {
        if rule.default {
            return;
        }
        for key in &rule.keys {
            // The evaluator takes no calls in the paths of some heads, but what is built.
            if is_composite(key) {
                self.wrap(added::KEY, key);
            } else {
                self.pattern(key);
            }
        }
        for pattern in rule.parameters.iter().flatten() {
            self.pattern(pattern);
        }
        if let Some(element) = &rule.element {
            self.kept(added::KEY, element);
        }
        let partial = !rule.keys.is_empty();
        if let Some(value) = &rule.value {
            self.result(partial, value);
        }
        for body in &rule.bodies {
            self.body(at, rule, body);
        }
    }

    fn result(&mut self, partial: bool, value: &Expr) {
        if partial {
            self.kept(added::PAY, value);
        } else {
            self.value(value);
        }
    }

    fn body(&mut self, at: usize, rule: &Rule, body: &Body) {
        if let Some(value) = &body.value {
            self.result(!rule.keys.is_empty(), value);
        }
        let Some(query) = &body.query else {
            return;
        };
        if !body.braced {
            self.before(query.span, "{ ".to_owned());
        }
        self.query(query);
        let number = self.first + self.bodies.len();
        self.after(query.span, format!("; {}({number})", added::HELD));
        self.bodies.push((at, rule.span));
        if !body.braced {
            self.after(query.span, " }".to_owned());
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
                let builds = is_composite(left) || is_composite(right);
                if builds && !not {
                    collect_names(left, &mut names);
                    collect_names(right, &mut names);
                }
            }
        }
        for (_, value) in &statement.with {
            self.value(value);
        }
        for name in names {
            self.after(statement.span, format!("; {}({name})", added::PAID));
        }
    }

    /// One side of a unification: it takes a value apart, or is compared with the other.
    fn side(&mut self, side: &Expr, other: &Expr) {
        if matches!(side.kind, ExprKind::Name(_)) || is_composite(side) || other.is_literal() {
            self.pattern(side);
        } else {
            self.paid(side);
        }
    }

    /// What is compared with a value or takes it apart, and builds none.
    fn pattern(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Array(items) | ExprKind::Set(items) => {
                items.iter().for_each(|item| self.pattern(item));
            }
            ExprKind::Object(fields) => fields.iter().for_each(|(key, value)| {
                self.pattern(key);
                self.pattern(value);
            }),
            _ => self.value(expr),
        }
    }

    /// What is a value.
    fn value(&mut self, expr: &Expr) {
        if is_composite(expr) {
            self.wrap(added::PAY, expr);
        } else {
            self.inside(expr);
        }
    }

    /// A value that is paid for wherever it comes from.
    fn paid(&mut self, expr: &Expr) {
        if expr.is_literal() {
            self.inside(expr);
        } else {
            self.wrap(added::PAY, expr);
        }
    }

    /// A value that becomes part of another.
    fn kept(&mut self, call: &str, expr: &Expr) {
        if expr.is_literal() {
            self.inside(expr);
        } else {
            self.wrap(call, expr);
        }
    }

    fn inside(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Text(_) | ExprKind::Scalar | ExprKind::Name(_) => {}
            ExprKind::Array(items) | ExprKind::Set(items) => {
                items.iter().for_each(|item| self.value(item));
            }
            ExprKind::Object(fields) => fields.iter().for_each(|(key, value)| {
                self.value(key);
                self.value(value);
            }),
            ExprKind::ArrayOf(term, query) => {
                self.kept(added::PAY, term);
                self.query(query);
            }
            ExprKind::SetOf(term, query) => {
                self.kept(added::KEY, term);
                self.query(query);
            }
            ExprKind::ObjectOf(key, value, query) => {
                self.kept(added::KEY, key);
                self.kept(added::PAY, value);
                self.query(query);
            }
            ExprKind::Call(function, arguments) => {
                let path = function.path().map(|(path, _)| path.join("."));
                let builtin = path.and_then(|path| find(&path));
                let pays = builtin.is_some_and(|builtin| builtin.cost == Cost::Arguments);
                for argument in arguments {
                    if pays {
                        self.paid(argument);
                    } else {
                        self.value(argument);
                    }
                }
            }
            ExprKind::Field(of, _) => self.value(of),
            ExprKind::Index(of, key) => {
                self.value(of);
                self.pattern(key);
            }
            ExprKind::Binary(left, Op::Equal | Op::Order, right) => {
                if left.is_literal() || right.is_literal() {
                    self.value(left);
                } else {
                    self.paid(left);
                }
                self.value(right);
            }
            ExprKind::Binary(left, Op::Times | Op::Sets, right) => {
                self.paid(left);
                self.paid(right);
            }
            ExprKind::Binary(left, Op::Other, right) => {
                self.value(left);
                self.value(right);
            }
            ExprKind::In(key, value, of) => {
                key.iter().for_each(|key| self.value(key));
                self.paid(value);
                self.kept(added::LOOK, of);
            }
            ExprKind::Minus(of) => self.value(of),
        }
    }
}

/// Whether an expression builds an array, a set or an object of what is not written out.
fn is_composite(expr: &Expr) -> bool {
    let composite = matches!(
        expr.kind,
        ExprKind::Array(_) | ExprKind::Set(_) | ExprKind::Object(_)
    );
    composite && !expr.is_literal()
}

/// The names that a pattern may give values to.
fn collect_names<'e>(expr: &'e Expr, names: &mut Vec<&'e str>) {
    match &expr.kind {
        ExprKind::Name(name) if name != "_" && !names.contains(&&**name) => names.push(name),
        ExprKind::Array(items) | ExprKind::Set(items) => {
            items.iter().for_each(|item| collect_names(item, names));
        }
        ExprKind::Object(fields) => fields.iter().for_each(|(_, value)| {
            collect_names(value, names);
        }),
        _ => {}
    }
}
