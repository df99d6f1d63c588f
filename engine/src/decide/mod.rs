//! Every yes and no.

mod assess;
mod counterfactual;
mod drift;
mod failures;
mod resolve;
mod ruling;

pub(crate) use assess::constraint_failures;
pub use assess::{Assessment, Offer, Rejection, assess};
pub use counterfactual::{Change, Counterfactual, counterfactuals};
pub use drift::{Drift, LockState, compare, verify};
pub use failures::Failures;
pub use resolve::{Funnel, Near, Outcome, Resolution, TieBreak};
pub use ruling::{Allowed, PolicyEngine, PolicyError, PolicyErrorKind, Ruling};
