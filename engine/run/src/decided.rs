//! The decision on a plan or a query, made again from the evidence of a run.

use super::call::{
    CallBasis, CallDecision, QUESTION, accept_goal, accept_query, decide_call, decide_stored_call,
};
use super::documents::{Documents, Read, read};
use super::lifecycle::{decide, reasons};
use super::one_step;
use super::stop::Stop;
use agent_api::decide::{AuthorizedPlan, EvaluationContext};
use agent_api::diagnostic::{Code, Diagnostic};
use agent_api::lower::tools_snapshot;
use agent_api::model::ToolsSnapshot;
use agent_api::plan::RunProblem;
use agent_record::Redactor;

/// A decision on a plan.
#[derive(Debug)]
pub struct Decided {
    /// Each reason against the plan: the stable code with its message, and the exact reason.
    pub problems: Vec<(RunProblem, Option<Code>)>,
    /// The documents that were decided against: kind, name and digest.
    pub against: Vec<(&'static str, Option<String>, String)>,
    /// The authorized plan, if it may run.
    pub authorized: Option<AuthorizedPlan>,
    /// The digest that an approval of the one call of a query names.
    pub approval: Option<String>,
}

/// Decides on the plan of a run as its first states do, in the policy's context of that time: JSON.
pub fn decide_again(documents: Documents, policy_context: Option<String>) -> Decided {
    let documents = read(documents, &Redactor::default());
    let evaluation_context = documents.recorded_context(policy_context);
    let refused = decide_stored_call(&documents, &evaluation_context);
    decided(&documents, &evaluation_context, None, refused.as_ref())
}

/// Decides on the goal of a run, for which a planner was asked.
///
/// # Errors
/// The reason why no planner may be asked.
pub fn accept_goal_again(documents: Documents, goal: &str) -> Result<(), RunProblem> {
    let documents = read(documents, &Redactor::default());
    accept_goal(&documents, goal).map_err(|stop| (stop.code, stop.message))
}

/// Decides on a query of a run and its one call. Returns `None` if the run ended before the decision on
/// the call for another reason than a decision.
pub fn decide_call_again(
    documents: Documents,
    policy_context: Option<String>,
    basis: CallBasis,
) -> Option<Decided> {
    let goal = documents.goal.clone()?;
    let documents = Documents {
        plan: None,
        tool_pool: Some(one_step::empty_pool().into_bytes()),
        ..documents
    };
    let redactor = Redactor::default();
    let mut documents = read(documents, &redactor);
    let evaluation_context = documents.recorded_context(policy_context);
    if let Err(stop) = accept_query(&documents, &goal.text) {
        let refused = (stop, Vec::new());
        let refused = Some(&refused);
        return Some(decided(&documents, &evaluation_context, None, refused));
    }
    let (catalogue, planned) = (basis.catalogue?, basis.planned?);
    let catalogue = tools_snapshot(catalogue.into_bytes()).ok()?;
    let request_id = documents.request.as_ref().and_then(|it| it.as_written());
    let request_id = request_id.map(|it| it.id.value.clone()).unwrap_or_default();
    let decision = decide_call(
        &mut documents,
        planned,
        &catalogue.value,
        &evaluation_context,
        (&goal, &request_id),
        &redactor,
    );
    let (catalogue, refused, approval) = match decision {
        CallDecision::Allowed { approval, .. } => (Some(&catalogue.value), None, approval),
        CallDecision::Question(_) => {
            let stop = Stop::new(Code::MovaPolicyDenied, QUESTION);
            (None, Some((stop, Vec::new())), None)
        }
        CallDecision::Denied(stop, found) => (None, Some((stop, found)), None),
    };
    let decided = decided(&documents, &evaluation_context, catalogue, refused.as_ref());
    Some(Decided {
        approval,
        ..decided
    })
}

fn decided(
    documents: &Read,
    evaluation_context: &EvaluationContext,
    catalogue: Option<&ToolsSnapshot>,
    refused: Option<&(Stop, Vec<Diagnostic>)>,
) -> Decided {
    let mut answer = decide(documents, catalogue, evaluation_context);
    if let Some((stop, found)) = refused {
        answer.refuse_because(reasons(stop, found));
    }
    Decided {
        problems: answer.problems().collect(),
        against: answer.decided_against(),
        authorized: answer.into_authorized(),
        approval: None,
    }
}
