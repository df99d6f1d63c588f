//! The arguments of a call against the input schema of what is called \[1\].

use super::{Budget, Documents, Draft, OverBudget, Refused, Schema, Violation};
use crate::syntax::json::{Reader, parse_value};
use crate::syntax::{Entry, Node, Value};
use crate::text::Span;

/// At most this many flaws of a schema are told: whoever calls a tool can't mend them.
const FLAWS: usize = 5;

/// Why arguments are not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentProblem {
    /// The schema can't be used.
    Schema {
        /// A predicate about it, such as `can't be used: …`.
        message: String,
    },
    /// It takes too much to tell.
    Budget {
        /// Why, in a few words.
        message: &'static str,
    },
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

/// All that is wrong with the arguments, which stand at `at` in the plan, by the schema of their
/// tool; a tool without one can't be called.
///
/// The schema is read by draft 2020-12, or by draft-07 where it says so. At the top level only
/// declared names may stand, unless it has an `additionalProperties` that allows others.
pub fn arguments(
    schema: Option<&str>,
    arguments: &str,
    at: Span,
    budget: &mut Budget,
) -> Vec<ArgumentProblem> {
    let Some(schema) = schema else {
        let message = "is missing".to_owned();
        return vec![ArgumentProblem::Schema { message }];
    };
    // Both were read with their documents.
    let tree = |text| parse_value(&mut Reader::new(text)).ok();
    let (Some(schema), Some(arguments)) = (tree(schema), tree(arguments)) else {
        let message = "can't be read".to_owned();
        return vec![ArgumentProblem::Schema { message }];
    };
    let documents = Documents::new();
    let schema = match Schema::compile(&schema, &documents, Draft::Draft202012, budget) {
        Ok(schema) => schema,
        Err(Refused::OverBudget(over)) => return vec![over_budget(over)],
        Err(Refused::Flaws(flaws)) => {
            let flaws = flaws.iter().take(FLAWS).map(|flaw| {
                let message = flaw.message();
                ArgumentProblem::Schema {
                    message: format!("can't be used, at `{}`: {message}", flaw.pointer),
                }
            });
            return flaws.collect();
        }
    };
    check(&schema, &arguments, at, budget).unwrap_or_else(|over| vec![over_budget(over)])
}

fn over_budget(over: OverBudget) -> ArgumentProblem {
    ArgumentProblem::Budget {
        message: over.reason(),
    }
}

fn check(
    schema: &Schema<'_>,
    arguments: &Node<'_>,
    at: Span,
    budget: &mut Budget,
) -> Result<Vec<ArgumentProblem>, OverBudget> {
    let violations = schema.check(arguments, budget)?;
    let mut found: Vec<_> = unknown(schema, arguments, &violations, budget)?
        .into_iter()
        .map(|(entry, nearest)| ArgumentProblem::Unknown {
            name: entry.key.clone().into_owned(),
            span: moved(entry.key_span, at),
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
            span: moved(violation.span, at),
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
fn moved(span: Span, at: Span) -> Span {
    Span {
        start: span.start + at.start,
        end: span.end + at.start,
    }
}
