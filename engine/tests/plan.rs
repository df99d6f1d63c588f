//! Sequential plans: what may run, and why not.

#[path = "plan/checks.rs"]
mod checks;
#[path = "plan/corpus.rs"]
mod corpus;
#[path = "plan/fixes.rs"]
mod fixes;
#[path = "plan/hostile.rs"]
mod hostile;
#[path = "plan/mova.rs"]
mod mova;
#[path = "plan/properties.rs"]
mod properties;
mod random;
#[path = "plan/reports.rs"]
mod reports;
#[path = "plan/run.rs"]
mod run;
#[path = "plan/servers.rs"]
mod servers;
#[path = "plan/worlds.rs"]
mod worlds;
