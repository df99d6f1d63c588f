//! The arguments of a call against the input schema of what is called \[1\].

use super::{Budget, Json, OverBudget, Refused, Schema, Violation, with_schema};
use agent_syntax::{Entry, Node, Value};
use agent_text::Span;

/// At most this many flaws of a schema are told: whoever calls a tool can't mend them.
const FLAWS: usize = 5;

/// Why a schema of a tool says nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// It can't be used.
    Schema {
        /// A predicate about it, such as `can't be used: …`.
        message: String,
    },
    /// It takes too much to tell.
    Budget(OverBudget),
}

/// Why arguments are not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentProblem {
    /// The schema says nothing of them.
    Unusable(Unusable),
    /// A name that the schema does not declare.
    Unknown {
        /// The name.
        name: String,
        /// Where it stands in the plan.
        span: Span,
        /// The declared name that is spelled most nearly so.
        nearest: Option<String>,
    },
    /// A value that is not as the schema asks.
    Invalid {
        /// Which part of the arguments, as a JSON pointer.
        pointer: String,
        /// Where it stands in the plan.
        span: Span,
        /// What it has to be and what it is: a predicate.
        message: String,
        /// Where the schema says so, as a JSON pointer.
        rule: String,
    },
}

/// Returns the problems of arguments by the input schema of their tool. Their text begins at `offset`
/// of the plan. A tool without a schema can't be called.
///
/// The schema is read by draft 2020-12, or by draft-07 where it says so. Arguments are an object,
/// whether or not it says so. At its top level only declared names may stand, unless the schema has
/// an `additionalProperties` that allows others.
pub fn arguments(
    schema: Option<&str>,
    arguments: Json<'_, '_>,
    offset: u32,
    budget: &mut Budget,
) -> Vec<ArgumentProblem> {
    let checked = of_tool(schema, budget, |schema, budget| {
        check(schema, arguments.node(), offset, budget)
    });
    let unusable = |it| vec![ArgumentProblem::Unusable(it)];
    match checked {
        Ok(Ok(problems)) => problems,
        Ok(Err(over)) => unusable(Unusable::Budget(over)),
        Err(all) => all.into_iter().map(ArgumentProblem::Unusable).collect(),
    }
}

/// Why nothing can be checked by a schema of a tool, whatever is to be checked; nothing if it can.
pub fn unusable(schema: Option<&str>, budget: &mut Budget) -> Vec<Unusable> {
    of_tool(schema, budget, |_, _| ()).err().unwrap_or_default()
}

/// Look at a schema that a tool has.
fn of_tool<R>(
    schema: Option<&str>,
    budget: &mut Budget,
    look: impl FnOnce(&Schema<'_>, &mut Budget) -> R,
) -> Result<R, Vec<Unusable>> {
    let Some(schema) = schema else {
        let message = "is missing".to_owned();
        return Err(vec![Unusable::Schema { message }]);
    };
    let looked = with_schema(schema, budget, |schema, budget| match schema {
        Ok(schema) => Ok(look(&schema, budget)),
        Err(Refused::OverBudget(over)) => Err(vec![Unusable::Budget(over)]),
        Err(Refused::Flaws(flaws)) => {
            let flaws = flaws.iter().take(FLAWS).map(|flaw| {
                let message = flaw.message();
                Unusable::Schema {
                    message: format!("can't be used, at `{}`: {message}", flaw.pointer),
                }
            });
            Err(flaws.collect())
        }
    });
    looked.unwrap_or_else(|| Err(vec![unreadable()]))
}

fn unreadable() -> Unusable {
    let message = "can't be read".to_owned();
    Unusable::Schema { message }
}

fn check(
    schema: &Schema<'_>,
    arguments: &Node<'_>,
    offset: u32,
    budget: &mut Budget,
) -> Result<Vec<ArgumentProblem>, OverBudget> {
    let violations = schema.check(arguments, budget)?;
    let is_object = matches!(arguments.value, Value::Mapping(_));
    // One that is told already is that of the whole.
    if !is_object
        && !violations
            .iter()
            .any(|it| it.keyword == "type" && it.instance.is_empty())
    {
        return Ok(vec![ArgumentProblem::Invalid {
            pointer: String::new(),
            span: moved(arguments.span, offset),
            message: "must be an object, as all arguments of tools are".to_owned(),
            rule: "/type".to_owned(),
        }]);
    }
    let mut found: Vec<_> = unknown(schema, arguments, &violations, budget)?
        .into_iter()
        .map(|(entry, nearest)| ArgumentProblem::Unknown {
            name: entry.key.clone().into_owned(),
            span: moved(entry.key_span, offset),
            nearest,
        })
        .collect();
    found.extend(violations.into_iter().map(|violation| {
        let causes = violation.causes.first().map(|cause| {
            let Violation {
                instance, message, ..
            } = cause;
            format!("; nearest is the one by which `args{instance}` {message}")
        });
        ArgumentProblem::Invalid {
            pointer: violation.instance,
            span: moved(violation.span, offset),
            message: violation.message + &causes.unwrap_or_default(),
            rule: violation.schema,
        }
    }));
    Ok(found)
}

/// The arguments that nothing declares, and what may be meant. What the schema itself refuses is
/// told by its violation.
fn unknown<'n, 't>(
    schema: &Schema<'_>,
    arguments: &'n Node<'t>,
    violations: &[Violation],
    budget: &mut Budget,
) -> Result<Vec<(&'n Entry<'t>, Option<String>)>, OverBudget> {
    let Value::Mapping(entries) = &arguments.value else {
        return Ok(Vec::new());
    };
    if schema.explicit_additional_properties(budget)? {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in entries {
        let told = violations.iter().any(|it| it.span == entry.key_span);
        if !told && !schema.declares_property(&entry.key, budget)? {
            let names = schema.declared_names(budget)?;
            let meant = budget.likeness().nearest(&entry.key, names, 1);
            found.push((entry, meant.first().map(|name| (*name).to_owned())));
        }
    }
    Ok(found)
}

/// A place in the arguments as one in the plan.
fn moved(span: Span, offset: u32) -> Span {
    Span {
        start: span.start + offset,
        end: span.end + offset,
    }
}
