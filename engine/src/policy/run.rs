//! Evaluating.

use super::budget;
use super::builtins::{self, kind};
use super::guard::{Guarded, guard};
use super::tree::Module;
use crate::decide::{Allowed, PolicyError, PolicyErrorKind, Ruling};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::text::{Place, Span, Text};
use anyhow::Error;
use regorus::{Engine, PolicyLengthConfig, Value};
use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroUsize};

/// The largest input of an evaluation, in bytes.
pub const INPUT_LIMIT: usize = 64 << 20;

/// One module to evaluate.
pub(super) struct Part<'m> {
    pub(super) text: &'m Text,
    pub(super) module: &'m Module,
}

/// Modules that are ready to be evaluated together.
pub(super) struct Program {
    engine: Engine,
    parts: Vec<Guarded>,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").finish_non_exhaustive()
    }
}

/// What an evaluation gave.
pub(super) struct Evaluated {
    pub(super) result: Result<Value, PolicyError>,
    /// The definitions that held: of which module, and which body.
    held: BTreeSet<u32>,
}

impl Program {
    /// Compile modules.
    pub(super) fn new(parts: &[Part<'_>]) -> Result<Self, Vec<Diagnostic>> {
        let mut engine = Engine::new();
        engine.set_strict_builtin_errors(true);
        engine.set_execution_timer_config(budget::timer());
        engine.set_policy_length_config(PolicyLengthConfig {
            max_col: NonZeroU32::MAX,
            max_file_bytes: NonZeroUsize::MAX,
            max_lines: NonZeroUsize::MAX,
        });
        let mut guarded = Vec::new();
        let mut result = builtins::install(&mut engine);
        for part in parts {
            let guard = guard(part.text, part.module, first_body(&guarded));
            let name = part.text.source().usual_name().to_owned();
            let text = guard.text.clone();
            guarded.push(guard);
            result = result.and_then(|()| engine.add_policy(name, text).map(|_| ()));
        }
        let program = Self {
            engine,
            parts: guarded,
        };
        let mut program = match result {
            Ok(()) => program,
            Err(error) => return Err(program.refuse(parts, &error)),
        };
        // The rest of compiling is done before the first evaluation.
        budget::start();
        let result = program.engine.eval_query("true".to_owned(), false);
        budget::finish();
        match result {
            Ok(_) => Ok(program),
            Err(error) => Err(program.refuse(parts, &error)),
        }
    }

    fn refuse(&self, parts: &[Part<'_>], error: &Error) -> Vec<Diagnostic> {
        let (at, message) = explain(error);
        let found = at.as_ref().and_then(|at| {
            let same = |part: &&Part<'_>| part.text.source().usual_name() == at.file;
            parts.iter().find(same)
        });
        let Some(part) = found.or(parts.last()) else {
            return Vec::new();
        };
        let span = at.and_then(|at| self.span(part.text, &at));
        let mut problems = Problems::new(part.text);
        problems.report(
            Code::PolicySyntax,
            span.unwrap_or_default(),
            "here",
            message,
        );
        problems.finish()
    }

    /// The place that an error names, in the text as it was.
    fn span(&self, text: &Text, at: &At) -> Option<Span> {
        let name = text.source().usual_name();
        let same = |part: &&Guarded| part.source.usual_name() == name;
        let part = self.parts.iter().find(same)?;
        let line = part.text.split('\n').nth(at.line.checked_sub(1)?)?;
        let start = line.as_ptr() as usize - part.text.as_ptr() as usize;
        let offset = part.original(start + byte_of_column(line, at.column));
        let offset = text.as_str().floor_char_boundary(offset);
        Some(Span::new(offset, offset))
    }

    /// Evaluate a query.
    pub(super) fn evaluate(&self, texts: &[&Text], query: &str, input: Value) -> Evaluated {
        let mut engine = self.engine.clone();
        engine.set_input(input);
        budget::start();
        let result = engine.eval_query(query.to_owned(), false);
        let meter = budget::finish();
        let result = match (meter.spent(), result) {
            (Some(why), _) => Err(PolicyError {
                kind: PolicyErrorKind::Budget,
                detail: why.to_owned(),
                place: None,
            }),
            (None, Ok(results)) => {
                let mut results = results.result.into_iter();
                let first = results.next().and_then(|mut first| first.expressions.pop());
                Ok(first.map_or(Value::Undefined, |first| first.value))
            }
            (None, Err(error)) => {
                let (at, detail) = explain(&error);
                let place = at.and_then(|at| {
                    let same = |text: &&&Text| text.source().usual_name() == at.file;
                    let text = texts.iter().find(same)?;
                    Some(text.place(self.span(text, &at)?))
                });
                Err(PolicyError {
                    kind: PolicyErrorKind::Runtime,
                    detail,
                    place,
                })
            }
        };
        Evaluated {
            result,
            held: meter.held,
        }
    }

    /// Ask which candidates are allowed.
    pub(super) fn ask(&self, text: &Text, module: &Module, input: &str) -> Ruling {
        let failed = |kind, detail: String| Ruling {
            answer: Err(PolicyError {
                kind,
                detail,
                place: None,
            }),
            lines: Vec::new(),
        };
        if input.len() > INPUT_LIMIT {
            let detail = format!("its input has more than {INPUT_LIMIT} bytes");
            return failed(PolicyErrorKind::Budget, detail);
        }
        let Ok(input) = Value::from_json_str(input) else {
            return failed(PolicyErrorKind::Runtime, "its input is not JSON".to_owned());
        };
        let has = |name: &str| {
            module.package == ["switchboard"]
                && module.rules.iter().any(|rule| rule.name[0] == name)
        };
        if !has(TOOLS) {
            let detail = format!("it has no rule `data.switchboard.{TOOLS}`");
            return failed(PolicyErrorKind::Undefined, detail);
        }
        // In arrays, so that what is undefined leaves the other alone.
        let reasons = if has(REASONS) {
            format!("[x | x := data.switchboard.{REASONS}]")
        } else {
            "[]".to_owned()
        };
        let query = format!("[[x | x := data.switchboard.{TOOLS}], {reasons}]");
        let evaluated = self.evaluate(&[text], &query, input);
        let lines = self.lines(text, &evaluated.held);
        Ruling {
            answer: evaluated.result.and_then(|value| answer(&value)),
            lines,
        }
    }

    /// The lines of the definitions that held.
    fn lines(&self, text: &Text, held: &BTreeSet<u32>) -> Vec<u32> {
        let mut lines = BTreeSet::new();
        if let Some(part) = self.parts.first() {
            for (at, (_, span)) in part.bodies.iter().enumerate() {
                if held.contains(&(at as u32)) {
                    let place: Place = text.place(*span);
                    lines.extend(place.start.line..=place.end.line);
                }
            }
        }
        lines.into_iter().collect()
    }
}

const TOOLS: &str = "allowed_tools";
const REASONS: &str = "deny_reasons";

/// How many bodies there are so far.
fn first_body(guarded: &[Guarded]) -> usize {
    guarded.iter().map(|part| part.bodies.len()).sum()
}

fn answer(value: &Value) -> Result<Allowed, PolicyError> {
    let fail = |kind, detail: String| {
        Err(PolicyError {
            kind,
            detail,
            place: None,
        })
    };
    let first = |at: usize| match &value[at] {
        Value::Array(found) => found.first().cloned(),
        _ => None,
    };
    let tools = match first(0) {
        Some(Value::Set(tools)) => tools,
        Some(other) => {
            let detail = format!("`{TOOLS}` has to be a set, and is {}", kind(&other));
            return fail(PolicyErrorKind::Type, detail);
        }
        None => {
            let detail = format!("it leaves `{TOOLS}` undefined");
            return fail(PolicyErrorKind::Undefined, detail);
        }
    };
    let mut allowed = Allowed::default();
    for id in tools.iter() {
        let Value::String(id) = id else {
            let detail = format!("`{TOOLS}` has to hold strings, and holds {}", kind(id));
            return fail(PolicyErrorKind::Type, detail);
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

/// A place as the evaluator names it.
struct At {
    file: String,
    line: usize,
    column: usize,
}

/// What an error of the evaluator says, and where.
fn explain(error: &Error) -> (Option<At>, String) {
    let text = error.to_string();
    let at = text.rfind("--> ").and_then(|start| {
        let line = text[start + 4..].lines().next()?;
        let mut parts = line.trim().rsplitn(3, ':');
        let column = parts.next()?.parse().ok()?;
        let line = parts.next()?.parse().ok()?;
        let file = parts.next()?.to_owned();
        Some(At { file, line, column })
    });
    let message = text.rsplit("error: ").next().unwrap_or(&text);
    let message = message.lines().next().unwrap_or_default();
    // It names places within what is evaluated, which is not the text as it was.
    (at, message.trim().trim_end_matches('.').to_owned())
}

/// The byte of a column as the evaluator counts them: a tab has four.
fn byte_of_column(line: &str, column: usize) -> usize {
    let mut at = 1;
    for (byte, c) in line.char_indices() {
        if at >= column {
            return byte;
        }
        at += if c == '\t' { 4 } else { c.len_utf8() };
    }
    line.len()
}
