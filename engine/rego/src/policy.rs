//! A policy, and its answer to a question.

use super::builtins::kind;
use super::classes::members;
use super::exact::{first_rounded, not_exact};
use super::facts::facts;
use super::instrument::RecordedBody;
use super::module::SourceModule;
use super::reading::{history_use, may_read};
use super::run::Program;
use super::tree::{ExprKind, Module};
use agent_decide::{
    Allowed, HistoryUse, PolicyDecision, PolicyEngine, PolicyError, PolicyErrorKind, PolicyFact,
    ResultAction, ResultDecision, ResultRuling,
};
use agent_diagnostic::{Code, Diagnostic, Problems};
use agent_lower::{Checked, Lowered, digest};
use agent_model::{HISTORY_WINDOW_MAX_MS, window_ms};
use agent_text::sort::set_of;
use agent_text::{DocumentKind, Place, Span};
use regorus::Value;
use std::collections::BTreeSet;

/// Maximum size of the input of an evaluation, in bytes.
pub const INPUT_LIMIT: usize = 32 << 20;

/// The package of a policy.
pub(super) const PACKAGE: [&str; 1] = ["switchboard"];

/// The rule of the allowed tools.
pub(super) const TOOLS: &str = "allowed_tools";
pub(super) const REASONS: &str = "deny_reasons";

/// The rule of the fate of results.
pub(super) const RESULTS: &str = "results";

/// The rule of the window of the history.
const WINDOW: &str = "history_window";

/// The numbers of the questions that a policy is asked.
const OF_TOOLS: usize = 0;
const OF_RESULT: usize = 1;

/// A compiled policy.
#[derive(Debug)]
pub struct Policy {
    program: Program,
    history: HistoryUse,
    /// The members by which it can tell candidates apart, or where it does more than to decide each alone.
    members: Result<BTreeSet<String>, Span>,
}

/// Reads a policy and compiles it.
///
/// # Errors
/// Returns every problem, ordered by place. A policy is refused if it is larger than
/// [`POLICY_LIMIT`](super::POLICY_LIMIT), not UTF-8, not Rego v1, nested too deeply, recursive, or
/// calls an unknown function.
pub fn read(bytes: Vec<u8>) -> Lowered<Policy> {
    let module = SourceModule::read(DocumentKind::Policy, bytes, &[])?;
    let (found, ignores) = history_use(&module.tree);
    let history = HistoryUse {
        ignores_folded: ignores.map(|span| module.text.place(span)),
        window_ms: window(&module)?,
        ..found
    };
    let has = |name: &str| is_in_force(&module.tree, name);
    // In arrays, so that an undefined rule does not hide another one.
    let rule = |name: &str| match has(name) {
        true => format!("[x | x := data.{}.{name}]", PACKAGE[0]),
        false => "[]".to_owned(),
    };
    let members = members(&module.tree);
    let tools = format!("[{}, {}]", rule(TOOLS), rule(REASONS));
    let results = rule(RESULTS);
    Ok(Checked {
        value: Policy {
            program: Program::new(vec![module], &[&tools, &results])?,
            history,
            members,
        },
        warnings: Vec::new(),
    })
}

/// Returns the window that a policy states, in milliseconds.
///
/// # Errors
/// It states none that is known before an evaluation, or one that is out of range.
fn window(module: &SourceModule) -> Result<Option<u64>, Vec<Diagnostic>> {
    if !is_in_force(&module.tree, WINDOW) {
        return Ok(None);
    }
    let mut rules = module.tree.rules.iter();
    let rules = rules.by_ref().filter(|rule| rule.name[0] == WINDOW);
    let rules: Vec<_> = rules.collect();
    let ms = match *rules {
        [rule] if rule.bodies.is_empty() => match rule.value.as_ref().map(|it| &it.kind) {
            Some(ExprKind::Text(text)) => window_ms(text),
            _ => None,
        },
        _ => None,
    };
    let ms = ms.filter(|ms| (1..=HISTORY_WINDOW_MAX_MS).contains(ms));
    if ms.is_some() {
        return Ok(ms);
    }
    let mut problems = Problems::new(&module.text);
    let message = format!("`{WINDOW}` is not one time between 1s and 31d");
    let span = rules.last().map_or_else(Span::default, |rule| rule.span);
    let report = problems.report(Code::PolicySyntax, span, "another value", message);
    report.help(format!("write `{WINDOW} := \"7d\"`, without a condition"));
    Err(problems.finish())
}

/// Returns whether a module has a rule of a name in the package of policies.
fn is_in_force(tree: &Module, name: &str) -> bool {
    tree.package == PACKAGE && tree.rules.iter().any(|rule| rule.name[0] == name)
}

impl Policy {
    pub(super) fn program(&self) -> &Program {
        &self.program
    }

    pub(super) fn module(&self) -> &SourceModule {
        self.program.module(0)
    }

    /// Returns a note where the policy may count or compare candidates, which costs an evaluation of each.
    pub(super) fn together(&self) -> Vec<Diagnostic> {
        let mut problems = Problems::new(&self.module().text);
        if let Err(span) = self.members {
            let message = "each candidate is evaluated, as this may count or compare candidates";
            let label = "more than one candidate at a time";
            problems.report(Code::PolicyEachCandidate, span, label, message);
        }
        problems.finish()
    }

    /// Returns whether the policy has a rule of a name.
    fn has(&self, name: &str) -> bool {
        is_in_force(&self.module().tree, name)
    }

    /// Returns the lines of the rules whose bodies held.
    fn lines(&self, held: Vec<(usize, RecordedBody)>) -> Vec<u32> {
        let text = &self.module().text;
        let lines = held.into_iter().flat_map(|(_, body)| {
            let place = text.place(body.rule);
            place.start.line..=place.end.line
        });
        set_of(lines).into_iter().collect()
    }
}

impl PolicyEngine for Policy {
    fn digest(&self) -> String {
        digest(&self.module().lines())
    }

    fn digest_for(&self, locked: Option<&str>) -> String {
        let of_bytes = digest(self.module().text.as_str());
        match locked == Some(&*of_bytes) {
            true => of_bytes,
            false => self.digest(),
        }
    }

    fn may_read(&self, member: &str) -> bool {
        may_read(&self.module().tree, member)
    }

    fn candidate_members(&self) -> Option<&BTreeSet<String>> {
        self.members.as_ref().ok()
    }

    fn history_use(&self) -> HistoryUse {
        self.history
    }

    fn rules_results(&self) -> bool {
        self.has(RESULTS)
    }

    fn ask_result(&self, input: &str) -> ResultDecision {
        let failed = |kind, detail| ResultDecision {
            answer: Err(error(kind, detail)),
            lines: Vec::new(),
        };
        let value = match read_input(input) {
            Ok(value) => value,
            Err(error) => return failed(error.kind, error.detail),
        };
        let (result, held) = self.program.ask(OF_RESULT, value, input.len());
        ResultDecision {
            answer: result.and_then(|value| ruling(&value)),
            lines: self.lines(held),
        }
    }

    fn facts(&self, input: &str, held: &[u32]) -> Vec<PolicyFact> {
        match Value::from_json_str(input) {
            Ok(input) => facts(self.module(), &input, held),
            Err(_) => Vec::new(),
        }
    }

    fn ask(&self, input: &str) -> PolicyDecision {
        let failed = |kind, detail| PolicyDecision {
            answer: Err(error(kind, detail)),
            lines: Vec::new(),
        };
        let value = match read_input(input) {
            Ok(value) => value,
            Err(error) => return failed(error.kind, error.detail),
        };
        let tree = &self.module().tree;
        if !self.has(TOOLS) {
            let mut detail = format!("it has no rule `data.switchboard.{TOOLS}`");
            if tree.package != PACKAGE {
                detail = format!("{detail}: its package is `{}`", tree.package.join("."));
            }
            let mut decision = failed(PolicyErrorKind::Undefined, detail);
            let place = self.module().text.place(tree.package_span);
            decision.answer = decision.answer.map_err(|error| at(error, place));
            return decision;
        }
        let (result, held) = self.program.ask(OF_TOOLS, value, input.len());
        let text = &self.module().text;
        let lines = self.lines(held);
        // What the answer lacks is to be written where the rule is.
        let mut rules = tree.rules.iter();
        let rule = rules.find(|rule| rule.name[0] == TOOLS);
        let answer = result.and_then(|value| {
            let answer = answer(&value);
            answer.map_err(|error| match rule {
                Some(rule) => at(error, text.place(rule.name_span)),
                None => error,
            })
        });
        PolicyDecision { answer, lines }
    }
}

fn error(kind: PolicyErrorKind, detail: String) -> PolicyError {
    PolicyError {
        kind,
        detail,
        place: None,
    }
}

/// Returns a failure with its place in the policy.
fn at(error: PolicyError, place: Place) -> PolicyError {
    PolicyError {
        place: Some(place),
        ..error
    }
}

/// Reads an input.
fn read_input(input: &str) -> Result<Value, PolicyError> {
    if input.len() > INPUT_LIMIT {
        let detail = format!("its input has more than {INPUT_LIMIT} bytes");
        return Err(error(PolicyErrorKind::Budget, detail));
    }
    #[cfg(debug_assertions)]
    agent_syntax::json::count_bytes_read(input.len());
    let Ok(value) = Value::from_json_str(input) else {
        let detail = "its input is not JSON".to_owned();
        return Err(error(PolicyErrorKind::Runtime, detail));
    };
    match first_rounded(input) {
        Some(number) => {
            let detail = format!("in its input, {}", not_exact(number));
            Err(error(PolicyErrorKind::Runtime, detail))
        }
        None => Ok(value),
    }
}

/// Reads the value of `results`.
fn ruling(value: &Value) -> Result<ResultRuling, PolicyError> {
    let found = value.as_array().ok().and_then(|it| it.first());
    let Some(found) = found else {
        let detail = format!("it leaves `{RESULTS}` undefined");
        return Err(error(PolicyErrorKind::Undefined, detail));
    };
    let wrong = |detail: &str| {
        let detail = format!("`{RESULTS}` must be `{{\"action\": …}}`: {detail}");
        error(PolicyErrorKind::Type, detail)
    };
    let members = found.as_object().map_err(|_| wrong("it is no object"))?;
    let known = ["action", "patterns", "pointers", "reason"];
    let is_known = |key: &Value| key.as_string().is_ok_and(|key| known.contains(&&**key));
    if !members.keys().all(is_known) {
        return Err(wrong(
            "it has another member than `action`, `patterns`, `pointers` and `reason`",
        ));
    }
    let text = |name: &str| found[name].as_string().ok().map(|it| it.to_string());
    let action = text("action").and_then(|it| ResultAction::named(&it));
    let action = action
        .ok_or_else(|| wrong("its `action` is not `allow`, `ask`, `redact` or `withhold`"))?;
    let texts = |name: &str| {
        let items: Vec<&Value> = match &found[name] {
            Value::Undefined => return Ok(Vec::new()),
            Value::Array(items) => items.iter().collect(),
            Value::Set(items) => items.iter().collect(),
            _ => return Err(wrong(&format!("its `{name}` is no list"))),
        };
        let texts = items.into_iter().map(|it| {
            let text = it.as_string().map(|it| it.to_string());
            text.map_err(|_| wrong(&format!("its `{name}` has something else than strings")))
        });
        texts.collect::<Result<Vec<_>, _>>()
    };
    let (pointers, patterns) = (texts("pointers")?, texts("patterns")?);
    if (action == ResultAction::Redact) == (pointers.is_empty() && patterns.is_empty()) {
        return Err(wrong("`pointers` and `patterns` belong to `redact`"));
    }
    Ok(ResultRuling {
        action,
        reason: text("reason"),
        pointers,
        patterns,
    })
}

fn answer(value: &Value) -> Result<Allowed, PolicyError> {
    let first = |at: usize| match &value[at] {
        Value::Array(found) => found.first().cloned(),
        _ => None,
    };
    let wrong = |detail| error(PolicyErrorKind::Type, detail);
    let tools = match first(0) {
        Some(Value::Set(tools)) => tools,
        Some(other) => {
            let other = kind(&other);
            let written = format!("`{TOOLS}` must be a set, and is {other}");
            return Err(wrong(format!("{written}: write `{TOOLS} contains …`")));
        }
        None => {
            let detail = format!("it leaves `{TOOLS}` undefined");
            return Err(error(PolicyErrorKind::Undefined, detail));
        }
    };
    let mut allowed = Allowed::default();
    for id in tools.iter() {
        let Value::String(id) = id else {
            let id = kind(id);
            let detail = format!("`{TOOLS}` must contain only strings, and contains {id}");
            return Err(wrong(detail));
        };
        allowed.tools.insert(id.to_string());
    }
    if let Some(Value::Object(reasons)) = first(1) {
        for (id, reason) in reasons.iter() {
            if let (Value::String(id), Value::String(reason)) = (id, reason) {
                allowed.reasons.insert(id.to_string(), reason.to_string());
            }
        }
    }
    Ok(allowed)
}
