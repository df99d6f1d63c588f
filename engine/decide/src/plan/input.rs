//! The checks of an input: a literal in the plan, or one that is there during the run.

use super::destination::{DestinationDenial, elsewhere};
use super::schemas::Applicable;
use super::server::ToolSchemas;
use crate::locked_tool::NEAR;
use agent_json_schema::{
    self, ArgumentProblem, Budget, Correction, Json, OverBudget, ToolSchema, without_follow_ups,
};
use agent_lower::rule;
use agent_model::{Binding, Driver, Program};
use agent_text::Span;

/// A reason to refuse an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputDenial<'a> {
    /// The input is above the binding's limit.
    TooLarge {
        /// Its bytes, as written.
        bytes: u64,
        /// The limit.
        most: u64,
        /// The place of the input.
        span: Span,
    },
    /// The input violates a schema.
    Invalid {
        /// The JSON pointer to the part.
        pointer: String,
        /// The place of the part.
        span: Span,
        /// A predicate about the part.
        message: String,
        /// The rule: the name of the schema and a pointer.
        rule: String,
        /// The obvious correction.
        correction: Option<Box<Correction>>,
    },
    /// The input violates the tool's own input schema.
    Argument(ArgumentProblem),
    /// The check exceeds the budget.
    OverBudget {
        /// The exceeded limit.
        over: OverBudget,
        /// The place of the checked value.
        span: Span,
    },
    /// The binding does not allow the method.
    Method {
        /// The method.
        method: String,
        /// The allowed methods.
        allowed: &'a [String],
        /// The place of the method.
        span: Span,
    },
    /// The binding does not allow the destination of the URL.
    Destination {
        /// The URL.
        url: String,
        /// The reason.
        denial: DestinationDenial,
        /// The place of the URL.
        span: Span,
    },
    /// The binding does not allow the program.
    Program {
        /// The program.
        path: String,
        /// Similar paths.
        nearest: Vec<&'a str>,
        /// The place of the program.
        span: Span,
    },
    /// The program takes another number of arguments.
    ArgumentCount {
        /// The number of arguments.
        count: usize,
        /// The number that the program takes.
        takes: usize,
        /// Whether it takes more.
        or_more: bool,
        /// The place of the arguments.
        span: Span,
    },
    /// An argument does not match its pattern.
    ArgumentPattern {
        /// The number of the argument.
        number: usize,
        /// The pattern.
        pattern: &'a str,
        /// The place of the argument.
        span: Span,
    },
}

/// The rules that an input must meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct InputConsumer<'r, 's> {
    pub(super) binding: &'r Binding,
    pub(super) schemas: &'s Applicable<'r>,
    pub(super) tool: Option<&'s ToolSchemas>,
}

/// Returns the reasons to refuse an input, whose text begins at an offset of its document.
pub(super) fn denials<'r>(
    root: Json<'_, '_>,
    offset: u32,
    consumer: InputConsumer<'r, '_>,
    budget: &mut Budget,
) -> Vec<InputDenial<'r>> {
    let mut found = Found {
        offset,
        denials: Vec::new(),
    };
    let most = consumer.binding.limits.max_input_bytes.value;
    let bytes = u64::from(root.span().end - root.span().start);
    if bytes > most {
        found.denials.push(InputDenial::TooLarge {
            bytes,
            most,
            span: found.moved(root.span()),
        });
    }
    found.schemas(root, consumer, budget);
    if let Some(tool) = consumer.tool.filter(|tool| tool.listed) {
        let schema = tool.input.as_deref().map(ToolSchema::Text);
        let mut problems = agent_json_schema::arguments(schema, root, offset, budget);
        // A fault that the schema of the binding sees too is one.
        problems.retain(|problem| !found.denials.iter().any(|it| is_same(it, problem)));
        found
            .denials
            .extend(problems.into_iter().map(InputDenial::Argument));
    }
    match &consumer.binding.driver {
        Driver::Http { methods, .. } => found.http(root, consumer.binding, methods),
        Driver::RestrictedShell { programs } => found.shell(root, programs, budget),
        Driver::Noop | Driver::McpProxy { .. } => {}
    }
    found.denials
}

/// Returns whether the schemas of the binding and of the tool refuse a value for the same reason.
fn is_same(denial: &InputDenial<'_>, problem: &ArgumentProblem) -> bool {
    let InputDenial::Invalid {
        span: at, message, ..
    } = denial
    else {
        return false;
    };
    match problem {
        ArgumentProblem::Unknown { span, .. } => span == at,
        ArgumentProblem::Invalid {
            span,
            message: other,
            ..
        } => span == at && message == other,
        ArgumentProblem::Unusable(_) => false,
    }
}

struct Found<'r> {
    /// The start of the input in its document.
    offset: u32,
    denials: Vec<InputDenial<'r>>,
}

impl<'r> Found<'r> {
    fn moved(&self, span: Span) -> Span {
        Span {
            start: span.start + self.offset,
            end: span.end + self.offset,
        }
    }

    fn schemas(
        &mut self,
        root: Json<'_, '_>,
        consumer: InputConsumer<'r, '_>,
        budget: &mut Budget,
    ) {
        for schema in &consumer.schemas.known {
            match schema.check(root, budget) {
                Ok(violations) => {
                    for mut violation in without_follow_ups(violations) {
                        let rule = rule(&violation, &schema.name);
                        let correction = violation.corrections.pop();
                        self.denials.push(InputDenial::Invalid {
                            pointer: violation.instance,
                            span: self.moved(violation.span),
                            message: violation.message,
                            rule,
                            correction: correction.map(|it| Box::new(it.moved(self.offset))),
                        });
                    }
                }
                Err(over) => self.denials.push(InputDenial::OverBudget {
                    over,
                    span: self.moved(root.span()),
                }),
            }
        }
    }

    fn http(&mut self, root: Json<'_, '_>, binding: &'r Binding, methods: &'r [String]) {
        if let Some((method, span)) = self.string(root, "method")
            && !methods.contains(&method)
        {
            self.denials.push(InputDenial::Method {
                method,
                allowed: methods,
                span,
            });
        }
        if let Some((url, span)) = self.string(root, "url")
            && let Some(denial) = elsewhere(binding, &url)
        {
            self.denials
                .push(InputDenial::Destination { url, denial, span });
        }
    }

    fn shell(&mut self, root: Json<'_, '_>, programs: &'r [Program], budget: &mut Budget) {
        let Some((path, span)) = self.string(root, "program") else {
            return;
        };
        let Some(program) = programs.iter().find(|program| program.path == path) else {
            let known = programs.iter().map(|program| &*program.path);
            let nearest = budget.likeness().nearest(&path, known, NEAR);
            self.denials.push(InputDenial::Program {
                path,
                nearest,
                span,
            });
            return;
        };
        let list = root.member("arguments");
        let Some((list, arguments)) = list.and_then(|list| Some((list, list.items()?))) else {
            return;
        };
        let takes = program.arguments.len();
        let or_more = program.more.is_some();
        if arguments.len() < takes || arguments.len() > takes && !or_more {
            self.denials.push(InputDenial::ArgumentCount {
                count: arguments.len(),
                takes,
                or_more,
                span: self.moved(list.span()),
            });
        }
        for (number, argument) in arguments.enumerate() {
            let pattern = program.arguments.get(number).or(program.more.as_ref());
            let (Some(pattern), Some(text)) = (pattern, argument.string()) else {
                continue;
            };
            let span = self.moved(argument.span());
            match pattern.pattern.is_match(text, budget) {
                Ok(true) => {}
                Ok(false) => self.denials.push(InputDenial::ArgumentPattern {
                    number,
                    pattern: &pattern.text,
                    span,
                }),
                Err(over) => self.denials.push(InputDenial::OverBudget { over, span }),
            }
        }
    }

    /// Returns a member that is a string, and its place.
    fn string(&self, root: Json<'_, '_>, name: &str) -> Option<(String, Span)> {
        let member = root.member(name)?;
        Some((member.string()?.to_owned(), self.moved(member.span())))
    }
}
