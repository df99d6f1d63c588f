//! The documents of a run: reading them is its first state.

use agent_api::decide::{EvaluationContext, PlanPolicy, PolicyEngine};
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::lower::{self, Lowered, Notation, Validated, live_context};
use agent_api::model::{Context, Index, Lock, Plan, Request};
use agent_api::policy;
use agent_api::schema::Library;
use agent_api::text::hexadecimal;
use agent_record::Clock;
use agent_record::{Redactor, mark_in};
use agent_syntax::json::{Writer, parse_strict};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The documents of a run, as bytes. An absent document is `None`.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    /// `env.mova_agent_plan_v1`
    pub plan: Option<Vec<u8>>,
    /// `env.mova_agent_request_v1`
    pub request: Option<Vec<u8>>,
    /// `ds.mova_agent_tool_pool_v1`
    pub tool_pool: Option<Vec<u8>>,
    /// `ds.instruction_profile_core_v1`
    pub profile: Option<Vec<u8>>,
    /// `agents.lock`
    pub lock: Option<Vec<u8>>,
    /// `mcp.index.json`
    pub index: Option<Vec<u8>>,
    /// The task.
    pub task: Option<Vec<u8>>,
    /// The configuration of tenants.
    pub tenant: Option<Vec<u8>>,
    /// The tenant, if the configuration has several.
    pub tenant_id: Option<String>,
    /// The policy.
    pub policy: Option<Vec<u8>>,
    /// The policy's context.
    pub policy_context: Option<Vec<u8>>,
    /// MOVA's core schemas by name, instead of the project's own; empty for the own ones.
    pub mova: Vec<(String, Vec<u8>)>,
    /// The goal to plan for, instead of a plan and a request.
    pub goal: Option<Goal>,
    /// A summary of the payload of [`Mode::Ask`](super::Mode::Ask).
    pub summary: Option<Vec<u8>>,
}

/// What a planner shall plan for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Goal {
    /// The goal or the query, in the words of the requester.
    pub text: String,
    /// Facts in addition to it: a JSON object.
    pub context: Option<Vec<u8>>,
    /// The name of the planner.
    pub planner: String,
}

/// The documents of a run, as they were read.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) plan: Arc<Validated<Plan>>,
    pub(crate) request: Option<Validated<Request>>,
    pub(crate) rules: Arc<PlanPolicy>,
    pub(crate) index: Option<Index>,
    pub(crate) lock: Option<Lock>,
    evaluation_context: EvaluationContext,
    /// The problems of the documents that are not part of the plan.
    pub(crate) unreadable: Vec<Diagnostic>,
    pub(crate) snapshots: Snapshots,
    /// Whether a planner made the plan, after the documents were stored.
    pub(crate) is_planned: bool,
    /// The given summary of a payload.
    pub(crate) summary: Option<Vec<u8>>,
}

/// The four documents as evidence keeps them, before redaction.
#[derive(Debug)]
pub(crate) struct Snapshots {
    pub(crate) request: String,
    pub(crate) plan: String,
    pub(crate) tool_pool: String,
    pub(crate) profile: String,
    /// Without a readable `request_id`, the name in its place.
    pub(crate) unknown_request: String,
}

/// Reads every document. A core of MOVA that can't be used is a problem like an unreadable lock: the plan is
/// refused, and what evidence says of it goes by the project's own equivalents.
pub(crate) fn read(documents: Documents, redactor: &Redactor) -> Read {
    let snapshots = Snapshots {
        request: snapshot(documents.request.as_deref(), redactor),
        plan: snapshot(documents.plan.as_deref(), redactor),
        tool_pool: snapshot(documents.tool_pool.as_deref(), redactor),
        profile: snapshot(documents.profile.as_deref(), redactor),
        unknown_request: unknown_request(documents.plan.as_deref().unwrap_or_default()),
    };
    let mut unreadable = Vec::new();
    let library = match documents.mova {
        core if core.is_empty() => None,
        core => match Library::with_core(core) {
            Ok(library) => Some(Arc::new(library)),
            Err(errors) => {
                unreadable.extend(errors.iter().map(|error| {
                    let message = format!("MOVA's core can't be used: {error}");
                    Diagnostic::new(Code::SchemaInvalid, message)
                }));
                None
            }
        },
    };
    let rules = PlanPolicy::new(
        documents.tool_pool.unwrap_or_default(),
        documents.profile.unwrap_or_default(),
        library,
    );
    let index = value(documents.index.map(lower::index), &mut unreadable);
    let lock = value(documents.lock.map(lower::lock), &mut unreadable);
    let by_content = |read: fn(Vec<u8>, Notation) -> _| move |it| read(it, Notation::ByContent);
    let task = value(documents.task.map(by_content(lower::task)), &mut unreadable);
    let tenant_id = documents.tenant_id.as_deref();
    let tenant = documents
        .tenant
        .map(|it| lower::tenant(it, Notation::ByContent, tenant_id));
    let tenant = value(tenant, &mut unreadable);
    let context = documents
        .policy_context
        .map(|it| lower::context(it, Notation::ByContent));
    let context = value(context, &mut unreadable);
    let policy = value(documents.policy.map(policy::read), &mut unreadable);
    Read {
        plan: Arc::new(lower::plan(documents.plan.unwrap_or_default())),
        request: documents.request.map(lower::request),
        rules: Arc::new(rules),
        index,
        lock,
        evaluation_context: EvaluationContext {
            task: task.map(Arc::new),
            tenant: tenant.map(Arc::new),
            health: None,
            policy: policy.map(|it| Arc::new(it) as Arc<dyn PolicyEngine>),
            context: context.map(Arc::new),
            subject: None,
        },
        unreadable,
        snapshots,
        is_planned: false,
        summary: documents.summary,
    }
}

impl Read {
    /// Takes the plan that a planner made.
    pub(crate) fn set_plan(&mut self, plan: Vec<u8>, redactor: &Redactor) {
        self.is_planned = true;
        self.snapshots.plan = snapshot(Some(&plan), redactor);
        self.plan = Arc::new(lower::plan(plan));
    }

    /// Takes the request that was made for a goal.
    pub(crate) fn set_request(&mut self, request: String, redactor: &Redactor) {
        self.snapshots.request = snapshot(Some(request.as_bytes()), redactor);
        self.request = Some(lower::request(request.into_bytes()));
    }

    /// Takes another tool pool.
    pub(crate) fn set_pool(&mut self, pool: String, redactor: &Redactor) {
        self.snapshots.tool_pool = snapshot(Some(pool.as_bytes()), redactor);
        self.rules = Arc::new(self.rules.with(Some(pool.into_bytes()), None));
    }

    /// Returns the problems of documents with marks of secrets: evidence of a run, which is not
    /// what its writer decided on. A mark in a plan would be an input, and one in a schema would accept
    /// everything.
    pub(crate) fn redacted(&self) -> Vec<Diagnostic> {
        let texts = [
            (&self.plan.text, "plan"),
            (&self.rules.pool.text, "tool pool"),
            (&self.rules.profile.text, "profile"),
        ];
        let marked = texts.into_iter().filter_map(|(text, document)| {
            let mark = mark_in(&parse_strict(text.as_str())?)?;
            let message = format!("the {document} is redacted: it has a mark in place of a secret");
            let help = format!("run the {document} as it was written, not as evidence keeps it");
            let found = Diagnostic::new(Code::MovaValidationFailed, message)
                .label(text.place(mark), "the mark")
                .help(help);
            Some(Diagnostic {
                rule: Some("evidence keeps no secrets".to_owned()),
                ..found
            })
        });
        marked.collect()
    }

    /// Returns the context in which a policy decides at a time, if there is a policy \[4\].
    pub(crate) fn live_context(&self, now: Clock) -> Option<Context> {
        let given = self.evaluation_context.context.as_deref();
        let policy = self.evaluation_context.policy.as_ref();
        policy.map(|_| live_context(given, &now.local_time()))
    }

    /// Returns what a policy was asked with, in a recorded context.
    pub(crate) fn recorded_context(&self, json: Option<String>) -> EvaluationContext {
        let given = self.evaluation_context.clone();
        match json {
            Some(json) => EvaluationContext {
                context: Some(Arc::new(Context { json })),
                ..given
            },
            None => given,
        }
    }

    /// Returns what a policy is asked with at a time.
    pub(crate) fn evaluation_context(&self, now: Clock) -> EvaluationContext {
        let given = self.evaluation_context.clone();
        match self.live_context(now) {
            Some(live) => EvaluationContext {
                context: Some(Arc::new(live)),
                ..given
            },
            None => given,
        }
    }
}

fn value<T>(read: Option<Lowered<T>>, unreadable: &mut Vec<Diagnostic>) -> Option<T> {
    match read? {
        Ok(checked) => Some(checked.value),
        Err(found) => {
            unreadable.extend(found);
            None
        }
    }
}

/// Returns a document as evidence keeps it: the text itself if it is strict JSON.
fn snapshot(bytes: Option<&[u8]>, redactor: &Redactor) -> String {
    let Some(bytes) = bytes else {
        return one_object(|w| w.key("absent").bool(true));
    };
    let text = core::str::from_utf8(bytes).ok();
    match text.filter(|text| redactor.json(text).is_some()) {
        Some(text) => text.to_owned(),
        None => one_object(|w| {
            w.key("bytes").json(&bytes.len().to_string());
            w.key("sha256").string(&hexadecimal(&Sha256::digest(bytes)));
            w.key("unreadable").bool(true);
        }),
    }
}

fn one_object(members: impl FnOnce(&mut Writer)) -> String {
    let mut w = Writer::pretty();
    w.object(members);
    w.finish()
}

/// Returns the name of a request that is not known, by the bytes of its plan.
fn unknown_request(plan: &[u8]) -> String {
    format!("unknown-{}", &hexadecimal(&Sha256::digest(plan))[..12])
}
