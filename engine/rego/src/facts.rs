//! What decided against a tool: the comparisons of a policy with the values that they found.

use super::module::SourceModule;
use super::paths::{Names, Paths};
use super::tree::{Expr, ExprKind, Op, Rule, Statement, StatementKind};
use agent_decide::PolicyFact;
use agent_text::Span;
use regorus::Value;
use std::collections::BTreeMap;

/// Maximum number of facts about one tool.
const LISTED: usize = 4;

/// Maximum number of values of a path, such as one for each capability.
const VALUES: usize = 8;

/// Returns the comparisons that decided against the only candidate of an input, with their values. `held`
/// are the lines of the rules that held.
pub(super) fn facts(module: &SourceModule, input: &Value, held: &[u32]) -> Vec<PolicyFact> {
    let SourceModule { text, tree } = module;
    let paths = Paths::new(tree);
    let denying = roles(module);
    let mut found = Vec::new();
    for rule in &tree.rules {
        let Some(denies) = denying.get(&*rule.name[0]).filter(|_| !rule.default) else {
            continue;
        };
        let holds = held.contains(&text.place(rule.span).start.line);
        // A rule that denies and does not hold is not the cause.
        if *denies && !holds {
            continue;
        }
        if found.len() >= LISTED {
            break;
        }
        let names = paths.names(rule);
        let queries = rule.bodies.iter().filter_map(|body| body.query.as_ref());
        for statement in queries.flat_map(|query| &query.statements) {
            let look = Look {
                paths: &paths,
                names: &names,
                input,
                source: text.as_str(),
            };
            if let Some((span, words)) = look.at(statement, *denies) {
                let place = text.place(span);
                found.push(PolicyFact { place, text: words });
            }
        }
    }
    found.truncate(LISTED);
    if found.is_empty() {
        let allowing = tree
            .rules
            .iter()
            .filter(|rule| rule.name == ["allowed_tools"]);
        found.extend(allowing.take(LISTED).map(|rule| PolicyFact {
            place: text.place(rule.name_span),
            text: "this rule does not allow it".to_owned(),
        }));
    }
    found
}

/// Returns the rules on which `allowed_tools` and `deny_reasons` depend, and whether a rule denies by
/// holding.
fn roles(module: &SourceModule) -> BTreeMap<&str, bool> {
    let mut rules: BTreeMap<&str, Vec<&Rule>> = BTreeMap::new();
    for rule in &module.tree.rules {
        rules.entry(&rule.name[0]).or_default().push(rule);
    }
    let mut roles = BTreeMap::from([("allowed_tools", false), ("deny_reasons", true)]);
    let mut open: Vec<&str> = vec!["deny_reasons", "allowed_tools"];
    while let Some(name) = open.pop() {
        let denies = roles[name];
        for rule in rules.get(name).into_iter().flatten() {
            for statement in rule.statements() {
                let denies = denies != is_negated(statement, module.text.as_str());
                for expr in statement.parts().0 {
                    mentioned(expr, &mut |mentioned| {
                        if let Some((mentioned, _)) = rules.get_key_value(mentioned)
                            && !roles.contains_key(mentioned)
                        {
                            roles.insert(*mentioned, denies);
                            open.push(*mentioned);
                        }
                    });
                }
            }
        }
    }
    roles
}

fn mentioned(expr: &Expr, each: &mut dyn FnMut(&str)) {
    if let ExprKind::Name(name) = &expr.kind {
        each(name);
    }
    for part in expr.parts().0 {
        mentioned(part, each);
    }
}

pub(super) fn is_negated(statement: &Statement, source: &str) -> bool {
    statement.span.of(source).starts_with("not ")
}

/// A look at the statements of a rule.
struct Look<'l> {
    paths: &'l Paths<'l>,
    names: &'l Names<'l>,
    input: &'l Value,
    source: &'l str,
}

impl<'l> Look<'l> {
    /// Returns the place and the words of a statement that decided against the tool: in a rule that
    /// denies one that holds, in another rule one that fails.
    fn at(&self, statement: &Statement, denies: bool) -> Option<(Span, String)> {
        let StatementKind::Holds(expr) = &statement.kind else {
            return None;
        };
        if !statement.with.is_empty() || is_negated(statement, self.source) {
            return None;
        }
        let (path, allowed, unequal) = match &expr.kind {
            ExprKind::Binary(left, op @ (Op::Equal | Op::Unequal), right) => {
                let (path, literal) = match right.is_literal() {
                    true => (left, right),
                    false => (right, left),
                };
                (&**path, vec![self.literal(literal)?], *op == Op::Unequal)
            }
            ExprKind::In(None, value, of) => match &of.kind {
                ExprKind::List(items) => {
                    let items = items.iter().map(|item| self.literal(item));
                    (&**value, items.collect::<Option<Vec<_>>>()?, false)
                }
                // A value in a list of the input.
                _ => return self.member(value, of, denies, expr.span),
            },
            ExprKind::Binary(left, Op::Order, right) => {
                let path = if right.is_literal() { left } else { right };
                let values = self.values(path)?;
                let words = format!("{} is {}", self.words(path), listed(&values));
                return Some((expr.span, words));
            }
            ExprKind::Index(..) | ExprKind::Name(_) => (expr, vec!["true".to_owned()], false),
            _ => return None,
        };
        let values = self.values(path)?;
        let holds = match unequal {
            true => values.iter().any(|value| !allowed.contains(value)),
            false => values.iter().any(|value| allowed.contains(value)),
        };
        if holds != denies {
            return None;
        }
        let (path, is) = (self.words(path), listed(&values));
        let words = match (denies, unequal) {
            (false, false) => format!("{path} is {is}; this rule allows only {}", listed(&allowed)),
            (true, true) => format!("{path} is {is}; only {} passes", listed(&allowed)),
            (false, true) | (true, false) => format!("{path} is {is}, which this rule denies"),
        };
        Some((expr.span, words))
    }

    /// Returns the words of `"value" in list`.
    fn member(&self, value: &Expr, of: &Expr, denies: bool, span: Span) -> Option<(Span, String)> {
        let wanted = self.literal(value)?;
        let lists = self.values(of)?;
        let holds = lists.iter().any(|list| list.contains(&wanted));
        let effect = if denies { "denies" } else { "requires" };
        let words = format!(
            "{} is {}; this rule {effect} {wanted} in it",
            self.words(of),
            listed(&lists)
        );
        (holds == denies).then_some((span, words))
    }

    fn literal(&self, expr: &Expr) -> Option<String> {
        let source = expr.span.of(self.source);
        expr.is_scalar()
            .then(|| source.trim_matches(['(', ')', ' ']).to_owned())
    }

    /// Returns the path as the policy writes it.
    fn words(&self, path: &Expr) -> String {
        format!("`{}`", path.span.of(self.source))
    }

    /// Returns the values of a path as JSON, or `undefined` without one.
    fn values(&self, path: &Expr) -> Option<Vec<String>> {
        let path = self.paths.resolve(path, self.names)?;
        let mut values = vec![self.input];
        for part in path.strip_prefix("input")?.split('.').skip(1) {
            let (name, items) = match part.find('[') {
                Some(at) => part.split_at(at),
                None => (part, ""),
            };
            values = values.into_iter().map(|value| &value[name]).collect();
            for _ in 0..items.matches("[_]").count() {
                let of = |value: &'l Value| match value {
                    Value::Array(items) => items.iter().collect(),
                    _ => Vec::new(),
                };
                values = values.into_iter().flat_map(of).collect();
            }
        }
        let values = values.into_iter().take(VALUES);
        let mut values: Vec<_> = values.map(json).collect();
        if values.is_empty() {
            values.push("undefined".to_owned());
        }
        Some(values)
    }
}

fn json(value: &Value) -> String {
    match value {
        Value::Undefined => "undefined".to_owned(),
        value => value.to_json_str().unwrap_or_default(),
    }
}

fn listed(values: &[String]) -> String {
    values.join(" or ")
}
