//! Policies that can never allow a tool \[4\]: under no index, tenant and context, as their text alone shows.

use super::check::locals;
use super::facts::is_negated;
use super::module::SourceModule;
use super::paths::{Names, OBJECTS, Paths};
use super::policy::{PACKAGE, Policy, TOOLS};
use super::tree::{Body, Expr, ExprKind, Module, Op, Query, Rule, Statement, StatementKind};
use super::unused::Vocabulary;
use super::vocabulary::vocabulary;
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_lower::PolicyPhase;
use agent_text::{Span, nearest};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Rules that other programs ask policies for, or that say the opposite.
const OTHER_ANSWERS: [&str; 5] = ["allow", "allowed", "deny", "permit", "permitted"];

/// A rule that allows a tool.
const EXAMPLE: &str = "allowed_tools contains tool.id if { some tool in input.candidate_tools }";

/// Returns an error for each cause for which a policy allows nothing in a phase. Each is certain: what may hold under
/// some input is no cause.
///
/// In the phase `expand` a comparison with `input.phase` is no cause: a policy may forbid expansion.
pub fn never_allows(policy: &Policy) -> Vec<Diagnostic> {
    let SourceModule { text, tree } = policy.module();
    let mut problems = Problems::new(text);
    unread(tree, &BTreeSet::new(), &mut problems);
    let mut report = |span, label: &str, message: String, help: String| {
        problems
            .report(Code::PolicyNeverAllows, span, label, message)
            .help(help);
    };
    let look = Look::new(tree, text.as_str());
    let answers = look.rules.get(TOOLS).map_or(&[][..], Vec::as_slice);
    let mistyped: Vec<_> = answers
        .iter()
        .filter_map(|rule| look.mistyped(rule))
        .collect();
    for (span, kind) in &mistyped {
        let message = format!("`{TOOLS}` must be a set, and is {kind}");
        let help = match *kind {
            "an array" => "write `{…}` for `[…]`: braces make a set".to_owned(),
            _ => format!("write `{EXAMPLE}`"),
        };
        report(*span, kind, message, help);
    }
    if answers.is_empty() || !mistyped.is_empty() {
        return problems.finish();
    }
    for (cause, phases) in look.causes(answers) {
        let within = match &*phases {
            phases if phases.len() == PolicyPhase::ALL.len() => String::new(),
            [phase] => format!(" in the phase `{}`", phase.as_str()),
            phases => {
                let names: Vec<_> = phases
                    .iter()
                    .map(|it| format!("`{}`", it.as_str()))
                    .collect();
                format!(" in the phases {}", names.join(" and "))
            }
        };
        let message = format!("the policy allows nothing{within}: {}", cause.words);
        let help = format!("add a rule that can hold{within}, such as `{EXAMPLE}`");
        report(cause.span, "never holds", message, help);
    }
    problems.finish()
}

/// Reports a package that no decision reads, and an answer that is missing, also among broken rules.
pub(super) fn unread(tree: &Module, broken: &BTreeSet<String>, problems: &mut Problems<'_>) {
    let mut report = |span, label: &str, message: String, help: String| {
        problems
            .report(Code::PolicyNeverAllows, span, label, message)
            .help(help);
    };
    if tree.package != PACKAGE {
        let message = format!("no decision reads the package `{}`", tree.package.join("."));
        let help = format!("write `package {}`", PACKAGE[0]);
        report(tree.package_span, "never read", message, help);
    }
    // Where every rule is broken, the answer may be one of them.
    let may_be_broken = broken.contains(TOOLS) || !broken.is_empty() && tree.rules.is_empty();
    if may_be_broken || tree.rules.iter().any(|rule| rule.name[0] == TOOLS) {
        return;
    }
    let (span, message) = match meant(tree) {
        Some(rule) => {
            let other = &rule.name[0];
            let message = format!("no decision reads `{other}`, and there is no rule `{TOOLS}`");
            (rule.name_span, message)
        }
        None => (tree.package_span, format!("there is no rule `{TOOLS}`")),
    };
    let help = format!("name what is allowed: `{EXAMPLE}`");
    report(span, "allows nothing", message, help);
}

/// Returns the rule that was meant as the answer.
fn meant(tree: &Module) -> Option<&Rule> {
    let names = || tree.rules.iter().map(|rule| &*rule.name[0]);
    let near = nearest(TOOLS, names(), 1).first().copied();
    let meant = near.or_else(|| names().find(|name| OTHER_ANSWERS.contains(name)))?;
    tree.rules.iter().find(|rule| rule.name[0] == meant)
}

/// Why something never holds in a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cause {
    span: Span,
    words: String,
}

impl Cause {
    fn at(expr: &Expr, words: &str) -> Self {
        Self {
            span: expr.span,
            words: words.to_owned(),
        }
    }
}

/// A look at the rules of a policy.
struct Look<'m> {
    source: &'m str,
    package: &'m [String],
    rules: BTreeMap<&'m str, Vec<&'m Rule>>,
    paths: Paths<'m>,
    /// The values of enumerations that every input has.
    known: Vocabulary,
    /// Why the rules of a name are undefined, because many rules may refer to one.
    undefined: Found<'m>,
    /// Why the rules of a name contain no id.
    without_ids: Found<'m>,
}

/// The causes by name and phase.
type Found<'m> = RefCell<BTreeMap<(&'m str, &'static str), Option<Cause>>>;

/// The names of a rule.
struct Scope<'m> {
    phase: PolicyPhase,
    names: Names<'m>,
    locals: BTreeSet<&'m str>,
}

impl<'m> Look<'m> {
    fn new(module: &'m Module, source: &'m str) -> Self {
        let mut rules: BTreeMap<&str, Vec<&Rule>> = BTreeMap::new();
        for rule in &module.rules {
            rules.entry(&rule.name[0]).or_default().push(rule);
        }
        Self {
            source,
            package: &module.package,
            rules,
            paths: Paths::new(module),
            known: vocabulary(None, None),
            undefined: RefCell::default(),
            without_ids: RefCell::default(),
        }
    }

    /// Returns why no definition of the answer ever allows a tool, and in which phases.
    fn causes(&self, answers: &[&'m Rule]) -> Vec<(Cause, Vec<PolicyPhase>)> {
        let mut causes: Vec<(Cause, Vec<PolicyPhase>)> = Vec::new();
        for phase in PolicyPhase::ALL {
            let found: Option<Vec<Cause>> = answers
                .iter()
                .map(|rule| self.allows_none(rule, phase))
                .collect();
            for cause in found.into_iter().flatten() {
                match causes.iter_mut().find(|(known, _)| *known == cause) {
                    Some((_, phases)) if phases.contains(&phase) => {}
                    Some((_, phases)) => phases.push(phase),
                    None => causes.push((cause, vec![phase])),
                }
            }
        }
        causes
    }

    /// Returns the place and the kind of an answer that is no set.
    fn mistyped(&self, rule: &'m Rule) -> Option<(Span, &'static str)> {
        if rule.parameters.is_some() {
            return Some((rule.name_span, "a function"));
        }
        if rule.name.len() > 1 || !rule.keys.is_empty() {
            return Some((rule.name_span, "an object"));
        }
        if rule.element.is_some() {
            return None;
        }
        let Some(value) = &rule.value else {
            return Some((rule.name_span, "a boolean"));
        };
        let others = rule.bodies.iter().filter_map(|body| body.value.as_ref());
        let kinds = std::iter::once(value).chain(others);
        let mut kinds = kinds.filter_map(|value| Some((value.span, self.kind(value)?)));
        kinds.find(|(_, kind)| *kind != "a set")
    }

    /// Returns the kind of a value, if it is certain.
    fn kind(&self, value: &'m Expr) -> Option<&'static str> {
        let source = value.span.of(self.source);
        let first = source.trim_start_matches(['(', ' ', '\t', '\n']);
        let is_array = first.starts_with('[');
        Some(match &value.kind {
            ExprKind::Text(_) => "a string",
            ExprKind::Scalar if matches!(first, "true" | "false") => "a boolean",
            ExprKind::Scalar if first == "null" => "null",
            ExprKind::Scalar => "a number",
            ExprKind::Comprehension {
                key: Some(_),
                value: Some(_),
                ..
            } => "an object",
            ExprKind::Object(_) => "an object",
            ExprKind::List(_) | ExprKind::Comprehension { .. } if is_array => "an array",
            ExprKind::List(_) | ExprKind::Comprehension { .. } => "a set",
            ExprKind::Name(name) => {
                let [rule] = self.rules.get(&**name)?.as_slice() else {
                    return None;
                };
                match self.mistyped(rule) {
                    Some((_, kind)) => kind,
                    None => return None,
                }
            }
            _ => return None,
        })
    }

    /// Returns why a definition of the answer adds no id of a tool.
    fn allows_none(&self, rule: &'m Rule, phase: PolicyPhase) -> Option<Cause> {
        let prevented = self.prevented(rule, phase);
        prevented.or_else(|| {
            let scope = self.scope(rule, phase);
            match (&rule.element, &rule.value) {
                (Some(element), _) => self.no_id(element, &scope),
                (None, Some(value)) if rule.bodies.len() < 2 => self.no_ids(value, &scope),
                _ => None,
            }
        })
    }

    /// Returns why a set contains no id of a tool.
    fn no_ids(&self, set: &'m Expr, scope: &Scope<'m>) -> Option<Cause> {
        match &set.kind {
            ExprKind::List(items) if items.is_empty() => Some(Cause::at(set, "the set is empty")),
            ExprKind::List(items) => {
                let causes = items.iter().map(|item| self.no_id(item, scope));
                causes.collect::<Option<Vec<_>>>()?.into_iter().next()
            }
            ExprKind::Comprehension {
                key: Some(id),
                value: None,
                query,
            } => {
                let prevented = self.prevented_query(query, scope);
                prevented.or_else(|| self.no_id(id, scope))
            }
            ExprKind::Name(name) if !scope.locals.contains(&**name) => {
                self.of_all(name, scope.phase, &self.without_ids, Self::allows_none)
            }
            _ => None,
        }
    }

    /// Returns why a value is the id of no tool.
    fn no_id(&self, id: &'m Expr, scope: &Scope<'m>) -> Option<Cause> {
        if let ExprKind::Text(text) = &id.kind {
            let is_id = text
                .split_once('@')
                .is_some_and(|(_, rest)| rest.contains('/'));
            return (!is_id).then(|| Cause::at(id, "an id has the form `server@version/tool`"));
        }
        let path = self.paths.resolve(id, &scope.names)?;
        let member = path.strip_prefix("input.candidate_tools[_]")?;
        (member != ".id").then(|| Cause::at(id, "the id of a candidate is its member `id`"))
    }

    fn scope(&self, rule: &'m Rule, phase: PolicyPhase) -> Scope<'m> {
        Scope {
            phase,
            names: self.paths.names(rule),
            locals: locals(rule),
        }
    }

    /// Returns why a rule is never defined.
    fn prevented(&self, rule: &'m Rule, phase: PolicyPhase) -> Option<Cause> {
        if rule.default {
            return None;
        }
        let scope = self.scope(rule, phase);
        let mut head = rule.keys.iter().chain(&rule.element).chain(&rule.value);
        head.find_map(|expr| self.undefined(expr, &scope))
            .or_else(|| {
                let bodies = rule
                    .bodies
                    .iter()
                    .map(|body| self.prevented_body(body, &scope));
                bodies.collect::<Option<Vec<_>>>()?.into_iter().next()
            })
    }

    fn prevented_body(&self, body: &'m Body, scope: &Scope<'m>) -> Option<Cause> {
        let value = body
            .value
            .as_ref()
            .and_then(|value| self.undefined(value, scope));
        value.or_else(|| self.prevented_query(body.query.as_ref()?, scope))
    }

    fn prevented_query(&self, query: &'m Query, scope: &Scope<'m>) -> Option<Cause> {
        let mut statements = query.statements.iter();
        statements.find_map(|statement| self.prevented_statement(statement, scope))
    }

    fn prevented_statement(&self, statement: &'m Statement, scope: &Scope<'m>) -> Option<Cause> {
        if !statement.with.is_empty() || is_negated(statement, self.source) {
            return None;
        }
        let parts = match &statement.kind {
            StatementKind::Some(_) => Vec::new(),
            StatementKind::SomeIn(_, _, of) | StatementKind::Every(_, of, _) => vec![of],
            StatementKind::Holds(expr) => {
                if let Some(cause) = self.false_always(expr, scope) {
                    return Some(cause);
                }
                vec![expr]
            }
            StatementKind::Unify {
                declares,
                left,
                right,
                ..
            } => {
                if !declares && self.never(left, &[right], false, scope) {
                    return Some(Cause::at(left, "the values are never equal"));
                }
                vec![left, right]
            }
        };
        parts
            .into_iter()
            .find_map(|part| self.undefined(part, scope))
    }

    /// Returns why an expression is false in every input.
    fn false_always(&self, expr: &'m Expr, scope: &Scope<'m>) -> Option<Cause> {
        let is_false = match &expr.kind {
            ExprKind::Scalar => expr.span.of(self.source) == "false",
            ExprKind::Binary(left, Op::Equal, right) => {
                self.never(left, &[right], false, scope) || self.never(right, &[left], false, scope)
            }
            ExprKind::In(None, value, of) => match &of.kind {
                ExprKind::List(items) => {
                    self.never(value, &items.iter().collect::<Vec<_>>(), false, scope)
                }
                _ => self.never(of, &[value], true, scope),
            },
            _ => false,
        };
        is_false.then(|| Cause::at(expr, "this condition never holds"))
    }

    /// Returns whether a value, or each of its members, is never one of some strings.
    fn never(&self, of: &Expr, texts: &[&Expr], members: bool, scope: &Scope<'m>) -> bool {
        let Some(mut path) = self.paths.resolve(of, &scope.names) else {
            return false;
        };
        if members {
            path.push_str("[_]");
        }
        let occurs = |text: &str| match scope.phase {
            PolicyPhase::Resolve | PolicyPhase::Call if path == "input.phase" => {
                text == scope.phase.as_str()
            }
            _ => match self.known.get(&path).filter(|known| !known.is_empty()) {
                Some(known) => known.contains(text),
                None => true,
            },
        };
        texts.iter().all(|text| match &text.kind {
            ExprKind::Text(text) => !occurs(text),
            _ => false,
        })
    }

    /// Returns why an expression is undefined, as one is if a part of it is.
    fn undefined(&self, expr: &'m Expr, scope: &Scope<'m>) -> Option<Cause> {
        if let Some(path) = self.paths.resolve(expr, &scope.names)
            && let Some(words) = absence(&path, scope.phase)
        {
            return Some(Cause::at(expr, &words));
        }
        let (parts, _) = match &expr.kind {
            // Empty if its query never holds, and defined.
            ExprKind::Comprehension { .. } => return None,
            ExprKind::Call(function, arguments) => {
                let mut arguments = arguments.iter();
                let undefined = arguments.find_map(|part| self.undefined(part, scope));
                return undefined.or_else(|| self.prevented_path(function, scope));
            }
            _ => expr.parts(),
        };
        let undefined = parts
            .into_iter()
            .find_map(|part| self.undefined(part, scope));
        undefined.or_else(|| self.prevented_path(expr, scope))
    }

    /// Returns why the rule of a path, such as `permitted` or `data.switchboard.permitted`, is never defined.
    fn prevented_path(&self, expr: &'m Expr, scope: &Scope<'m>) -> Option<Cause> {
        let (path, _) = expr.path()?;
        let name = match path.strip_prefix(&["data"]) {
            Some(path) => {
                let (package, rest) = path.split_at_checked(self.package.len())?;
                rest.first().filter(|_| package == self.package)?
            }
            None => path.first()?,
        };
        let is_local = scope.locals.contains(name);
        (!is_local).then(|| self.of_all(name, scope.phase, &self.undefined, Self::prevented))?
    }

    /// Returns the cause for the first rule of a name, if there is one for each.
    fn of_all(
        &self,
        name: &str,
        phase: PolicyPhase,
        found: &Found<'m>,
        ask: fn(&Self, &'m Rule, PolicyPhase) -> Option<Cause>,
    ) -> Option<Cause> {
        let (name, rules) = self.rules.get_key_value(name)?;
        let key = (*name, phase.as_str());
        if let Some(known) = found.borrow().get(&key) {
            return known.clone();
        }
        let causes = rules.iter().map(|rule| ask(self, rule, phase));
        let causes: Option<Vec<Cause>> = causes.collect();
        let cause = causes.and_then(|causes| causes.into_iter().next());
        found.borrow_mut().insert(key, cause.clone());
        cause
    }
}

/// Returns why the input has nothing at a path in a phase.
fn absence(path: &str, phase: PolicyPhase) -> Option<String> {
    let (of, member) = path.rsplit_once('.')?;
    let known = OBJECTS.iter().find(|(object, _)| *object == of);
    if known.is_some_and(|(_, known)| !member.contains('[') && !known.contains(&member)) {
        return Some(format!("the input has no `{path}`"));
    }
    match (of, phase) {
        ("input.arguments", PolicyPhase::Resolve | PolicyPhase::Expand)
        | ("input.subject", PolicyPhase::Resolve) => Some(format!("`{of}` is null")),
        ("input.requirement", PolicyPhase::Resolve)
            if matches!(member, "category" | "permissions") =>
        {
            Some(format!("the requirement has no `{member}`"))
        }
        _ => None,
    }
}
