//! `agent:engine/plan`

use crate::Component;
use crate::bindings::exports::agent::engine::plan::{
    self, CallAnswer, CallPlanBorrow, CallVerdict, Diagnostic, Guest, GuestAuthorizedCall,
    GuestCallPlan, GuestToolCatalogue, IndexBorrow, LockBorrow, ToolCatalogueBorrow,
};
use crate::convert::all;
use crate::inputs::Index;
use crate::lockfile::Lock;
use agent_engine::decide::{self, CallContext};
use agent_engine::{explain, lower, model, render};

/// A one-call plan.
pub(crate) struct CallPlan(model::CallPlan);

/// The tools that servers have.
pub(crate) struct ToolCatalogue(model::ToolCatalogue);

/// What the host gets to know of a call that may be made.
pub(crate) struct AuthorizedCall {
    json: String,
    server: String,
    version: String,
    endpoint: String,
    tool: String,
    arguments: String,
    needs_approval: bool,
}

impl Guest for Component {
    type CallPlan = CallPlan;
    type ToolCatalogue = ToolCatalogue;
    type AuthorizedCall = AuthorizedCall;

    fn authorize_call(
        plan: CallPlanBorrow<'_>,
        index: IndexBorrow<'_>,
        lock: Option<LockBorrow<'_>>,
        catalogue: Option<ToolCatalogueBorrow<'_>>,
    ) -> CallAnswer {
        let plan = &plan.get::<CallPlan>().0;
        let context = CallContext {
            index: &index.get::<Index>().value,
            lock: lock.as_ref().map(|lock| &lock.get::<Lock>().0),
            catalogue: catalogue.as_ref().map(|it| &it.get::<ToolCatalogue>().0),
        };
        let verdict = decide::authorize_call(plan, context);
        CallAnswer {
            json: render::call_verdict_json(&verdict),
            text: all(render::call_verdict(&verdict)),
            verdict: match &verdict {
                decide::CallVerdict::Allowed(call) => {
                    CallVerdict::Allowed(plan::AuthorizedCall::new(AuthorizedCall::from(call)))
                }
                decide::CallVerdict::NeedsMoreInfo(answer) => {
                    CallVerdict::NeedsMoreInfo((*answer).to_owned())
                }
                decide::CallVerdict::Denied(_) => {
                    CallVerdict::Denied(all(explain::call_denials(plan, &verdict)))
                }
            },
        }
    }
}

impl From<&decide::AuthorizedCall<'_>> for AuthorizedCall {
    fn from(call: &decide::AuthorizedCall<'_>) -> Self {
        Self {
            json: render::authorized_call(call),
            server: call.server().id().to_owned(),
            version: call.server().version().to_owned(),
            endpoint: call.server().endpoint().to_owned(),
            tool: call.tool().to_owned(),
            arguments: call.arguments().to_owned(),
            needs_approval: call.needs_approval(),
        }
    }
}

impl GuestCallPlan for CallPlan {
    fn parse(text: Vec<u8>) -> Result<plan::CallPlan, Vec<Diagnostic>> {
        let plan = lower::call_plan(text).map_err(all)?;
        Ok(plan::CallPlan::new(Self(plan.value)))
    }
}

impl GuestToolCatalogue for ToolCatalogue {
    fn parse(text: Vec<u8>) -> Result<plan::ToolCatalogue, Vec<Diagnostic>> {
        let catalogue = lower::tool_catalogue(text).map_err(all)?;
        Ok(plan::ToolCatalogue::new(Self(catalogue.value)))
    }
}

impl GuestAuthorizedCall for AuthorizedCall {
    fn json(&self) -> String {
        self.json.clone()
    }

    fn digest(&self) -> String {
        lower::digest(&self.json)
    }

    fn server(&self) -> String {
        self.server.clone()
    }

    fn version(&self) -> String {
        self.version.clone()
    }

    fn endpoint(&self) -> String {
        self.endpoint.clone()
    }

    fn tool(&self) -> String {
        self.tool.clone()
    }

    fn arguments(&self) -> String {
        self.arguments.clone()
    }

    fn needs_approval(&self) -> bool {
        self.needs_approval
    }
}
