//! Inputs of steps: as they are written in the plan, and as they are once they are there.

use super::authorized::ToolSchemas;
use super::destination::{DestinationDenial, elsewhere};
use super::schemas::Applicable;
use super::{Decision, NEAR, PlanReason, RunCheck};
use agent_json_schema::{self, ArgumentProblem, Budget, Json, JsonText, OverBudget};
use agent_lower::rule;
use agent_model::{ArgumentPattern, Binding, Driver, Program};
use agent_text::Span;

/// Why a tool is not given an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputDenial<'a> {
    /// It has more bytes than the binding's limit.
    TooLarge {
        /// How many its RFC 8785 form has.
        bytes: u64,
        /// How many it may have.
        most: u64,
        /// Where it stands.
        span: Span,
    },
    /// It is not as a schema asks.
    Invalid {
        /// Which part, as a JSON pointer.
        pointer: String,
        /// Where that stands.
        span: Span,
        /// A predicate about it.
        message: String,
        /// Where a schema says so: the name of the schema and a pointer.
        rule: String,
    },
    /// It is not as the tool's own input schema asks.
    Argument(ArgumentProblem),
    /// It takes too much to tell.
    OverBudget {
        /// Why.
        over: OverBudget,
        /// Where the input stands.
        span: Span,
    },
    /// The binding doesn't have the method.
    Method {
        /// The method.
        method: String,
        /// Those that it has.
        allowed: &'a [String],
        /// Where it stands.
        span: Span,
    },
    /// The URL leads to where the binding may not connect to.
    Destination {
        /// The URL.
        url: String,
        /// Why.
        denial: DestinationDenial,
        /// Where it stands.
        span: Span,
    },
    /// The binding doesn't have the program.
    Program {
        /// The program.
        path: String,
        /// Those that are spelled nearly so.
        nearest: Vec<&'a str>,
        /// Where it stands.
        span: Span,
    },
    /// The program takes another number of arguments.
    ArgumentCount {
        /// How many there are.
        count: usize,
        /// How many it takes.
        takes: usize,
        /// Whether it takes more as well.
        or_more: bool,
        /// Where they stand.
        span: Span,
    },
    /// An argument does not match its pattern.
    ArgumentPattern {
        /// Which argument.
        number: usize,
        /// The pattern.
        pattern: &'a str,
        /// Where the argument stands.
        span: Span,
    },
}

/// By what an input is decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct InputConsumer<'r, 's> {
    pub(super) binding: &'r Binding,
    pub(super) schemas: &'s Applicable<'r>,
    pub(super) tool: Option<&'s ToolSchemas>,
}

impl<'a> Decision<'a> {
    /// An input that is written in the plan.
    pub(super) fn literal(&mut self, number: usize, span: Span, consumer: InputConsumer<'a, '_>) {
        // It was read with its document.
        let Some(input) = JsonText::read(span.of(self.text)) else {
            return;
        };
        for denial in denials(input.root(), span.start, consumer, &mut self.budget) {
            self.deny(number, PlanReason::Input(denial));
        }
    }

    /// What of an input has to wait until it is there.
    pub(super) fn wait_for_input(&mut self, binding: &Binding) {
        self.open.defer(RunCheck::InputFrom);
        self.open.defer(RunCheck::Input);
        if matches!(binding.driver, Driver::Http { .. }) {
            self.open.defer(RunCheck::Destination);
        }
    }
}

/// Returns why a tool is not given an input, whose text begins at an offset of its document.
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
    let canonical = root.canonical();
    let most = consumer.binding.limits.max_input_bytes.value;
    if canonical.len() as u64 > most {
        found.denials.push(InputDenial::TooLarge {
            bytes: canonical.len() as u64,
            most,
            span: found.moved(root.span()),
        });
    }
    found.schemas(root, consumer, budget);
    if let Some(tool) = consumer.tool.filter(|tool| tool.listed) {
        let schema = tool.input.as_deref();
        let problems = agent_json_schema::arguments(schema, root, offset, budget);
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

struct Found<'r> {
    /// Where the input begins in its document.
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
                    for violation in violations {
                        let rule = rule(&violation, &schema.name);
                        self.denials.push(InputDenial::Invalid {
                            pointer: violation.instance,
                            span: self.moved(violation.span),
                            message: violation.message,
                            rule,
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
        let Some(list) = root.member("arguments") else {
            return;
        };
        let Some(arguments) = list.items() else {
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
            self.argument(number, argument.span(), text, pattern, budget);
        }
    }

    fn argument(
        &mut self,
        number: usize,
        span: Span,
        text: &str,
        pattern: &'r ArgumentPattern,
        budget: &mut Budget,
    ) {
        let span = self.moved(span);
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

    /// A member that is a string, and where it stands.
    fn string(&self, root: Json<'_, '_>, name: &str) -> Option<(String, Span)> {
        let member = root.member(name)?;
        Some((member.string()?.to_owned(), self.moved(member.span())))
    }
}
