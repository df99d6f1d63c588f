//! The schemas that apply to the input and the output of a step.

use super::policy::PlanPolicy;
use agent_json_schema::{Budget, Json, OverBudget, Schema, SchemaSet, Violation};
use agent_model::{Binding, PlanStep, ToolPool};
use agent_text::Spanned;

/// The schemas that apply to one side of a step.
#[derive(Debug)]
pub(super) struct Applicable<'r> {
    pub(super) known: Vec<KnownSchema<'r>>,
    /// The unknown schema that the step names, if any.
    pub(super) missing: Option<&'r Spanned<String>>,
}

/// A schema of the pool or of the project.
#[derive(Debug, Clone)]
pub(super) struct KnownSchema<'r> {
    set: &'r SchemaSet,
    number: usize,
    /// The name in messages.
    pub(super) name: String,
}

impl KnownSchema<'_> {
    /// Calls `f` with the schema. Returns `None` if the schema can't be used, which a finding of its
    /// document reports.
    pub(super) fn with<R>(&self, f: impl FnOnce(&Schema<'_>) -> R) -> Option<R> {
        self.set.with(self.number, f).ok()
    }

    /// Validates a value.
    pub(super) fn check(
        &self,
        value: Json<'_, '_>,
        budget: &mut Budget,
    ) -> Result<Vec<Violation>, OverBudget> {
        self.with(|schema| schema.check_json(value, budget))
            .unwrap_or(Ok(Vec::new()))
    }
}

/// The side of a step that a schema applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Input,
    Output,
}

impl<'r> Applicable<'r> {
    /// Returns the schemas for one side of a step: of its binding, of its driver, and of the step.
    pub(super) fn of(
        rules: &'r PlanPolicy,
        pool: &'r ToolPool,
        step: &'r PlanStep,
        binding: &'r Binding,
        side: Side,
    ) -> Self {
        let (of_binding, word, of_step) = match side {
            Side::Input => (binding.input, "input", &step.input_schema),
            Side::Output => (binding.output, "output", &step.output_schema),
        };
        let mut known = Vec::new();
        known.extend(of_binding.map(|number| KnownSchema {
            set: &pool.schemas,
            number,
            name: format!(
                "`{word}_schema` of `{}/{}`",
                binding.connector, binding.tool
            ),
        }));
        let driver = binding.driver.kind().schemas();
        known.extend(driver.and_then(|driver| {
            let name = format!("ds.mova_agent_tool_pool_v1#/$defs/{driver}_{word}");
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

    /// Returns whether one of them can't be used.
    pub(super) fn is_unusable(&self) -> bool {
        self.known.iter().any(|it| it.with(|_| ()).is_none())
    }
}
