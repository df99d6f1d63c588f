//! The schemas that the inputs and outputs of a step have to fit.

use super::{Decision, PlanPolicy, PlanReason};
use agent_json_schema::{Budget, Json, OverBudget, Schema, SchemaSet, Violation};
use agent_model::{Binding, Driver, PlanStep, ToolPool};
use agent_text::Spanned;

/// Schemas by the documents that have them.
#[derive(Debug)]
pub(super) struct Applicable<'r> {
    /// Each with its number in its set and what a rule of it is called by.
    pub(super) known: Vec<KnownSchema<'r>>,
    /// One that the step names and that there is not.
    missing: Option<&'r Spanned<String>>,
}

/// A schema of the pool or of the project.
#[derive(Debug, Clone)]
pub(super) struct KnownSchema<'r> {
    set: &'r SchemaSet,
    number: usize,
    /// What it is called.
    pub(super) name: String,
}

impl KnownSchema<'_> {
    /// Look at the schema. None: it can't be used, which a finding of its document says.
    pub(super) fn with<R>(&self, look: impl FnOnce(&Schema<'_>) -> R) -> Option<R> {
        self.set.with(self.number, look).ok()
    }

    /// All in which a value is not as it asks.
    pub(super) fn check(
        &self,
        value: Json<'_, '_>,
        budget: &mut Budget,
    ) -> Result<Vec<Violation>, OverBudget> {
        self.with(|schema| schema.check_json(value, budget))
            .unwrap_or(Ok(Vec::new()))
    }
}

/// Of what a schema is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Input,
    Output,
}

impl<'r> Applicable<'r> {
    /// The schemas for the input or the output of a step: of its binding, of the step itself, and
    /// of its driver. The error is the name of one that there is not.
    pub(super) fn of(
        rules: &'r PlanPolicy,
        pool: &'r ToolPool,
        step: &'r PlanStep,
        binding: &'r Binding,
        side: Side,
    ) -> Self {
        let (of_binding, member, of_step) = match side {
            Side::Input => (binding.input, "input_schema", &step.input_schema),
            Side::Output => (binding.output, "output_schema", &step.output_schema),
        };
        let mut known = Vec::new();
        known.extend(of_binding.map(|number| KnownSchema {
            set: &pool.schemas,
            number,
            name: format!("`{member}` of `{}/{}`", binding.connector, binding.tool),
        }));
        let driver = match (&binding.driver, side) {
            (Driver::Http { .. }, Side::Input) => Some("http_input"),
            (Driver::Http { .. }, Side::Output) => Some("http_output"),
            (Driver::RestrictedShell { .. }, Side::Input) => Some("restricted_shell_input"),
            (Driver::RestrictedShell { .. }, Side::Output) => Some("restricted_shell_output"),
            (Driver::Noop | Driver::McpProxy { .. }, _) => None,
        };
        known.extend(driver.and_then(|name| {
            let name = format!("ds.mova_agent_tool_pool_v1#/$defs/{name}");
            let (set, number) = rules.library().schema(&name)?;
            Some(KnownSchema { set, number, name })
        }));
        let mut missing = None;
        if let Some(wanted) = of_step {
            let of_pool = pool.schema(&wanted.value).map(|it| (&pool.schemas, it));
            match of_pool.or_else(|| rules.library().schema_at(&wanted.value)) {
                Some((set, number)) => known.push(KnownSchema {
                    set,
                    number,
                    name: format!("`{}`", wanted.value),
                }),
                None => missing = Some(wanted),
            }
        }
        Self { known, missing }
    }
}

impl<'a> Decision<'a> {
    /// The schemas for the input of a step. That one of a step's schemas is not there is denied,
    /// and so is that of the output.
    pub(super) fn applicable(
        &mut self,
        number: usize,
        step: &'a PlanStep,
        pool: &'a ToolPool,
        binding: &'a Binding,
    ) -> Applicable<'a> {
        let [input, output] = [Side::Input, Side::Output]
            .map(|side| Applicable::of(self.rules, pool, step, binding, side));
        for (member, missing) in [
            ("input_schema_ref", input.missing),
            ("output_schema_ref", output.missing),
        ] {
            if let Some(wanted) = missing {
                let reason = PlanReason::NoSchema {
                    member,
                    name: &wanted.value,
                    span: wanted.span,
                };
                self.deny(number, reason);
            }
        }
        input
    }
}
