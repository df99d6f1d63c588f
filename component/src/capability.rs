//! `agent:engine/capability`

use crate::Component;
use crate::bindings::exports::agent::engine::capability::{
    self, Diagnostic, Guest, GuestCircumstances, GuestHealth, GuestMatching, GuestTask,
    GuestTenant, HealthBorrow, IndexBorrow, ManifestBorrow, Notation, Requirement,
    ResolutionBorrow, TaskBorrow, TenantBorrow, ToolOutcome,
};
use crate::convert::{all, strings};
use crate::inputs::{Index, Manifest};
use crate::resolver::Resolution;
use agent_api::lower::{self, Checked};
use agent_api::model::{self, Name};
use agent_api::{self as api, decide, diagnostic, explain, render};
use std::sync::Arc;

/// A task and its warnings.
pub(crate) struct Task {
    value: Arc<model::Task>,
    warnings: Vec<diagnostic::Diagnostic>,
}

/// The configuration of a tenant and its warnings.
pub(crate) struct Tenant {
    pub(crate) value: Arc<model::Tenant>,
    warnings: Vec<diagnostic::Diagnostic>,
}

/// A snapshot of health.
pub(crate) struct Health(Arc<model::Health>);

/// What requirements are decided under.
pub(crate) struct EvaluationContext(pub(crate) decide::EvaluationContext);

/// The answers to requirements of capabilities.
pub(crate) struct Matching(pub(crate) Arc<decide::Matching>);

impl Guest for Component {
    type Task = Task;
    type Tenant = Tenant;
    type Health = Health;
    type EvaluationContext = EvaluationContext;
    type Matching = Matching;

    fn resolve(
        manifest: ManifestBorrow<'_>,
        index: IndexBorrow<'_>,
        evaluation_context: capability::CircumstancesBorrow<'_>,
    ) -> Result<capability::Resolution, Vec<Diagnostic>> {
        let manifest = &manifest.get::<Manifest>().value;
        let evaluation_context = &evaluation_context.get::<EvaluationContext>().0;
        let resolution = api::resolve(
            Arc::clone(manifest),
            Arc::clone(&index.get::<Index>().value),
            evaluation_context.clone(),
        );
        let resolution = resolution.map_err(all)?;
        Ok(capability::Resolution::new(Resolution(resolution)))
    }
}

impl GuestTask for Task {
    fn parse(text: Vec<u8>, notation: Notation) -> Result<capability::Task, Vec<Diagnostic>> {
        let Checked { value, warnings } = lower::task(text, notation.into()).map_err(all)?;
        Ok(capability::Task::new(Self {
            value: Arc::new(value),
            warnings,
        }))
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        all(self.warnings.iter().cloned())
    }
}

impl GuestTenant for Tenant {
    fn parse(
        text: Vec<u8>,
        notation: Notation,
        id: Option<String>,
    ) -> Result<capability::Tenant, Vec<Diagnostic>> {
        let Checked { value, warnings } =
            lower::tenant(text, notation.into(), id.as_deref()).map_err(all)?;
        Ok(capability::Tenant::new(Self {
            value: Arc::new(value),
            warnings,
        }))
    }

    fn policy(&self) -> Option<String> {
        self.value
            .policy
            .as_ref()
            .map(|policy| policy.value.clone())
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        all(self.warnings.iter().cloned())
    }
}

impl GuestHealth for Health {
    fn parse(text: Vec<u8>, notation: Notation) -> Result<capability::Health, Vec<Diagnostic>> {
        let health = lower::health(text, notation.into()).map_err(all)?;
        Ok(capability::Health::new(Self(Arc::new(health.value))))
    }
}

impl GuestCircumstances for EvaluationContext {
    fn new(
        task: Option<TaskBorrow<'_>>,
        tenant: Option<TenantBorrow<'_>>,
        health: Option<HealthBorrow<'_>>,
    ) -> Self {
        Self(decide::EvaluationContext {
            task: task.map(|task| Arc::clone(&task.get::<Task>().value)),
            tenant: tenant.map(|tenant| Arc::clone(&tenant.get::<Tenant>().value)),
            health: health.map(|health| Arc::clone(&health.get::<Health>().0)),
            ..decide::EvaluationContext::default()
        })
    }
}

impl GuestMatching for Matching {
    fn decide(
        manifest: Option<ManifestBorrow<'_>>,
        index: IndexBorrow<'_>,
        evaluation_context: capability::CircumstancesBorrow<'_>,
    ) -> Result<capability::Matching, Vec<Diagnostic>> {
        let manifest = manifest.as_ref().map(|it| &it.get::<Manifest>().value);
        let evaluation_context = &evaluation_context.get::<EvaluationContext>().0;
        let matching = api::match_tools(
            manifest.cloned(),
            Arc::clone(&index.get::<Index>().value),
            evaluation_context.clone(),
        );
        let matching = matching.map_err(all)?;
        Ok(capability::Matching::new(Self(Arc::new(matching))))
    }

    fn of_resolution(resolution: ResolutionBorrow<'_>) -> capability::Matching {
        let matching = resolution.get::<Resolution>().0.matching();
        capability::Matching::new(Self(Arc::clone(matching)))
    }

    fn satisfied(&self) -> bool {
        self.0.satisfied()
    }

    fn outcomes(&self) -> Vec<ToolOutcome> {
        self.0
            .requirements()
            .enumerate()
            .map(|(number, requirement)| ToolOutcome {
                requirement: Requirement {
                    verb: requirement.capability.verb.into(),
                    resource: requirement.capability.resource.to_string(),
                    constraints: strings(
                        requirement.capability.constraints.iter().map(Name::as_str),
                    ),
                    load: requirement.load.into(),
                    place: self.0.place(number, requirement.span).into(),
                },
                selected: self.0.selection(number).as_ref().map(Into::into),
                needs_approval: self
                    .0
                    .selected(number)
                    .is_some_and(|tool| self.0.needs_approval(number, tool)),
            })
            .collect()
    }

    fn diagnostics(&self) -> Vec<Diagnostic> {
        all(explain::unmatched(&self.0))
    }

    fn explanation(&self) -> Result<String, Diagnostic> {
        render::matching(&self.0).map_err(|problem| (*problem).into())
    }
}
