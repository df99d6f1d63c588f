//! `agent:engine/run`

use crate::Component;
use crate::bindings::exports::agent::engine::run::{
    self, Action, Clock, Documents, Guest, GuestPlanRun, Options, Outcome, Secret, TurnError,
};
use crate::convert::all;
use core::cell::RefCell;

/// A run of a plan.
pub(crate) struct PlanRun(RefCell<agent_run::Run>);

impl Guest for Component {
    type PlanRun = PlanRun;

    fn redacted(text: String, secrets: Vec<Secret>) -> String {
        let secrets: Vec<agent_run::Secret> = all(secrets);
        agent_run::Redactor::new(&secrets).text(&text)
    }
}

fn started(
    documents: Documents,
    options: agent_run::Options,
    now: Clock,
) -> Result<run::PlanRun, String> {
    let run = agent_run::Run::start(documents.into(), options, now.into());
    let run = run.map_err(|error| error.to_string())?;
    Ok(run::PlanRun::new(PlanRun(RefCell::new(run))))
}

impl GuestPlanRun for PlanRun {
    fn start(documents: Documents, options: Options, now: Clock) -> Result<run::PlanRun, String> {
        started(documents, options.try_into()?, now)
    }

    fn start_unverified(
        documents: Documents,
        options: Options,
        now: Clock,
    ) -> Result<run::PlanRun, String> {
        let options = agent_run::Options {
            is_unverified: true,
            ..options.try_into()?
        };
        started(documents, options, now)
    }

    fn next(&self) -> Action {
        self.0.borrow_mut().next_action().into()
    }

    fn complete(&self, outcome: Outcome, now: Clock) -> Result<(), TurnError> {
        let mut run = self.0.borrow_mut();
        let taken = run.complete(outcome.into(), now.into());
        taken.map_err(|agent_run::OutOfTurn| TurnError::OutOfTurn)
    }

    fn cancel(&self, now: Clock) {
        self.0.borrow_mut().cancel(now.into());
    }
}

impl From<Documents> for agent_run::Documents {
    fn from(documents: Documents) -> Self {
        let core = documents.mova.into_iter();
        Self {
            plan: documents.plan,
            request: documents.request,
            tool_pool: documents.tool_pool,
            profile: documents.instruction_profile,
            lock: documents.lock,
            index: documents.index,
            task: documents.task,
            tenant: documents.tenant,
            tenant_id: documents.tenant_id,
            policy: documents.policy,
            policy_context: documents.policy_context,
            mova: core.map(|schema| (schema.name, schema.text)).collect(),
            goal: documents.goal.map(Into::into),
            summary: documents.summary,
        }
    }
}

impl TryFrom<Options> for agent_run::Options {
    type Error = String;

    fn try_from(options: Options) -> Result<Self, String> {
        let random = options.random.try_into();
        Ok(Self {
            run_id: options.run_id,
            random: random
                .map_err(|it: Vec<u8>| format!("{} random bytes instead of 32", it.len()))?,
            sandbox_tier: options.sandbox_tier,
            handlers: all(options.handlers),
            approvals: options.approvals,
            secrets: all(options.secrets),
            mode: options.mode.into(),
            asks_for_summary: options.asks_for_summary,
            is_unverified: false,
        })
    }
}
