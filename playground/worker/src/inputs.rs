//! The inputs, each read when it changes.

use crate::evaluator::{self, Policy};
use agent_api::answer::{self, DocumentKind, Verdict};
use agent_api::decide::{EvaluationContext, PolicyEngine, Resolution};
use agent_api::diagnostic::Diagnostic;
use agent_api::lower::{self, Lowered, Notation};
use agent_api::model::{Context, Health, Index, Manifest, Task, Tenant};
use agent_api::{LockText, resolve};
use agent_worker_protocol::Texts;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A text that was read.
pub(crate) struct Read<T> {
    /// `None` if the text has errors, or was not given.
    pub(crate) value: Option<Arc<T>>,
    pub(crate) problems: Vec<Diagnostic>,
}

impl<T> Default for Read<T> {
    fn default() -> Self {
        Self {
            value: None,
            problems: Vec::new(),
        }
    }
}

impl<T> From<Lowered<T>> for Read<T> {
    fn from(lowered: Lowered<T>) -> Self {
        match lowered {
            Ok(checked) => Self {
                value: Some(Arc::new(checked.value)),
                problems: checked.warnings,
            },
            Err(problems) => Self {
                value: None,
                problems,
            },
        }
    }
}

impl<T> Read<T> {
    /// Reads an optional text. A blank one counts as absent.
    pub(crate) fn optional(text: String, read: impl FnOnce(Vec<u8>) -> Lowered<T>) -> Self {
        if text.trim().is_empty() {
            Self::default()
        } else {
            read(text.into_bytes()).into()
        }
    }

    /// Returns whether the text was given and has errors.
    pub(crate) fn refused(&self) -> bool {
        self.value.is_none() && !self.problems.is_empty()
    }
}

/// A manifest, an index, a lock and an evaluation context.
#[derive(Default)]
pub struct Inputs {
    pub(crate) manifest: Read<Manifest>,
    pub(crate) index: Read<Index>,
    /// Whether another module would find more ids of the index that look alike.
    misses_lookalikes: bool,
    pub(crate) lock: Read<LockText>,
    task: Read<Task>,
    tenant: Read<Tenant>,
    /// Read again when the id of the tenant changes.
    tenants: String,
    tenant_id: String,
    pub(crate) health: Read<Health>,
    pub(crate) policy: Read<Policy>,
    context: Read<Context>,
    /// The requirements of the task that the manifest forbids.
    contradictions: Vec<Diagnostic>,
    /// The definitions of locked tools in the indexes so far, by their digests.
    definitions: BTreeMap<String, String>,
}

impl Inputs {
    /// Reads those texts that are given; the others stay as they were.
    pub(crate) fn read(&mut self, mut texts: Texts) {
        let tenant_id = texts.take(Texts::TENANT_ID);
        let mut given = |kind| texts.take(kind as u32);
        if let Some(text) = given(DocumentKind::Manifest) {
            self.manifest = lower::manifest(text.into_bytes()).into();
        }
        if let Some(text) = given(DocumentKind::Index) {
            // The previous index makes room: memory might not hold two large ones.
            self.index = Read::default();
            self.index = lower::index(text.into_bytes()).into();
            let index = self.index.value.as_deref();
            self.misses_lookalikes = index.is_some_and(lower::misses_lookalikes);
        }
        if let Some(text) = given(DocumentKind::Lock) {
            self.lock = Read::optional(text, LockText::read);
        }
        let by_content = Notation::ByContent;
        if let Some(text) = given(DocumentKind::Task) {
            self.task = Read::optional(text, |bytes| lower::task(bytes, by_content));
        }
        let tenants = given(DocumentKind::Tenant);
        if tenants.is_some() || tenant_id.is_some() {
            self.tenants = tenants.unwrap_or_else(|| std::mem::take(&mut self.tenants));
            self.tenant_id = tenant_id.unwrap_or_else(|| std::mem::take(&mut self.tenant_id));
            let id = Some(self.tenant_id.trim()).filter(|id| !id.is_empty());
            self.tenant = Read::optional(self.tenants.clone(), |bytes| {
                lower::tenant(bytes, by_content, id)
            });
        }
        if let Some(text) = given(DocumentKind::Health) {
            self.health = Read::optional(text, |bytes| lower::health(bytes, by_content));
        }
        if let Some(text) = given(DocumentKind::Policy) {
            self.policy = Read::optional(text, evaluator::read);
        }
        if let Some(text) = given(DocumentKind::Context) {
            self.context = Read::optional(text, |bytes| lower::context(bytes, by_content));
        }
        self.contradictions = match (&self.manifest.value, &self.task.value) {
            (Some(manifest), Some(task)) => lower::contradictions(manifest, task),
            _ => Vec::new(),
        };
    }

    /// Returns whether another module would find more problems.
    pub(crate) fn is_partial(&self) -> bool {
        let tenant = self.tenant.value.as_deref();
        self.misses_lookalikes || tenant.is_some_and(lower::misses_history)
    }

    /// Returns the problems of all texts.
    pub(crate) fn problems(&self) -> Vec<Diagnostic> {
        [
            &self.manifest.problems,
            &self.index.problems,
            &self.lock.problems,
            &self.task.problems,
            &self.contradictions,
            &self.tenant.problems,
            &self.health.problems,
            &self.policy.problems,
            &self.context.problems,
        ]
        .map(Vec::as_slice)
        .concat()
    }

    /// Returns the evaluation context, if it has no errors.
    fn evaluation_context(&self) -> Option<EvaluationContext> {
        let refused = self.task.refused()
            || self.tenant.refused()
            || self.health.refused()
            || self.policy.refused()
            || self.context.refused();
        let policy = self.policy.value.clone();
        (!refused).then(|| EvaluationContext {
            task: self.task.value.clone(),
            tenant: self.tenant.value.clone(),
            health: self.health.value.clone(),
            policy: policy.map(|policy| policy as Arc<dyn PolicyEngine>),
            context: self.context.value.clone(),
            subject: None,
        })
    }

    /// Resolves the manifest against the index, if they and the evaluation context have no errors.
    pub(crate) fn resolve(&self) -> Option<Resolution> {
        let manifest = Arc::clone(self.manifest.value.as_ref()?);
        let index = Arc::clone(self.index.value.as_ref()?);
        resolve(manifest, index, self.evaluation_context()?).ok()
    }

    /// Shows the policy at work for a requirement, also with a value of its input that is tried.
    pub(crate) fn policy_view(
        &self,
        resolution: &Resolution,
        requirement: u32,
        tried: &str,
    ) -> Option<Vec<u8>> {
        let policy = self.policy.value.as_deref()?;
        evaluator::policy_view(policy, resolution, requirement, tried)
    }

    /// Returns the problems of all texts, and rules of the policy without effect.
    fn remarked_problems(&self, resolution: Option<&Resolution>) -> Vec<Diagnostic> {
        let mut problems = self.problems();
        if let Some((policy, resolution)) = self.policy.value.as_deref().zip(resolution) {
            problems.append(&mut evaluator::remarks(policy, resolution));
        }
        problems
    }

    /// Returns all problems as SARIF.
    pub(crate) fn report(&self, resolution: Option<&Resolution>) -> Option<String> {
        evaluator::report(&answer::problems(
            self.remarked_problems(resolution),
            resolution,
        ))
    }

    /// Describes the inputs and the decision about them, if there is one.
    pub(crate) fn verdict(&mut self, resolution: Option<&Resolution>) -> Verdict {
        let problems = self.remarked_problems(resolution);
        let inputs = answer::Inputs {
            manifest: self.manifest.value.as_deref(),
            index: self.index.value.as_deref(),
            lock: self.lock.value.as_deref(),
            problems,
            definitions: Some(&mut self.definitions),
        };
        answer::verdict(inputs, resolution)
    }
}
