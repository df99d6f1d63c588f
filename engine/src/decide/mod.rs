//! Every yes and no.

mod assess;
#[cfg(feature = "plan")]
mod call;
mod counterfactual;
mod drift;
mod expansion;
mod failures;
mod gates;
mod grounding;
mod matching;
mod resolve;
mod ruling;

pub(crate) use assess::constraint_failures;
pub use assess::{Assessment, Offer, Rejection, assess};
#[cfg(feature = "plan")]
pub use call::{AuthorizedCall, CallContext, CallDenial, CallVerdict, MayWrite, authorize_call};
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
pub use resolve::{Funnel, Near, Outcome, Resolution, TieBreak};
pub use ruling::{Allowed, PolicyEngine, PolicyError, PolicyErrorKind, Ruling};
