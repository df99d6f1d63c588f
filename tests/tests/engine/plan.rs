//! Sequential plans: what may run, and why not.

mod checks;
pub(crate) mod corpus;
mod fixes;
mod hostile;
pub(crate) mod mova;
mod properties;
mod reports;
mod run;
mod servers;
mod worlds;
