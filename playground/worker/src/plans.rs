//! The session of the page of plans.

use crate::evaluator::{self, Policy};
use crate::inputs::Read;
use agent_api::answer::{Diagnostic, DocumentKind, Grounding, PlanDecision};
use agent_api::decide::{CallContext, EvaluationContext, PlanContext, PlanPolicy, PolicyEngine};
use agent_api::lower::{self, Validated};
use agent_api::model::{self, CallPlan, Index, Lock, Payload, Plan, Summary, ToolsSnapshot};
use agent_api::{CallAnswer, GroundingAnswer, PlanAnswer};
use agent_worker_protocol::Texts;
use agent_worker_protocol::plans::{About, Answer, Request, RequestKind};
use std::sync::Arc;

/// Keeps the inputs from one question to the next.
#[derive(Default)]
pub struct Session {
    plan: Option<Arc<Validated<Plan>>>,
    tool_pool: String,
    profile: String,
    /// Tool pool and profile, read again when one of them changes.
    plan_policy: Option<Arc<PlanPolicy>>,
    request: Option<Validated<model::Request>>,
    call: Read<CallPlan>,
    lock: Read<Lock>,
    index: Read<Index>,
    catalogue: Read<ToolsSnapshot>,
    /// The policy that the lock names.
    policy: Read<Policy>,
    summary: Read<Summary>,
    payload: Read<Payload>,
    /// The texts of a run, which reads them itself.
    #[cfg(feature = "run")]
    documents: agent_run::Documents,
}

impl Session {
    /// Describes the engine.
    pub fn about() -> About {
        About {
            version: agent_api::VERSION.to_owned(),
        }
    }

    /// Answers a question.
    pub fn answer(&mut self, texts: Texts, request: Request) -> Answer {
        let plan_policy_changed =
            texts.has(DocumentKind::ToolPool) || texts.has(DocumentKind::Profile);
        for (number, text) in texts.0 {
            #[cfg(feature = "run")]
            self.keep(number, &text);
            self.read(number, text);
        }
        if plan_policy_changed {
            let [pool, profile] = [&self.tool_pool, &self.profile];
            let [pool, profile] = [pool, profile].map(|text| text.clone().into_bytes());
            self.plan_policy = Some(Arc::new(PlanPolicy::new(pool, profile, None)));
        }
        match request.kind {
            #[cfg(feature = "run")]
            RequestKind::Plan if let Some(run) = &request.run => {
                let decision = self.plan();
                let view = crate::run::replay(&self.documents, run, &decision.steps);
                Answer::Run(decision, Box::new(view))
            }
            RequestKind::Plan => Answer::Plan(self.plan()),
            RequestKind::Call => Answer::Call(self.call()),
            RequestKind::Grounding => Answer::Grounding(self.grounding()),
        }
    }

    /// Keeps a changed text for runs. A blank one, unless it is required, counts as absent.
    #[cfg(feature = "run")]
    fn keep(&mut self, number: u32, text: &str) {
        let documents = &mut self.documents;
        let is = |kind| kind as u32 == number;
        let required = || Some(text.as_bytes().to_vec());
        let optional = || required().filter(|_| !text.trim().is_empty());
        if is(DocumentKind::Plan) {
            documents.plan = required();
        } else if is(DocumentKind::ToolPool) {
            documents.tool_pool = required();
        } else if is(DocumentKind::Profile) {
            documents.profile = required();
        } else if is(DocumentKind::Request) {
            documents.request = optional();
        } else if is(DocumentKind::Lock) {
            documents.lock = optional();
        } else if is(DocumentKind::Index) {
            documents.index = optional();
        } else if is(DocumentKind::Policy) {
            documents.policy = optional();
        }
    }

    /// Reads a changed text, by its number.
    fn read(&mut self, number: u32, text: String) {
        let is = |kind| kind as u32 == number;
        if is(DocumentKind::Plan) {
            self.plan = Some(Arc::new(lower::plan(text.into_bytes())));
        } else if is(DocumentKind::ToolPool) {
            self.tool_pool = text;
        } else if is(DocumentKind::Profile) {
            self.profile = text;
        } else if is(DocumentKind::Request) {
            let given = !text.trim().is_empty();
            self.request = given.then(|| lower::request(text.into_bytes()));
        } else if is(DocumentKind::Call) {
            self.call = lower::call_plan(text.into_bytes()).into();
        } else if is(DocumentKind::Lock) {
            self.lock = Read::optional(text, lower::lock);
        } else if is(DocumentKind::Index) {
            // The previous index makes room: memory might not hold two large ones.
            self.index = Read::default();
            self.index = Read::optional(text, lower::index);
        } else if is(DocumentKind::Catalogue) {
            self.catalogue = Read::optional(text, lower::tools_snapshot);
        } else if is(DocumentKind::Policy) {
            self.policy = Read::optional(text, evaluator::read);
        } else if is(DocumentKind::Summary) {
            self.summary = lower::summary(text.into_bytes()).into();
        } else if is(DocumentKind::Payload) {
            self.payload = lower::payload(text.into_bytes()).into();
        }
    }

    /// Returns whether a document that plans are decided against has errors.
    fn refused(&self) -> bool {
        self.lock.refused() || self.catalogue.refused() || self.policy.refused()
    }

    fn evaluation_context(&self) -> Option<EvaluationContext> {
        let policy = Arc::clone(self.policy.value.as_ref()?);
        Some(EvaluationContext {
            policy: Some(policy as Arc<dyn PolicyEngine>),
            ..EvaluationContext::default()
        })
    }

    fn plan(&self) -> PlanDecision {
        let mut diagnostics = all([
            &self.lock.problems,
            &self.index.problems,
            &self.catalogue.problems,
            &self.policy.problems,
        ]);
        let evaluation_context = self.evaluation_context();
        let mut decided = match (&self.plan, &self.plan_policy) {
            (Some(plan), Some(plan_policy)) if !self.refused() && !self.index.refused() => {
                let context = PlanContext {
                    evaluation_context: evaluation_context.as_ref(),
                    request: self.request.as_ref(),
                    index: self.index.value.as_deref(),
                    lock: self.lock.value.as_deref(),
                    catalogue: self.catalogue.value.as_deref(),
                };
                PlanAnswer::new(plan, plan_policy, context).data()
            }
            _ => PlanDecision::default(),
        };
        diagnostics.append(&mut decided.diagnostics);
        PlanDecision {
            diagnostics,
            ..decided
        }
    }

    fn call(&self) -> PlanDecision {
        let mut diagnostics = all([
            &self.call.problems,
            &self.lock.problems,
            &self.index.problems,
            &self.catalogue.problems,
            &self.policy.problems,
        ]);
        if self.index.value.is_none() && !self.index.refused() {
            // The index is required. An empty one has the errors of a missing one.
            diagnostics.extend(lower::index(Vec::new()).err().into_iter().flatten());
        }
        let evaluation_context = self.evaluation_context();
        let decided = match (&self.call.value, &self.index.value) {
            (Some(plan), Some(index)) if !self.refused() => {
                let context = CallContext {
                    evaluation_context: evaluation_context.as_ref(),
                    index,
                    lock: self.lock.value.as_deref(),
                    catalogue: self.catalogue.value.as_deref(),
                };
                CallAnswer::new(plan, context).data()
            }
            _ => PlanDecision::default(),
        };
        PlanDecision {
            diagnostics,
            ..decided
        }
    }

    fn grounding(&self) -> Grounding {
        let decided = match (&self.summary.value, &self.payload.value) {
            (Some(summary), Some(payload)) => GroundingAnswer::new(summary, payload).data(),
            _ => Grounding::default(),
        };
        Grounding {
            diagnostics: all([&self.summary.problems, &self.payload.problems]),
            ..decided
        }
    }
}

fn all<const N: usize>(problems: [&Vec<Diagnostic>; N]) -> Vec<Diagnostic> {
    problems.map(Vec::as_slice).concat()
}
