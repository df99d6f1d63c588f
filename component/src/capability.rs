//! `agent:engine/capability`

use crate::Component;
use crate::bindings::exports::agent::engine::capability::{
    self, Diagnostic, Guest, GuestEvaluationContext, GuestHealth, GuestMatching, GuestTask,
    GuestTenant, HealthBorrow, IndexBorrow, ManifestBorrow, Notation, Requirement,
    ResolutionBorrow, SelectedTool, TaskBorrow, TenantBorrow, ToolOutcome,
};
use crate::convert::{all, strings};
use crate::inputs::{Document, Index, Manifest};
use crate::resolver::Resolution;
use agent_api::model::{self, Name};
use agent_api::{self as api, decide, explain, lower, render};
use std::sync::Arc;

pub(crate) type Task = Document<model::Task>;
pub(crate) type Tenant = Document<model::Tenant>;

/// A snapshot of server health.
pub(crate) struct Health(Arc<model::Health>);

/// The task, tenant, health and policy that a decision depends on.
pub(crate) struct EvaluationContext(pub(crate) decide::EvaluationContext);

/// The outcomes of required capabilities.
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
        evaluation_context: capability::EvaluationContextBorrow<'_>,
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
        let checked = lower::task(text, notation.into()).map_err(all)?;
        Ok(capability::Task::new(Self::from(checked)))
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
        let checked = lower::tenant(text, notation.into(), id.as_deref()).map_err(all)?;
        Ok(capability::Tenant::new(Self::from(checked)))
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

impl GuestEvaluationContext for EvaluationContext {
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

impl Matching {
    /// Returns the selected tools, and the fallback.
    fn selected(&self, requirement: usize) -> (Vec<SelectedTool>, Option<SelectedTool>) {
        let selections = self.0.selections(requirement).unwrap_or_default();
        let tools = self.0.selected_tools(requirement).into_iter();
        let tools = tools.chain(self.0.fallback(requirement));
        let mut selected = selections
            .iter()
            .zip(tools)
            .map(|(selection, tool)| SelectedTool {
                selection: selection.into(),
                needs_approval: self.0.needs_approval(requirement, tool),
            });
        let firsts = selections.iter().filter(|it| !it.is_fallback()).count();
        (selected.by_ref().take(firsts).collect(), selected.next())
    }
}

impl GuestMatching for Matching {
    fn decide(
        manifest: Option<ManifestBorrow<'_>>,
        index: IndexBorrow<'_>,
        evaluation_context: capability::EvaluationContextBorrow<'_>,
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
            .map(|(number, requirement)| {
                let (selected, fallback) = self.selected(number);
                ToolOutcome {
                    requirement: Requirement {
                        verb: requirement.capability.verb.into(),
                        resource: requirement.capability.resource.to_string(),
                        constraints: strings(
                            requirement.capability.constraints.iter().map(Name::as_str),
                        ),
                        load: requirement.load.into(),
                        fallback: requirement.fallback.is_some(),
                        place: self.0.place(number, requirement.span).into(),
                    },
                    selected,
                    fallback,
                }
            })
            .collect()
    }

    fn diagnostics(&self) -> Vec<Diagnostic> {
        all(explain::matching_diagnostics(&self.0))
    }

    fn explanation(&self) -> Result<String, Diagnostic> {
        render::matching(&self.0).map_err(|problem| (*problem).into())
    }
}
