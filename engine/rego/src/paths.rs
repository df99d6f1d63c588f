//! The input paths of expressions, as far as they are certain.

use super::check::locals;
use super::tree::{Expr, ExprKind, Module, Rule, StatementKind};
use agent_text::sort::{map_of, set_of};
use std::collections::{BTreeMap, BTreeSet};

/// The objects of the input whose members are all known, with these.
pub(super) const OBJECTS: [(&str, &[&str]); 9] = [
    (
        "input",
        &[
            "arguments",
            "candidate_tools",
            "context",
            "history",
            "phase",
            "requirement",
            "result",
            "subject",
            "task",
            "tenant_policy",
            "user_tier",
        ],
    ),
    (
        "input.history",
        &[
            "call",
            "calls",
            "folded",
            "labels",
            "now_ms",
            "session",
            "window_ms",
        ],
    ),
    (
        "input.history.call",
        &[
            "annotations",
            "capabilities",
            "fields",
            "labels",
            "numbers",
            "sends",
            "server",
            "tool",
            "writes",
        ],
    ),
    (
        "input.history.calls[_]",
        &[
            "annotations",
            "arguments",
            "at_ms",
            "capabilities",
            "fields",
            "labels",
            "numbers",
            "outcome",
            "record",
            "result",
            "sends",
            "server",
            "session",
            "time",
            "tool",
            "version",
            "writes",
        ],
    ),
    (
        "input.history.folded[_]",
        &[
            "count",
            "delivered",
            "first",
            "label",
            "last",
            "server",
            "tool",
        ],
    ),
    (
        "input.requirement",
        &[
            "category",
            "constraints",
            "load",
            "permissions",
            "resource",
            "verb",
        ],
    ),
    ("input.task", &["id"]),
    (
        "input.candidate_tools[_]",
        &[
            "capabilities",
            "class",
            "description",
            "id",
            "maxSensitivity",
            "publisher",
            "residency",
            "server",
            "signed",
            "tool",
            "version",
        ],
    ),
    (
        "input.candidate_tools[_].capabilities[_]",
        &["constraints", "resource", "verb"],
    ),
];

/// The paths of names, such as `input.candidate_tools[_].class`.
pub(super) type Names<'m> = BTreeMap<&'m str, String>;

/// The candidates for the path of each name: `None` for a value that is not a path.
type Found<'m> = BTreeMap<&'m str, Vec<Option<String>>>;

/// The paths of the names of a module.
pub(super) struct Paths<'m> {
    /// By import, and by rule that only names a path.
    global: Names<'m>,
    /// By function and number of a parameter: the path that every call passes.
    parameters: BTreeMap<(&'m str, usize), String>,
    rules: BTreeSet<&'m str>,
}

/// Maximum names through which another name is looked up.
const ROUNDS: usize = 8;

impl<'m> Paths<'m> {
    /// Finds the paths in a module.
    pub(super) fn new(module: &'m Module) -> Self {
        let imports = module.imports.iter();
        let imports = imports.filter(|import| import.path[0] == "input");
        let mut paths = Self {
            global: map_of(imports.map(|import| (&*import.name, import.path.join(".")))),
            parameters: BTreeMap::new(),
            rules: set_of(module.rules.iter().map(|rule| &*rule.name[0])),
        };
        for _ in 0..ROUNDS {
            let known = (paths.global.len(), paths.parameters.len());
            paths.learn_rules(module);
            paths.learn_parameters(module);
            if known == (paths.global.len(), paths.parameters.len()) {
                break;
            }
        }
        paths
    }

    fn learn_rules(&mut self, module: &'m Module) {
        let mut definitions: BTreeMap<&str, Vec<&Rule>> = BTreeMap::new();
        for rule in &module.rules {
            definitions.entry(&rule.name[0]).or_default().push(rule);
        }
        for (name, rules) in definitions {
            let [rule] = *rules else {
                continue;
            };
            let plain = rule.name.len() == 1
                && rule.keys.is_empty()
                && rule.parameters.is_none()
                && rule.bodies.is_empty();
            let value = rule.value.as_ref().filter(|_| plain);
            if let Some(path) = value.and_then(|value| self.resolve(value, &Names::new())) {
                self.global.insert(name, path);
            }
        }
    }

    fn learn_parameters(&mut self, module: &'m Module) {
        let mut passed: BTreeMap<(&str, usize), BTreeSet<Option<String>>> = BTreeMap::new();
        for rule in &module.rules {
            let names = self.names(rule);
            rule.visit(&mut |expr| {
                let ExprKind::Call(function, arguments) = &expr.kind else {
                    return;
                };
                let ExprKind::Name(function) = &function.kind else {
                    return;
                };
                for (at, argument) in arguments.iter().enumerate() {
                    let path = self.resolve(argument, &names);
                    passed.entry((function, at)).or_default().insert(path);
                }
            });
        }
        for (place, mut paths) in passed {
            if let (1, Some(Some(path))) = (paths.len(), paths.pop_first()) {
                self.parameters.insert(place, path);
            }
        }
    }

    /// Returns the paths of the names that a rule declares. The path of a name that is declared
    /// twice is not certain.
    pub(super) fn names(&self, rule: &'m Rule) -> Names<'m> {
        let mut names = Names::new();
        for _ in 0..ROUNDS {
            let known = names.len();
            let found = self.declared(rule, &names).into_iter();
            let found = found.filter(|(name, _)| !self.rules.contains(name));
            names = map_of(found.filter_map(|(name, mut paths)| {
                let path = paths.pop()?;
                path.filter(|_| paths.is_empty()).map(|path| (name, path))
            }));
            if names.len() == known {
                break;
            }
        }
        names
    }

    fn declared(&self, rule: &'m Rule, names: &Names<'m>) -> Found<'m> {
        let mut found = Found::new();
        for (at, parameter) in rule.parameters.iter().flatten().enumerate() {
            let path = self.parameters.get(&(&*rule.name[0], at)).cloned();
            declare(parameter, path, &mut found);
        }
        let member = |of: &Expr| self.resolve(of, names).map(|path| format!("{path}[_]"));
        for statement in rule.statements() {
            match &statement.kind {
                StatementKind::SomeIn(key, value, of) => {
                    key.iter().for_each(|key| declare(key, None, &mut found));
                    declare(value, member(of), &mut found);
                }
                StatementKind::Every(declared, of, _) => {
                    let mut path = member(of);
                    for name in declared.iter().rev() {
                        found.entry(name).or_default().push(path.take());
                    }
                }
                StatementKind::Unify { left, right, .. } => {
                    declare(left, self.resolve(right, names), &mut found);
                    if !matches!(left.kind, ExprKind::Name(_)) {
                        declare(right, self.resolve(left, names), &mut found);
                    }
                }
                StatementKind::Some(_) | StatementKind::Holds(_) => {}
            }
        }
        found
    }

    /// Returns the path of an expression.
    pub(super) fn resolve(&self, expr: &Expr, names: &Names<'_>) -> Option<String> {
        match &expr.kind {
            ExprKind::Name(name) if name == "input" => Some("input".to_owned()),
            ExprKind::Name(name) => names.get(&**name).or(self.global.get(&**name)).cloned(),
            ExprKind::Index(of, key) => {
                let path = self.resolve(of, names)?;
                Some(match &key.kind {
                    ExprKind::Text(field) => format!("{path}.{field}"),
                    _ => format!("{path}[_]"),
                })
            }
            _ => None,
        }
    }

    /// Returns the paths that a rule reads, without those that lead to others.
    pub(super) fn read(&self, rule: &'m Rule) -> BTreeSet<String> {
        let names = self.names(rule);
        let declared = locals(rule);
        let mut found = BTreeSet::new();
        rule.visit(&mut |expr| {
            let certain = match &expr.kind {
                ExprKind::Name(name) => !declared.contains(&**name) || names.contains_key(&**name),
                _ => true,
            };
            found.extend(self.resolve(expr, &names).filter(|_| certain));
        });
        let leads_to = |path: &String, other: &String| {
            let rest = other.strip_prefix(&**path);
            rest.is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        let leaves = found
            .iter()
            .filter(|path| *path != "input" && !found.iter().any(|other| leads_to(path, other)));
        leaves.cloned().collect()
    }
}

/// Records the names that a pattern declares. Only a name alone has the whole path.
fn declare<'m>(pattern: &'m Expr, path: Option<String>, found: &mut Found<'m>) {
    pattern.declared(&mut |name, whole| {
        let path = path.clone().filter(|_| whole);
        found.entry(name).or_default().push(path);
    });
}
