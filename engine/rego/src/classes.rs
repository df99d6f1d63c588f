//! The members by which a policy can tell candidates apart.
//!
//! Many policies decide each candidate by a few of its members. Then candidates with equal members get the same answer, and
//! one of them is enough for an evaluation. That holds only if nothing counts candidates or compares them with each other, so a
//! policy that does anything but the following has no such members:
//!
//! - each candidate is taken by `some tool in input.candidate_tools`, or `tool := input.candidate_tools[_]`, in the body of
//!   a rule, and not within a comprehension or `every`;
//! - only its members are read, as in `tool.class`, also in the functions that it is passed to;
//! - its id is only the key of rules, in each of their definitions, and looked up in such rules.

use super::tree::{Expr, ExprKind, Module, Rule, Statement, StatementKind};
use agent_text::Span;
use agent_text::sort::set_of;
use std::collections::BTreeSet;

const CANDIDATES: &str = "candidate_tools";
const ID: &str = "id";

/// The rules whose keys are the answer.
const ANSWERS: [&str; 2] = [super::policy::TOOLS, super::policy::REASONS];

/// A name for a candidate within a rule, by the number of the rule.
type Candidate<'m> = (usize, &'m str);

/// Returns the members of candidates that decide.
///
/// # Errors
/// The policy may count candidates or compare them: the name of the rule that does, or the package for an import.
pub(super) fn members(module: &Module) -> Result<BTreeSet<String>, Span> {
    if let Some(span) = unnamed(module) {
        return Err(span);
    }
    let mut classes = Classes {
        module,
        keyed: Vec::new(),
        known: Vec::new(),
        open: Vec::new(),
        lookups: vec![0; module.rules.len()],
        members: BTreeSet::new(),
    };
    for (number, rule) in module.rules.iter().enumerate() {
        let declared = declared_candidates(rule);
        let named = occurrences(rule, &|expr| member_of(expr, "input") == Some(CANDIDATES));
        if named != declared.len() {
            return Err(rule.name_span);
        }
        for name in declared {
            classes.add((number, name));
        }
    }
    classes.keyed = classes.keyed_rules();
    let is_keyed = |name: &str| classes.keyed.contains(&name);
    let mut rules = module.rules.iter();
    // An id in another answer could be that of any candidate.
    if let Some(rule) = rules.find(|rule| {
        let name = &*rule.name[0];
        ANSWERS.contains(&name) && !is_keyed(name)
    }) {
        return Err(rule.name_span);
    }
    while let Some(candidate) = classes.open.pop() {
        let rule = &module.rules[candidate.0];
        classes.follow(candidate).ok_or(rule.name_span)?;
    }
    // A lookup of anything but the id of a candidate.
    let of_keyed =
        |expr: &Expr| matches!(&expr.kind, ExprKind::Name(it) if classes.keyed.contains(&&**it));
    let mut rules = module.rules.iter().zip(&classes.lookups);
    match rules.find(|(rule, lookups)| occurrences(rule, &of_keyed) != **lookups) {
        Some((rule, _)) => Err(rule.name_span),
        None => Ok(classes.members),
    }
}

/// Returns the first rule, or the package for its imports, that reads all of the input or `data`, or evaluates with another input.
fn unnamed(module: &Module) -> Option<Span> {
    let is_whole = |path: &[String]| match path {
        [first] => first == "input",
        [first, second, ..] => first == "data" || first == "input" && second == CANDIDATES,
        [] => true,
    };
    if module.imports.iter().any(|it| is_whole(&it.path)) {
        return Some(module.package_span);
    }
    let mut rules = module.rules.iter();
    let rule = rules.find(|rule| {
        let named = occurrences(rule, &|expr| is_name(expr, "input"));
        let members = occurrences(rule, &|expr| member_of(expr, "input").is_some());
        named != members
            || occurrences(rule, &|expr| is_name(expr, "data")) > 0
            || rule.statements().any(|it| !it.with.is_empty())
    });
    rule.map(|it| it.name_span)
}

struct Classes<'m> {
    module: &'m Module,
    /// The rules whose keys are ids of candidates, in each definition.
    keyed: Vec<&'m str>,
    /// The names that were followed, or will be.
    known: Vec<Candidate<'m>>,
    open: Vec<Candidate<'m>>,
    /// How often each rule looks up ids of candidates in keyed rules.
    lookups: Vec<usize>,
    members: BTreeSet<String>,
}

impl<'m> Classes<'m> {
    fn add(&mut self, candidate: Candidate<'m>) {
        if !self.known.contains(&candidate) {
            self.known.push(candidate);
            self.open.push(candidate);
        }
    }

    /// Returns the rules whose keys are ids of candidates in each definition.
    fn keyed_rules(&self) -> Vec<&'m str> {
        let rules = || self.module.rules.iter().enumerate();
        let is_keyed = |(number, rule): (usize, &'m Rule)| {
            key_of(rule).is_some_and(|it| self.known.contains(&(number, it)))
        };
        let names = set_of(rules().map(|(_, rule)| &*rule.name[0]));
        let keyed = names.into_iter().filter(|name| {
            let mut own = rules().filter(|(_, rule)| rule.name[0] == **name);
            own.all(is_keyed)
        });
        keyed.collect()
    }

    /// Returns whether an expression names a rule whose keys are ids of candidates.
    fn is_keyed(&self, expr: &Expr, is_set: bool) -> bool {
        let ExprKind::Name(name) = &expr.kind else {
            return false;
        };
        let mut rules = self.module.rules.iter();
        let is_of_kind = |rule: &Rule| rule.name[0] != *name || rule.element.is_some();
        self.keyed.contains(&&**name) && (!is_set || rules.all(is_of_kind))
    }

    /// Takes what a rule does with a candidate.
    fn follow(&mut self, (number, name): Candidate<'m>) -> Option<()> {
        let rule = &self.module.rules[number];
        if declarations(rule, name) != 1 {
            return None;
        }
        // Where it is declared.
        let mut understood = 1;
        let mut ids = 0;
        let (mut passed, mut read) = (Vec::new(), Vec::new());
        rule.visit(&mut |expr| match &expr.kind {
            ExprKind::Index(..) => match member_of(expr, name) {
                Some(ID) => ids += 1,
                Some(member) => {
                    understood += 1;
                    read.push(member.to_owned());
                }
                None => {}
            },
            ExprKind::Call(function, arguments) => {
                for (at, _) in arguments
                    .iter()
                    .enumerate()
                    .filter(|(_, it)| is_name(it, name))
                {
                    passed.push((&**function, at));
                }
            }
            _ => {}
        });
        let keys = occurrences(rule, &|expr| match &expr.kind {
            ExprKind::Index(of, key) => {
                member_of(key, name) == Some(ID) && self.is_keyed(of, false)
            }
            // Of an object that asks for a value.
            ExprKind::In(None, key, of) => {
                member_of(key, name) == Some(ID) && self.is_keyed(of, true)
            }
            _ => false,
        });
        self.lookups[number] += keys;
        let is_key = key_of(rule) == Some(name) && self.keyed.contains(&&*rule.name[0]);
        if ids != keys + usize::from(is_key) {
            read.push(ID.to_owned());
        }
        understood += ids;
        self.members.extend(read);
        for (function, at) in passed {
            understood += 1;
            let ExprKind::Name(function) = &function.kind else {
                return None;
            };
            let mut is_known = false;
            for (number, rule) in self.module.rules.iter().enumerate() {
                let Some(parameters) = rule
                    .parameters
                    .as_ref()
                    .filter(|_| rule.name == [function.as_str()])
                else {
                    continue;
                };
                let Some(ExprKind::Name(parameter)) = parameters.get(at).map(|it| &it.kind) else {
                    return None;
                };
                is_known = true;
                self.add((number, parameter));
            }
            if !is_known {
                return None;
            }
        }
        (occurrences(rule, &|expr| is_name(expr, name)) == understood).then_some(())
    }
}

/// Returns the names that the bodies of a rule give to candidates.
fn declared_candidates(rule: &Rule) -> Vec<&str> {
    let queries = rule.bodies.iter().filter_map(|body| body.query.as_ref());
    let statements = queries.flat_map(|query| &query.statements);
    let declared = statements.filter_map(|statement| match &statement.kind {
        StatementKind::SomeIn(None, value, of) if member_of(of, "input") == Some(CANDIDATES) => {
            Some(value)
        }
        StatementKind::Unify {
            not: false,
            declares: true,
            left,
            right,
        } => match &right.kind {
            ExprKind::Index(of, key)
                if member_of(of, "input") == Some(CANDIDATES) && is_name(key, "_") =>
            {
                Some(left)
            }
            _ => None,
        },
        _ => None,
    });
    declared
        .filter_map(|it| match &it.kind {
            ExprKind::Name(name) if name != "_" => Some(&**name),
            _ => None,
        })
        .collect()
}

/// Returns the candidate whose id is the key of a rule.
fn key_of(rule: &Rule) -> Option<&str> {
    let key = match (&rule.element, &rule.keys[..]) {
        (Some(element), []) => element,
        (None, [key]) => key,
        _ => return None,
    };
    let ExprKind::Index(of, member) = &key.kind else {
        return None;
    };
    let is_id = matches!(&member.kind, ExprKind::Text(text) if text == ID);
    let is_one = rule.name.len() == 1 && rule.bodies.len() == 1 && !rule.default;
    match &of.kind {
        ExprKind::Name(name) if is_id && is_one => Some(name),
        _ => None,
    }
}

/// Returns how often a rule declares a name.
fn declarations(rule: &Rule, name: &str) -> usize {
    let mut count = 0;
    let mut declare =
        |pattern: &Expr| pattern.declared(&mut |found, _| count += usize::from(found == name));
    rule.parameters.iter().flatten().for_each(&mut declare);
    for statement in rule.statements() {
        match &statement.kind {
            StatementKind::SomeIn(key, value, _) => {
                key.iter().for_each(&mut declare);
                declare(value);
            }
            StatementKind::Unify {
                left,
                declares: true,
                ..
            } => declare(left),
            _ => {}
        }
    }
    count
        + rule
            .statements()
            .map(|it| named_by(it, name))
            .sum::<usize>()
}

/// Returns how often a statement declares a name that is no expression.
fn named_by(statement: &Statement, name: &str) -> usize {
    match &statement.kind {
        StatementKind::Some(names) | StatementKind::Every(names, ..) => {
            names.iter().filter(|it| *it == name).count()
        }
        _ => 0,
    }
}

fn occurrences(rule: &Rule, is_it: &dyn Fn(&Expr) -> bool) -> usize {
    let mut count = 0;
    rule.visit(&mut |expr| count += usize::from(is_it(expr)));
    count
}

fn is_name(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(it) if it == name)
}

/// Returns the member that an expression reads of a name, as in `name.member`.
fn member_of<'e>(expr: &'e Expr, name: &str) -> Option<&'e str> {
    match &expr.kind {
        ExprKind::Index(of, _) if is_name(of, name) => member_name(expr),
        _ => None,
    }
}

/// Returns the member that an expression reads, as in `….member`.
fn member_name(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Index(_, key) => match &key.kind {
            ExprKind::Text(member) => Some(member),
            _ => None,
        },
        _ => None,
    }
}
