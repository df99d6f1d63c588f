//! The arguments of a call, against the input schema of the tool \[1\].

use super::arena::Schema;
use super::budget::{Budget, OverBudget};
use super::correction::{Correction, renamed};
use super::json::Json;
use super::keyword::{Draft, entries};
use super::schema_error::{Refused, SchemaErrorKind};
use super::tool_schema::ToolSchema;
use super::violation::{Violation, without_follow_ups};
use agent_syntax::{Entry, Node};
use agent_text::Span;

/// Maximum errors to report of a schema, because the caller of a tool can't correct them.
const SCHEMA_ERRORS: usize = 5;

/// The reason why the schema of a tool can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// The schema is missing or invalid.
    Schema {
        /// A predicate about the schema, such as `can't be used: …`.
        message: String,
        /// Whether a pattern is the cause.
        of_pattern: bool,
    },
    /// Compiling the schema, or the check, exceeds the budget.
    Budget(OverBudget),
}

impl Unusable {
    /// Returns the reason as a predicate about the schema.
    pub fn reason(&self) -> String {
        match self {
            Self::Schema { message, .. } => message.clone(),
            Self::Budget(over) => format!("can't be evaluated: {}", over.reason()),
        }
    }
}

/// The reason why arguments are not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentProblem {
    /// The schema can't be used.
    Unusable(Unusable),
    /// An undeclared argument.
    Unknown {
        /// The name.
        name: String,
        /// The place in the plan.
        span: Span,
        /// The most similar declared name.
        nearest: Option<String>,
        /// The declared name that was meant, if only one can be.
        correction: Option<Box<Correction>>,
    },
    /// A violation of the schema.
    Invalid {
        /// The part of the arguments, as a JSON pointer.
        pointer: String,
        /// The place in the plan.
        span: Span,
        /// A predicate about the part, as in [`Violation::message`].
        message: String,
        /// The place of the keyword in the schema, as a JSON pointer.
        rule: String,
        /// The obvious correction.
        correction: Option<Box<Correction>>,
    },
}

/// Returns all problems of the arguments, whose text begins at `offset` of the plan, by the schema of
/// their tool. A tool without a schema can't be called.
///
/// The schema is of draft 2020-12, unless its `$schema` or its form says otherwise
/// ([`with_schema`](super::with_schema)). Arguments must be an
/// object, even if the schema does not require it. All their names must be declared, unless an
/// `additionalProperties` of the schema allows others.
pub fn arguments(
    schema: Option<ToolSchema<'_>>,
    arguments: Json<'_, '_>,
    offset: u32,
    budget: &mut Budget,
) -> Vec<ArgumentProblem> {
    let checked = with_tool_schema(schema, budget, |schema, budget| {
        check(schema, arguments.node(), offset, budget)
    });
    checked.unwrap_or_else(|all| all.into_iter().map(ArgumentProblem::Unusable).collect())
}

/// Returns the reasons why the schema of a tool can't be used.
pub fn unusable(schema: Option<&str>, budget: &mut Budget) -> Vec<Unusable> {
    draft(schema, budget).err().unwrap_or_default()
}

/// Returns the draft of the schema of a tool, unless it names one: the newest whose forms it has.
///
/// # Errors
/// The reasons why the schema can't be used.
pub fn draft(schema: Option<&str>, budget: &mut Budget) -> Result<Draft, Vec<Unusable>> {
    let schema = schema.map(ToolSchema::Text);
    with_tool_schema(schema, budget, |schema, _| Ok(schema.draft))
}

/// Calls a function with the schema of a tool.
fn with_tool_schema<R>(
    schema: Option<ToolSchema<'_>>,
    budget: &mut Budget,
    look: impl FnOnce(&Schema<'_>, &mut Budget) -> Result<R, OverBudget>,
) -> Result<R, Vec<Unusable>> {
    let Some(schema) = schema else {
        return Err(vec![unreadable("is missing")]);
    };
    let looked = schema.with(budget, |schema, budget| {
        look(schema?, budget).map_err(Refused::OverBudget)
    });
    looked
        .ok_or_else(|| vec![unreadable("can't be read")])?
        .map_err(|refused| match refused {
            Refused::OverBudget(over) => vec![Unusable::Budget(over)],
            Refused::Invalid(errors) => {
                let errors = errors.iter().take(SCHEMA_ERRORS);
                let unusable = errors.map(|error| Unusable::Schema {
                    message: format!("can't be used, at `{}`: {}", error.pointer, error.message()),
                    of_pattern: matches!(error.kind, SchemaErrorKind::Pattern { .. }),
                });
                unusable.collect()
            }
        })
}

fn unreadable(message: &str) -> Unusable {
    Unusable::Schema {
        message: message.to_owned(),
        of_pattern: false,
    }
}

fn check(
    schema: &Schema<'_>,
    arguments: &Node<'_>,
    offset: u32,
    budget: &mut Budget,
) -> Result<Vec<ArgumentProblem>, OverBudget> {
    let violations = schema.check(arguments, budget)?;
    let of_type = |it: &Violation| it.keyword == "type" && it.instance.is_empty();
    // The schema may report the type already.
    if entries(arguments).is_none() && !violations.iter().any(of_type) {
        return Ok(vec![ArgumentProblem::Invalid {
            pointer: String::new(),
            span: moved(arguments.span, offset),
            message: "must be an object, like the arguments of every tool".to_owned(),
            rule: "/type".to_owned(),
            correction: None,
        }]);
    }
    let mut found: Vec<_> = unknown(schema, arguments, &violations, budget)?
        .into_iter()
        .map(|(entry, nearest, correction)| ArgumentProblem::Unknown {
            name: entry.key.clone().into_owned(),
            span: moved(entry.key_span, offset),
            nearest,
            correction: correction.map(|it| Box::new(it.moved(offset))),
        })
        .collect();
    let mut violations = without_follow_ups(violations);
    // An undeclared argument may be the misspelt one.
    violations.retain(|it| {
        let span = moved(it.span, offset);
        !found.iter().any(
            |other| matches!(other, ArgumentProblem::Unknown { span: other, .. } if *other == span),
        )
    });
    found.extend(violations.into_iter().map(|mut violation| {
        let correction = violation.corrections.pop();
        let causes = violation.causes.first().map(|cause| {
            let Violation {
                instance, message, ..
            } = cause;
            // The whole has another name for each caller.
            let subject = match &**instance {
                "" => "it".to_owned(),
                instance => format!("`{instance}`"),
            };
            format!("; in the nearest alternative, {subject} {message}")
        });
        ArgumentProblem::Invalid {
            pointer: violation.instance,
            span: moved(violation.span, offset),
            message: violation.message + &causes.unwrap_or_default(),
            rule: violation.schema,
            correction: correction.map(|it| Box::new(it.moved(offset))),
        }
    }));
    Ok(found)
}

/// An undeclared argument, the most similar declared name, and a correction.
type Unknown<'n, 't> = (&'n Entry<'t>, Option<String>, Option<Correction>);

/// Returns the undeclared arguments, each with a similar name. The violations of the schema cover
/// those that the schema itself refuses.
fn unknown<'n, 't>(
    schema: &Schema<'_>,
    arguments: &'n Node<'t>,
    violations: &[Violation],
    budget: &mut Budget,
) -> Result<Vec<Unknown<'n, 't>>, OverBudget> {
    let Some(entries) = entries(arguments) else {
        return Ok(Vec::new());
    };
    if schema.explicit_additional_properties(budget)? {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in entries {
        let reported = violations.iter().any(|it| it.span == entry.key_span);
        if !reported && !schema.declares_property(&entry.key, budget)? {
            let names = schema.declared_names(budget)?;
            let search = budget.likeness();
            let meant = search.nearest(&entry.key, names.iter().copied(), 1);
            let nearest = meant.first().map(|name| (*name).to_owned());
            found.push((
                entry,
                nearest,
                renamed(entry, entries, names.into_iter(), search),
            ));
        }
    }
    Ok(found)
}

/// Returns the place in the plan of a place in the arguments.
fn moved(span: Span, offset: u32) -> Span {
    Span {
        start: span.start + offset,
        end: span.end + offset,
    }
}
