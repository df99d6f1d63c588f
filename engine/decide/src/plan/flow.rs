//! Inputs that are taken from earlier steps: what the schemas of both ends say before there is an
//! output.

use super::input::{InputConsumer, InputDenial, denials};
use super::schemas::{Applicable, Side};
use super::{Decision, PlanReason};
use agent_json_schema::{
    self, ArgumentProblem, Budget, InstanceLocation, JsonText, OverBudget, PropertyStatus, Schema,
    Types, with_schema,
};
use agent_model::{Driver, Input, Plan, ToolPool};
use agent_text::Span;

/// What it takes to go back by one step, beside its schemas, in steps of the budget.
const LINK_COST: u64 = 8;

/// Why a part of an output can't be the input that is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlowMismatch<'a> {
    /// The output has no such part.
    NoSuchPart {
        /// The step that it is an output of.
        step: &'a str,
        /// The pointer.
        pointer: &'a str,
        /// Where that stands.
        span: Span,
    },
    /// It is of another type.
    Type {
        /// The step that it is an output of.
        step: &'a str,
        /// What it may be.
        is: Types,
        /// What it has to be.
        wanted: Types,
        /// Where `input_from` stands.
        span: Span,
    },
    /// It has no property of a name that the input has to have.
    NoProperty {
        /// The step that it is an output of.
        step: &'a str,
        /// The name.
        name: String,
        /// Where `input_from` stands.
        span: Span,
    },
    /// It is known already, and is not what it has to be.
    Input {
        /// The step that it is an output of.
        step: &'a str,
        /// Why the input is not accepted.
        denial: InputDenial<'a>,
        /// Where `input_from` stands.
        span: Span,
    },
    /// It takes too much to tell.
    OverBudget {
        /// Why.
        over: OverBudget,
        /// Where `input_from` stands.
        span: Span,
    },
}

impl<'a> Decision<'a> {
    /// An input that is taken from an earlier step.
    pub(super) fn flow(
        &mut self,
        number: usize,
        plan: &'a Plan,
        pool: &'a ToolPool,
        consumer: InputConsumer<'a, '_>,
    ) {
        let Input::From {
            step,
            pointer,
            span,
        } = &plan.steps[number].input
        else {
            return;
        };
        self.wait_for_input(consumer.binding);
        // By one that can't be used no input would be taken later either.
        if let Some(tool) = consumer.tool.filter(|tool| tool.listed) {
            let problems = agent_json_schema::unusable(tool.input.as_deref(), &mut self.budget);
            for problem in problems {
                let denial = InputDenial::Argument(ArgumentProblem::Unusable(problem));
                self.deny(number, PlanReason::Input(denial));
            }
        }
        let producer = &*plan.steps[*step].id.value;
        let told = Told {
            step: producer,
            pointer: &pointer.value,
            pointer_span: pointer.span,
            span: *span,
        };
        let found = self
            .compare(*step, plan, pool, consumer, told)
            .unwrap_or_else(|over| vec![FlowMismatch::OverBudget { over, span: *span }]);
        for reason in found {
            self.deny(number, PlanReason::Flow(reason));
        }
    }

    fn compare(
        &mut self,
        mut step: usize,
        plan: &'a Plan,
        pool: &'a ToolPool,
        consumer: InputConsumer<'a, '_>,
        told: Told<'a>,
    ) -> Result<Vec<FlowMismatch<'a>>, OverBudget> {
        let mut pointer = told.pointer.to_owned();
        loop {
            let moved = pointer.len() as u64 / 64;
            self.budget.charge(LINK_COST + moved)?;
            let producer = &plan.steps[step];
            let (connector, tool) = (&*producer.connector.value, &*producer.tool.value);
            let Some(binding) = pool.binding(connector, tool) else {
                return Ok(Vec::new());
            };
            let does_nothing = matches!(binding.driver, Driver::Noop);
            let given = Applicable::of(self.rules, pool, producer, binding, Side::Output);
            // What does nothing gives what it is given.
            let taken = does_nothing
                .then(|| Applicable::of(self.rules, pool, producer, binding, Side::Input));
            for schema in given
                .known
                .iter()
                .chain(taken.iter().flat_map(|it| &it.known))
            {
                let budget = &mut self.budget;
                let found = schema.with(|schema| wanted(schema, &pointer, consumer, told, budget));
                if let Some(found) = found.unwrap_or(Ok(None))? {
                    return Ok(vec![found]);
                }
            }
            if let Some(found) = self.of_server(step, &pointer, consumer, told)? {
                return Ok(vec![found]);
            }
            if !does_nothing {
                return Ok(Vec::new());
            }
            match &producer.input {
                Input::Literal(span) => {
                    return self.literal_part(*span, &pointer, consumer, told);
                }
                Input::From {
                    step: earlier,
                    pointer: part,
                    ..
                } => {
                    pointer.insert_str(0, &part.value);
                    step = *earlier;
                }
                Input::Refused => return Ok(Vec::new()),
            }
        }
    }

    /// A part of a value that is written in the plan, which is known as a whole.
    fn literal_part(
        &mut self,
        span: Span,
        pointer: &str,
        consumer: InputConsumer<'a, '_>,
        told: Told<'a>,
    ) -> Result<Vec<FlowMismatch<'a>>, OverBudget> {
        let text = span.of(self.text);
        // However many steps take from it, each has to find its part.
        self.budget.read(text)?;
        let read = JsonText::read(text);
        let Some(part) = read.as_ref().and_then(|read| read.root().at(pointer)) else {
            return Ok(vec![told.no_such_part()]);
        };
        let part = part.span().of(text);
        self.budget.read(part)?;
        let found = denials(part, 0, consumer, &mut self.budget);
        // A schema that can't be used is told of the tool.
        let found = found
            .into_iter()
            .filter(|it| !matches!(it, InputDenial::Argument(ArgumentProblem::Unusable(_))));
        Ok(found
            .map(|denial| FlowMismatch::Input {
                step: told.step,
                denial,
                span: told.span,
            })
            .collect())
    }

    /// What the output schema of an MCP tool says.
    fn of_server(
        &mut self,
        step: usize,
        pointer: &str,
        consumer: InputConsumer<'a, '_>,
        told: Told<'a>,
    ) -> Result<Option<FlowMismatch<'a>>, OverBudget> {
        let step = self.steps.get(step);
        let text = step.and_then(|step| step.schemas.output.as_deref());
        let found = text.and_then(|text| {
            with_schema(text, &mut self.budget, |schema, budget| match schema {
                Ok(schema) => wanted(&schema, pointer, consumer, told, budget),
                // What can't be used is denied with its own step.
                Err(_) => Ok(None),
            })
        });
        found.unwrap_or(Ok(None))
    }
}

/// What a denial says of the step that is taken from.
#[derive(Clone, Copy)]
struct Told<'a> {
    step: &'a str,
    pointer: &'a str,
    pointer_span: Span,
    span: Span,
}

impl<'a> Told<'a> {
    fn no_such_part(self) -> FlowMismatch<'a> {
        FlowMismatch::NoSuchPart {
            step: self.step,
            pointer: self.pointer,
            span: self.pointer_span,
        }
    }
}

/// What of an input a schema of the output rules out.
fn wanted<'a>(
    producer: &Schema<'_>,
    pointer: &str,
    consumer: InputConsumer<'_, '_>,
    told: Told<'a>,
    budget: &mut Budget,
) -> Result<Option<FlowMismatch<'a>>, OverBudget> {
    let Some(part) = producer.instance_location(pointer, budget)? else {
        return Ok(None);
    };
    if !part.is_possible() {
        return Ok(Some(told.no_such_part()));
    }
    for schema in &consumer.schemas.known {
        let found = schema.with(|consumer| fits(&part, consumer, Types::ANY, told, budget));
        if let Some(found) = found.unwrap_or(Ok(None))? {
            return Ok(Some(found));
        }
    }
    let text = consumer.tool.and_then(|tool| tool.input.as_deref());
    let found = text.and_then(|text| {
        with_schema(text, budget, |consumer, budget| match consumer {
            // Arguments of tools are an object, whether or not the schema says so.
            Ok(consumer) => fits(&part, &consumer, Types::OBJECT, told, budget),
            Err(_) => Ok(None),
        })
    });
    found.unwrap_or(Ok(None))
}

fn fits<'a>(
    part: &InstanceLocation<'_, '_>,
    consumer: &Schema<'_>,
    accepted: Types,
    told: Told<'a>,
    budget: &mut Budget,
) -> Result<Option<FlowMismatch<'a>>, OverBudget> {
    let Some(whole) = consumer.instance_location("", budget)? else {
        return Ok(None);
    };
    let wanted = whole.types().unwrap_or(Types::ANY).and(accepted);
    if let Some(is) = part.types()
        && is.and(wanted) == Types::NONE
    {
        return Ok(Some(FlowMismatch::Type {
            step: told.step,
            is,
            wanted,
            span: told.span,
        }));
    }
    // A value that is no object may have what is required of objects only.
    if part.types() != Some(Types::OBJECT) && wanted != Types::OBJECT {
        return Ok(None);
    }
    for name in consumer.required_names(budget)? {
        if part.property(name, budget)? == PropertyStatus::Undeclared {
            return Ok(Some(FlowMismatch::NoProperty {
                step: told.step,
                name: name.to_owned(),
                span: told.span,
            }));
        }
    }
    Ok(None)
}
