//! Sequential plans: what may run, and why not.

#[path = "plan/corpus.rs"]
mod corpus;
#[path = "plan/run.rs"]
mod run;
