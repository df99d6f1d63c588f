//! Checks of what the evaluator finds late or never: calls of unknown functions, rules that depend
//! on themselves, and more levels of calls than a stack has room for.

use super::builtins::{self, BUILTINS};
use super::tree::{Expr, ExprKind, Module, Query, Rule, StatementKind};
use agent_diagnostic::{Code, Problems};
use agent_text::{Span, nearest};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum levels of expressions, loops and calls in an evaluation.
pub const LEVEL_LIMIT: u32 = 256;

/// Maximum statements of a body, an `every` or a comprehension: the evaluator takes the square of
/// them to put them in order.
pub const STATEMENT_LIMIT: usize = 500;

/// Maximum width to which `sprintf` pads.
const WIDTH_LIMIT: u32 = 64;

/// A path from `data` on, without `data`.
type Path<'m> = Vec<&'m str>;

/// Checks a module that is evaluated together with others.
pub(super) fn check(module: &Module, others: &[&Module], problems: &mut Problems<'_>) {
    let rules = Rules::new(others.iter().copied().chain([module]));
    check_calls(&rules, module, &BTreeSet::new(), problems);
    for rule in &module.rules {
        for query in rule.queries() {
            statements(query, problems);
        }
    }
    rules.kinds(module, problems);
    rules.levels(module, problems);
}

/// Checks the calls of a module in which rules of some names are broken.
pub(super) fn calls(
    module: &Module,
    others: &[&Module],
    broken: &BTreeSet<String>,
    problems: &mut Problems<'_>,
) {
    let rules = Rules::new(others.iter().copied().chain([module]));
    check_calls(&rules, module, broken, problems);
}

fn check_calls(
    rules: &Rules<'_>,
    module: &Module,
    broken: &BTreeSet<String>,
    problems: &mut Problems<'_>,
) {
    for rule in &module.rules {
        rule.visit(&mut |expr| {
            let ExprKind::Call(function, arguments) = &expr.kind else {
                return;
            };
            let path = function.path().map(|(path, _)| path);
            if !path.is_some_and(|path| path.iter().any(|it| broken.contains(*it))) {
                call(rules, module, function, arguments, problems);
            }
        });
    }
}

fn statements(query: &Query, problems: &mut Problems<'_>) {
    if query.statements.len() > STATEMENT_LIMIT {
        let label = format!("{} statements", query.statements.len());
        let message = format!("a body has at most {STATEMENT_LIMIT} statements");
        problems
            .report(Code::PolicySyntax, query.span, label, message)
            .help("move some of them to a rule of their own");
    }
}

fn call(
    rules: &Rules<'_>,
    module: &Module,
    function: &Expr,
    arguments: &[Expr],
    problems: &mut Problems<'_>,
) {
    let Some((path, _)) = function.path() else {
        return;
    };
    let name = path.join(".");
    if rules.functions.contains(&full_path(module, &path)) || name == "print" {
        return;
    }
    if let Some(builtin) = builtins::find(&name) {
        if arguments.len() != usize::from(builtin.arguments) {
            let label = format!("{} arguments", arguments.len());
            let message = format!("`{name}` takes {} arguments", builtin.arguments);
            problems.report(Code::PolicySyntax, function.span, label, message);
        } else if name == "sprintf" {
            format(&arguments[0], problems);
        }
        return;
    }
    let message = format!("there is no function `{name}`");
    let report = problems.report(Code::PolicySyntax, function.span, "unknown", message);
    if let Some(why) = builtins::absence(&name) {
        report.help(why);
        return;
    }
    let own = rules.functions.iter().filter_map(|path| path.last());
    let known = BUILTINS.iter().map(|builtin| builtin.name);
    if let Some(meant) = nearest(&name, known.chain(own.copied()), 1).first() {
        report.help(format!("did you mean `{meant}`?"));
    }
}

/// Checks that a format is a literal and does not pad without bound.
fn format(format: &Expr, problems: &mut Problems<'_>) {
    let ExprKind::Text(text) = &format.kind else {
        let message = "the format of `sprintf` must be a string literal";
        problems
            .report(Code::PolicySyntax, format.span, "not a literal", message)
            .help("use `concat` to join values that are known only in an evaluation");
        return;
    };
    // The flags of a verb, its width, a point and its precision.
    let wide = text.split('%').skip(1).any(|verb| {
        let width = verb.trim_start_matches(['-', '+', '#', ' ', '0', '.']);
        let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
        let (width, rest) = width.split_at(digits(width));
        let precision = rest.strip_prefix('.').unwrap_or_default();
        let precision = &precision[..digits(precision)];
        [width, precision].iter().any(|digits| {
            let number = digits.parse::<u32>();
            !digits.is_empty() && !number.is_ok_and(|number| number <= WIDTH_LIMIT)
        })
    });
    if wide {
        let message = format!("`sprintf` pads to at most {WIDTH_LIMIT} characters");
        problems.report(Code::PolicySyntax, format.span, "too wide", message);
    }
}

/// Returns the full path, from `data` on, of a path in a module.
fn full_path<'m>(module: &'m Module, path: &[&'m str]) -> Path<'m> {
    let (first, rest) = path.split_first().unwrap_or((&"", &[]));
    if *first == "data" {
        return rest.to_vec();
    }
    let mut imports = module.imports.iter();
    let import = imports.find(|import| import.name == *first);
    let (base, rest) = match import {
        Some(import) if import.path[0] == "data" => (&import.path[1..], rest),
        _ => (&*module.package, path),
    };
    let base = base.iter().map(|name| &**name);
    base.chain(rest.iter().copied()).collect()
}

/// A definition of a rule, and its module.
type Definition<'m> = (&'m Module, &'m Rule);

/// The rules of some modules.
struct Rules<'m> {
    by_path: BTreeMap<Path<'m>, Vec<Definition<'m>>>,
    functions: BTreeSet<Path<'m>>,
}

impl<'m> Rules<'m> {
    fn new(modules: impl Iterator<Item = &'m Module>) -> Self {
        let mut by_path: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut functions = BTreeSet::new();
        for module in modules {
            for rule in &module.rules {
                let path = module.package.iter().chain(&rule.name);
                let path: Path<'m> = path.map(|name| &**name).collect();
                if rule.parameters.is_some() {
                    functions.insert(path.clone());
                }
                by_path.entry(path).or_default().push((module, rule));
            }
        }
        Self { by_path, functions }
    }

    /// Returns the paths that the definitions of a rule refer to.
    fn references(&self, definitions: &[Definition<'m>]) -> BTreeSet<Path<'m>> {
        let mut found = BTreeSet::new();
        for (module, rule) in definitions {
            let locals = locals(rule);
            // The start of a longer path is not a separate reference.
            let mut starts = BTreeSet::new();
            rule.visit(&mut |expr| {
                let called = match &expr.kind {
                    ExprKind::Call(function, _) => Some(&**function),
                    _ => None,
                };
                if let ExprKind::Index(start, _) | ExprKind::Call(start, _) = &expr.kind {
                    starts.insert(std::ptr::from_ref(&**start));
                }
                if called.is_none() && starts.contains(&std::ptr::from_ref(expr)) {
                    return;
                }
                let Some((path, _)) = called.unwrap_or(expr).path() else {
                    return;
                };
                // A function is never a local.
                if called.is_some() || !locals.contains(path[0]) {
                    found.insert(full_path(module, &path));
                }
            });
        }
        found
    }

    /// Returns the paths of the rules that a reference may evaluate.
    fn evaluated(&self, path: &[&'m str]) -> Vec<&Path<'m>> {
        let above = (1..path.len()).filter_map(|length| {
            let known = self.by_path.get_key_value(&path[..length]);
            known.map(|(path, _)| path)
        });
        let below = self.by_path.range(path.to_vec()..);
        let below = below.map(|(path, _)| path);
        above
            .chain(below.take_while(|below| below.starts_with(path)))
            .collect()
    }

    /// Refuses a rule that is a set in one place, and an object, a function or a value in another.
    fn kinds(&self, module: &Module, problems: &mut Problems<'_>) {
        let kind = |rule: &Rule| {
            let function = rule.parameters.as_ref().map(Vec::len);
            (function, rule.element.is_some(), !rule.keys.is_empty())
        };
        for definitions in self.by_path.values() {
            let mut definitions = definitions.iter().filter(|(_, rule)| !rule.default);
            let Some((_, first)) = definitions.next() else {
                continue;
            };
            let other = definitions.find(|(_, rule)| kind(rule) != kind(first));
            if let Some((_, other)) = other.filter(|(of, _)| std::ptr::eq(*of, module)) {
                let label = "not of the same kind as before";
                let message = format!("the rule `{}` is defined in two ways", other.name.join("."));
                problems.report(Code::PolicySyntax, other.name_span, label, message);
            }
        }
    }

    /// Refuses a rule that depends on itself, or needs too many levels. The rules are visited
    /// without recursion: a chain of them may be as long as the policy.
    fn levels(&self, module: &Module, problems: &mut Problems<'_>) {
        // The levels that a path needs; `None` while those below it are being counted.
        let mut levels: BTreeMap<&Path<'_>, Option<u32>> = BTreeMap::new();
        for start in self.by_path.keys() {
            if levels.contains_key(start) {
                continue;
            }
            levels.insert(start, None);
            let mut open = vec![Frame::new(self, start)];
            while let Some(frame) = open.last_mut() {
                let Some(next) = frame.next.pop() else {
                    let (path, level) = (frame.path, frame.own + frame.below);
                    levels.insert(path, Some(level));
                    open.pop();
                    if let Some(above) = open.last_mut() {
                        above.below = above.below.max(level);
                    }
                    if level > LEVEL_LIMIT {
                        let (span, name) = self.definition(path, module);
                        let message = format!(
                            "the rule `{name}` needs more than {LEVEL_LIMIT} levels of calls, loops and expressions"
                        );
                        problems
                            .report(Code::PolicySyntax, span, "too deep", message)
                            .help("shorten the chain of rules, or flatten its expressions");
                        return;
                    }
                    continue;
                };
                match levels.get(next) {
                    Some(Some(level)) => frame.below = frame.below.max(*level),
                    Some(None) => {
                        let (span, name) = self.definition(frame.path, module);
                        let message = format!("the rule `{name}` depends on itself");
                        problems
                            .report(Code::PolicySyntax, span, "depends on itself", message)
                            .help("remove the recursion; a path with a variable in it refers to all rules below");
                        return;
                    }
                    None => {
                        levels.insert(next, None);
                        open.push(Frame::new(self, next));
                    }
                }
            }
        }
    }

    /// Returns the place of a rule in a module, if it is there, and its name.
    fn definition(&self, path: &Path<'m>, module: &Module) -> (Span, String) {
        let definitions = &self.by_path[path];
        let mut here = definitions.iter();
        let here = here.find(|(of, _)| std::ptr::eq(*of, module));
        let span = here.map(|(_, rule)| rule.name_span).unwrap_or_default();
        let first = definitions.first().map(|(_, rule)| rule.name.join("."));
        (span, first.unwrap_or_default())
    }
}

/// A path whose levels are being counted.
struct Frame<'r, 'm> {
    path: &'r Path<'m>,
    /// The paths below that are still to be counted.
    next: Vec<&'r Path<'m>>,
    /// The levels of the rule itself.
    own: u32,
    /// The most levels of those below.
    below: u32,
}

impl<'r, 'm> Frame<'r, 'm> {
    fn new(rules: &'r Rules<'m>, path: &'r Path<'m>) -> Self {
        let definitions = &rules.by_path[path];
        let mut next: Vec<_> = rules
            .references(definitions)
            .iter()
            .flat_map(|reference| rules.evaluated(reference))
            .collect();
        agent_text::sort::sort_by(&mut next, Ord::cmp);
        next.dedup();
        let own = definitions.iter().map(|(_, rule)| own_levels(rule)).max();
        Self {
            path,
            next,
            own: own.unwrap_or(0),
            below: 0,
        }
    }
}

/// Returns the levels of a rule without the rules that it refers to: each loop is within the loops
/// before it.
fn own_levels(rule: &Rule) -> u32 {
    let (mut loops, mut depth) = (0_u32, 0_u32);
    rule.visit(&mut |expr| {
        depth = depth.max(expr.depth);
        if let ExprKind::Index(_, key) = &expr.kind {
            loops += u32::from(!key.is_scalar());
        }
    });
    for statement in rule.statements() {
        if let StatementKind::SomeIn(..) | StatementKind::Every(..) = statement.kind {
            loops += 1;
        }
    }
    4 + loops.saturating_mul(2) + depth
}

/// Returns the names that are local to a rule.
pub(super) fn locals(rule: &Rule) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut patterns: Vec<&Expr> = rule.parameters.iter().flatten().collect();
    for statement in rule.statements() {
        match &statement.kind {
            StatementKind::Some(names) | StatementKind::Every(names, ..) => {
                found.extend(names.iter().map(|name| &**name));
            }
            StatementKind::SomeIn(key, value, _) => patterns.extend(key.iter().chain([value])),
            StatementKind::Unify {
                declares: true,
                left,
                ..
            } => patterns.push(left),
            _ => {}
        }
    }
    for pattern in patterns {
        pattern.declared(&mut |name, _| {
            found.insert(name);
        });
    }
    found
}
