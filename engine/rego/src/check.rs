//! What the evaluator would find out late, or not at all: calls of what does not exist, rules that
//! depend on themselves, and more levels of calls than a stack has room for.

use super::builtins::{self, BUILTINS};
use super::tree::{Expr, ExprKind, Module, Query, Rule, StatementKind, visit};
use agent_diagnostic::{Code, Problems};
use agent_text::nearest;
use std::collections::{BTreeMap, BTreeSet};

/// How many levels of expressions, loops and calls an evaluation may be within.
pub const LEVEL_LIMIT: u32 = 256;

/// How many statements a body may have.
pub const STATEMENT_LIMIT: usize = 500;

/// How wide `sprintf` may pad.
const WIDTH_LIMIT: u32 = 64;

/// Check a module, which is the last of those that are evaluated together.
pub(super) fn check(modules: &[&Module], problems: &mut Problems<'_>) {
    let Some(module) = modules.last() else {
        return;
    };
    let rules = Rules::new(modules);
    for rule in &module.rules {
        let mut calls = Vec::new();
        visit(rule.parts(), &mut |expr| {
            if let ExprKind::Call(function, arguments) = &expr.kind {
                calls.push((function, arguments));
            }
        });
        for (function, arguments) in calls {
            call(&rules, module, function, arguments, problems);
        }
        rule.parts()
            .1
            .into_iter()
            .for_each(|query| statements(query, problems));
    }
    rules.kinds(module, problems);
    rules.levels(modules, problems);
}

fn statements(query: &Query, problems: &mut Problems<'_>) {
    if query.statements.len() > STATEMENT_LIMIT {
        problems
            .report(
                Code::PolicySyntax,
                query.span,
                format!("{} statements", query.statements.len()),
                format!("a body has at most {STATEMENT_LIMIT} statements"),
            )
            .help("give some of them a name, in a rule of their own");
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
    let full = full_path(module, &path);
    if rules.functions.contains(&full) || name == "print" {
        return;
    }
    if let Some(builtin) = builtins::find(&name) {
        if arguments.len() != usize::from(builtin.arguments) {
            problems.report(
                Code::PolicySyntax,
                function.span,
                format!("{} arguments", arguments.len()),
                format!("`{name}` takes {} arguments", builtin.arguments),
            );
        } else if name == "sprintf" {
            format(&arguments[0], problems);
        }
        return;
    }
    let report = problems.report(
        Code::PolicySyntax,
        function.span,
        "no function of this name",
        format!("there is no function `{name}`"),
    );
    if let Some(why) = builtins::absence(&name) {
        report.help(why);
        return;
    }
    let own = rules
        .functions
        .iter()
        .filter_map(|path| path.last().copied());
    let known = BUILTINS.iter().map(|builtin| builtin.name).chain(own);
    if let Some(meant) = nearest(&name, known, 1).first() {
        report.help(format!("did you mean `{meant}`?"));
    }
}

/// A format that is written out, and does not pad without bound.
fn format(format: &Expr, problems: &mut Problems<'_>) {
    let ExprKind::Text(text) = &format.kind else {
        problems
            .report(
                Code::PolicySyntax,
                format.span,
                "not written out",
                "the format of `sprintf` has to be written out where it is used",
            )
            .help("use `concat` to join what is only known later");
        return;
    };
    let wide = text.split('%').skip(1).any(|verb| {
        let width = verb.trim_start_matches(['-', '+', '#', ' ', '0', '.']);
        let digits: String = width.chars().take_while(char::is_ascii_digit).collect();
        let precise = width[digits.len()..].strip_prefix('.').unwrap_or_default();
        let more: String = precise.chars().take_while(char::is_ascii_digit).collect();
        let is_wide = |digits: &str| {
            !digits.is_empty()
                && digits
                    .parse::<u32>()
                    .map_or(true, |width| width > WIDTH_LIMIT)
        };
        is_wide(&digits) || is_wide(&more)
    });
    if wide {
        problems.report(
            Code::PolicySyntax,
            format.span,
            "too wide",
            format!("`sprintf` pads to at most {WIDTH_LIMIT} characters"),
        );
    }
}

/// A path from `data` on, without it.
fn full_path<'m>(module: &'m Module, path: &[&'m str]) -> Vec<&'m str> {
    let (first, rest) = path.split_first().unwrap_or((&"", &[]));
    if *first == "data" {
        return rest.to_vec();
    }
    let import = module.imports.iter().find(|import| import.name == *first);
    match import {
        Some(import) if import.path[0] == "data" => {
            let path = import.path[1..].iter().map(|name| &**name);
            path.chain(rest.iter().copied()).collect()
        }
        _ => {
            let package = module.package.iter().map(|name| &**name);
            package.chain(path.iter().copied()).collect()
        }
    }
}

/// The rules of some modules.
struct Rules<'m> {
    /// The definitions by path: of which module, and which.
    by_path: BTreeMap<Vec<&'m str>, Vec<(&'m Module, &'m Rule)>>,
    functions: BTreeSet<Vec<&'m str>>,
}

impl<'m> Rules<'m> {
    fn new(modules: &[&'m Module]) -> Self {
        let mut by_path: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let mut functions = BTreeSet::new();
        for &module in modules {
            for rule in &module.rules {
                let mut path: Vec<&str> = module.package.iter().map(|name| &**name).collect();
                path.extend(rule.name.iter().map(|name| &**name));
                if rule.parameters.is_some() {
                    functions.insert(path.clone());
                }
                by_path.entry(path).or_default().push((module, rule));
            }
        }
        Self { by_path, functions }
    }

    /// What the definitions of a path refer to.
    fn references(&self, definitions: &[(&'m Module, &'m Rule)]) -> BTreeSet<Vec<&'m str>> {
        let mut found = BTreeSet::new();
        for (module, rule) in definitions {
            let locals = locals(rule);
            // What is only the start of a longer path is not asked for itself.
            let mut starts = BTreeSet::new();
            visit(rule.parts(), &mut |expr| {
                let called = match &expr.kind {
                    ExprKind::Call(function, _) => Some(&**function),
                    ExprKind::Field(of, _) | ExprKind::Index(of, _) => {
                        starts.insert(std::ptr::from_ref(&**of));
                        None
                    }
                    _ => None,
                };
                if called.is_none() && starts.contains(&std::ptr::from_ref(expr)) {
                    return;
                }
                if let Some(function) = called {
                    starts.insert(std::ptr::from_ref(function));
                }
                let Some((path, _)) = called.unwrap_or(expr).path() else {
                    return;
                };
                // No function is a local.
                if called.is_some() || !locals.contains(path[0]) {
                    found.insert(full_path(module, &path));
                }
            });
        }
        found
    }

    /// The paths of the rules that a reference may ask for.
    fn asked(&self, path: &[&'m str]) -> Vec<&Vec<&'m str>> {
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

    /// Refuse a rule that is a set in one place, and an object, a function or a value in another.
    fn kinds(&self, module: &Module, problems: &mut Problems<'_>) {
        let kind = |rule: &Rule| {
            let function = rule.parameters.as_ref().map(Vec::len);
            (function, rule.element.is_some(), !rule.keys.is_empty())
        };
        for definitions in self.by_path.values() {
            let mut definitions = definitions
                .iter()
                .filter(|(_, rule)| !rule.default)
                .map(|(of, rule)| (*of, *rule));
            let Some((_, first)) = definitions.next() else {
                continue;
            };
            let other = definitions.find(|(_, rule)| kind(rule) != kind(first));
            if let Some((_, other)) = other.filter(|(of, _)| std::ptr::eq(*of, module)) {
                problems.report(
                    Code::PolicySyntax,
                    other.name_span,
                    "another kind of rule than before",
                    format!("the rule `{}` is defined in two ways", other.name.join(".")),
                );
            }
        }
    }

    /// Refuse what depends on itself, and what stands too deep in calls.
    fn levels(&self, modules: &[&'m Module], problems: &mut Problems<'_>) {
        let Some(last) = modules.last() else {
            return;
        };
        // Each path with how many levels are below it; none while it is being looked into.
        let mut levels: BTreeMap<&Vec<&str>, Option<u32>> = BTreeMap::new();
        for start in self.by_path.keys() {
            if levels.contains_key(start) {
                continue;
            }
            levels.insert(start, None);
            let mut open = vec![Frame::new(self, start)];
            while let Some(frame) = open.last_mut() {
                let Some(next) = frame.next.pop() else {
                    let level = frame.own + frame.below;
                    let path = frame.path;
                    let definitions = &self.by_path[path];
                    levels.insert(path, Some(level));
                    open.pop();
                    if let Some(above) = open.last_mut() {
                        above.below = above.below.max(level);
                    }
                    if level > LEVEL_LIMIT {
                        self.refuse(last, definitions, problems, false);
                        return;
                    }
                    continue;
                };
                match levels.get(next) {
                    Some(Some(level)) => frame.below = frame.below.max(*level),
                    Some(None) => {
                        let definitions = &self.by_path[frame.path];
                        self.refuse(last, definitions, problems, true);
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

    fn refuse(
        &self,
        last: &Module,
        definitions: &[(&'m Module, &'m Rule)],
        problems: &mut Problems<'_>,
        recursive: bool,
    ) {
        let here = definitions
            .iter()
            .find(|(module, _)| std::ptr::eq(*module, last))
            .map(|(_, rule)| *rule);
        let name = definitions
            .first()
            .map(|(_, rule)| rule.name.join("."))
            .unwrap_or_default();
        let span = here.map(|rule| rule.name_span).unwrap_or_default();
        if recursive {
            problems
                .report(
                    Code::PolicySyntax,
                    span,
                    "depends on itself",
                    format!("the rule `{name}` depends on itself"),
                )
                .help("Rego knows no recursion; a path with a variable in it asks for all rules below");
        } else {
            problems
                .report(
                    Code::PolicySyntax,
                    span,
                    "too deep",
                    format!("the rule `{name}` needs more than {LEVEL_LIMIT} levels of calls, loops and expressions"),
                )
                .help("make the chain of rules shorter, or its expressions flatter");
        }
    }
}

struct Frame<'r, 'm> {
    path: &'r Vec<&'m str>,
    next: Vec<&'r Vec<&'m str>>,
    own: u32,
    below: u32,
}

impl<'r, 'm> Frame<'r, 'm> {
    fn new(rules: &'r Rules<'m>, path: &'r Vec<&'m str>) -> Self {
        let definitions = &rules.by_path[path];
        let mut next: Vec<_> = rules
            .references(definitions)
            .iter()
            .flat_map(|reference| rules.asked(reference))
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

/// How deep the evaluation of a rule goes without the rules that it asks for: each loop is within
/// the loops before it.
fn own_levels(rule: &Rule) -> u32 {
    let (mut loops, mut depth) = (0_u32, 0_u32);
    visit(rule.parts(), &mut |expr| {
        depth = depth.max(expr.depth);
        if let ExprKind::Index(_, key) = &expr.kind {
            loops += u32::from(!key.is_scalar());
        }
    });
    let mut queries = rule.parts().1;
    visit(rule.parts(), &mut |expr| queries.extend(expr.query()));
    while let Some(query) = queries.pop() {
        for statement in &query.statements {
            match &statement.kind {
                StatementKind::SomeIn(..) => loops += 1,
                StatementKind::Every(_, _, inner) => {
                    loops += 1;
                    queries.push(inner);
                }
                _ => {}
            }
        }
    }
    4 + loops.saturating_mul(2) + depth
}

/// The names that are declared within a rule, and stand for no other rule there.
pub(super) fn locals(rule: &Rule) -> BTreeSet<&str> {
    fn names<'e>(expr: &'e Expr, found: &mut BTreeSet<&'e str>) {
        match &expr.kind {
            ExprKind::Name(name) => {
                found.insert(name);
            }
            ExprKind::Array(_) | ExprKind::Object(_) | ExprKind::Set(_) => {
                expr.parts().into_iter().for_each(|part| names(part, found));
            }
            _ => {}
        }
    }
    fn query<'e>(of: &'e Query, found: &mut BTreeSet<&'e str>) {
        for statement in &of.statements {
            match &statement.kind {
                StatementKind::Some(declared) => {
                    found.extend(declared.iter().map(|name| &**name));
                }
                StatementKind::SomeIn(key, value, _) => {
                    key.iter().for_each(|key| names(key, found));
                    names(value, found);
                }
                StatementKind::Every(declared, _, inner) => {
                    found.extend(declared.iter().map(|name| &**name));
                    query(inner, found);
                }
                StatementKind::Unify {
                    declares: true,
                    left,
                    ..
                } => names(left, found),
                _ => {}
            }
        }
    }
    let mut found = BTreeSet::new();
    let (_, queries) = rule.parts();
    queries
        .into_iter()
        .for_each(|inner| query(inner, &mut found));
    visit(rule.parts(), &mut |expr| {
        expr.query()
            .into_iter()
            .for_each(|inner| query(inner, &mut found));
    });
    for parameter in rule.parameters.iter().flatten() {
        names(parameter, &mut found);
    }
    found
}
