//! Every decision of the engine, with the record of its checks.
//!
//! | module | content |
//! |---|---|
//! | `assess`, `resolve`, `counterfactual` | servers for requirements, and the smallest change that makes one eligible |
//! | `matching`, `checks` | tools for capabilities, and the record of a candidate |
//! | `policy_decision`, `locked_policy` | the answer of a policy about candidates, and about locked tools |
//! | `drift`, `definitions`, `widening` | differences to a lock, the file beside it, and whether a changed definition gives more access |
//! | `expansion`, `locked_call` | tools that an agent sees, and calls that no plan contains |
//! | `call`, `call_record`, `call_outcome`, `grounding` | the one call of a query, and the evidence of its summary |
//! | `plan` | plans of several steps, with their record |
//! | `failures` | the compact record of failed checks |

#![forbid(unsafe_code)]

mod assess;
mod call;
mod call_outcome;
mod call_record;
mod checks;
mod constraint_failures;
mod counterfactual;
mod definitions;
mod drift;
mod expansion;
mod explained_call;
mod failures;
mod grounding;
mod locked_call;
mod locked_policy;
mod locked_tool;
mod lookups;
mod matching;
mod network;
mod plan;
mod policy_decision;
mod rejection;
mod resolve;
mod selection;
mod trace;
mod widening;

pub use assess::{Assessment, Offer, assess, constraint_failures};
pub use call::{AuthorizedCall, CallVerdict, authorize_call};
pub use call_outcome::{
    CallOutcome, CallResult, PayloadDenial, complete_call, deliver_payload, payload_denials,
};
pub use call_record::{CallCheck, CallDenial, CallRecord, MayWrite};
pub use checks::{Check, Comparison};
pub use counterfactual::{Change, Counterfactual};
pub use definitions::{compare_definitions, locked_definitions};
pub use drift::{Drift, LockState, compare, verify, verify_under};
pub use expansion::{
    Collision, Definition, Denial, DenialReason, Entry, Expand, Expanded, Exposed, Holder,
    NotExpanded, NotExposed, Services, expand, expand_verified, exposed, exposed_under,
    locked_loads, services, services_under, token_estimate,
};
pub use explained_call::{ExplainedCall, ExplainedRule};
pub use failures::Failures;
pub use grounding::{
    Difference, EVIDENCE_MIN, Grounding, PIECE, Quote, Reason, Verdict, WHOLE_MIN, WORK, ground,
};
pub use locked_call::LockedCall;
pub use locked_policy::{LockedDenial, PolicyMismatch, unknown_history};
pub use locked_tool::CallContext;
pub use lookups::Lookups;
pub use matching::{CapabilityFunnel, EvaluationContext, Matching, NearTool, Preference, hash};
pub use network::{Authority, AuthorityError, NetworkDenial, admit_authority, authorize_authority};
pub use plan::{
    AuthorizedPlan, AuthorizedStep, Between, Compared, Deferred, DestinationDenial, FlowMismatch,
    InputDenial, ListingDenial, PlanAnswer, PlanBasis, PlanContext, PlanDenial, PlanPolicy,
    PlanReason, QueryDenial, ReferenceMismatch, Referred, RunCheck, RunDenial, ServerUse,
    StepCheck, StepRecord, authorize_destination, authorize_plan, authorize_url, decide_query,
    secret_inputs, secret_values,
};
pub use policy_decision::{
    Allowed, HistoryUse, PolicyDecision, PolicyEngine, PolicyError, PolicyErrorKind, PolicyFact,
    ResultAction, ResultDecision, ResultRuling,
};
pub use rejection::Rejection;
pub use resolve::{Funnel, NearMiss, Outcome, Resolution, TieBreak};
pub use trace::{CheckOutcome, SkipCause};
pub use widening::widens;
