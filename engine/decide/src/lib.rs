//! Every yes and no.

#![forbid(unsafe_code)]

mod assess;
mod call;
mod call_outcome;
mod checks;
mod counterfactual;
mod drift;
mod expansion;
mod failures;
mod gates;
mod grounding;
mod locked_tool;
mod matching;
mod plan;
mod resolve;
mod ruling;
mod trace;

pub use assess::constraint_failures;
pub use assess::{Assessment, Offer, Rejection, assess};
pub use call::{
    AuthorizedCall, CallCheck, CallContext, CallDenial, CallVerdict, MayWrite, authorize_call,
};
pub use call_outcome::{CallOutcome, CallResult, complete_call};
pub use checks::{Check, Comparison};
pub use counterfactual::{Change, Counterfactual, counterfactuals};
pub use drift::{Drift, LockState, compare, verify};
pub use expansion::{
    Collision, Definition, Denial, DenialReason, Entry, Expand, Expanded, Exposed, Holder,
    NotExpanded, NotExposed, Services, Stub, expand, exposed, services, token_estimate,
};
pub use failures::Failures;
pub use grounding::{
    Difference, EVIDENCE_MIN, Grounding, PIECE, Quote, Reason, Verdict, WORK, ground,
};
pub use matching::{CapabilityFunnel, Circumstances, Matching, NearTool, Preference, hash};
pub use plan::{
    AuthorizedPlan, AuthorizedStep, Between, CantBe, Compared, Decided, Deferred,
    DestinationDenial, InputDenial, PlanAnswer, PlanContext, PlanDenial, PlanReason, PlanRules,
    QueryDenial, Referred, RunCheck, RunDenial, ServerUse, Stated, StepCheck, StepRecord,
    authorize_destination, authorize_plan, decide_query,
};
pub use resolve::{Funnel, Near, Outcome, Resolution, TieBreak};
pub use ruling::{Allowed, PolicyEngine, PolicyError, PolicyErrorKind, Ruling};
pub use trace::{CheckOutcome, SkipCause};
