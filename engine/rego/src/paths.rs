//! Which part of the input an expression stands for, as far as that is sure.

use super::check::locals;
use super::tree::{Expr, ExprKind, Module, Query, Rule, StatementKind, visit};
use std::collections::{BTreeMap, BTreeSet};

/// What names stand for: paths such as `input.candidate_tools[_].class`.
pub(super) type Names<'m> = BTreeMap<&'m str, String>;

/// What the names of a module stand for.
pub(super) struct Paths<'m> {
    /// Imports, and rules that only give a path a name.
    global: Names<'m>,
    /// By function and number, what every call passes.
    parameters: BTreeMap<(&'m str, usize), String>,
    rules: BTreeSet<&'m str>,
}

/// How often names are looked up through other names.
const ROUNDS: usize = 8;

impl<'m> Paths<'m> {
    /// Look through a module.
    pub(super) fn new(module: &'m Module) -> Self {
        let mut paths = Self {
            global: Names::new(),
            parameters: BTreeMap::new(),
            rules: module.rules.iter().map(|rule| &*rule.name[0]).collect(),
        };
        let imports = module.imports.iter();
        for import in imports.filter(|import| import.path[0] == "input") {
            paths.global.insert(&import.name, import.path.join("."));
        }
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
        for rule in &module.rules {
            let name = &*rule.name[0];
            let alone = module
                .rules
                .iter()
                .filter(|other| other.name[0] == name)
                .count()
                == 1;
            let plain = rule.name.len() == 1
                && rule.keys.is_empty()
                && rule.parameters.is_none()
                && rule.bodies.is_empty();
            let value = rule.value.as_ref().filter(|_| alone && plain);
            if let Some(path) = value.and_then(|value| self.resolve(value, &Names::new())) {
                self.global.insert(name, path);
            }
        }
    }

    fn learn_parameters(&mut self, module: &'m Module) {
        let mut passed: BTreeMap<(&str, usize), BTreeSet<Option<String>>> = BTreeMap::new();
        for rule in &module.rules {
            let names = self.names(rule);
            visit(rule.parts(), &mut |expr| {
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

    /// What the names that a rule declares stand for. A name that is declared twice stands for
    /// nothing that is sure.
    pub(super) fn names(&self, rule: &'m Rule) -> Names<'m> {
        let mut names = Names::new();
        for _ in 0..ROUNDS {
            let mut found: BTreeMap<&str, Vec<Option<String>>> = BTreeMap::new();
            for (at, parameter) in rule.parameters.iter().flatten().enumerate() {
                let path = self.parameters.get(&(&*rule.name[0], at)).cloned();
                declare(parameter, path, &mut found);
            }
            let (_, queries) = rule.parts();
            for query in queries {
                self.declared(query, &names, &mut found);
            }
            visit(rule.parts(), &mut |expr| {
                if let Some(query) = expr.query() {
                    self.declared(query, &names, &mut found);
                }
            });
            let known = names.len();
            names = found
                .into_iter()
                .filter(|(name, _)| !self.rules.contains(name))
                .filter_map(|(name, mut paths)| {
                    let path = paths.pop()?;
                    path.filter(|_| paths.is_empty()).map(|path| (name, path))
                })
                .collect();
            if names.len() == known {
                break;
            }
        }
        names
    }

    fn declared(
        &self,
        query: &'m Query,
        names: &Names<'m>,
        found: &mut BTreeMap<&'m str, Vec<Option<String>>>,
    ) {
        let member = |of: &Expr| self.resolve(of, names).map(|path| format!("{path}[_]"));
        for statement in &query.statements {
            match &statement.kind {
                StatementKind::SomeIn(key, value, of) => {
                    key.iter().for_each(|key| declare(key, None, found));
                    declare(value, member(of), found);
                }
                StatementKind::Every(declared, of, inner) => {
                    if let Some((value, keys)) = declared.split_last() {
                        found.entry(value).or_default().push(member(of));
                        for key in keys {
                            found.entry(key).or_default().push(None);
                        }
                    }
                    self.declared(inner, names, found);
                }
                StatementKind::Unify { left, right, .. } => {
                    declare(left, self.resolve(right, names), found);
                    if !matches!(left.kind, ExprKind::Name(_)) {
                        declare(right, self.resolve(left, names), found);
                    }
                }
                StatementKind::Some(_) | StatementKind::Holds(_) => {}
            }
        }
    }

    /// The path of an expression.
    pub(super) fn resolve(&self, expr: &Expr, names: &Names<'_>) -> Option<String> {
        match &expr.kind {
            ExprKind::Name(name) if name == "input" => Some("input".to_owned()),
            ExprKind::Name(name) => names.get(&**name).or(self.global.get(&**name)).cloned(),
            ExprKind::Field(of, field) => {
                let path = self.resolve(of, names)?;
                Some(format!("{path}.{field}"))
            }
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

    /// What a rule reads of the input, without what is only on the way to something in it.
    pub(super) fn read(&self, rule: &'m Rule) -> BTreeSet<String> {
        let names = self.names(rule);
        let declared = locals(rule);
        let mut found = BTreeSet::new();
        visit(rule.parts(), &mut |expr| {
            let sure = match &expr.kind {
                ExprKind::Name(name) => !declared.contains(&**name) || names.contains_key(&**name),
                _ => true,
            };
            found.extend(self.resolve(expr, &names).filter(|_| sure));
        });
        let inner = |path: &String, other: &String| {
            let rest = other.strip_prefix(&**path);
            rest.is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        let leaves = found
            .iter()
            .filter(|path| *path != "input" && !found.iter().any(|other| inner(path, other)));
        leaves.cloned().collect()
    }
}

/// Note what a pattern declares. Only a name alone stands for the whole path.
fn declare<'m>(
    pattern: &'m Expr,
    path: Option<String>,
    found: &mut BTreeMap<&'m str, Vec<Option<String>>>,
) {
    match &pattern.kind {
        ExprKind::Name(name) => found.entry(name).or_default().push(path),
        ExprKind::Array(_) | ExprKind::Set(_) | ExprKind::Object(_) => {
            for part in pattern.parts() {
                declare(part, None, found);
            }
        }
        _ => {}
    }
}
