//! The decisions on a query \[1, steps 2 and 5\], which a run makes, and a replay of its evidence once more.

use super::documents::{Goal, Read};
use super::one_step::{self, Call};
use super::record::{content, listing, value};
use super::stop::Stop;
use agent_api::CallAnswer;
use agent_api::decide::{CallContext, CallVerdict, EvaluationContext};
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::lower::{call_plan, digest};
use agent_api::model::{Lock, Name, Planned, ToolsSnapshot};
use agent_api::plan;
use agent_record::Redactor;
use agent_syntax::json::Writer;

/// The message of a plan that calls nothing.
pub(crate) const QUESTION: &str = "the plan calls nothing, and asks the user a question";

/// What the decision on a call is based on, in addition to the documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallBasis {
    /// The live tools of each server, as a JSON object.
    pub catalogue: Option<String>,
    /// The planner's answer, as received.
    pub planned: Option<Vec<u8>>,
}

impl CallBasis {
    /// Writes the basis as evidence keeps it. Secret parts of the plan can't be found in the planner's answer if
    /// they are short: then its digest alone is kept.
    pub(crate) fn write(&self, w: &mut Writer, redactor: &Redactor, has_secret_parts: bool) {
        if let Some(catalogue) = &self.catalogue {
            w.key("catalogue")
                .object(|w| listing(w, catalogue, redactor));
        }
        if let Some(planned) = &self.planned {
            w.key("planned").object(|w| match has_secret_parts {
                true => content(w, planned),
                false => value(w, planned, redactor, |_| Vec::new()),
            });
        }
    }
}

/// The decision on a planner's answer to a query.
#[derive(Debug)]
pub(crate) enum CallDecision {
    /// The call may be made. The documents have the plan and the pool of its one step.
    Allowed {
        /// The schema of the tool's output.
        output_schema: Option<String>,
        /// The digest that an approval of the call names.
        approval: Option<String>,
    },
    /// Nothing is called: this question goes to the user.
    Question(String),
    /// The call is denied, for a first reason and all problems.
    Denied(Stop, Vec<Diagnostic>),
}

/// Decides on a query \[1, step 2\].
///
/// # Errors
/// The reason why it is denied.
pub(crate) fn accept_query(documents: &Read, query: &str) -> Result<(), Stop> {
    let problems = plan::check_query(&documents.rules, query);
    match problems.into_iter().next() {
        Some((code, message)) => Err(Stop::new(Code::MovaPolicyDenied, message).because(code)),
        None => Ok(()),
    }
}

/// Decides on a goal, which a profile need not limit as it must limit queries.
///
/// # Errors
/// The reason why it is denied.
pub(crate) fn accept_goal(documents: &Read, goal: &str) -> Result<(), Stop> {
    let profile = documents.rules.profile.sound();
    match profile.is_some_and(|it| it.input_policy.is_some()) {
        true => accept_query(documents, goal),
        false => Ok(()),
    }
}

/// Decides on a planner's answer to a query \[1, step 5\], and takes its call as the plan of one step with
/// the pool of one tool.
pub(crate) fn decide_call(
    documents: &mut Read,
    planned: Vec<u8>,
    catalogue: &ToolsSnapshot,
    evaluation_context: &EvaluationContext,
    (goal, request_id): (&Goal, &str),
    redactor: &Redactor,
) -> CallDecision {
    let planned = match call_plan(planned) {
        Ok(read) => read.value,
        Err(found) => return CallDecision::Denied(stop_of(&found), found),
    };
    let Some(index) = documents.index.take() else {
        return CallDecision::Denied(Stop::internal("the index is gone"), Vec::new());
    };
    let lock = documents.lock.take();
    let context = CallContext {
        index: &index,
        lock: lock.as_ref(),
        catalogue: Some(catalogue),
        evaluation_context: Some(evaluation_context),
    };
    let decided = CallAnswer::new(&planned, context);
    if let Some(call) = call_of(&planned.planned, planned.text.as_str(), lock.as_ref()) {
        let pool = one_step::pool(call, &documents.rules);
        documents.set_pool(pool, redactor);
        let plan = one_step::plan(call, request_id, &goal.planner, &documents.rules);
        documents.set_plan(plan.into_bytes(), redactor);
    }
    let decision = match decided.verdict() {
        CallVerdict::NeedsMoreInfo(question) => CallDecision::Question((*question).to_owned()),
        CallVerdict::Denied(_) => {
            let found = decided.diagnostics();
            CallDecision::Denied(stop_of(&found), found)
        }
        CallVerdict::Allowed(call) => CallDecision::Allowed {
            output_schema: call.output_schema().map(str::to_owned),
            approval: decided.authorized().map(|it| digest(&it)),
        },
    };
    drop(decided);
    documents.index = Some(index);
    documents.lock = lock;
    decision
}

/// Decides on the call of a query whose plan is carried out again, by the contract of one call: its tool may
/// have become one that writes. Returns the problems of a denied call.
pub(crate) fn decide_stored_call(
    documents: &Read,
    evaluation_context: &EvaluationContext,
) -> Option<(Stop, Vec<Diagnostic>)> {
    let (plan, pool) = (&documents.plan, &documents.rules.pool);
    let call = one_step::call_of(
        plan.value.as_ref()?,
        plan.text.as_str(),
        pool.value.as_ref()?,
    )?;
    let context = CallContext {
        index: documents.index.as_ref()?,
        lock: documents.lock.as_ref(),
        catalogue: None,
        evaluation_context: Some(evaluation_context),
    };
    let found = match call_plan(call.into_bytes()) {
        Ok(read) => CallAnswer::new(&read.value, context).diagnostics(),
        Err(found) => found,
    };
    // The call has no text that could be shown.
    let found = found.into_iter().map(|it| Diagnostic {
        labels: Vec::new(),
        fixes: Vec::new(),
        ..it
    });
    let found: Vec<_> = found.collect();
    (!found.is_empty()).then(|| (stop_of(&found), found))
}

/// Returns the call of a plan, with the locked version and endpoint of its server.
fn call_of<'c>(planned: &'c Planned, text: &'c str, lock: Option<&'c Lock>) -> Option<Call<'c>> {
    let Planned::Call(planned) = planned else {
        return None;
    };
    let server = planned.server.value.as_str();
    let mut selections = lock.into_iter().flat_map(|lock| &lock.selections);
    let locked = selections.find(|it| it.id.as_str() == server);
    Some(Call {
        server,
        tool: planned.tool.value.as_str(),
        arguments: planned.args.of(text),
        locked: locked.map(|it| (it.version.as_str(), it.endpoint.as_str())),
    })
}

/// Returns the stop of the first problem of a plan of one call.
fn stop_of(found: &[Diagnostic]) -> Stop {
    let Some(first) = found.first() else {
        return Stop::new(Code::MovaPolicyDenied, "the call is denied");
    };
    Stop::new(stable(first.code), first.message.as_str()).because(first.code)
}

/// Returns the stable code of a problem of a plan of one call.
pub(crate) fn stable(code: Code) -> Code {
    match code {
        Code::PlanNotJson
        | Code::PlanShape
        | Code::ArgumentUnknown
        | Code::ArgumentInvalid
        | Code::NumberNotExact
        | Code::SchemaInvalid
        | Code::SchemaBudget => Code::MovaValidationFailed,
        Code::InputTooLarge => Code::MovaLimitExceeded,
        _ => Code::MovaPolicyDenied,
    }
}
