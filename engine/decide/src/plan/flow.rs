//! Inputs that are taken from earlier steps: a comparison of the schemas of both ends before there
//! is an output.

use super::decision::Decision;
use super::denial::{FlowMismatch, PlanReason};
use super::input::{InputConsumer, InputDenial, denials};
use super::record::RunCheck;
use super::schemas::{Applicable, Side};
use agent_json_schema::{
    self, ArgumentProblem, Budget, InstanceLocation, JsonText, OverBudget, PropertyStatus, Schema,
    Types, with_schema,
};
use agent_model::{Driver, Input, Plan, ToolPool};
use agent_text::{Span, Spanned};

/// Cost of following one step back, without its schemas, in steps of the budget.
const LINK_COST: u64 = 8;

/// An input that a step takes from the output of an earlier one.
#[derive(Clone, Copy)]
struct Link<'a, 's> {
    consumer: InputConsumer<'a, 's>,
    /// The name of the earlier step.
    step: &'a str,
    pointer: &'a Spanned<String>,
    /// The place of `input_from`.
    span: Span,
}

type Mismatch<'a> = Result<Option<FlowMismatch<'a>>, OverBudget>;

impl<'a> Decision<'a> {
    /// Checks an input that is taken from an earlier step.
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
        let deferred = [RunCheck::InputFrom, RunCheck::Input];
        self.outcomes.deferred.extend(deferred);
        if matches!(consumer.binding.driver, Driver::Http { .. }) {
            self.outcomes.deferred.push(RunCheck::Destination);
        }
        // A schema that can't be used would refuse every input of the run.
        if let Some(tool) = consumer.tool.filter(|tool| tool.listed) {
            let problems = agent_json_schema::unusable(tool.input.as_deref(), &mut self.budget);
            for problem in problems {
                let denial = InputDenial::Argument(ArgumentProblem::Unusable(problem));
                self.deny(number, PlanReason::Input(denial));
            }
        }
        let link = Link {
            consumer,
            step: &plan.steps[*step].id.value,
            pointer,
            span: *span,
        };
        let found = self
            .compare(*step, plan, pool, link)
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
        link: Link<'a, '_>,
    ) -> Result<Vec<FlowMismatch<'a>>, OverBudget> {
        let mut pointer = link.pointer.value.clone();
        loop {
            let moved = pointer.len() as u64 / 64;
            self.budget.charge(LINK_COST + moved)?;
            let producer = &plan.steps[step];
            let (connector, tool) = (&*producer.connector.value, &*producer.tool.value);
            let Some(binding) = pool.binding(connector, tool) else {
                return Ok(Vec::new());
            };
            // The output of a no-op is its input.
            let is_noop = matches!(binding.driver, Driver::Noop);
            let sides = [Some(Side::Output), is_noop.then_some(Side::Input)];
            for side in sides.into_iter().flatten() {
                for schema in Applicable::of(self.rules, pool, producer, binding, side).known {
                    let budget = &mut self.budget;
                    let found = schema.with(|schema| link.mismatch(schema, &pointer, budget));
                    if let Some(found) = found.transpose()?.flatten() {
                        return Ok(vec![found]);
                    }
                }
            }
            let own = self.steps.get(step);
            let own = own.and_then(|step| step.schemas.output.as_deref());
            let found = own.and_then(|text| {
                with_schema(text, &mut self.budget, |schema, budget| match schema {
                    Ok(schema) => link.mismatch(schema, &pointer, budget),
                    // The step of the schema is denied.
                    Err(_) => Ok(None),
                })
            });
            if let Some(found) = found.transpose()?.flatten() {
                return Ok(vec![found]);
            }
            match &producer.input {
                _ if !is_noop => return Ok(Vec::new()),
                Input::Literal(span) => return self.literal_part(*span, &pointer, link),
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

    /// Checks a part of a literal.
    fn literal_part(
        &mut self,
        span: Span,
        pointer: &str,
        link: Link<'a, '_>,
    ) -> Result<Vec<FlowMismatch<'a>>, OverBudget> {
        let text = span.of(self.text);
        // Each consumer reads the literal, so each is charged.
        self.budget.read(text)?;
        let read = JsonText::read(text);
        let Some(part) = read.as_ref().and_then(|read| read.root().at(pointer)) else {
            return Ok(vec![link.no_such_part(None)]);
        };
        self.budget.read(part.span().of(text))?;
        let found = denials(part, 0, link.consumer, &mut self.budget).into_iter();
        // `flow` denies the step of a schema that can't be used.
        let found =
            found.filter(|it| !matches!(it, InputDenial::Argument(ArgumentProblem::Unusable(_))));
        Ok(found
            .map(|denial| FlowMismatch::Input {
                step: link.step,
                denial,
                span: link.span,
            })
            .collect())
    }
}

impl<'a> Link<'a, '_> {
    fn no_such_part(self, nearest: Option<String>) -> FlowMismatch<'a> {
        FlowMismatch::NoSuchPart {
            step: self.step,
            pointer: &self.pointer.value,
            nearest,
            span: self.pointer.span,
        }
    }

    /// Compares a part of an output with every schema of the input.
    fn mismatch(self, producer: &Schema<'_>, pointer: &str, budget: &mut Budget) -> Mismatch<'a> {
        let Some(part) = producer.instance_location(pointer, budget)? else {
            return Ok(None);
        };
        if !part.is_possible() {
            // Behind a no-op the pointer is not the written one.
            let nearest = match pointer == self.pointer.value {
                true => producer.nearest_location(pointer, budget)?,
                false => None,
            };
            return Ok(Some(self.no_such_part(nearest)));
        }
        for schema in &self.consumer.schemas.known {
            let found = schema.with(|schema| self.fits(&part, schema, Types::ANY, budget));
            if let Some(found) = found.transpose()?.flatten() {
                return Ok(Some(found));
            }
        }
        let text = self.consumer.tool.and_then(|tool| tool.input.as_deref());
        let found = text.and_then(|text| {
            with_schema(text, budget, |schema, budget| match schema {
                // Arguments of tools are an object even if the schema is silent.
                Ok(schema) => self.fits(&part, schema, Types::OBJECT, budget),
                Err(_) => Ok(None),
            })
        });
        Ok(found.transpose()?.flatten())
    }

    fn fits(
        self,
        part: &InstanceLocation<'_, '_>,
        consumer: &Schema<'_>,
        accepted: Types,
        budget: &mut Budget,
    ) -> Mismatch<'a> {
        let Some(whole) = consumer.instance_location("", budget)? else {
            return Ok(None);
        };
        let wanted = whole.types().unwrap_or(Types::ANY).and(accepted);
        if let Some(is) = part.types()
            && is.and(wanted) == Types::NONE
        {
            return Ok(Some(FlowMismatch::Type {
                step: self.step,
                is,
                wanted,
                span: self.span,
            }));
        }
        // Requirements of objects don't apply to other values.
        if part.types() != Some(Types::OBJECT) && wanted != Types::OBJECT {
            return Ok(None);
        }
        for name in consumer.required_names(budget)? {
            if part.property(name, budget)? == PropertyStatus::Undeclared {
                return Ok(Some(FlowMismatch::NoProperty {
                    step: self.step,
                    name: name.to_owned(),
                    span: self.span,
                }));
            }
        }
        Ok(None)
    }
}
